// Radix selection of the k lowest keys of n, by many blocks, for topk.cu.
//
// It goes from the highest digit down. The counts of the keys' first digit determine
// the digit of the k-th key. Keys of a lower digit are selected. Keys of the same digit are
// candidates, for which the next digit decides, until after the last digit all candidates equal the
// k-th key (Zhang, Naruse, Li and Wang, "Parallel Top-K Algorithms on GPU: A Comprehensive Study
// and New Methods", SC23). A pass writes the selected items and the candidates, and counts the
// candidates' next digit. Each block finds the digit from the counts, so that nothing goes through
// the host. If the candidates do not fit their buffer, they are not written, and the next pass
// finds them again in this pass's input.
//
// A pass keeps the items' order by look-back (lookback.h), so that the lowest indices are selected
// among equal keys, and the result is the same from run to run. Blocks take tiles in order until
// there are none, because only the device knows their number.
//
// Each stage, the first count or a pass, is a launch. Behind a filter, which mostly leaves nothing
// to do, all are one, as a launch that returns at once takes a microsecond (IN_ORDER). Then a
// stage begins when all tiles of the one before are done: a block waits for blocks that run, never
// for one that has not begun. That takes longer than a launch.
#pragma once

struct ranks { // items before a place, or in it
    offset_t selected, equal;
};
FUNCTION ranks operator+(ranks a, ranks b)
{
    return {static_cast<offset_t>(a.selected + b.selected),
            static_cast<offset_t>(a.equal + b.equal)};
}
FUNCTION ranks ranks_of(u32 packed) { return {packed & (EQUAL - 1), packed / EQUAL}; }

struct topk_shared {
    u32 bins[RADIX * COPIES];
    block_sum_storage<u64> sum;
    u32 digit;        // digit of the k-th key
    u64 below, equal; // candidates of lower digits, and of this digit
    u64 tile[2];      // of this turn and the one before
    u32 warp_ranks[WARPS];
    ranks prefix;
};

// ---- digits -------------------------------------------------------------------------------------
// Returns the lowest bit of a pass's digit; the next function returns the bits of the digit.
FUNCTION u32 shift_of(u32 pass)
{
    const u32 above = (pass + 1) * TUNE_RADIX_BITS;
    return above < KEY_BITS ? KEY_BITS - above : 0;
}
FUNCTION u32 bits_of_pass(u32 pass)
{
    const u32 left = KEY_BITS - pass * TUNE_RADIX_BITS;
    return left < TUNE_RADIX_BITS ? left : static_cast<u32>(TUNE_RADIX_BITS);
}

FUNCTION void clear_bins(topk_shared& s)
{
    for (u32 b = thread_id(); b < RADIX * COPIES; b += SIMT_THREADS) s.bins[b] = 0;
}

// Counts a key's digit; neighbours count in different copies. j is the item's place in its vector.
FUNCTION void count_digit(topk_shared& s, key_t key, cut c, u32 j)
{
    shared_add(&s.bins[digit_of(key, c) * COPIES + (lane_id() + j) % COPIES], 1);
}

FUNCTION void add_bins(const topk_shared& s, u64* bins)
{
    for (u32 b = thread_id(); b < RADIX; b += SIMT_THREADS) {
        u32 count = 0;
        for (u32 c = 0; c < COPIES; c++) count += s.bins[b * COPIES + c];
        if (count) atomic_add(bins + b, count);
    }
}

// Finds the digit of the rank-th candidate, in every block. If there are fewer candidates, because
// the input is being changed, it is the lowest digit with no candidates.
FUNCTION void find_digit(topk_shared& s, const u64* bins, u64 rank)
{
    u64 count[BINS], mine = 0;
    if (thread_id() == 0) {
        s.digit = 0;
        s.below = s.equal = 0;
    }
    UNROLL
    for (int j = 0; j < BINS; j++) {
        count[j] = my_bin(j) < RADIX ? bins[my_bin(j)] : 0;
        mine += count[j];
    }
    u64 before = block_exclusive_sum(mine, s.sum);
    UNROLL
    for (int j = 0; j < BINS; j++) {
        if (before <= rank && rank < before + count[j]) {
            s.digit = my_bin(j);
            s.below = before;
            s.equal = count[j];
        }
        before += count[j];
    }
    block_sync();
}

