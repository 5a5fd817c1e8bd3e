// Lazy inputs: their checks, their macros and their words among a kernel's arguments. The
// kernels read them by kernels/shared/input.h.
#include "base/integer.h"
#include "run/expression.h"
#include "run/problem.h"

#include <stdio.h>
#include <string.h>

enum { VECTOR_ITEMS = 16 }; // of the widest vector for which a row may stay whole

// ---- shapes -------------------------------------------------------------------------------------
typedef struct extents { // of the result, or of an operand
    int ndim;
    const ptrdiff_t *shape;
} extents;

// Counted from the last axis; missing ones are 1.
static uint64_t extent_at(extents e, int d)
{
    return d < e.ndim ? (uint64_t)e.shape[e.ndim - 1 - d] : 1;
}

static cubc_status count_items(extents e, const char *what, uint64_t *n)
{
    if (e.ndim < 0) FAIL(CUBC_INVALID_ARGUMENT, "%s has %d axes: give 0 or more", what, e.ndim);
    if (e.ndim && !e.shape)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has %d axes and no shape: give their extents", what,
             e.ndim);
    if (size_of_extents(e.shape, e.ndim, 1, n)) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "%s has a negative or an impossibly large extent", what);
}

// Finds the operands that go along with axis d, a bit each: arrays of the result's shape do, and
// those that are indexed do not.
static cubc_status along_axis(const cubc_lazy *lazy, const operand *operands, int d, unsigned *out)
{
    uint64_t whole = extent_at((extents){lazy->ndim, lazy->shape}, d);
    *out = 0;
    for (int k = 0; k < lazy->operand_count; k++) {
        const cubc_operand *o = &lazy->operands[k];
        if (operands[k].table) continue;
        uint64_t own = o->shape ? extent_at((extents){o->ndim, o->shape}, d) : whole;
        if (own != whole && own != 1)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "operand '%s' has %llu items along an axis of %llu: as many are needed, or one",
                 o->name, (unsigned long long)own, (unsigned long long)whole);
        if (own == whole) *out |= 1u << k;
    }
    return CUBC_OK;
}

// An operand may have more axes than the result, of one item each.
static int count_axes(const cubc_lazy *lazy, const operand *operands)
{
    int most = lazy->ndim;
    for (int k = 0; k < lazy->operand_count; k++)
        if (!operands[k].table && lazy->operands[k].shape && lazy->operands[k].ndim > most)
            most = lazy->operands[k].ndim;
    return most;
}

// Neighbouring axes that the same operands go along with are one.
static cubc_status merge_axes(const cubc_lazy *lazy, const operand *operands, uint64_t n,
                              lazy_input *l, unsigned along[MAX_AXES])
{
    const int axes = count_axes(lazy, operands);
    l->rank = 0;
    for (int d = 0; d < axes; d++) {
        unsigned here;
        uint64_t extent = extent_at((extents){lazy->ndim, lazy->shape}, d);
        TRY(along_axis(lazy, operands, d, &here));
        if (extent == 1 || n == 0) continue;
        if (l->rank && along[l->rank - 1] == here) {
            l->extents[l->rank - 1] *= extent;
            continue;
        }
        if (l->rank == MAX_AXES)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "the operands are broadcast along too many axes in turn: more than %d differ from "
                 "their neighbours; broadcast some of them before",
                 MAX_AXES);
        along[l->rank] = here;
        l->extents[l->rank++] = extent;
    }
    if (l->rank == 0) { // all that there is goes along
        along[0] = ~0u;
        l->extents[l->rank++] = n;
    }
    l->rows = l->rank > 1 && l->extents[0] % VECTOR_ITEMS == 0;
    return CUBC_OK;
}

// ---- operands -----------------------------------------------------------------------------------
static cubc_status check_name(const cubc_lazy *lazy, int k)
{
    const char *name = lazy->operands[k].name;
    if (!name || !name_valid(name))
        FAIL(CUBC_INVALID_ARGUMENT,
             "'%.40s' cannot name an operand: expected an identifier of at most 31 letters",
             name ? name : "");
    if (strcmp(name, "i") == 0)
        FAIL(CUBC_INVALID_ARGUMENT, "'i' cannot name an operand: it is the index of an item; call "
                                    "the operand k, as in table[k]");
    if (name_reserved(name))
        FAIL(CUBC_INVALID_ARGUMENT,
             "'%s' cannot name an operand: it is a word of C++ or of the kernels; give it another",
             name);
    for (int j = 0; j < k; j++)
        if (strcmp(lazy->operands[j].name, name) == 0)
            FAIL(CUBC_INVALID_ARGUMENT, "two operands are called '%s'", name);
    return CUBC_OK;
}

