// Bin search for histograms: even bins, bins between given edges, or items that are bin numbers.
//
// Each thread sets up a finder from a channel's level and then asks it for every item. `find`
// returns true if the item is in range and gives its bin. It raises `unsure` if rounding could have
// chosen the wrong bin; the caller then asks `exact`. This keeps the path that every item takes
// short and without branches.
//
// The workload's macros:
//     TUNE_T           type of the items
//     TUNE_KIND        0: EVEN bins, 1: BETWEEN edges, 2: INDEX, the item is the bin
//     TUNE_EDGE        type of the edges; for even bins f32 or f64, as NumPy rounds them
//     TUNE_STEP        f32 or f64: even edges are i * step + lower, each operation rounded to this
//     TUNE_BINS_LOG2   upper bound of the bins of all channels (log2); FAR: no bound
//     TUNE_CELLS       1: a table of cells says which edges are near an item
#pragma once
#include "types.h"

typedef TUNE_T item_t;
typedef TUNE_EDGE edge_t;

enum kind { EVEN = 0, BETWEEN = 1, INDEX = 2 };
enum { KIND = TUNE_KIND, FAR = 22 };

// Range [lower, upper] and number of bins of a channel; with given edges only `bins` is used.
struct level {
    f64 lower, upper, step;
    u64 bins;
};

template <class T>
struct is_integer {
    enum { value = 1 };
};
template <>
struct is_integer<f16> {
    enum { value = 0 };
};
template <>
struct is_integer<bf16> {
    enum { value = 0 };
};
template <>
struct is_integer<f32> {
    enum { value = 0 };
};
template <>
struct is_integer<f64> {
    enum { value = 0 };
};

// ---- even bins ----------------------------------------------------------------------------------
FUNCTION f64 clipped(f64 v, f64 low, f64 high) { return v < low ? low : v > high ? high : v; }

// Returns edge i exactly as numpy.linspace computes it. An f32 operation gives the same as the f64
// operation rounded to f32.
FUNCTION f64 even_edge(const level& l, u64 i)
{
    if (i >= l.bins) return static_cast<edge_t>(l.upper);
    const f64 product = static_cast<TUNE_STEP>(rounded_product(static_cast<TUNE_STEP>(i), l.step));
    return static_cast<edge_t>(static_cast<TUNE_STEP>(product + l.lower));
}

// Returns the bin of a number in range: guesses with `scale` bins a unit, then compares with edges.
SLOW_FUNCTION u32 even_bin(level l, f64 at, f64 scale)
{
    const f64 guess = (at - l.lower) * scale, last = static_cast<f64>(l.bins - 1);
    u64 bin = static_cast<u64>(clipped(guess, 0.0, last));
    while (bin > 0 && at < even_edge(l, bin)) bin--;
    while (bin + 1 < l.bins && at >= even_edge(l, bin + 1)) bin++;
    return static_cast<u32>(bin);
}

// Returns the nearest f32 that is not below (`above`) or not above v.
FUNCTION f32 f32_beside(f64 v, bool above)
{
    const f32 near = static_cast<f32>(v);
    if (above ? static_cast<f64>(near) >= v : static_cast<f64>(near) <= v) return near;
    if (near == 0.0f) return f32_of(above ? 1u : 0x80000001u);
    return f32_of(bits_of(near) + ((near > 0.0f) == above ? 1u : 0xffffffffu));
}

struct cell { // one of the equal parts that edge_bins divides the range into
    typedef chosen<(TUNE_BINS_LOG2 <= 15), u16, u32>::type edge_number;
    edge_number begin, end; // range of the edges in the cell
};

// Finder of even bins. Its guess is exact except for items nearer to an edge than `doubt` bin
// widths: these are unsure. f32 is precise enough for few bins and items of at most 32 bits.
template <class T>
struct even_bins {
    enum { WHOLE_NUMBERS = is_integer<T>::value };
    enum { NARROW = sizeof(T) <= 4 && TUNE_BINS_LOG2 <= 14 };
    enum { NARROW_INTEGER = NARROW && WHOLE_NUMBERS };
    typedef typename chosen<NARROW, f32, f64>::type guess_t;
    typedef typename chosen<NARROW_INTEGER, T, guess_t>::type bound_t;

