// The table behind types.h.
#include "types.h"

#include <string.h>

const type_info type_table[CUBC_TYPE_COUNT] = {
    [CUBC_BOOL] = {"BOOL", "bool", 1, KIND_BOOL},  [CUBC_I8] = {"I8", "i8", 1, KIND_SIGNED},
    [CUBC_I16] = {"I16", "i16", 2, KIND_SIGNED},   [CUBC_I32] = {"I32", "i32", 4, KIND_SIGNED},
    [CUBC_I64] = {"I64", "i64", 8, KIND_SIGNED},   [CUBC_U8] = {"U8", "u8", 1, KIND_UNSIGNED},
    [CUBC_U16] = {"U16", "u16", 2, KIND_UNSIGNED}, [CUBC_U32] = {"U32", "u32", 4, KIND_UNSIGNED},
    [CUBC_U64] = {"U64", "u64", 8, KIND_UNSIGNED}, [CUBC_F16] = {"F16", "f16", 2, KIND_FLOAT},
    [CUBC_BF16] = {"BF16", "bf16", 2, KIND_FLOAT}, [CUBC_F32] = {"F32", "f32", 4, KIND_FLOAT},
    [CUBC_F64] = {"F64", "f64", 8, KIND_FLOAT},
};

bool type_valid(cubc_type type)
{
    return (unsigned)type < CUBC_TYPE_COUNT;
}

size_t cubc_type_size(cubc_type type)
{
    return type_valid(type) ? type_table[type].size : 0;
}

const char *cubc_type_name(cubc_type type)
{
    return type_valid(type) ? type_table[type].name : "?";
}

cubc_status type_from_name(const char *name, cubc_type *out)
{
    const char *names[CUBC_TYPE_COUNT];
    for (int t = 0; t < CUBC_TYPE_COUNT; t++) {
        names[t] = type_table[t].name;
        if (strcmp(name, names[t]) == 0) {
            *out = (cubc_type)t;
            return CUBC_OK;
        }
    }
    const char *near = nearest_name(name, names, COUNT_OF(names));
    FAIL(CUBC_NOT_FOUND, "no type '%s'%s%s%s", name, near ? "; did you mean '" : "",
         near ? near : "", near ? "'?" : "");
}

cubc_type type_arithmetic(cubc_type type)
{
    return type == CUBC_F16 || type == CUBC_BF16 ? CUBC_F32 : type;
}

cubc_type type_widened(cubc_type type)
{
    switch (type_table[type].kind) {
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
