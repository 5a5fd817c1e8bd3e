// Fields, variants and launch of the kernels of all operators: see dslash_sites.h.
#include "lattice/operators/dslash_sites.h"

#include "base/integer.h"
#include "lattice/grid/halo.h"
#include "lattice/grid/ranks.h"

#include <math.h>
#include <string.h>

enum { MAIN, RECEIVE_SUMS };                   // kernels
enum { IN, IN_NORMS, X, X_NORMS, Z, Z_NORMS }; // inputs after the links
enum { OUT, OUT_NORMS };

// ---- problems -----------------------------------------------------------------------------------
cubc_status dslash_apart(const problem *p, const operand *in, const char *what)
{
    for (int o = OUT; o <= OUT_NORMS; o++)
        if (problem_overlap(in, &p->outputs[o]))
            FAIL(CUBC_INVALID_ARGUMENT, "dslash: the output overlaps the %s it is calculated from",
                 what);
    return CUBC_OK;
}

// Fails unless the output and a field of its own sites, with its norms, are one place or apart.
static cubc_status check_own_sites(const problem *p, const operand *field, const char *what)
{
    for (int f = OUT; f <= OUT_NORMS; f++)
        for (int o = OUT; o <= OUT_NORMS; o++) {
            const operand *in = &field[f], *out = &p->outputs[o];
            const bool same = f == o && in->data == out->data;
            if (!same && problem_overlap(in, out))
                FAIL(CUBC_INVALID_ARGUMENT,
                     "dslash: the output overlaps a part of %s: it is that very field, or lies "
                     "apart",
                     what);
        }
    return CUBC_OK;
}

static int inner_of(const cubc_dslash_sites *p)
{
    return p->inner ? p->inner : 1;
}

cubc_status dslash_sites_begin(const algorithm *a, int reals, const cubc_dslash_sites *sites,
                               problem *out)
{
    *out = (problem){.algorithm = a,
                     .n = sites->n / (uint64_t)reals,
                     .type = (uint8_t)sites->type,
                     .acc_type = (uint8_t)sites->type,
                     .aligned = true};
    TRY(lattice_precision("spinors", sites->type));
    TRY(lattice_extents(out, LATTICE_EXTENTS(sites)));
    TRY(lattice_parity(sites->parity));
    if (sites->open < 0 || sites->open > 15)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash: open is %d: it has a bit for each direction",
             sites->open);
    if (sites->open && sites->ranks)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash: an open lattice has no faces of other ranks");
    if (inner_of(sites) >= 1) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "dslash of %d sources a state: at least one is expected",
         sites->inner);
}

static cubc_status add_fields(int reals, const cubc_dslash_sites *p, uint64_t *sources,
                              problem *out)
{
    TRY(lattice_fields(out, "the input of dslash", p->n, reals, p->parity == 2 ? 2 : 1, sources));
    if (*sources % (uint64_t)inner_of(p))
        FAIL(CUBC_INVALID_ARGUMENT, "dslash of %llu sources: %d belong together",
             (unsigned long long)*sources, inner_of(p));
    TRY(lattice_norms("the input of dslash", p->norms_n, p->n, p->type, reals));
    TRY(lattice_field_input(out, "the input of dslash", p->in, p->in_norms, p->n, p->type, reals));
    if (p->x) TRY(lattice_field_input(out, "x of dslash", p->x, p->x_norms, p->n, p->type, reals));
    return lattice_field_output(out, "the output of dslash", p->out, p->out_norms, p->n, p->type,
                                reals);
}

static cubc_status add_guard(int reals, const cubc_dslash_sites *p, uint64_t sources, problem *out)
{
    if (p->guard->ranks && p->guard->ranks != p->ranks)
        FAIL(CUBC_INVALID_ARGUMENT,
             "dslash: the guard has other ranks than the fields: it has theirs, or none");
    TRY(solver_update_set(out, "the tail of dslash", p->tail, p->guard,
                          sources / (uint64_t)inner_of(p)));
    if (!p->z) return CUBC_OK;
    TRY(lattice_field_input(out, "z of dslash", p->z, p->z_norms, p->n, p->type, reals));
    return check_own_sites(out, &out->inputs[out->input_count - 2], "z");
}

