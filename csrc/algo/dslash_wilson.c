// Descriptor of the Wilson Dslash: kernels/dslash_wilson.cu.
#include "fused.h"
#include "lattice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The traits of a problem, after those of any lattice.
enum {
    RECONSTRUCT = LATTICE_TRAITS,
    PARITY,
    DAGGER,
    XPAY,
    ANISOTROPIC,
    ANTIPERIODIC,
    TEMPORAL,
    GUARDED,
    HAS_Z
};
enum { A, SPATIAL, SOURCES, GUARD };      // among a problem's numbers
enum { LINKS, IN, IN_NORMS, X, X_NORMS }; // then z and its norms
enum { OUT, OUT_NORMS };

static uint64_t word_of(double v)
{
    uint64_t word;
    memcpy(&word, &v, sizeof word);
    return word;
}

// ---- problems -----------------------------------------------------------------------------------
static cubc_status check_apart(const problem *p, int input)
{
    const operand *in = &p->inputs[input], *out = &p->outputs[OUT];
    uintptr_t a = (uintptr_t)in->data, b = (uintptr_t)out->data;
    if (a < b + out->n * operand_item_bytes(out) && b < a + in->n * operand_item_bytes(in))
        FAIL(CUBC_INVALID_ARGUMENT, "dslash: the output overlaps the %s it is calculated from",
             input == LINKS ? "gauge field" : "spinors");
    return CUBC_OK;
}

static cubc_status check_numbers(const cubc_dslash_wilson_params *params)
{
    if (params->parity < 0 || params->parity > 2)
        FAIL(CUBC_INVALID_ARGUMENT, "parity %d: 0 is even, 1 odd, 2 both", params->parity);
    if (!(params->anisotropy > 0))
        FAIL(CUBC_INVALID_ARGUMENT, "an anisotropy of %g: it is a positive number",
             params->anisotropy);
    return CUBC_OK;
}

static cubc_status add_fields(const cubc_dslash_wilson_params *params, problem *out)
{
    const cubc_type type = params->type;
    TRY(lattice_links(out, params->links, params->links_n, type, params->reconstruct));
    TRY(lattice_sources(out, "the input of dslash", params->n, params->parity == 2 ? 2 : 1,
                        &out->numbers[SOURCES]));
    TRY(lattice_field_input(out, "the input of dslash", params->in, params->in_norms, params->n,
                            type, SPINOR_REALS));
    if (params->x)
        TRY(lattice_field_input(out, "x of dslash", params->x, params->x_norms, params->n, type,
                                SPINOR_REALS));
    TRY(lattice_field_output(out, "the output of dslash", params->out, params->out_norms, params->n,
                             type, SPINOR_REALS));
    TRY(check_apart(out, LINKS));
    return check_apart(out, IN);
}

static cubc_status add_guard(const cubc_dslash_wilson_params *params, problem *out)
{
    if (!params->guard) return CUBC_OK;
    TRY(fused_check("the tail of dslash", params->tail));
    if (params->z)
        TRY(lattice_field_input(out, "z of dslash", params->z, params->z_norms, params->n,
                                params->type, SPINOR_REALS));
    out->expression = params->tail;
    out->traits[GUARDED] = 1;
    out->traits[HAS_Z] = params->z != NULL;
    fused_guard(params->guard, out->numbers + GUARD);
    return CUBC_OK;
}

cubc_status dslash_wilson_problem(const cubc_dslash_wilson_params *params, problem *out)
{
    const int extents[4] = {params->lx, params->ly, params->lz, params->lt};
    *out = (problem){.algorithm = &dslash_wilson_algorithm,
                     .n = params->n / SPINOR_REALS,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .aligned = true};
    TRY(lattice_precision("spinors", params->type));
    TRY(lattice_extents(out, extents));
    TRY(check_numbers(params));
    TRY(add_fields(params, out));
    TRY(add_guard(params, out));
    if (!out->aligned)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash: a field in native order starts on 16 bytes");
    uint16_t *traits = out->traits;
    traits[RECONSTRUCT] = (uint16_t)params->reconstruct;
    traits[PARITY] = (uint16_t)params->parity;
    traits[DAGGER] = params->dagger != 0;
    traits[XPAY] = params->x != NULL;
    traits[ANISOTROPIC] = params->anisotropy != 1;
    traits[ANTIPERIODIC] = params->antiperiodic != 0;
    traits[TEMPORAL] = params->temporal_gauge != 0;
    out->numbers[A] = word_of(params->a);
    out->numbers[SPATIAL] = word_of(1 / params->anisotropy);
    snprintf(out->benchmark, sizeof out->benchmark, "dslash.wilson.r%d%s", params->reconstruct,
             out->numbers[SOURCES] > 1 ? ".s4" : "");
    return CUBC_OK;
}

