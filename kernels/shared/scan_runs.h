// Runs at which a scan restarts: by keys, by segments, or none. Shared by scan.cu and
// deterministic_scan.cu.
//
//     TUNE_K         type of the keys, if there are any
//     TUNE_EQUAL_SIZE, TUNE_OFFSETS
//                    as in segments.h, if there are segments
//     ROWS, VECTOR   rows and items a row of a thread, and
//     TILE           items a block: enumerators that the kernel defines before
#pragma once
#include "operator.h"
#include "rows.h"
#if defined(TUNE_EQUAL_SIZE)
#include "segment_heads.h"
#endif

struct apply_value {
    FUNCTION_MEMBER value_t operator()(value_t a, value_t b) const { return apply_operator(a, b); }
};

// sum_t: combination of a stretch of items.
#if defined(TUNE_K) || defined(TUNE_EQUAL_SIZE)
enum { IN_RUNS = 1 };
struct sum_t {
    value_t value;
    u32 begins;
};
FUNCTION sum_t sum_of(value_t value, bool head) { return sum_t{value, head}; }
FUNCTION value_t value_of(sum_t sum) { return sum.value; }
// Returns true if what comes before these items makes no difference to those after them.
FUNCTION bool restarts(sum_t sum) { return sum.begins != 0; }
struct apply {
    FUNCTION_MEMBER sum_t operator()(sum_t a, sum_t b) const
    {
        return sum_t{b.begins ? b.value : apply_operator(a.value, b.value), a.begins | b.begins};
    }
};
#else
enum { IN_RUNS = 0 };
typedef value_t sum_t;
FUNCTION sum_t sum_of(value_t value, bool) { return value; }
FUNCTION value_t value_of(sum_t sum) { return sum; }
FUNCTION bool restarts(sum_t) { return false; }
struct apply {
    FUNCTION_MEMBER value_t operator()(value_t a, value_t b) const { return apply_operator(a, b); }
};
#endif

// runs_t: source of the beginnings of runs. open_runs: called by all threads of the block, for the
// tile. find_heads_of_runs: flags the items of rows that begin a run, after it. find_last_head:
// flags those of a row before the tile, or only the last of them.
#if defined(TUNE_EQUAL_SIZE)
typedef segments runs_t;
typedef segment_heads<TILE> runs_shared;
FUNCTION void open_runs(const segments& runs, runs_shared& s, u64 tile)
{
    mark_segment_heads(runs, tile, s);
}
template <bool WHOLE, int COUNT>
FUNCTION void find_heads_of_runs(const segments& runs, const runs_shared& s, u64 tile, u64 first,
                                 u64, bool (&head)[COUNT][VECTOR])
{
    find_segment_heads(runs, s, tile, first, head);
}
FUNCTION void find_last_head(const segments& runs, const runs_shared& s, u64 tile, u64 first, u64,
                             bool (&head)[1][VECTOR])
{
    const u64 of_segment = TUNE_EQUAL_SIZE ? tile % runs.size : s.back;
    // A run that begins with the tile needs no items: any head will do.
    const u32 back = of_segment == 0          ? 1u
                     : of_segment < NOT_FOUND ? static_cast<u32>(of_segment)
                                              : NOT_FOUND;
    const u32 before = static_cast<u32>(tile - first); // items up to the tile
    UNROLL
    for (int j = 0; j < VECTOR; j++) head[0][j] = before - static_cast<u32>(j) == back;
}
#else
#if defined(TUNE_K)
typedef TUNE_K run_key;
#else
typedef u8 run_key;
#endif
typedef const run_key* runs_t;
struct runs_shared {
};
FUNCTION void open_runs(const run_key*, runs_shared&, u64) {}
template <bool WHOLE, int COUNT>
FUNCTION void find_heads_of_runs(const run_key* keys, const runs_shared&, u64, u64 first, u64 n,
                                 bool (&head)[COUNT][VECTOR])
{
    run_key key[COUNT][VECTOR];
    load_rows<WHOLE, TUNE_LOAD>(keys, first, n, key);
    find_heads<WHOLE>(keys, first, n, key, head);
}
FUNCTION void find_last_head(const run_key* keys, const runs_shared& s, u64 tile, u64 first, u64 n,
                             bool (&head)[1][VECTOR])
{
    find_heads_of_runs<true>(keys, s, tile, first, n, head);
}
#endif