// ---- tiles: stage 0 counts the first digit, and stage 1 + p is pass p ---------------------------
// Calls take(tile) for tiles that no other block takes, and adds what the block has counted to
// `bins` if there are any.
template <class Take>
FUNCTION void take_tiles(const topk_args& a, topk_shared& s, u32 stage, u64 count, u64* bins,
                         Take take)
{
    u32 counted = 0; // upper bound of counted items: add up before bins overflow
    u64 taken = 0;
    clear_bins(s);
    NO_UNROLL
    for (;;) {
        u64& next = s.tile[taken % 2];
        if (thread_id() == 0) next = atomic_add(a.next_tile + stage, 1);
        block_sync();
        const u64 tile = next;
        if (tile * TILE >= count) break;
        if (counted > 0x7fffffffu) {
            add_bins(s, bins);
            block_sync();
            clear_bins(s);
            block_sync();
            counted = 0;
        }
        counted += bins ? TILE : 0;
        taken++;
        take(tile);
    }
    if (bins) add_bins(s, bins);
    if constexpr (!IN_ORDER) return;
    block_sync();
    if (thread_id() == 0) {
        device_fence();
        atomic_add(a.done + stage, taken);
    }
}

// Waits until a stage is done. Its results are visible then.
FUNCTION void wait_for_tiles(const topk_args& a, u32 stage, u64 count)
{
    const u64 tiles = ceil_div(count, TILE);
    if (thread_id() == 0) {
        while (load_relaxed(a.done + stage) < tiles) spin_pause();
        device_fence();
    }
    block_sync();
}

// ---- the first count ----------------------------------------------------------------------------
FUNCTION void count_tile(const topk_args& a, topk_shared& s, u64 tile)
{
    const cut first{shift_of(0), (1u << bits_of_pass(0)) - 1u};
    key_t key[ROWS][VECTOR];
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = tile * TILE + (static_cast<u64>(r) * SIMT_THREADS + thread_id()) * VECTOR;
        if (at + VECTOR <= a.n) load_keys<TUNE_LOAD>(a.in, at, key[r]);
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        const u64 at = tile * TILE + (static_cast<u64>(r) * SIMT_THREADS + thread_id()) * VECTOR;
        if (at + VECTOR <= a.n) {
            UNROLL
            for (u32 j = 0; j < VECTOR; j++) count_digit(s, encode(key[r][j]), first, j);
        } else
            for (u64 i = at; i < a.n; i++) count_digit(s, encode(key_item(a.in, i)), first, 0);
    }
}

// ---- a pass -------------------------------------------------------------------------------------
struct pass_plan { // decisions that all blocks of a pass share
    pass_state state, next;
    u64 count; // items to process
    u32 pass, shift, digit;
    key_t base;      // first digits of the candidates' keys
    bool last, keep; // the last pass; candidates are written
    u32 equal_rank;  // 0: candidates are only counted
    cut next_cut;
};

// Returns a candidate's digit. For any other item the result is larger than all digits; lower keys
// wrap around.
FUNCTION key_t digit_above(key_t key, const pass_plan& p)
{
    return static_cast<key_t>((key >> p.shift) - p.base);
}

FUNCTION u32 ranks_in(key_t key, const pass_plan& p)
{
    const key_t digit = digit_above(key, p);
    return (digit < p.digit ? 1u : 0u) + (digit == p.digit ? p.equal_rank : 0u);
}

FUNCTION pass_plan plan_pass(const topk_args& a, topk_shared& s, u32 pass, const pass_state& state)
{
    pass_plan p;
    p.pass = pass;
    p.state = state;
    p.count = p.state.source ? p.state.count : a.n;
    find_digit(s, a.bins + p.pass * RADIX, a.k - 1 - p.state.selected);
    p.shift = shift_of(p.pass);
    p.digit = s.digit;
    p.base = static_cast<key_t>(p.state.prefix << bits_of_pass(p.pass));
    p.last = p.pass + 1 == PASSES;
    p.keep = !p.last && s.equal <= a.room;
    p.equal_rank = p.last || p.keep ? EQUAL : 0;
    p.next.prefix = static_cast<u64>(p.base) + s.digit;
    p.next.selected = p.state.selected + s.below;
    p.next.count = s.equal;
    p.next.source = !p.keep ? p.state.source : p.state.source == 1 ? 2 : 1;
    if (!p.last) p.next_cut = cut{shift_of(p.pass + 1), (1u << bits_of_pass(p.pass + 1)) - 1u};
    return p;
}

