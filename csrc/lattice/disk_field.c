// A field's numbers between file and memory, chunk by chunk: see disk_field.h.
#include "disk_field.h"

#include "../chunks.h"
#include "links.h"
#include "words.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20 }; // of the file; it stays in a core's cache until it is converted

// ---- sizes --------------------------------------------------------------------------------------
int disk_field_site_reals(const disk_field *f)
{
    return f->info.kind == CUBC_FIELD_GAUGE ? SITE_LINKS * LINK_REALS : 2 * 16 * 9;
}

static int file_reals(const disk_field *f)
{
    return disk_field_site_reals(f) / 3 * f->info.rows;
}

size_t disk_field_site_bytes(const disk_field *f)
{
    return (size_t)file_reals(f) * (size_t)(f->info.precision / 8);
}

cubc_status disk_field_set_extent(disk_field *f, const uint64_t extent[4])
{
    uint64_t most = f->info.data_bytes / disk_field_site_bytes(f), sites = 1;
    bool fits = true;
    for (int k = 0; k < 4 && fits; k++) {
        fits = extent[k] > 0 && extent[k] <= INT32_MAX && sites <= most / extent[k];
        sites *= fits ? extent[k] : 0;
    }
    if (!fits || sites * disk_field_site_bytes(f) != f->info.data_bytes)
        FAIL(CUBC_IO_ERROR,
             "%s: %" PRIu64 " bytes, but a lattice of %" PRIu64 " x %" PRIu64 " x %" PRIu64
             " x %" PRIu64 " sites of %zu bytes has %s",
             f->what, f->info.data_bytes, extent[0], extent[1], extent[2], extent[3],
             disk_field_site_bytes(f), fits ? "fewer" : "more");
    f->info.sites = sites;
    for (int k = 0; k < 4; k++) f->info.extent[k] = (int)extent[k];
    return CUBC_OK;
}

// ---- both ways ----------------------------------------------------------------------------------
typedef struct transfer {
    const disk_field *f;
    const infile *in;
    double *to;
    const outfile *out; // or
    const double *from;
    int flags;
    pthread_mutex_t lock; // of the sums
    uint32_t sums[2];
} transfer;

static void add_sums(transfer *t, const void *bytes, uint64_t first, uint64_t count)
{
    uint32_t sums[2];
    const disk_field *f = t->f;
    sums_of(f->sums, bytes, disk_field_site_bytes(f), first, count, f->info.big_endian, sums);
    pthread_mutex_lock(&t->lock);
    sums_merge(f->sums, t->sums, sums);
    pthread_mutex_unlock(&t->lock);
}

static cubc_status run(transfer *t, chunks_step step)
{
    size_t site = disk_field_site_bytes(t->f);
    uint64_t most = CHUNK_BYTES / site, sites = t->f->info.sites;
    size_t room = (size_t)(sites < most ? sites : most) * site;
    pthread_mutex_init(&t->lock, NULL);
    cubc_status st = chunks_run(sites, most, room, step, t);
    pthread_mutex_destroy(&t->lock);
    return st;
}

// "link 3 of site (t, z, y, x) = (0, 1, 2, 3)"; of a propagator without the link.
static void name_place(const disk_field *f, uint64_t site, int link, char *out, size_t size)
{
    uint64_t at[4], rest = site;
    char which[32] = "";
    for (int k = 0; k < 4; k++) {
        at[k] = rest % (uint64_t)f->info.extent[k];
        rest /= (uint64_t)f->info.extent[k];
    }
    if (f->info.kind == CUBC_FIELD_GAUGE) snprintf(which, sizeof which, "link %d of ", link);
    snprintf(out, size,
             "%ssite (t, z, y, x) = (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", which,
             at[3], at[2], at[1], at[0]);
}

// ---- reading ------------------------------------------------------------------------------------
static bool unpack64(const unsigned char *from, bool big_endian, double *to, size_t count)
{
    const uint64_t exponent = (uint64_t)0x7ff << 52;
    uint64_t infinite = 0;
    for (size_t k = 0; k < count; k++) {
        uint64_t word = words_load64(from + 8 * k, big_endian);
        infinite |= (word & exponent) == exponent;
        memcpy(to + k, &word, sizeof word);
    }
    return !infinite;
}

static bool unpack32(const unsigned char *from, bool big_endian, double *to, size_t count)
{
    const uint32_t exponent = (uint32_t)0xff << 23;
    uint32_t infinite = 0;
    for (size_t k = 0; k < count; k++) {
        float value;
        uint32_t word = words_load32(from + 4 * k, big_endian);
        infinite |= (word & exponent) == exponent;
        memcpy(&value, &word, sizeof word);
        to[k] = (double)value;
    }
    return !infinite;
}

