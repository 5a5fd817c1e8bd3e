// Checks, workload, variants and launch of Wilson-like operators: see dslash.h.
#include "lattice/operators/dslash.h"

#include "base/integer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINKS, IN, IN_NORMS, X, X_NORMS, Z, Z_NORMS };
enum { OUT, OUT_NORMS };

// ---- problems -----------------------------------------------------------------------------------
cubc_status dslash_apart(const problem *p, const operand *in, const char *what)
{
    const operand *out = &p->outputs[OUT];
    uintptr_t a = (uintptr_t)in->data, b = (uintptr_t)out->data;
    if (a < b + out->n * operand_item_bytes(out) && b < a + in->n * operand_item_bytes(in))
        FAIL(CUBC_INVALID_ARGUMENT, "dslash: the output overlaps the %s it is calculated from",
             what);
    return CUBC_OK;
}

static cubc_status check_numbers(const cubc_dslash_wilson_params *params)
{
    TRY(lattice_parity(params->parity));
    if (!(params->anisotropy > 0) || isinf(params->anisotropy))
        FAIL(CUBC_INVALID_ARGUMENT, "an anisotropy of %g: it is a positive number",
             params->anisotropy);
    return CUBC_OK;
}

static cubc_status add_fields(const cubc_dslash_wilson_params *params, uint64_t *sources,
                              problem *out)
{
    const cubc_type type = params->type;
    TRY(lattice_links(out, params->links, params->links_n, type, params->reconstruct));
    TRY(lattice_sources(out, "the input of dslash", params->n, SPINOR_REALS,
                        params->parity == 2 ? 2 : 1, sources));
    TRY(lattice_norms("the input of dslash", params->norms_n, params->n, type, SPINOR_REALS));
    TRY(lattice_field_input(out, "the input of dslash", params->in, params->in_norms, params->n,
                            type, SPINOR_REALS));
    if (params->x)
        TRY(lattice_field_input(out, "x of dslash", params->x, params->x_norms, params->n, type,
                                SPINOR_REALS));
    TRY(lattice_field_output(out, "the output of dslash", params->out, params->out_norms, params->n,
                             type, SPINOR_REALS));
    TRY(dslash_apart(out, &out->inputs[LINKS], "gauge field"));
    return dslash_apart(out, &out->inputs[IN], "spinors");
}

static cubc_status add_guard(const cubc_dslash_wilson_params *params, problem *out)
{
    TRY(solver_update_texts(out, "the tail of dslash", params->tail));
    if (!params->z) return CUBC_OK;
    return lattice_field_input(out, "z of dslash", params->z, params->z_norms, params->n,
                               params->type, SPINOR_REALS);
}

static const char *operator_name(const algorithm *a)
{
    return a->name + strlen("dslash_");
}

cubc_status dslash_problem(const algorithm *a, const cubc_dslash_wilson_params *params,
                           problem *out)
{
    *out = (problem){.algorithm = a,
                     .n = params->n / SPINOR_REALS,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .aligned = true};
    dslash_numbers numbers = {.a = params->a, .spatial = 1 / params->anisotropy};
    TRY(lattice_precision("spinors", params->type));
    TRY(lattice_extents(out, LATTICE_EXTENTS(params)));
    TRY(check_numbers(params));
    TRY(add_fields(params, &numbers.sources, out));
    if (params->guard) TRY(add_guard(params, out));
    TRY(lattice_aligned(out));
    if (params->guard) numbers.guard = *params->guard;
    dslash_numbers_set(out, numbers);
    dslash_traits_set(out, (dslash_traits){.reconstruct = params->reconstruct,
                                           .parity = params->parity,
                                           .dagger = params->dagger != 0,
                                           .xpay = params->x != NULL,
                                           .anisotropic = params->anisotropy != 1,
                                           .antiperiodic = params->antiperiodic != 0,
                                           .temporal = params->temporal_gauge != 0,
                                           .guarded = params->guard != NULL,
                                           .z = params->guard && params->z,
                                           .several = numbers.sources > 1});
    snprintf(out->benchmark, sizeof out->benchmark, "dslash.%s.r%d", operator_name(a),
             params->reconstruct);
    return CUBC_OK;
}

void dslash_place(const problem *p, uint64_t *place)
{
    lattice_place(p, place);
    place[LATTICE_SOURCES_AXIS] = dslash_numbers_of(p).sources;
}

