// Descriptor of clover_invert: kernels/lattice/clover_invert.cu.
#include "lattice/operators/clover.h"

cubc_status clover_invert_problem(const cubc_clover_invert_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    *out = (problem){.algorithm = &clover_invert_algorithm,
                     .type = (uint8_t)params->clover_type,
                     .acc_type = (uint8_t)params->clover_type,
                     .benchmark = "clover_invert.field",
                     .aligned = true};
    TRY(lattice_extents(out, extents));
    out->n = 2 * lattice_sites(out);
    TRY(lattice_norms("the clover term", params->clover_norms_n, params->clover_n,
                      params->clover_type, CLOVER_REALS));
    TRY(lattice_norms("the inverse", params->norms_n, params->n, params->type, CLOVER_REALS));
    TRY(clover_input(out, params->clover, params->clover_norms, params->clover_n,
                     params->clover_type));
    TRY(clover_output(out, "the inverse", params->out, params->out_norms, params->n, params->type));
    if (params->log_det_n != out->n)
        FAIL(CUBC_INVALID_ARGUMENT, "log_det has %llu numbers: there is one a site, %llu",
             (unsigned long long)params->log_det_n, (unsigned long long)out->n);
    TRY(problem_output(out, "log_det", params->log_det, out->n, CUBC_F64));
    TRY(problem_overlap(out, ANY_INPUT));
    return lattice_aligned(out);
}

static cubc_status clover_invert_workload(const benchmark *b, cubc_type type, uint64_t n,
                                          problem *out)
{
    (void)b;
    if (n < 16) n = 16;
    *out = (problem){.n = n,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .aligned = true,
                     .outputs = {[2] = {.n = n, .type = CUBC_F64}},
                     .input_count = 2,
                     .output_count = 3};
    lattice_extents_of(out, n);
    clover_operands(out, type, out->inputs);
    clover_operands(out, type, out->outputs);
    return CUBC_OK;
}

// No matrix is singular.
static const char *clover_invert_random(const problem *p, int k)
{
    if (k == 1) return "1 + (random_u64(seed, i) >> 62)"; // norms
    return p->type == CUBC_I16 ? NULL : "(random_u64(seed, i) >> 40) * 0x1p-25";
}

static void clover_invert_define(const problem *p, text *out)
{
    lattice_define(p, out);
    lattice_define_copy(p, out);
}

static cubc_status clover_invert_plan(const problem *p, const instance *i, plan *out)
{
    return lattice_plan_copy(
        p, i, p->n, out,
        (uint64_t[]){(uintptr_t)p->inputs[0].data, (uintptr_t)p->inputs[1].data,
                     (uintptr_t)p->outputs[0].data, (uintptr_t)p->outputs[1].data,
                     (uintptr_t)p->outputs[2].data},
        5);
}

static const field clover_invert_fields[] = {
    FIELD_ARRAY(cubc_clover_invert_params, clover, FIELD_INPUT, clover_type, clover_n),
    FIELD_ARRAY(cubc_clover_invert_params, clover_norms, FIELD_INPUT, norm_type, clover_norms_n),
    FIELD_ARRAY(cubc_clover_invert_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_clover_invert_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_clover_invert_params, log_det, FIELD_OUTPUT, log_det_type, log_det_n),
    FIELD(cubc_clover_invert_params, lx, FIELD_INT),
    FIELD(cubc_clover_invert_params, ly, FIELD_INT),
    FIELD(cubc_clover_invert_params, lz, FIELD_INT),
    FIELD(cubc_clover_invert_params, lt, FIELD_INT),
};

static const benchmark clover_invert_benchmarks[] = {
    {"clover_invert.field", lattice_types, 3, lattice_volumes, 3}};

const algorithm clover_invert_algorithm = {.name = "clover_invert",
                                           .source = "clover_invert.cu",
                                           .kernels = {"clover_invert_sites"},
                                           .benchmarks = clover_invert_benchmarks,
                                           .benchmark_count = COUNT_OF(clover_invert_benchmarks),
                                           FIELDS(clover_invert_fields),
                                           .workload = clover_invert_workload,
                                           .define = clover_invert_define,
                                           .invalid = lattice_any_variant,
                                           .plan = clover_invert_plan,
                                           .traffic = problem_array_bytes,
                                           .random = clover_invert_random};