// ---- benchmarks ---------------------------------------------------------------------------------
// "dslash.wilson.r12": odd to even sites of one source, antiperiodic in time; ".s4": of four.
static cubc_status dslash_wilson_workload(const benchmark *b, cubc_type type, uint64_t n,
                                          problem *out)
{
    int reals = atoi(strchr(b->name, 'r') + 1);
    uint64_t sources = strstr(b->name, ".s4") ? 4 : 1;
    if (n < 16) n = 16;
    *out = (problem){.n = n / 2 * sources,
                     .type = (uint8_t)type,
                     .acc_type = (uint8_t)type,
                     .aligned = true,
                     .traits = {[RECONSTRUCT] = (uint16_t)reals, [ANTIPERIODIC] = 1},
                     .numbers = {[SPATIAL] = word_of(1), [SOURCES] = sources}};
    lattice_extents_of(out, n);
    uint64_t norms = type == CUBC_I16 ? out->n : 0;
    out->inputs[LINKS] = (operand){.n = 4 * n * (uint64_t)reals, .type = (uint8_t)type};
    out->inputs[IN] = (operand){.n = out->n * SPINOR_REALS, .type = (uint8_t)type};
    out->inputs[IN_NORMS] = (operand){.n = norms, .type = CUBC_F32};
    out->outputs[OUT] = out->inputs[IN];
    out->outputs[OUT_NORMS] = out->inputs[IN_NORMS];
    out->input_count = 3;
    out->output_count = 2;
    return CUBC_OK;
}

// Integers, so that sums are exact; links that eight numbers can be of need not be unitary.
static const char *dslash_wilson_random(const problem *p, int k)
{
    if (k == IN_NORMS) return "1 + (random_u64(seed, i) >> 62)";
    if (p->type == CUBC_I16 && k == LINKS) // 32768 stands for 0
        return "static_cast<u16>((random_u64(seed, i) >> 50) + 24576)";
    if (p->type == CUBC_I16) return "static_cast<i32>(random_u64(seed, i) >> 49) - 16384";
    if (k == IN) return "static_cast<i32>(random_u64(seed, i) >> 60) - 8";
    return p->traits[RECONSTRUCT] == 8 ? "(random_u64(seed, i) >> 40) * 0x1p-25"
                                       : "static_cast<i32>(random_u64(seed, i) % 3) - 1";
}

static double dslash_wilson_traffic(const problem *p)
{
    return problem_array_bytes(p); // all links are read for one parity too: from either end
}

// ---- variants -----------------------------------------------------------------------------------
static void dslash_wilson_define(const problem *p, text *out)
{
    static const char *const names[] = {[RECONSTRUCT] = "RECONSTRUCT",
                                        [PARITY] = "PARITY",
                                        [DAGGER] = "DAGGER",
                                        [XPAY] = "XPAY",
                                        [ANISOTROPIC] = "ANISOTROPIC",
                                        [ANTIPERIODIC] = "ANTIPERIODIC",
                                        [TEMPORAL] = "TEMPORAL",
                                        [GUARDED] = "GUARDED",
                                        [HAS_Z] = "Z"};
    lattice_define(p, out);
    text_printf(out, "#define TUNE_T %s\n", type_table[p->type].dialect);
    for (int k = RECONSTRUCT; k <= HAS_Z; k++)
        text_printf(out, "#define TUNE_%s %d\n", names[k], p->traits[k]);
    if (p->traits[GUARDED]) fused_define(p->expression, out);
}

static const char *dslash_wilson_invalid(const problem *p, const char *kind, const space *s,
                                         const variant *v)
{
    int threads = variant_value(s, v, "tpb", 1), groups = variant_value(s, v, "sg", 1);
    if (strcmp(kind, "cpu") == 0) return NULL;
    if (threads % (32 * groups)) return "the warps of a block do not divide into groups";
    if (groups > 1 && p->numbers[SOURCES] == 1) return "there is one source and no groups of them";
    if (variant_value(s, v, "cv", 0) && p->type != CUBC_I16)
        return "only fixed-point numbers are converted";
    if (threads * variant_value(s, v, "mb", 1) > 2048)
        return "more threads than a multiprocessor holds";
    if (variant_value(s, v, "sh", 0) * variant_value(s, v, "mb", 1) > 224)
        return "the least number of blocks ask for more shared memory than there is";
    return NULL;
}

