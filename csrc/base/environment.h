// Numbers from environment variables.
#ifndef CUBC_ENVIRONMENT_H
#define CUBC_ENVIRONMENT_H

#include "base/base.h"

// *value becomes the number in a variable, which must be from least to most; it stays as it is
// where the variable is not set, or empty.
cubc_status environment_number(const char *name, uint64_t least, uint64_t most, uint64_t *value);

// The number of threads that work on the CPU at once: CUBC_CPU_THREADS (1 to 1024), else as many as
// there are cores that this process may use.
cubc_status environment_threads(int *out);

#endif
