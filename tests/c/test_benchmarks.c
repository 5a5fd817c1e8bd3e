// Rows of benchmarks: each makes a call that is valid on every place, and for which its own name
// stands.
#include "check.h"
#include "measure/workload.h"
#include "run/problem.h"

// A value of an axis that no search measures.
enum { ODD_VALUE = 6 };

static void check_place(const benchmark *b, cubc_type type, const uint64_t *at)
{
    problem p;
    if (!CHECK_STATUS(workload_problem_at(b->name, type, at, &p), CUBC_OK)) return;
    // A policy that is found for the benchmark's type is one that such a call looks for.
    check_that(problem_policy_type(&p) == type, b->name, __FILE__, __LINE__);
    for (int k = 0; k < p.input_count; k++) CHECK(!p.inputs[k].data);
    for (int k = 0; k < p.operand_count; k++) CHECK(!p.operands[k].data);
    for (int k = 0; k < p.output_count; k++) CHECK(!p.outputs[k].data);
}

// Elements are exponents of two where a benchmark has them.
static uint64_t value_of(const algorithm *a, const benchmark *b, int axis, int k)
{
    const benchmark_axis *values = &b->axes[axis];
    if (values->count == 0) return 0;
    int value = values->values[k % values->count];
    bool exponent = strcmp(algorithm_axes(a)[axis], "Elements") == 0;
    return exponent ? (uint64_t)1 << value : (uint64_t)value;
}

static void check_benchmark(const algorithm *a, const benchmark *b)
{
    enum { PLACES = 4 };
    uint64_t at[POLICY_AXES], odd[POLICY_AXES];
    for (int t = 0; t < b->type_count; t++)
        for (int k = 0; k < PLACES; k++) {
            for (int axis = 0; axis < POLICY_AXES; axis++) {
                at[axis] = value_of(a, b, axis, k);
                odd[axis] = at[axis] ? ODD_VALUE : 0;
            }
            check_place(b, b->types[t], at);
            check_place(b, b->types[t], odd);
        }
}

static void test_rows(void)
{
    for (int k = 0; algorithm_list[k]; k++)
        for (int j = 0; j < algorithm_list[k]->benchmark_count; j++)
            check_benchmark(algorithm_list[k], &algorithm_list[k]->benchmarks[j]);
}

static void test_refused_places(void)
{
    const uint64_t none[POLICY_AXES] = {0}, no_columns[POLICY_AXES] = {1024, 0, 0};
    const uint64_t odd_extent[POLICY_AXES] = {4, 3, 4, 4, 1};
    const uint64_t many_sources[POLICY_AXES] = {4, 4, 4, 4, 65536};
    problem p;
    CHECK_STATUS(workload_problem_at("find.if", CUBC_F32, none, &p), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "find.if: Elements is 0");
    CHECK_STATUS(workload_problem_at("transpose.matrix", CUBC_F32, no_columns, &p),
                 CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "transpose.matrix: Columns is 0");
    CHECK_STATUS(workload_problem_at("dslash.wilson.r12", CUBC_F32, odd_extent, &p),
                 CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "3 sites along y");
    CHECK_STATUS(workload_problem_at("dslash.wilson.r12", CUBC_F32, many_sources, &p),
                 CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "65536 sources");
}

static const check_test tests[] = {{"rows", test_rows}, {"refused_places", test_refused_places}};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
