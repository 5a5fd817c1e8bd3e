// The table behind types.h.
#include "base/types.h"

#include "base/name.h"

#include <stdatomic.h>
#include <string.h>

#define NUMBER(name_, dialect_, size_, alignment_, kind_) \
    {.name = name_, .dialect = dialect_, .size = size_, .alignment = alignment_, .kind = kind_}
static type_info table[CUBC_TYPE_LAST + 1] = {
    [CUBC_BOOL] = NUMBER("BOOL", "bool8", 1, 1, KIND_BOOL),
    [CUBC_I8] = NUMBER("I8", "i8", 1, 1, KIND_SIGNED),
    [CUBC_I16] = NUMBER("I16", "i16", 2, 2, KIND_SIGNED),
    [CUBC_I32] = NUMBER("I32", "i32", 4, 4, KIND_SIGNED),
    [CUBC_I64] = NUMBER("I64", "i64", 8, 8, KIND_SIGNED),
    [CUBC_U8] = NUMBER("U8", "u8", 1, 1, KIND_UNSIGNED),
    [CUBC_U16] = NUMBER("U16", "u16", 2, 2, KIND_UNSIGNED),
    [CUBC_U32] = NUMBER("U32", "u32", 4, 4, KIND_UNSIGNED),
    [CUBC_U64] = NUMBER("U64", "u64", 8, 8, KIND_UNSIGNED),
    [CUBC_F16] = NUMBER("F16", "f16", 2, 2, KIND_FLOAT),
    [CUBC_BF16] = NUMBER("BF16", "bf16", 2, 2, KIND_FLOAT),
    [CUBC_F32] = NUMBER("F32", "f32", 4, 4, KIND_FLOAT),
    [CUBC_F64] = NUMBER("F64", "f64", 8, 8, KIND_FLOAT),
    [CUBC_C64] = NUMBER("C64", "c64", 8, 4, KIND_COMPLEX),
    [CUBC_C128] = NUMBER("C128", "c128", 16, 8, KIND_COMPLEX),
};
const type_info *const type_table = table;
static atomic_int type_count = CUBC_TYPE_COUNT;

bool type_valid(cubc_type type)
{
    return (int)type >= 0 && (int)type < atomic_load_explicit(&type_count, memory_order_acquire);
}

size_t cubc_type_size(cubc_type type)
{
    return type_valid(type) ? table[type].size : 0;
}

const char *cubc_type_name(cubc_type type)
{
    return type_valid(type) ? table[type].name : "?";
}

cubc_status type_from_name(const char *name, cubc_type *out)
{
    const char *names[CUBC_TYPE_COUNT];
    for (int t = 0; t < CUBC_TYPE_COUNT; t++) {
        names[t] = table[t].name;
        if (strcmp(name, names[t]) == 0) {
            *out = (cubc_type)t;
            return CUBC_OK;
        }
    }
    const char *near = nearest_name(name, names, COUNT_OF(names));
    FAIL(CUBC_NOT_FOUND, "no type '%s'%s%s%s", name, near ? "; did you mean '" : "",
         near ? near : "", near ? "'?" : "");
}

// ---- rules --------------------------------------------------------------------------------------
cubc_type type_unsigned(size_t bytes)
{
    static const cubc_type by_size[] = {
        [1] = CUBC_U8, [2] = CUBC_U16, [4] = CUBC_U32, [8] = CUBC_U64};
    return by_size[bytes];
}

cubc_type type_arithmetic(cubc_type type)
{
    return type == CUBC_F16 || type == CUBC_BF16 ? CUBC_F32 : type;
}

cubc_type type_widened(cubc_type type)
{
    switch (table[type].kind) {
    case KIND_BOOL:
    case KIND_SIGNED: return CUBC_I64;
    case KIND_UNSIGNED: return CUBC_U64;
    default: return type;
    }
}

static cubc_type larger(cubc_type a, cubc_type b)
{
    return type_table[a].size >= type_table[b].size ? a : b;
}

cubc_type type_common(cubc_type a, cubc_type b)
{
    static const cubc_type holds_unsigned[] = {
        [1] = CUBC_I16, [2] = CUBC_I32, [4] = CUBC_I64, [8] = CUBC_F64};
    if (a == b) return a;
    if (type_table[a].kind > type_table[b].kind) return type_common(b, a);
    type_kind lower = type_table[a].kind, upper = type_table[b].kind;
    uint8_t size = type_table[a].size;
    if (lower == KIND_BOOL) return b;
    if (upper == KIND_FLOAT && lower == KIND_FLOAT)
        return size == type_table[b].size ? CUBC_F32 : larger(a, b); // F16 and BF16
    if (upper == KIND_FLOAT) return size == 1 ? b : size == 2 ? larger(b, CUBC_F32) : CUBC_F64;
    if (lower == upper || size > type_table[b].size) return larger(a, b);
    return holds_unsigned[type_table[b].size];
}

cubc_type type_real(cubc_type type)
{
    return type == CUBC_C64 ? CUBC_F32 : type == CUBC_C128 ? CUBC_F64 : type;
}

type_value type_one(cubc_type type)
{
    type_value one = {{1}};
    const float f32 = 1;
    const double f64 = 1;
    if (type_real(type) == CUBC_F32) memcpy(&one, &f32, sizeof f32);
    if (type_real(type) == CUBC_F64) memcpy(&one, &f64, sizeof f64);
    return one;
}

// All bytes count but the sign of a floating part, in the highest bit of its last byte.
bool type_truth(cubc_type type, const void *number)
{
    const size_t part = table[type_real(type)].size;
    const bool is_signed_zero = table[type].kind >= KIND_FLOAT;
    const unsigned char *bytes = number;
    unsigned seen = 0;
    for (size_t k = 0; k < table[type].size; k++)
        seen |= is_signed_zero && k % part == part - 1 ? bytes[k] & 0x7Fu : bytes[k];
    return seen != 0;
}

bool type_converts(cubc_type from, cubc_type to)
{
    if (from == to) return true;
    type_kind of_from = table[from].kind, of_to = table[to].kind;
    if (of_from == KIND_STRUCT || of_to == KIND_STRUCT) return false;
    return of_from != KIND_COMPLEX || of_to == KIND_COMPLEX || of_to == KIND_BOOL;
}

// ---- structs ------------------------------------------------------------------------------------
void type_define(cubc_type type, bool done[CUBC_TYPE_LAST + 1], text *out)
{
    const type_info *t = &table[type];
    if (done[type] || t->kind != KIND_STRUCT) return;
    done[type] = true;
    for (int k = 0; k < t->member_count; k++) type_define(t->members[k].type, done, out);
    text_puts(out, t->definition);
}

cubc_status type_add(const type_info *row, cubc_type *out)
{
    int next = atomic_load(&type_count);
    if (next > CUBC_TYPE_LAST)
        FAIL(CUBC_INVALID_ARGUMENT,
             "there is no room for %.100s: a process knows at most %d different structs",
             row->description, CUBC_TYPE_LAST + 1 - CUBC_TYPE_COUNT);
    table[next] = *row;
    *out = (cubc_type)next;
    atomic_store_explicit(&type_count, next + 1, memory_order_release);
    return CUBC_OK;
}
