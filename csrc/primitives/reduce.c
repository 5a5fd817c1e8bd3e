// Descriptor of reduce: kernels/primitives/reduce.cu.
#include "base/integer.h"
#include "primitives/reduction.h"

#include <string.h>

// A sum of an expression of several arrays loads all of them, and so has a benchmark and policies
// of its own: dot, as BabelStream calls it.
static bool is_dot(const problem *p)
{
    int arrays = 0;
    for (int k = 0; k < p->operand_count; k++) arrays += !p->operands[k].scalar;
    return arrays > 1 && p->op && strcmp(p->op->name, "sum") == 0;
}

static const cubc_reduce_params dot = {.out = BENCHMARK_ARRAY(1), .op = "sum"};

static const cubc_reduce_params several = {
    .out = BENCHMARK_ARRAY(1), .op = REDUCTION_SEVERAL, .commutative = 1};

static void reduce_complete(const void *call, problem *p)
{
    (void)call;
    problem_set_benchmark(p, "reduce.",
                          is_dot(p)                 ? "dot"
                          : reduction_is_several(p) ? "several"
                                                    : problem_operator_name(p));
}

static cubc_status reduce_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                   problem *out)
{
    cubc_reduce_params call = *(const cubc_reduce_params *)b->call;
    const cubc_operand factors[] = {{.name = "x", .data = BENCHMARK_ARRAY(2), .type = type},
                                    {.name = "y", .data = BENCHMARK_ARRAY(3), .type = type}};
    cubc_lazy in = {.expression = "x * y", .type = type, .operands = factors, .operand_count = 2};
    call.n = at[0];
    call.type = type;
    operator_types(operator_find(call.op), type, true, NULL, &call.acc_type, &call.out_type);
    if (b->call == &several) {
        TRY(reduction_several_input(factors, &in));
        call.acc_type = call.out_type = in.type;
    }
    if (b->call == &dot || b->call == &several) {
        call.in = &in;
        call.type = CUBC_LAZY;
    }
    return reduce_problem(&call, out);
}

// TUNE_BYTES of kernels/primitives/bytes.h. An extreme is looked for among the items as they are,
// so the accumulator's type must be theirs.
static int bytes_folded(const problem *p)
{
    static const char *const extremes[] = {"min", "max"};
    bool arithmetic = p->acc_type > CUBC_BOOL && p->acc_type <= CUBC_F64;
    if ((p->type != CUBC_I8 && p->type != CUBC_U8) || !p->op || !arithmetic) return 0;
    if (strcmp(p->op->name, "sum") == 0) return 1;
    for (int k = 0; p->acc_type == p->type && k < 2; k++)
        if (strcmp(p->op->name, extremes[k]) == 0) return 2 + k;
    return 0;
}

static void reduce_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_BYTES %d\n#define TUNE_BYTES_SIGNED %d\n", bytes_folded(p),
                p->type == CUBC_I8);
    text_printf(out, "#define TUNE_COMMUTATIVE %d\n#define TUNE_ACC_BYTES %d\n", p->commutative,
                problem_acc_bytes(p));
}

static const char *reduce_invalid(const problem *p, const char *kind, const space *s,
                                  const variant *v)
{
    return problem_invalid(p, kind, s, v, (int)cubc_type_size((cubc_type)p->type));
}

static cubc_status reduce_plan(const problem *p, const instance *i, plan *out)
{
    enum { IN, OUT, N, STEPS, MESSAGES, ARGS }; // then the initial value
    const device_kernel *kernel = &i->kernels[0];
    uint64_t tile = instance_tile(i, kernel);
    uint64_t resident = blocks_in_waves(i, kernel);
    uint64_t least = instance_value(i, "ms", 1);
    uint64_t tiles = ceil_div(p->n, tile), steps = ceil_div(tiles, resident);
    if (steps < least) steps = tiles < least ? tiles : least;
    uint64_t grid = steps ? ceil_div(tiles, steps) : 1;
    uint64_t words = ceil_div((uint64_t)problem_acc_bytes(p), 4);
    out->message_bytes = 8 * (1 + grid * words);
    out->launch_count = 1;
    out->launches[0] =
        (launch){.kernel = kernel,
                 .shape = {.grid = (unsigned)grid, .cluster = problem_cluster(i, grid)},
                 .message_args = 1u << MESSAGES,
                 .args_count = ARGS,
                 .args = {[OUT] = (uintptr_t)p->outputs[0].data, [N] = p->n, [STEPS] = steps}};
    problem_append_init(p, &out->launches[0]);
    return problem_place_input(p, 0, &out->launches[0], IN);
}

#define BENCHMARK(op_name) BENCHMARK_OF("reduce." op_name, REDUCTION_CALL(reduce, .op = op_name))
static const benchmark reduce_benchmarks[] = {BENCHMARK("sum"),
                                              BENCHMARK("prod"),
                                              BENCHMARK("min"),
                                              BENCHMARK("max"),
                                              BENCHMARK("argmin"),
                                              BENCHMARK("argmax"),
                                              BENCHMARK_OF("reduce.dot", .call = &dot),
                                              BENCHMARK_OF("reduce.several", .call = &several)};

const algorithm reduce_algorithm = {.name = "reduce",
                                    .makes_structs = true,
                                    .source = "reduce.cu",
                                    .kernels = {"reduce_blocks"},
                                    .benchmarks = reduce_benchmarks,
                                    .benchmark_count = COUNT_OF(reduce_benchmarks),
                                    .workload = reduce_workload,
                                    .complete = reduce_complete,
                                    .define = reduce_define,
                                    .invalid = reduce_invalid,
                                    .plan = reduce_plan,
                                    .traffic = problem_array_bytes};
