// Structs of number types: the checks and the layout of a description, its definition for the
// kernels, and its row in the table of types.
//
// The definition has the members where the description says, gaps as members of their own, and the
// kernel asserts it. A constructor takes a value for each member and converts it, so that gaps are
// no user's business and a sum of f16 or i8 goes back where it came from. It leaves the default
// constructor trivial, as unions and uninitialised arrays of the kernels need it. Types are looked
// up globally, since a member may have the name of one.
#include "base/name.h"
#include "base/types.h"

#include <stdio.h>
#include <string.h>

// A struct before it has a number.
typedef struct type_layout {
    const cubc_member *members; // borrowed
    int count;
    size_t size, alignment;
    bool packed; // a member's offset is not a multiple of its alignment
} type_layout;

static size_t values_in(const cubc_member *m)
{
    return m->length ? (size_t)m->length : 1;
}

static size_t bytes_of(const cubc_member *m)
{
    return values_in(m) * cubc_type_size(m->type);
}

// ---- checks -------------------------------------------------------------------------------------
static cubc_status check_member(const cubc_member *members, int k, size_t begin, size_t size)
{
    const cubc_member *m = &members[k];
    if (!m->name || !name_valid(m->name) || name_reserved_member(m->name))
        FAIL(CUBC_INVALID_ARGUMENT,
             "'%.40s' cannot name a member: take an identifier of at most %d letters that is no "
             "word of C++ or of the kernels",
             m->name ? m->name : "", NAME_SIZE - 1);
    for (int other = 0; other < k; other++)
        if (strcmp(members[other].name, m->name) == 0)
            FAIL(CUBC_INVALID_ARGUMENT, "two members are called '%s'", m->name);
    if (!type_valid(m->type))
        FAIL(CUBC_INVALID_TYPE, "member '%s' has an unknown type (%d)", m->name, (int)m->type);
    if (m->length < 0 || m->length > MAX_VALUE_BYTES)
        FAIL(CUBC_INVALID_ARGUMENT,
             "member '%s' has %d values: expected 1 to %d, or 0 for no array", m->name, m->length,
             MAX_VALUE_BYTES);
    if (m->offset < begin)
        FAIL(CUBC_INVALID_ARGUMENT,
             "member '%s' begins at byte %zu, where the one before it has not ended: members come "
             "in the order of their offsets and do not overlap",
             m->name, m->offset);
    if (m->offset > size || bytes_of(m) > size - m->offset)
        FAIL(CUBC_INVALID_ARGUMENT, "member '%s' ends behind the %zu bytes of its struct", m->name,
             size);
    return CUBC_OK;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

// The most that all members and the size keep: 4 for an F64 at offset 4.
static bool are_aligned(const type_layout *l, size_t alignment)
{
    for (int k = 0; k < l->count; k++) {
        const cubc_member *m = &l->members[k];
        if (m->offset % smaller(alignment, type_table[m->type].alignment)) return false;
    }
    return l->size % alignment == 0;
}

// Types that the dialect has a class for are read through pointers, which compilers take to be
// aligned.
static cubc_status check_classes(const type_layout *l)
{
    for (int k = 0; k < l->count; k++) {
        const cubc_member *m = &l->members[k];
        const type_info *t = &type_table[m->type];
        bool class = t->kind == KIND_COMPLEX || t->kind == KIND_STRUCT ||
                     type_arithmetic(m->type) != m->type;
        if (class && t->alignment > l->alignment)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "member '%s' (%s) would not always lie on a multiple of %d bytes: align the "
                 "struct as C does, in NumPy with dtype(fields, align=True)",
                 m->name, t->dialect, t->alignment);
    }
    return CUBC_OK;
}

