// Descriptor of gauge_project: kernels/lattice/gauge_project.cu.
#include "lattice/operators/gauge.h"

#include <string.h>

typedef struct gauge_project_traits {
    lattice_traits lattice;
    int nearest;
} gauge_project_traits;

PROBLEM_TRAITS(gauge_project_traits);

cubc_status gauge_project_problem(const cubc_gauge_project_params *params, problem *out)
{
    TRY(gauge_problem(&gauge_project_algorithm, LATTICE_EXTENTS(params), params->type,
                      params->nearest ? "gauge_project.nearest" : "gauge_project.rows", out));
    TRY(gauge_input(out, "the gauge field", params->links, params->n, GAUGE_REALS));
    TRY(gauge_output(out, "the output of gauge_project", params->out, params->n, GAUGE_REALS));
    gauge_project_traits_set(out, (gauge_project_traits){.lattice = lattice_traits_of(out),
                                                         .nearest = params->nearest != 0});
    return gauge_arrays(out);
}

static cubc_status gauge_project_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                          problem *out)
{
    benchmark_lattice place;
    TRY(lattice_of_benchmark(at, &place));
    const cubc_gauge_project_params params = {
        .links = BENCHMARK_ARRAY(0),
        .out = BENCHMARK_ARRAY(1),
        .n = GAUGE_REALS * place.sites,
        .type = type,
        .nearest = strcmp(b->name, "gauge_project.nearest") == 0,
        BENCHMARK_EXTENTS(place),
    };
    return gauge_project_problem(&params, out);
}

static const field gauge_project_fields[] = {
    FIELD_ARRAY(cubc_gauge_project_params, links, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_gauge_project_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_project_params, nearest, FIELD_INT),
    LATTICE_EXTENT_FIELDS(cubc_gauge_project_params),
};

static const benchmark gauge_project_benchmarks[] = {
    LATTICE_BENCHMARK("gauge_project.rows", lattice_plain_types),
    LATTICE_BENCHMARK("gauge_project.nearest", lattice_plain_types)};

static const site_map gauge_project_map = {.macros = {"NEAREST"}};

const algorithm gauge_project_algorithm =
    SITE_MAP(gauge_project, .kernels = {"gauge_project"}, .invalid = site_map_fitting_variant,
             .plan = site_map_plan, .traffic = problem_array_bytes, .random = gauge_random_reals);
