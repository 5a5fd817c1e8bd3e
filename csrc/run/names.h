// The names in a user's expression: enough of C's grammar to find a misspelt operand.
#ifndef CUBC_NAMES_H
#define CUBC_NAMES_H

#include "base/name.h"
#include "run/algorithm.h"

// Fails with CUBC_INVALID_ARGUMENT if the expression leaves an operand out: a misspelt name mostly
// does. Part of every call, so it must be quick.
cubc_status names_used(const char *expression, const operand *operands, int count);

// Tells if an expression indexes an operand, as in table[k]. *mixed: elsewhere it does not.
bool names_indexed(const char *expression, const char *name, bool *mixed);

#endif