// ---- benchmarks ---------------------------------------------------------------------------------
// Integers, so that sums are exact; any links of eight reals can be reconstructed.
const char *dslash_random(const problem *p, int k)
{
    if (p->inputs[k].type == CUBC_F32 && p->type == CUBC_I16)
        return "1 + (random_u64(seed, i) >> 62)"; // norms
    if (p->type == CUBC_I16 && k == LINKS)        // 32768 stands for 0
        return "static_cast<u16>((random_u64(seed, i) >> 50) + 24576)";
    if (p->type == CUBC_I16) return "static_cast<i32>(random_u64(seed, i) >> 49) - 16384";
    if (k == IN) return "static_cast<i32>(random_u64(seed, i) >> 60) - 8";
    return k == LINKS && dslash_traits_of(p).reconstruct == 8
               ? "(random_u64(seed, i) >> 40) * 0x1p-25"
               : "static_cast<i32>(random_u64(seed, i) % 3) - 1";
}

// ---- variants -----------------------------------------------------------------------------------
void dslash_define(const problem *p, text *out)
{
    const dslash_traits t = dslash_traits_of(p);
    lattice_define(p, out);
    text_printf(out, "#define TUNE_T %s\n", type_table[p->type].dialect);
    text_printf(out, "#define TUNE_RECONSTRUCT %d\n#define TUNE_PARITY %d\n", t.reconstruct,
                t.parity);
    text_printf(out, "#define TUNE_DAGGER %d\n#define TUNE_XPAY %d\n", t.dagger, t.xpay);
    text_printf(out, "#define TUNE_ANISOTROPIC %d\n#define TUNE_ANTIPERIODIC %d\n", t.anisotropic,
                t.antiperiodic);
    text_printf(out, "#define TUNE_TEMPORAL %d\n#define TUNE_GUARDED %d\n", t.temporal, t.guarded);
    text_printf(out, "#define TUNE_Z %d\n#define TUNE_SEVERAL %d\n", t.z, t.several);
    if (t.guarded) solver_update_define(p, out);
}

const char *dslash_invalid(const problem *p, const char *kind, const space *s, const variant *v)
{
    if (!dslash_traits_of(p).several && variant_value(s, v, "spt", 1) > 1)
        return "there is one source and not several for a thread";
    if (strcmp(kind, "cpu") == 0) return NULL;
    if (variant_value(s, v, "kl", 0) && variant_value(s, v, "spt", 1) == 1)
        return "links are kept for a second source, and there is none";
    if (variant_value(s, v, "cv", 0) && p->type != CUBC_I16)
        return "only fixed-point numbers are converted";
    if (variant_value(s, v, "tpb", 1) * variant_value(s, v, "mb", 1) > 2048)
        return "more threads than a multiprocessor holds";
    return NULL;
}

// z comes after x, and each has its norms behind it.
static cubc_status place_guard(const problem *p, const cubc_guard *guard, uint64_t blocks,
                               launch *l)
{
    const dslash_traits traits = dslash_traits_of(p);
    const operand *z = traits.z ? &p->inputs[traits.xpay ? Z : X] : NULL;
    TRY(solver_update_place(p, guard, blocks, l));
    l->args[l->args_count++] = z ? (uintptr_t)z[0].data : 0;
    l->args[l->args_count++] = z ? (uintptr_t)z[1].data : 0;
    return CUBC_OK;
}

static uint64_t word_of(double factor)
{
    uint64_t word;
    memcpy(&word, &factor, sizeof word);
    return word;
}

cubc_status dslash_plan(const problem *p, const instance *i, const void *term, size_t bytes,
                        plan *out)
{
    const device_kernel *kernel = &i->kernels[0];
    const dslash_traits traits = dslash_traits_of(p);
    const dslash_numbers numbers = dslash_numbers_of(p);
    uint64_t together = (uint64_t)variant_value(&i->space, &i->variant, "spt", 1);
    uint64_t places = lattice_sites(p) * (traits.parity == 2 ? 2 : 1);
    uint64_t sources = ceil_div(numbers.sources, together);
    uint64_t each = ceil_div(places, kernel->threads), blocks = each * sources;
    if (blocks > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash of %llu sources needs more than 2^31 blocks",
             (unsigned long long)numbers.sources);
    const operand *x = traits.xpay ? &p->inputs[X] : NULL;
    launch *l = &out->launches[out->launch_count++];
    *l = (launch){.kernel = kernel,
                  .shape.grid = (unsigned)blocks,
                  .args_count = 10,
                  .args = {(uintptr_t)p->inputs[LINKS].data, (uintptr_t)p->inputs[IN].data,
                           (uintptr_t)p->inputs[IN_NORMS].data, word_of(numbers.spatial),
                           numbers.sources, x ? (uintptr_t)x[0].data : 0,
                           x ? (uintptr_t)x[1].data : 0, (uintptr_t)p->outputs[OUT].data,
                           (uintptr_t)p->outputs[OUT_NORMS].data, word_of(numbers.a)}};
    if (bytes) memcpy(l->args + l->args_count, term, bytes);
    l->args_count += bytes / sizeof l->args[0];
    if (!traits.guarded) return CUBC_OK;
    return place_guard(p, &numbers.guard, each * numbers.sources, l);
}
