// Parameter spaces, and variants by their labels.
//
// A kernel file declares its space in comments, as CUB's benchmarks do:
//     // %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=256:4096:256
//     // %RANGE% TUNE_THREADS tpb 32,64,128
//     // %RANGE% TUNE_ACCUMULATOR acc float,double
//     // %RANGE% --maxrregcount= regs 32,64,255
//     // %RANGE% --use_fast_math fast 0:1:1 cpu=0
// macro, label, values, and optionally other values for one kind of device, cpu or cuda. Values are
// start:end:step with the end included, or a list of numbers or of names. In place of a macro an
// option of the compiler may stand, which is left out at 0: one that ends in "=" takes the value,
// any other has 0 and 1.
//
// A parameter that no policy needs any more leaves the value that the code has now, and optionally
// another one for one kind of device, so that labels of earlier versions with that value still name
// their variant:
//     // %GONE% lb 1 cpu=0
//
// A variant is one value a parameter; its label joins them in declared order:
// "ipt_16.tpb_64.acc_float". Labels may come from somebody else's store: they are parsed to values
// that are declared, and nothing else of them reaches a compiler.
#ifndef CUBC_SPACE_H
#define CUBC_SPACE_H

#include "base/base.h"

enum {
    MAX_PARAMETERS = 16,
    PARAMETER_LABEL = 12, // of one parameter, with its NUL
    MAX_VALUE = 99999999, // of a parameter: 8 digits
    MAX_NAME = 23,        // characters of a value that is a name
    MAX_GONE = 8,         // parameters of earlier versions
    // Holds any variant, with its NUL: for each parameter its label, "_", the value and a ".".
    MAX_LABEL = MAX_PARAMETERS * (PARAMETER_LABEL - 1 + 1 + MAX_NAME + 1)
};

typedef enum value_kind { VALUE_RANGE, VALUE_NUMBERS, VALUE_NAMES } value_kind;

typedef struct parameter {
    char macro[48];              // "TUNE_ITEMS_PER_THREAD", or an option: "--maxrregcount="
    char label[PARAMETER_LABEL]; // "ipt"
    value_kind kind;
    int start, end, step; // of a range: 0 to MAX_VALUE
    int count;            // of its values
    const char *values;   // as they are declared, in the source: it must outlive this
    int length;           // of that text
} parameter;

typedef struct space {
    parameter parameters[MAX_PARAMETERS];
    int count;
    char gone[MAX_GONE][PARAMETER_LABEL + 9]; // "lb_1", as labels of earlier versions have it
    int gone_count;
} space;

typedef struct variant { // values in the space's order; of a name the place in its list
    int values[MAX_PARAMETERS];
} variant;

// Reads the %RANGE% lines of a source for a kind of device ("cuda", "cpu"). A malformed line is
// CUBC_INVALID_ARGUMENT with its number and what is wrong with it; so are lines that declare more
// than 2^63 variants together.
cubc_status space_parse(const char *source, const char *kind, space *out);
uint64_t space_size(const space *s); // the number of variants
// The text of value number `place` of a list, which is not terminated.
const char *space_item(const parameter *p, int place, int *length);
// All parameters, each once, in any order, with declared values. Those that are gone may be there.
cubc_status variant_parse(const space *s, const char *label, variant *out);
void variant_label(const space *s, const variant *v, char label[MAX_LABEL]);
// The value of a parameter by label; `otherwise` if the space has no such parameter.
int variant_value(const space *s, const variant *v, const char *label, int otherwise);
// A line for each parameter: "#define TUNE_... 16", or "// %OPTION% --..." for
// device_source_options to find, and an empty one for an option that is not there.
void variant_defines(const space *s, const variant *v, text *out);

#endif
