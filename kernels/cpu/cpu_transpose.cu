// Transposition of a batch of matrices that follow each other in memory, on the CPU: each single
// thread copies a tile from cache to cache. The host chooses the tile's shape.
//
// %RANGE% TUNE_ITEMS_PER_THREAD ipt 1024:16384:1024
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 1:1:1
//
// ipt   items of a tile
//
// Workload: TUNE_T, type of the items.
// Traffic: every item is read and written once.
#include "integer.h"
#include "types.h"

typedef TUNE_T item_t;

struct transpose_args {
    const item_t* in;
    item_t* out;
    u64 rows, columns;           // extents of an input matrix
    u64 tile_rows, tile_columns; // at most TUNE_ITEMS_PER_THREAD items
};

struct transpose_shared {
    u32 nothing;
};

FUNCTION u64 lesser(u64 a, u64 b) { return a < b ? a : b; }

KERNEL(transpose_tiles, transpose_args, transpose_shared)
{
    (void)s;
    const u64 across = ceil_div(a.columns, a.tile_columns);
    const u64 down = ceil_div(a.rows, a.tile_rows);
    const u64 matrix = block_id() / (across * down), tile = block_id() % (across * down);
    const u64 row = tile / across * a.tile_rows, column = tile % across * a.tile_columns;
    const u32 height = static_cast<u32>(lesser(a.tile_rows, a.rows - row));
    const u32 width = static_cast<u32>(lesser(a.tile_columns, a.columns - column));
    const item_t* const in = a.in + matrix * a.rows * a.columns + row * a.columns + column;
    item_t* const out = a.out + matrix * a.rows * a.columns + column * a.rows + row;
    for (u32 c = 0; c < width; c++)
        for (u32 r = 0; r < height; r++) out[c * a.rows + r] = in[r * a.columns + c];
}
