// Faces (halo.h) in the windows of ranks (ranks.h).
//
// A face has the reals of all fields in turn, in f64 or f32 as they are calculated: eight bytes of
// all sites, as a pair of tagged words, before the next eight of any. Norms of fixed-point fields
// follow, a tagged word each. A site is there when its words are, so that a thread waits for no
// more than it reads.
//
// A staged face has chunks of 16 bytes in place of the pairs, the last one may be shorter, and a
// flag for all of it.
//
// The workload's macro: TUNE_STAGED, 0 where no face is staged; otherwise the table says which are.
#pragma once
#include "halo.h"
#include "ranks.h"

#ifndef TUNE_STAGED
#define TUNE_STAGED 1
#endif

FUNCTION bool is_staged(const rank_table& t, u32 face)
{
    return TUNE_STAGED && (t.staged >> face & 1);
}

// A face that holds slices, of fields of REALS a site, and the number of its message.
template <class Real, int REALS>
struct face_memory {
    const rank_table& ranks;
    u8* begin;
    u64 sites;
    u32 face, number;
    bool staged;

    // Loads the reals of a site that another rank sends, and the norm if there is one, once they
    // are there; if that fails they are any.
    FUNCTION_MEMBER void load(u64 slice, u32 place, Real (&out)[REALS]) const
    {
        f32 none;
        load_all<false>(slice, place, out, none);
    }
    FUNCTION_MEMBER void load(u64 slice, u32 place, Real (&out)[REALS], f32& norm) const
    {
        load_all<true>(slice, place, out, norm);
    }
    FUNCTION_MEMBER void store(u64 slice, u32 place, const Real (&in)[REALS]) const
    {
        if (staged) return store_staged(slice, place, in);
        word_pair* const at = pair_at(slice, place);
        UNROLL
        for (int p = 0; p < PAIRS; p++)
            store_relaxed_system(at + static_cast<u64>(p) * sites,
                                 tagged_pair(number, in + p * OF_PAIR));
    }
    FUNCTION_MEMBER void store_norm(u64 slice, u32 place, f32 norm) const
    {
        if (staged)
            *staged_norm(slice, place) = norm;
        else
            store_relaxed_system(norm_word(slice, place), tagged_word(number, bits_of(norm)));
    }

private:
    enum : int {
        WHOLE = 16 / sizeof(Real),
        OF_PAIR = 8 / sizeof(Real),
        PAIRS = REALS / OF_PAIR,
    };
    static_assert(REALS % OF_PAIR == 0, "a face has pairs of words");

    FUNCTION_MEMBER word_pair* pair_at(u64 slice, u32 place) const
    {
        return reinterpret_cast<word_pair*>(begin) + slice * PAIRS * sites + place;
    }
    FUNCTION_MEMBER u64* norm_word(u64 slice, u32 place) const
    {
        const u64 norms_at = 2 * rank_norms_at(ranks.slot_bytes / 2, REALS * sizeof(Real));
        return reinterpret_cast<u64*>(begin + norms_at) + slice * sites + place;
    }
    // All words are under way before one is looked at; while some are missing the last one alone is
    // loaded again and again.
    template <bool NORM>
    FUNCTION_MEMBER void load_all(u64 slice, u32 place, Real (&out)[REALS], f32& norm) const
    {
        if (staged) {
            load_staged(slice, place, out);
            if constexpr (NORM) norm = *staged_norm(slice, place);
            return;
        }
        const word_pair* const at = pair_at(slice, place);
        const u64* const norm_at = norm_word(slice, place);
        const u64* const last = NORM ? norm_at : at[(PAIRS - 1) * sites].word;
        word_pair pair[PAIRS];
        u64 since = 0, word = 0;
        for (;;) {
            UNROLL
            for (int p = 0; p < PAIRS; p++)
                pair[p] = load_relaxed_system(at + static_cast<u64>(p) * sites);
            if constexpr (NORM) word = load_relaxed_system(norm_at);
            bool here = !NORM || has_tag(word, number);
            UNROLL
            for (int p = 0; p < PAIRS; p++) here = here & has_tag(pair[p], number);
            if (here) break;
            do since = wait_longer(ranks, since, MESSAGE_FACE, face);
            while (since != 0 && !has_tag(load_relaxed_system(last), number));
            if (since == 0) break;
        }
        UNROLL
        for (int p = 0; p < PAIRS; p++) take_values(pair[p], out + p * OF_PAIR);
        if constexpr (NORM) norm = f32_of(static_cast<u32>(word));
    }

