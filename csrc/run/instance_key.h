// The compile-time part of a problem, by which the table of instances is searched. Problems whose
// keys are equal (instance_key_equal) have equal hashes.
#ifndef CUBC_INSTANCE_KEY_H
#define CUBC_INSTANCE_KEY_H

#include "run/algorithm.h"

// True if the same variants of both are the same code.
bool instance_key_equal(const problem *a, const problem *b);
uint64_t instance_key_hash(const problem *p);
// A copy with texts of its own and no addresses; to be freed after a failure too.
cubc_status instance_key_copy(const problem *p, problem *out);
void instance_key_free(problem *key);

#endif
