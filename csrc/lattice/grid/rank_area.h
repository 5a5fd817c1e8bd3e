// The insides of ranks, which the files of this folder share.
#ifndef CUBC_LATTICE_RANK_AREA_H
#define CUBC_LATTICE_RANK_AREA_H

#include "device/messenger.h"
#include "lattice/grid/rank_table.h"
#include "lattice/grid/ranks.h"

#include <stdatomic.h>

// A rank's window, as it tells the others.
typedef struct rank_card {
    device_card window;
    uint64_t process; // process_token
    uint64_t device;  // there
} rank_card;

// Windows and a table that are used together. Older ones stay for what was queued or bound.
typedef struct rank_area {
    struct rank_area *older;
    cubc_ranks *ranks;
    size_t face_bytes, slot_bytes, slots_at, window_bytes;
    uint64_t mails;
    int places;       // of a face in a window: 1 if all are staged
    void **windows;   // of all ranks, as this device reaches them; NULL: it does not
    void *outbox;     // of staged messages; in the device's memory, as large as a window
    rank_card *cards; // of all ranks; NULL: they share no memory
    void *table;      // then the numbers of sums, and the windows once more
    // A message that has not come, as its reason and number, and since when; 0: there is none. They
    // are the watch's alone.
    uint64_t late, late_number;
    double late_since;
} rank_area;

typedef struct ranks_watch ranks_watch; // ranks_watch.h

struct cubc_ranks {
    cubc_device *device; // counted
    cubc_comm comm;
    int grid[4], place[4], cut;
    double seconds;
    int32_t *went;      // how a step went on each rank
    messenger *meeting; // waits, with a limit, for all ranks before an all_gather, which has none;
                        // NULL where comm has all_gather alone
    bool apart;         // ranks did not all come to a step, and may not agree
    cubc_ranks_transport wanted; // by the caller
    messenger *messenger;        // NULL: ranks reach each other's memory
    uint64_t *hosts;         // of all ranks: those of one reach each other's memory though there
                             // is a messenger; NULL: none do
    ranks_watch *watch;      // of a messenger that fails by itself
    _Atomic uint64_t failed; // the reason, of messages that are moved; 0: none
    char why[512];           // what the library of messages says of it; complete before
    atomic_bool failing;     // taken by the thread that writes both
    _Atomic(rank_area *) newest; // the watch reads them
};

// ---- ranks_agree.c ------------------------------------------------------------------------------
// Gathers `bytes` bytes of every rank.
cubc_status ranks_gather(cubc_ranks *r, const void *mine, void *all, size_t bytes);
// Ends a step that all ranks take or none, by telling the others how it went here. `lacks` says
// what another rank could not do.
cubc_status ranks_agree_on(cubc_ranks *r, cubc_status mine, const char *lacks);
// The same of a step that makes memory.
cubc_status ranks_agree(cubc_ranks *r, cubc_status mine);

// ---- ranks_transport.c --------------------------------------------------------------------------
// Chooses the transport for good, when there is memory to share for the first time.
cubc_status ranks_choose_transport(cubc_ranks *r);
void ranks_close_messenger(cubc_ranks *r); // and its watch

// ---- ranks_place.c ------------------------------------------------------------------------------
// The place of a rank in the grid.
void ranks_place_of(const cubc_ranks *r, int rank, int place[4]);
// The rank behind a face of another.
int ranks_neighbour(const cubc_ranks *r, int rank, int face);
// True if this rank leaves faces in the memory of another, or in its own.
bool ranks_reach(const cubc_ranks *r, int rank);

// ---- ranks_failure.c ----------------------------------------------------------------------------
// Notes the first failure of messages, with the text of an error or "".
void ranks_fail(cubc_ranks *r, uint64_t reason, const char *why);
// Fails with the reason if messages have failed.
cubc_status ranks_failure(const cubc_ranks *r);

#endif
