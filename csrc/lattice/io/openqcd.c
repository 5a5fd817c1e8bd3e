// Configurations of openQCD and of DD-alphaAMG. Both begin with four extents, time first, and the
// mean of Re tr P; neither has a magic number. openQCD (.cnfg) has for each odd point, in the order
// of (t, x, y, z) with z fastest, the eight links in the directions +t, -t, +x, -x, +y, -y, +z, -z;
// DD-alphaAMG has the four links in the directions t, z, y, x of each point, x fastest, and its
// extents are T, Z, Y, X. The plaquette tells which of them a file is: in the other order the
// links have another.
#include "base/words.h"
#include "lattice/io/format.h"
#include "lattice/io/links.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLAQUETTE = 16, HEADER = 24, LINK_BYTES = LINK_REALS * 8, SITE_BYTES = 4 * LINK_BYTES };
enum { X, Y, Z, T };
static const int openqcd_axes[4] = {T, X, Y, Z}, alpha_axes[4] = {T, Z, Y, X}; // slowest first

// ---- recognising --------------------------------------------------------------------------------
static double plaquette_of(const unsigned char *head, bool big)
{
    uint64_t word = words_load64(head + PLAQUETTE, big);
    double plaquette;
    memcpy(&plaquette, &word, sizeof plaquette);
    return plaquette;
}

// The extents make the whole file, and the plaquette is one.
static bool fits(const infile *file, const unsigned char *head, bool big)
{
    uint64_t sites = (file->size - HEADER) / SITE_BYTES, product = 1;
    for (int k = 0; k < 4; k++) {
        uint32_t extent = words_load32(head + 4 * k, big);
        if (extent < 1 || extent > INT32_MAX || product > sites / extent) return false;
        product *= extent;
    }
    return product == sites && sites * SITE_BYTES == file->size - HEADER &&
           fabs(plaquette_of(head, big)) <= 3.0001;
}

static bool probe(const infile *file, const unsigned char head[FORMAT_HEAD])
{
    return file->size > HEADER && (fits(file, head, false) || fits(file, head, true));
}

// ---- order of links -----------------------------------------------------------------------------
static uint64_t index_of(const int axes[4], const int at[4], const int extent[4])
{
    uint64_t index = 0;
    for (int k = 0; k < 4; k++) index = index * (uint64_t)extent[axes[k]] + (uint64_t)at[axes[k]];
    return index;
}

static void step(int at[4], int mu, const int extent[4], int by)
{
    at[mu] = (at[mu] + by + extent[mu]) % extent[mu];
}

// A site here is half of an odd point: four links in two directions.
static void place_openqcd(const disk_field *f, uint64_t site, const double *from, double *field)
{
    const int *extent = f->info.extent;
    int at[4];
    uint64_t rest = site / 2 * 2; // of two points that follow one another one is odd
    for (int k = 3; k >= 0; k--) {
        at[openqcd_axes[k]] = (int)(rest % (uint64_t)extent[openqcd_axes[k]]);
        rest /= (uint64_t)extent[openqcd_axes[k]];
    }
    if ((at[X] + at[Y] + at[Z] + at[T]) % 2 == 0) at[Z]++;
    for (int k = 0; k < 4; k++, from += LINK_REALS) {
        int mu = openqcd_axes[site % 2 * 2 + (uint64_t)k / 2];
        int begin[4] = {at[X], at[Y], at[Z], at[T]};
        if (k % 2) step(begin, mu, extent, -1);
        uint64_t point;
        if (!disk_field_index(f, begin, &point)) continue; // on another rank
        memcpy(field + (point * 4 + (uint64_t)mu) * LINK_REALS, from, LINK_REALS * sizeof *from);
    }
}

static void place_alpha(const disk_field *f, uint64_t site, const double *from, double *field)
{
    (void)f;
    for (int k = 0; k < 4; k++)
        memcpy(field + (site * 4 + (uint64_t)alpha_axes[k]) * LINK_REALS, from + k * LINK_REALS,
               LINK_REALS * sizeof *from);
}

// ---- telling them apart -------------------------------------------------------------------------
// Returns the number of a link in the order of the file.
static uint64_t link_in_file(const disk_field *f, const int at[4], int mu)
{
    int point[4] = {at[X], at[Y], at[Z], at[T]}, direction = 0;
    const int *axes = f->place == place_openqcd ? openqcd_axes : alpha_axes;
    while (axes[direction] != mu) direction++;
    if (axes == alpha_axes) return index_of(axes, point, f->info.extent) * 4 + (uint64_t)direction;
    bool odd = (at[X] + at[Y] + at[Z] + at[T]) % 2;
    if (!odd) step(point, mu, f->info.extent, 1);
    return index_of(axes, point, f->info.extent) / 2 * 8 + 2 * (uint64_t)direction + !odd;
}

