// Descriptor of gauge_project: kernels/lattice/gauge_project.cu.
#include "lattice/operators/gauge.h"

#include <string.h>

enum { NEAREST = LATTICE_TRAITS }; // a trait

cubc_status gauge_project_problem(const cubc_gauge_project_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    TRY(gauge_problem(&gauge_project_algorithm, extents, params->type,
                      params->nearest ? "gauge_project.nearest" : "gauge_project.rows", out));
    TRY(gauge_input(out, "the gauge field", params->links, params->n, GAUGE_REALS));
    TRY(gauge_output(out, "the output of gauge_project", params->out, params->n, GAUGE_REALS));
    out->traits[NEAREST] = params->nearest != 0;
    return gauge_arrays(out);
}

static cubc_status gauge_project_workload(const benchmark *b, cubc_type type, uint64_t n,
                                          problem *out)
{
    gauge_workload(type, n, out);
    gauge_add_input(out, GAUGE_REALS);
    gauge_add_output(out, GAUGE_REALS);
    out->traits[NEAREST] = strcmp(b->name, "gauge_project.nearest") == 0;
    return CUBC_OK;
}

static void gauge_project_define(const problem *p, text *out)
{
    gauge_define(p, out);
    text_printf(out, "#define TUNE_NEAREST %d\n", p->traits[NEAREST]);
}

static cubc_status gauge_project_plan(const problem *p, const instance *i, plan *out)
{
    const uint64_t args[] = {(uintptr_t)p->inputs[0].data, (uintptr_t)p->outputs[0].data};
    return lattice_plan_copy(p, i, p->n, out, args, COUNT_OF(args));
}

static const field gauge_project_fields[] = {
    FIELD_ARRAY(cubc_gauge_project_params, links, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_gauge_project_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_project_params, nearest, FIELD_INT),
    FIELD(cubc_gauge_project_params, lx, FIELD_INT),
    FIELD(cubc_gauge_project_params, ly, FIELD_INT),
    FIELD(cubc_gauge_project_params, lz, FIELD_INT),
    FIELD(cubc_gauge_project_params, lt, FIELD_INT),
};

#define BENCHMARK(name) {"gauge_project." name, lattice_plain_types, 2, lattice_volumes, 3}
static const benchmark gauge_project_benchmarks[] = {BENCHMARK("rows"), BENCHMARK("nearest")};

const algorithm gauge_project_algorithm = {.name = "gauge_project",
                                           .source = "gauge_project.cu",
                                           .kernels = {"gauge_project"},
                                           .benchmarks = gauge_project_benchmarks,
                                           .benchmark_count = COUNT_OF(gauge_project_benchmarks),
                                           FIELDS(gauge_project_fields),
                                           .workload = gauge_project_workload,
                                           .define = gauge_project_define,
                                           .invalid = gauge_invalid,
                                           .plan = gauge_project_plan,
                                           .traffic = problem_array_bytes,
                                           .random = gauge_random_reals};
