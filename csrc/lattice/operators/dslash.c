// Links, workload and arguments of Wilson-like operators: see dslash.h.
#include "lattice/operators/dslash.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LINKS, IN, IN_NORMS }; // inputs
enum { HOP_WORDS = 5 };       // arguments of the hops without the phases
static const dslash_halo half_spinors = {.reals = SPINOR_REALS / 2, .depth = 1, .slices = 1};

// ---- problems -----------------------------------------------------------------------------------
static const char *operator_name(const algorithm *a)
{
    return a->name + strlen("dslash_");
}

static cubc_status check_links(int reconstruct)
{
    if (reconstruct != 13) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "links of 13 real numbers are in U(3), for staggered fermions");
}

static cubc_status check_anisotropy(double anisotropy)
{
    if (anisotropy > 0 && !isinf(anisotropy)) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "an anisotropy of %g: it is a positive number", anisotropy);
}

cubc_status dslash_problem(const algorithm *a, const cubc_dslash_wilson_params *params,
                           problem *out)
{
    const cubc_dslash_sites *sites = &params->sites;
    TRY(dslash_sites_begin(a, SPINOR_REALS, sites, out));
    TRY(check_links(params->reconstruct));
    TRY(check_anisotropy(params->anisotropy));
    dslash_numbers numbers = {
        .a = params->a,
        .spatial = 1 / params->anisotropy,
        .theta = {params->theta_x, params->theta_y, params->theta_z, params->theta_t}};
    int phases;
    TRY(dslash_phases(numbers.theta, &phases));
    TRY(lattice_links(out, params->links, params->links_n, sites->type, params->reconstruct));
    TRY(dslash_sites_fields(SPINOR_REALS, sites, half_spinors, out));
    dslash_numbers_set(out, numbers);
    dslash_traits_set(out, (dslash_traits){.reconstruct = params->reconstruct,
                                           .dagger = params->dagger != 0,
                                           .anisotropic = params->anisotropy != 1,
                                           .antiperiodic = params->antiperiodic != 0,
                                           .temporal = params->temporal_gauge != 0,
                                           .phases = phases});
    snprintf(out->benchmark, sizeof out->benchmark, "dslash.%s.r%d", operator_name(a),
             params->reconstruct);
    return CUBC_OK;
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
    if (k == LINKS + 1) return "static_cast<i32>(random_u64(seed, i) >> 60) - 8";
    return k == LINKS && dslash_traits_of(p).reconstruct == 8
               ? "(random_u64(seed, i) >> 40) * 0x1p-25"
               : "static_cast<i32>(random_u64(seed, i) % 3) - 1";
}

// ---- variants -----------------------------------------------------------------------------------
void dslash_define(const problem *p, text *out)
{
    const dslash_traits t = dslash_traits_of(p);
    dslash_sites_define(p, out);
    text_printf(out, "#define TUNE_RECONSTRUCT %d\n#define TUNE_DAGGER %d\n", t.reconstruct,
                t.dagger);
    text_printf(out, "#define TUNE_ANISOTROPIC %d\n#define TUNE_ANTIPERIODIC %d\n", t.anisotropic,
                t.antiperiodic);
    text_printf(out, "#define TUNE_TEMPORAL %d\n#define TUNE_PHASES %d\n", t.temporal, t.phases);
}

const char *dslash_invalid(const problem *p, const char *kind, const space *s, const variant *v)
{
    if (variant_value(s, v, "spt", 1) > 4 && !variant_value(s, v, "kl", 0))
        return "a thread has registers for four spinors";
    return dslash_sites_invalid(p, kind, s, v);
}

cubc_status dslash_plan_on(const problem *p, const instance *i, dslash_grid grid, const void *term,
                           size_t bytes, plan *out)
{
    const dslash_numbers numbers = dslash_numbers_of(p);
    uint64_t hops[HOP_WORDS + DSLASH_PHASE_WORDS + DSLASH_RANK_WORDS] = {
        (uintptr_t)p->inputs[LINKS].data, (uintptr_t)p->inputs[IN].data,
        (uintptr_t)p->inputs[IN_NORMS].data, dslash_word(numbers.spatial),
        dslash_site_numbers_of(p).sources};
    int count = HOP_WORDS;
    if (dslash_traits_of(p).phases) count += dslash_phase_words(numbers.theta, hops + count);
    TRY(dslash_rank_words(p, i, hops, &count));
    uint64_t words[8] = {dslash_word(numbers.a)};
    if (bytes) memcpy(words + 1, term, bytes);
    return dslash_sites_plan(p, i, grid, (dslash_words){hops, (size_t)count * sizeof *hops},
                             (dslash_words){words, sizeof *words + bytes}, out);
}

cubc_status dslash_plan(const problem *p, const instance *i, const void *term, size_t bytes,
                        plan *out)
{
    return dslash_plan_on(p, i, dslash_sites_grid(p, i), term, bytes, out);
}
