// A field's numbers between file and memory, share by share: see disk_field.h.
#include "lattice/io/disk_field.h"

#include "base/shares.h"
#include "base/words.h"
#include "lattice/io/links.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHARE_BYTES = 1 << 20 }; // of the file; it stays in a core's cache until it is converted

// ---- both ways ----------------------------------------------------------------------------------
typedef struct transfer {
    const disk_field *f;
    const infile *in;
    double *to;
    const outfile *out; // or
    const double *from;
    int flags;
    pthread_mutex_t lock; // of the checksums
    uint32_t checksums[2];
} transfer;

// Sites of the file that are read or written: all, those of the part, or, where numbers are
// scattered, the time slices that have numbers of the part.
static uint64_t sites_of(const disk_field *f)
{
    if (!f->part) return f->info.sites;
    if (!f->scattered) return field_part_sites(f->part);
    const uint64_t slices = (uint64_t)f->part->extent[3], all = (uint64_t)f->info.extent[3];
    return f->info.sites / all * (slices < all ? slices + 1 : all);
}

// The number in the file of one of these; *run gets how many follow it there.
static uint64_t place_of(const disk_field *f, uint64_t site, uint64_t *run)
{
    *run = sites_of(f) - site;
    if (!f->part) return site;
    if (!f->scattered) return field_part_place(f->part, f->info.extent, site, run);
    const uint64_t slice = f->info.sites / (uint64_t)f->info.extent[3],
                   t = (uint64_t)f->part->first[3] + site / slice;
    *run = slice - site % slice;
    return t % (uint64_t)f->info.extent[3] * slice + site % slice;
}

// A run of sites: `mine` of this rank's, from `first` of the file on.
typedef cubc_status (*run_step)(transfer *t, uint64_t mine, uint64_t first, uint64_t count,
                                void *room);

static cubc_status each_run(transfer *t, uint64_t mine, uint64_t count, void *room, run_step step)
{
    for (uint64_t run; count > 0; mine += run, count -= run) {
        const uint64_t first = place_of(t->f, mine, &run);
        if (run > count) run = count;
        TRY(step(t, mine, first, run, room));
    }
    return CUBC_OK;
}

static void add_checksums(transfer *t, const void *bytes, uint64_t first, uint64_t count)
{
    uint32_t checksums[2];
    const disk_field *f = t->f;
    checksums_of(f->checksums, bytes, disk_field_site_bytes(f), first, count, f->info.big_endian,
                 checksums);
    pthread_mutex_lock(&t->lock);
    checksums_merge(f->checksums, t->checksums, checksums);
    pthread_mutex_unlock(&t->lock);
}

// Room for the bytes of a share, and behind them for its numbers if they have another order than in
// memory. The bytes are a whole number of doubles then.
static size_t room_of_site(const disk_field *f)
{
    size_t numbers = f->place || f->take ? (size_t)disk_field_site_reals(f) * sizeof(double) : 0;
    return disk_field_site_bytes(f) + numbers;
}

static cubc_status run(transfer *t, shares_step step)
{
    uint64_t most = SHARE_BYTES / disk_field_site_bytes(t->f), sites = sites_of(t->f);
    size_t room = (size_t)(sites < most ? sites : most) * room_of_site(t->f);
    pthread_mutex_init(&t->lock, NULL);
    cubc_status st = shares_run(sites, most, room, step, t);
    pthread_mutex_destroy(&t->lock);
    return st;
}

// Merges the checksums of all ranks, whose transfers went as theirs did.
static cubc_status add_ranks(transfer *t, cubc_status mine)
{
    field_part *part = t->f->part;
    if (!part) return mine;
    char *all = mem_alloc((size_t)part->comm->size, FIELD_PART_TOLD);
    if (!all && !mine) mine = CUBC_NO_MEMORY;
    cubc_status st = field_part_step(part, mine, t->checksums, sizeof t->checksums, all);
    memset(t->checksums, 0, sizeof t->checksums);
    for (int rank = 0; !st && rank < part->comm->size; rank++) {
        uint32_t more[2];
        memcpy(more, all + (size_t)rank * FIELD_PART_TOLD, sizeof more);
        checksums_merge(t->f->checksums, t->checksums, more);
    }
    mem_free(all);
    return st;
}

// "link 3 of site (t, z, y, x) = (0, 1, 2, 3)"; without the link if that is negative.
static void name_place(const disk_field *f, uint64_t site, int link, char *out, size_t size)
{
    uint64_t at[4], rest = site;
    char which[32] = "";
    for (int k = 0; k < 4; k++) {
        at[k] = rest % (uint64_t)f->info.extent[k];
        rest /= (uint64_t)f->info.extent[k];
    }
    if (link >= 0) snprintf(which, sizeof which, "link %d of ", link);
    snprintf(out, size,
             "%ssite (t, z, y, x) = (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", which,
             at[3], at[2], at[1], at[0]);
}

// Returns the link of number `at` of the data; -1 for fields without links.
static int link_of(const disk_field *f, size_t at, size_t site_reals)
{
    return f->info.kind == CUBC_FIELD_GAUGE ? (int)(at % site_reals / (site_reals / SITE_LINKS))
                                            : -1;
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
    char place[128] = "the field";
    size_t at = 0, real_bytes = (size_t)f->info.precision / 8,
           site = (size_t)disk_field_file_reals(f);
    while (isfinite(reals[at])) at++;
    if (!f->scattered)
        name_place(f, first + at / site, f->place ? -1 : link_of(f, at, site), place, sizeof place);
    FAIL(CUBC_IO_ERROR, "%s: %s at byte %" PRIu64 ", in %s", f->what,
         isnan(reals[at]) ? "nan" : "an infinity",
         f->info.data_offset + first * disk_field_site_bytes(f) + at * real_bytes, place);
}