static cubc_status find_layout(const cubc_member *members, int count, size_t size, type_layout *out)
{
    size_t end = 0, widest = 1;
    if (count < 1 || !members) FAIL(CUBC_INVALID_ARGUMENT, "a struct needs a member");
    if (size > MAX_VALUE_BYTES)
        FAIL(CUBC_INVALID_ARGUMENT,
             "a struct of %zu bytes is too large: %d are the most; keep what is not computed with "
             "in an array of its own",
             size, MAX_VALUE_BYTES);
    for (int k = 0; k < count; k++) {
        TRY(check_member(members, k, end, size));
        end = members[k].offset + bytes_of(&members[k]);
        if (type_table[members[k].type].alignment > widest)
            widest = type_table[members[k].type].alignment;
    }
    *out = (type_layout){.members = members, .count = count, .size = size, .alignment = widest};
    while (!are_aligned(out, out->alignment)) out->alignment /= 2;
    out->packed = out->alignment < widest;
    return check_classes(out);
}

// ---- texts --------------------------------------------------------------------------------------
// Unused bytes in front of a member, or behind the last.
static size_t gap_before(const type_layout *l, int k)
{
    size_t end = k ? l->members[k - 1].offset + bytes_of(&l->members[k - 1]) : 0;
    return (k < l->count ? l->members[k].offset : l->size) - end;
}

static void describe(const type_layout *l, text *out)
{
    text_puts(out, "{");
    for (int k = 0; k < l->count; k++) {
        const cubc_member *m = &l->members[k];
        text_printf(out, "%s %s", type_table[m->type].dialect, m->name);
        if (m->length) text_printf(out, "[%d]", m->length);
        if (gap_before(l, k)) text_printf(out, " @%zu", m->offset);
        text_puts(out, "; ");
    }
    text_printf(out, "%zu bytes}", l->size);
}

static void write_members(const type_layout *l, text *out)
{
    for (int k = 0; k <= l->count; k++) {
        const cubc_member *m = &l->members[k];
        if (gap_before(l, k)) text_printf(out, " ::u8 TUNE_GAP%d[%zu];", k, gap_before(l, k));
        if (k == l->count) break;
        text_printf(out, " ::%s %s", type_table[m->type].dialect, m->name);
        if (m->length) text_printf(out, "[%d]", m->length);
        text_puts(out, ";");
    }
}

// template <class TUNE_T0, ...> of the members that are no arrays.
static void write_template(const type_layout *l, text *out)
{
    const char *before = " template <";
    for (int k = 0; k < l->count; k++) {
        if (l->members[k].length) continue;
        text_printf(out, "%sclass TUNE_T%d", before, k);
        before = ", ";
    }
    if (*before == ',') text_puts(out, ">");
}

static void write_parameter(const cubc_member *m, int k, text *out)
{
    const char *type = type_table[m->type].dialect;
    if (m->length)
        text_printf(out, "%sconst ::%s (&TUNE_V%d)[%d]", k ? ", " : "", type, k, m->length);
    else
        text_printf(out, "%sTUNE_T%d TUNE_V%d", k ? ", " : "", k, k);
}

// Writes braces, since a name before a parenthesis might be a macro of the dialect.
static void write_initial(const cubc_member *m, int k, text *out)
{
    text_printf(out, "%s%s{", k ? ", " : "", m->name);
    for (int v = 0; v < m->length; v++) text_printf(out, "%sTUNE_V%d[%d]", v ? ", " : "", k, v);
    if (!m->length) text_printf(out, "convert< ::%s>(TUNE_V%d)", type_table[m->type].dialect, k);
    text_puts(out, "}");
}

static void write_constructor(const type_layout *l, const char *name, text *out)
{
    write_template(l, out);
    text_printf(out, " FUNCTION_MEMBER explicit %s(", name);
    for (int k = 0; k < l->count; k++) write_parameter(&l->members[k], k, out);
    text_puts(out, ") : ");
    for (int k = 0; k < l->count; k++) write_initial(&l->members[k], k, out);
    for (int k = 0; k <= l->count; k++)
        if (gap_before(l, k)) text_printf(out, ", TUNE_GAP%d{}", k);
    text_puts(out, " {}");
}

static void write_comparisons(const type_layout *l, const char *name, text *out)
{
    text_printf(out, " FUNCTION_MEMBER bool operator==(const %s& TUNE_OTHER) const { return true",
                name);
    for (int k = 0; k < l->count; k++) {
        const cubc_member *m = &l->members[k];
        for (size_t v = 0; v < values_in(m); v++)
            if (m->length)
                text_printf(out, " && %s[%zu] == TUNE_OTHER.%s[%zu]", m->name, v, m->name, v);
            else
                text_printf(out, " && %s == TUNE_OTHER.%s", m->name, m->name);
    }
    text_printf(
        out,
        "; } FUNCTION_MEMBER bool operator!=(const %s& TUNE_OTHER) const { return !(*this == "
        "TUNE_OTHER); }",
        name);
}

