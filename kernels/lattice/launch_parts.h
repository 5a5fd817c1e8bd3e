// The blocks of a hop's launch on a lattice that is cut, and the number of the exchange.
//
// A hop is one launch. Its blocks send the faces (faces.h), among those of the sites off the faces;
// then come those of the sites on them, each of which is computed as a whole: sums are in the order
// of a lattice that is not cut. Who waits comes after those that it may wait for on its own rank,
// and these wait for nobody: blocks that fill a GPU while they wait stop no rank.
//
// Where faces of some neighbours are staged (ranks.h) a launch sends the faces, a second one has
// the sites off them, and they are moved before a third launch, which has the sites on them.
#pragma once
#include "face_memory.h"

enum : u32 { ALL_SITES = 0, SITES_OFF_FACES = 1, SITES_ON_FACES = 2, NO_SITES = 3 };
struct launch_part {
    u32 edges; // bit 2 * direction + (1: upper): the face is on the boundary of the whole lattice
    u32 sites; // the core chooses
};

struct exchange_shared {
    u32 place, number;
};

// Returns the place of a block in its launch: blocks of lower places have begun. All threads of the
// block call this.
FUNCTION u32 place_in_launch(rank_table& t, exchange_shared& s)
{
    if constexpr (!TUNE_STAGED && !SIMT_BLOCKS_IN_ORDER) {
        if (thread_id() == 0) {
            const u64 place = atomic_add(&t.started, 1);
            if (place + 1 == block_count()) t.started = 0;
            s.place =
                static_cast<u32>(place % block_count()); // of a launch after a broken one, too
        }
        block_sync();
        return s.place;
    }
    (void)t, (void)s;
    return block_id();
}
