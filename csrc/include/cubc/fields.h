// Fields of lattice QCD in files of many codes: a part of cubc.h. Links, propagators and the rest
// are read from and written to host memory; no device is needed.
#ifndef CUBC_FIELDS_H
#define CUBC_FIELDS_H

#include "cubc/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
// Fields of lattice QCD in files of these formats, in either byte order:
//
//   ildg, scidac   LIME: links, propagators, spinors, staggered propagators, colour vectors,
//   complex
//                  numbers; any number of fields, and spinors as the European Twisted Mass
//                  Collaboration writes them (etmc-propagator-format)
//   nersc, milc    links
//   openqcd        links, as openQCD exports them; links of DD-alphaAMG
//   milc-prop      MILC's Wilson propagators (a spinor a source) and staggered ones (a colour
//   vector) fermilab       propagators, spinors and staggered propagators of Fermilab's format
//
// In host memory a field is always complex128 in one order, [t][z][y][x] and behind it
//
//   links [mu][row][column]                 spinor [spin][colour]
//   propagator [sink spin][source spin][sink colour][source colour]
//   staggered propagator [sink colour][source colour]       colour vector [colour]
//
// with spins in the basis of the file. A file is not trusted: nothing is taken from it that does
// not fit in it, and a failure names the record and the byte.
typedef enum cubc_field_kind {
    CUBC_FIELD_GAUGE = 0,
    CUBC_FIELD_PROPAGATOR,
    CUBC_FIELD_SPINOR,
    CUBC_FIELD_STAGGERED_PROPAGATOR,
    CUBC_FIELD_COLOUR_VECTOR,
    CUBC_FIELD_COMPLEX,
    CUBC_FIELD_KIND_COUNT
} cubc_field_kind;

typedef enum cubc_field_flags {
    CUBC_FIELD_UNVERIFIED = 1, // leave out what is not needed to read: checksums, which are not
                               // even looked at, plaquette and link trace of the header, whether
                               // all numbers are finite, and whether the file ends where it should
    CUBC_FIELD_PROJECTED = 2   // links of single precision become the SU(3) matrices nearest to
                               // them in double precision; otherwise they stay as they are
} cubc_field_flags;

typedef struct cubc_field_info { // what a file says of a field
    char format[16];             // "ildg", "ddalphaamg", ...
    cubc_field_kind kind;
    int extent[4];        // X, Y, Z, T
    int precision;        // bits of a real in the file: 32 or 64
    int rows;             // of a link in the file: 3, or 2 and the third follows from them
    int big_endian;       // in the file
    int has_checksum;     // the file states one,
    uint32_t checksum[2]; // suma and sumb of SciDAC, sum29 and sum31 of MILC, NERSC's alone
    int source_spin, source_colour; // of a column of a propagator; -1: not said
    uint64_t sites;
    uint64_t bytes;                   // of the field in memory
    uint64_t data_offset, data_bytes; // of the numbers in the file
    double plaquette, link_trace;     // as the header has them, of 1; NaN: not said
} cubc_field_info;

typedef struct cubc_field_file cubc_field_file;

typedef struct cubc_field_write_params {
    const void *data; // the field in the order above
    cubc_field_kind kind;
    int extent[4]; // X, Y, Z, T
    int precision; // of a real in the file: 32 or 64; 0: 64, or 32 where that is all there is
    int rows;      // of a link in the file: 3, or 2 (NERSC alone); 0: 3
    const char
        *format; // of links "ildg", "scidac", "nersc" or "milc", else "scidac"; NULL: the first
} cubc_field_write_params;

// "links", "propagator", ...; NULL for none of them.
const char *cubc_field_kind_name(cubc_field_kind kind);
// The axes of a field in memory, of complex numbers; returns how many, at most 8, or 0 of no kind.
int cubc_field_shape(cubc_field_kind kind, const int extent[4], uint64_t shape[8]);

// flags: of cubc_field_flags, for opening and reading. The file is read by as many threads as the
// machine has cores (CUBC_CPU_THREADS). It holds one field at least.
cubc_status cubc_field_open(const char *path, int flags, cubc_field_file **out);
size_t cubc_field_count(const cubc_field_file *file);
// NULL behind the last; lives with the file.
const cubc_field_info *cubc_field_describe(const cubc_field_file *file, size_t index);
cubc_status cubc_field_read(const cubc_field_file *file, size_t index, void *out,
                            size_t bytes); // info's bytes
void cubc_field_close(cubc_field_file *file);
// The file is there when it is whole: until then its bytes have another name in the same folder.
cubc_status cubc_field_write(const char *path, const cubc_field_write_params *params);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
