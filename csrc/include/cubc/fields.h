// Files of lattice QCD in the formats of many codes: a part of cubc.h. Fields are read to and
// written from host memory; no device is needed.
#ifndef CUBC_FIELDS_H
#define CUBC_FIELDS_H

#include "cubc/lattice/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
// cffi: begin
// Formats of files, in either byte order:
//
//   - ildg, scidac: LIME, with any number of fields: links, propagators, spinors, staggered
//     propagators, colour vectors and complex numbers. Spinors may be those of the European
//     Twisted Mass Collaboration (etmc-propagator-format).
//   - nersc, milc: links.
//   - openqcd: links, as openQCD exports them. ddalphaamg: links.
//   - milc-prop: Wilson propagators of MILC, a spinor for each source, and staggered ones, a colour
//     vector for each.
//   - fermilab: propagators, spinors and staggered propagators.
//
// In host memory a field is complex128 in the order [t][z][y][x], followed by
//
//   - links: [mu][row][column]
//   - spinor: [spin][colour]
//   - propagator: [sink spin][source spin][sink colour][source colour]
//   - staggered propagator: [sink colour][source colour]
//   - colour vector: [colour]
//
// Spins are in the basis of the file. A file is not trusted: its numbers are checked against its
// size, and a failure names the record and the byte.
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
    CUBC_FIELD_UNVERIFIED = 1, // checks neither checksums, which are not read, nor plaquette and
                               // link trace of the header, that all numbers are finite, and where
                               // the file ends
    CUBC_FIELD_PROJECTED = 2   // replaces links of single precision by the nearest SU(3) matrices
                               // in double precision; links of double precision are unchanged
} cubc_field_flags;

typedef struct cubc_field_info { // description of a field by its file
    char format[16];             // "ildg", "ddalphaamg", ...
    cubc_field_kind kind;
    int extent[4];        // X, Y, Z, T
    int precision;        // bits of a real in the file: 32 or 64
    int rows;             // of a link in the file: 3, or 2 and the third is computed from them
    int big_endian;       // not 0: the file's byte order is big-endian
    int has_checksum;     // not 0: the file states one
    uint32_t checksum[2]; // suma and sumb of SciDAC, sum29 and sum31 of MILC, one of NERSC
    int source_spin, source_colour; // of a column of a propagator; -1: not stated
    uint64_t sites;
    uint64_t bytes;                   // of the field in memory
    uint64_t data_offset, data_bytes; // of the numbers in the file
    double plaquette, link_trace;     // that the header states, 1 for unit links; NaN: not stated
} cubc_field_info;

typedef struct cubc_field_file cubc_field_file;

// Ranks over which a lattice is cut into equal parts, as cubc_ranks_open cuts it. All of them make
// the same calls, each with the memory of its part. A call that fails on one rank fails on all.
typedef struct cubc_field_ranks {
    const cubc_comm *comm; // asked a few times a call
    int grid[4];           // ranks along X, Y, Z, T; X changes fastest with the rank
} cubc_field_ranks;

typedef struct cubc_field_write_params {
    const void *data; // the field in the order above
    cubc_field_kind kind;
    int extent[4]; // X, Y, Z, T
    int precision; // bits of a real in the file: 32 or 64; 0: 64, or 32 for MILC
    int rows;      // of a link in the file: 3, or 2 (NERSC alone); 0: 3
    const char
        *format; // of links "ildg", "scidac", "nersc" or "milc", else "scidac"; NULL: the first
    const cubc_field_ranks *ranks; // data and extent are this rank's part; NULL: of the whole
                                   // lattice
    const double *measured; // plaquette and link trace of the whole lattice, which NERSC states: of
                            // cubc_field_measure, needed with ranks; NULL: they are measured
} cubc_field_write_params;

// "links", "propagator", ...; NULL for none of them.
const char *cubc_field_kind_name(cubc_field_kind kind);
// Gives the extents of a field of complex numbers in memory, and returns the number of axes, at
// most 8; 0 for an unknown kind, or if an argument is NULL.
int cubc_field_shape(cubc_field_kind kind, const int extent[4], uint64_t shape[8]);

// Sets *known to 1 for a file that begins as one of fields does, though the rest may be damaged; 0
// for all others.
cubc_status cubc_field_known(const char *path, int *known);
// Opens a file with one field or more. flags, of cubc_field_flags, hold for reading too. As many
// threads read as the machine has cores (CUBC_CPU_THREADS).
cubc_status cubc_field_open(const char *path, int flags, cubc_field_file **out);
size_t cubc_field_count(const cubc_field_file *file);
// Describes a field, until the file is closed; NULL behind the last.
const cubc_field_info *cubc_field_describe(const cubc_field_file *file, size_t index);
cubc_status cubc_field_read(const cubc_field_file *file, size_t index, void *out,
                            size_t bytes); // info's bytes
void cubc_field_close(cubc_field_file *file);
// The same over ranks: each opens the file, and reads its part alone. Checksums are those of all
// parts; plaquette and link trace of the header, which need links of several ranks, are left to the
// caller. out: NULL, or an index that there is not, fails on all ranks.
cubc_status cubc_field_open_part(const char *path, int flags, const cubc_field_ranks *ranks,
                                 cubc_field_file **out);
cubc_status cubc_field_read_part(const cubc_field_file *file, size_t index,
                                 const cubc_field_ranks *ranks, void *out,
                                 size_t bytes); // info's bytes over the number of ranks
// The means of Re tr P / 3 over plaquettes and of Re tr U / 3 over links, out[2], of a lattice over
// ranks, with the bits of one rank. Links are this rank's part with `margin` sites of its
// neighbours on each side of the directions that there are ranks along; the extents have them. What
// one rank is refused fails on all.
cubc_status cubc_field_measure(const void *links, const int extent[4], int margin,
                               const cubc_field_ranks *ranks, double *out);
// Writes a file, which appears when it is complete; until then its bytes are in another file of the
// folder. Ranks write it together, and its bytes are those that one rank writes; data that are NULL
// on one of them are a failure of all.
cubc_status cubc_field_write(const char *path, const cubc_field_write_params *params);
// cffi: end
#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
