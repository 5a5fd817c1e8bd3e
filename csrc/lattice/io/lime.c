// LIME records: see lime.h.
#include "lattice/io/lime.h"

#include "base/integer.h"
#include "base/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LIME_VERSION = 1,
    MOST_RECORDS = 10000, // bounds the time for a file of headers only
    MOST_TEXT = 1 << 16,
};

// ---- reading ------------------------------------------------------------------------------------
// Types come from the file: characters that cannot be printed become '?'.
static void describe(lime_record *r)
{
    char shown[49];
    size_t length = strlen(r->type) < sizeof shown ? strlen(r->type) : sizeof shown - 1;
    for (size_t i = 0; i < length; i++)
        shown[i] = r->type[i] >= ' ' && r->type[i] <= '~' ? r->type[i] : '?';
    shown[length] = '\0';
    snprintf(r->what, sizeof r->what, "record %d '%s' at byte %" PRIu64, r->number, shown,
             r->header);
}

static cubc_status parse_header(const unsigned char *bytes, uint64_t size, lime_record *r)
{
    unsigned version = (unsigned)bytes[4] << 8 | bytes[5], flags = (unsigned)bytes[6] << 8;
    r->data = r->header + LIME_HEADER;
    r->length = words_load64(bytes + 8, true);
    r->begin = flags & LIME_BEGIN;
    r->end = flags & LIME_END;
    memcpy(r->type, bytes + 16, LIME_TYPE);
    r->type[LIME_TYPE] = '\0';
    describe(r);
    if (words_load32(bytes, true) != LIME_MAGIC)
        FAIL(CUBC_IO_ERROR,
             "record %d at byte %" PRIu64 ": it begins with %08" PRIx32 " and not with LIME's %08x",
             r->number, r->header, words_load32(bytes, true), LIME_MAGIC);
    if (version != LIME_VERSION)
        FAIL(CUBC_IO_ERROR, "%s: version %u of LIME, known is %d", r->what, version, LIME_VERSION);
    if (r->length > size - r->data)
        FAIL(CUBC_IO_ERROR,
             "%s: its %" PRIu64 " bytes would end behind the file, at byte %" PRIu64
             ": it is truncated or corrupt",
             r->what, r->length, size);
    return CUBC_OK;
}

cubc_status lime_next(const infile *file, bool strict, lime_record *record, bool *more)
{
    unsigned char bytes[LIME_HEADER];
    bool inside = record->number > 0 && !record->end, loose = record->loose;
    // No overflow: the data of a record that was accepted end within the file.
    uint64_t at = record->number ? record->data + round_up(record->length, 8) : 0;
    *more = at < file->size && (strict || file->size - at >= LIME_HEADER);
    if (strict && (at > file->size || (!*more && inside && !loose)))
        FAIL(CUBC_IO_ERROR, "%s: the file ends at byte %" PRIu64 ", within its %s: it is truncated",
             record->what, file->size, at > file->size ? "padding" : "message");
    if (!*more) return CUBC_OK;
    *record = (lime_record){.number = record->number + 1, .header = at};
    if (record->number > MOST_RECORDS)
        FAIL(CUBC_IO_ERROR, "more than %d records, at byte %" PRIu64, MOST_RECORDS, at);
    snprintf(record->what, sizeof record->what, "record %d at byte %" PRIu64, record->number, at);
    TRY(infile_at(file, at, bytes, sizeof bytes, record->what));
    TRY(parse_header(bytes, file->size, record));
    record->loose = loose || record->begin == inside;
    return CUBC_OK;
}

cubc_status lime_text(const infile *file, const lime_record *record, char **out)
{
    if (record->length > MOST_TEXT)
        FAIL(CUBC_IO_ERROR, "%s: %" PRIu64 " bytes, expected a text of at most %d", record->what,
             record->length, MOST_TEXT);
    char *body = mem_alloc((size_t)record->length + 1, 1);
    if (!body) return CUBC_NO_MEMORY;
    cubc_status st = infile_at(file, record->data, body, (size_t)record->length, record->what);
    if (st) {
        mem_free(body);
        return st;
    }
    body[record->length] = '\0';
    *out = body;
    return CUBC_OK;
}

// ---- writing ------------------------------------------------------------------------------------
cubc_status lime_put(const outfile *file, uint64_t *at, const char *type, int flags,
                     const void *data, uint64_t length, uint64_t *data_at)
{
    unsigned char header[LIME_HEADER] = {0};
    static const char zeros[8];
    uint64_t begin = *at + LIME_HEADER, padding = (8 - length % 8) % 8;
    words_store32(header, LIME_MAGIC, true);
    header[5] = LIME_VERSION;
    header[6] = (unsigned char)(flags >> 8);
    words_store64(header + 8, length, true);
    snprintf((char *)header + 16, LIME_TYPE, "%s", type);
    TRY(outfile_once(file, *at, header, sizeof header));
    if (data) TRY(outfile_once(file, begin, data, (size_t)length));
    TRY(outfile_once(file, begin + length, zeros, (size_t)padding));
    if (data_at) *data_at = begin;
    *at = begin + length + padding;
    return CUBC_OK;
}
