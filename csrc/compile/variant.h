// Kernel sources, and the compilation of their variants.
#ifndef CUBC_VARIANT_H
#define CUBC_VARIANT_H

#include "compile/space.h"
#include "device/device.h"

// Where the kernel files are: in the folder beside the library, or in CUBC_KERNELS. A file is
// known by its bare name, whichever of the subfolders it is in.
cubc_status source_folder(char *out, size_t size);

// A kernel file with its includes flattened into it, each once, #line directives keeping places.
// *out is a borrowed text
// that lives as long as the process: files are read once.
cubc_status source_load(const char *file, const char **out);

// Compiles a complete source for an arch, through the cache on disk. *seconds: how long it took, 0
// if it came from the cache.
cubc_status variant_compile(const char *arch, const char *source, const char *label,
                            double deadline_s, binary *out, double *seconds);
// The same for a device, which loads it. A binary that does not load is removed from the cache and
// compiled again.
cubc_status variant_load(cubc_device *device, const char *source, const char *label,
                         double deadline_s, device_module **out);
// Number of sources that the compilers of this process are at.
unsigned variant_compiling(void);

#endif
