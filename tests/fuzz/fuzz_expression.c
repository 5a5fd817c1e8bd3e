// A user's expressions, their operands and the operands' axes: the input is eight bytes that choose
// types and shapes, an expression, and after a NUL each the names of operands.
//
// The core reads the identifiers of an expression, and writes it as one line of a macro. No text of
// a caller may end that line, and an accepted operand is one that the text names.
#include "fuzz.h"
#include "run/algorithm.h"
#include "run/expression.h"

#include <stdio.h>
#include <string.h>

enum { CHOICES = 8, MOST = 4, ITEMS = 64 };

static double memory[3][ITEMS];

// Every expression is within one line, and the directives around it are the core's own.
static void check_lines(const problem *p)
{
    text defines = {0};
    p->algorithm->define(p, &defines);
    must(text_done(&defines) == CUBC_OK && defines.data != NULL);
    for (const char *line = defines.data; *line;) {
        size_t length = strcspn(line, "\n");
        must(line[length] == '\n');
        must(!memchr(line, '\r', length));
        must(strncmp(line, "#define ", 8) == 0 || strncmp(line, "#undef ", 7) == 0 ||
             strncmp(line, "#line 1 \"expression\"", 20) == 0);
        must(length == 0 || line[length - 1] != '\\'); // which would take in the next line
        line += length + 1;
    }
    text_free(&defines);
}

static void check(cubc_status st, const problem *p)
{
    if (!st) check_lines(p);
    must(!st || *cubc_error_message());
    must(st != CUBC_INTERNAL && st != CUBC_NO_MEMORY);
}

static void try_operators(const char *expression, cubc_type type)
{
    problem p;
    cubc_reduce_params reduce = {.in = memory[0],
                                 .out = memory[1],
                                 .n = 2,
                                 .type = type,
                                 .acc_type = type,
                                 .out_type = type,
                                 .op = expression};
    check(reduce_problem(&reduce, &p), &p);
    cubc_merge_sort_params sort = {
        .keys_in = memory[0], .keys_out = memory[1], .n = 2, .type = type, .less = expression};
    check(merge_sort_problem(&sort, &p), &p);
    cubc_select_params select = {.in = memory[0],
                                 .out = memory[1],
                                 .count = (int64_t *)memory[2],
                                 .n = 2,
                                 .type = type,
                                 .predicate = expression};
    check(select_problem(&select, &p), &p);
}

// An extent; some are of what no memory has.
static ptrdiff_t extent_of(unsigned choice)
{
    static const ptrdiff_t extents[] = {1, 2, 3, 4, 16, 0, -1, (ptrdiff_t)1 << 62};
    return extents[choice % COUNT_OF(extents)];
}

static void try_lazy(const uint8_t *choices, const char *expression, const char *const *names,
                     int count)
{
    cubc_operand operands[MOST];
    ptrdiff_t shape[4], own[MOST][4];
    int ndim = choices[1] % 5;
    uint64_t n = 1;
    problem p;
    for (int d = 0; d < ndim; d++) {
        shape[d] = extent_of(choices[2] >> 2 * d & 3u);
        if (choices[3] >> 2 * d & 1) shape[d] = extent_of(choices[3] >> d);
        if (__builtin_mul_overflow(n, (uint64_t)shape[d], &n)) n = UINT64_MAX;
    }
    for (int k = 0; k < count; k++) {
        for (int d = 0; d < ndim; d++) own[k][d] = choices[4 + k] >> d & 1 ? 1 : shape[d];
        operands[k] = (cubc_operand){.name = names[k],
                                     .type = (cubc_type)(choices[0] % (CUBC_TYPE_COUNT + 1)),
                                     .data = memory[0],
                                     .scalar = choices[4 + k] >> 6 & 1,
                                     .ndim = ndim,
                                     .shape = choices[4 + k] >> 5 & 1 ? own[k] : NULL};
    }
    cubc_transform_params transform = {.out = memory[1],
                                       .out_type = (cubc_type)(choices[0] % CUBC_TYPE_COUNT),
                                       .n = ndim ? n : 2,
                                       .expression = expression,
                                       .operands = operands,
                                       .operand_count = count,
                                       .ndim = ndim,
                                       .shape = shape};
    cubc_status st = transform_problem(&transform, &p);
    check(st, &p);
    for (int k = 0; !st && k < count; k++) must(strstr(expression, names[k]) != NULL);
}

// An expression that is taken leaves no bracket and no quotation open to what follows it.
static void check_brackets(const char *expression)
{
    char longer[4096];
    if (expression_reaches_out(expression) || strlen(expression) > sizeof longer - 8) return;
    snprintf(longer, sizeof longer, "(%s )", expression);
    must(expression_reaches_out(longer) == NULL);
    snprintf(longer, sizeof longer, "%s )", expression);
    must(expression_reaches_out(longer) != NULL);
    snprintf(longer, sizeof longer, "%s + '('", expression);
    must(expression_reaches_out(longer) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    long before = mem_outstanding();
    const char *names[MOST];
    int count = 0;
    if (size < CHOICES) return 0;
    char *texts = malloc(size - CHOICES + 1);
    must(texts != NULL);
    memcpy(texts, data + CHOICES, size - CHOICES);
    texts[size - CHOICES] = '\0';
    const char *end = texts + (size - CHOICES), *at = texts + strlen(texts);
    while (at < end && count < MOST) {
        names[count++] = at + 1;
        at += 1 + strlen(at + 1);
    }
    check_brackets(texts);
    try_operators(texts, (cubc_type)(data[0] % (CUBC_TYPE_COUNT + 1)));
    try_lazy(data, texts, names, count);
    free(texts);
    must(mem_outstanding() == before);
    return 0;
}

// ---- where it begins ----------------------------------------------------------------------------
static void add_expressions(fuzz_add *add)
{
    static const char product[] = "\6\1\2\0\0\0\0\0x * y + s\0x\0y\0s";
    static const char broadcast[] = "\10\3\144\0\41\42\44\0f(v.re, 0x1p-3) + \"a\" + w_1\0v\0w_1";
    static const char operator[] = "\6\0\0\0\0\0\0\0a*a > b*b ? a : b";
    static const char named[] = "\6\0\0\0\0\0\0\0summ";
    add("product", product, sizeof product - 1);
    add("broadcast", broadcast, sizeof broadcast - 1);
    add("operator", operator, sizeof operator- 1);
    add("named", named, sizeof named - 1);
}

static const fuzz_word words[] = {
    FUZZ_WORD("\0x"),
    FUZZ_WORD("\0y"),
    FUZZ_WORD("\\\n"),
    FUZZ_WORD("\r"),
    FUZZ_WORD("\\"),
    FUZZ_WORD("/*"),
    FUZZ_WORD("//"),
    FUZZ_WORD("#"),
    FUZZ_WORD("?"
              "?/"),
    FUZZ_WORD("value_t{"),
    FUZZ_WORD("0x1p3"),
    FUZZ_WORD(".x"),
    FUZZ_WORD("sum"),
    FUZZ_WORD("argmin"),
    FUZZ_WORD("__x"),
    FUZZ_WORD("TUNE_T"),
    FUZZ_WORD("(i)"),
    FUZZ_WORD("u'\"'"),
    FUZZ_WORD("1'0"),
    FUZZ_WORD("R\"("),
    FUZZ_WORD(")"),
    FUZZ_WORD("a < b"),
};

const fuzz_harness fuzz_target = {"expressions", 20000, add_expressions, words, COUNT_OF(words)};