static cubc_status check_table(const cubc_operand *o, bool mixed)
{
    if (mixed)
        FAIL(CUBC_INVALID_ARGUMENT,
             "the expression indexes the operand '%s', and names it without an index: give the "
             "array a second name for that",
             o->name);
    if (o->scalar)
        FAIL(CUBC_INVALID_ARGUMENT,
             "the operand '%s' is no array to index: give an array, or use it without [ ]",
             o->name);
    if (!o->shape)
        FAIL(CUBC_INVALID_ARGUMENT, "the operand '%s' is indexed and needs a shape", o->name);
    return CUBC_OK;
}

static cubc_status add_operand(problem *p, const char *expression, const cubc_operand *o,
                               uint64_t n)
{
    char what[64];
    bool mixed = false;
    bool table = strchr(expression, '[') && expression_indexes(expression, o->name, &mixed);
    if (table) TRY(check_table(o, mixed));
    operand *to = &p->operands[p->operand_count++];
    snprintf(what, sizeof what, "operand '%s'", o->name);
    if (o->scalar) {
        if (!type_valid(o->type)) FAIL(CUBC_INVALID_TYPE, "%s has an unknown type", what);
        if (!o->data) FAIL(CUBC_INVALID_ARGUMENT, "%s is NULL", what);
        *to = (operand){.data = (void *)o->data, .n = 1, .type = (uint8_t)o->type, .scalar = true};
    } else {
        if (o->shape) TRY(count_items((extents){o->ndim, o->shape}, what, &n));
        TRY(problem_array(p, to, what, o->data, n, o->type));
    }
    if (table && to->n == 0) FAIL(CUBC_INVALID_ARGUMENT, "%s is indexed and has no items", what);
    to->table = table;
    to->name = o->name;
    return CUBC_OK;
}

static cubc_status add_operands(problem *p, const cubc_lazy *lazy, uint64_t n, lazy_input *l)
{
    unsigned along[MAX_AXES];
    for (int k = 0; k < lazy->operand_count; k++) {
        TRY(check_name(lazy, k));
        TRY(add_operand(p, lazy->expression, &lazy->operands[k], n));
    }
    TRY(merge_axes(lazy, &p->operands[l->first], n, l, along));
    for (int k = 0; k < lazy->operand_count; k++)
        for (int d = 0; d < l->rank; d++)
            if (!p->operands[l->first + k].scalar && !p->operands[l->first + k].table &&
                along[d] >> k & 1)
                p->operands[l->first + k].axes |= (uint8_t)(1u << d);
    return expression_check(lazy->expression, &p->operands[l->first], lazy->operand_count);
}

static cubc_status check_lazy(const problem *p, const char *what, const cubc_lazy *lazy, uint64_t n)
{
    uint64_t items;
    if (!lazy) FAIL(CUBC_INVALID_ARGUMENT, "%s is NULL", what);
    if (!type_valid(lazy->type)) FAIL(CUBC_INVALID_TYPE, "%s has an unknown type", what);
    if (lazy->operand_count < 0)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has %d operands", what, lazy->operand_count);
    if (lazy->operand_count && !lazy->operands)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has %d operands, whose address is NULL", what,
             lazy->operand_count);
    if (lazy->operand_count > MAX_OPERANDS - p->operand_count)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has too many operands: a call takes at most %d, not %lld",
             what, MAX_OPERANDS, (long long)lazy->operand_count + p->operand_count);
    if (!lazy->expression || strspn(lazy->expression, " \t\n") == strlen(lazy->expression))
        FAIL(CUBC_INVALID_ARGUMENT, "%s: an expression is needed", what);
    if (p->lazy_count == MAX_LAZY)
        FAIL(CUBC_INVALID_ARGUMENT, "a call takes at most %d lazy inputs", MAX_LAZY);
    TRY(problem_check_size(what, n, lazy->type));
    if (!lazy->ndim) return CUBC_OK;
    TRY(count_items((extents){lazy->ndim, lazy->shape}, what, &items));
    if (items != n)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has a shape of %llu items, expected %llu", what,
             (unsigned long long)items, (unsigned long long)n);
    return CUBC_OK;
}

