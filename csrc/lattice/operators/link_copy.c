// Descriptor of link_copy: kernels/lattice/link_copy.cu.
#include "lattice/operators/lattice.h"

#include <stdio.h>

enum { FROM_ORDER = LATTICE_TRAITS, TO_ORDER, FROM_REALS, TO_REALS };
enum { MATRIX = 18 };

static cubc_status check_side(const problem *p, const char *what, uint64_t n, cubc_type type,
                              cubc_field_order order, int reals)
{
    TRY(lattice_precision(what, type));
    TRY(lattice_reconstruct(reals));
    if ((int)order < CUBC_PLAIN || order > CUBC_NATIVE)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has an unknown order (%d)", what, (int)order);
    if (order != CUBC_NATIVE && (type == CUBC_I16 || reals != MATRIX))
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s is not in native order and has all 18 reals of a link, of F64 or F32", what);
    if (n != 8 * lattice_sites(p) * (uint64_t)reals)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has %llu real numbers, not %llu", what,
             (unsigned long long)n, (unsigned long long)(8 * lattice_sites(p) * (uint64_t)reals));
    return CUBC_OK;
}

cubc_status link_copy_problem(const cubc_link_copy_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    cubc_type from = params->from_type, to = params->to_type;
    uint64_t from_n = params->from_n, to_n = params->to_n;
    lattice_reals(&from, &from_n);
    lattice_reals(&to, &to_n);
    *out = (problem){.algorithm = &link_copy_algorithm,
                     .type = (uint8_t)from,
                     .acc_type = (uint8_t)from,
                     .benchmark = "link_copy.pack",
                     .aligned = true};
    TRY(lattice_extents(out, extents));
    out->n = 2 * lattice_sites(out);
    TRY(check_side(out, "the gauge field to copy", from_n, from, params->from_order,
                   params->from_reals));
    TRY(check_side(out, "the copy", to_n, to, params->to_order, params->to_reals));
    TRY(problem_input(out, "the gauge field to copy", params->from, from_n, from));
    TRY(problem_output(out, "the copy", params->to, to_n, to));
    TRY(problem_overlap(out, ANY_INPUT));
    if (!out->aligned || out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT,
             "link_copy: fields start on 16 bytes, and the copy is apart from what is copied");
    out->traits[FROM_ORDER] = (uint16_t)params->from_order;
    out->traits[TO_ORDER] = (uint16_t)params->to_order;
    out->traits[FROM_REALS] = (uint16_t)params->from_reals;
    out->traits[TO_REALS] = (uint16_t)params->to_reals;
    return CUBC_OK;
}

// A plain field becomes a native one of 12 reals a link.
static cubc_status link_copy_workload(const benchmark *b, cubc_type type, uint64_t n, problem *out)
{
    (void)b;
    if (n < 16) n = 16;
    *out = (problem){.n = n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .aligned = true,
                     .inputs = {{.n = 4 * n * MATRIX, .type = (uint8_t)type}},
                     .outputs = {{.n = 4 * n * 12, .type = (uint8_t)type}},
                     .input_count = 1,
                     .output_count = 1,
                     .traits = {[FROM_ORDER] = CUBC_PLAIN,
                                [TO_ORDER] = CUBC_NATIVE,
                                [FROM_REALS] = MATRIX,
                                [TO_REALS] = 12}};
    lattice_extents_of(out, n);
    return CUBC_OK;
}

static void link_copy_define(const problem *p, text *out)
{
    lattice_define(p, out);
    lattice_define_copy(p, out);
    text_printf(out, "#define TUNE_FROM_ORDER %d\n#define TUNE_TO_ORDER %d\n",
                p->traits[FROM_ORDER], p->traits[TO_ORDER]);
    text_printf(out, "#define TUNE_FROM_REALS %d\n#define TUNE_TO_REALS %d\n",
                p->traits[FROM_REALS], p->traits[TO_REALS]);
}

static const char *link_copy_invalid(const problem *p, const char *kind, const space *s,
                                     const variant *v)
{
    (void)p, (void)kind, (void)s, (void)v;
    return NULL;
}

static cubc_status link_copy_plan(const problem *p, const instance *i, plan *out)
{
    return lattice_plan_copy(
        p, i, p->n, out, (uint64_t[]){(uintptr_t)p->inputs[0].data, (uintptr_t)p->outputs[0].data},
        2);
}

static const field link_copy_fields[] = {
    FIELD_ARRAY(cubc_link_copy_params, from, FIELD_INPUT, from_type, from_n),
    FIELD_ARRAY(cubc_link_copy_params, to, FIELD_OUTPUT, to_type, to_n),
    FIELD(cubc_link_copy_params, from_order, FIELD_INT),
    FIELD(cubc_link_copy_params, to_order, FIELD_INT),
    FIELD(cubc_link_copy_params, from_reals, FIELD_INT),
    FIELD(cubc_link_copy_params, to_reals, FIELD_INT),
    FIELD(cubc_link_copy_params, lx, FIELD_INT),
    FIELD(cubc_link_copy_params, ly, FIELD_INT),
    FIELD(cubc_link_copy_params, lz, FIELD_INT),
    FIELD(cubc_link_copy_params, lt, FIELD_INT),
};

static const benchmark link_copy_benchmarks[] = {
    {"link_copy.pack", lattice_plain_types, 2, lattice_volumes, 3}};

const algorithm link_copy_algorithm = {.name = "link_copy",
                                       .source = "link_copy.cu",
                                       .kernels = {"link_copy_sites"},
                                       .benchmarks = link_copy_benchmarks,
                                       .benchmark_count = COUNT_OF(link_copy_benchmarks),
                                       FIELDS(link_copy_fields),
                                       .workload = link_copy_workload,
                                       .define = link_copy_define,
                                       .invalid = link_copy_invalid,
                                       .plan = link_copy_plan,
                                       .traffic = problem_array_bytes};
