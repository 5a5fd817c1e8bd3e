// Parameter spaces and labels: see space.h.
#include "compile/space.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

typedef struct word { // of a line, not terminated
    const char *at;
    size_t length;
} word;

// ---- words --------------------------------------------------------------------------------------
// The next word of a line, behind which *at goes; empty at the end of the line.
static word next_word(const char **at, const char *end)
{
    while (*at < end && strchr(" \t\r", **at)) ++*at;
    word w = {*at, 0};
    while (*at < end && !strchr(" \t\r", **at)) ++*at;
    w.length = (size_t)(*at - w.at);
    return w;
}

static bool is_word(word w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.at, text, w.length) == 0;
}

static bool consists_of(word w, const char *allowed)
{
    for (size_t i = 0; i < w.length; i++)
        if (!w.at[i] || !strchr(allowed, w.at[i])) return false;
    return true;
}

// A whole number in digits alone; false if it is none or greater than `most`.
static bool read_number(word w, uint64_t most, uint64_t *out)
{
    uint64_t number = 0;
    if (!w.length || !consists_of(w, DIGITS)) return false;
    for (size_t i = 0; i < w.length; i++) {
        number = 10 * number + (uint64_t)(w.at[i] - '0');
        if (number > most) return false; // which is far below what would wrap
    }
    *out = number;
    return true;
}

// Cuts off what is in front of the first separator; all if there is none.
static word cut(word *rest, char separator)
{
    const char *found = memchr(rest->at, separator, rest->length);
    word first = {rest->at, found ? (size_t)(found - rest->at) : rest->length};
    size_t taken = first.length + (found != NULL);
    *rest = (word){rest->at + taken, rest->length - taken};
    return first;
}

static bool is_identifier(word w, size_t room)
{
    return w.length && w.length < room && consists_of(w, LETTERS DIGITS "_") &&
           !memchr(DIGITS, w.at[0], sizeof DIGITS - 1);
}

// An option of a compiler. Without slashes and commas it names no file elsewhere and is one option.
static bool is_option(word w, size_t room)
{
    return w.length > 1 && w.length < room && w.at[0] == '-' &&
           consists_of(w, LETTERS DIGITS "_-+.=");
}

// A name, which must be told from a number behind an underscore: "a_name_8" is of a label "a_name".
static bool is_name(word w)
{
    size_t digits = 0;
    while (digits < w.length && memchr(DIGITS, w.at[w.length - 1 - digits], sizeof DIGITS - 1))
        digits++;
    bool numbered = digits && digits < w.length && w.at[w.length - 1 - digits] == '_';
    return is_identifier(w, MAX_NAME + 1) && w.at[0] != '_' && !numbered;
}

// The fault of a kind of device for which a parameter has values of its own.
static const char *check_kind(word w)
{
    return is_word(w, "cpu") || is_word(w, "cuda") ? NULL : "a kind is cpu or cuda, as in cpu=";
}

// ---- %RANGE% lines ------------------------------------------------------------------------------
static const char *parse_range(word w, parameter *out)
{
    uint64_t numbers[3] = {0};
    bool right = true;
    for (int k = 0; k < 3; k++) {
        word one = k < 2 ? cut(&w, ':') : w;
        right = right && read_number(one, MAX_VALUE, &numbers[k]);
    }
    if (!right || numbers[0] > numbers[1] || !numbers[2])
        return "the values must be start:end:step, whole numbers below 100000000 with 0 <= start "
               "<= end and step > 0, or a list as 32,64,128 or float,double";
    out->kind = VALUE_RANGE;
    out->start = (int)numbers[0];
    out->end = (int)numbers[1];
    out->step = (int)numbers[2];
    out->count = (out->end - out->start) / out->step + 1;
    return NULL;
}

static const char *parse_list(word w, parameter *out)
{
    uint64_t number, other;
    word rest = w;
    out->kind = read_number(cut(&rest, ','), MAX_VALUE, &number) ? VALUE_NUMBERS : VALUE_NAMES;
    out->count = 0;
    rest = w;
    for (bool more = true; more; out->count++) {
        more = memchr(rest.at, ',', rest.length) != NULL;
        word one = cut(&rest, ','), before = w;
        if (out->kind == VALUE_NUMBERS ? !read_number(one, MAX_VALUE, &number) : !is_name(one))
            return "a list has whole numbers below 100000000, or names of at most 23 letters, "
                   "digits and underscores that begin with a letter and do not end as _8 does";
        for (int k = 0; k < out->count; k++) {
            word earlier = cut(&before, ',');
            if (out->kind == VALUE_NUMBERS
                    ? read_number(earlier, MAX_VALUE, &other) && other == number
                    : earlier.length == one.length && !memcmp(earlier.at, one.at, one.length))
                return "a value is in its list twice";
        }
    }
    return NULL;
}