FUNCTION void put_found(const topk_args& a, u64 place, key_t key, u64 index)
{
    if (!a.kept) {
        put_result(a, place, key, index);
        return;
    }
    a.kept[place] = key;
    a.kept_indices[place] = static_cast<offset_t>(index);
}

// Writes an item whose rank is known. If the input is changed between the passes, the selected
// items are arbitrary, but nothing is read or written out of bounds.
FUNCTION void put_item(const topk_args& a, topk_shared& s, const pass_plan& p, key_t key, u64 index,
                       ranks before, u32 j)
{
    const bool selected = digit_above(key, p) < p.digit;
    if (selected || p.last) {
        const u64 place =
            selected ? p.state.selected + before.selected : p.next.selected + before.equal;
        if (place < a.k && index < a.n) put_found(a, place, key, index);
    } else if (before.equal < a.room) {
        count_digit(s, key, p.next_cut, j);
        key_t* const keys = p.next.source == 1 ? a.keys_1 : a.keys_2;
        offset_t* const indices = p.next.source == 1 ? a.indices_1 : a.indices_2;
        keys[before.equal] = key;
        indices[before.equal] = static_cast<offset_t>(index);
    }
}

template <bool INPUT, bool WHOLE>
FUNCTION void load_pass_tile(const topk_args& a, const pass_plan& p, u64 begin, u32 items,
                             u32 first, key_t (&key)[ROWS][VECTOR])
{
    const auto in = input_from(a.in, begin);
    const key_t* const kept = (p.state.source == 1 ? a.keys_1 : a.keys_2) + begin;
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        const u32 at = first + r * ROW_ITEMS;
        if (WHOLE || at + VECTOR <= items) {
            if constexpr (INPUT)
                load_keys<TUNE_LOAD>(in, at, key[r]);
            else
                load_items<0>(kept + at, key[r]);
        } else {
            UNROLL
            for (u32 j = 0; j < VECTOR; j++)
                if (at + j < items) key[r][j] = INPUT ? key_item(in, at + j) : kept[at + j];
        }
    }
}

// Encodes the keys, and returns the selected and equal items of the thread, packed, as in_lane has
// those of each row. Equal ones that are not written are counted by their next digit here.
template <bool INPUT, bool WHOLE>
FUNCTION u32 find_ranked(topk_shared& s, const pass_plan& p, u32 items, u32 first,
                         key_t (&key)[ROWS][VECTOR], u32 (&in_lane)[ROWS])
{
    u32 all = 0;
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        const u32 at = first + r * ROW_ITEMS;
        u32 below = 0, equal = 0;
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            if constexpr (INPUT) key[r][j] = encode(key[r][j]);
            const key_t digit = digit_above(key[r][j], p);
            below += static_cast<u32>((WHOLE || at + j < items) && digit < p.digit);
            equal += static_cast<u32>((WHOLE || at + j < items) && digit == p.digit);
        }
        in_lane[r] = below + equal * p.equal_rank;
        all += in_lane[r];
        if (p.equal_rank || !equal) continue;
        UNROLL
        for (u32 j = 0; j < VECTOR; j++)
            if ((WHOLE || at + j < items) && digit_above(key[r][j], p) == p.digit)
                count_digit(s, key[r][j], p.next_cut, j);
    }
    return all;
}

// Returns the packed items of the warps before, and has the prefix of the tile in shared memory.
// in_warp: those of this warp.
FUNCTION u32 rank_warps(const topk_args& a, topk_shared& s, const pass_plan& p, u64 tile,
                        u32 in_warp)
{
    u64* const messages = a.messages + p.pass * a.message_words;
    if (lane_id() == 0) s.warp_ranks[warp_id()] = in_warp;
    block_sync();

    const u32 warps_through = warp_scan(s.warp_ranks[lane_id() < WARPS ? lane_id() : 0], plus());
    if (warp_id() == 0) {
        const ranks total = ranks_of(warp_shuffle(warps_through, WARPS - 1));
        const ticket mine{0, static_cast<u32>(tile)};
        ranks prefix{};
        send_total(messages, mine, total);
        if (tile > 0) prefix = look_back<ranks>(messages, tile, mine, plus());
        if (lane_id() == 0) {
            message_send(messages, tile, prefix + total, message_tag(mine, MESSAGE_COMPLETE));
            s.prefix = prefix;
        }
    }
    block_sync();
    return warp_shuffle(warps_through, warp_id()) - in_warp;
}

