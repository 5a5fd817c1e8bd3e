// Top-k of a segment of up to 8192 items by a team, for segmented_topk.cu.
//
// The team keeps the keys in shared memory. Their span is cut into ROW_RANGES ranges of one width,
// and the keys in each are counted; the range of the k-th is the next span, until few keys come up
// to its end, which is once for random integers and twice for random floats. If that range is a
// single key, which too many items have, the first of these are taken. The span of the keys up to
// there is cut once more: they stand by ranges then, and an item compares itself with its own
// range's. Where the result may stand in any order, items compare themselves in that last range
// alone, and the keys before it are listed as they come.
//
// The instructions of a warp decide how long it takes. Of many segments each is a warp's, and no
// warp waits for another; of few, each is a block's, whose threads have fewer items each.
#pragma once
#include "integer.h"
#include "segment_topk.h"
#include "topk_pool.h"
#include "topk_team.h"

enum : u32 {
    ROW_RANGE_BITS = 8,
    ROW_RANGES = 1 << ROW_RANGE_BITS,
    ROW_CROWD = 64 // items of a range of which each is compared with all
};

// Most keys to select from a row of up to `items`, and to put in order.
FUNCTION constexpr u32 row_most(u32 items) { return items < TUNE_ROW_MOST ? items : TUNE_ROW_MOST; }

// Indices by their keys' ranges, and in order.
template <u32 MOST_LISTED, bool IN_ORDER>
struct row_lists {
    u16 by_range[MOST_LISTED], in_order[MOST_LISTED];
};
// The items of the last range.
template <u32 MOST_LISTED>
struct row_lists<MOST_LISTED, false> {
    u32 crowded; // how many
    keyed_item<row_key, u32> crowd[ROW_CROWD];
};

template <u32 ITEMS, class Team>
struct row_shared {
    typename Team::storage team;
    alignas(16) u32 count[ROW_RANGES + 1]; // of each range's keys, and of those of none
    u16 lowest[row_most(ITEMS)];           // indices of what may be among the k, as they come
    row_lists<row_most(ITEMS), !TUNE_UNORDERED> lists;
    // Encoded. A stretch is a member's, of so odd a length that no two lanes use a bank; behind the
    // row's are keys that lie behind all.
    key_t key[ITEMS + 2 * Team::SIZE];
};

// Width of a span's ranges, log2.
FUNCTION u32 range_width(row_span over)
{
    const u32 bits = bit_length(static_cast<u64>(over.high - over.low));
    return bits > ROW_RANGE_BITS ? bits - ROW_RANGE_BITS : 0;
}

// Returns the range of a key that is not below `low`; ROW_RANGES if there is none.
FUNCTION u32 row_range(row_key key, row_key low, u32 shift)
{
    const row_key range = static_cast<row_key>(key - low) >> shift;
    return range < ROW_RANGES ? static_cast<u32>(range) : static_cast<u32>(ROW_RANGES);
}

// The keys of a row up to `last`; of those that are `last`, the first `ties`. In no order: the
// `below` keys before `first`, and as many more of the keys from there up to `last`, the first
// `ties` if that is not 0.
struct row_bound {
    row_key last;
    u32 ties;
    row_key first;
    u32 below;
};
enum : u32 { ALL_TIES = ~0u };

template <class Team>
FUNCTION void clear_counts(Team team, u32* count)
{
    team.sync();
    UNROLL
    for (u32 r = 0; r < ROW_RANGES; r += Team::SIZE)
        if (r + Team::SIZE <= ROW_RANGES || r + team.rank() < ROW_RANGES)
            count[r + team.rank()] = 0;
    team.sync();
}

// Neighbouring ranges whose counts a member adds up.
template <class Team>
struct ranges_of_member {
    enum : u32 { COUNT = ceil_div(ROW_RANGES, Team::SIZE) };
    u32 count[COUNT];
    u32 first, before; // range, and the keys in those before it
};

// True if a range that a member looks after is there: where the ranges are no multiple of the
// members, the last have fewer or none.
template <class Team>
FUNCTION bool is_range(u32 range)
{
    return ROW_RANGES % Team::SIZE == 0 || range < ROW_RANGES;
}

template <class Team>
FUNCTION ranges_of_member<Team> counted_ranges(Team team, const u32* count)
{
    typedef ranges_of_member<Team> ranges;
    ranges mine;
    mine.first = team.rank() * ranges::COUNT;
    u32 sum = 0;
    team.sync();
    UNROLL
    for (u32 r = 0; r < ranges::COUNT; r++)
        sum += mine.count[r] = is_range<Team>(mine.first + r) ? count[mine.first + r] : 0;
    mine.before = team.sums(sum).before;
    return mine;
}

