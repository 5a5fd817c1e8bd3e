// Checks and macros that the descriptors of lattice kernels share: see lattice_problem.h.
#include "lattice/operators/lattice_problem.h"

#include "base/integer.h"

#include <stdio.h>
#include <string.h>

const cubc_type lattice_types[3] = {CUBC_F64, CUBC_F32, CUBC_I16};
const cubc_type lattice_plain_types[2] = {CUBC_F64, CUBC_F32};
const int lattice_extent[1] = {32};
const int lattice_one_source[1] = {1};

cubc_status lattice_extents(problem *p, const int extents[4])
{
    uint64_t sites = 1;
    bool fits = true;
    lattice_traits traits;
    for (int d = 0; d < 4; d++) {
        if (extents[d] < 2 || extents[d] % 2 || extents[d] > UINT16_MAX)
            FAIL(CUBC_INVALID_ARGUMENT,
                 "the lattice has %d sites along %c: extents are even numbers from 2 to 65534, so "
                 "that even and odd sites alternate across the boundary",
                 extents[d], "xyzt"[d]);
        traits.extents[d] = extents[d];
        fits = fits && size_multiply(&sites, (uint64_t)extents[d]);
    }
    if (!fits || sites / 2 > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT,
             "a lattice of %d x %d x %d x %d sites: at most 2^32 - 2 are handled", extents[0],
             extents[1], extents[2], extents[3]);
    lattice_traits_set(p, traits);
    return CUBC_OK;
}

uint64_t lattice_sites(const problem *p)
{
    const lattice_traits lattice = lattice_traits_of(p);
    uint64_t sites = 1;
    for (int d = 0; d < 4; d++) sites *= (uint64_t)lattice.extents[d];
    return sites / 2;
}

uint64_t lattice_time_slices(const problem *p)
{
    return (uint64_t)lattice_traits_of(p).extents[3];
}

void lattice_axis_values(const problem *p, uint64_t *values)
{
    const lattice_traits lattice = lattice_traits_of(p);
    for (int d = 0; d < 4; d++) values[d] = (uint64_t)lattice.extents[d];
}

cubc_status lattice_sources_at(const uint64_t *at, uint64_t *sources)
{
    *sources = at[LATTICE_SOURCES_AXIS] ? at[LATTICE_SOURCES_AXIS] : 1;
    if (*sources <= UINT16_MAX) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "%llu sources: a benchmark has up to 65535",
         (unsigned long long)*sources);
}

cubc_status lattice_fields(const problem *p, const char *what, uint64_t n, int reals, int parities,
                           uint64_t *fields)
{
    uint64_t each = lattice_sites(p) * (uint64_t)reals * (uint64_t)parities;
    const lattice_traits lattice = lattice_traits_of(p);
    const int *extents = lattice.extents;
    *fields = n / each;
    if (n == 0 || n % each)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s has %llu real numbers: %d a site%s of a lattice of %dx%dx%dx%d are %llu a field",
             what, (unsigned long long)n, reals, parities == 2 ? "" : " of one parity", extents[0],
             extents[1], extents[2], extents[3], (unsigned long long)each);
    return CUBC_OK;
}

cubc_status lattice_precision(const char *what, cubc_type type)
{
    if (type == CUBC_F64 || type == CUBC_F32 || type == CUBC_I16) return CUBC_OK;
    FAIL(CUBC_INVALID_TYPE, "%s are stored as F64, F32 or, in fixed point, I16, not %s", what,
         cubc_type_name(type));
}

cubc_status lattice_reconstruct(int reals)
{
    if (reals == 18 || reals == 13 || reals == 12 || reals == 8) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT,
         "links of %d real numbers: 18, 12 or 8 are stored, and 13 of links in U(3)", reals);
}

uint64_t lattice_link_reals(const problem *p, cubc_type type, int reals)
{
    return 8 * lattice_sites(p) * (uint64_t)(reals + (type == CUBC_I16 ? reals % 2 : 0));
}

cubc_status lattice_parity(int parity)
{
    if (parity >= 0 && parity <= 2) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "parity %d: 0 is even, 1 odd, 2 both", parity);
}

cubc_status lattice_aligned(const problem *p)
{
    if (p->aligned) return CUBC_OK;
    FAIL(CUBC_INVALID_ARGUMENT, "%s: a field in native order starts on 16 bytes",
         p->algorithm->name);
}

cubc_status lattice_copy_apart(problem *p)
{
    TRY(problem_check_overlap(p, ANY_INPUT));
    if (!p->aligned || p->in_place)
        FAIL(CUBC_INVALID_ARGUMENT,
             "%s: fields start on 16 bytes, and the copy is apart from what is copied",
             p->algorithm->name);
    return CUBC_OK;
}

