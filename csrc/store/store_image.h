// A store's file as it was at one moment, in memory.
//
// Reading through SQLite's own files would write: it plays back a journal that it takes for a
// killed writer's (and deletes what that journal names), makes files of shared memory, and leaves
// them behind. Here the file is only read, under SQLite's shared lock, and so is its write-ahead
// log, whose committed frames replace the pages that they are of.
#ifndef CUBC_STORE_IMAGE_H
#define CUBC_STORE_IMAGE_H

#include "base/base.h"

enum {
    IMAGE_HEADER = 100,    // the least bytes of a store
    IMAGE_LOG_HEADER = 32, // the least bytes of its log
};
typedef struct store_image {
    uint8_t *bytes; // of mem_*
    size_t size;
} store_image;

// Waits for a writer that holds the file alone, at most so long. Refuses a file whose journal waits
// to be played back.
cubc_status image_read(const char *path, double wait_s, store_image *out);
// The first bytes of any plain file, `most` of them at most. A file that may be a store is looked
// at by no other means: closing it would take away the locks that SQLite has of it in this process.
cubc_status image_read_begin(const char *path, size_t most, store_image *out);
void image_free(store_image *image);
// Applies the committed frames of a log, if there is one; one that is not of this file, or damaged,
// ends where its checksums do, as for SQLite.
cubc_status image_apply_log(const char *path, const uint8_t *log, size_t size, store_image *image);
// Polls for Ctrl-C between two parts of a long read.
static inline cubc_status image_check_interrupt(const char *path)
{
    if (interrupt_pending()) FAIL(CUBC_INTERRUPTED, "interrupted while reading %s", path);
    return CUBC_OK;
}
// Refuses a journal that would have a file deleted once it is played back, and a journal or a log
// that is no plain file.
cubc_status image_check_journal(const char *path);

// Name of an SQLite file system that has one file, the image that this thread is about to open.
cubc_status image_file_system(const store_image *image, const char **name);

#endif
