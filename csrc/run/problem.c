// Checks of a call, and its launches, that the descriptors share: see problem.h.
#include "run/problem.h"
#include "run/instance.h"

#include "base/integer.h"

#include <string.h>

// ---- operators ---------------------------------------------------------------------------------
// Structs have the operators that a user writes for them, complex numbers those without an order.
static cubc_status check_operator(const problem *p, const char *op)
{
    cubc_type type = (cubc_type)p->type;
    if (p->op && type_table[type].kind == KIND_STRUCT)
        FAIL(CUBC_INVALID_TYPE,
             "'%s' is for numbers and the items are structs, %.200s: write an expression of the "
             "members of a and b with a value for each, \"value_t{a.%s + b.%s, ...}\"",
             op, type_table[type].description, type_table[type].members[0].name,
             type_table[type].members[0].name);
    if (p->op && p->op->ordered && type_table[type].kind == KIND_COMPLEX)
        FAIL(CUBC_INVALID_TYPE,
             "%s needs an order, which complex items (%s) have not: write what is meant, such as "
             "\"abs(a) < abs(b) ? a : b\", or take the real or the imaginary parts",
             op, cubc_type_name(type));
    if (p->op && p->op->ordered && type_table[p->acc_type].kind == KIND_COMPLEX)
        FAIL(CUBC_INVALID_TYPE,
             "%s needs an order, which complex numbers (%s) have not: take an accumulator or a "
             "result of real numbers",
             op, cubc_type_name((cubc_type)p->acc_type));
    return CUBC_OK;
}

// From the items over the accumulator to the result.
static cubc_status check_conversions(const problem *p, const char *family)
{
    cubc_type steps[] = {(cubc_type)p->type, (cubc_type)p->acc_type,
                         (cubc_type)p->outputs[p->output_count - 1].type};
    if (p->op && p->op->arg) return CUBC_OK; // the result is another thing than the items
    for (size_t k = 0; k + 1 < COUNT_OF(steps); k++) {
        const type_info *from = &type_table[steps[k]], *to = &type_table[steps[k + 1]];
        if (type_converts(steps[k], steps[k + 1])) continue;
        if (from->kind == KIND_COMPLEX && to->kind != KIND_STRUCT)
            FAIL(CUBC_INVALID_TYPE,
                 "%s: complex numbers (%s) do not become real ones (%s): take the real or the "
                 "imaginary parts first",
                 family, from->name, to->name);
        FAIL(CUBC_INVALID_TYPE,
             "%s: %.200s does not become %.200s: items that are structs, accumulator and result "
             "have one type; transform makes structs of other items",
             family, from->description ? from->description : from->name,
             to->description ? to->description : to->name);
    }
    return CUBC_OK;
}

// A value of the caller's accumulator, of which logical operators take the truth.
static cubc_status take_init(problem *p, const char *op, cubc_type type, const void *init)
{
    p->has_init = true;
    if (!p->op || !p->op->logical) {
        memcpy(&p->init, init, cubc_type_size(type));
        return CUBC_OK;
    }
    if (!type_converts(type, CUBC_BOOL))
        FAIL(CUBC_INVALID_TYPE, "%s begins with a number, and acc_type is %.200s: give BOOL", op,
             type_table[type].description);
    const bool truth = type_truth(type, init);
    memcpy(&p->init, &truth, sizeof truth);
    return CUBC_OK;
}

cubc_status problem_operator(problem *p, const char *family, const char *op, const void *init)
{
    const cubc_type given = (cubc_type)p->acc_type;
    if (!op) FAIL(CUBC_INVALID_ARGUMENT, "%s: an operator is needed", family);
    TRY(operator_read(op, &p->op));
    if (!p->op) p->expression = op;
    TRY(check_operator(p, op));
    if (p->op && p->op->logical) p->acc_type = CUBC_BOOL;
    if (p->acc_type == CUBC_F16 || p->acc_type == CUBC_BF16)
        FAIL(CUBC_INVALID_TYPE, "%s accumulates F16 and BF16 items in F32, not in %s", family,
             cubc_type_name((cubc_type)p->acc_type));
    TRY(check_conversions(p, family));
    if (p->op && p->op->arg && init) FAIL(CUBC_INVALID_ARGUMENT, "%s takes no initial value", op);
    return init ? take_init(p, op, given, init) : CUBC_OK;
}

const char *problem_operator_name(const problem *p)
{
    return p->op ? p->op->name : "custom";
}

cubc_status problem_take_equal(problem *p, const char *equal)
{
    if (!equal) return CUBC_OK;
    if (strspn(equal, " \t\n") == strlen(equal))
        FAIL(CUBC_INVALID_ARGUMENT,
             "the equality is empty: expected an expression of a and b such as 'a / 10 == b / 10'");
    p->texts[0] = equal;
    p->text_count = 1;
    return CUBC_OK;
}