// Slices of all fields of the faces, in reals as they are calculated, and their norms.
static rank_faces faces_of(const problem *p, const int extents[4], uint64_t fields, size_t reals)
{
    rank_faces faces = {.bytes = reals * (p->type == CUBC_F64 ? 8 : 4),
                        .norm_bytes = p->type == CUBC_I16 ? sizeof(float) : 0};
    for (int d = 1; d < 4; d++) faces.sites[d] = halo_slice_sites(extents, d) * fields;
    return faces;
}

static uint64_t parities_of(int parity)
{
    return parity == 2 ? 2 : 1;
}

static uint64_t fields_of(uint64_t sources, int parity, uint64_t slices)
{
    return sources * parities_of(parity) * slices;
}

static cubc_status add_ranks(const problem *p, const cubc_dslash_sites *sites, dslash_halo halo,
                             uint64_t sources)
{
    if (!sites->ranks) return CUBC_OK;
    const int *extents = LATTICE_EXTENTS(sites), cut = ranks_cut(sites->ranks);
    const uint64_t fields = fields_of(sources, sites->parity, (uint64_t)halo.slices);
    const rank_faces faces = faces_of(p, extents, fields, (size_t)halo.reals);
    uint64_t most = 0;
    for (int d = 0; d < 4; d++) {
        if (!(cut >> d & 1)) continue;
        if (extents[d] < halo.depth)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "a rank has %d sites along %c, and hops over %d: cut another direction, or into "
                 "fewer parts",
                 extents[d], "xyzt"[d], halo.depth);
        most = larger(most, faces.sites[d]);
    }
    return ranks_reserve_faces(sites->ranks, most * (faces.bytes + faces.norm_bytes));
}

bool dslash_has_kernel(const problem *p, int k)
{
    return k != RECEIVE_SUMS || solver_update_traits_of(p).over_ranks;
}

cubc_status dslash_sites_fields(int reals, const cubc_dslash_sites *sites, dslash_halo halo,
                                problem *out)
{
    dslash_site_numbers numbers = {.face_reals = (uint32_t)halo.reals,
                                   .face_slices = (uint32_t)halo.slices};
    const cubc_ranks *ranks = sites->ranks;
    const int links = out->input_count, cut = ranks ? ranks_cut(ranks) : 0;
    TRY(add_fields(reals, sites, &numbers.sources, out));
    for (int k = 0; k < links; k++) TRY(dslash_apart(out, &out->inputs[k], "gauge field"));
    TRY(dslash_apart(out, &out->inputs[links + IN], "spinors"));
    TRY(dslash_apart(out, &out->inputs[links + IN_NORMS], "spinors"));
    if (sites->x) TRY(check_own_sites(out, &out->inputs[links + X], "x"));
    if (sites->guard) TRY(add_guard(reals, sites, numbers.sources, out));
    TRY(lattice_aligned(out));
    TRY(add_ranks(out, sites, halo, numbers.sources));
    if (sites->guard) numbers.guard = *sites->guard;
    numbers.guard.ranks = sites->ranks;
    dslash_site_numbers_set(out, numbers);
    dslash_site_traits_set(out, (dslash_site_traits){.links = links,
                                                     .parity = sites->parity,
                                                     .xpay = sites->x != NULL,
                                                     .guarded = sites->guard != NULL,
                                                     .z = sites->guard && sites->z,
                                                     .several = numbers.sources > 1,
                                                     .inner = inner_of(sites),
                                                     .cut = cut,
                                                     .staged = cut && ranks_are_staged(ranks),
                                                     .depth = halo.depth,
                                                     .open = sites->open});
    return CUBC_OK;
}

cubc_status dslash_phases(const double theta[4], int *phases)
{
    *phases = 0;
    for (int d = 0; d < 4; d++) {
        if (!isfinite(theta[d]))
            FAIL(CUBC_INVALID_ARGUMENT, "the phase at the boundary of %c is %g: it is finite",
                 "xyzt"[d], theta[d]);
        if (theta[d] != 0) *phases |= 1 << d;
    }
    return CUBC_OK;
}

void dslash_axis_values(const problem *p, uint64_t *values)
{
    lattice_axis_values(p, values);
    values[LATTICE_SOURCES_AXIS] = dslash_site_numbers_of(p).sources;
}