static cubc_status not_finite(const disk_field *f, const double *reals, uint64_t first)
{
    char place[128];
    size_t at = 0, real_bytes = (size_t)f->info.precision / 8, site = (size_t)file_reals(f);
    while (isfinite(reals[at])) at++;
    name_place(f, first + at / site, (int)(at % site / (site / SITE_LINKS)), place, sizeof place);
    FAIL(CUBC_IO_ERROR, "%s: %s at byte %" PRIu64 ", in %s", f->what,
         isnan(reals[at]) ? "nan" : "an infinity",
         f->info.data_offset + first * disk_field_site_bytes(f) + at * real_bytes, place);
}

// Links of two rows lie behind one another at the end of the room for whole ones. Each is moved to
// its place before what it is moved over, which is never a link that has not been moved.
static void complete(double *to, const double *rows, size_t count)
{
    for (size_t k = 0; k < count; k++, to += LINK_REALS, rows += LINK_ROWS_REALS) {
        memmove(to, rows, LINK_ROWS_REALS * sizeof *to);
        links_complete(to);
    }
}

static cubc_status load_chunk(void *context, uint64_t first, uint64_t count, void *room)
{
    transfer *t = context;
    const disk_field *f = t->f;
    size_t site = disk_field_site_bytes(f),
           reals = (size_t)count * (size_t)disk_field_site_reals(f);
    size_t packed = (size_t)count * (size_t)file_reals(f);
    double *to = t->to + first * (uint64_t)disk_field_site_reals(f), *at = to + (reals - packed);
    bool verify = !(t->flags & CUBC_FIELD_UNVERIFIED), big = f->info.big_endian;
    TRY(infile_at(t->in, f->info.data_offset + first * site, room, (size_t)count * site, f->what));
    if (verify && f->info.has_checksum) add_sums(t, room, first, count);
    bool finite =
        f->info.precision == 64 ? unpack64(room, big, at, packed) : unpack32(room, big, at, packed);
    if (verify && !finite) return not_finite(f, at, first);
    if (f->info.rows == 2) complete(to, at, (size_t)count * SITE_LINKS);
    return CUBC_OK;
}

static cubc_status check_sums(const disk_field *f, const uint32_t sums[2])
{
    const uint32_t *stated = f->info.checksum;
    if (f->sums == SUMS_NERSC && sums[0] != stated[0])
        FAIL(CUBC_IO_ERROR,
             "%s: its checksum is %08" PRIx32 ", the header says %08" PRIx32
             ": the file is corrupt",
             f->what, sums[0], stated[0]);
    if (f->sums != SUMS_NERSC && (sums[0] != stated[0] || sums[1] != stated[1]))
        FAIL(CUBC_IO_ERROR,
             "%s: its checksums are %08" PRIx32 " and %08" PRIx32 ", the file says %08" PRIx32
             " and %08" PRIx32 ": it is corrupt",
             f->what, sums[0], sums[1], stated[0], stated[1]);
    return CUBC_OK;
}

static cubc_status project_chunk(void *context, uint64_t first, uint64_t count, void *room)
{
    const transfer *t = context;
    double *link = t->to + first * SITE_LINKS * LINK_REALS;
    char place[128];
    (void)room;
    for (uint64_t k = 0; k < count * SITE_LINKS; k++, link += LINK_REALS) {
        double distance = links_project(link);
        if (!(distance <= LINK_NEAR)) {
            name_place(t->f, first + k / SITE_LINKS, (int)(k % SITE_LINKS), place, sizeof place);
            FAIL(CUBC_IO_ERROR,
                 "%s: %s is %.2g away from SU(3), more than single precision explains; if these "
                 "are links of another kind, such as smeared ones, read them without projection",
                 t->f->what, place, distance);
        }
    }
    return CUBC_OK;
}

static cubc_status check_close(const disk_field *f, const char *name, double measured,
                               double stated)
{
    const double enough = 1e-5; // of the digits that programs print of single precision
    if (!isnan(stated) && !(fabs(measured - stated) <= enough))
        FAIL(CUBC_IO_ERROR, "%s: the %s is %.10f, the header says %.10f", f->what, name, measured,
             stated);
    return CUBC_OK;
}

