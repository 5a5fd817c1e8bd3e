// Reduction of segments by teams of threads (team_reduce.h), for segmented_reduce.cu.
//
// A team, of lanes or a block, takes its segment by its two offsets. One that is too long is left
// to a second launch, in which each warp reduces a section. The warp that is the last of GROUP
// neighbouring sections combines their sums, and the warp that is the last of a segment's groups
// combines those of the groups. Which sums are combined, and in which
// order, depends on the call's sizes, its offsets, the variant and the device alone, so that a
// result is the same from run to run.
//
// Segments with ends of their own may overlap, and then have more sections than there is room for.
// The second launch has a list of those that found none. A warp reduces all sections of one in
// turn, and combines their sums in the same order: the result has the same bits.
#pragma once

enum : u32 { GROUP = 32 }; // sections, a lane each
static_assert(GROUP == SIMT_WARP, "a lane keeps the sum of a section of a group");

struct segment_teams_shared {
    block_reduce_storage<acc_t> reduce;
};

// Numbers in `counts`: at 0 the blocks that are done; behind a segment's first section the groups
// that are, and behind the first of a group of several the sections that are.
FUNCTION u64 counts_of(u64 sections) { return sections + 2; }
FUNCTION u64 count_of_groups(u64 first) { return 1 + first; }
FUNCTION u64 count_of_sections(u64 first) { return 2 + first; }

// The list of the segments that found no room. Their number is behind the tag of the launch's epoch
// (message.h), so that nothing has to clear it.
FUNCTION u64* left_over(const segmented_reduce_args& a) { return a.counts + counts_of(a.capacity); }
FUNCTION u64 left_over_tag(const segmented_reduce_args& a)
{
    const ticket of{static_cast<u32>(load_relaxed(a.messages) >> 32), 0};
    return static_cast<u64>(message_tag(of, MESSAGE_NONE)) << 32;
}
FUNCTION void add_left_over(const segmented_reduce_args& a, u64 segment)
{
    u64* const number = a.messages + 1;
    const u64 tag = left_over_tag(a), word = load_relaxed(number);
    if ((word ^ tag) >> 32) atomic_exchange_if(number, word, tag);
    left_over(a)[static_cast<u32>(atomic_add(number, 1))] = segment;
}

// Clears the counts for the second launch.
FUNCTION void clear_counts(const segmented_reduce_args& a)
{
    const u64 thread = static_cast<u64>(block_id()) * SIMT_THREADS + thread_id();
    const u64 threads = static_cast<u64>(block_count()) * SIMT_THREADS;
    for (u64 w = thread; a.capacity && w < counts_of(a.capacity); w += threads) a.counts[w] = 0;
}

// ---- the first launch ---------------------------------------------------------------------------
// Takes places for the sections of a segment. Returns the first, or NO_ROOM if there are too few.
constexpr u64 NO_ROOM = ~0ull;
FUNCTION u64 take_places(const segmented_reduce_args& a, u64 sections)
{
    if constexpr (!TUNE_OWN_ENDS) return static_cast<u32>(atomic_add(a.messages, sections));
    NO_UNROLL
    for (u64 word = load_relaxed(a.messages);;) {
        const u64 first = static_cast<u32>(word);
        if (first + sections > a.capacity) return NO_ROOM;
        const u64 found = atomic_exchange_if(a.messages, word, word + sections);
        if (found == word) return first;
        word = found;
    }
}

// Leaves a segment to the second launch, by the lanes of its team. Called by all lanes of a warp.
FUNCTION void leave_segment(const segmented_reduce_args& a, u64 segment, u64 count, member m)
{
    const u64 sections = count > a.longest ? ceil_div(count, a.section) : 0;
    u64 first = 0;
    if (m.rank == 0 && sections) first = take_places(a, sections);
    first = warp_shuffle(first, lane_id() - m.rank);
    if (TUNE_OWN_ENDS && first == NO_ROOM) {
        if (m.rank == 0) add_left_over(a, segment);
        return;
    }
    for (u64 k = m.rank; k < sections && first + k < a.capacity; k += m.team)
        a.sections[first + k] =
            long_section{segment, static_cast<u32>(first), static_cast<u32>(sections)};
}

