// Shapes and types of calls with indices: see indexed.h.
#include "primitives/indexed.h"
#include "base/size.h"

enum { MODES = 3 };

cubc_status indexed_shape(const indexed_call *c, indexed_numbers *out)
{
    uint64_t rows = c->length;
    if (!size_multiply(&rows, c->columns)) rows = 0;
    const uint64_t outer = rows ? c->n / rows : 0;
    const uint64_t each = c->along ? outer * c->columns : 1;
    *out = (indexed_numbers){.total = c->total,
                             .length = c->length,
                             .columns = c->columns,
                             .count = each ? c->index_count / each : 0,
                             .mode = (uint64_t)c->mode};
    if (c->mode < 0 || c->mode >= MODES)
        FAIL(CUBC_INVALID_ARGUMENT, "the mode of %s is %d, expected 0 to 2", c->function, c->mode);
    if (!c->total) return CUBC_OK;
    TRY(problem_check_size(c->function, c->n, c->type));
    if (!rows || c->n % rows)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s: %llu items are no multiple of %llu rows of %llu columns, one or more",
             c->function, (unsigned long long)c->n, (unsigned long long)c->length,
             (unsigned long long)c->columns);
    if (c->total != out->count * outer * c->columns || c->index_count % each)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: %llu indices do not name %llu items, one a column",
             c->function, (unsigned long long)c->index_count, (unsigned long long)c->total);
    return CUBC_OK;
}

cubc_type indexed_moved_as(cubc_type type)
{
    return type_table[type].kind < KIND_COMPLEX ? type_unsigned(cubc_type_size(type)) : type;
}

cubc_status indexed_type(const char *function, const void *indices, cubc_type given, cubc_type *out)
{
    *out = problem_input_type(indices, given);
    if (type_valid(*out) && type_table[*out].kind < KIND_FLOAT) return CUBC_OK;
    FAIL(CUBC_INVALID_TYPE, "the indices of %s are %s, expected integers", function,
         type_valid(*out) ? type_table[*out].name : "of an unknown type");
}
