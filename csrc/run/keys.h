// Statistics of keys: the number of distinct ones, the bits in which they differ, the mean length
// of runs of equal ones, and their order. They are estimated from a sample of a call's keys, and a
// benchmark makes keys with the same statistics.
#ifndef CUBC_KEYS_H
#define CUBC_KEYS_H

#include "run/instance.h"
#include "run/problem.h"

enum { KEYS_DISTINCT, KEYS_BITS, KEYS_RUN, KEYS_SORTED, KEY_AXES };
extern const char *const key_axes[KEY_AXES]; // "Distinct", "KeyBits", "Run", "Sorted"

// Keys in memory of a device.
typedef struct keys_place {
    const void *data; // NULL: there are none, or their values do not matter
    uint64_t n;
    cubc_type type;
    bool in_bits; // it matters in which they differ
} keys_place;

bool keys_are_of(const algorithm *a, const char *benchmark); // its calls have keys
keys_place keys_of(const problem *p);
// Copies 4096 of them, or all, in up to 16 pieces, after what is on the stream, and waits for it.
// out: the number of distinct ones; of integers the bits in which they differ, else 0; the mean
// length of runs of equal ones; 100 if they are in order, 0 if they are in none. Numbers above
// 16 are rounded to a power of two.
cubc_status keys_sketch(cubc_device *device, const keys_place *keys, void *stream,
                        uint64_t out[KEY_AXES]);

// The numbers from which keys like these are made, and the expression that has them.
enum { KEY_OPERANDS = 7 };
typedef struct keys_made {
    uint64_t numbers[KEY_OPERANDS];
    cubc_operand operands[KEY_OPERANDS]; // they point to the numbers
    int count;
    char expression[512];
} keys_made;
// Fills in an expression for transform that makes n such keys. at: as keys_sketch gives them; 0:
// not known.
void keys_make(const uint64_t at[KEY_AXES], cubc_type type, uint64_t n, uint64_t seed,
               keys_made *out);

#endif
