// Descriptor of long_links: kernels/lattice/long_links.cu.
#include "lattice/gauge/gauge.h"

#include <math.h>

typedef struct long_links_numbers {
    double factor;
} long_links_numbers;

PROBLEM_NUMBERS(long_links_numbers);

cubc_status long_links_problem(const cubc_long_links_params *params, problem *out)
{
    if (!isfinite(params->factor))
        FAIL(CUBC_INVALID_ARGUMENT, "long_links: a factor of %g: it is a finite number",
             params->factor);
    TRY(gauge_problem(&long_links_algorithm, LATTICE_EXTENTS(params), params->type,
                      "long_links.field", out));
    TRY(gauge_input(out, "the gauge field", params->links, params->n, GAUGE_REALS));
    TRY(gauge_output(out, "the long links", params->out, params->n, GAUGE_REALS));
    long_links_numbers_set(out, (long_links_numbers){params->factor});
    return gauge_arrays_apart(out);
}

LATTICE_WORKLOAD(long_links)

static const field long_links_fields[] = {
    FIELD_ARRAY(cubc_long_links_params, links, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_long_links_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_long_links_params, factor, FIELD_REAL),
    LATTICE_EXTENT_FIELDS(cubc_long_links_params),
};

static const cubc_long_links_params call = {
    .links = BENCHMARK_ARRAY(0), .out = BENCHMARK_ARRAY(1), .n = 2 * GAUGE_REALS, .factor = 1};
static const benchmark long_links_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "long_links.field", .call = &call)};

static const site_map long_links_map = {.number_bytes = sizeof(long_links_numbers)};

const algorithm long_links_algorithm = SITE_MAP(
    long_links, .kernels = {"long_links"}, .invalid = site_map_fitting_variant,
    .plan = site_map_plan, .traffic = problem_array_bytes, .random = gauge_random_integers);
