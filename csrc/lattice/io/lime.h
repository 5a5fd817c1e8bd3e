// LIME, the container of SciDAC and ILDG files: records one after the other, each a header of 144
// bytes (magic, version, flags, length, type), its data, and zeros up to a multiple of 8 bytes.
// Records between one with the flag "begin" and one with the flag "end" form a message.
#ifndef CUBC_LATTICE_LIME_H
#define CUBC_LATTICE_LIME_H

#include "lattice/io/infile.h"
#include "lattice/io/outfile.h"

enum { LIME_MAGIC = 0x456789ab, LIME_HEADER = 144, LIME_TYPE = 128, LIME_WHAT = 96 };

typedef struct lime_record {
    int number;            // from 1
    uint64_t header, data; // byte offsets
    uint64_t length;       // of the data; within the file
    bool begin, end;
    bool loose; // earlier flags do not form messages, so that the last one is not checked
    char type[LIME_TYPE + 1];
    char what[LIME_WHAT]; // "record 6 'ildg-binary-data' at byte 1608", for messages
} lime_record;

// The record after *record, the first one if that is zero; *more is false behind the last. In a
// strict file all bytes must belong to records, and the last message must end. Programs that set
// the flags at will, as tmLQCD does, are not held to the latter.
cubc_status lime_next(const infile *file, bool strict, lime_record *record, bool *more);
// A record's data as a text with a NUL behind it, that the caller frees; only of a short record.
cubc_status lime_text(const infile *file, const lime_record *record, char **out);

enum { LIME_BEGIN = 0x8000, LIME_END = 0x4000 };
// Writes header and padding of a record at *at, and its data unless that is NULL; *at is then
// behind the record and *data, unless NULL, where its data belong.
cubc_status lime_put(const outfile *file, uint64_t *at, const char *type, int flags,
                     const void *data, uint64_t length, uint64_t *data_at);

#endif
