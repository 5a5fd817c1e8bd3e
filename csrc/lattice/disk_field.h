// A field in a file: where its numbers are and what they are, whatever the format around them; and
// the one way from there into memory and back.
//
// Memory is always the public order, complex128: links [t][z][y][x][mu][row][column], propagators
// [t][z][y][x][sink spin][source spin][sink colour][source colour]. All formats here have the same
// order of sites and entries, so that a site of the file is a site of the memory.
#ifndef CUBC_LATTICE_DISK_FIELD_H
#define CUBC_LATTICE_DISK_FIELD_H

#include "cubc_lattice.h"
#include "infile.h"
#include "outfile.h"
#include "sums.h"

typedef struct disk_field {
    cubc_field_info info;
    sums_kind sums;
    char what[96]; // names the data in messages
} disk_field;

int disk_field_site_reals(const disk_field *f);    // of a site in memory
size_t disk_field_site_bytes(const disk_field *f); // of a site in the file
// Sets extents and sites. Fails unless they make exactly info.data_bytes bytes.
cubc_status disk_field_set_extent(disk_field *f, const uint64_t extent[4]);

// flags: of cubc_field_flags. What the data must agree with is in info.
cubc_status disk_field_load(const infile *file, const disk_field *f, int flags, double *out);
// Writes the data at info.data_offset and sets info.checksum.
cubc_status disk_field_store(const outfile *file, disk_field *f, const double *from);

#endif