static cubc_status load_link(const infile *file, const disk_field *f, const int at[4], int mu,
                             double out[LINK_REALS])
{
    unsigned char bytes[LINK_BYTES];
    uint64_t offset = HEADER + link_in_file(f, at, mu) * LINK_BYTES;
    TRY(infile_at(file, offset, bytes, sizeof bytes, f->what));
    for (int k = 0; k < LINK_REALS; k++) {
        uint64_t word = words_load64(bytes + 8 * k, f->info.big_endian);
        memcpy(out + k, &word, sizeof word);
    }
    return CUBC_OK;
}

// Adds Re tr of the plaquettes that begin at a point.
static cubc_status add_plaquettes(const infile *file, const disk_field *f, const int at[4],
                                  double *sum)
{
    double a[LINK_REALS], b[LINK_REALS], c[LINK_REALS], d[LINK_REALS];
    for (int mu = 0; mu < 4; mu++)
        for (int nu = mu + 1; nu < 4; nu++) {
            int right[4] = {at[X], at[Y], at[Z], at[T]}, up[4] = {at[X], at[Y], at[Z], at[T]};
            step(right, mu, f->info.extent, 1);
            step(up, nu, f->info.extent, 1);
            TRY(load_link(file, f, at, mu, a));
            TRY(load_link(file, f, right, nu, b));
            TRY(load_link(file, f, at, nu, c));
            TRY(load_link(file, f, up, mu, d));
            *sum += links_plaquette(a, b, c, d);
        }
    return CUBC_OK;
}

// Distance of the mean of the plaquettes of some points from that of the header.
static cubc_status distance_of(const infile *file, const disk_field *f, uint64_t points,
                               double *out)
{
    double sum = 0;
    for (uint64_t k = 0; k < points; k++) {
        int at[4];
        uint64_t rest = k * (f->info.sites / points);
        for (int mu = 0; mu < 4; mu++) {
            at[mu] = (int)(rest % (uint64_t)f->info.extent[mu]);
            rest /= (uint64_t)f->info.extent[mu];
        }
        TRY(add_plaquettes(file, f, at, &sum));
        if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while reading plaquettes");
    }
    *out = fabs(sum / (18 * (double)points) - f->info.plaquette);
    return CUBC_OK;
}

// Tells which of two orders the links are in. In the other one, plaquettes are products of links
// that do not meet, whose mean is 0 but for the chance in it: below 1 / sqrt(points), which is ten
// standard deviations. Where the header's plaquette is as small, more points are looked at, at last
// all, which have the plaquette of the header exactly.
static cubc_status is_first_order(const infile *file, const disk_field *first,
                                  const disk_field *second, bool *out)
{
    enum { FEW_POINTS = 256, MORE = 16 };
    const uint64_t sites = first->info.sites;
    uint64_t points = sites < FEW_POINTS ? sites : FEW_POINTS;
    for (;;) {
        double one, other;
        TRY(distance_of(file, first, points, &one));
        TRY(distance_of(file, second, points, &other));
        *out = one <= other;
        if (points == sites || fmax(one, other) > 1 / sqrt((double)points)) return CUBC_OK;
        points = points > sites / MORE ? sites : points * MORE;
    }
}

// ---- opening ------------------------------------------------------------------------------------
static cubc_status describe(const infile *file, const unsigned char *head, bool openqcd,
                            disk_field *f)
{
    const int *axes = openqcd ? openqcd_axes : alpha_axes;
    uint64_t extent[4];
    *f = disk_field_new(openqcd ? "openqcd" : "ddalphaamg", CUBC_FIELD_GAUGE);
    f->place = openqcd ? place_openqcd : place_alpha;
    f->scattered = openqcd;
    f->info.precision = 64;
    f->info.big_endian = !fits(file, head, false);
    f->info.plaquette = plaquette_of(head, f->info.big_endian) / 3;
    f->info.data_offset = HEADER;
    f->info.data_bytes = file->size - HEADER;
    snprintf(f->what, sizeof f->what, "data at byte %d", HEADER);
    for (int k = 0; k < 4; k++) extent[axes[k]] = words_load32(head + 4 * k, f->info.big_endian);
    return disk_field_set_extent(f, extent);
}

static cubc_status open_fields(const infile *file, int flags, disk_fields *out)
{
    unsigned char head[HEADER];
    disk_field openqcd, alpha;
    bool is_openqcd = true; // all of whose extents are even
    (void)flags;
    TRY(infile_at(file, 0, head, sizeof head, "header"));
    TRY(describe(file, head, true, &openqcd));
    TRY(describe(file, head, false, &alpha));
    for (int k = 0; k < 4; k++) is_openqcd = is_openqcd && openqcd.info.extent[k] % 2 == 0;
    if (is_openqcd) TRY(is_first_order(file, &openqcd, &alpha, &is_openqcd));
    return disk_fields_add(out, is_openqcd ? &openqcd : &alpha);
}

const field_format openqcd_format = {
    .name = "openqcd",
    .title = "openQCD or DD-alphaAMG",
    .probe = probe,
    .open = open_fields,
};
