// Descriptor of gauge_measure: kernels/lattice/gauge_measure.cu.
#include "base/integer.h"
#include "lattice/gauge/gauge.h"
#include "lattice/gauge/part.h"

#include <string.h>

typedef struct gauge_measure_traits {
    cubc_gauge_quantity quantity;
    int cut, margin;
} gauge_measure_traits;

LATTICE_TRAITS(gauge_measure_traits);

enum { PARTS_AT = 256 }; // of the scratch

static const struct quantity {
    const char *benchmark;
    int numbers;
} quantities[] = {[CUBC_GAUGE_PLAQUETTES] = {"gauge_measure.plaquettes", 7},
                  [CUBC_GAUGE_POLYAKOV] = {"gauge_measure.polyakov", 2},
                  [CUBC_GAUGE_UNITARITY] = {"gauge_measure.unitarity", 2},
                  [CUBC_GAUGE_TEMPORAL] = {"gauge_measure.temporal", 2}};

cubc_status gauge_measure_problem(const cubc_gauge_measure_params *params, problem *out)
{
    if ((int)params->quantity < 0 || params->quantity >= COUNT_OF(quantities))
        FAIL(CUBC_INVALID_ARGUMENT,
             "quantity %d: 0 are plaquettes, 1 is the Polyakov loop, 2 the distance from SU(3), 3 "
             "that from temporal gauge",
             (int)params->quantity);
    const struct quantity *q = &quantities[params->quantity];
    TRY(gauge_problem(&gauge_measure_algorithm, LATTICE_EXTENTS(params), params->type, q->benchmark,
                      out));
    TRY(gauge_input(out, "the gauge field", params->links, params->links_n, GAUGE_REALS));
    if (params->out_type != CUBC_F64 || params->out_n != (uint64_t)q->numbers)
        FAIL(CUBC_INVALID_ARGUMENT, "%s gives %d numbers of F64, not %llu of %s", q->benchmark,
             q->numbers, (unsigned long long)params->out_n, cubc_type_name(params->out_type));
    TRY(problem_output(out, "the output of gauge_measure", params->out, params->out_n, CUBC_F64));
    TRY(part_check(out, params->cut, params->margin, NULL));
    if (params->cut && params->quantity != CUBC_GAUGE_PLAQUETTES)
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_measure of a part with sites around it: plaquettes alone");
    gauge_measure_traits_set(out,
                             (gauge_measure_traits){params->quantity, params->cut, params->margin});
    return gauge_arrays(out);
}

LATTICE_WORKLOAD(gauge_measure)

static bool of_loops(const problem *p)
{
    return gauge_measure_traits_of(p).quantity == CUBC_GAUGE_POLYAKOV;
}

// Blocks take equal runs of the sites to measure: all, or those of a time slice.
static cubc_status gauge_measure_plan(const problem *p, const instance *i, plan *out)
{
    enum { LINKS, OUT, ARRIVED, PARTS, SHARE, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    const gauge_measure_traits traits = gauge_measure_traits_of(p);
    uint64_t sites =
        of_loops(p) ? p->n / lattice_time_slices(p) : 2 * part_sites(p, traits.cut, traits.margin);
    uint64_t most = blocks_in_waves(i, kernel);
    uint64_t steps = ceil_div(ceil_div(sites, kernel->threads), most);
    uint64_t share = steps * kernel->threads, grid = ceil_div(sites, share);
    out->cleared_bytes = sizeof(uint64_t); // how many blocks have arrived; then their parts
    out->scratch_bytes = PARTS_AT + grid * p->outputs[0].n * sizeof(double);
    out->launch_count = 1;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)grid,
                                .scratch_args = 1u << ARRIVED | 1u << PARTS,
                                .args_count = ARGS,
                                .args = {[LINKS] = (uintptr_t)p->inputs[0].data,
                                         [OUT] = (uintptr_t)p->outputs[0].data,
                                         [PARTS] = PARTS_AT,
                                         [SHARE] = share}};
    return CUBC_OK;
}

static double gauge_measure_traffic(const problem *p)
{
    double all = problem_array_bytes(p);
    bool in_time = of_loops(p) || gauge_measure_traits_of(p).quantity == CUBC_GAUGE_TEMPORAL;
    return in_time ? all / 4 : all;
}

static const field gauge_measure_fields[] = {
    FIELD_ARRAY(cubc_gauge_measure_params, links, FIELD_INPUT, type, links_n),
    FIELD_ARRAY(cubc_gauge_measure_params, out, FIELD_OUTPUT, out_type, out_n),
    FIELD(cubc_gauge_measure_params, quantity, FIELD_INT),
    FIELD(cubc_gauge_measure_params, cut, FIELD_INT),
    FIELD(cubc_gauge_measure_params, margin, FIELD_INT),
    LATTICE_EXTENT_FIELDS(cubc_gauge_measure_params),
};

#define CALL(of, numbers)         \
    {.links = BENCHMARK_ARRAY(0), \
     .out = BENCHMARK_ARRAY(1),   \
     .links_n = 2 * GAUGE_REALS,  \
     .out_n = numbers,            \
     .out_type = CUBC_F64,        \
     .quantity = of}
static const cubc_gauge_measure_params plaquettes = CALL(CUBC_GAUGE_PLAQUETTES, 7),
                                       polyakov = CALL(CUBC_GAUGE_POLYAKOV, 2),
                                       unitarity = CALL(CUBC_GAUGE_UNITARITY, 2),
                                       temporal = CALL(CUBC_GAUGE_TEMPORAL, 2);
static const benchmark gauge_measure_benchmarks[] = {
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_measure.plaquettes", .call = &plaquettes),
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_measure.polyakov", .call = &polyakov),
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_measure.unitarity", .call = &unitarity),
    LATTICE_BENCHMARK(lattice_plain_types, "gauge_measure.temporal", .call = &temporal)};

static const site_map gauge_measure_map = {.macros = {"QUANTITY", "CUT", "MARGIN"}};

const algorithm gauge_measure_algorithm = SITE_MAP(
    gauge_measure, .kernels = {"gauge_measure"}, .invalid = site_map_fitting_variant,
    .plan = gauge_measure_plan, .traffic = gauge_measure_traffic, .random = gauge_random_integers);
