// A fuzzing harness is one file here, fuzz_<name>.c: it has libFuzzer's entry point and says, in
// one constant, where the driver and libFuzzer begin. The Makefile finds it by its name.
#ifndef CUBC_FUZZ_H
#define CUBC_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Takes one honest input, which is then changed at random. The bytes are copied.
typedef void fuzz_add(const char *name, const void *bytes, size_t length);

typedef struct fuzz_word { // of the format: changes put such words in, zeros included
    const char *bytes;
    size_t length;
} fuzz_word;
#define FUZZ_WORD(literal) {"" literal "", sizeof(literal) - 1}

typedef struct fuzz_harness {
    const char *noun;             // of the inputs, for the summary: "files"
    long runs;                    // in `make ctest`: a second or two
    void (*seeds)(fuzz_add *add); // adds honest inputs; exits where one of them is refused
    const fuzz_word *words;
    size_t word_count;
} fuzz_harness;
extern const fuzz_harness fuzz_target;

// A property that must hold of every input.
#define must(property)                                                           \
    do {                                                                         \
        if (!(property)) {                                                       \
            printf("%s:%d: does not hold: %s\n", __FILE__, __LINE__, #property); \
            fflush(stdout);                                                      \
            abort();                                                             \
        }                                                                        \
    } while (0)

#endif
