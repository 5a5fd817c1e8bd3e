// Descriptor of gauge_project: kernels/lattice/gauge_project.cu.
#include "lattice/operators/gauge.h"

#include <string.h>

typedef struct gauge_project_traits {
    int nearest;
} gauge_project_traits;

LATTICE_TRAITS(gauge_project_traits);

cubc_status gauge_project_problem(const cubc_gauge_project_params *params, problem *out)
{
    TRY(gauge_problem(&gauge_project_algorithm, LATTICE_EXTENTS(params), params->type,
                      params->nearest ? "gauge_project.nearest" : "gauge_project.rows", out));
    TRY(gauge_input(out, "the gauge field", params->links, params->n, GAUGE_REALS));
    TRY(gauge_output(out, "the output of gauge_project", params->out, params->n, GAUGE_REALS));
    gauge_project_traits_set(out, (gauge_project_traits){params->nearest != 0});
    return gauge_arrays(out);
}

LATTICE_WORKLOAD(gauge_project)

static const field gauge_project_fields[] = {
    FIELD_ARRAY(cubc_gauge_project_params, links, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_gauge_project_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_project_params, nearest, FIELD_INT),
    LATTICE_EXTENT_FIELDS(cubc_gauge_project_params),
};

#define CALL .links = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .n = 2 * GAUGE_REALS
static const cubc_gauge_project_params rows = {CALL}, nearest = {CALL, .nearest = 1};
static const benchmark gauge_project_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_project.rows", .call = &rows),
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_project.nearest", .call = &nearest)};

static const site_map gauge_project_map = {.macros = {"NEAREST"}};

const algorithm gauge_project_algorithm =
    SITE_MAP(gauge_project, .kernels = {"gauge_project"}, .invalid = site_map_fitting_variant,
             .plan = site_map_plan, .traffic = problem_array_bytes, .random = gauge_random_reals);