cubc_status problem_lazy_input(problem *p, const char *what, const void *data, uint64_t n,
                               cubc_type type)
{
    const ptrdiff_t flat = (ptrdiff_t)n;
    if (type != CUBC_LAZY) return problem_input(p, what, data, n, type);
    TRY(check_lazy(p, what, data, n));
    cubc_lazy lazy = *(const cubc_lazy *)data;
    if (!lazy.ndim) {
        lazy.ndim = 1;
        lazy.shape = &flat;
    }
    lazy_input *l = &p->lazy[p->lazy_count++];
    *l = (lazy_input){.expression = lazy.expression,
                      .first = p->operand_count,
                      .count = (uint8_t)lazy.operand_count};
    p->inputs[p->input_count++] =
        (operand){.n = n, .type = (uint8_t)lazy.type, .lazy = p->lazy_count};
    return add_operands(p, &lazy, n, l);
}

cubc_status problem_ends(problem *p, const char *what, const void *data, uint64_t segments,
                         cubc_type type)
{
    const cubc_type items = problem_input_type(data, type);
    if (items != CUBC_I32 && items != CUBC_I64)
        FAIL(CUBC_INVALID_TYPE,
             "%s are I32 or I64, not %s: convert them, or give an expression one of these types",
             what, cubc_type_name(items));
    TRY(problem_lazy_input(p, what, data, segments, type));
    if (type == CUBC_LAZY) p->lazy[p->lazy_count - 1].bounds = true;
    return CUBC_OK;
}

cubc_status problem_offsets(problem *p, const char *what, const void *data, uint64_t segments,
                            cubc_type type)
{
    TRY(problem_check_size(what, segments, CUBC_I32)); // so that one more does not wrap
    return problem_ends(p, what, data, segments + 1, type);
}

cubc_type problem_input_type(const void *data, cubc_type type)
{
    return type == CUBC_LAZY && data ? ((const cubc_lazy *)data)->type : type;
}

// ---- macros -------------------------------------------------------------------------------------
static size_t scalar_words(const operand *o)
{
    return ceil_div(operand_item_bytes(o), 8);
}

// Where tables are checked, each has the address of its note besides: three words.
static size_t table_words(const problem *p)
{
    return p->checked ? 3 : 2;
}

static size_t count_words(const problem *p, const lazy_input *l)
{
    size_t words = 2 * (size_t)(l->rank - 1);
    for (int k = 0; k < l->count; k++) {
        const operand *o = &p->operands[l->first + k];
        words += o->scalar ? scalar_words(o) : o->table ? table_words(p) : 1;
    }
    return words ? words : 1; // a struct has no size 0
}

static void define_operands(const problem *p, const lazy_input *l, bool scalar, bool table,
                            text *out)
{
    // TUNE_X: any other parameter might be an operand's name.
    text_puts(out, "(TUNE_X)");
    for (int k = 0; k < l->count; k++) {
        const operand *o = &p->operands[l->first + k];
        if (o->scalar == scalar && o->table == table)
            text_printf(out, " TUNE_X(%s, %s, %d)", type_table[o->type].dialect, o->name, o->axes);
    }
    text_puts(out, "\n");
}

void problem_define_input(const problem *p, int k, const char *prefix, text *out)
{
    static const operand none = {0};
    const operand *in = k < 0 ? &none : &p->inputs[k];
    char name[32];
    text_printf(out, "#define %s_LAZY %d\n", prefix, in->lazy != 0);
    if (!in->lazy) return;
    const lazy_input *l = &p->lazy[in->lazy - 1];
    text_printf(out, "#define %s_TYPE %s\n#define %s_RANK %d\n#define %s_ROWS %d\n", prefix,
                type_table[in->type].dialect, prefix, l->rank, prefix, l->rows);
    text_printf(out, "#define %s_ARRAYS", prefix);
    define_operands(p, l, false, false, out);
    text_printf(out, "#define %s_TABLES", prefix);
    define_operands(p, l, false, true, out);
    text_printf(out, "#define %s_SCALARS", prefix);
    define_operands(p, l, true, false, out);
    snprintf(name, sizeof name, "%s_EXPRESSION", prefix);
    problem_define_expression(out, name, l->expression);
}

