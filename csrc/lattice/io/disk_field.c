// Fields as files have them, their kinds and sizes: see disk_field.h. disk_transfer.c reads and
// writes them.
#include "lattice/io/disk_field.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// ---- kinds and sizes ----------------------------------------------------------------------------
static const struct {
    const char *name;
    int axes, shape[4]; // of a site
} kinds[CUBC_FIELD_KIND_COUNT] = {
    [CUBC_FIELD_GAUGE] = {"links", 3, {4, 3, 3}},
    [CUBC_FIELD_PROPAGATOR] = {"propagator", 4, {4, 4, 3, 3}},
    [CUBC_FIELD_SPINOR] = {"spinor", 2, {4, 3}},
    [CUBC_FIELD_STAGGERED_PROPAGATOR] = {"staggered propagator", 2, {3, 3}},
    [CUBC_FIELD_COLOUR_VECTOR] = {"colour vector", 1, {3}},
    [CUBC_FIELD_COMPLEX] = {"complex", 0, {0}},
};

const char *cubc_field_kind_name(cubc_field_kind kind)
{
    return (unsigned)kind < COUNT_OF(kinds) ? kinds[kind].name : NULL;
}

int cubc_field_shape(cubc_field_kind kind, const int extent[4], uint64_t shape[8])
{
    if (!cubc_field_kind_name(kind) || !extent || !shape) return 0;
    for (int k = 0; k < 4; k++) shape[k] = (uint64_t)extent[3 - k];
    for (int k = 0; k < kinds[kind].axes; k++) shape[4 + k] = (uint64_t)kinds[kind].shape[k];
    return 4 + kinds[kind].axes;
}

int disk_field_reals(cubc_field_kind kind)
{
    int reals = 2;
    for (int k = 0; k < kinds[kind].axes; k++) reals *= kinds[kind].shape[k];
    return reals;
}

int disk_field_site_reals(const disk_field *f)
{
    return disk_field_reals(f->info.kind);
}

int disk_field_file_reals(const disk_field *f)
{
    int reals = disk_field_site_reals(f);
    return f->info.kind == CUBC_FIELD_GAUGE ? reals / 3 * f->info.rows : reals;
}

size_t disk_field_site_bytes(const disk_field *f)
{
    return (size_t)disk_field_file_reals(f) * (size_t)(f->info.precision / 8);
}

disk_field disk_field_new(const char *format, cubc_field_kind kind)
{
    disk_field f = {.info = {.kind = kind,
                             .rows = 3,
                             .source_spin = -1,
                             .source_colour = -1,
                             .plaquette = NAN,
                             .link_trace = NAN}};
    snprintf(f.info.format, sizeof f.info.format, "%s", format);
    return f;
}

cubc_status disk_fields_add(disk_fields *list, const disk_field *f)
{
    disk_field *items = mem_grow(list->items, list->count, &list->room, sizeof *items);
    if (!items) return CUBC_NO_MEMORY;
    list->items = items;
    list->items[list->count++] = *f;
    return CUBC_OK;
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
    // Smaller than three times the file, so this cannot overflow.
    f->info.bytes = sites * (uint64_t)disk_field_site_reals(f) * sizeof(double);
    for (int k = 0; k < 4; k++) f->info.extent[k] = (int)extent[k];
    return CUBC_OK;
}

bool disk_field_index(const disk_field *f, const int at[4], uint64_t *index)
{
    *index = 0;
    for (int k = 3; k >= 0; k--) {
        const int here = at[k] - (f->part ? f->part->first[k] : 0);
        const int extent = f->part ? f->part->extent[k] : f->info.extent[k];
        if (here < 0 || here >= extent) return false;
        *index = *index * (uint64_t)extent + (uint64_t)here;
    }
    return true;
}

enum { VECTORS_REALS = 18 };

void disk_place_vectors(const disk_field *f, uint64_t site, const double *from, double *field)
{
    double (*to)[3][2] = (double (*)[3][2])(field + site * VECTORS_REALS);
    (void)f;
    for (int source = 0; source < 3; source++)
        for (int sink = 0; sink < 3; sink++, from += 2)
            memcpy(to[sink][source], from, 2 * sizeof *from);
}

void disk_take_vectors(const disk_field *f, uint64_t site, const double *field, double *to)
{
    const double (*from)[3][2] = (const double (*)[3][2])(field + site * VECTORS_REALS);
    (void)f;
    for (int source = 0; source < 3; source++)
        for (int sink = 0; sink < 3; sink++, to += 2)
            memcpy(to, from[sink][source], 2 * sizeof *to);
}
