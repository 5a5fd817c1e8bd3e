// The store of measurements: one SQLite file, safe for several processes at once.
//
// A row is keyed by what makes two timings comparable: the physical device (by UUID), the versions
// of driver, runtime and compiler, the hash of the kernel source with its compile-time workload,
// the benchmark, the variant and the run-time workload; and by the round, since what did best is
// measured again. Raw samples are kept in measured order, the base's samples taken alongside with
// them. Rows are only ever added: a row that is already there is left alone, but for that of calls
// which a program is still making. A kill at any moment loses nothing that store_add returned for.
//
// Trust. A store may come from anybody, damaged or made to harm. One rule for all reading: the core
// copies the file and the committed frames of its log into memory and hands SQLite that copy only
// (store_image.h). A reader therefore writes nothing, plays no journal back and needs no right but
// to read. A file is a store if every statement of its schema is one of ours, letter by letter
// (store_schema.c); this is looked at in the copy, after the log was applied. Every value is
// bounded and checked, and a row has a checksum over all that was stored of it. A writer opens the
// file itself, after the same look at its schema; SQLite then finishes what a killed writer left
// half done, unless the journal names another file to delete: then it is refused. A corrupt,
// foreign, locked, read-only or newer file gives CUBC_STORE_ERROR with what to do next.
#ifndef CUBC_STORE_H
#define CUBC_STORE_H

#include "store/store_columns.h"

typedef struct store store;

typedef struct store_row { // the columns that a caller gives
    STORE_COLUMNS(STORE_MEMBER_GIVEN)
} store_row;

typedef struct store_record { // a row as read back; strings live until the next step
    store_row row;
    int64_t id;
    STORE_COLUMNS(STORE_MEMBER_STORED)
} store_record;

enum { STORE_READ = 1, STORE_CREATE = 2 };
cubc_status store_open(const char *path, int mode, store **out);
// The same, which waits this long for another process's lock, and so do later calls.
cubc_status store_open_within(const char *path, int mode, double wait_s, store **out);
// A child of fork may close a store of its parent, which does nothing to the file, and no more. It
// may open the file anew: for reading alone if its parent had it open for writing.
void store_close(store *s);
// Sets the time for which a call waits for another process's lock; 10 s by default.
cubc_status store_set_wait(store *s, double seconds);
// The device (and environment) that rows added from here on were measured on.
// One GPU with ECC switched, or one cpu with fewer worker threads, counts as another device.
cubc_status store_device(store *s, const device_info *info, const char *version);
// Adds one row, durable on return; a message that is too long is cut. A row of the same key is left
// as it was, unless it says only that the variant was not worth a measurement ("lost", "pruned")
// and this one measures it, or this one says that a variant was wrong or a fault; *added says
// which.
cubc_status store_add(store *s, const store_row *row, bool *added);
// Adds several in one transaction, all or none; ids[i] is that of the row that the store then has
// of the key of row i. Row i is of devices[i], which then becomes the store's; equal ones that
// follow each other are one pointer. NULL: all are of that which is set.
cubc_status store_add_all(store *s, const store_row *rows, const device_info *const *devices,
                          const char *version, int count, int64_t *ids);
// The same of calls that are still being made (status "recorded"): a row of that status, key and
// message, which no other recording has, is renewed. *is_put is false where the row of the key is
// of another one, which stays as it is.
cubc_status store_put_calls(store *s, const store_row *row, bool *is_put);
// Adds all rows of a store that is open for reading, with their devices, environments and moments,
// in one transaction: all or none. *added counts those that were not there; a row that is damaged
// is an error, as is a `from` that is open for writing. What it holds is checked as in all reading.
// The file of `to` alone has all rows then; if they stay in the log beside it, as where the disk is
// full, that is an error, too.
// The device of `to` has to be set again before rows are added.
//
// Where `replace` is set, they take the place of all rows that `to` has, unless somebody else has
// written to it since it was opened. Its devices, environments and benchmarks keep their numbers,
// which others that have it open go by.
cubc_status store_merge(store *to, store *from, bool replace, int64_t *added, int64_t *all);
// True if rows are safe in a log beside the file (WAL); false where the file system has no memory
// that processes share, or for a reader.
bool store_has_log(const store *s);
// Sets *id to the number of the row with this key, for the current device and environment, if there
// is one.
cubc_status store_find(store *s, const store_row *key, int64_t *id, bool *found);

// Iteration over all rows, in order of id: begin, then next until *more is false, then end (before
// the store is closed). A store that is open for reading is as it was when it was opened. A row
// that is damaged, or whose checksum is not that of its values, is CUBC_STORE_ERROR naming its id;
// next then goes on after it.
typedef struct store_cursor store_cursor;
cubc_status store_begin(store *s, store_cursor **out);
// The same from the row with a number on.
cubc_status store_begin_at(store *s, int64_t id, store_cursor **out);
cubc_status store_next(store_cursor *c, store_record *record, bool *more);
void store_end(store_cursor *c);

#endif
