// Transposition of a batch of matrices that follow each other in memory.
//
// A block reads a tile along its rows into shared memory and writes it along its columns, so that
// both accesses are coalesced. The rows in shared memory are an odd number of items apart, which
// avoids bank conflicts of lanes that go down a column. The host chooses the tile's shape: for
// narrow matrices the tile is as narrow as the matrix and longer, and is contiguous in memory. On
// the CPU it is cpu_transpose.cu.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 2:32:2
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 64:1024:64
// %RANGE% TUNE_MIN_BLOCKS mb 1:8:1
//
// ipt   items a thread in a tile
// mb    least blocks a multiprocessor, which limits the registers a thread
//
// Workload: TUNE_T, type of the items.
// Traffic: every item is read and written once.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "integer.h"
#include "thread.h"
#include "types.h"

typedef TUNE_T item_t;

enum {
    ITEMS = TUNE_ITEMS_PER_THREAD,
    TILE = ITEMS * SIMT_THREADS,
    ROOM = TILE + TILE / 16 // as the host computes it, too
};

struct transpose_args {
    const item_t* in;
    item_t* out;
    u64 rows, columns;           // extents of an input matrix
    u64 tile_rows, tile_columns; // at most TILE items, ROOM including the padding
};

struct transpose_shared {
    item_t item[ROOM];
};

// Position in a tile of rows of `length` items; step() moves to the thread's next one.
struct walk {
    u32 row, at;
    FUNCTION_MEMBER void step(u32 length)
    {
        row += SIMT_THREADS / length;
        at += SIMT_THREADS % length;
        if (at >= length) {
            at -= length;
            row++;
        }
    }
};

FUNCTION u64 lesser(u64 a, u64 b) { return a < b ? a : b; }

KERNEL(transpose_tiles, transpose_args, transpose_shared)
{
    const u64 across = ceil_div(a.columns, a.tile_columns);
    const u64 down = ceil_div(a.rows, a.tile_rows);
    const u64 matrix = block_id() / (across * down), tile = block_id() % (across * down);
    const u64 row = tile / across * a.tile_rows, column = tile % across * a.tile_columns;
    const u32 height = static_cast<u32>(lesser(a.tile_rows, a.rows - row));
    const u32 width = static_cast<u32>(lesser(a.tile_columns, a.columns - column));
    const item_t* const in = a.in + matrix * a.rows * a.columns + row * a.columns + column;
    item_t* const out = a.out + matrix * a.rows * a.columns + column * a.rows + row;
    const u32 count = width * height, stride = width | 1u;
    item_t item[ITEMS];
    const walk first = {thread_id() / width, thread_id() % width};
    walk w = first;
    UNROLL
    for (u32 i = 0; i < ITEMS; i++, w.step(width))
        if (i * SIMT_THREADS + thread_id() < count) item[i] = in[w.row * a.columns + w.at];
    w = first;
    UNROLL
    for (u32 i = 0; i < ITEMS; i++, w.step(width))
        if (i * SIMT_THREADS + thread_id() < count) s.item[w.row * stride + w.at] = item[i];
    block_sync();
    w = {thread_id() / height, thread_id() % height};
    UNROLL
    for (u32 i = 0; i < ITEMS; i++, w.step(height))
        if (i * SIMT_THREADS + thread_id() < count)
            out[w.row * a.rows + w.at] = s.item[w.at * stride + w.row];
}
