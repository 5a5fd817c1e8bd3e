// A format of files: a const field_format NAME_format in a file of the format's name. formats.def
// lists them.
#ifndef CUBC_LATTICE_FORMAT_H
#define CUBC_LATTICE_FORMAT_H

#include "lattice/io/disk_field.h"

enum { FORMAT_HEAD = 24 }; // bytes that a probe sees; zeros where the file is shorter

typedef struct field_format {
    const char *name;  // of cubc_field_write_params
    const char *title; // names the files in messages; NULL where another format reads them
    // Returns true if the file is of this format; cheap, and never fails.
    bool (*probe)(const infile *file, const unsigned char head[FORMAT_HEAD]);
    // Adds all fields of the file, the first one at least.
    cubc_status (*open)(const infile *file, int flags, disk_fields *out);
    // NULL: not written. f has kind, extent, precision, rows and sizes.
    cubc_status (*write)(const outfile *file, disk_field *f, const double *from);
    unsigned written;      // kinds, a bit each
    bool single, two_rows; // written in single precision only; with two rows, too
} field_format;

#endif
