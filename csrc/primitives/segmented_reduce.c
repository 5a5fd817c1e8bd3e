// Descriptor of segmented_reduce: kernels/primitives/segmented_reduce.cu.
#include "base/integer.h"
#include "primitives/routes.h"

#include <string.h>

// ---- problems -----------------------------------------------------------------------------------
enum { SEGMENT_SIZE = 1 }; // among the run-time axes: the mean, which is what the host knows

static void segmented_reduce_place(const problem *p, uint64_t *place)
{
    uint64_t count = p->outputs[0].n;
    place[0] = p->n;
    place[SEGMENT_SIZE] = count ? p->n / count : 0;
}

cubc_status segmented_reduce_build(const reduction *r, problem *out)
{
    TRY(reduction_operands(r, &segmented_reduce_algorithm, out));
    problem_set_benchmark(out, "segmented_reduce.", problem_operator_name(out));
    return CUBC_OK;
}

// ---- benchmarks ---------------------------------------------------------------------------------
// Lengths are drawn from 1 to about twice the mean.
static const char *segmented_reduce_random(const problem *p, int k)
{
    (void)p;
    return k == 1 ? "i * SegmentSize + (i ? random_u64(seed, i) % SegmentSize : 0)" : NULL;
}

static cubc_status segmented_reduce_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                             problem *out)
{
    reduction r = reduction_call(b, type, at[0]);
    r.outer = r.n / smaller(r.n, at[SEGMENT_SIZE]);
    return segmented_reduce_build(&r, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void segmented_reduce_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_COMMUTATIVE %d\n#define TUNE_ACC_BYTES %d\n", p->commutative,
                problem_acc_bytes(p));
    text_printf(out, "#define TUNE_EQUAL_SIZE 0\n#define TUNE_OFFSETS %s\n",
                type_table[p->inputs[1].type].dialect);
}

static const char *segmented_reduce_invalid(const problem *p, const char *kind, const space *s,
                                            const variant *v)
{
    const int size = (int)cubc_type_size((cubc_type)p->type);
    const int threads = variant_value(s, v, "tpb", 1);
    const int window = variant_value(s, v, "ipt", 1) * threads;
    const int ends = variant_value(s, v, "ept", 1) * threads;
    if (strcmp(kind, "cpu") != 0 &&
        window * (size + 2) + 16 * threads + ends * problem_acc_bytes(p) > 200 * 1024)
        return "the items of a block do not fit its shared memory";
    return problem_invalid(p, kind, s, v, size);
}

static cubc_status segmented_reduce_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[0];
    const operand *offsets = &p->inputs[1];
    uint64_t count = p->outputs[0].n;
    uint64_t window = (uint64_t)variant_value(&i->space, &i->variant, "ipt", 1) * kernel->threads;
    uint64_t most = (uint64_t)i->device->info.sm_count * (uint64_t)kernel->info.blocks_per_sm *
                    (uint64_t)variant_value(&i->space, &i->variant, "wav", 1);
    uint64_t grid = ceil_div(p->n + count, window);
    if (count == 0) return CUBC_OK;
    if (grid > most) grid = most;
    out->message_bytes = 8 * (1 + grid * (((uint64_t)problem_acc_bytes(p) + 3) / 4));
    out->launch_count = 1;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)grid,
                                .message_args = 1u << 6,
                                .args_count = 7,
                                .args = {0, (uintptr_t)p->outputs[0].data, (uintptr_t)offsets->data,
                                         p->n / count, count, p->n, 0}};
    problem_append_init(p, &out->launches[0]);
    return problem_place_input(p, 0, &out->launches[0], 0);
}

static const field segmented_reduce_fields[] = {
    FIELD_ARRAY(cubc_segmented_reduce_params, in, FIELD_LAZY, type, n),
    {"offsets", FIELD_INPUT, offsetof(cubc_segmented_reduce_params, offsets),
     offsetof(cubc_segmented_reduce_params, offset_type), 0, 0},
    FIELD(cubc_segmented_reduce_params, acc_type, FIELD_TYPE),
    FIELD(cubc_segmented_reduce_params, op, FIELD_TEXT),
    FIELD(cubc_segmented_reduce_params, commutative, FIELD_INT),
    FIELD(cubc_segmented_reduce_params, deterministic, FIELD_INT),
    {"init", FIELD_VALUE, offsetof(cubc_segmented_reduce_params, init),
     offsetof(cubc_segmented_reduce_params, acc_type), 0, 0},
    FIELD_ARRAY(cubc_segmented_reduce_params, out, FIELD_OUTPUT, out_type, segments),
};

#define BENCHMARK(op_name, lengths)                                                \
    BENCHMARK_OF("segmented_reduce." op_name, .axes[SEGMENT_SIZE] = AXIS(lengths), \
                 REDUCTION_CALL(.op = op_name, .shape = REDUCTION_SEGMENTS,        \
                                .offsets = BENCHMARK_ARRAY(2), .offset_type = CUBC_I64))
static const int lengths[] = {8, 256, 65536}, short_length[] = {8};
static const benchmark segmented_reduce_benchmarks[] = {BENCHMARK("sum", lengths),
                                                        BENCHMARK("argmin", short_length)};

const algorithm segmented_reduce_algorithm = {.name = "segmented_reduce",
                                              .source = "segmented_reduce.cu",
                                              .kernels = {"segmented_reduce_shares"},
                                              .axes = {"Elements", "SegmentSize"},
                                              .benchmarks = segmented_reduce_benchmarks,
                                              .benchmark_count =
                                                  COUNT_OF(segmented_reduce_benchmarks),
                                              FIELDS(segmented_reduce_fields),
                                              .workload = segmented_reduce_workload,
                                              .place = segmented_reduce_place,
                                              .define = segmented_reduce_define,
                                              .invalid = segmented_reduce_invalid,
                                              .plan = segmented_reduce_plan,
                                              .traffic = problem_array_bytes,
                                              .random = segmented_reduce_random};
