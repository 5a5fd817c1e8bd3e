// A field in a file: the place and the layout of its numbers, in any format, and their way into
// memory and back.
//
// Memory is always the public order (cubc/fields.h). Most formats have the same order of sites and
// entries, so that a site of the file is a site of the memory; others bring their own disk_place.
#ifndef CUBC_LATTICE_DISK_FIELD_H
#define CUBC_LATTICE_DISK_FIELD_H

#include "base/words.h"
#include "cubc/fields.h"
#include "lattice/io/checksums.h"
#include "lattice/io/field_part.h"
#include "lattice/io/infile.h"
#include "lattice/io/outfile.h"

typedef struct disk_field disk_field;
// Puts the numbers of a site of the file to their places in the field; the site is that of the
// memory, unless its numbers are scattered. Threads may call it at the same time, each for another
// site.
typedef void (*disk_place)(const disk_field *f, uint64_t site, const double *from, double *field);
// The way back: takes the numbers of a site of the file from their places in the field.
typedef void (*disk_take)(const disk_field *f, uint64_t site, const double *field, double *to);

struct disk_field {
    cubc_field_info info;
    checksum_kind checksums;
    disk_place place; // NULL: in the order of the memory
    disk_take take;   // the same of a field that is written
    bool measured;    // the plaquette and the link trace are there, which a writer may have to find
    // A site of the file has links of other sites, too (openQCD), so that `place` gets its number
    // in the file. T changes most slowly there. Links are of the site's time slice or of the one
    // before, which a part reads besides.
    bool scattered;
    field_part *part; // that is read and written by this rank; NULL: all
    char what[96];    // names the data in messages
};

// Those of a staggered propagator that is three colour vectors a site, one for each source colour.
void disk_place_vectors(const disk_field *f, uint64_t site, const double *from, double *field);
void disk_take_vectors(const disk_field *f, uint64_t site, const double *field, double *to);

typedef struct disk_fields { // of one file
    disk_field *items;
    size_t count, room;
} disk_fields;

// A field of that kind without its layout: three rows, no checksum.
disk_field disk_field_new(const char *format, cubc_field_kind kind);
cubc_status disk_fields_add(disk_fields *list, const disk_field *f);

int disk_field_reals(cubc_field_kind kind);        // of a site
int disk_field_site_reals(const disk_field *f);    // of a site in memory
int disk_field_file_reals(const disk_field *f);    // of a site in the file
size_t disk_field_site_bytes(const disk_field *f); // of a site in the file
// Sets extents, sites and bytes. Fails unless they make exactly info.data_bytes bytes.
cubc_status disk_field_set_extent(disk_field *f, const uint64_t extent[4]);

// Four extents as words of a header, x first.
static inline void disk_load_extent(const unsigned char *from, bool big_endian, uint64_t extent[4])
{
    for (int k = 0; k < 4; k++) extent[k] = words_load32(from + 4 * k, big_endian);
}

static inline void disk_store_extent(unsigned char *to, const int extent[4], bool big_endian)
{
    for (int k = 0; k < 4; k++) words_store32(to + 4 * k, (uint32_t)extent[k], big_endian);
}

// True if the field in memory has a place for a point; *index gets its number there.
bool disk_field_index(const disk_field *f, const int at[4], uint64_t *index);

// Reads the data, or this rank's part of them, and checks them against info; of a part not what
// needs links of others. flags: of cubc_field_flags.
cubc_status disk_field_load(const infile *file, const disk_field *f, int flags, double *out);
// Writes the data at info.data_offset and sets info.checksum, that of all ranks.
cubc_status disk_field_store(const outfile *file, disk_field *f, const double *from);

#endif
