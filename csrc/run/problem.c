// The variants, the launches and the benchmarks that descriptors share: see problem.h.
#include "run/problem.h"
#include "run/instance.h"

#include "base/integer.h"

#include <string.h>

// ---- variants ----------------------------------------------------------------------------------
cubc_type problem_policy_type(const problem *p)
{
    bool made = p->algorithm->makes_structs && p->commutative && p->inputs[0].lazy &&
                type_table[p->type].kind == KIND_STRUCT;
    cubc_type widest = made ? CUBC_BOOL : (cubc_type)p->type; // made: the first operand's, or wider
    for (int l = 0; l < p->lazy_count; l++)
        for (int k = 0; k < p->lazy[l].count && !p->lazy[l].bounds; k++) {
            int at = p->lazy[l].first + k;
            cubc_type type = (cubc_type)p->operands[at].type;
            bool wider = cubc_type_size(type) > cubc_type_size(widest) || (made && at == 0);
            if (!p->operands[at].scalar && wider) widest = type;
        }
    cubc_type sum = (cubc_type)p->acc_type, own = type_arithmetic((cubc_type)p->type);
    bool widened = cubc_type_size(sum) > cubc_type_size(own);
    if (p->algorithm->keeps_sums && widened && cubc_type_size(sum) > cubc_type_size(widest))
        widest = sum;
    return widest;
}

void problem_axis_values(const problem *p, uint64_t values[POLICY_AXES])
{
    memset(values, 0, POLICY_AXES * sizeof *values);
    if (p->algorithm->axis_values)
        p->algorithm->axis_values(p, values);
    else
        values[0] = p->n;
}

const char *problem_invalid(const problem *p, const char *kind, const space *s, const variant *v,
                            int item_bytes)
{
    int ipt = variant_value(s, v, "ipt", 1), vector = 1 << variant_value(s, v, "ipv", 0);
    int vector_bytes = vector * (int)cubc_type_size(problem_policy_type(p));
    if (ipt % vector) return "ipt is not a multiple of the vector's items";
    if (device_is_cpu(kind)) return NULL;
    if (vector > 1 && vector_bytes > 32) return "a vector is wider than two 16-byte accesses";
    if (ipt * item_bytes > 512) return "the items of a thread do not fit its registers";
    // 64 Ki registers of 4 bytes a multiprocessor; some are needed for other things.
    if (ipt * item_bytes * variant_value(s, v, "tpb", 1) > 4 * 50000)
        return "the items of a block do not fit the registers of a multiprocessor";
    if (variant_value(s, v, "ld", 0) == 2 && vector_bytes % 16)
        return "loads narrower than 16 bytes have no choice of caching";
    return NULL;
}

const char *problem_invalid_columns(const problem *p, const char *kind, const space *s,
                                    const variant *v)
{
    const int size = (int)cubc_type_size((cubc_type)p->type);
    const int vector = 1 << variant_value(s, v, "ipv", 0);
    const cubc_type loaded =
        p->algorithm->makes_structs ? problem_policy_type(p) : (cubc_type)p->type;
    if (!device_is_cpu(kind) && vector > 1 && vector * (int)cubc_type_size(loaded) > 16)
        return "a vector is wider than 16 bytes";
    if (!device_is_cpu(kind) &&
        variant_value(s, v, "tpb", 1) * vector * problem_acc_bytes(p) > 200 * 1024)
        return "the accumulators of a block do not fit its shared memory";
    return problem_invalid(p, kind, s, v, size);
}

uint64_t problem_deterministic_tile(uint64_t bytes)
{
    enum { PARTS = 8, LANES = 32 };
    uint64_t vector = bytes < 16 ? 16 / bytes : 1, rows = bytes <= 16 ? 8 : bytes <= 32 ? 4 : 2;
    return PARTS * rows * LANES * vector;
}

// ---- launches ----------------------------------------------------------------------------------
void problem_append_init(const problem *p, launch *l)
{
    size_t words = p->init_in_memory ? 1 : ceil_div(cubc_type_size((cubc_type)p->acc_type), 8);
    for (size_t k = 0; k < words; k++) launch_add(l, p->init.word[k]);
    launch_add(l, p->has_init);
}

cubc_status problem_check_blocks(const problem *p, uint64_t blocks)
{
    if (blocks <= INT32_MAX) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "%s of %llu items needs more than 2^31 blocks", p->algorithm->name,
         (unsigned long long)p->n);
}

enum { IN_A_CLUSTER = 2 }; // of TUNE_ORDER

unsigned problem_cluster(const instance *i, uint64_t blocks)
{
    if (instance_value(i, "ord", 0) != IN_A_CLUSTER) return 0;
    return blocks > 1 && blocks <= i->kernels[0].cluster ? (unsigned)blocks : 0;
}

unsigned problem_cluster_most(const instance *i, int kernel)
{
    if (instance_value(i, "ord", 0) != IN_A_CLUSTER) return 1;
    return i->kernels[kernel].cluster > 1 ? i->kernels[kernel].cluster : 1;
}

// ---- benchmarks --------------------------------------------------------------------------------
const cubc_type problem_all_types[PROBLEM_ALL_TYPES] = {CUBC_I8,  CUBC_I16,  CUBC_I32, CUBC_I64,
                                                        CUBC_U8,  CUBC_U16,  CUBC_U32, CUBC_U64,
                                                        CUBC_F16, CUBC_BF16, CUBC_F32, CUBC_F64};
const int problem_elements[4] = {16, 20, 24, 28};

uint64_t problem_steps(const problem *p, const char *kind)
{
    return p->algorithm->step_count ? p->algorithm->step_count(p, kind) : 0;
}

// Joins the names by hand: it is done for each call, and a formatted print would take longer than
// the rest of the problem.
void problem_set_benchmark(problem *p, const char *family, const char *name)
{
    size_t room = sizeof p->benchmark - 1, first = strlen(family), second = strlen(name);
    if (first > room) first = room;
    if (second > room - first) second = room - first;
    memcpy(p->benchmark, family, first);
    memcpy(p->benchmark + first, name, second);
    p->benchmark[first + second] = 0;
}

const char *problem_random_bits(const problem *p, int k)
{
    switch ((cubc_type)p->inputs[k].type) {
    case CUBC_F16: return "f16{static_cast<u16>(random_u64(seed, i))}";
    case CUBC_BF16: return "bf16{static_cast<u16>(random_u64(seed, i))}";
    case CUBC_F32: return "f32_of(static_cast<u32>(random_u64(seed, i)))";
    case CUBC_F64: return "f64_of(random_u64(seed, i))";
    default: return "random_u64(seed, i)";
    }
}

const char problem_random_offsets[] =
    "i * SegmentSize + (i ? random_u64(seed, i) % SegmentSize : 0)";