FUNCTION void reduce_segments(const segmented_reduce_args& a, segment_teams_shared& s)
{
    const u32 log2 = static_cast<u32>(a.team_log2);
    const bool together = 1u << log2 > SIMT_WARP;
    const member lanes{lane_id() & ((1u << log2) - 1u), together ? SIMT_WARP : 1u << log2};
    const member m = together ? member{thread_id(), SIMT_THREADS} : lanes;
    NO_UNROLL
    for (u64 turn = block_id(); turn < a.turns; turn += block_count()) {
        u64 segment = turn;
        if (!together)
            segment = (turn + a.turns * warp_id()) * (SIMT_WARP >> log2) + (lane_id() >> log2);
        const bool some = segment < a.set.count;
        const u64 begin = some ? segment_begin(a.set, segment) : 0;
        const u64 end = some ? segment_end(a.set, segment) : 0;
        const u64 count = end > begin ? end - begin : 0;
        const u32 mine = count > a.longest ? 0 : static_cast<u32>(count);
        const acc_t sum = team_reduce(reduce_in_any_order(a.in, begin, mine, 0, m), m, s.reduce);
        if (some && m.rank == 0 && count <= a.longest) write_result(a, segment, sum, count == 0);
        if (together && warp_id() > 0) continue;
        if (warp_ballot(FULL_WARP, count > a.longest)) leave_segment(a, segment, count, lanes);
    }
}

// Reduces one segment a block, which holds it at once. The code is short, since in a small call
// fetching instructions takes longer than reading items. While a block waits for its offsets, it
// prefetches an equal share of all items, whichever segments they belong to.
FUNCTION void reduce_segment_of_block(const segmented_reduce_args& a, segment_teams_shared& s)
{
    enum : u32 { AT_ONCE = TUNE_BLOCK_LOADS };
    const u64 segment = block_id(), begin = segment_begin(a.set, segment);
    const u64 end = segment_end(a.set, segment), length = end > begin ? end - begin : 0;
    prefetch_items(a.in, segment * a.set.size, (segment + 1) * a.set.size);
    if (length > a.longest) {
        if (warp_id() == 0) leave_segment(a, segment, length, member{lane_id(), SIMT_WARP});
        return;
    }
    const u32 count = static_cast<u32>(length);
    const auto in = input_from(a.in, begin);
    acc_t sum = acc_identity();
    NO_UNROLL
    for (u32 first = thread_id(); first < count; first += AT_ONCE * SIMT_THREADS) {
        item_t item[AT_ONCE];
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++)
            if (first + j * SIMT_THREADS < count)
                item[j] = input_item(in, first + j * SIMT_THREADS);
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++)
            if (first + j * SIMT_THREADS < count)
                sum = accumulate(sum, item[j], first + j * SIMT_THREADS);
    }
    sum = block_reduce(sum, combine(), s.reduce);
    if (thread_id() == 0) write_result(a, segment, sum, count == 0);
}

// ---- the second launch --------------------------------------------------------------------------
typedef warp_words<acc_t> stored_sum;

FUNCTION void store_sum(stored_sum* p, acc_t sum)
{
    stored_sum words;
    words.word[sizeof(words) / 4 - 1] = 0;
    words.value = sum;
    *p = words;
}

// Loads a sum that another block has stored.
FUNCTION acc_t load_sum(const stored_sum* p)
{
    stored_sum words;
    UNROLL
    for (u32 w = 0; w < sizeof(words) / 4; w++) words.word[w] = load_relaxed(p->word + w);
    return words.value;
}

// Returns true in the warp that is the last of `all` to call it. It then sees what lane 0 of the
// others has stored before.
FUNCTION bool is_last(u64* arrived, u64 all)
{
    u32 last = 0;
    if (lane_id() == 0) {
        device_fence();
        last = atomic_add(arrived, 1) + 1 == all;
    }
    last = warp_shuffle(last, 0);
    if (last) {
        warp_sync(FULL_WARP);
        device_fence();
    }
    return last != 0;
}

