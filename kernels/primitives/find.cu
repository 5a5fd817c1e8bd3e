// Index of the first item for which a predicate is true, in one launch that ends early.
//
// The items are cut into stretches, each the work of one warp in one step; a tile is the stretches
// of one block. The blocks advance through the tiles side by side, so that the items read so far
// are nearly a prefix of the input. A warp that finds an item sends the item's index as a message
// and writes its stretch's number to a word shared by all blocks, which keeps the lowest number.
// Every block reads that word once a tile and stops if its next tile comes after that stretch. The
// block that ends last knows that no lower stretch can be found, and reads the message of that
// stretch's warp.
//
// The word holds the launch's epoch above the complement of the stretch's number, so that the
// maximum wins and words of earlier launches are smaller (message.h). Nothing is cleared between
// launches.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 4:32:4 cpu=512:8192:512
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:6:1 cpu=1:1:1
// %RANGE% TUNE_ITEMS_PER_VECTOR_LOG2 ipv 0:4:1 cpu=3:7:1
// %RANGE% TUNE_LOAD ld 0:2:1 cpu=0:0:1
// %RANGE% TUNE_WAVES wav 1:1:1 cpu=1:16:1
//
// ipt   items a thread
// mb    least blocks a multiprocessor, which limits the registers a thread
// ipv   items a vector load (log2)
// ld    caching of the loads, see load_bytes16
// wav   blocks, in multiples of those resident at once
//
// Workload:
//     TUNE_T           type of the items
//     TUNE_PREDICATE   an expression of x and of its index i, an i64
//
// Traffic: the items up to the first match, and those of the tiles in flight.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#define TUNE_ORDER 0 // no block waits for another: ranks are not used
#include "block.h"
#include "input.h"
#include "message.h"
#include "types.h"

typedef TUNE_T item_t;
DEFINE_INPUT(TUNE_IN, in_t, item_t)

enum {
    VECTOR = 1 << TUNE_ITEMS_PER_VECTOR_LOG2,
    ROWS = TUNE_ITEMS_PER_THREAD / VECTOR,
    ROW_ITEMS = SIMT_WARP * VECTOR,
    STRETCH = ROWS * ROW_ITEMS
};
enum : u32 { NOT_FOUND = 0xffffffffu };

struct find_args {
    in_t in;
    i64* out;
    u64 n;
    u64* messages; // message 0: word of the lowest stretch; then one index a warp
};

struct find_shared {
    u64 lowest[2]; // as thread 0 has read it, for even and odd steps
};

struct smaller {
    FUNCTION_MEMBER u32 operator()(u32 a, u32 b) const { return a < b ? a : b; }
};

FUNCTION bool holds(in_expression<item_t> x, i64 i)
{
    (void)x;
    (void)i;
    return convert<bool>(TUNE_PREDICATE);
}

FUNCTION u64 stretch_word(u32 tag, u64 stretch)
{
    return static_cast<u64>(tag) << 32 | static_cast<u32>(~stretch);
}

// Returns the place in its stretch of the warp's first match, in all lanes, or NOT_FOUND.
template <bool WHOLE>
FUNCTION u32 search_stretch(const find_args& a, u64 begin)
{
    // Items of the stretch: all of it, or those before the end.
    const u32 count = WHOLE ? STRETCH : begin < a.n ? static_cast<u32>(a.n - begin) : 0;
    const u32 first = lane_id() * VECTOR;
    item_t item[ROWS][VECTOR];
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        const u32 at = first + r * ROW_ITEMS;
        if (WHOLE || at + VECTOR <= count) {
            load_input<TUNE_LOAD>(a.in, begin + at, item[r]);
        } else {
            UNROLL
            for (u32 j = 0; j < VECTOR; j++)
                if (at + j < count) item[r][j] = input_item(a.in, begin + at + j);
        }
    }
    u32 any = 0; // as bits of a word: lets the compiler vectorise the tests
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            const u32 place = first + r * ROW_ITEMS + j;
            any |= static_cast<u32>((WHOLE || place < count) &&
                                    holds(item[r][j], static_cast<i64>(begin + place)));
        }
    }
    if (!warp_ballot(FULL_WARP, any != 0)) return NOT_FOUND;
    u32 found = NOT_FOUND;
    for (u32 k = 0; any && k < ROWS * VECTOR && found == NOT_FOUND; k++) { // reads the items again
        const u32 place = first + k / VECTOR * ROW_ITEMS + k % VECTOR;
        if (place < count &&
            holds(input_item(a.in, begin + place), static_cast<i64>(begin + place)))
            found = place;
    }
    return warp_shuffle(warp_reduce(found, smaller()), 0);
}

// Returns the message slot for the index that a stretch's warp has found.
FUNCTION u64 slot_of(u32 stretch)
{
    const u32 tile = stretch / SIMT_WARPS, warp = stretch % SIMT_WARPS;
    return 1 + static_cast<u64>(tile % block_count()) * SIMT_WARPS + warp;
}

// Writes the result. Called by thread 0 of the block that ends last.
FUNCTION void finish(const find_args& a, ticket mine, u32 tag)
{
    const u64 word = load_relaxed(a.messages + 1);
    i64 index = -1;
    if (word >> 32 == tag)
        index = message_wait<i64>(a.messages, slot_of(static_cast<u32>(~word)), mine);
    *a.out = index;
    close_tickets(a.messages, mine);
}

KERNEL(find_stretches, find_args, find_shared)
{
    const ticket now{static_cast<u32>(load_relaxed(a.messages) >> 32), 0};
    const u32 tag = message_tag(now, MESSAGE_COMPLETE);
    u32 parity = 0;
    bool sent = false;
    for (u64 tile = block_id(); tile * SIMT_WARPS * STRETCH < a.n; tile += block_count()) {
        const u64 stretch = tile * SIMT_WARPS + warp_id(), begin = stretch * STRETCH;
        u64 lowest = 0;
        if (thread_id() == 0) lowest = load_relaxed(a.messages + 1); // arrives along with the items
        const u32 place = begin + STRETCH <= a.n ? search_stretch<true>(a, begin)
                                                 : search_stretch<false>(a, begin);
        if (place != NOT_FOUND && !sent && lane_id() == 0) {
            message_send(a.messages, slot_of(static_cast<u32>(stretch)),
                         static_cast<i64>(begin + place), tag);
            atomic_max(a.messages + 1, stretch_word(tag, stretch));
        }
        sent = sent || place != NOT_FOUND; // this warp's later items cannot be the first
        if (thread_id() == 0) s.lowest[parity] = lowest;
        block_sync();
        const u64 next = (tile + block_count()) * SIMT_WARPS;
        if (s.lowest[parity] >= stretch_word(tag, next)) break;
        parity ^= 1u; // alternates, so that the word is not overwritten while it is read
    }
    if (thread_id() != 0) return; // no barrier follows
    device_fence();               // makes the block's match visible before its arrival
    const ticket mine = take_ticket_in_order(a.messages);
    if (mine.rank + 1 != block_count()) return;
    device_fence();
    finish(a, mine, tag);
}
