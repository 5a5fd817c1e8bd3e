// The names in a user's expression: see expression.h. It scans for identifiers and does not parse.
#include "run/expression.h"

#include <string.h>

static const char blanks[] = " \t\n\v\f\r";

// The next identifier of a text; *at goes behind it. False at the end. Passed over are numbers
// (0x1p3f), members (.x) and what is too long for an operand.
static bool next_name(const char **at, char name[NAME_SIZE])
{
    for (const char *c = *at, *start; *c;) {
        start = c++;
        if (!name_letter(*start) && !name_digit(*start) && *start != '.') continue;
        while (name_letter(*c) || name_digit(*c) || (*c == '.' && name_digit(*start))) c++;
        size_t length = (size_t)(c - start);
        if (!name_letter(*start) || length >= NAME_SIZE) continue;
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
        if ((*at)[strspn(*at, blanks)] != '(' && !is_operand(n, name) && !name_reserved(name))
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

cubc_status expression_check(const char *expression, const operand *operands, int count)
{
    const named n = {expression, operands, count};
    const char *unused[MAX_OPERANDS];
    size_t left_out = 0;
    for (int k = 0; k < count; k++)
        if (!occurs(expression, operands[k].name)) unused[left_out++] = operands[k].name;
    return left_out ? fail_unused(&n, unused, left_out) : CUBC_OK;
}

bool expression_indexes(const char *expression, const char *name, bool *mixed)
{
    char found[NAME_SIZE];
    bool indexed = false, alone = false;
    while (next_name(&expression, found))
        if (strcmp(found, name) == 0)
            *(expression[strspn(expression, blanks)] == '[' ? &indexed : &alone) = true;
    *mixed = indexed && alone;
    return indexed;
}

// The end of a quotation, or NULL if it has none.
static const char *quotation_end(const char *c)
{
    const char quote = *c++;
    while (*c && *c != quote) c += *c == '\\' && c[1] ? 2 : 1;
    return *c ? c + 1 : NULL;
}

// The end of a name or of a number, whose digits ' may separate.
static const char *word_end(const char *c)
{
    const bool number = !name_letter(*c);
    while (name_letter(*c) || name_digit(*c) ||
           (number && *c == '\'' && (name_letter(c[1]) || name_digit(c[1]))))
        c++;
    return c;
}

const char *expression_reaches_out(const char *expression)
{
    static const char opening[] = "([{", closing[] = ")]}";
    int64_t open[3] = {0};
    for (const char *c = expression, *found; *c;) {
        if (name_letter(*c) || name_digit(*c)) {
            c = word_end(c);
            if (*c == '"' && c[-1] == 'R') return "it has a raw string";
            continue;
        }
        if (*c == '\'' || *c == '"') {
            if (!(c = quotation_end(c))) return "it opens a quotation and does not close it";
            continue;
        }
        if (*c == '/' && (c[1] == '/' || c[1] == '*')) return "it has a comment";
        if ((found = strchr(opening, *c)) != NULL) open[found - opening]++;
        if ((found = strchr(closing, *c)) != NULL && open[found - closing]-- == 0)
            return "it closes a bracket that is not open";
        c++;
    }
    return open[0] || open[1] || open[2] ? "it opens a bracket and does not close it" : NULL;
}

bool expression_next_struct(const char **at, cubc_type *out)
{
    char found[NAME_SIZE];
    while (next_name(at, found))
        if (strncmp(found, "struct_", 7) == 0 && type_from_dialect(found, out)) return true;
    return false;
}