// Calls take(index, key) for each key of the member's stretch.
template <class Team, class Take>
FUNCTION void each_row_key(Team team, const key_t* keys, u32 stretch, Take take)
{
    u32 index = team.rank() * stretch, left = stretch;
    const key_t* at = keys + index; // the compiler adds a constant j to it for nothing
    NO_UNROLL
    for (; left >= Team::AT_ONCE; left -= Team::AT_ONCE) {
        row_key key[Team::AT_ONCE];
        UNROLL
        for (u32 j = 0; j < Team::AT_ONCE; j++) key[j] = at[j];
        UNROLL
        for (u32 j = 0; j < Team::AT_ONCE; j++) take(index + j, key[j]);
        at += Team::AT_ONCE;
        index += Team::AT_ONCE;
    }
    NO_UNROLL
    for (; left > 0; left--) take(index++, static_cast<row_key>(*at++));
}

// Reads AT_ONCE keys of a member from the beginning of `in` on, or as many as there are, and adds
// them to the member's span.
template <class Team, bool WHOLE, u32 AT_ONCE, class In>
FUNCTION void read_step(const In& in, key_t* keys, u32 left, row_span& mine)
{
    key_t key[AT_ONCE];
    UNROLL
    for (u32 j = 0; j < AT_ONCE; j++)
        if (WHOLE || j * Team::SIZE < left) key[j] = key_item(in, static_cast<u64>(j * Team::SIZE));
    UNROLL
    for (u32 j = 0; j < AT_ONCE; j++) {
        if (!WHOLE && j * Team::SIZE >= left) continue;
        const key_t encoded = encode(key[j]);
        mine.low = lower_key()(mine.low, encoded);
        mine.high = higher_key()(mine.high, encoded);
        keys[j * Team::SIZE] = encoded;
    }
}

// Reads a row's keys and returns their span.
template <u32 ITEMS, class Team>
FUNCTION row_span read_row(Team team, const in_t& all, key_t* keys, u64 begin, u32 items,
                           u32 stretch)
{
    constexpr u32 AT_ONCE = ITEMS / Team::SIZE > 16 ? Team::MOST_READ_AT_ONCE : 8,
                  STEP = AT_ONCE * Team::SIZE;
    row_span mine{static_cast<row_key>(~0ull), 0};
    u32 first = 0;
    NO_UNROLL
    for (; first + STEP <= items; first += STEP)
        read_step<Team, true, AT_ONCE>(input_from(all, begin + first + team.rank()),
                                       keys + first + team.rank(), STEP, mine);
    if (first + team.rank() < items)
        read_step<Team, false, AT_ONCE>(input_from(all, begin + first + team.rank()),
                                        keys + first + team.rank(), items - first - team.rank(),
                                        mine);
    for (u32 i = items + team.rank(); i < stretch * Team::SIZE; i += Team::SIZE)
        keys[i] = static_cast<key_t>(~0ull);
    return team.joined(mine);
}

// Returns a bound that k of a row's keys come up to, and of all that are kept `room` at most or,
// if too many are one key, k. In no order: a bound whose last range is a crowd, or taken by index.
template <class Team>
FUNCTION row_bound bound_of_row(Team team, const key_t* keys, u32 stretch, row_span over, u32 k,
                                u32 room, u32* count)
{
    u32 below = 0; // keys before the span
    NO_UNROLL
    for (;;) {
        const u32 shift = range_width(over);
        clear_counts(team, count);
        each_row_key(team, keys, stretch, [&](u32, row_key key) {
            shared_add(&count[row_range(key, over.low, shift)], 1u);
        });
        const ranges_of_member<Team> mine = counted_ranges(team, count);
        const u32 rank = k - 1 - below;
        u32 range = mine.first, before = mine.before, through = mine.before;
        UNROLL
        for (u32 r = 0; r < ranges_of_member<Team>::COUNT; r++) {
            through += mine.count[r];
            const bool is_behind = through <= rank;
            range += is_behind;
            before = is_behind ? through : before;
        }
        const range_begin found =
            team.first_of(mine.before <= rank, through > rank, range_begin{range, before});
        below += found.before;
        over.low += static_cast<row_key>(found.range) << shift;
        const row_key width = static_cast<row_key>((1ull << shift) - 1);
        if (over.high - over.low > width) over.high = over.low + width;
        if constexpr (TUNE_UNORDERED) {
            const u32 here = count[found.range], left = k - below;
            if (here <= ROW_CROWD) return row_bound{over.high, 0, over.low, below};
            if (here == left || shift == 0) return row_bound{over.high, left, over.low, below};
        } else {
            if (below + count[found.range] <= room) return row_bound{over.high, ALL_TIES, 0, 0};
            if (shift == 0) return row_bound{over.high, k - below, 0, 0};
        }
    }
}