    level l;
    f64 scale;           // bins a unit of the items
    bound_t first, last; // range of the items that are in a bin
    guess_t origin, norm, doubt;

    FUNCTION_MEMBER void set_bounds(f64 low, f64 high)
    {
        if constexpr (NARROW_INTEGER) {
            const f64 least = static_cast<f64>(limits<T>::lowest());
            const f64 most = static_cast<f64>(limits<T>::highest());
            low = ceil(low);
            high = floor(high);
            const bool any = low <= high && low <= most && high >= least;
            first = any ? static_cast<T>(clipped(low, least, most)) : limits<T>::highest();
            last = any ? static_cast<T>(clipped(high, least, most)) : limits<T>::lowest();
        } else if constexpr (NARROW) {
            first = f32_beside(low, true);
            last = f32_beside(high, false);
        } else {
            first = low;
            last = high;
        }
    }

    // Returns true if nothing is rounded: floats from 0 on and a bin width that is a power of two.
    FUNCTION_MEMBER bool is_exact(f64 low, f64 high) const
    {
        const f32 power = static_cast<f32>(scale);
        return low == 0.0 && static_cast<f64>(power) == scale && power > 1e-30f && power < 1e30f &&
               (bits_of(power) & 0x7fffffu) == 0 && l.step * scale == 1.0 &&
               high == static_cast<f64>(l.bins) * l.step;
    }

    FUNCTION_MEMBER void set(const level& given, const edge_t*)
    {
        l = given;
        const f64 low = even_edge(l, 0), high = even_edge(l, l.bins);
        const f64 bins = static_cast<f64>(l.bins), largest = fmax(fabs(low), fabs(high));
        scale = bins / (high - low);
        set_bounds(low, high);
        // Error bound: half a unit in the last place for each operation of place_of and of the
        // edges.
        const f64 coarse = 1.0 / 16777216.0, fine = coarse / 536870912.0; // 2^-24, 2^-53
        const bool rounded = sizeof(edge_t) == 4 || sizeof(TUNE_STEP) == 4;
        const f64 tiny = NARROW ? 1e-37 : 1e-306; // smaller numbers lose digits: subnormal
        f64 most = bins * (6.0 * (NARROW ? coarse : fine) + (rounded ? 2.0 * coarse : 0.0)) +
                   largest * scale * 6.0 * (rounded || (NARROW && !WHOLE_NUMBERS) ? coarse : fine);
        if (!(scale > tiny && scale < 1.0 / tiny)) most = 1.0;
        f64 half = 0.0; // shift that keeps whole numbers away from whole edges
        if (WHOLE_NUMBERS && low == floor(low) && l.step == floor(l.step) && scale > 4.0 * most)
            half = 0.5;
        if (half != 0.0 || (!WHOLE_NUMBERS && is_exact(low, high))) most = -1.0;
        doubt = static_cast<guess_t>(most);
        norm = static_cast<guess_t>(scale);
        const f64 base = NARROW_INTEGER ? static_cast<f64>(first) : 0.0;
        origin = static_cast<guess_t>(low - base - half);
    }

    // Returns the item's position in units of a bin, counted from the first edge.
    FUNCTION_MEMBER guess_t place_of(T item) const
    {
        if constexpr (NARROW_INTEGER)
            return (static_cast<f32>(static_cast<u32>(item) - static_cast<u32>(first)) - origin) *
                   norm;
        else
            return (convert<guess_t>(item) - origin) * norm;
    }

    // Returns true if the item is unsure. Adding and subtracting a number whose last digit is 1
    // rounds `place` to an integer without a conversion.
    FUNCTION_MEMBER bool is_near_edge(guess_t place) const
    {
        const guess_t ones = static_cast<guess_t>(NARROW ? 12582912.0 : 6755399441055744.0);
        return !(fabs(place - ((place + ones) - ones)) > doubt); // true for NaN (overflow)
    }

    FUNCTION_MEMBER bool find(T item, u32& bin, u32& unsure) const
    {
        const bound_t at = convert<bound_t>(item);
        const guess_t place = place_of(item);
        unsure |= is_near_edge(place) ? 1u : 0u;
        bin = static_cast<u32>(static_cast<i32>(place));
        return (at >= first) & (at <= last);
    }

