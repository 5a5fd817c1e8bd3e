// Descriptor of field_update: kernels/lattice/field_update.cu.
#include "base/integer.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/operators/site_map.h"
#include "lattice/operators/solver_update.h"

#include <stdio.h>
#include <string.h>

typedef struct field_update_traits {
    int reals;   // a site
    int parts;   // of a right-hand side, fields of one parity
    int written; // bit k for field k
} field_update_traits;

typedef struct field_update_numbers {
    uint64_t sources;
    cubc_guard guard;
} field_update_numbers;

SOLVER_UPDATE_TRAITS(field_update_traits);
PROBLEM_NUMBERS(field_update_numbers);

// ---- problems -----------------------------------------------------------------------------------
static uint64_t sites(const problem *p)
{
    return lattice_sites(p) * (uint64_t)field_update_traits_of(p).parts;
}

static cubc_status check_shape(const cubc_field_update_params *params)
{
    if (params->reals < 2 || params->reals % 2 || params->reals > UINT16_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "fields of %d reals a site: an even number is expected",
             params->reals);
    if (params->parts < 1 || params->parts > UINT16_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "a right-hand side of %d parts: at least one is expected",
             params->parts);
    if (params->sources == 0)
        FAIL(CUBC_INVALID_ARGUMENT, "field_update: there are no right-hand sides");
    if (params->field_count < 1 || params->field_count > MAX_INPUTS)
        FAIL(CUBC_INVALID_ARGUMENT, "field_update of %d fields: 1 to %d are expected",
             params->field_count, MAX_INPUTS);
    return CUBC_OK;
}

// A name becomes part of the kernel.
static cubc_status check_name(const char *name)
{
    size_t length = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    if (length == 0 || length > 16 || name[length] || name[0] < 'a')
        FAIL(CUBC_INVALID_ARGUMENT, "field_update: \"%.20s\" is no name of a field",
             name ? name : "");
    return CUBC_OK;
}

static cubc_status add_field(const cubc_site_field *f, problem *out)
{
    field_update_traits traits = field_update_traits_of(out);
    uint64_t n = out->n * (uint64_t)traits.reals;
    TRY(check_name(f->name));
    TRY(lattice_precision("fields", f->type));
    TRY(problem_input(out, f->name, f->data, n, f->type));
    out->inputs[out->input_count - 1].name = f->name;
    if (!f->written) return CUBC_OK;
    if (out->output_count == MAX_OUTPUTS)
        FAIL(CUBC_INVALID_ARGUMENT, "field_update: more than %d fields change", MAX_OUTPUTS);
    traits.written |= 1 << (out->input_count - 1);
    field_update_traits_set(out, traits);
    return problem_output(out, f->name, f->data, n, f->type);
}

// Policies go by the narrowest fields, and an update is computed in the widest.
static void choose_types(problem *p)
{
    p->type = p->inputs[0].type;
    p->acc_type = CUBC_F32;
    for (int k = 0; k < p->input_count; k++) {
        cubc_type type = (cubc_type)p->inputs[k].type;
        if (cubc_type_size(type) < cubc_type_size((cubc_type)p->type)) p->type = (uint8_t)type;
        if (type == CUBC_F64) p->acc_type = CUBC_F64;
    }
}

cubc_status field_update_problem(const cubc_field_update_params *params, problem *out)
{
    *out = (problem){
        .algorithm = &field_update_algorithm, .aligned = true, .benchmark = "field_update.cg"};
    TRY(lattice_extents(out, LATTICE_EXTENTS(params)));
    TRY(check_shape(params));
    if (!params->guard) FAIL(CUBC_INVALID_ARGUMENT, "field_update: there is no state");
    TRY(solver_update_set(out, "field_update", params->update, params->guard, params->sources));
    field_update_traits_set(out,
                            (field_update_traits){.reals = params->reals, .parts = params->parts});
    field_update_numbers_set(out, (field_update_numbers){params->sources, *params->guard});
    if (sites(out) > UINT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "a right-hand side of %llu sites: at most 2^32 - 1 are handled",
             (unsigned long long)sites(out));
    out->n = sites(out) * params->sources;
    for (int k = 0; k < params->field_count; k++) TRY(add_field(&params->fields[k], out));
    TRY(lattice_aligned(out));
    choose_types(out);
    return CUBC_OK;
}

static void field_update_axis_values(const problem *p, uint64_t *values)
{
    lattice_axis_values(p, values);
    values[LATTICE_SOURCES_AXIS] = field_update_numbers_of(p).sources;
}

