// Descriptor of gauge_temporal: kernels/lattice/gauge_temporal.cu.
#include "lattice/gauge/gauge.h"

typedef struct gauge_temporal_traits {
    int part;
} gauge_temporal_traits;

LATTICE_TRAITS(gauge_temporal_traits);

cubc_status gauge_temporal_problem(const cubc_gauge_temporal_params *params, problem *out)
{
    TRY(gauge_problem(&gauge_temporal_algorithm, LATTICE_EXTENTS(params), params->type,
                      "gauge_temporal.rotation", out));
    TRY(gauge_input(out, "the gauge field", params->links, params->links_n, GAUGE_REALS));
    TRY(gauge_output(out, "the rotation", params->out, params->n, MATRIX_REALS));
    gauge_temporal_traits_set(out, (gauge_temporal_traits){.part = params->edge != NULL});
    const uint64_t edge = params->edge ? params->n / lattice_time_slices(out) : 0;
    if (params->edge_n != edge)
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_temporal: an edge of %llu real numbers, expected %llu",
             (unsigned long long)params->edge_n, (unsigned long long)edge);
    if (params->edge)
        TRY(problem_output(out, "the edge", params->edge, params->edge_n, params->type));
    return gauge_arrays(out);
}

LATTICE_WORKLOAD(gauge_temporal)

// The links in time are a quarter of all, and as many reals as the rotation.
static double gauge_temporal_traffic(const problem *p)
{
    return 2 * (double)p->outputs[0].n * (double)operand_item_bytes(&p->outputs[0]);
}

static const field gauge_temporal_fields[] = {
    FIELD_ARRAY(cubc_gauge_temporal_params, links, FIELD_INPUT, type, links_n),
    FIELD_ARRAY(cubc_gauge_temporal_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_gauge_temporal_params, edge, FIELD_CHANGED, type, edge_n),
    LATTICE_EXTENT_FIELDS(cubc_gauge_temporal_params),
};

static const cubc_gauge_temporal_params rotation = {.links = BENCHMARK_ARRAY(0),
                                                    .out = BENCHMARK_ARRAY(1),
                                                    .links_n = 2 * GAUGE_REALS,
                                                    .n = 2 * MATRIX_REALS};
static const benchmark gauge_temporal_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_temporal.rotation", .call = &rotation)};

static uint64_t sites_of_slice(const problem *p)
{
    return p->n / lattice_time_slices(p);
}

static const site_map gauge_temporal_map = {.macros = {"PART"}, .sites = sites_of_slice};

const algorithm gauge_temporal_algorithm = SITE_MAP(
    gauge_temporal, .kernels = {"gauge_temporal"}, .invalid = site_map_fitting_variant,
    .plan = site_map_plan, .traffic = gauge_temporal_traffic, .random = gauge_random_reals);
