// Descriptor of fat_links: kernels/lattice/fat_links.cu.
#include "lattice/gauge/gauge.h"

#include <math.h>

typedef struct fat_links_numbers {
    double one, three, five, seven, lepage;
} fat_links_numbers;

PROBLEM_NUMBERS(fat_links_numbers);

enum { SIDES = 3 }; // directions other than that of a link; fields of each half of the scratch

cubc_status fat_links_problem(const cubc_fat_links_params *params, problem *out)
{
    const fat_links_numbers numbers = {params->one, params->three, params->five, params->seven,
                                       params->lepage};
    if (!isfinite(numbers.one + numbers.three + numbers.five + numbers.seven + numbers.lepage))
        FAIL(CUBC_INVALID_ARGUMENT,
             "fat_links: coefficients of %g, %g, %g, %g and %g: they are finite numbers",
             numbers.one, numbers.three, numbers.five, numbers.seven, numbers.lepage);
    TRY(gauge_problem(&fat_links_algorithm, LATTICE_EXTENTS(params), params->type,
                      "fat_links.field", out));
    TRY(gauge_input(out, "the gauge field", params->links, params->n, GAUGE_REALS));
    TRY(gauge_output(out, "the fat links", params->out, params->n, GAUGE_REALS));
    fat_links_numbers_set(out, numbers);
    return gauge_arrays_apart(out);
}

LATTICE_WORKLOAD(fat_links)

// For each direction the kernels in order; each waits for the one before.
static cubc_status fat_links_plan(const problem *p, const instance *i, plan *out)
{
    enum { INNER = 2, MIDDLE }; // among the arguments
    uint64_t half = SIDES * p->n * MATRIX_REALS * operand_item_bytes(&p->inputs[0]);
    out->scratch_bytes = 2 * half;
    struct {
        uint64_t links, out, inner, middle;
        fat_links_numbers numbers;
        uint64_t direction;
    } args = {(uintptr_t)p->inputs[0].data,
              (uintptr_t)p->outputs[0].data,
              0,
              half,
              fat_links_numbers_of(p),
              0};
    for (; args.direction < 4; args.direction++) {
        for (int k = 0; k < 3; k++) {
            TRY(site_map_launch(p, i, p->n, &args, sizeof args, out));
            launch *l = &out->launches[out->launch_count - 1];
            l->kernel = &i->kernels[k];
            l->scratch_args = 1u << INNER | 1u << MIDDLE;
        }
    }
    return CUBC_OK;
}

static const field fat_links_fields[] = {
    FIELD_ARRAY(cubc_fat_links_params, links, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_fat_links_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_fat_links_params, one, FIELD_REAL),
    FIELD(cubc_fat_links_params, three, FIELD_REAL),
    FIELD(cubc_fat_links_params, five, FIELD_REAL),
    FIELD(cubc_fat_links_params, seven, FIELD_REAL),
    FIELD(cubc_fat_links_params, lepage, FIELD_REAL),
    LATTICE_EXTENT_FIELDS(cubc_fat_links_params),
};

// Whole coefficients, so that sums of small integers are exact in F32 too.
static const cubc_fat_links_params call = {.links = BENCHMARK_ARRAY(0),
                                           .out = BENCHMARK_ARRAY(1),
                                           .n = 2 * GAUGE_REALS,
                                           .one = 1,
                                           .three = 1,
                                           .five = 1,
                                           .seven = 1,
                                           .lepage = 1};
static const benchmark fat_links_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "fat_links.field", .call = &call)};

static const site_map fat_links_map = {.number_bytes = sizeof(fat_links_numbers)};

const algorithm fat_links_algorithm =
    SITE_MAP(fat_links, .kernels = {"fat_links_inner", "fat_links_middle", "fat_links_outer"},
             .invalid = site_map_fitting_variant, .plan = fat_links_plan,
             .traffic = problem_array_bytes, .random = gauge_random_integers);