static cubc_status dslash_wilson_plan(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[0];
    uint64_t groups = (uint64_t)variant_value(&i->space, &i->variant, "sg", 1);
    uint64_t together = groups * (uint64_t)variant_value(&i->space, &i->variant, "spt", 1);
    uint64_t places = lattice_sites(p) * (p->traits[PARITY] == 2 ? 2 : 1);
    uint64_t sources = (p->numbers[SOURCES] + together - 1) / together;
    uint64_t threads = kernel->threads / groups;
    uint64_t each = (places + threads - 1) / threads, blocks = each * sources;
    if (blocks > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash of %llu sources needs more than 2^31 blocks",
             (unsigned long long)p->numbers[SOURCES]);
    bool xpay = p->traits[XPAY];
    const operand *x = xpay ? &p->inputs[X] : NULL;
    out->launch_count = 1;
    out->launches[0] = (launch){
        .kernel = kernel,
        .shape = {.grid = (unsigned)blocks,
                  .shared = 1024u * (unsigned)variant_value(&i->space, &i->variant, "sh", 0)},
        .args_count = 10,
        .args = {(uintptr_t)p->inputs[LINKS].data, (uintptr_t)p->inputs[IN].data,
                 (uintptr_t)p->inputs[IN_NORMS].data, p->numbers[SPATIAL], p->numbers[SOURCES],
                 xpay ? (uintptr_t)x[0].data : 0, xpay ? (uintptr_t)x[1].data : 0,
                 (uintptr_t)p->outputs[OUT].data, (uintptr_t)p->outputs[OUT_NORMS].data,
                 p->numbers[A]}};
    if (!p->traits[GUARDED]) return CUBC_OK;
    launch *l = &out->launches[0];
    TRY(fused_place(p->expression, p->numbers + GUARD, each * p->numbers[SOURCES], l));
    const operand *z = p->traits[HAS_Z] ? &p->inputs[p->input_count - 2] : NULL;
    l->args[l->args_count++] = z ? (uintptr_t)z[0].data : 0;
    l->args[l->args_count++] = z ? (uintptr_t)z[1].data : 0;
    return CUBC_OK;
}

static const field dslash_wilson_fields[] = {
    FIELD_ARRAY(cubc_dslash_wilson_params, links, FIELD_INPUT, type, links_n),
    FIELD_ARRAY(cubc_dslash_wilson_params, in, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_dslash_wilson_params, in_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_dslash_wilson_params, x, FIELD_INPUT, type, n),
    FIELD_ARRAY(cubc_dslash_wilson_params, x_norms, FIELD_INPUT, norm_type, norms_n),
    FIELD_ARRAY(cubc_dslash_wilson_params, out, FIELD_OUTPUT, type, n),
    FIELD_ARRAY(cubc_dslash_wilson_params, out_norms, FIELD_OUTPUT, norm_type, norms_n),
    FIELD(cubc_dslash_wilson_params, lx, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, ly, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, lz, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, lt, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, reconstruct, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, parity, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, dagger, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, antiperiodic, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, temporal_gauge, FIELD_INT),
    FIELD(cubc_dslash_wilson_params, a, FIELD_REAL),
    FIELD(cubc_dslash_wilson_params, anisotropy, FIELD_REAL),
};

#define BENCHMARK(name) {"dslash.wilson." name, lattice_types, 3, lattice_volumes, 3}
static const benchmark dslash_wilson_benchmarks[] = {BENCHMARK("r18"), BENCHMARK("r12"),
                                                     BENCHMARK("r8"), BENCHMARK("r12.s4")};

const algorithm dslash_wilson_algorithm = {.name = "dslash_wilson",
                                           .source = "dslash_wilson.cu",
                                           .kernels = {"dslash_wilson"},
                                           .benchmarks = dslash_wilson_benchmarks,
                                           .benchmark_count = COUNT_OF(dslash_wilson_benchmarks),
                                           FIELDS(dslash_wilson_fields),
                                           .workload = dslash_wilson_workload,
                                           .define = dslash_wilson_define,
                                           .invalid = dslash_wilson_invalid,
                                           .plan = dslash_wilson_plan,
                                           .traffic = dslash_wilson_traffic,
                                           .random = dslash_wilson_random};
