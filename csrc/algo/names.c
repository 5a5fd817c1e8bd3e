// The names in a user's expression: see names.h. It scans for identifiers and does not parse.
#include "names.h"

#include <string.h>

enum { NAME_SIZE = 32 }; // of an operand's, with its NUL

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool name_valid(const char *name)
{
    size_t length = 0;
    while (is_letter(name[length]) || is_digit(name[length])) length++;
    return length && length < NAME_SIZE && !name[length] && is_letter(*name);
}

// An operand becomes a parameter of a C++ function beside the dialect's types and macros.
bool name_reserved(const char *name)
{
    static const char words[] =
        " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t "
        "char32_t class compl const const_cast constexpr continue decltype default delete do "
        "double dynamic_cast else enum explicit export extern false float for friend goto if "
        "inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq "
        "private protected public register reinterpret_cast return short signed sizeof static "
        "static_assert static_cast struct switch template this thread_local throw true try "
        "typedef typeid typename union unsigned using virtual void volatile wchar_t while xor "
        "xor_eq i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 out_t convert FUNCTION "
        "FUNCTION_MEMBER KERNEL UNROLL FULL_WARP INPUT_PARAMETER INPUT_FIELD INPUT_FETCH "
        "INPUT_FETCHED INPUT_ARRAY_ITEM INPUT_SCALAR ";
    size_t length = strlen(name);
    if (strncmp(name, "TUNE_", 5) == 0 || strncmp(name, "SIMT_", 5) == 0) return true;
    bool compilers = name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z';
    if (compilers || strstr(name, "__")) return true;
    for (const char *hit = words; (hit = strstr(hit, name)); hit += length)
        if (hit[-1] == ' ' && hit[length] == ' ') return true;
    return false;
}

// The next identifier of a text; *at goes behind it. False at the end. Passed over are numbers
// (0x1p3f), members (.x) and what is too long for an operand.
static bool next_name(const char **at, char name[NAME_SIZE])
{
    for (const char *c = *at, *start; *c;) {
        start = c++;
        if (!is_letter(*start) && !is_digit(*start) && *start != '.') continue;
        while (is_letter(*c) || is_digit(*c) || (*c == '.' && is_digit(*start))) c++;
        size_t length = (size_t)(c - start);
        if (!is_letter(*start) || length >= NAME_SIZE) continue;
        memcpy(name, start, length);
        name[length] = '\0';
        *at = c;
        return true;
    }
    return false;
}

static bool occurs(const char *text, const char *name)
{
    char found[NAME_SIZE];
    while (next_name(&text, found))
        if (strcmp(found, name) == 0) return true;
    return false;
}

typedef struct named {
    const char *expression;
    const operand *operands;
    int count;
} named;

static bool is_operand(const named *n, const char *name)
{
    for (int k = 0; k < n->count; k++)
        if (strcmp(n->operands[k].name, name) == 0) return true;
    return strcmp(name, "i") == 0;
}

// A name in the expression that is none of the operands, nor a function's.
static bool next_unknown(const named *n, const char **at, char name[NAME_SIZE])
{
    while (next_name(at, name))
        if ((*at)[strspn(*at, " ")] != '(' && !is_operand(n, name) && !name_reserved(name))
            return true;
    return false;
}

static cubc_status fail_unused(const named *n, const char *const *unused, size_t count)
{
    const char *at = n->expression, *near = NULL;
    char name[NAME_SIZE] = "";
    text list = {0};
    for (size_t k = 0; k < count; k++) text_printf(&list, "%s'%s'", k ? ", " : "", unused[k]);
    while (!near && next_unknown(n, &at, name)) near = nearest_name(name, unused, count);
    if (near) text_printf(&list, "; did you mean '%s' for '%s'?", near, name);
    cubc_status st = text_done(&list);
    if (!st)
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT,
                       "the expression '%.200s' does not use the operand%s %s", n->expression,
                       count > 1 ? "s" : "", list.data);
    text_free(&list);
    return st;
}

cubc_status names_used(const char *expression, const operand *operands, int count)
{
    const named n = {expression, operands, count};
    const char *unused[MAX_INPUTS];
    size_t left_out = 0;
    for (int k = 0; k < count; k++)
        if (!occurs(expression, operands[k].name)) unused[left_out++] = operands[k].name;
    return left_out ? fail_unused(&n, unused, left_out) : CUBC_OK;
}
