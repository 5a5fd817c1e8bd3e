// Descriptor of gauge_temporal: kernels/lattice/gauge_temporal.cu.
#include "lattice/operators/gauge.h"

cubc_status gauge_temporal_problem(const cubc_gauge_temporal_params *params, problem *out)
{
    TRY(gauge_problem(&gauge_temporal_algorithm, LATTICE_EXTENTS(params), params->type,
                      "gauge_temporal.rotation", out));
    TRY(gauge_input(out, "the gauge field", params->links, params->links_n, GAUGE_REALS));
    TRY(gauge_output(out, "the rotation", params->out, params->n, MATRIX_REALS));
    return gauge_arrays(out);
}

static cubc_status gauge_temporal_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                           problem *out)
{
    benchmark_lattice place;
    (void)b;
    TRY(lattice_of_benchmark(at, &place));
    const cubc_gauge_temporal_params params = {
        .links = BENCHMARK_ARRAY(0),
        .out = BENCHMARK_ARRAY(1),
        .links_n = GAUGE_REALS * place.sites,
        .n = MATRIX_REALS * place.sites,
        .type = type,
        BENCHMARK_EXTENTS(place),
    };
    return gauge_temporal_problem(&params, out);
}

// The links in time are a quarter of all, and as many reals as the rotation.
static double gauge_temporal_traffic(const problem *p)
{
    return 2 * (double)p->outputs[0].n * (double)operand_item_bytes(&p->outputs[0]);
}

static const field gauge_temporal_fields[] = {
    FIELD_ARRAY(cubc_gauge_temporal_params, links, FIELD_INPUT, type, links_n),
    FIELD_ARRAY(cubc_gauge_temporal_params, out, FIELD_OUTPUT, type, n),
    LATTICE_EXTENT_FIELDS(cubc_gauge_temporal_params),
};

static const benchmark gauge_temporal_benchmarks[] = {
    LATTICE_BENCHMARK("gauge_temporal.rotation", lattice_plain_types)};

static uint64_t sites_of_slice(const problem *p)
{
    return p->n / (uint64_t)lattice_traits_of(p).extents[3];
}

static const site_map gauge_temporal_map = {.sites = sites_of_slice};

const algorithm gauge_temporal_algorithm = SITE_MAP(
    gauge_temporal, .kernels = {"gauge_temporal"}, .invalid = site_map_fitting_variant,
    .plan = site_map_plan, .traffic = gauge_temporal_traffic, .random = gauge_random_reals);