// ---- variants -----------------------------------------------------------------------------------
void dslash_sites_define(const problem *p, text *out)
{
    const dslash_site_traits t = dslash_site_traits_of(p);
    lattice_define(p, out);
    text_printf(out, "#define TUNE_T %s\n#define TUNE_PARITY %d\n", type_table[p->type].dialect,
                t.parity);
    text_printf(out, "#define TUNE_XPAY %d\n#define TUNE_GUARDED %d\n", t.xpay, t.guarded);
    text_printf(out, "#define TUNE_Z %d\n#define TUNE_INNER %d\n#define TUNE_CUT %d\n", t.z,
                t.inner, t.cut);
    text_printf(out, "#define TUNE_OPEN %d\n#define TUNE_STAGED %d\n", t.open, t.staged);
    if (t.guarded) solver_update_define(p, out);
}

const char *dslash_sites_invalid(const problem *p, const char *kind, const space *s,
                                 const variant *v)
{
    if (!dslash_site_traits_of(p).several && variant_value(s, v, "spt", 1) > 1)
        return "there is one source and not several for a thread";
    if (!dslash_site_traits_of(p).several && variant_value(s, v, "sf", 0))
        return "there is one source and none that comes first";
    if (!dslash_site_traits_of(p).several && variant_value(s, v, "kl", 0))
        return "links are kept for a second source, and there is none";
    if (device_is_cpu(kind)) return NULL;
    const int groups = variant_value(s, v, "sg", 1);
    if (groups > 1 && !variant_value(s, v, "kl", 0))
        return "groups of sources share links in shared memory, and there are none";
    if (variant_value(s, v, "tpb", 1) % (32 * groups)) return "a warp is of one group of sources";
    if (variant_value(s, v, "cv", 0) && p->type != CUBC_I16)
        return "only fixed-point numbers are converted";
    if (variant_value(s, v, "tpb", 1) * variant_value(s, v, "mb", 1) > 2048)
        return "more threads than a multiprocessor holds";
    return NULL;
}

// ---- launches -----------------------------------------------------------------------------------
double dslash_flops(const problem *p, int reals, int site)
{
    double sites = (double)dslash_output_sites(p) * (double)dslash_site_numbers_of(p).sources;
    return sites * (site + (dslash_site_traits_of(p).xpay ? 2 * reals : 0));
}

uint64_t dslash_word(double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    return word;
}

int dslash_phase_words(const double theta[4], uint64_t words[DSLASH_PHASE_WORDS])
{
    for (int d = 0; d < 4; d++) {
        words[2 * d] = dslash_word(cos(theta[d]));
        words[2 * d + 1] = dslash_word(sin(theta[d]));
    }
    return DSLASH_PHASE_WORDS;
}

// The sites of a launch, and the faces on the boundary of the whole lattice: a word of its
// arguments, as in kernels/lattice/dslash_sites.h.
enum { ALL_SITES, SITES_OFF_FACES, SITES_ON_FACES, NO_SITES };
typedef struct launch_part {
    uint32_t edges, sites;
} launch_part;

static void set_part(uint64_t *word, launch_part part)
{
    _Static_assert(sizeof part == sizeof *word, "a part is a word");
    memcpy(word, &part, sizeof part);
}

cubc_status dslash_rank_words(const problem *p, const instance *i, uint64_t *words, int *count)
{
    const cubc_ranks *ranks = dslash_site_numbers_of(p).guard.ranks;
    if (!dslash_site_traits_of(p).cut) return CUBC_OK;
    TRY(ranks_check_device(ranks, i->device));
    words[(*count)++] = (uintptr_t)ranks_table(ranks);
    set_part(&words[(*count)++], (launch_part){.edges = ranks_edges(ranks), .sites = ALL_SITES});
    return CUBC_OK;
}

static void add_words(launch *l, dslash_words words)
{
    const uint64_t *word = words.data;
    for (size_t k = 0; k < words.bytes / sizeof *word; k++) launch_add(l, word[k]);
}

static void add_field(launch *l, const operand *field) // NULL: there is none
{
    launch_add(l, field ? (uintptr_t)field[0].data : 0);
    launch_add(l, field ? (uintptr_t)field[1].data : 0);
}

uint64_t dslash_output_sites(const problem *p)
{
    return lattice_sites(p) * parities_of(dslash_site_traits_of(p).parity);
}

dslash_grid dslash_sites_grid(const problem *p, const instance *i)
{
    const uint64_t groups = instance_value(i, "sg", 1),
                   together = instance_value(i, "spt", 1) * groups,
                   tile = i->kernels[0].threads / groups;
    uint64_t each = ceil_div(dslash_output_sites(p), tile);
    const uint64_t sources = dslash_site_numbers_of(p).sources,
                   inner = (uint64_t)dslash_site_traits_of(p).inner,
                   most = ceil_div(inner - 1, together) + 1; // STATE_BLOCKS of the kernel
    return (dslash_grid){.blocks = each * ceil_div(sources, together),
                         .parts = each * most * (sources / inner),
                         .tile = tile};
}

