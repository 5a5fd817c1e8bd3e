// Scans of segments by teams, for scan.cu: a warp or a block takes a segment by its two offsets and
// waits for no other. A tile has a longer chain: its offsets, their marks, the prefix before it.
//
// The items before the first offset, and those from the last one on, are segments too. A warp
// leaves a segment that is too long for it to the tiles, which come in a second launch and return
// at once if there is none. Blocks take whatever there is, where items are few.
#pragma once

#if defined(TUNE_EQUAL_SIZE)
struct scan_segments_shared {
    value_t total[SIMT_WARPS];
};

enum { PART = ROWS * ROW_ITEMS }; // items of a warp at once

// Vectors of a warp's part: prefixes within the vector, and what is before it in the part.
struct part_rows {
    value_t item[ROWS][VECTOR];
    value_t before[ROWS]; // unset for the first lane of the first row
    value_t all;
};

// Loads and scans the part at `first`, a multiple of VECTOR. Places outside of the segment have any
// items: those in front of it are in one vector, and are not combined.
FUNCTION void scan_part(const scan_args& a, u64 first, u64 begin, u64 end, part_rows& rows)
{
    item_t raw[ROWS][VECTOR];
    const u64 last = (end - 1) / VECTOR * VECTOR;
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        const u64 next = first + lane_id() * VECTOR + r * ROW_ITEMS, at = next < last ? next : last;
        if (at + VECTOR <= a.n)
            load_input<TUNE_LOAD>(a.in, at, raw[r]);
        else
            for (u32 j = 0; j < VECTOR; j++)
                raw[r][j] = input_item(a.in, at + j < a.n ? at + j : a.n - 1);
    }
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        const u64 at = first + lane_id() * VECTOR + r * ROW_ITEMS;
        const u32 skipped = at < begin ? static_cast<u32>(begin - at) : 0;
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            const value_t value = convert<value_t>(raw[r][j]);
            value_t& item = rows.item[r][j];
            item = j > skipped ? apply_operator(rows.item[r][j ? j - 1 : 0], value) : value;
        }
        const value_t through = warp_scan(rows.item[r][VECTOR - 1], apply_value());
        const value_t row = warp_shuffle(through, SIMT_WARP - 1);
        value_t before = warp_shuffle(through, lane_id() - 1);
        if (r > 0) before = lane_id() > 0 ? apply_operator(rows.all, before) : rows.all;
        rows.before[r] = before;
        rows.all = r > 0 ? apply_operator(rows.all, row) : row;
    }
}

FUNCTION void write_part(const scan_args& a, u64 first, u64 begin, u64 end, const part_rows& rows,
                         value_t part_prefix, bool part_has)
{
    UNROLL
    for (u32 r = 0; r < ROWS; r++) {
        const u64 at = first + lane_id() * VECTOR + r * ROW_ITEMS;
        const u32 skipped = at < begin ? static_cast<u32>(begin - at) : 0;
        value_t prefix = part_prefix;
        bool has = part_has;
        if (r > 0 || lane_id() > 0) {
            prefix = has ? apply_operator(prefix, rows.before[r]) : rows.before[r];
            has = true;
        }
        out_t result[VECTOR];
        UNROLL
        for (u32 j = 0; j < VECTOR; j++) {
            value_t value = TUNE_INCLUSIVE ? rows.item[r][j] : rows.item[r][j ? j - 1 : 0];
            if constexpr (TUNE_INCLUSIVE)
                value = has ? apply_operator(prefix, value) : value;
            else
                value = j > skipped ? apply_operator(prefix, value) : prefix;
            result[j] = convert<out_t>(value);
        }
        if (at >= begin && at + VECTOR <= end)
            store_items(a.out + at, result);
        else
            for (u32 j = 0; j < VECTOR; j++)
                if (at + j >= begin && at + j < end) a.out[at + j] = result[j];
    }
}

// Scans a segment that is not empty. Called by all threads of the team, of `warps` warps.
FUNCTION void scan_segment(const scan_args& a, scan_segments_shared& s, u64 begin, u64 end,
                           u32 warp, u32 warps)
{
    value_t prefix = static_cast<value_t>(a.init);
    bool has_prefix = a.has_init != 0;
    NO_UNROLL
    for (u64 parts = begin - begin % VECTOR; parts < end; parts += static_cast<u64>(warps) * PART) {
        const u64 first = parts + static_cast<u64>(warp) * PART;
        part_rows rows;
        if (first < end) scan_part(a, first, begin, end, rows);
        value_t before = prefix;
        bool has = has_prefix;
        if (parts + PART < end) { // there is a part behind the first
            if (warps > 1) {
                if (lane_id() == 0 && first < end) s.total[warp] = rows.all;
                block_sync();
                NO_UNROLL
                for (u32 w = 0; w < warps; w++) {
                    if (parts + static_cast<u64>(w) * PART >= end) break;
                    if (w == warp) {
                        before = prefix;
                        has = has_prefix;
                    }
                    const value_t total = s.total[w];
                    prefix = has_prefix ? apply_operator(prefix, total) : total;
                    has_prefix = true;
                }
                block_sync();
            } else {
                prefix = has_prefix ? apply_operator(prefix, rows.all) : rows.all;
                has_prefix = true;
            }
        }
        if (first < end) write_part(a, first, begin, end, rows, before, has);
    }
}

// Tells the tiles of this call that there is a segment for them: a message behind theirs, with the
// epoch that they end.
FUNCTION ticket before_tiles(const scan_args& a)
{
    return ticket{static_cast<u32>(load_relaxed(a.messages) >> 32), 0};
}
FUNCTION void leave_to_tiles(const scan_args& a)
{
    message_send(a.messages, ceil_div(a.n, TILE), sum_of(static_cast<value_t>(a.init), true),
                 message_tag(before_tiles(a), MESSAGE_COMPLETE));
}
// Asked by one thread: once all blocks have asked, tiles may end the epoch.
FUNCTION bool left_to_tiles(const scan_args& a, scan_shared& shared)
{
    if (a.longest == 0) return true;
    if (thread_id() == 0) {
        sum_t sum;
        const u64 slot = ceil_div(a.n, TILE);
        shared.left = message_poll(a.messages, slot, before_tiles(a), sum) != MESSAGE_NONE;
    }
    block_sync();
    return shared.left != 0;
}

FUNCTION void scan_segments_of(const scan_args& a, scan_segments_shared& s)
{
    const bool together = a.longest >= a.n;
    const u64 team = together ? block_id() : block_id() * static_cast<u64>(SIMT_WARPS) + warp_id();
    if (team > a.runs.count + 1) return;
    const u64 begin = team > 0 ? segment_begin(a.runs, team - 1) : 0;
    const u64 end = team > a.runs.count ? a.n : segment_begin(a.runs, team);
    if (begin >= end) return;
    if (end - begin > a.longest) {
        if (lane_id() == 0) leave_to_tiles(a);
        return;
    }
    scan_segment(a, s, begin, end, together ? warp_id() : 0, together ? SIMT_WARPS : 1);
}
#else
struct scan_segments_shared {
};
FUNCTION bool left_to_tiles(const scan_args&, const scan_shared&) { return true; }
FUNCTION void scan_segments_of(const scan_args&, scan_segments_shared&) {}
#endif
