// Descriptor of gauge_rotate: kernels/lattice/gauge_rotate.cu.
#include "lattice/operators/gauge.h"

#include <string.h>

enum { VECTORS = LATTICE_TRAITS, INVERSE, TEMPORAL }; // traits
enum { FIELDS };                                      // among a problem's numbers
enum { IN, ROTATION };

cubc_status gauge_rotate_problem(const cubc_gauge_rotate_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    const int reals = params->reals;
    bool links = reals == GAUGE_REALS;
    if (!links && reals != 24 && reals != 6)
        FAIL(CUBC_INVALID_ARGUMENT,
             "gauge_rotate: a field of %d reals a site: links have 72, spinors 24, colour vectors "
             "6",
             reals);
    if (params->temporal_gauge && (!links || params->inverse))
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_rotate: it is links that come into temporal gauge");
    TRY(gauge_problem(&gauge_rotate_algorithm, extents, params->type,
                      links ? "gauge_rotate.links" : "gauge_rotate.spinors", out));
    TRY(gauge_fields(out, "the field to rotate", params->n, reals, &out->numbers[FIELDS]));
    if (links && out->numbers[FIELDS] != 1)
        FAIL(CUBC_INVALID_ARGUMENT, "gauge_rotate: %llu gauge fields: they are rotated singly",
             (unsigned long long)out->numbers[FIELDS]);
    TRY(gauge_input(out, "the field to rotate", params->in, params->n, reals));
    TRY(gauge_input(out, "the rotation", params->rotation, params->rotation_n, MATRIX_REALS));
    TRY(gauge_output(out, "the output of gauge_rotate", params->out, params->n, reals));
    out->traits[VECTORS] = (uint16_t)(links ? 0 : reals / 6);
    out->traits[INVERSE] = params->inverse != 0;
    out->traits[TEMPORAL] = params->temporal_gauge != 0;
    return gauge_arrays(out);
}

static cubc_status gauge_rotate_workload(const benchmark *b, cubc_type type, uint64_t n,
                                         problem *out)
{
    bool links = strcmp(b->name, "gauge_rotate.links") == 0;
    gauge_workload(type, n, out);
    gauge_add_input(out, links ? GAUGE_REALS : SPINOR_REALS);
    gauge_add_input(out, MATRIX_REALS);
    gauge_add_output(out, links ? GAUGE_REALS : SPINOR_REALS);
    out->traits[VECTORS] = links ? 0 : 4;
    out->numbers[FIELDS] = 1;
    return CUBC_OK;
}

static void gauge_rotate_define(const problem *p, text *out)
{
    gauge_define(p, out);
    text_printf(out, "#define TUNE_VECTORS %d\n#define TUNE_INVERSE %d\n#define TUNE_TEMPORAL %d\n",
                p->traits[VECTORS], p->traits[INVERSE], p->traits[TEMPORAL]);
}

static cubc_status gauge_rotate_plan(const problem *p, const instance *i, plan *out)
{
    const uint64_t args[] = {(uintptr_t)p->inputs[IN].data, (uintptr_t)p->inputs[ROTATION].data,
                             (uintptr_t)p->outputs[0].data, p->numbers[FIELDS]};
    return lattice_plan_copy(p, i, p->n * p->numbers[FIELDS], out, args, COUNT_OF(args));
}

static const field gauge_rotate_fields[] = {
    FIELD_ARRAY(cubc_gauge_rotate_params, in, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_gauge_rotate_params, rotation, FIELD_INPUT, type, rotation_n),
    FIELD_ARRAY(cubc_gauge_rotate_params, out, FIELD_OUTPUT, type, n),
    FIELD(cubc_gauge_rotate_params, reals, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, inverse, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, temporal_gauge, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, lx, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, ly, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, lz, FIELD_INT),
    FIELD(cubc_gauge_rotate_params, lt, FIELD_INT),
};

#define BENCHMARK(name) {"gauge_rotate." name, lattice_plain_types, 2, lattice_volumes, 3}
static const benchmark gauge_rotate_benchmarks[] = {BENCHMARK("links"), BENCHMARK("spinors")};

const algorithm gauge_rotate_algorithm = {.name = "gauge_rotate",
                                          .source = "gauge_rotate.cu",
                                          .kernels = {"gauge_rotate"},
                                          .benchmarks = gauge_rotate_benchmarks,
                                          .benchmark_count = COUNT_OF(gauge_rotate_benchmarks),
                                          FIELDS(gauge_rotate_fields),
                                          .workload = gauge_rotate_workload,
                                          .define = gauge_rotate_define,
                                          .invalid = gauge_invalid,
                                          .plan = gauge_rotate_plan,
                                          .traffic = problem_array_bytes,
                                          .random = gauge_random_integers};
