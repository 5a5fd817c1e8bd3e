// Descriptor of gauge_temporal: kernels/lattice/gauge_temporal.cu.
#include "lattice/operators/gauge.h"

cubc_status gauge_temporal_problem(const cubc_gauge_temporal_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    TRY(gauge_problem(&gauge_temporal_algorithm, extents, params->type, "gauge_temporal.rotation",
                      out));
    TRY(gauge_input(out, "the gauge field", params->links, params->links_n, GAUGE_REALS));
    TRY(gauge_output(out, "the rotation", params->out, params->n, MATRIX_REALS));
    return gauge_arrays(out);
}

static cubc_status gauge_temporal_workload(const benchmark *b, cubc_type type, uint64_t n,
                                           problem *out)
{
    (void)b;
    gauge_workload(type, n, out);
    gauge_add_input(out, GAUGE_REALS);
    gauge_add_output(out, MATRIX_REALS);
    return CUBC_OK;
}

static void gauge_temporal_define(const problem *p, text *out)
{
    gauge_define(p, out);
}

static cubc_status gauge_temporal_plan(const problem *p, const instance *i, plan *out)
{
    const uint64_t args[] = {(uintptr_t)p->inputs[0].data, (uintptr_t)p->outputs[0].data};
    return lattice_plan_copy(p, i, p->n / p->traits[LATTICE_T], out, args, COUNT_OF(args));
}

// The links in time are a quarter of all, and as many reals as the rotation.
static double gauge_temporal_traffic(const problem *p)
{
    return 2 * (double)p->outputs[0].n * (double)operand_item_bytes(&p->outputs[0]);
}

static const field gauge_temporal_fields[] = {
    FIELD_ARRAY(cubc_gauge_temporal_params, links, FIELD_INPUT, type, links_n),
    FIELD_ARRAY(cubc_gauge_temporal_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_temporal_params, lx, FIELD_INT),
    FIELD(cubc_gauge_temporal_params, ly, FIELD_INT),
    FIELD(cubc_gauge_temporal_params, lz, FIELD_INT),
    FIELD(cubc_gauge_temporal_params, lt, FIELD_INT),
};

#define BENCHMARK(name) {"gauge_temporal." name, lattice_plain_types, 2, lattice_volumes, 3}
static const benchmark gauge_temporal_benchmarks[] = {BENCHMARK("rotation")};

const algorithm gauge_temporal_algorithm = {.name = "gauge_temporal",
                                            .source = "gauge_temporal.cu",
                                            .kernels = {"gauge_temporal"},
                                            .benchmarks = gauge_temporal_benchmarks,
                                            .benchmark_count = COUNT_OF(gauge_temporal_benchmarks),
                                            FIELDS(gauge_temporal_fields),
                                            .workload = gauge_temporal_workload,
                                            .define = gauge_temporal_define,
                                            .invalid = gauge_invalid,
                                            .plan = gauge_temporal_plan,
                                            .traffic = gauge_temporal_traffic,
                                            .random = gauge_random_reals};
