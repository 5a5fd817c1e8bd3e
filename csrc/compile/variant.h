// Parameter spaces, variants and their compilation.
//
// A kernel file declares its space in comments, as CUB's benchmarks do:
//     // %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=256:4096:256
// macro, label, start:end:step with the end included, and optionally another range for one kind of
// device. A variant is one value a parameter; its label joins them in declared order:
// "ipt_16.tpb_256". Labels may come from somebody else's store: they are parsed to integers that
// lie in the declared range, and nothing else of them reaches a compiler.
#ifndef CUBC_VARIANT_H
#define CUBC_VARIANT_H

#include "device/device.h"

enum {
    MAX_PARAMETERS = 16,
    PARAMETER_LABEL = 12, // of one parameter, with its NUL
    MAX_VALUE = 99999999, // of a parameter: 8 digits
    // Holds any variant, with its NUL: for each parameter its label, "_", the digits and a ".".
    MAX_LABEL = MAX_PARAMETERS * (PARAMETER_LABEL - 1 + 1 + 8 + 1)
};

typedef struct parameter {
    char macro[48];              // "TUNE_ITEMS_PER_THREAD"
    char label[PARAMETER_LABEL]; // "ipt"
    int start, end, step;        // 0 to MAX_VALUE
} parameter;

typedef struct space {
    parameter parameters[MAX_PARAMETERS];
    int count;
} space;

typedef struct variant { // values in the space's order
    int values[MAX_PARAMETERS];
} variant;

// Reads the %RANGE% lines of a source for a kind of device ("cuda", "cpu"). A malformed line is
// CUBC_INVALID_ARGUMENT with its number and what is wrong with it; so are lines that declare more
// than 2^63 variants together.
cubc_status space_parse(const char *source, const char *kind, space *out);
uint64_t space_size(const space *s); // the number of variants
// All parameters, each once, in any order, in range and on the step.
cubc_status variant_parse(const space *s, const char *label, variant *out);
void variant_label(const space *s, const variant *v, char label[MAX_LABEL]);
// The value of a parameter by label; `otherwise` if the space has no such parameter.
int variant_value(const space *s, const variant *v, const char *label, int otherwise);
void variant_defines(const space *s, const variant *v, text *out); // "#define TUNE_... 16\n" each

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
// The same for a device, which loads it. What does not load is taken out of the cache, and compiled
// once more.
cubc_status variant_load(cubc_device *device, const char *source, const char *label,
                         double deadline_s, device_module **out);

#endif
