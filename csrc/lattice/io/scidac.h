// The SciDAC records that describe a field in a LIME file, as QIO writes and reads them.
#ifndef CUBC_LATTICE_SCIDAC_H
#define CUBC_LATTICE_SCIDAC_H

#include "lattice/io/disk_field.h"
#include "lattice/io/xml.h"

typedef struct scidac {
    bool has_file, has_record;
    uint64_t extent[4];         // of scidac-private-file-xml: X, Y, Z, T
    int precision;              // of scidac-private-record-xml: 32 or 64
    uint64_t item_bytes, items; // typesize and datacount, of a site
} scidac;

cubc_status scidac_file(const xml *document, scidac *out);
cubc_status scidac_record(const xml *document, scidac *out);
cubc_status scidac_checksum(const xml *document, uint32_t checksums[2]);
// The kind of field that the record describes, and its place in memory. `what` names its data.
cubc_status scidac_kind(const scidac *s, const char *what, disk_field *out);

// The same documents for a field that is written.
void scidac_print_file(const disk_field *f, text *out);
void scidac_print_record(const disk_field *f, text *out);
void scidac_print_checksum(const disk_field *f, text *out);

#endif
