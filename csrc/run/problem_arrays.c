// The arrays of a call: their types, sizes and places, and their bytes. See problem.h.
#include "run/algorithm.h"
#include "run/problem.h"

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

cubc_status problem_equal_segments(const char *algorithm, uint64_t n, uint64_t segments)
{
    if (segments ? n % segments == 0 : n == 0) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "%s: %llu items do not make %llu segments of one size; give offsets", algorithm,
         (unsigned long long)n, (unsigned long long)segments);
}

// ---- arrays that overlap -----------------------------------------------------------------------
static bool same_place(const operand *a, const operand *b)
{
    return a->data == b->data && a->n == b->n && operand_item_bytes(a) == operand_item_bytes(b);
}

bool problem_overlap(const operand *a, const operand *b)
{
    uintptr_t x = (uintptr_t)a->data, y = (uintptr_t)b->data;
    return a->n && b->n && x < y + b->n * operand_item_bytes(b) &&
           y < x + a->n * operand_item_bytes(a);
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
