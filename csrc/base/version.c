// The version that the core was built as.
#include "cubc/core.h"

const char *cubc_version(void)
{
    return CUBC_VERSION;
}