static halo_shape halo_of(const problem *p)
{
    const dslash_site_traits traits = dslash_site_traits_of(p);
    halo_shape shape = {.cut = traits.cut, .depth = traits.depth};
    memcpy(shape.extents, lattice_traits_of(p).extents, sizeof shape.extents);
    return shape;
}

// Blocks that send the faces.
static uint64_t sending_blocks(const problem *p, const instance *i)
{
    const uint64_t together = instance_value(i, "spt", 1),
                   sites =
                       halo_face_sites(halo_of(p)) * parities_of(dslash_site_traits_of(p).parity);
    return ceil_div(sites, i->kernels[MAIN].threads) *
           ceil_div(dslash_site_numbers_of(p).sources, together);
}

// Faces that are staged have a launch that sends them, and are moved before the last one. Sites off
// the faces get a launch of their own in front of that, which runs while messages are under way;
// `part` is the argument that says so.
static void move_faces(const problem *p, dslash_grid grid, uint64_t sending, size_t part, plan *out)
{
    const dslash_site_numbers numbers = dslash_site_numbers_of(p);
    const int parity = dslash_site_traits_of(p).parity;
    const rank_faces faces =
        faces_of(p, lattice_traits_of(p).extents,
                 fields_of(numbers.sources, parity, numbers.face_slices), numbers.face_reals);
    const uint64_t tiles = ceil_div(dslash_output_sites(p), grid.tile),
                   interior = halo_interior_sites(halo_of(p)) * parities_of(parity) / grid.tile;
    const uint32_t edges = ranks_edges(numbers.guard.ranks);
    launch *l = &out->launches[out->launch_count++];
    *l = l[-1];
    l[-1].shape.grid = (unsigned)sending;
    set_part(&l[-1].args[part], (launch_part){.edges = edges, .sites = NO_SITES});
    l->before = ranks_faces_move_step(numbers.guard.ranks, &faces);
    if (interior == 0) return;
    l[1] = l[0];
    out->launch_count++;
    l[0].before = ranks_faces_begin_step(numbers.guard.ranks, &faces);
    l[0].shape.grid = (unsigned)(interior * (grid.blocks / tiles));
    set_part(&l[0].args[part], (launch_part){.edges = edges, .sites = SITES_OFF_FACES});
    l[1].before = ranks_faces_end_step(numbers.guard.ranks);
    l[1].shape.grid = (unsigned)((tiles - interior) * (grid.blocks / tiles));
    set_part(&l[1].args[part], (launch_part){.edges = edges, .sites = SITES_ON_FACES});
}

cubc_status dslash_sites_plan(const problem *p, const instance *i, dslash_grid grid,
                              dslash_words hops, dslash_words term, plan *out)
{
    const dslash_site_traits traits = dslash_site_traits_of(p);
    const dslash_site_numbers numbers = dslash_site_numbers_of(p);
    const operand *fields = &p->inputs[traits.links];
    const uint64_t sending = traits.cut ? sending_blocks(p, i) : 0;
    if (grid.blocks + sending > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "dslash of %llu sources needs more than 2^31 blocks",
             (unsigned long long)numbers.sources);
    launch *l = &out->launches[out->launch_count++];
    *l = (launch){.kernel = &i->kernels[MAIN], .shape.grid = (unsigned)grid.blocks};
    add_words(l, hops);
    add_field(l, traits.xpay ? &fields[X] : NULL);
    add_field(l, p->outputs);
    add_words(l, term);
    if (traits.guarded) {
        const uint64_t states = numbers.sources / (uint64_t)traits.inner;
        TRY(solver_update_place(p, &numbers.guard, grid.parts, states, l));
        add_field(l, traits.z ? &fields[traits.xpay ? Z : X] : NULL);
    }
    if (traits.staged)
        move_faces(p, grid, sending, hops.bytes / sizeof l->args[0] - 1, out);
    else
        l->shape.grid += (unsigned)sending;
    solver_update_receive(p, &numbers.guard, &i->kernels[RECEIVE_SUMS], out);
    return CUBC_OK;
}
