// The write-ahead log of a store, applied to its file in memory: see store_image.h.
//
// The format is SQLite's (sqlite.org/fileformat2.html): a header, then frames of one page each. The
// checksums of header and frames continue one another, so that the first that differs is the end.
#include "store/store_image.h"

#include "base/words.h"

enum { FRAME_HEADER = 24, MOST_PAGE = 65536 };

static uint32_t big_endian(const uint8_t *at)
{
    return words_load32(at, true);
}

typedef struct log_reader {
    const uint8_t *bytes;
    size_t page, frames; // bytes of a page; frames that are whole
    bool big;            // the words that checksums add up are big-endian
    uint32_t checksums[2];
} log_reader;

static void add_up(log_reader *l, const uint8_t *at, size_t size)
{
    uint32_t s0 = l->checksums[0], s1 = l->checksums[1];
    for (const uint8_t *end = at + size; at < end; at += 8) {
        s0 += words_load32(at, l->big) + s1;
        s1 += words_load32(at + 4, l->big) + s0;
    }
    l->checksums[0] = s0;
    l->checksums[1] = s1;
}

static bool begins_log(log_reader *l, const uint8_t *log, size_t size)
{
    if (size < IMAGE_LOG_HEADER || (big_endian(log) & ~1u) != 0x377f0682u) return false;
    if (big_endian(log + 4) != 3007000) return false;
    *l = (log_reader){.bytes = log, .page = big_endian(log + 8), .big = big_endian(log) & 1};
    if (l->page < 512 || l->page > MOST_PAGE || (l->page & (l->page - 1))) return false;
    l->frames = (size - IMAGE_LOG_HEADER) / (FRAME_HEADER + l->page);
    add_up(l, log, 24);
    return l->checksums[0] == big_endian(log + 24) && l->checksums[1] == big_endian(log + 28);
}

static const uint8_t *frame_at(const log_reader *l, size_t index)
{
    return l->bytes + IMAGE_LOG_HEADER + index * (FRAME_HEADER + l->page);
}

// Frames up to the last one that ends a transaction, and the pages that the store then has.
static cubc_status committed(const char *path, log_reader *l, size_t *frames, uint64_t *pages)
{
    *frames = 0;
    for (size_t k = 0; k < l->frames; k++) {
        const uint8_t *frame = frame_at(l, k);
        if (k % 1024 == 0) TRY(image_check_interrupt(path));
        if (big_endian(frame) == 0 || memcmp(frame + 8, l->bytes + 16, 8) != 0) break;
        add_up(l, frame, 8);
        add_up(l, frame + FRAME_HEADER, l->page);
        if (l->checksums[0] != big_endian(frame + 16) || l->checksums[1] != big_endian(frame + 20))
            break;
        if (big_endian(frame + 4) == 0) continue;
        *frames = k + 1;
        *pages = big_endian(frame + 4);
    }
    return CUBC_OK;
}

static cubc_status apply(const char *path, const uint8_t *log, size_t size, store_image *image)
{
    log_reader l;
    size_t frames;
    uint64_t pages = 0;
    if (!begins_log(&l, log, size)) return CUBC_OK;
    TRY(committed(path, &l, &frames, &pages));
    if (!frames) return CUBC_OK;
    size_t page = (size_t)image->bytes[16] << 8 | image->bytes[17], had = image->size / l.page;
    if ((page == 1 ? MOST_PAGE : page) != l.page || pages > had + frames)
        FAIL(CUBC_STORE_ERROR, "%s-wal is not the log of %s: move it away", path, path);
    size_t bytes = (size_t)pages * l.page;
    if (bytes > image->size) {
        uint8_t *grown = mem_realloc(image->bytes, bytes, 1);
        if (!grown) return CUBC_NO_MEMORY;
        memset(grown + image->size, 0, bytes - image->size);
        image->bytes = grown;
    }
    image->size = bytes;
    for (size_t k = 0; k < frames; k++) {
        const uint8_t *frame = frame_at(&l, k);
        size_t at = (size_t)big_endian(frame) - 1;
        if (at < pages) memcpy(image->bytes + at * l.page, frame + FRAME_HEADER, l.page);
    }
    return CUBC_OK;
}

cubc_status image_apply_log(const char *path, const uint8_t *log, size_t size, store_image *image)
{
    TRY(apply(path, log, size, image));
    // Every page is in its place: the header is to say that there is no log.
    for (int k = 18; k < 20; k++)
        if (image->bytes[k] == 2) image->bytes[k] = 1;
    return CUBC_OK;
}
