// Checks and macros that the descriptors of kernels on gauge fields share: see gauge.h.
#include "lattice/operators/gauge.h"

#include <stdio.h>
#include <string.h>

cubc_status gauge_problem(const algorithm *a, const int extents[4], cubc_type type,
                          const char *benchmark, problem *out)
{
    *out = (problem){
        .algorithm = a, .type = (uint8_t)type, .acc_type = (uint8_t)type, .aligned = true};
    snprintf(out->benchmark, sizeof out->benchmark, "%s", benchmark);
    if (type != CUBC_F64 && type != CUBC_F32)
        FAIL(CUBC_INVALID_TYPE,
             "%s calculates with fields of F64 or F32, not of %s: link_copy and spinor_copy make "
             "one of the other",
             a->name, cubc_type_name(type));
    TRY(lattice_extents(out, extents));
    out->n = 2 * lattice_sites(out);
    return CUBC_OK;
}

cubc_status gauge_fields(const problem *p, const char *what, uint64_t n, int reals,
                         uint64_t *fields)
{
    uint64_t each = 2 * lattice_sites(p) * (uint64_t)reals;
    *fields = n / each;
    if (n == 0 || n % each)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s has %llu real numbers: %d a site of a lattice of %dx%dx%dx%d are %llu", what,
             (unsigned long long)n, reals, p->traits[LATTICE_X], p->traits[LATTICE_Y],
             p->traits[LATTICE_Z], p->traits[LATTICE_T], (unsigned long long)each);
    return CUBC_OK;
}

cubc_status gauge_input(problem *p, const char *what, const void *data, uint64_t n, int reals)
{
    uint64_t fields;
    TRY(gauge_fields(p, what, n, reals, &fields));
    return problem_input(p, what, data, n, (cubc_type)p->type);
}

cubc_status gauge_output(problem *p, const char *what, void *data, uint64_t n, int reals)
{
    uint64_t fields;
    TRY(gauge_fields(p, what, n, reals, &fields));
    return problem_output(p, what, data, n, (cubc_type)p->type);
}

cubc_status gauge_arrays(problem *p)
{
    TRY(problem_overlap(p, INPUT_OF_SAME_NUMBER));
    if (!p->aligned)
        FAIL(CUBC_INVALID_ARGUMENT, "%s: a field in native order starts on 16 bytes",
             p->algorithm->name);
    return CUBC_OK;
}

void gauge_workload(cubc_type type, uint64_t n, problem *out)
{
    if (n < 16) n = 16;
    *out = (problem){.n = n, .type = (uint8_t)type, .acc_type = (uint8_t)type, .aligned = true};
    lattice_extents_of(out, n);
}

void gauge_add_input(problem *p, int reals)
{
    p->inputs[p->input_count++] = (operand){.n = p->n * (uint64_t)reals, .type = p->type};
}

void gauge_add_output(problem *p, int reals)
{
    p->outputs[p->output_count++] = (operand){.n = p->n * (uint64_t)reals, .type = p->type};
}

void gauge_define(const problem *p, text *out)
{
    lattice_define(p, out);
    text_printf(out, "#define TUNE_T %s\n", type_table[p->type].dialect);
}

const char *gauge_invalid(const problem *p, const char *kind, const space *s, const variant *v)
{
    (void)p;
    if (strcmp(kind, "cpu") == 0) return NULL;
    if (variant_value(s, v, "tpb", 1) * variant_value(s, v, "mb", 1) > 2048)
        return "more threads than a multiprocessor holds";
    return NULL;
}

const char *gauge_random_integers(const problem *p, int k)
{
    (void)p, (void)k;
    return "static_cast<i32>(random_u64(seed, i) % 3) - 1";
}

const char *gauge_random_reals(const problem *p, int k)
{
    (void)p, (void)k;
    return "static_cast<i32>(random_u64(seed, i) >> 40) * 0x1p-24 - 0.5";
}

uint64_t gauge_word(double v)
{
    uint64_t word;
    memcpy(&word, &v, sizeof word);
    return word;
}
