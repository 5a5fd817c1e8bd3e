// Notes of calls that did something else than was asked, such as running base because they cannot
// run the policy. The core does not print: its caller takes the notes and shows them.
#ifndef CUBC_NOTES_H
#define CUBC_NOTES_H

#include "base/base.h"

enum { NOTE_BYTES = 1024 };

// Each text is taken once in a process, up to 256 of them; what is longer is cut.
void note_put(const char *format, ...) PRINTF_LIKE(1, 2);
bool note_is_there(void); // without a lock
// The oldest, which is then gone; false: there is none.
bool note_take(char out[NOTE_BYTES]);

#endif