// ---- benchmarks ---------------------------------------------------------------------------------
// "field_update.cg": the part of an iteration of conjugate gradients that is not in its operator's
// kernels, of one parity. Its state is of numbers that are 0.
static cubc_status field_update_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                         problem *out)
{
    static const cubc_site_update update = {.scalars = {"alpha_real", "beta_real"},
                                            .statements = "x = x + (alpha_real + real_t(2)) * p; "
                                                          "p = s + (beta_real + real_t(3)) * p"};
    const cubc_site_field fields[] = {{"x", BENCHMARK_ARRAY(0), type, .written = 1},
                                      {"p", BENCHMARK_ARRAY(1), type, .written = 1},
                                      {"s", BENCHMARK_ARRAY(2), type, .written = 0}};
    const cubc_guard guard = {.states = BENCHMARK_ARRAY(3)};
    cubc_field_update_params call = {.update = &update,
                                     .fields = fields,
                                     .field_count = COUNT_OF(fields),
                                     .guard = &guard,
                                     .lx = (int)smaller(at[0], INT32_MAX),
                                     .ly = (int)smaller(at[1], INT32_MAX),
                                     .lz = (int)smaller(at[2], INT32_MAX),
                                     .lt = (int)smaller(at[3], INT32_MAX),
                                     .reals = SPINOR_REALS,
                                     .parts = 1};
    (void)b;
    TRY(lattice_sources_at(at, &call.sources));
    TRY(field_update_problem(&call, out));
    // The norms of a fixed-point field are behind it, two items a site.
    uint64_t norms = type == CUBC_I16 ? 2 * out->n : 0;
    for (int k = 0; k < out->input_count; k++) out->inputs[k].n += norms;
    for (int k = 0; k < out->output_count; k++) out->outputs[k].n += norms;
    out->inputs[out->input_count++] =
        (operand){.n = call.sources * CUBC_STATE_BYTES / 8, .type = CUBC_U64};
    return CUBC_OK;
}

// Whole numbers. Norms are floats near 1, made of half of the bits of a number each.
static const char *field_update_random(const problem *p, int k)
{
    if (k == 3) return "random_u64(seed, i) * 0";
    if (p->inputs[k].type != CUBC_I16) return "static_cast<i32>(random_u64(seed, i) >> 60) - 8";
    return "16256 - static_cast<i32>(random_u64(seed, i) >> 63) * 128";
}

// ---- variants -----------------------------------------------------------------------------------
static bool is_field(const problem *p, int k)
{
    return p->inputs[k].name != NULL; // and not a benchmark's state
}

enum which { ALL, ONLY_WRITTEN, ONLY_HELD, ONLY_FLOATS };

static void define_fields(const problem *p, const char *name, enum which which, text *out)
{
    text_printf(out, "#define %s(X)", name);
    for (int k = 0; k < p->input_count; k++) {
        bool written = field_update_traits_of(p).written >> k & 1,
             fixed = p->inputs[k].type == CUBC_I16;
        if (!is_field(p, k) || (which != ALL && !written) || (which == ONLY_HELD && !fixed) ||
            (which == ONLY_FLOATS && fixed))
            continue;
        text_printf(out, " X(%s, %s)", p->inputs[k].name, type_table[p->inputs[k].type].dialect);
    }
    text_puts(out, "\n");
}

static void field_update_define(const problem *p, text *out)
{
    const field_update_traits traits = field_update_traits_of(p);
    lattice_define(p, out);
    text_printf(out, "#define TUNE_REALS %d\n#define TUNE_PARTS %d\n#define TUNE_REAL %s\n",
                traits.reals, traits.parts, type_table[p->acc_type].dialect);
    define_fields(p, "TUNE_FIELDS", ALL, out);
    define_fields(p, "TUNE_WRITTEN", ONLY_WRITTEN, out);
    define_fields(p, "TUNE_HELD", ONLY_HELD, out);
    define_fields(p, "TUNE_FLOATS", ONLY_FLOATS, out);
    solver_update_define(p, out);
}

static cubc_status field_update_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[0];
    uint64_t tile = instance_value(i, "spt", 1) * kernel->threads;
    field_update_numbers numbers = field_update_numbers_of(p);
    uint64_t blocks = ceil_div(sites(p), tile) * numbers.sources;
    if (blocks > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "field_update of %llu right-hand sides: more than 2^31 blocks",
             (unsigned long long)numbers.sources);
    launch *l = &out->launches[0];
    out->launch_count = 1;
    *l = (launch){.kernel = kernel, .shape.grid = (unsigned)blocks};
    for (int k = 0; k < p->input_count; k++)
        if (is_field(p, k))
            launch_add(l, (uintptr_t)p->inputs[k].data);
        else
            numbers.guard.states = p->inputs[k].data;
    for (int k = 0; k < p->output_count; k++) launch_add(l, (uintptr_t)p->outputs[k].data);
    TRY(solver_update_place(p, &numbers.guard, blocks, numbers.sources, l));
    launch_add(l, numbers.sources);
    solver_update_receive(p, &numbers.guard, &i->kernels[1], out);
    return CUBC_OK;
}

static bool field_update_has_kernel(const problem *p, int k)
{
    (void)k;
    return solver_update_traits_of(p).over_ranks;
}

static const benchmark field_update_benchmarks[] = {
    LATTICE_SOURCES_BENCHMARK(lattice_types, "field_update.cg")};

const algorithm field_update_algorithm = {
    .name = "field_update",
    .source = "field_update.cu",
    .kernels = {"field_update_sites", "field_update_sites_sums"},
    .has_kernel = field_update_has_kernel,
    .benchmarks = field_update_benchmarks,
    .benchmark_count = COUNT_OF(field_update_benchmarks),
    .workload = field_update_workload,
    .axes = {LATTICE_SOURCE_AXES},
    .axis_values = field_update_axis_values,
    .define = field_update_define,
    .invalid = site_map_fitting_variant,
    .plan = field_update_plan,
    .traffic = problem_array_bytes,
    .random = field_update_random};