// Lists the keys for which takes(key) is true and returns how many there are. `takes` gives the
// same answers again when it is copied.
template <u32 ITEMS, class Team, class Takes>
FUNCTION u32 list_keys(Team team, row_shared<ITEMS, Team>& s, u32 stretch, Takes takes)
{
    u32 mine = 0;
    Takes again = takes;
    each_row_key(team, s.key, stretch, [&](u32, row_key key) { mine += takes(key); });
    const team_sums found = team.sums(mine);
    u16* next = s.lowest + found.before;
    each_row_key(team, s.key, stretch, [&](u32 index, row_key key) {
        if (again(key)) *next++ = static_cast<u16>(index);
    });
    return found.all;
}

// Lists the keys up to a bound, counts them by the ranges of a span, and returns how many there
// are.
template <u32 ITEMS, class Team>
FUNCTION u32 list_lowest(Team team, row_shared<ITEMS, Team>& s, u32 stretch, row_span over,
                         row_bound bound)
{
    const row_key last = bound.last;
    u32 found;
    if (bound.ties == ALL_TIES) {
        found = list_keys(team, s, stretch, [last](row_key key) { return key <= last; });
    } else {
        u32 ties = 0;
        each_row_key(team, s.key, stretch, [&](u32, row_key key) { ties += key == last; });
        ties = team.sums(ties).before;
        team.sync();
        found = list_keys(team, s, stretch, [last, bound, ties](row_key key) mutable {
            return key < last || (key == last && ties++ < bound.ties);
        });
    }
    clear_counts(team, s.count);
    const u32 shift = range_width(over);
    for (u32 i = team.rank(); i < found; i += Team::SIZE)
        shared_add(&s.count[row_range(s.key[s.lowest[i]], over.low, shift)], 1u);
    return found;
}

// Lists the k lowest in no order: first the keys below the bound's last range by their indices,
// then those of the range, of a crowd in order and of others by their indices.
template <u32 ITEMS, class Team>
FUNCTION void list_any(Team team, row_shared<ITEMS, Team>& s, u32 stretch, row_bound bound, u32 k)
{
    enum : u32 { HERE = 1 << 16 }; // weight of a key of the range in a packed count
    const row_key width = bound.last - bound.first;
    const u32 left = k - bound.below;
    u32 mine = 0;
    each_row_key(team, s.key, stretch, [&](u32 index, row_key key) {
        mine += key < bound.first;
        if (key - bound.first > width) return;
        mine += HERE;
        if (!bound.ties) s.lists.crowd[shared_add(&s.lists.crowded, 1u)] = {key, index};
    });
    const u32 before = team.sums(mine).before;
    if constexpr (Team::SIZE == SIMT_WARP) team.sync(); // shuffles do not order memory
    u16* next = s.lowest + before % HERE;
    each_row_key(team, s.key, stretch, [&](u32 index, row_key key) {
        if (key < bound.first) *next++ = static_cast<u16>(index);
    });
    if (bound.ties) {
        u32 place = before / HERE;
        each_row_key(team, s.key, stretch, [&](u32 index, row_key key) {
            if (key - bound.first > width) return;
            if (place < left) s.lowest[bound.below + place] = static_cast<u16>(index);
            place++;
        });
    } else {
        const u32 crowded = s.lists.crowded;
        NO_UNROLL
        for (u32 i = team.rank(); i < crowded; i += Team::SIZE) {
            const keyed_item<row_key, u32> item = s.lists.crowd[i];
            u32 place = 0;
            NO_UNROLL
            for (u32 j = 0; j < crowded; j++) place += goes_first(s.lists.crowd[j], item);
            if (place < left) s.lowest[bound.below + place] = static_cast<u16>(item.index);
        }
    }
    team.sync();
}

