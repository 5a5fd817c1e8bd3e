// Descriptor of spinor_copy: kernels/lattice/spinor_copy.cu.
#include "lattice/operators/lattice.h"

#include <stdio.h>

enum { FROM_ORDER = LATTICE_TRAITS, TO_ORDER };
enum { FIELDS }; // among a problem's numbers: those of a parity, of all sources

static cubc_status check_order(const char *what, cubc_field_order order, cubc_type type)
{
    if ((int)order < CUBC_PLAIN || order > CUBC_NATIVE)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has an unknown order (%d)", what, (int)order);
    if (order != CUBC_NATIVE && type == CUBC_I16)
        FAIL(CUBC_INVALID_TYPE, "%s is of fixed-point numbers, which only a native order has",
             what);
    return CUBC_OK;
}

cubc_status spinor_copy_problem(const cubc_spinor_copy_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    cubc_type from = params->from_type, to = params->to_type;
    uint64_t n = params->from_n, to_n = params->to_n, sources;
    lattice_reals(&from, &n);
    lattice_reals(&to, &to_n);
    *out = (problem){.algorithm = &spinor_copy_algorithm,
                     .n = n / SPINOR_REALS,
                     .type = (uint8_t)from,
                     .acc_type = (uint8_t)from,
                     .benchmark = "spinor_copy.pack",
                     .aligned = true};
    TRY(lattice_extents(out, extents));
    // Where no order has rows of both parities, fields of one are copied as well.
    bool plain = params->from_order == CUBC_PLAIN || params->to_order == CUBC_PLAIN;
    int parities = plain ? 2 : 1;
    TRY(lattice_sources(out, "the spinors to copy", n, parities, &sources));
    if (n != to_n)
        FAIL(CUBC_INVALID_ARGUMENT, "spinor_copy: %llu real numbers are copied to %llu",
             (unsigned long long)n, (unsigned long long)to_n);
    bool fixed = from == CUBC_I16 || to == CUBC_I16;
    TRY(lattice_norms("spinor_copy", params->norms_n, n, fixed ? CUBC_I16 : to, SPINOR_REALS));
    TRY(lattice_field_input(out, "the field to copy", params->from, params->from_norms, n, from,
                            SPINOR_REALS));
    TRY(lattice_field_output(out, "the copy", params->to, params->to_norms, n, to, SPINOR_REALS));
    TRY(check_order("the field to copy", params->from_order, from));
    TRY(check_order("the copy", params->to_order, to));
    TRY(problem_overlap(out, ANY_INPUT));
    if (!out->aligned || out->in_place)
        FAIL(CUBC_INVALID_ARGUMENT,
             "spinor_copy: fields start on 16 bytes, and the copy is apart from what is copied");
    out->traits[FROM_ORDER] = (uint16_t)params->from_order;
    out->traits[TO_ORDER] = (uint16_t)params->to_order;
    out->numbers[FIELDS] = (uint64_t)parities * sources;
    return CUBC_OK;
}

// A plain field becomes a native one.
static cubc_status spinor_copy_workload(const benchmark *b, cubc_type type, uint64_t n,
                                        problem *out)
{
    (void)b;
    if (n < 16) n = 16;
    *out =
        (problem){.n = n,
                  .type = (uint8_t)type,
                  .acc_type = (uint8_t)type,
                  .aligned = true,
                  .inputs = {{.n = n * SPINOR_REALS, .type = (uint8_t)type}, {.type = CUBC_F32}},
                  .outputs = {{.n = n * SPINOR_REALS, .type = (uint8_t)type}, {.type = CUBC_F32}},
                  .input_count = 2,
                  .output_count = 2,
                  .traits = {[FROM_ORDER] = CUBC_PLAIN, [TO_ORDER] = CUBC_NATIVE},
                  .numbers = {[FIELDS] = 2}};
    lattice_extents_of(out, n);
    return CUBC_OK;
}

static void spinor_copy_define(const problem *p, text *out)
{
    lattice_define(p, out);
    lattice_define_copy(p, out);
    text_printf(out, "#define TUNE_FROM_ORDER %d\n#define TUNE_TO_ORDER %d\n",
                p->traits[FROM_ORDER], p->traits[TO_ORDER]);
}

static const char *spinor_copy_invalid(const problem *p, const char *kind, const space *s,
                                       const variant *v)
{
    (void)p, (void)kind, (void)s, (void)v;
    return NULL;
}

static cubc_status spinor_copy_plan(const problem *p, const instance *i, plan *out)
{
    uint64_t sites = lattice_sites(p) * p->numbers[FIELDS];
    return lattice_plan_copy(p, i, sites, out,
                             (uint64_t[]){(uintptr_t)p->inputs[0].data,
                                          (uintptr_t)p->inputs[1].data,
                                          (uintptr_t)p->outputs[0].data,
                                          (uintptr_t)p->outputs[1].data, p->numbers[FIELDS]},
                             5);
}

static const field spinor_copy_fields[] = {
    FIELD_ARRAY(cubc_spinor_copy_params, from, FIELD_INPUT, from_type, from_n),
    FIELD_ARRAY(cubc_spinor_copy_params, from_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_spinor_copy_params, to, FIELD_OUTPUT, to_type, to_n),
    FIELD_ARRAY(cubc_spinor_copy_params, to_norms, FIELD_OUTPUT, norm_type, norms_n),
    FIELD(cubc_spinor_copy_params, from_order, FIELD_INT),
    FIELD(cubc_spinor_copy_params, to_order, FIELD_INT),
    FIELD(cubc_spinor_copy_params, lx, FIELD_INT),
    FIELD(cubc_spinor_copy_params, ly, FIELD_INT),
    FIELD(cubc_spinor_copy_params, lz, FIELD_INT),
    FIELD(cubc_spinor_copy_params, lt, FIELD_INT),
};

static const benchmark spinor_copy_benchmarks[] = {
    {"spinor_copy.pack", lattice_plain_types, 2, lattice_volumes, 3}};

const algorithm spinor_copy_algorithm = {.name = "spinor_copy",
                                         .source = "spinor_copy.cu",
                                         .kernels = {"spinor_copy_sites"},
                                         .benchmarks = spinor_copy_benchmarks,
                                         .benchmark_count = COUNT_OF(spinor_copy_benchmarks),
                                         FIELDS(spinor_copy_fields),
                                         .workload = spinor_copy_workload,
                                         .define = spinor_copy_define,
                                         .invalid = spinor_copy_invalid,
                                         .plan = spinor_copy_plan,
                                         .traffic = problem_array_bytes};
