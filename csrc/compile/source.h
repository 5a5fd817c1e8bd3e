// Kernel sources, which travel beside the library.
#ifndef CUBC_SOURCE_H
#define CUBC_SOURCE_H

#include "base/base.h"

// Finds the kernel files: in the folder beside the library, or in CUBC_KERNELS. A file is
// known by its bare name, whichever of the subfolders it is in.
cubc_status source_folder(char *out, size_t size);

// A kernel file with its includes flattened into it, each once, #line directives keeping places.
// *out is a borrowed text that lives as long as the process: files are read once.
cubc_status source_load(const char *file, const char **out);

#endif