static const char *parse_values(word w, parameter *out)
{
    bool range = memchr(w.at, ':', w.length) || !w.length;
    out->values = w.at;
    out->length = (int)w.length;
    return range ? parse_range(w, out) : parse_list(w, out);
}

// The fault of values for an option that takes none.
static const char *check_switch(const parameter *p)
{
    const char *macro = p->macro;
    if (macro[0] != '-' || macro[strlen(macro) - 1] == '=') return NULL;
    uint64_t number;
    bool right = p->kind == VALUE_RANGE ? p->end <= 1 : p->kind == VALUE_NUMBERS;
    word rest = {p->values, (size_t)p->length};
    for (int k = 0; right && p->kind == VALUE_NUMBERS && k < p->count; k++)
        right = read_number(cut(&rest, ','), 1, &number);
    return right ? NULL
                 : "an option that does not end in = takes no value: it has 0, where it is not "
                   "there, and 1";
}

// One line after "%RANGE%". Values of its own for the kind replace the general ones.
static const char *parse_parameter(const char *at, const char *end, const char *kind,
                                   parameter *out)
{
    word macro = next_word(&at, end), label = next_word(&at, end), values = next_word(&at, end);
    const char *wrong;
    *out = (parameter){0};
    if (!values.length) return "expected: MACRO label start:end:step";
    if (!is_identifier(macro, sizeof out->macro) && !is_option(macro, sizeof out->macro))
        return "the macro is not an identifier, nor an option as --maxrregcount=";
    if (!is_identifier(label, sizeof out->label) || memchr(label.at, '_', label.length))
        return "the label must be letters and digits, at most 11, beginning with a letter";
    memcpy(out->macro, macro.at, macro.length);
    memcpy(out->label, label.at, label.length);
    if ((wrong = parse_values(values, out))) return wrong;
    if ((wrong = check_switch(out))) return wrong;
    for (word w; (w = next_word(&at, end)).length;) {
        parameter own = *out;
        if (!memchr(w.at, '=', w.length)) return "behind the values only kind=values may follow";
        word which = cut(&w, '=');
        if ((wrong = check_kind(which))) return wrong;
        if ((wrong = parse_values(w, &own))) return wrong;
        if ((wrong = check_switch(&own))) return wrong;
        if (is_word(which, kind)) *out = own;
    }
    return NULL;
}

// The number that a "#line" directive gives to the line after it; false for any other line.
static bool parse_line_number(const char *line, uint64_t *out)
{
    if (strncmp(line, "#line ", 6) != 0) return false;
    return read_number((word){line + 6, strspn(line + 6, DIGITS)}, INT32_MAX, out);
}

static int find_parameter(const space *s, word label)
{
    for (int i = 0; i < s->count; i++)
        if (is_word(label, s->parameters[i].label)) return i;
    return -1;
}

static bool gone_parameter(const space *s, word label)
{
    for (int k = 0; k < s->gone_count; k++)
        if (!strncmp(s->gone[k], label.at, label.length) && s->gone[k][label.length] == '_')
            return true;
    return false;
}

// Checks a parameter beside those before it.
static const char *check_among(const space *s, const parameter *one)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->parameters[i].label, one->label) ||
            !strcmp(s->parameters[i].macro, one->macro))
            return "the label or macro was used before";
    if (gone_parameter(s, (word){one->label, strlen(one->label)})) return "the label is gone";
    if (space_size(s) > INT64_MAX / (uint64_t)one->count)
        return "with these values there are more than 2^63 variants";
    return NULL;
}

// One line after "%GONE%". A value of its own for the kind replaces the general one.
static const char *parse_gone(const char *at, const char *end, const char *kind, space *out)
{
    word label = next_word(&at, end), value = next_word(&at, end);
    uint64_t number, own;
    const char *wrong;
    if (!is_identifier(label, PARAMETER_LABEL) || memchr(label.at, '_', label.length) ||
        !read_number(value, MAX_VALUE, &number))
        return "expected: label value";
    for (word w; (w = next_word(&at, end)).length;) {
        word which = cut(&w, '=');
        if (!read_number(w, MAX_VALUE, &own)) return "behind the value only kind=value may follow";
        if ((wrong = check_kind(which))) return wrong;
        if (is_word(which, kind)) number = own;
    }
    if (gone_parameter(out, label) || find_parameter(out, label) >= 0) return "the label was used";
    if (out->gone_count == MAX_GONE) return "there are more than 8 of them";
    snprintf(out->gone[out->gone_count++], sizeof out->gone[0], "%.*s_%d", (int)label.length,
             label.at, (int)number);
    return NULL;
}