// Completes links of two rows, which lie one after the other at the end of the room for whole ones.
// They are moved in order, so that none is overwritten before it is moved.
static void complete(double *to, const double *rows, size_t count)
{
    for (size_t k = 0; k < count; k++, to += LINK_REALS, rows += LINK_ROWS_REALS) {
        memmove(to, rows, LINK_ROWS_REALS * sizeof *to);
        links_complete(to);
    }
}

static cubc_status load_run(transfer *t, uint64_t mine, uint64_t first, uint64_t count, void *room)
{
    const disk_field *f = t->f;
    size_t site = disk_field_site_bytes(f),
           reals = (size_t)count * (size_t)disk_field_site_reals(f);
    size_t packed = (size_t)count * (size_t)disk_field_file_reals(f);
    double *to = NULL, *at = NULL;
    if (!f->place) {
        to = t->to + mine * (uint64_t)disk_field_site_reals(f);
        at = to + (reals - packed);
    }
    if (f->place) at = (double *)((char *)room + (size_t)count * site);
    bool verify = !(t->flags & CUBC_FIELD_UNVERIFIED), big = f->info.big_endian;
    TRY(infile_at(t->in, f->info.data_offset + first * site, room, (size_t)count * site, f->what));
    if (verify && f->info.has_checksum) add_checksums(t, room, first, count);
    bool finite =
        f->info.precision == 64 ? unpack64(room, big, at, packed) : unpack32(room, big, at, packed);
    if (verify && !finite) return not_finite(f, at, first);
    if (f->info.rows == 2) complete(to, at, (size_t)count * SITE_LINKS);
    for (uint64_t k = 0; f->place && k < count; k++)
        f->place(f, (f->scattered ? first : mine) + k, at + k * (uint64_t)disk_field_site_reals(f),
                 t->to);
    return CUBC_OK;
}

static cubc_status load_share(void *context, uint64_t first, uint64_t count, void *room)
{
    return each_run(context, first, count, room, load_run);
}

static cubc_status verify_checksums(const disk_field *f, const uint32_t checksums[2])
{
    const uint32_t *stated = f->info.checksum;
    if (f->checksums == CHECKSUM_NERSC && checksums[0] != stated[0])
        FAIL(CUBC_IO_ERROR,
             "%s: its checksum is %08" PRIx32 ", the header says %08" PRIx32
             ": the file is corrupt",
             f->what, checksums[0], stated[0]);
    if (f->checksums != CHECKSUM_NERSC && (checksums[0] != stated[0] || checksums[1] != stated[1]))
        FAIL(CUBC_IO_ERROR,
             "%s: its checksums are %08" PRIx32 " and %08" PRIx32 ", the file says %08" PRIx32
             " and %08" PRIx32 ": it is corrupt",
             f->what, checksums[0], checksums[1], stated[0], stated[1]);
    return CUBC_OK;
}

static cubc_status project_run(transfer *t, uint64_t mine, uint64_t first, uint64_t count,
                               void *room)
{
    double *link = t->to + mine * SITE_LINKS * LINK_REALS;
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

static cubc_status project_share(void *context, uint64_t first, uint64_t count, void *room)
{
    return each_run(context, first, count, room, project_run);
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
    TRY(add_ranks(&t, run(&t, load_share)));
    if (verify && f->info.has_checksum) TRY(verify_checksums(f, t.checksums));
    if (links && f->info.precision == 32 && (flags & CUBC_FIELD_PROJECTED))
        TRY(run(&t, project_share));
    return verify && !f->part ? check_measured(f, out) : CUBC_OK;
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
    name_place(f, first + at / site, link_of(f, at, site), place, sizeof place);
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

static cubc_status store_run(transfer *t, uint64_t mine, uint64_t first, uint64_t count, void *room)
{
    const disk_field *f = t->f;
    size_t site = disk_field_site_bytes(f), reals = (size_t)disk_field_site_reals(f);
    const double *from = t->from + mine * reals;
    if (f->take) {
        double *taken = (double *)((char *)room + (size_t)count * site);
        for (uint64_t k = 0; k < count; k++) f->take(f, mine + k, t->from, taken + k * reals);
        from = taken;
    }
    if (f->info.rows == 2)
        TRY(pack_rows(f, from, first, (size_t)count * SITE_LINKS, room));
    else if (!pack(f, from, room, (size_t)count * reals))
        return unfit(f, from, first);
    add_checksums(t, room, first, count);
    return outfile_at(t->out, f->info.data_offset + first * site, room, (size_t)count * site);
}

static cubc_status store_share(void *context, uint64_t first, uint64_t count, void *room)
{
    return each_run(context, first, count, room, store_run);
}

cubc_status disk_field_store(const outfile *file, disk_field *f, const double *from)
{
    transfer t = {.out = file, .f = f, .from = from};
    TRY(add_ranks(&t, run(&t, store_share)));
    memcpy(f->info.checksum, t.checksums, sizeof t.checksums);
    f->info.has_checksum = 1;
    return CUBC_OK;
}
