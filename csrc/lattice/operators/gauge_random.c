// Descriptor of gauge_random: kernels/lattice/gauge_random.cu.
#include "lattice/operators/gauge.h"

#include <math.h>

enum { MATRICES = LATTICE_TRAITS }; // a trait: of a site
enum { SEED, IDENTITY, NOISE };     // among a problem's numbers

cubc_status gauge_random_problem(const cubc_gauge_random_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    if (params->matrices != 1 && params->matrices != 4)
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_random: %d matrices a site: a gauge field has 4, a gauge rotation 1",
             params->matrices);
    if (!isfinite(params->identity) || !isfinite(params->noise) ||
        (params->identity == 0 && params->noise == 0))
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_random: %g of the identity and %g of noise: they are finite, and one is not 0",
             params->identity, params->noise);
    TRY(gauge_problem(&gauge_random_algorithm, extents, params->type, "gauge_random.links", out));
    TRY(gauge_output(out, "the output of gauge_random", params->out, params->n,
                     MATRIX_REALS * params->matrices));
    out->traits[MATRICES] = (uint16_t)params->matrices;
    out->numbers[SEED] = params->seed;
    out->numbers[IDENTITY] = gauge_word(params->identity);
    out->numbers[NOISE] = gauge_word(params->noise);
    return gauge_arrays(out);
}

static cubc_status gauge_random_workload(const benchmark *b, cubc_type type, uint64_t n,
                                         problem *out)
{
    (void)b;
    gauge_workload(type, n, out);
    gauge_add_output(out, GAUGE_REALS);
    out->traits[MATRICES] = 4;
    out->numbers[NOISE] = gauge_word(1);
    return CUBC_OK;
}

static void gauge_random_define(const problem *p, text *out)
{
    gauge_define(p, out);
    text_printf(out, "#define TUNE_MATRICES %d\n", p->traits[MATRICES]);
}

static cubc_status gauge_random_plan(const problem *p, const instance *i, plan *out)
{
    const uint64_t args[] = {(uintptr_t)p->outputs[0].data, p->numbers[SEED], p->numbers[IDENTITY],
                             p->numbers[NOISE]};
    return lattice_plan_copy(p, i, p->n, out, args, COUNT_OF(args));
}

static const field gauge_random_fields[] = {
    FIELD_ARRAY(cubc_gauge_random_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_random_params, matrices, FIELD_INT),
    FIELD(cubc_gauge_random_params, seed, FIELD_COUNT),
    FIELD(cubc_gauge_random_params, identity, FIELD_REAL),
    FIELD(cubc_gauge_random_params, noise, FIELD_REAL),
    FIELD(cubc_gauge_random_params, lx, FIELD_INT),
    FIELD(cubc_gauge_random_params, ly, FIELD_INT),
    FIELD(cubc_gauge_random_params, lz, FIELD_INT),
    FIELD(cubc_gauge_random_params, lt, FIELD_INT),
};

#define BENCHMARK(name) {"gauge_random." name, lattice_plain_types, 2, lattice_volumes, 3}
static const benchmark gauge_random_benchmarks[] = {BENCHMARK("links")};

const algorithm gauge_random_algorithm = {.name = "gauge_random",
                                          .source = "gauge_random.cu",
                                          .kernels = {"gauge_random"},
                                          .benchmarks = gauge_random_benchmarks,
                                          .benchmark_count = COUNT_OF(gauge_random_benchmarks),
                                          FIELDS(gauge_random_fields),
                                          .workload = gauge_random_workload,
                                          .define = gauge_random_define,
                                          .invalid = gauge_invalid,
                                          .plan = gauge_random_plan,
                                          .traffic = problem_array_bytes,
                                          .random = gauge_random_integers};