// Combines sums that are `stride` apart. Called by all lanes of a warp; valid in lane 0.
FUNCTION acc_t join_sums(const stored_sum* sums, u32 stride, u32 count)
{
    enum : u32 { AT_ONCE = 4 };
    acc_t sum = acc_identity();
    NO_UNROLL
    for (u32 first = lane_id(); first < count; first += AT_ONCE * SIMT_WARP) {
        acc_t part[AT_ONCE];
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++) {
            const u32 k = first + j * SIMT_WARP;
            part[j] = k < count ? load_sum(sums + static_cast<u64>(k) * stride) : acc_identity();
        }
        UNROLL
        for (u32 j = 0; j < AT_ONCE; j++) sum = combine()(sum, part[j]);
    }
    return lanes_of_team_reduce(sum, member{lane_id(), SIMT_WARP});
}

// Reduces a section of a segment, by a warp. The result is valid in lane 0.
FUNCTION acc_t reduce_section(const segmented_reduce_args& a, u64 segment, u64 number)
{
    const member m{lane_id(), SIMT_WARP};
    const u64 begin = segment_begin(a.set, segment), end = segment_end(a.set, segment);
    const u64 at = number * a.section, left = end > begin + at ? end - begin - at : 0;
    const u32 count = static_cast<u32>(left < a.section ? left : a.section);
    return lanes_of_team_reduce(reduce_run<false>(a.in, begin + at, count, at, m), m);
}

// A warp a section.
FUNCTION void reduce_sections(const segmented_reduce_args& a, u64 total)
{
    NO_UNROLL
    for (u64 unit = block_id() + static_cast<u64>(warp_id()) * block_count(); unit < total;
         unit += static_cast<u64>(block_count()) * SIMT_WARPS) {
        const long_section of = a.sections[unit];
        const u32 number = static_cast<u32>(unit) - of.first, group = number / GROUP * GROUP;
        // Offsets that fall may have more sections than there is room for, or than 32 bits count.
        if (number >= of.count || static_cast<u64>(of.first) + of.count > a.capacity) continue;
        const u32 groups = ceil_div(of.count, GROUP);
        const u32 together = of.count - group < GROUP ? of.count - group : static_cast<u32>(GROUP);
        stored_sum* const sums = a.sums + of.first;
        acc_t sum = reduce_section(a, of.segment, number);
        if (together > 1) {
            if (lane_id() == 0) store_sum(sums + number, sum);
            if (!is_last(a.counts + count_of_sections(of.first + group), together)) continue;
            sum = join_sums(sums + group, 1, together);
        }
        if (groups > 1) { // in the place of the group's first section
            if (lane_id() == 0) store_sum(sums + group, sum);
            if (!is_last(a.counts + count_of_groups(of.first), groups)) continue;
            sum = join_sums(sums, GROUP, groups);
        }
        if (lane_id() == 0) write_result(a, of.segment, sum, false);
    }
}

// Reduces all sections of a segment, by a warp.
FUNCTION void reduce_all_sections(const segmented_reduce_args& a, u64 segment)
{
    const member m{lane_id(), SIMT_WARP};
    const u64 count = segment_end(a.set, segment) - segment_begin(a.set, segment);
    const u64 sections = ceil_div(count, a.section);
    acc_t all = acc_identity();
    NO_UNROLL
    for (u64 first = 0; first < sections; first += GROUP) {
        const u32 together = static_cast<u32>(smaller(sections - first, GROUP));
        acc_t sum = acc_identity();
        NO_UNROLL
        for (u32 k = 0; k < together; k++) {
            const acc_t found = warp_shuffle(reduce_section(a, segment, first + k), 0);
            if (lane_id() == k) sum = combine()(sum, found);
        }
        if (together > 1) sum = warp_shuffle(lanes_of_team_reduce(sum, m), 0);
        if (first / GROUP % SIMT_WARP == lane_id()) all = combine()(all, sum);
    }
    if (sections > GROUP) all = lanes_of_team_reduce(all, m);
    if (lane_id() == 0) write_result(a, segment, all, false);
}

// A warp a segment that found no room.
FUNCTION void reduce_left_over(const segmented_reduce_args& a)
{
    const u64 number = load_relaxed(a.messages + 1) ^ left_over_tag(a);
    const u64 count = number >> 32 ? 0 : number; // another launch's, if there are none in this one
    NO_UNROLL
    for (u64 k = block_id() + static_cast<u64>(warp_id()) * block_count(); k < count;
         k += static_cast<u64>(block_count()) * SIMT_WARPS)
        reduce_all_sections(a, left_over(a)[k]);
}
