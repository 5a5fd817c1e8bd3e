// Checks of names, and the nearest one: see name.h.
#include "base/name.h"

#include "base/base.h"

#include <string.h>

bool name_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool name_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool name_valid(const char *name)
{
    size_t length = 0;
    while (name_letter(name[length]) || name_digit(name[length])) length++;
    return length && length < NAME_SIZE && !name[length] && name_letter(*name);
}

static bool among(const char *words, const char *name)
{
    size_t length = strlen(name);
    for (const char *hit = words; (hit = strstr(hit, name)); hit += length)
        if (hit[-1] == ' ' && hit[length] == ' ') return true;
    return false;
}

bool name_reserved_member(const char *name)
{
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
        "char32_t class compl const const_cast constexpr continue decltype default delete do "
        "double dynamic_cast else enum explicit export extern false float for friend goto if "
        "inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
        "private protected public register reinterpret_cast return short signed sizeof static "
        "static_assert static_cast struct switch template this thread_local throw true try "
        "typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
        "xor_eq out_t convert in_expression FUNCTION FUNCTION_MEMBER KERNEL UNROLL FULL_WARP "
        "INPUT_PARAMETER INPUT_FIELD INPUT_FETCH INPUT_FETCHED INPUT_ARRAY INPUT_ARRAY_ITEM "
        "INPUT_BITS INPUT_SCALAR scalar_bits ";
    if (strncmp(name, "TUNE_", 5) == 0 || strncmp(name, "SIMT_", 5) == 0) return true;
    bool compilers = name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z';
    return compilers || strstr(name, "__") || among(words, name);
}

// An operand becomes a parameter of a C++ function beside the dialect's types and macros.
bool name_reserved(const char *name)
{
    static const char types[] = " bool8 i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 c64 c128 ";
    return among(types, name) || name_reserved_member(name);
}

// Levenshtein distance, one row at a time; names longer than the row are not compared.
static unsigned edit_distance(const char *a, const char *b)
{
    unsigned row[64];
    size_t n = strlen(b);
    if (n >= COUNT_OF(row)) return UINT32_MAX;
    for (unsigned j = 0; j <= n; j++) row[j] = j;
    for (unsigned i = 0; a[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            unsigned best = diagonal + (a[i] != b[j]);
            if (row[j + 1] + 1 < best) best = row[j + 1] + 1;
            if (row[j] + 1 < best) best = row[j] + 1;
            diagonal = row[j + 1];
            row[j + 1] = best;
        }
    }
    return row[n];
}

const char *nearest_name(const char *name, const char *const *names, size_t count)
{
    const char *nearest = NULL;
    unsigned best = (unsigned)(strlen(name) / 3) + 3; // names farther apart are not similar
    for (size_t i = 0; i < count; i++) {
        unsigned distance = edit_distance(name, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}