// Puts the listed items in the order of their ranges, each of which is one key. The lanes of a warp
// take them in the order of the list, in which items of a key stand by their indices.
template <u32 ITEMS>
FUNCTION void order_by_range(row_shared<ITEMS, warp_team>& s, u32 found, row_key low)
{
    NO_UNROLL
    for (u32 first = 0; first < found; first += SIMT_WARP) {
        const bool is_one = first + lane_id() < found;
        const u16 index = is_one ? s.lowest[first + lane_id()] : static_cast<u16>(0);
        const u32 range = row_range(s.key[index], low, 0);
        const u32 same = warp_match_bits<ROW_RANGE_BITS>(range) & warp_ballot(FULL_WARP, is_one);
        const u32 place = s.count[range] + count_set(same & ((1u << lane_id()) - 1));
        warp_sync(FULL_WARP);
        if (is_one && lane_id() == first_set(same)) s.count[range] += count_set(same);
        if (is_one) s.lists.by_range[place] = index;
        warp_sync(FULL_WARP);
    }
}

// Orders the listed items, which are counted by the ranges of a span, and returns their indices.
template <u32 ITEMS, class Team>
FUNCTION const u16* order_listed(Team team, row_shared<ITEMS, Team>& s, u32 found, row_span over)
{
    typedef ranges_of_member<Team> ranges;
    const u32 shift = range_width(over);
    const ranges mine = counted_ranges(team, s.count);
    u32 passed = mine.before;
    UNROLL
    for (u32 r = 0; r < ranges::COUNT; r++) {
        if (is_range<Team>(mine.first + r)) s.count[mine.first + r] = passed;
        passed += mine.count[r];
    }
    team.sync();
    // A range's count is the place of its next item, and in the end of the next range's first.
    if constexpr (Team::SIZE == SIMT_WARP) { // whose lanes would compare many items one by one
        if (shift == 0) {
            order_by_range(s, found, over.low);
            return s.lists.by_range;
        }
    }
    NO_UNROLL
    for (u32 i = team.rank(); i < found; i += Team::SIZE) {
        const u16 index = s.lowest[i];
        s.lists.by_range[shared_add(&s.count[row_range(s.key[index], over.low, shift)], 1u)] =
            index;
    }
    team.sync();
    NO_UNROLL
    for (u32 i = team.rank(); i < found; i += Team::SIZE) {
        const u16 index = s.lists.by_range[i];
        const key_t key = s.key[index];
        const u32 range = row_range(key, over.low, shift), end = s.count[range];
        u32 place = range ? s.count[range - 1] : 0;
        NO_UNROLL
        for (u32 other = place; other < end; other++) {
            const u16 its_index = s.lists.by_range[other];
            const key_t its = s.key[its_index];
            place += (its < key) | ((its == key) & (its_index < index));
        }
        s.lists.in_order[place] = index;
    }
    team.sync();
    return s.lists.in_order;
}

// Selects from a segment of up to ITEMS items; k or their number is row_most(ITEMS) at most. Called
// by all of a team.
template <u32 ITEMS, class Team>
FUNCTION void select_row(Team team, const segmented_topk_args& a, row_shared<ITEMS, Team>& s,
                         u64 segment, u64 begin, u32 items)
{
    const u32 k = static_cast<u32>(smaller(a.k, items));
    if (k > 0) {
        // The range of the k-th has room for a quarter of the k, or for half of a warp.
        const u32 room = k + static_cast<u32>(larger(SIMT_WARP / 2, k / 4));
        const u32 stretch = ceil_div(items, Team::SIZE) | 1u;
        if constexpr (TUNE_UNORDERED)
            if (team.rank() == 0) s.lists.crowded = 0;
        row_span all = read_row<ITEMS>(team, a.in, s.key, begin, items, stretch);
        const row_bound bound =
            bound_of_row(team, s.key, stretch, all, k,
                         static_cast<u32>(smaller(room, row_most(ITEMS))), s.count);
        const u16* order = s.lowest;
        if constexpr (TUNE_UNORDERED) {
            list_any(team, s, stretch, bound, k);
        } else {
            all.high = bound.last;
            order = order_listed(team, s, list_lowest(team, s, stretch, all, bound), all);
        }
        for (u32 rank = team.rank(); rank < k; rank += Team::SIZE)
            put_result(a, segment, rank, s.key[order[rank]], order[rank]);
    }
    for (u32 rank = items + team.rank(); rank < a.k; rank += Team::SIZE)
        put_nothing(a, segment, rank);
    team.sync(); // before the next segment's
}