    // ---- staged ---------------------------------------------------------------------------------
    FUNCTION_MEMBER void load_staged(u64 slice, u32 place, Real (&out)[REALS]) const
    {
        UNROLL
        for (int c = 0; c < REALS; c += WHOLE) {
            const Real* const at = chunk_at(slice, place, c);
            chunk<Real> v;
            if (items(c) == WHOLE)
                v.bytes = *reinterpret_cast<const bytes16*>(at);
            else
                v.two_words[0] = *reinterpret_cast<const u64*>(at);
            UNROLL
            for (int j = 0; j < WHOLE; j++)
                if (j < items(c)) out[c + j] = v.item[j];
        }
    }
    FUNCTION_MEMBER void store_staged(u64 slice, u32 place, const Real (&in)[REALS]) const
    {
        UNROLL
        for (int c = 0; c < REALS; c += WHOLE) {
            Real* const at = chunk_at(slice, place, c);
            chunk<Real> v;
            UNROLL
            for (int j = 0; j < WHOLE; j++)
                if (j < items(c)) v.item[j] = in[c + j];
            if (items(c) == WHOLE)
                *reinterpret_cast<bytes16*>(at) = v.bytes;
            else
                *reinterpret_cast<u64*>(at) = v.two_words[0];
        }
    }
    FUNCTION_MEMBER static constexpr int items(int first)
    {
        return REALS - first < WHOLE ? REALS - first : WHOLE;
    }
    FUNCTION_MEMBER Real* chunk_at(u64 slice, u32 place, int first) const
    {
        return reinterpret_cast<Real*>(begin) + (slice * REALS + static_cast<u64>(first)) * sites +
               static_cast<u64>(place) * static_cast<u64>(items(first));
    }
    FUNCTION_MEMBER f32* staged_norm(u64 slice, u32 place) const
    {
        const u64 norms_at = rank_norms_at(ranks.slot_bytes, REALS * sizeof(Real));
        return reinterpret_cast<f32*>(begin + norms_at) + slice * sites + place;
    }
};

// Returns the face `to` in a window, of message `number`, that `face` of this rank has to do with.
template <class Real, int REALS, int MU>
FUNCTION face_memory<Real, REALS> face_in(const rank_table& t, u8* window, u32 to, u32 face,
                                          u32 number)
{
    const bool staged = is_staged(t, face);
    const u64 place = staged ? 0 : number % 2;
    return face_memory<Real, REALS>{t,
                                    window + t.slots_at + rank_slot(to, place) * t.slot_bytes,
                                    face_sites<MU>(),
                                    face,
                                    number,
                                    staged};
}

// Returns the face that goes to the neighbour on a side (1: upper), whose other side it is, and
// that which comes from there.
template <class Real, int REALS, int MU>
FUNCTION face_memory<Real, REALS> face_to(const rank_table& t, u32 upper, u32 number)
{
    const u32 face = 2 * MU + upper;
    return face_in<Real, REALS, MU>(t, t.neighbour[face], face ^ 1, face, number);
}
template <class Real, int REALS, int MU>
FUNCTION face_memory<Real, REALS> face_from(const rank_table& t, u32 upper, u32 number)
{
    const u32 face = 2 * MU + upper;
    return face_in<Real, REALS, MU>(t, t.mine, face, face, number);
}

// ---- exchanges ----------------------------------------------------------------------------------
// Returns the number of the exchange that a launch sends, and of the one that an earlier launch has
// sent.
FUNCTION u32 number_sent_now(const rank_table& t) { return static_cast<u32>(t.sent) + 1; }
FUNCTION u32 number_sent_before(const rank_table& t) { return static_cast<u32>(t.sent); }

// Counts a block, one of `blocks` that have taken the number of this exchange, and returns true for
// the last of them, which has ended it: the next launch has the next number. Called by one thread.
// The fence keeps the load of the number before the count; where blocks begin in order, on a GPU,
// the words that were stored or awaited with that number do.
FUNCTION bool count_block(rank_table& t, u64 blocks)
{
    if (!SIMT_BLOCKS_IN_ORDER) device_fence();
    if (atomic_add(&t.arrived, 1) + 1 != blocks) return false;
    t.arrived = 0;
    t.sent++;
    return true;
}

// Faces whose neighbours get flags: the staged ones, and those of an exchange that sends some of
// the faces alone, since a rank that receives no face of a neighbour does not know how far it is.
enum flagged : u32 { STAGED_FACES, ALL_FACES };
FUNCTION bool has_flag(const rank_table& t, u32 face, flagged which)
{
    return (TUNE_CUT >> face / 2 & 1) && (which == ALL_FACES || is_staged(t, face));
}

// Sets the flags of an exchange that has ended. They need no fence: what is staged is moved after
// the launch. Called by one thread.
FUNCTION void set_flags(const rank_table& t, flagged which)
{
    UNROLL
    for (u32 face = 2; face < RANK_FACES; face++) // the upper one is a lower one there
        if (has_flag(t, face, which))
            store_relaxed_system(face_flag(t.neighbour[face], face ^ 1), t.sent);
}

// Waits for the flags of the exchange that an earlier launch has sent. All threads of a block call
// this.
FUNCTION void wait_for_flags(const rank_table& t, flagged which)
{
    if (thread_id() == 0) {
        UNROLL
        for (u32 face = 2; face < RANK_FACES; face++)
            if (has_flag(t, face, which))
                wait_for_rank(t, face_flag(t.mine, face), t.sent, MESSAGE_FACE, face);
    }
    block_sync();
}