// Reads a line of a source, if it declares something.
static const char *parse_line(const char *mark, const char *end, const char *kind, space *out)
{
    if (end - mark >= 255) return "the line is longer than 255 characters";
    if (*mark == '%' && mark[1] == 'G') return parse_gone(mark + 6, end, kind, out);
    if (out->count == MAX_PARAMETERS) return "there are more than 16 parameters";
    parameter *next = &out->parameters[out->count];
    const char *wrong = parse_parameter(mark + 7, end, kind, next);
    if (!wrong) wrong = check_among(out, next);
    out->count += !wrong;
    return wrong;
}

// The place in a line of a declaration behind code or in /* */; NULL if there is none. One that
// only speaks of such lines has no values.
static const char *find_misplaced(const char *line, const char *end)
{
    for (const char *at = line; (at = memchr(at, '%', (size_t)(end - at))); at++) {
        if (strncmp(at, "%RANGE%", 7) != 0) continue;
        const char *rest = at + 7;
        word macro = next_word(&rest, end), label = next_word(&rest, end);
        word values = next_word(&rest, end);
        if (values.length > 2 && !memcmp(values.at + values.length - 2, "*/", 2))
            values.length -= 2;
        parameter one = {0};
        bool several =
            memchr(values.at, ':', values.length) || memchr(values.at, ',', values.length);
        if ((is_identifier(macro, sizeof one.macro) || is_option(macro, sizeof one.macro)) &&
            is_identifier(label, sizeof one.label) && several && !parse_values(values, &one))
            return at;
    }
    return NULL;
}

cubc_status space_parse(const char *source, const char *kind, space *out)
{
    uint64_t number = 1;
    *out = (space){0};
    for (const char *line = source, *end; *line; line = *end ? end + 1 : end, number++) {
        end = line + strcspn(line, "\n");
        if (parse_line_number(line, &number)) number--; // of the line that follows it
        const char *mark = line + strspn(line, " \t/");
        bool declares = !strncmp(mark, "%RANGE%", 7) || !strncmp(mark, "%GONE%", 6);
        if (!declares && !(mark = find_misplaced(line, end))) continue;
        const char *wrong = declares ? parse_line(mark, end, kind, out)
                                     : "it is a line of its own, as // %RANGE% MACRO label 1:8:1, "
                                       "neither behind code nor in /* */";
        if (wrong)
            FAIL(CUBC_INVALID_ARGUMENT, "line %llu: malformed %%%s%%: %s: %.*s",
                 (unsigned long long)number, mark[1] == 'G' ? "GONE" : "RANGE", wrong,
                 (int)(end - mark > 120 ? 120 : end - mark), mark);
    }
    return CUBC_OK;
}

uint64_t space_size(const space *s)
{
    uint64_t size = 1;
    for (int i = 0; i < s->count; i++) size *= (uint64_t)s->parameters[i].count;
    return size;
}

const char *space_item(const parameter *p, int place, int *length)
{
    word rest = {p->values, (size_t)p->length}, item = cut(&rest, ',');
    for (; place > 0; place--) item = cut(&rest, ',');
    *length = (int)item.length;
    return item.at;
}

// ---- labels -------------------------------------------------------------------------------------
static cubc_status unknown_parameter(const space *s, const char *label)
{
    text known = {0};
    for (int i = 0; i < s->count; i++)
        text_printf(&known, "%s%s", i ? ", " : "", s->parameters[i].label);
    cubc_status st = text_done(&known);
    if (!st)
        st = error_set(__FILE__, __LINE__, CUBC_INVALID_ARGUMENT,
                       "variant '%.100s': expected label_value joined by dots, the labels being %s",
                       label, known.data ? known.data : "none");
    text_free(&known);
    return st;
}

// The value that a list has; false if it has none such.
static bool find_item(const parameter *p, word written, uint64_t number, int *out)
{
    word rest = {p->values, (size_t)p->length};
    for (int k = 0; k < p->count; k++) {
        uint64_t other;
        word item = cut(&rest, ',');
        bool same =
            p->kind == VALUE_NUMBERS
                ? read_number(item, MAX_VALUE, &other) && other == number
                : item.length == written.length && memcmp(item.at, written.at, item.length) == 0;
        *out = p->kind == VALUE_NUMBERS ? (int)number : k;
        if (same) return true;
    }
    return false;
}

