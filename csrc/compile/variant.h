// The compilation of variants.
#ifndef CUBC_VARIANT_H
#define CUBC_VARIANT_H

#include "compile/bundle.h"
#include "compile/source.h"
#include "compile/space.h"
#include "device/device.h"

// Compiles a complete source for an arch, through the cache on disk. *seconds: how long it took, 0
// if it came from the cache. What `memory` has enters the cache as if it had been compiled here;
// the code is added to it otherwise. NULL: there is none.
cubc_status variant_compile(const char *arch, const char *source, const char *label,
                            double deadline_s, const bundle_memory *memory, binary *out,
                            double *seconds);
// The same for a device, which loads it. A binary that does not load is removed from the cache and
// compiled again.
cubc_status variant_load(cubc_device *device, const char *source, const char *label,
                         double deadline_s, device_module **out);
// Number of sources that the compilers of this process are at.
unsigned variant_compiling(void);

#endif
