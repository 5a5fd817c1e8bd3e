// The SciDAC records that say what a field in a LIME file is, as QIO writes and reads them.
#ifndef CUBC_LATTICE_SCIDAC_H
#define CUBC_LATTICE_SCIDAC_H

#include "disk_field.h"
#include "xml.h"

typedef struct scidac {
    bool has_file, has_record, has_sums;
    uint64_t extent[4];  // of scidac-private-file-xml: X, Y, Z, T
    int precision;       // of scidac-private-record-xml: 32 or 64
    uint64_t site_bytes; // typesize times datacount
    uint32_t sums[2];    // of scidac-checksum
} scidac;

cubc_status scidac_file(const xml *document, scidac *out);
cubc_status scidac_record(const xml *document, scidac *out);
cubc_status scidac_checksum(const xml *document, scidac *out);

// The same documents for a field that is written.
void scidac_print_file(const disk_field *f, text *out);
void scidac_print_record(const disk_field *f, text *out);
void scidac_print_checksum(const disk_field *f, text *out);

#endif
