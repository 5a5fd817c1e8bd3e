// A recording: the calls of this process (run/recorded_calls.h), written to a store while they are
// made, so that a program that is killed leaves all but its last seconds.
//
// A thread of the recording's own writes every so often what is new, and the end. It takes no lock
// that a call waits for, and Python has no part in it: those who begin and end wait for it with no
// lock, as their handlers of signals may fork or record meanwhile. SIGTERM, if nobody else handles
// it, ends the process a moment later than it would, with the calls up to then written; whoever
// handles it, earlier or later, keeps it.
#ifndef CUBC_RECORDING_H
#define CUBC_RECORDING_H

#include "base/base.h"

// One at a time. The store is made if it is not there.
// keys: sketch those of calls: see run/keys.h. number: one that the caller gives no other.
cubc_status recording_begin(const char *path, double seconds, bool keys, uint64_t number);
// Waits for what is timed and writes all. *lost: the calls of kinds that there was no room for.
// Does nothing unless the recording of this number is on: an interruption may hide if it began.
cubc_status recording_end(uint64_t number, uint64_t *lost);
// Ends it in a forked child, unwritten.
void recording_forget(void);

#endif
