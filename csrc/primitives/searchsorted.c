// Descriptor of searchsorted: kernels/primitives/searchsorted.cu.
#include "base/integer.h"
#include "primitives/order.h"

#include <string.h>

// Places of the inputs: the output may be the values.
enum { VALUES, SORTED };

// Elements are those of the sorted array, as the benchmark counts them.
static void searchsorted_axis_values(const problem *p, uint64_t *values)
{
    values[0] = p->inputs[SORTED].n;
}

static cubc_type compared_in(const problem *p)
{
    return type_common((cubc_type)p->inputs[SORTED].type, (cubc_type)p->inputs[VALUES].type);
}

cubc_status searchsorted_problem(const cubc_searchsorted_params *params, problem *out)
{
    *out = (problem){.algorithm = &searchsorted_algorithm,
                     .n = params->values_n,
                     .type = (uint8_t)params->type,
                     .inclusive = params->right != 0,
                     .wide = params->n > UINT32_MAX,
                     .aligned = true};
    TRY(problem_input(out, "the values of searchsorted", params->values, params->values_n,
                      params->values_type));
    out->aligned = true; // the sorted array is not read in vectors
    TRY(problem_input(out, "the sorted array", params->in, params->n, params->type));
    TRY(problem_output(out, "the output of searchsorted", params->out, params->values_n, CUBC_I64));
    TRY(order_take(out, params->less));
    if (params->type != params->values_type) {
        TRY(problem_check_real("the values of searchsorted", params->values_type));
        TRY(problem_check_real("the items of searchsorted", params->type));
    }
    out->acc_type = (uint8_t)compared_in(out);
    strcpy(out->benchmark, out->inclusive ? "searchsorted.upper" : "searchsorted.lower");
    return problem_check_overlap(out, INPUT_OF_SAME_NUMBER);
}

// A value for every four items, as in a fourth of CUB's benchmarks; not sorted.
static cubc_status searchsorted_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                         problem *out)
{
    cubc_searchsorted_params call = *(const cubc_searchsorted_params *)b->call;
    call.n = at[0];
    call.values_n = larger(call.n / 4, 1);
    call.type = call.values_type = type;
    TRY(searchsorted_problem(&call, out));
    out->inputs[SORTED].sorted = true;
    return CUBC_OK;
}

static void searchsorted_define(const problem *p, text *out)
{
    order_define(p, compared_in(p), out);
    text_printf(out, "#define TUNE_SORTED %s\n#define TUNE_SOUGHT %s\n#define TUNE_OFFSET %s\n",
                type_table[p->inputs[SORTED].type].dialect,
                type_table[p->inputs[VALUES].type].dialect, p->wide ? "u64" : "u32");
    text_printf(out, "#define TUNE_RIGHT %d\n#define TUNE_ALIGNED %d\n", p->inclusive, p->aligned);
    problem_define_plain_loads(p, out);
}

static const char *searchsorted_invalid(const problem *p, const char *kind, const space *s,
                                        const variant *v)
{
    problem values = *p; // which are what is read in vectors
    int size = (int)cubc_type_size((cubc_type)p->acc_type);
    values.type = p->inputs[VALUES].type;
    return problem_invalid(&values, kind, s, v, size + (p->wide ? 12 : 8));
}

// No deeper than the array, and loaded by a block for at least twice as many values, or by a load
// or two of each thread, which cost less time than a step of the search in the array.
static uint64_t tree_levels(uint64_t most, uint64_t n, uint64_t values_a_block, uint64_t threads)
{
    uint64_t levels = 0, worth = larger(values_a_block / 2, threads > 1 ? 2 * threads : 0);
    while (levels < most && 2ull << levels <= n && 2ull << levels <= worth) levels++;
    return levels;
}

static cubc_status searchsorted_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, VALUES_ARG, OUT, N, COUNT, LEVELS, ARGS };
    enum { TURNS_ON_CPU = 8 }; // blocks a worker: others take over from one that is held up
    const device_kernel *kernel = &i->kernels[0];
    uint64_t values = kernel->threads == 1 // least a block: a tile on the CPU, else a row
                          ? instance_value(i, "ipt", 1)
                          : (uint64_t)kernel->threads << instance_value(i, "ipv", 0);
    uint64_t shares = ceil_div(p->n, values);
    uint64_t blocks = (uint64_t)i->device->info.sm_count *
                      (uint64_t)(kernel->threads == 1 ? TURNS_ON_CPU : kernel->info.blocks_per_sm);
    if (blocks > shares) blocks = shares;
    if (shares == 0) return CUBC_OK;
    uint64_t levels = tree_levels(instance_value(i, "lev", 0), p->inputs[SORTED].n,
                                  shares / blocks * values, kernel->threads);
    out->launch_count = 1;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)blocks,
                                .args_count = ARGS,
                                .args = {[IN] = (uintptr_t)p->inputs[SORTED].data,
                                         [VALUES_ARG] = (uintptr_t)p->inputs[VALUES].data,
                                         [OUT] = (uintptr_t)p->outputs[0].data,
                                         [N] = p->inputs[SORTED].n,
                                         [COUNT] = p->n,
                                         [LEVELS] = levels}};
    return CUBC_OK;
}

static const field searchsorted_fields[] = {
    FIELD_ARRAY(cubc_searchsorted_params, in, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_searchsorted_params, values, FIELD_INPUT, values_type, values_n),
    FIELD(cubc_searchsorted_params, right, FIELD_INT),
    FIELD(cubc_searchsorted_params, less, FIELD_TEXT),
    FIELD_UNTYPED(cubc_searchsorted_params, out, FIELD_OUTPUT, values_n),
};

#define ARRAYS .in = BENCHMARK_ARRAY(0), .values = BENCHMARK_ARRAY(1), .out = BENCHMARK_ARRAY(2)
static const cubc_searchsorted_params lower = {ARRAYS}, upper = {ARRAYS, .right = 1};
static const benchmark searchsorted_benchmarks[] = {
    BENCHMARK_OF("searchsorted.lower", .call = &lower),
    BENCHMARK_OF("searchsorted.upper", .call = &upper)};

const algorithm searchsorted_algorithm = {.name = "searchsorted",
                                          .source = "searchsorted.cu",
                                          .kernels = {"searchsorted_tiles"},
                                          .benchmarks = searchsorted_benchmarks,
                                          .benchmark_count = COUNT_OF(searchsorted_benchmarks),
                                          FIELDS(searchsorted_fields),
                                          .workload = searchsorted_workload,
                                          .axis_values = searchsorted_axis_values,
                                          .define = searchsorted_define,
                                          .invalid = searchsorted_invalid,
                                          .plan = searchsorted_plan,
                                          .traffic = problem_array_bytes,
                                          .random = problem_random_bits};