static cubc_status check_measured(const disk_field *f, const double *links)
{
    double plaquette, trace;
    if (isnan(f->info.plaquette) && isnan(f->info.link_trace)) return CUBC_OK;
    TRY(links_measure(links, f->info.extent, &plaquette, &trace));
    TRY(check_close(f, "plaquette", plaquette, f->info.plaquette));
    return check_close(f, "link trace", trace, f->info.link_trace);
}

cubc_status disk_field_load(const infile *file, const disk_field *f, int flags, double *out)
{
    transfer t = {.in = file, .f = f, .to = out, .flags = flags};
    bool verify = !(flags & CUBC_FIELD_UNVERIFIED), links = f->info.kind == CUBC_FIELD_GAUGE;
    TRY(run(&t, load_chunk));
    if (verify && f->info.has_checksum) TRY(check_sums(f, t.sums));
    if (links && f->info.precision == 32 && (flags & CUBC_FIELD_PROJECTED))
        TRY(run(&t, project_chunk));
    return verify ? check_measured(f, out) : CUBC_OK;
}

// ---- writing ------------------------------------------------------------------------------------
static bool pack64(const double *from, bool big_endian, unsigned char *to, size_t count)
{
    const uint64_t exponent = (uint64_t)0x7ff << 52;
    uint64_t infinite = 0, word;
    for (size_t k = 0; k < count; k++) {
        memcpy(&word, from + k, sizeof word);
        infinite |= (word & exponent) == exponent;
        words_store64(to + 8 * k, word, big_endian);
    }
    return !infinite;
}

static bool pack32(const double *from, bool big_endian, unsigned char *to, size_t count)
{
    bool fits = true;
    for (size_t k = 0; k < count; k++) {
        uint32_t word;
        fits = fits && fabs(from[k]) <= FLT_MAX; // NaN does not
        float value = fits ? (float)from[k] : 0;
        memcpy(&word, &value, sizeof word);
        words_store32(to + 4 * k, word, big_endian);
    }
    return fits;
}

static bool pack(const disk_field *f, const double *from, unsigned char *to, size_t count)
{
    return f->info.precision == 64 ? pack64(from, f->info.big_endian, to, count)
                                   : pack32(from, f->info.big_endian, to, count);
}

static cubc_status unfit(const disk_field *f, const double *from, uint64_t first)
{
    char place[128];
    size_t at = 0, site = (size_t)disk_field_site_reals(f);
    double most = f->info.precision == 64 ? DBL_MAX : (double)FLT_MAX;
    while (fabs(from[at]) <= most) at++;
    name_place(f, first + at / site, (int)(at % site / (site / SITE_LINKS)), place, sizeof place);
    FAIL(CUBC_INVALID_ARGUMENT, "%s is %g, which %s", place, from[at],
         isfinite(from[at]) ? "single precision cannot hold" : "no field may hold");
}

// Two rows of each link, after a check that the third follows from them.
static cubc_status pack_rows(const disk_field *f, const double *from, uint64_t first, size_t links,
                             unsigned char *to)
{
    char place[128];
    size_t bytes = LINK_ROWS_REALS * (size_t)(f->info.precision / 8);
    for (size_t k = 0; k < links; k++, from += LINK_REALS, to += bytes) {
        double distance = links_distance(from);
        if (!(distance <= LINK_NEAR)) {
            name_place(f, first + k / SITE_LINKS, (int)(k % SITE_LINKS), place, sizeof place);
            FAIL(CUBC_INVALID_ARGUMENT,
                 "%s is %.2g away from SU(3), so two rows do not hold it; write three", place,
                 distance);
        }
        pack(f, from, to, LINK_ROWS_REALS);
    }
    return CUBC_OK;
}

static cubc_status store_chunk(void *context, uint64_t first, uint64_t count, void *room)
{
    transfer *t = context;
    const disk_field *f = t->f;
    size_t site = disk_field_site_bytes(f), reals = (size_t)disk_field_site_reals(f);
    const double *from = t->from + first * reals;
    if (f->info.rows == 2)
        TRY(pack_rows(f, from, first, (size_t)count * SITE_LINKS, room));
    else if (!pack(f, from, room, (size_t)count * reals))
        return unfit(f, from, first);
    add_sums(t, room, first, count);
    return outfile_at(t->out, f->info.data_offset + first * site, room, (size_t)count * site);
}

cubc_status disk_field_store(const outfile *file, disk_field *f, const double *from)
{
    transfer t = {.out = file, .f = f, .from = from};
    TRY(run(&t, store_chunk));
    memcpy(f->info.checksum, t.sums, sizeof t.sums);
    f->info.has_checksum = 1;
    return CUBC_OK;
}
