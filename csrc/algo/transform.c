// Descriptor of transform: kernels/transform.cu.
#include "names.h"
#include "problem.h"

#include <stdio.h>
#include <string.h>

enum { ARGS_BEFORE = 2, MOST_WORDS = MAX_ARGS - ARGS_BEFORE }; // of the operands in the arguments

// Benchmarks stand for a number of input arrays, under the names of BabelStream's kernels.
static const char *const names_by_arrays[] = {"transform.fill", "transform.mul", "transform.triad",
                                              "transform.nstream"};

static int count_arrays(const problem *p)
{
    int arrays = 0;
    for (int k = 0; k < p->input_count; k++) arrays += !p->inputs[k].scalar;
    return arrays;
}

// Of an operand in the kernel's arguments: an address, or the value itself.
static int words_of(const operand *o)
{
    return o->scalar ? (int)(operand_item_bytes(o) + 7) / 8 : 1;
}

static int count_words(const problem *p)
{
    int words = 0;
    for (int k = 0; k < p->input_count; k++) words += words_of(&p->inputs[k]);
    return words;
}

static cubc_status add_operand(problem *p, const cubc_operand *o)
{
    char what[64];
    if (!o->name || !name_valid(o->name) || strcmp(o->name, "i") == 0)
        FAIL(CUBC_INVALID_ARGUMENT,
             "'%.40s' cannot name an operand: take an identifier of at most 31 letters, and not i, "
             "which is the index",
             o->name ? o->name : "");
    if (name_reserved(o->name))
        FAIL(
            CUBC_INVALID_ARGUMENT,
            "'%s' cannot name an operand: it is a word of C++ or of the kernels; take another name",
            o->name);
    for (int k = 0; k < p->input_count; k++)
        if (strcmp(p->inputs[k].name, o->name) == 0)
            FAIL(CUBC_INVALID_ARGUMENT, "two operands are called '%s'", o->name);
    snprintf(what, sizeof what, "operand '%s'", o->name);
    if (o->scalar) {
        if (!type_valid(o->type)) FAIL(CUBC_INVALID_TYPE, "%s has an unknown type", what);
        if (!o->data) FAIL(CUBC_INVALID_ARGUMENT, "%s is NULL", what);
        p->inputs[p->input_count++] =
            (operand){.data = (void *)o->data, .n = 1, .type = (uint8_t)o->type, .scalar = true};
    } else
        TRY(problem_input(p, what, o->data, p->n, o->type));
    p->inputs[p->input_count - 1].name = o->name;
    return CUBC_OK;
}

cubc_status transform_problem(const cubc_transform_params *params, problem *out)
{
    if (params->operand_count < 0 || params->operand_count > MAX_INPUTS)
        FAIL(CUBC_INVALID_ARGUMENT, "transform takes at most %d operands, not %d", MAX_INPUTS,
             params->operand_count);
    if (!params->expression || strspn(params->expression, " \t\n") == strlen(params->expression))
        FAIL(CUBC_INVALID_ARGUMENT, "transform: an expression is needed");
    *out = (problem){.algorithm = &transform_algorithm,
                     .expression = params->expression,
                     .n = params->n,
                     .type = (uint8_t)params->out_type,
                     .acc_type = (uint8_t)params->out_type,
                     .aligned = true};
    TRY(problem_output(out, "the output of transform", params->out, params->n, params->out_type));
    for (int k = 0; k < params->operand_count; k++) TRY(add_operand(out, &params->operands[k]));
    TRY(problem_overlap(out, ANY_INPUT));
    TRY(names_used(out));
    if (count_words(out) > MOST_WORDS)
        FAIL(CUBC_INVALID_ARGUMENT,
             "the values among the operands take more than the %d bytes that a kernel is given: "
             "pass some of them as members of one struct, or as arrays",
             8 * MOST_WORDS);
    int arrays = count_arrays(out);
    snprintf(out->benchmark, sizeof out->benchmark, "%s", names_by_arrays[arrays < 3 ? arrays : 3]);
    return CUBC_OK;
}