static bool find_value(const parameter *p, word written, uint64_t number, int *out)
{
    if (p->kind != VALUE_RANGE) return find_item(p, written, number, out);
    *out = (int)number;
    return *out >= p->start && *out <= p->end && (*out - p->start) % p->step == 0;
}

static bool is_gone(const space *s, word part)
{
    for (int k = 0; k < s->gone_count; k++)
        if (is_word(part, s->gone[k])) return true;
    return false;
}

// A label without the parameters that are gone; false if it is too long for any variant.
static bool leave_gone(const space *s, const char *label, char out[MAX_LABEL])
{
    word rest = {label, strlen(label)};
    size_t used = 0;
    for (bool more = true, first = true; more;) {
        more = memchr(rest.at, '.', rest.length) != NULL;
        word part = cut(&rest, '.');
        if (is_gone(s, part)) continue;
        if (used + part.length + 2 > MAX_LABEL) return false;
        if (!first) out[used++] = '.';
        first = false;
        memcpy(out + used, part.at, part.length);
        used += part.length;
    }
    out[used] = '\0';
    return true;
}

cubc_status variant_parse(const space *s, const char *label, variant *out)
{
    bool seen[MAX_PARAMETERS] = {false};
    char present[MAX_LABEL];
    if (s->gone_count && leave_gone(s, label, present)) label = present;
    word rest = {label, strlen(label)};
    for (int k = 0; k < s->count; k++) {
        bool last = !memchr(rest.at, '.', rest.length);
        word value = cut(&rest, '.'), name = cut(&value, '_');
        int which = value.at > name.at + name.length ? find_parameter(s, name) : -1;
        if (which < 0) return unknown_parameter(s, label);
        const parameter *p = &s->parameters[which];
        int first;
        uint64_t number = 0;
        const char *item = space_item(p, 0, &first);
        bool named = p->kind == VALUE_NAMES;
        if ((!named && !read_number(value, INT32_MAX, &number)) || last != (k + 1 == s->count))
            FAIL(CUBC_INVALID_ARGUMENT,
                 "variant '%.100s': every one of the %d parameters takes one %s, as in %s_%.*s",
                 label, s->count, named ? "name" : "integer", p->label,
                 p->kind == VALUE_RANGE ? (int)strspn(item, DIGITS) : first, item);
        if (seen[which])
            FAIL(CUBC_INVALID_ARGUMENT, "variant '%.100s' gives %s twice", label, p->label);
        if (!find_value(p, value, number, &out->values[which]))
            FAIL(CUBC_INVALID_ARGUMENT,
                 "variant '%.100s': %s is declared as %.*s, %.*s is not in it", label, p->label,
                 p->length, p->values, (int)value.length, value.at);
        seen[which] = true;
    }
    return rest.length ? unknown_parameter(s, label) : CUBC_OK; // of a space without parameters
}

// The text of a variant's value.
static void print_value(const parameter *p, int value, char out[MAX_NAME + 1])
{
    int length = 0;
    const char *name = p->kind == VALUE_NAMES ? space_item(p, value, &length) : NULL;
    if (name)
        snprintf(out, MAX_NAME + 1, "%.*s", length, name);
    else
        snprintf(out, MAX_NAME + 1, "%d", value);
}

void variant_label(const space *s, const variant *v, char label[MAX_LABEL])
{
    int used = 0;
    label[0] = '\0';
    for (int i = 0; i < s->count; i++) {
        char value[MAX_NAME + 1];
        print_value(&s->parameters[i], v->values[i], value);
        used += snprintf(label + used, (size_t)(MAX_LABEL - used), "%s%s_%s", i ? "." : "",
                         s->parameters[i].label, value);
    }
}

int variant_value(const space *s, const variant *v, const char *label, int otherwise)
{
    for (int k = 0; k < s->count; k++) // for each call, so that most are told apart by a letter
        if (s->parameters[k].label[0] == label[0] && strcmp(s->parameters[k].label, label) == 0)
            return v->values[k];
    return otherwise;
}

void variant_defines(const space *s, const variant *v, text *out)
{
    for (int i = 0; i < s->count; i++) {
        const parameter *p = &s->parameters[i];
        char value[MAX_NAME + 1];
        print_value(p, v->values[i], value);
        bool valued = p->macro[strlen(p->macro) - 1] == '=';
        if (p->macro[0] != '-')
            text_printf(out, "#define %s %s\n", p->macro, value);
        else if (strcmp(value, "0") != 0)
            text_printf(out, "// %%OPTION%% %s%s\n", p->macro, valued ? value : "");
        else
            text_puts(out, "\n");
    }
}
