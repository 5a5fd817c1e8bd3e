// The memory by which kernels of ranks talk, as the core makes it: a table for each rank, and its
// window. kernels/grid/ranks.h has the same, and explains it; tests/lattice/test_rank_table.py
// compares the two.
#ifndef CUBC_LATTICE_RANK_TABLE_H
#define CUBC_LATTICE_RANK_TABLE_H

#include "base/integer.h"

enum { FACES = 8, SLOTS = 6, FLAGS_AT = 64, MAIL_AT = 256, MAIL_VALUES = 8, ALIGNMENT = 256 };
enum { STAGED_SUMS = FACES }; // the bit of sums

// Values as words that are tagged with the number of their mail.
typedef struct rank_mail {
    uint64_t value[MAIL_VALUES][2];
} rank_mail;
static inline uint32_t tag_of(uint64_t number)
{
    return (uint32_t)number | 0x80000000;
}

typedef struct rank_table {
    uint64_t sent, arrived, started, finished, nanoseconds, rank, ranks, staged, mails, slots_at,
        slot_bytes;
    uint64_t sums, mine, neighbour[FACES], reached, windows;
} rank_table;

// The reason of a failure: the message that did not come, the rank that waited, and what it waited
// for, a face or a rank. MESSAGE_MOVED: one between two launches, of a rank or of NOBODY.
enum { MESSAGE_FACE = 1, MESSAGE_SUM = 2, MESSAGE_MOVED = 3, NOBODY = 0xffffff };
static inline uint64_t rank_failure(int message, int rank, int from)
{
    return (uint64_t)message << 48 | (uint64_t)rank << 24 | (uint64_t)from;
}

// Where slots of faces begin in a window that has room for so many mails.
static inline uint64_t rank_slots_at(uint64_t mails)
{
    return round_up(MAIL_AT + mails * sizeof(rank_mail), ALIGNMENT);
}

// The slot of a face, in one of the places that faces have in turn. There is none of x.
static inline uint64_t rank_slot(int face, uint64_t place)
{
    return place * SLOTS + (uint64_t)face - 2;
}

// Where a slot has the norms of sites of so many bytes: behind the most that there is room for.
static inline uint64_t rank_norms_at(uint64_t slot_bytes, uint64_t site_bytes)
{
    return slot_bytes / (site_bytes + sizeof(float)) * site_bytes;
}

#endif
