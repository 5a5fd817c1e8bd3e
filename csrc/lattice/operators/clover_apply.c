// Descriptor of clover_apply: kernels/lattice/clover_apply.cu.
#include "lattice/operators/clover.h"

enum { FIELDS, PARITY };                       // among a problem's numbers
enum { X, X_NORMS, MATRICES, MATRICES_NORMS }; // inputs

cubc_status clover_apply_problem(const cubc_clover_apply_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    uint64_t sources;
    *out = (problem){.algorithm = &clover_apply_algorithm,
                     .n = params->n / SPINOR_REALS,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .benchmark = "clover_apply.site",
                     .aligned = true};
    TRY(lattice_extents(out, extents));
    TRY(lattice_parity(params->parity));
    int parities = params->parity == 2 ? 2 : 1;
    TRY(lattice_sources(out, "the input of clover_apply", params->n, parities, &sources));
    TRY(lattice_norms("the input of clover_apply", params->norms_n, params->n, params->type,
                      SPINOR_REALS));
    TRY(lattice_norms("the clover term", params->clover_norms_n, params->clover_n, params->type,
                      CLOVER_REALS));
    TRY(lattice_field_input(out, "the input of clover_apply", params->x, params->x_norms, params->n,
                            params->type, SPINOR_REALS));
    TRY(clover_input(out, params->clover, params->clover_norms, params->clover_n, params->type));
    TRY(lattice_field_output(out, "the output of clover_apply", params->out, params->out_norms,
                             params->n, params->type, SPINOR_REALS));
    TRY(problem_overlap(out, ANY_INPUT));
    TRY(lattice_aligned(out));
    out->numbers[FIELDS] = sources * (uint64_t)parities;
    out->numbers[PARITY] = (uint64_t)params->parity;
    return CUBC_OK;
}

static cubc_status clover_apply_workload(const benchmark *b, cubc_type type, uint64_t n,
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
                     .inputs = {[X] = field, [X_NORMS] = norms},
                     .outputs = {field, norms},
                     .input_count = 4,
                     .output_count = 2,
                     .numbers = {[FIELDS] = 2, [PARITY] = 2}};
    lattice_extents_of(out, n);
    clover_operands(out, type, &out->inputs[MATRICES]);
    return CUBC_OK;
}

static void clover_apply_define(const problem *p, text *out)
{
    lattice_define(p, out);
    text_printf(out, "#define TUNE_T %s\n", type_table[p->type].dialect);
}

static cubc_status clover_apply_plan(const problem *p, const instance *i, plan *out)
{
    return lattice_plan_copy(
        p, i, lattice_sites(p) * p->numbers[FIELDS], out,
        (uint64_t[]){(uintptr_t)p->inputs[MATRICES].data, (uintptr_t)p->inputs[MATRICES_NORMS].data,
                     (uintptr_t)p->inputs[X].data, (uintptr_t)p->inputs[X_NORMS].data,
                     (uintptr_t)p->outputs[0].data, (uintptr_t)p->outputs[1].data,
                     p->numbers[FIELDS], p->numbers[PARITY]},
        8);
}

static const field clover_apply_fields[] = {
    FIELD_ARRAY(cubc_clover_apply_params, clover, FIELD_INPUT, type, clover_n),
    FIELD_ARRAY(cubc_clover_apply_params, clover_norms, FIELD_INPUT, norm_type, clover_norms_n),
    FIELD_ARRAY(cubc_clover_apply_params, x, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_clover_apply_params, x_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_clover_apply_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_clover_apply_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    FIELD(cubc_clover_apply_params, lx, FIELD_INT),
    FIELD(cubc_clover_apply_params, ly, FIELD_INT),
    FIELD(cubc_clover_apply_params, lz, FIELD_INT),
    FIELD(cubc_clover_apply_params, lt, FIELD_INT),
    FIELD(cubc_clover_apply_params, parity, FIELD_INT),
};

static const benchmark clover_apply_benchmarks[] = {
    {"clover_apply.site", lattice_types, 3, lattice_volumes, 3}};

const algorithm clover_apply_algorithm = {.name = "clover_apply",
                                          .source = "clover_apply.cu",
                                          .kernels = {"clover_apply_sites"},
                                          .benchmarks = clover_apply_benchmarks,
                                          .benchmark_count = COUNT_OF(clover_apply_benchmarks),
                                          FIELDS(clover_apply_fields),
                                          .workload = clover_apply_workload,
                                          .define = clover_apply_define,
                                          .invalid = lattice_any_variant,
                                          .plan = clover_apply_plan,
                                          .traffic = problem_array_bytes};
