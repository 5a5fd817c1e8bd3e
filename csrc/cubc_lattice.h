// cubc for lattice QCD: gauge configurations and propagators in files. Errors and ownership are as
// in cubc.h.
//
// Gauge configurations are ILDG and SciDAC in LIME, NERSC, and MILC version 5; propagators SciDAC
// in LIME, as Chroma writes them. In host memory a field is always complex128 in one order: links
// [t][z][y][x][mu][row][column], propagators
// [t][z][y][x][sink spin][source spin][sink colour][source colour], in the basis of the file. A
// file is not trusted: nothing is taken from it that does not fit in it, and a failure names the
// record and the byte.
#ifndef CUBC_LATTICE_H
#define CUBC_LATTICE_H

#include "cubc.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
typedef enum cubc_field_kind { CUBC_FIELD_GAUGE = 0, CUBC_FIELD_PROPAGATOR } cubc_field_kind;

typedef enum cubc_field_flags {
    CUBC_FIELD_UNVERIFIED = 1, // leave out what is not needed to read: checksums, plaquette and
                               // link trace of the header, whether all numbers are finite, and
                               // whether the file ends where it should
    CUBC_FIELD_UNPROJECTED = 2 // links of single precision stay as they are; otherwise they become
                               // the SU(3) matrices nearest to them in double precision
} cubc_field_flags;

typedef struct cubc_field_info { // what a file says
    char format[8];              // "ildg", "scidac", "nersc" or "milc"
    cubc_field_kind kind;
    int extent[4];        // X, Y, Z, T
    int precision;        // bits of a real in the file: 32 or 64
    int rows;             // of a link in the file: 3, or 2 and the third follows from them
    int big_endian;       // in the file
    int has_checksum;     // the file states one,
    uint32_t checksum[2]; // suma and sumb of SciDAC, sum29 and sum31 of MILC, NERSC's alone
    uint64_t sites;
    uint64_t bytes;                   // of the field in memory
    uint64_t data_offset, data_bytes; // of the numbers in the file
    double plaquette, link_trace;     // as NERSC's header has them, of 1; NaN: not said
} cubc_field_info;

typedef struct cubc_field_file cubc_field_file;

typedef struct cubc_field_write_params {
    const void *data; // the field in the order above
    cubc_field_kind kind;
    int extent[4];      // X, Y, Z, T
    int precision;      // of a real in the file: 32 or 64; 0: 64
    int rows;           // of a link in the file: 3, or 2 (NERSC alone); 0: 3
    const char *format; // of links "ildg" or "nersc", of a propagator "scidac"; NULL: LIME
} cubc_field_write_params;

// flags: of cubc_field_flags, for opening and reading. The file is read by as many threads as the
// machine has cores (CUBC_CPU_THREADS).
cubc_status cubc_field_open(const char *path, int flags, cubc_field_file **out);
const cubc_field_info *cubc_field_describe(const cubc_field_file *file); // lives with the file
cubc_status cubc_field_read(const cubc_field_file *file, void *out, size_t bytes); // info's bytes
void cubc_field_close(cubc_field_file *file);
// The file is there when it is whole: until then its bytes have another name in the same folder.
cubc_status cubc_field_write(const char *path, const cubc_field_write_params *params);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
