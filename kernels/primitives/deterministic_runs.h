// Runs of equal keys for the reduction by key in deterministic_scan.cu. Replaces scan_runs.h there,
// and writes one result a run.
//
// The partial result of a stretch of items also counts the runs that begin in it, so that a prefix
// gives the number of its item's run. A run's result is the prefix at its last item.
//
//     TUNE_K         type of the keys, which may be lazy (TUNE_KEYS... of input.h)
//     TUNE_COUNT     an unsigned type that counts the runs
//     ROWS, VECTOR   rows and items a row of a thread; enumerators that the kernel defines before
#pragma once
#include "operator.h"
#include "rows.h"

typedef TUNE_K run_key;
DEFINE_INPUT(TUNE_KEYS, runs_t, run_key)

enum { IN_RUNS = 1 };
struct sum_t {
    value_t value; // since the last head
    TUNE_COUNT begins;
};
struct runs_shared {
};
FUNCTION sum_t sum_of(value_t value, bool head) { return sum_t{value, head}; }
struct apply {
    FUNCTION_MEMBER sum_t operator()(sum_t a, sum_t b) const
    {
        return sum_t{b.begins ? b.value : apply_operator(a.value, b.value), a.begins + b.begins};
    }
};

// Output arrays of the runs.
struct results_t {
    out_t* results;
    run_key* keys;
    u64* count;
};

// Keys of a thread's items. head: the item begins a run; behind: so does the item after the row.
struct run_items {
    run_key key[ROWS][VECTOR];
    bool head[ROWS][VECTOR], behind[ROWS];
};

template <bool WHOLE>
FUNCTION void find_runs(const runs_t& keys, u64 first, u64 n, run_items& items)
{
    load_rows<WHOLE, TUNE_LOAD>(keys, first, n, items.key);
    find_heads<WHOLE>(keys, first, n, items.key, items.head);
    heads_behind(keys, first, n, items.key, items.head, items.behind);
}

// Writes the key if item i, the j-th of row r, begins its run, and the result, its inclusive prefix
// `through`, if the item ends its run.
FUNCTION void write_run(const results_t& out, u64 i, u64 n, const run_items& items, int r, int j,
                        sum_t through)
{
    const bool last = j + 1 < VECTOR ? items.head[r][j + (j + 1 < VECTOR)] : items.behind[r];
    if (i >= n) return;
    if (items.head[r][j]) out.keys[through.begins - 1] = items.key[r][j];
    if (last) out.results[through.begins - 1] = convert<out_t>(through.value);
    if (i + 1 == n) *out.count = through.begins;
}
