// The keys that a benchmark makes from a sketch (csrc/run/keys.c): the distance of distinct ones.
#include "check.h"
#include "run/keys.h"

#include <string.h>

static uint64_t step_of(uint64_t distinct, cubc_type type)
{
    static keys_made made;
    const uint64_t at[KEY_AXES] = {[KEYS_DISTINCT] = distinct, [KEYS_RUN] = 1};
    keys_make(at, type, 1000, 42, &made);
    for (int k = 0; k < made.count; k++)
        if (strcmp(made.operands[k].name, "Step") == 0) return made.numbers[k];
    return 0;
}

static void test_distinct_keys_fill_the_type(void)
{
    CHECK(step_of(1, CUBC_U64) == (uint64_t)1 << 63);
    CHECK(step_of(2, CUBC_I64) == (uint64_t)1 << 63);
    CHECK(step_of(4, CUBC_U8) == 64);
    CHECK(step_of(1000, CUBC_U8) == 1);
}

static const check_test tests[] = {
    {"distinct keys fill the type", test_distinct_keys_fill_the_type},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