template <bool INPUT, bool WHOLE>
FUNCTION void pass_tile(const topk_args& a, topk_shared& s, const pass_plan& p, u64 tile)
{
    const u64 begin = tile * TILE;
    const u32 items = WHOLE                    ? TILE
                      : p.count - begin < TILE ? static_cast<u32>(p.count - begin)
                                               : TILE;
    const u32 first = warp_id() * (ROWS * ROW_ITEMS) + lane_id() * VECTOR;
    key_t key[ROWS][VECTOR];
    u32 in_lane[ROWS], before[ROWS], in_warp = 0; // before: in the warp's lanes and rows before
    load_pass_tile<INPUT, WHOLE>(a, p, begin, items, first, key);
    const u32 all = find_ranked<INPUT, WHOLE>(s, p, items, first, key, in_lane);
    const bool some = warp_ballot(FULL_WARP, all != 0) != 0;
    if (some) { // otherwise there is nothing to place
        UNROLL
        for (u32 r = 0; r < ROWS; r++) {
            const u32 through = warp_scan(in_lane[r], plus());
            before[r] = in_warp + through - in_lane[r];
            in_warp += warp_shuffle(through, SIMT_WARP - 1);
        }
    }
    const u32 before_warp = rank_warps(a, s, p, tile, in_warp);
    if (!some) return; // the next barrier is the caller's, for all warps
    const offset_t* const indices = p.state.source == 1 ? a.indices_1 : a.indices_2;
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        u32 packed = before_warp + before[r];
        if (!in_lane[r]) continue;
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            const u32 at = first + r * ROW_ITEMS + j;
            const u32 counted = WHOLE || at < items ? ranks_in(key[r][j], p) : 0;
            if (!counted) continue;
            put_item(a, s, p, key[r][j], INPUT ? begin + at : indices[begin + at],
                     s.prefix + ranks_of(packed), j);
            packed += counted;
        }
    }
}

FUNCTION void take_pass(const topk_args& a, topk_shared& s, const pass_plan& p)
{
    u64* const bins = p.last ? nullptr : a.bins + (p.pass + 1) * RADIX;
    take_tiles(a, s, 1 + p.pass, p.count, bins, [&](u64 tile) {
        if (p.state.source)
            pass_tile<false, false>(a, s, p, tile);
        else if ((tile + 1) * TILE <= p.count)
            pass_tile<true, true>(a, s, p, tile);
        else
            pass_tile<true, false>(a, s, p, tile);
    });
}

// ---- launches -----------------------------------------------------------------------------------
FUNCTION void count_first_digits(const topk_args& a, topk_shared& s)
{
    clear_bins(s);
    block_sync();
    for (u64 tile = block_id(); tile * TILE < a.n; tile += block_count()) count_tile(a, s, tile);
    block_sync();
    add_bins(s, a.bins);
}

FUNCTION void run_pass(const topk_args& a, topk_shared& s)
{
    const u32 pass = static_cast<u32>(a.pass);
    const pass_plan p = plan_pass(a, s, pass, a.state[pass]);
    if (block_id() == 0 && thread_id() == 0 && !p.last) a.state[pass + 1] = p.next;
    take_pass(a, s, p);
}

FUNCTION void run_all_stages(const topk_args& a, topk_shared& s)
{
    u64 count = a.n;
    pass_state state{0, 0, 0, 0};
    take_tiles(a, s, 0, count, a.bins, [&](u64 tile) { count_tile(a, s, tile); });
    NO_UNROLL
    for (u32 pass = 0; pass < PASSES; pass++) {
        wait_for_tiles(a, pass, count);
        const pass_plan p = plan_pass(a, s, pass, state);
        take_pass(a, s, p);
        count = p.count;
        state = p.next;
    }
}
