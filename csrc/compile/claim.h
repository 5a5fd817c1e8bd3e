// Claims of kernels that are being compiled, so that of several threads and processes that want the
// same kernel one compiles it and the others find it in the cache.
//
// The protocol, for a key that is not in the cache:
//
// 1. claim_or_wait. The first to come has the claim and returns at once; the others wait.
// 2. All look at the cache again, since somebody may have put the kernel there in between.
// 3. Who does not find it compiles it, puts it there, and calls claim_release if it has the claim.
//
// A claim ends with claim_release or with its process, however that ends: it is a record lock,
// which the system takes back and no child inherits. Those who waited then go on at once, without a
// claim: if the first one failed, all compile. Nobody waits for more than ten minutes, since a
// process that is halted keeps its claims; and nobody waits for another process where the file
// system has no locks or the cache is off. Then a kernel may be compiled twice, which costs time
// and nothing else.
//
// Who has a claim waits for no other, of any key: a signal handler that calls cubc while its thread
// compiles would wait for that very call, or for somebody who waits for it. Nor does a child that
// the handler forks, which the handler may wait for.
#ifndef CUBC_CLAIM_H
#define CUBC_CLAIM_H

#include "base/base.h"

// Claims a key of the cache, or waits for another's claim on it to end. *claimed: the thread has
// the claim now, and has to release it. *waited_s is the time of the wait, 0 if there was none. A
// wait has the limits of the compiling of `label` that it is for: past limit_s (0: none) it fails
// with CUBC_TIMEOUT, and on Ctrl-C with CUBC_INTERRUPTED.
cubc_status claim_or_wait(const char key[65], const char *label, double limit_s, bool *claimed,
                          double *waited_s);
// Ends a claim of this thread.
void claim_release(const char key[65]);
// Tells if this thread has a claim, during which it waits for nobody who may wait for a claim.
bool claim_is_held(void);

#endif