    // Returns the bin of an item that is in range.
    FUNCTION_MEMBER u32 exact(T item) const
    {
        const guess_t place = place_of(item);
        if (!is_near_edge(place)) return static_cast<u32>(static_cast<i32>(place));
        return even_bin(l, convert<f64>(item), scale);
    }

    FUNCTION_MEMBER void use_cells(cell*) {}
};

// ---- bins between edges -------------------------------------------------------------------------
// Finder of bins between edges. The range is cut into cells of equal width, and each cell stores
// which edges lie in it, so that only those are searched. The cell of a number never decreases with
// the number, however the arithmetic rounds.
enum {
    MOST_CELLS_LOG2 = TUNE_BINS_LOG2 <= 15 ? 12 : 13, // of many edges no counters are beside them
    CELLS_LOG2 = TUNE_BINS_LOG2 + 2 < MOST_CELLS_LOG2 ? TUNE_BINS_LOG2 + 2 : MOST_CELLS_LOG2,
    CELLS = 1 << CELLS_LOG2
};

struct edge_bins {
    const edge_t* edges; // bins + 1 edges
    const cell* cells;   // NULL: search all edges
    u32 bins;
    edge_t first, last;
    f32 origin, norm;

    FUNCTION_MEMBER void set(const level& l, const edge_t* given)
    {
        edges = given;
        cells = nullptr;
        bins = static_cast<u32>(l.bins);
        first = given[0];
        last = given[l.bins];
        origin = convert<f32>(first);
        norm = static_cast<f32>(CELLS) / (convert<f32>(last) - origin);
    }

    FUNCTION_MEMBER u32 cell_of(edge_t at) const
    {
        const f32 place = (convert<f32>(at) - origin) * norm; // NaN gives cell 0
        return place >= 1.0f
                   ? place < static_cast<f32>(CELLS - 1) ? static_cast<u32>(place) : CELLS - 1
                   : 0u;
    }

    // Fills the table of cells with all threads of the block. It is complete after the next
    // barrier.
    FUNCTION_MEMBER void use_cells(cell* table)
    {
        cells = table;
        for (u32 i = thread_id(); i <= bins + 1; i += SIMT_THREADS) {
            const u32 from = i == 0 ? 0u : cell_of(edges[i - 1]) + 1u;
            const u32 to = i > bins ? CELLS : cell_of(edges[i]);
            for (u32 c = from; c <= to; c++) { // edge i is the first that is not in a cell before c
                if (c < CELLS) table[c].begin = static_cast<cell::edge_number>(i);
                if (c > 0) table[c - 1].end = static_cast<cell::edge_number>(i);
            }
        }
    }

    FUNCTION_MEMBER bool find(item_t item, u32& bin, u32&) const
    {
        const edge_t at = convert<edge_t>(item);
        if (!(at >= first && at <= last)) return false;
        u32 low = 0, high = bins + 1;
        if (cells) {
            const cell c = cells[cell_of(at)];
            low = c.begin;
            high = c.end;
        }
        while (low < high) {
            const u32 middle = (low + high) / 2;
            if (edges[middle] <= at)
                low = middle + 1;
            else
                high = middle;
        }
        bin = low > bins ? bins - 1 : low - 1; // the last bin includes its upper edge
        return true;
    }
    FUNCTION_MEMBER u32 exact(item_t) const { return 0; } // never called: find is never unsure
};

// ---- the item is the bin ------------------------------------------------------------------------
struct index_bins {
    u64 bins;

    FUNCTION_MEMBER void set(const level& l, const edge_t*) { bins = l.bins; }
    FUNCTION_MEMBER void use_cells(cell*) {}

    FUNCTION_MEMBER bool find(item_t item, u32& bin, u32&) const
    {
        const u64 at = static_cast<u64>(convert<i64>(item)); // large if the item is negative
        bin = static_cast<u32>(at);
        return at < bins;
    }
    FUNCTION_MEMBER u32 exact(item_t) const { return 0; } // never called: find is never unsure
};

typedef chosen<KIND == EVEN, even_bins<item_t>,
               chosen<KIND == BETWEEN, edge_bins, index_bins>::type>::type finder;
