// Descriptor of spinor_twist: kernels/lattice/spinor_twist.cu.
#include "lattice/operators/lattice.h"

enum { FIELDS, A, A5 }; // among a problem's numbers: fields of a parity, of all sources

cubc_status spinor_twist_problem(const cubc_spinor_twist_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    *out = (problem){.algorithm = &spinor_twist_algorithm,
                     .n = params->n / SPINOR_REALS,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .benchmark = "spinor_twist.apply",
                     .aligned = true};
    TRY(lattice_extents(out, extents));
    TRY(lattice_sources(out, "the spinors to twist", params->n, 1, &out->numbers[FIELDS]));
    TRY(lattice_norms("the field to twist", params->norms_n, params->n, params->type,
                      SPINOR_REALS));
    TRY(lattice_field_input(out, "the field to twist", params->x, params->x_norms, params->n,
                            params->type, SPINOR_REALS));
    TRY(lattice_field_output(out, "the output of twist", params->out, params->out_norms, params->n,
                             params->type, SPINOR_REALS));
    TRY(problem_overlap(out, ANY_INPUT));
    TRY(lattice_aligned(out));
    out->numbers[A] = lattice_word(params->a);
    out->numbers[A5] = lattice_word(params->a5);
    return CUBC_OK;
}

static cubc_status spinor_twist_workload(const benchmark *b, cubc_type type, uint64_t n,
                                         problem *out)
{
    (void)b;
    if (n < 16) n = 16;
    const operand field = {.n = n * SPINOR_REALS, .type = (uint8_t)type};
    const operand norms = {.n = type == CUBC_I16 ? n : 0, .type = CUBC_F32};
    *out = (problem){.n = n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .aligned = true,
                     .inputs = {field, norms},
                     .outputs = {field, norms},
                     .input_count = 2,
                     .output_count = 2,
                     .numbers = {[FIELDS] = 2, [A] = lattice_word(1), [A5] = lattice_word(1)}};
    lattice_extents_of(out, n);
    return CUBC_OK;
}

static void spinor_twist_define(const problem *p, text *out)
{
    lattice_define(p, out);
    text_printf(out, "#define TUNE_T %s\n", type_table[p->type].dialect);
}

static cubc_status spinor_twist_plan(const problem *p, const instance *i, plan *out)
{
    return lattice_plan_copy(
        p, i, lattice_sites(p) * p->numbers[FIELDS], out,
        (uint64_t[]){(uintptr_t)p->inputs[0].data, (uintptr_t)p->inputs[1].data,
                     (uintptr_t)p->outputs[0].data, (uintptr_t)p->outputs[1].data,
                     p->numbers[FIELDS], p->numbers[A], p->numbers[A5]},
        7);
}

static const field spinor_twist_fields[] = {
    FIELD_ARRAY(cubc_spinor_twist_params, x, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_spinor_twist_params, x_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_spinor_twist_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_spinor_twist_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    FIELD(cubc_spinor_twist_params, lx, FIELD_INT),
    FIELD(cubc_spinor_twist_params, ly, FIELD_INT),
    FIELD(cubc_spinor_twist_params, lz, FIELD_INT),
    FIELD(cubc_spinor_twist_params, lt, FIELD_INT),
    FIELD(cubc_spinor_twist_params, a, FIELD_REAL),
    FIELD(cubc_spinor_twist_params, a5, FIELD_REAL),
};

static const benchmark spinor_twist_benchmarks[] = {
    {"spinor_twist.apply", lattice_types, 3, lattice_volumes, 3}};

const algorithm spinor_twist_algorithm = {.name = "spinor_twist",
                                          .source = "spinor_twist.cu",
                                          .kernels = {"spinor_twist_sites"},
                                          .benchmarks = spinor_twist_benchmarks,
                                          .benchmark_count = COUNT_OF(spinor_twist_benchmarks),
                                          FIELDS(spinor_twist_fields),
                                          .workload = spinor_twist_workload,
                                          .define = spinor_twist_define,
                                          .invalid = lattice_any_variant,
                                          .plan = spinor_twist_plan,
                                          .traffic = problem_array_bytes};