// ---- arrays ------------------------------------------------------------------------------------
cubc_status problem_check_size(const char *what, uint64_t n, cubc_type type)
{
    uint64_t bytes = cubc_type_size(type);
    if (size_multiply(&bytes, n)) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "%s has too many items: %llu of %zu bytes", what,
         (unsigned long long)n, cubc_type_size(type));
}

cubc_status problem_array(problem *p, operand *to, const char *what, const void *data, uint64_t n,
                          cubc_type type)
{
    if (!type_valid(type)) FAIL(CUBC_INVALID_TYPE, "%s has an unknown type (%d)", what, (int)type);
    if (!data && n) FAIL(CUBC_INVALID_ARGUMENT, "%s is NULL", what);
    if (n && (uintptr_t)data % type_table[type].alignment)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s is not aligned to %d bytes, as its %zu-byte items are: pass a copy that is", what,
             type_table[type].alignment, cubc_type_size(type));
    TRY(problem_check_size(what, n, type));
    *to = (operand){.data = (void *)data, .n = n, .type = (uint8_t)type};
    // Arrays of one item are not read in vectors, unless an item is one.
    bool vectors = n > 1 || cubc_type_size(type) % 16 == 0;
    if (vectors && (uintptr_t)data % 16) p->aligned = false;
    return CUBC_OK;
}

cubc_status problem_input(problem *p, const char *what, const void *data, uint64_t n,
                          cubc_type type)
{
    if (type == CUBC_LAZY)
        FAIL(CUBC_INVALID_TYPE, "%s cannot be lazy: evaluate it by cubc_transform before", what);
    return problem_array(p, &p->inputs[p->input_count++], what, data, n, type);
}

cubc_status problem_output(problem *p, const char *what, void *data, uint64_t n, cubc_type type)
{
    return problem_array(p, &p->outputs[p->output_count++], what, data, n, type);
}

cubc_status problem_check_real(const char *what, cubc_type type)
{
    if (!type_valid(type)) return CUBC_OK; // an unknown type is refused with its array
    if (type_table[type].kind == KIND_STRUCT)
        FAIL(CUBC_INVALID_TYPE,
             "%s are structs, %.200s, and have to be numbers: take one of their members", what,
             type_table[type].description);
    if (type_table[type].kind == KIND_COMPLEX)
        FAIL(CUBC_INVALID_TYPE,
             "%s are complex (%s) and have to be real: take their real parts, imaginary parts or "
             "absolute values",
             what, cubc_type_name(type));
    return CUBC_OK;
}

bool problem_opaque(int bytes, cubc_type *type, uint8_t *width)
{
    if (bytes < 1 || bytes > 16 || (bytes & (bytes - 1))) return false;
    *type = type_unsigned((size_t)(bytes < 8 ? bytes : 8));
    *width = bytes == 16 ? 2 : 1;
    return true;
}

static cubc_status value_type(const problem *p, int bytes, cubc_type *type, uint8_t *width)
{
    if (!problem_opaque(bytes, type, width))
        FAIL(CUBC_INVALID_TYPE, "%s moves values of 1, 2, 4, 8 or 16 bytes, not of %d",
             p->algorithm->name, bytes);
    return CUBC_OK;
}

cubc_status problem_value_input(problem *p, const char *what, const void *data, uint64_t n,
                                int bytes)
{
    cubc_type type = CUBC_U8;
    uint8_t width = 1;
    TRY(value_type(p, bytes, &type, &width));
    TRY(problem_input(p, what, data, n, type));
    p->inputs[p->input_count - 1].width = width;
    return CUBC_OK;
}

cubc_status problem_value_output(problem *p, void *data, uint64_t n, int bytes)
{
    cubc_type type = CUBC_U8;
    uint8_t width = 1;
    TRY(value_type(p, bytes, &type, &width));
    TRY(problem_output(p, "the output of the values", data, n, type));
    p->outputs[p->output_count - 1].width = width;
    return CUBC_OK;
}

// Fails unless the indices 0 to n-1 fit values of that many bytes.
static cubc_status check_indices(const char *what, uint64_t n, int bytes)
{
    if (n == 0 || bytes >= 8 || (n - 1) >> (8 * bytes) == 0) return CUBC_OK;
    FAIL(CUBC_INVALID_TYPE, "%s gives indices of %d bytes: those of %llu items do not fit", what,
         bytes, (unsigned long long)n);
}

cubc_status problem_sort_values(problem *p, const char *what, const void *in, void *out, uint64_t n,
                                int bytes, uint64_t most)
{
    if (!bytes) return CUBC_OK;
    if (in) TRY(problem_value_input(p, what, in, n, bytes));
    TRY(problem_value_output(p, out, n, bytes));
    return in ? CUBC_OK : check_indices(p->algorithm->name, most, bytes);
}

// ---- arrays that overlap -----------------------------------------------------------------------
static bool same_place(const operand *a, const operand *b)
{
    return a->data == b->data && a->n == b->n && operand_item_bytes(a) == operand_item_bytes(b);
}