cubc_status lattice_links(problem *p, const void *links, uint64_t n, cubc_type type, int reals)
{
    uint64_t wanted = lattice_link_reals(p, type, reals);
    const lattice_traits lattice = lattice_traits_of(p);
    const int *extents = lattice.extents;
    TRY(lattice_precision("links", type));
    TRY(lattice_reconstruct(reals));
    if (n != wanted)
        FAIL(CUBC_INVALID_ARGUMENT,
             "the gauge field has %llu real numbers: links of %d reals on a lattice of "
             "%dx%dx%dx%d take %llu",
             (unsigned long long)n, reals, extents[0], extents[1], extents[2], extents[3],
             (unsigned long long)wanted);
    return problem_input(p, "the gauge field", links, n, type);
}

void lattice_reals(cubc_type *type, uint64_t *n)
{
    if (*type != CUBC_C128 && *type != CUBC_C64) return;
    *type = *type == CUBC_C128 ? CUBC_F64 : CUBC_F32;
    *n *= 2;
}

static cubc_status check_norms(const char *what, const float *norms, cubc_type type)
{
    if (type == CUBC_I16 && !norms)
        FAIL(CUBC_INVALID_ARGUMENT, "%s is of fixed-point numbers and has no norms", what);
    if (type != CUBC_I16 && norms)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has norms, which only fixed-point numbers (I16) have",
             what);
    return CUBC_OK;
}

cubc_status lattice_norms(const char *what, uint64_t norms_n, uint64_t n, cubc_type type, int reals)
{
    uint64_t wanted = type == CUBC_I16 ? n / (uint64_t)reals : 0;
    if (norms_n != wanted)
        FAIL(CUBC_INVALID_ARGUMENT, "%s has %llu norms for %llu reals: there are %llu, one a site",
             what, (unsigned long long)norms_n, (unsigned long long)n, (unsigned long long)wanted);
    return CUBC_OK;
}

static uint64_t norm_count(const float *norms, uint64_t n, int reals)
{
    return norms ? n / (uint64_t)reals : 0;
}

cubc_status lattice_field_input(problem *p, const char *what, const void *data, const float *norms,
                                uint64_t n, cubc_type type, int reals)
{
    TRY(lattice_precision(what, type));
    TRY(check_norms(what, norms, type));
    TRY(problem_input(p, what, data, n, type));
    return problem_input(p, what, norms, norm_count(norms, n, reals), CUBC_F32);
}

cubc_status lattice_field_output(problem *p, const char *what, void *data, float *norms, uint64_t n,
                                 cubc_type type, int reals)
{
    TRY(lattice_precision(what, type));
    TRY(check_norms(what, norms, type));
    TRY(problem_output(p, what, data, n, type));
    return problem_output(p, what, norms, norm_count(norms, n, reals), CUBC_F32);
}

void lattice_define(const problem *p, text *out)
{
    const lattice_traits lattice = lattice_traits_of(p);
    for (int d = 0; d < 4; d++)
        text_printf(out, "#define TUNE_L%c %d\n", "XYZT"[d], lattice.extents[d]);
}

// ---- benchmarks ---------------------------------------------------------------------------------
static bool is_array(const field *f, const char *params)
{
    const void *data = NULL;
    if (f->kind == FIELD_INPUT || f->kind == FIELD_OUTPUT || f->kind == FIELD_CHANGED)
        memcpy(&data, params + f->at, sizeof data);
    return data;
}

// True if an output has as many items.
static bool counts_output(const algorithm *a, const field *f)
{
    for (int k = 0; k < a->field_count; k++)
        if (a->fields[k].kind != FIELD_INPUT && a->fields[k].count_at == f->count_at) return true;
    return false;
}

static void set_extent(const field *f, const uint64_t *at, char *params)
{
    static const char *const names[] = {"lx", "ly", "lz", "lt"};
    for (int d = 0; d < 4; d++)
        if (strcmp(f->name, names[d]) == 0)
            *(int *)(params + f->at) = (int)smaller(at[d], INT32_MAX);
}

cubc_status lattice_call(const algorithm *a, const void *row, cubc_type type, const uint64_t *at,
                         void *params)
{
    const char *from = row;
    char *to = params;
    uint64_t sites = at[0] * at[1] * at[2] * at[3] / 2, sources;
    TRY(lattice_sources_at(at, &sources));
    for (int k = 0; k < a->field_count; k++) {
        const field *f = &a->fields[k];
        if (f->kind == FIELD_INT) set_extent(f, at, to);
        if (!is_array(f, from)) continue;
        uint64_t all = sites * (counts_output(a, f) ? sources : 1),
                 *n = (uint64_t *)(to + f->count_at);
        cubc_type named = *(const cubc_type *)(from + f->type_at);
        bool norms = named == CUBC_F32, none = norms && type != CUBC_I16;
        if (!named) *(cubc_type *)(to + f->type_at) = type;
        if (!named || norms) *n = none ? 0 : all * *(const uint64_t *)(from + f->count_at);
        if (none) memset(to + f->at, 0, sizeof(void *));
    }
    return CUBC_OK;
}