void problem_define_offsets(const problem *p, int k, text *out)
{
    text_printf(out, "#define TUNE_EQUAL_SIZE %d\n#define TUNE_OFFSETS %s\n", k < 0,
                k < 0 ? "i64" : type_table[p->inputs[k].type].dialect);
    problem_define_input(p, k, "TUNE_BOUNDS", out);
}

void problem_define_ends(const problem *p, int k, text *out)
{
    if (k >= p->input_count) return;
    text_printf(out, "#define TUNE_OWN_ENDS 1\n#define TUNE_ENDS %s\n",
                type_table[p->inputs[k].type].dialect);
    problem_define_input(p, k, "TUNE_LAST", out);
}

// ---- arguments ----------------------------------------------------------------------------------
// Writes the words of DEFINE_INPUT's struct in its order: axes, arrays, tables, scalars.
static void write_words(const problem *p, const lazy_input *l, uint64_t *words)
{
    const operand *operands = &p->operands[l->first];
    uint64_t *note = p->outputs[0].data;
    words[0] = 0;
    for (int d = 0; d < l->rank - 1; d++) {
        *words++ = l->extents[d];
        *words++ = UINT64_MAX / l->extents[d] + 1; // extents are above 1
    }
    for (int k = 0; k < l->count; k++)
        if (!operands[k].scalar && !operands[k].table) *words++ = (uintptr_t)operands[k].data;
    for (int k = 0; k < l->count; k++)
        if (operands[k].table) {
            *words++ = (uintptr_t)operands[k].data;
            *words++ = operands[k].n;
            if (p->checked) *words++ = (uintptr_t)note;
            if (p->checked) note += 3;
        }
    for (int k = 0; k < l->count; k++)
        if (operands[k].scalar) {
            size_t own = scalar_words(&operands[k]);
            words[own - 1] = 0;
            memcpy(words, operands[k].data, operand_item_bytes(&operands[k]));
            words += own;
        }
}

// Bits from `at` on move up by `by`, to make room for what has no bit.
static uint64_t shift_bits(uint64_t bits, int at, int by)
{
    uint64_t below = ((uint64_t)1 << at) - 1;
    return (bits & below) | (bits & ~below) << by;
}

cubc_status problem_insert_input(const problem *p, int k, launch *l, int at)
{
    launch_add(l, 0);
    if (l->args_count > MAX_ARGS) return CUBC_OK; // plan_place refuses the launch
    memmove(&l->args[at + 1], &l->args[at], (l->args_count - 1 - (size_t)at) * sizeof l->args[0]);
    l->message_args = shift_bits(l->message_args, at, 1);
    l->scratch_args = shift_bits(l->scratch_args, at, 1);
    return problem_place_input(p, k, l, at);
}

cubc_status problem_place_input(const problem *p, int k, launch *l, int at)
{
    static const operand none = {0};
    const operand *in = k < 0 ? &none : &p->inputs[k];
    l->args[at] = (uintptr_t)in->data;
    if (!in->lazy) return CUBC_OK;
    const lazy_input *lazy = &p->lazy[in->lazy - 1];
    size_t more = count_words(p, lazy) - 1, behind = l->args_count - (size_t)at - 1;
    if (l->args_count + more > MAX_ARGS)
        FAIL(CUBC_INVALID_ARGUMENT,
             "the values, arrays and axes of a call's expressions take more than the %d bytes that "
             "a kernel is given: evaluate one by cubc_transform before, or pass some values as "
             "members of one struct",
             8 * MAX_ARGS);
    memmove(&l->args[at + 1 + (int)more], &l->args[at + 1], behind * sizeof l->args[0]);
    write_words(p, lazy, &l->args[at]);
    l->message_args = shift_bits(l->message_args, at + 1, (int)more);
    l->scratch_args = shift_bits(l->scratch_args, at + 1, (int)more);
    l->args_count += more;
    return CUBC_OK;
}