bool problem_overlap(const operand *a, const operand *b)
{
    uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    return x < y + b->n * operand_item_bytes(b) && y < x + a->n * operand_item_bytes(a);
}

// `in` is input k, or an operand of it.
static cubc_status check_overlap(problem *p, const operand *in, int k, int o, in_place allowed)
{
    const operand *out = &p->outputs[o];
    if (in->scalar || in->lazy || !problem_overlap(in, out)) return CUBC_OK;
    if (in->table)
        FAIL(
            CUBC_INVALID_ARGUMENT,
            "the output overlaps the operand '%s', which the expression indexes: it must lie apart",
            in->name);
    if (!same_place(in, out) || (allowed == INPUT_OF_SAME_NUMBER && k != o))
        FAIL(
            CUBC_INVALID_ARGUMENT,
            "input and output overlap: an output lies apart from all inputs, or it is the array of "
            "one, from its first item on and with items of the same size");
    p->in_place = true;
    return CUBC_OK;
}

// Item i of a lazy input is made of the operands' items i: they are checked like an array.
cubc_status problem_check_overlap(problem *p, in_place allowed)
{
    for (int o = 0; o < p->output_count; o++) {
        const operand *out = &p->outputs[o];
        for (int k = 0; k < p->input_count; k++) {
            const operand *in = &p->inputs[k];
            TRY(check_overlap(p, in, k, o, allowed));
            const lazy_input *l = in->lazy ? &p->lazy[in->lazy - 1] : NULL;
            for (int j = 0; l && j < l->count; j++)
                TRY(check_overlap(p, &p->operands[l->first + j], k, o, allowed));
        }
        for (int other = 0; other < o; other++)
            if (problem_overlap(&p->outputs[other], out))
                FAIL(CUBC_INVALID_ARGUMENT, "two outputs overlap: they must be apart");
    }
    return CUBC_OK;
}

cubc_status problem_check_apart(const problem *p, const void *memory, size_t bytes)
{
    const operand workspace = {.data = (void *)(uintptr_t)memory, .n = bytes, .type = CUBC_U8};
    const operand *groups[] = {p->inputs, p->outputs, p->operands};
    const int counts[] = {p->input_count, p->output_count, p->operand_count};
    for (size_t g = 0; g < COUNT_OF(groups); g++)
        for (int k = 0; k < counts[g]; k++)
            if (!groups[g][k].scalar && !groups[g][k].lazy &&
                problem_overlap(&groups[g][k], &workspace))
                FAIL(CUBC_INVALID_ARGUMENT,
                     "the workspace overlaps an array of the call: it must lie apart");
    return CUBC_OK;
}

cubc_status problem_init_in_memory(problem *p, const char *family, cubc_type type, const void *init)
{
    const operand place = {
        .data = (void *)(uintptr_t)init, .n = 1, .type = p->acc_type, .width = 1};
    operand checked;
    if (p->op && p->op->arg) FAIL(CUBC_INVALID_ARGUMENT, "%s takes no initial value", p->op->name);
    if (type != (cubc_type)p->acc_type)
        FAIL(CUBC_INVALID_TYPE, "%s with init_in_memory needs acc_type %s, not %s",
             problem_operator_name(p), cubc_type_name((cubc_type)p->acc_type),
             cubc_type_name(type));
    TRY(problem_array(p, &checked, "the initial value", init, 1, type));
    for (int k = 0; k < p->output_count; k++) // a single result is written after it has been read
        if (p->outputs[k].n > 1 && problem_overlap(&p->outputs[k], &place))
            FAIL(CUBC_INVALID_ARGUMENT,
                 "%s: the initial value is in the output, which is written before it is read "
                 "everywhere: they must be apart",
                 family);
    p->has_init = p->init_in_memory = true;
    p->init = (type_value){.word = {(uintptr_t)init}};
    return CUBC_OK;
}

// ---- traffic -----------------------------------------------------------------------------------
static double array_bytes(const operand *o)
{
    return o->scalar || o->lazy ? 0 : (double)o->n * (double)operand_item_bytes(o);
}

double problem_input_bytes(const problem *p, int k)
{
    const operand *in = &p->inputs[k];
    const lazy_input *l = in->lazy ? &p->lazy[in->lazy - 1] : NULL;
    double bytes = array_bytes(in);
    for (int j = 0; l && j < l->count; j++) bytes += array_bytes(&p->operands[l->first + j]);
    return bytes;
}

double problem_array_bytes(const problem *p)
{
    double bytes = 0;
    for (int k = 0; k < p->input_count; k++) bytes += problem_input_bytes(p, k);
    for (int k = 0; k < p->output_count; k++) bytes += array_bytes(&p->outputs[k]);
    return bytes;
}

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

cubc_status problem_equal_segments(const char *algorithm, uint64_t n, uint64_t segments)
{
    if (segments ? n % segments == 0 : n == 0) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "%s: %llu items do not make %llu segments of one size; give offsets", algorithm,
         (unsigned long long)n, (unsigned long long)segments);
}

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
