// The exchange of faces in a hop's launch (launch_parts.h): which blocks send them, and the number
// that all blocks take which send or receive. Part of dslash_sites.h.
#pragma once
#include "launch_parts.h"

// Places of the faces of a direction, of both sides and of the parities of the input.
enum : u32 { FACE_PARITIES = BOTH ? 2 : 1 };
template <int MU>
FUNCTION constexpr u32 face_places()
{
    return is_cut<MU>() ? 2 * FACE_DEPTH * FACE_PARITIES * face_sites<MU>() : 0;
}
constexpr u32 FACE_PLACES = face_places<1>() + face_places<2>() + face_places<3>();
constexpr u32 FACE_BLOCKS = ceil_div(FACE_PLACES, SIMT_THREADS); // for the same sources

// Returns how many blocks of a launch send faces.
template <class Fields>
FUNCTION u32 sending_blocks(const Fields& d)
{
    if (TUNE_STAGED && d.part.sites != NO_SITES) return 0;
    return FACE_BLOCKS * ceil_div(static_cast<u32>(d.sources), SPT);
}

// Returns true if any source of a group of `together` is still iterated.
template <class Args>
FUNCTION bool is_group_active(const Args& a, u32 group, u32 together)
{
    const u32 first = group * together;
    for (u32 k = first; k < first + together; k++)
        if (is_wanted(a, k)) return true;
    return false;
}

// A lattice in TILES tiles of EACH sites, of which a block has one for TOGETHER sources.
template <u32 TILES, u32 EACH, u32 TOGETHER>
struct tiling {
};
typedef tiling<DSLASH_BLOCKS, DSLASH_TILE, BLOCK_SOURCES> dslash_tiling;

// Returns how many blocks of a launch send faces or may have sites on them, of sources that are
// iterated: these count themselves (face_memory.h). States are as at the launch's begin until all
// of them have.
template <u32 TILES, u32 EACH, u32 TOGETHER, class Args>
FUNCTION u32 talking_blocks(const Args& a, tiling<TILES, EACH, TOGETHER>)
{
    constexpr u32 EXTERIOR = TUNE_STAGED ? 0 : TILES - interior_tiles(EACH);
    const u32 sources = static_cast<u32>(a.d.sources);
    u32 blocks = 0;
    for (u32 k = 0; k < ceil_div(sources, SPT); k++)
        if (is_group_active(a, k, SPT)) blocks += FACE_BLOCKS;
    for (u32 k = 0; k < ceil_div(sources, TOGETHER) && EXTERIOR > 0; k++)
        if (is_group_active(a, k, TOGETHER)) blocks += EXTERIOR;
    return blocks;
}

template <class Args, class Tiling>
FUNCTION void send_faces(const Args& a, u32 block, Tiling tiles); // faces.h

// Returns the distance between blocks that send faces: 1 where they are the first of the launch, 4
// where every fourth sends. A link between GPUs takes longer for a face than the blocks do; side by
// side they would fill the GPU while they wait for it. Only sites off the faces come between them,
// half of these at most: no block waits before one that sends, and all faces are sent by the middle
// of the launch.
template <u32 TILES, u32 EACH, u32 TOGETHER>
FUNCTION u32 sending_stride(u32 sending, tiling<TILES, EACH, TOGETHER>)
{
    enum : u32 { MOST = 4 };
    if (TUNE_STAGED || sending == 0) return 1;
    const u32 between = interior_tiles(EACH) / (2 * sending);
    return between < MOST - 1 ? between + 1 : MOST;
}

// Begins a block: sends faces, or gives its number among the blocks of sites. Returns false if that
// was all, the same for all of its threads.
template <class Args, class Tiling>
FUNCTION bool begin_block(const Args& a, Tiling tiles, exchange_shared& s, u32& block)
{
    const u32 place = place_in_launch(*a.d.ranks, s), sending = sending_blocks(a.d);
    const u32 stride = sending_stride(sending, tiles);
    const bool among = place < sending * stride;
    const u32 sender = place / stride;
    block = place - (among ? sender + 1 : sending);
    if (!among || place % stride != 0) return true;
    if (is_group_active(a, sender / FACE_BLOCKS, SPT)) send_faces(a, sender, tiles);
    return false;
}

// Returns the number of the exchange of faces, for a block of sources that are iterated which may
// have sites on faces. All threads of the block call this.
template <class Args, class Tiling>
FUNCTION u32 number_of_exchange(const Args& a, Tiling tiles, exchange_shared& s)
{
    rank_table& t = *a.d.ranks;
    if constexpr (TUNE_STAGED) {
        wait_for_flags(t, STAGED_FACES);
        return number_sent_before(t);
    }
    if (thread_id() == 0) s.number = number_sent_now(t);
    block_sync();
    const u32 number = s.number;
    if (thread_id() == 0) count_block(t, talking_blocks(a, tiles));
    return number;
}