static cubc_status transform_workload(const benchmark *b, cubc_type type, uint64_t n, problem *out)
{
    static const struct {
        const char *name, *expression;
        int arrays;
    } kinds[] = {{"transform.fill", "3", 0},
                 {"transform.mul", "3 * x", 1},
                 {"transform.triad", "x + 3 * y", 2},
                 {"transform.nstream", "x + y + 3 * z", 3}};
    static const char *const names[3] = {"x", "y", "z"};
    for (size_t k = 0; k < COUNT_OF(kinds); k++) {
        if (strcmp(kinds[k].name, b->name) != 0) continue;
        *out = (problem){.expression = kinds[k].expression,
                         .n = n,
                         .type = (uint8_t)type,
                         .acc_type = (uint8_t)type,
                         .input_count = (uint8_t)kinds[k].arrays,
                         .outputs[0] = {.n = n, .type = (uint8_t)type},
                         .output_count = 1,
                         .aligned = true};
        for (int j = 0; j < kinds[k].arrays; j++)
            out->inputs[j] = (operand){.name = names[j], .n = n, .type = (uint8_t)type};
        return CUBC_OK;
    }
    FAIL(CUBC_INTERNAL, "%s has no workload", b->name);
}

static void define_operands(const problem *p, text *out, const char *macro, bool scalar)
{
    // TUNE_X: any other parameter might be an operand's name.
    text_printf(out, "#define %s(TUNE_X)", macro);
    for (int k = 0, word = 0; k < p->input_count; word += words_of(&p->inputs[k++]))
        if (p->inputs[k].scalar == scalar)
            text_printf(out, " TUNE_X(%d, %s, %s)", word, type_table[p->inputs[k].type].dialect,
                        p->inputs[k].name);
    text_puts(out, "\n");
}

static void transform_define(const problem *p, text *out)
{
    text_printf(out, "#define TUNE_O %s\n#define TUNE_ALIGNED %d\n",
                type_table[p->outputs[0].type].dialect, p->aligned);
    text_printf(out, "#define TUNE_WORDS %d\n", count_words(p) ? count_words(p) : 1);
    define_operands(p, out, "TUNE_ARRAYS", false);
    define_operands(p, out, "TUNE_SCALARS", true);
    problem_define_expression(out, "TUNE_EXPRESSION", p->expression);
    if (p->in_place) text_puts(out, "#undef TUNE_LOAD\n#define TUNE_LOAD 0\n");
}

static const char *transform_invalid(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    int bytes = 0;
    for (int k = 0; k < p->input_count; k++)
        if (!p->inputs[k].scalar) bytes += (int)operand_item_bytes(&p->inputs[k]);
    return problem_invalid(p, kind, s, v, bytes);
}

static cubc_status transform_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[0];
    uint64_t tile = (uint64_t)variant_value(&i->space, &i->variant, "ipt", 1) * kernel->threads;
    uint64_t tiles = p->n / tile + (p->n % tile != 0);
    if (tiles > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "transform of %llu items needs more than 2^31 blocks",
             (unsigned long long)p->n);
    out->launch_count = tiles > 0;
    out->launches[0] =
        (launch){.kernel = kernel,
                 .shape.grid = (unsigned)tiles,
                 .args_count = ARGS_BEFORE + (size_t)(count_words(p) ? count_words(p) : 1),
                 .args = {(uintptr_t)p->outputs[0].data, p->n}};
    uint64_t *word = &out->launches[0].args[ARGS_BEFORE];
    for (int k = 0; k < p->input_count; word += words_of(&p->inputs[k++])) {
        const operand *o = &p->inputs[k];
        if (o->scalar)
            memcpy(word, o->data, operand_item_bytes(o));
        else
            *word = (uintptr_t)o->data;
    }
    return CUBC_OK;
}

#define BENCHMARK(name) \
    {"transform." name, problem_all_types, PROBLEM_ALL_TYPES, problem_elements, 4}
static const benchmark transform_benchmarks[] = {BENCHMARK("fill"), BENCHMARK("mul"),
                                                 BENCHMARK("triad"), BENCHMARK("nstream")};

const algorithm transform_algorithm = {.name = "transform",
                                       .source = "transform.cu",
                                       .kernels = {"transform_tiles"},
                                       .benchmarks = transform_benchmarks,
                                       .benchmark_count = COUNT_OF(transform_benchmarks),
                                       .workload = transform_workload,
                                       .define = transform_define,
                                       .invalid = transform_invalid,
                                       .plan = transform_plan,
                                       .traffic = problem_array_bytes};