static void write_definition(const type_layout *l, const char *name, text *out)
{
    text_puts(out, "struct ");
    if (l->packed) text_printf(out, "__attribute__((packed, aligned(%zu))) ", l->alignment);
    text_printf(out, "%s {", name);
    write_members(l, out);
    text_printf(out, " %s() = default;", name);
    write_constructor(l, name, out);
    write_comparisons(l, name, out);
    // Gaps are members too, so whatever else a compiler put between them would show in the size.
    text_printf(out, " }; static_assert(sizeof(%s) == %zu && alignof(%s) == %zu", name, l->size,
                name, l->alignment);
    text_puts(out, ", \"a struct of the kernel lies as its arrays do\");");
}

// ---- the table ----------------------------------------------------------------------------------
FORK_SAFE_MUTEX(structs_lock);

// A copy of the members whose names live as long.
static cubc_member *copy_members(const type_layout *l)
{
    size_t bytes = 0;
    for (int k = 0; k < l->count; k++) bytes += strlen(l->members[k].name) + 1;
    cubc_member *copy = mem_alloc(1, (size_t)l->count * sizeof *copy + bytes);
    if (!copy) return NULL;
    char *names = (char *)(copy + l->count);
    memcpy(copy, l->members, (size_t)l->count * sizeof *copy);
    for (int k = 0; k < l->count; k++) {
        copy[k].name = strcpy(names, l->members[k].name);
        names += strlen(names) + 1;
    }
    return copy;
}

// Under the lock. Takes the description's text.
static cubc_status add(const type_layout *l, text *description, cubc_type *out)
{
    char name[32], *copied = NULL;
    text definition = {0};
    cubc_member *members = NULL;
    cubc_status st;
    snprintf(name, sizeof name, "struct_%016llx",
             (unsigned long long)hash64(description->data, description->length));
    write_definition(l, name, &definition);
    GUARD(st, text_done(&definition), failed);
    st = CUBC_NO_MEMORY;
    if (!(members = copy_members(l)) || !(copied = mem_strdup(name))) goto failed;
    type_info row = {.name = copied,
                     .dialect = copied,
                     .size = (uint8_t)l->size,
                     .alignment = (uint8_t)l->alignment,
                     .kind = KIND_STRUCT,
                     .members = members,
                     .member_count = l->count,
                     .description = description->data,
                     .definition = definition.data};
    GUARD(st, type_add(&row, out), failed);
    *description = (text){0};
    return CUBC_OK;
failed:
    mem_free(copied);
    mem_free(members);
    text_free(&definition);
    return st;
}

bool type_from_dialect(const char *name, cubc_type *out)
{
    for (int t = CUBC_TYPE_COUNT; type_valid((cubc_type)t); t++)
        if (strcmp(type_table[t].dialect, name) == 0) {
            *out = (cubc_type)t;
            return true;
        }
    return false;
}

static bool find(const char *description, cubc_type *out)
{
    for (int t = CUBC_TYPE_COUNT; type_valid((cubc_type)t); t++)
        if (strcmp(type_table[t].description, description) == 0) {
            *out = (cubc_type)t;
            return true;
        }
    return false;
}

cubc_status cubc_type_struct(const cubc_member *members, int count, size_t size, cubc_type *out)
{
    type_layout layout;
    text description = {0};
    if (!out) FAIL(CUBC_INVALID_ARGUMENT, "cubc_type_struct: NULL argument");
    TRY(find_layout(members, count, size, &layout));
    describe(&layout, &description);
    cubc_status st = text_done(&description);
    if (!st) {
        pthread_mutex_lock(&structs_lock);
        if (!find(description.data, out)) st = add(&layout, &description, out);
        pthread_mutex_unlock(&structs_lock);
    }
    text_free(&description);
    return st;
}
