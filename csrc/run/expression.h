// A user's expression: enough of C's grammar to find its names, so that a misspelt operand is seen.
#ifndef CUBC_EXPRESSION_H
#define CUBC_EXPRESSION_H

#include "base/name.h"
#include "run/algorithm.h"

// Fails with CUBC_INVALID_ARGUMENT if the expression leaves an operand out: a misspelt name mostly
// does. Part of every call, so it must be quick.
cubc_status expression_check(const char *expression, const operand *operands, int count);

// Tells if an expression indexes an operand, as in table[k]. *mixed: elsewhere it does not.
bool expression_indexes(const char *expression, const char *name, bool *mixed);

// Names what would reach from an expression into the kernel around it, as the brackets of
// "a) + (b" and a comment do; NULL if nothing does.
const char *expression_reaches_out(const char *expression);

// The next struct that an expression names by its name in the dialect; *at goes behind it. False at
// the end.
bool expression_next_struct(const char **at, cubc_type *out);

#endif
