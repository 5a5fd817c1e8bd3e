// Lines for a log: what was compiled, what came from where, which policy a call runs. The core
// writes to no log: its caller takes the lines and hands them to his.
//
// They are about what happens once for a kind of call, so a call whose kernels are loaded puts
// none.
#ifndef CUBC_LOG_H
#define CUBC_LOG_H

#include "base/base.h"

enum { LOG_BYTES = 384 };

typedef enum log_kind {
    LOG_COMPILED, // a compiler made code
    LOG_FOUND,    // code came from a cache or a bundle
    LOG_DAMAGED,  // code was passed over
    LOG_POLICY    // calls of a kind have a variant
} log_kind;

// The newest lines are kept where nobody takes them; what is longer is cut.
void log_put(log_kind kind, const char *format, ...) PRINTF_LIKE(2, 3);
bool log_is_there(void); // without a lock
// The oldest, which is then gone; false: there is none.
bool log_take(log_kind *kind, char out[LOG_BYTES]);

#endif
