// Descriptor of gauge_project: kernels/lattice/gauge_project.cu.
#include "lattice/gauge/gauge.h"

#include <string.h>

typedef struct gauge_project_traits {
    cubc_gauge_projection projection;
} gauge_project_traits;

LATTICE_TRAITS(gauge_project_traits);

static const char *const benchmark_of[] = {[CUBC_GAUGE_ROWS] = "gauge_project.rows",
                                           [CUBC_GAUGE_NEAREST] = "gauge_project.nearest",
                                           [CUBC_GAUGE_UNITARY] = "gauge_project.unitary"};

cubc_status gauge_project_problem(const cubc_gauge_project_params *params, problem *out)
{
    if ((int)params->projection < 0 || params->projection >= COUNT_OF(benchmark_of))
        FAIL(CUBC_INVALID_ARGUMENT,
             "projection %d: 0 makes rows orthonormal, 1 is the nearest matrix of SU(3), 2 that of "
             "U(3)",
             (int)params->projection);
    TRY(gauge_problem(&gauge_project_algorithm, LATTICE_EXTENTS(params), params->type,
                      benchmark_of[params->projection], out));
    TRY(gauge_input(out, "the gauge field", params->links, params->n, GAUGE_REALS));
    TRY(gauge_output(out, "the output of gauge_project", params->out, params->n, GAUGE_REALS));
    gauge_project_traits_set(out, (gauge_project_traits){params->projection});
    return gauge_arrays(out);
}

LATTICE_WORKLOAD(gauge_project)

static const field gauge_project_fields[] = {
    FIELD_ARRAY(cubc_gauge_project_params, links, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_gauge_project_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_project_params, projection, FIELD_INT),
    LATTICE_EXTENT_FIELDS(cubc_gauge_project_params),
};

#define CALL .links = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .n = 2 * GAUGE_REALS
static const cubc_gauge_project_params rows = {CALL},
                                       nearest = {CALL, .projection = CUBC_GAUGE_NEAREST},
                                       unitary = {CALL, .projection = CUBC_GAUGE_UNITARY};
static const benchmark gauge_project_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_project.rows", .call = &rows),
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_project.nearest", .call = &nearest),
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_project.unitary", .call = &unitary)};

static const site_map gauge_project_map = {.macros = {"PROJECTION"}};

const algorithm gauge_project_algorithm =
    SITE_MAP(gauge_project, .kernels = {"gauge_project"}, .invalid = site_map_fitting_variant,
             .plan = site_map_plan, .traffic = problem_array_bytes, .random = gauge_random_reals);
