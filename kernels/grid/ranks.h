// Messages between ranks: devices, or processes, that each hold a part of the same arrays and run
// the same kernels. No host takes part, so that launches which talk can be recorded and replayed.
//
// A rank has a window, memory that all ranks reach, in which the others leave faces and sums. Each
// word of a message has half of its bits from the data and half from the message's number, counted
// from 1 on: the reader knows which number it waits for, nothing is ever cleared, and a late word
// is not taken for one of the next message. A word is written and read in one access, so that it is
// its own flag: no fence waits for the way of other words, and no word of a message for another.
// Messages use two places in turn. A rank sends message n + 2 only after it has received n + 1 from
// the same neighbour, who had read n by then, so that nobody asks if a place is free.
//
// Ranks that reach no memory of each other stage their messages: they leave faces and then a flag,
// the number, in an outbox of their own, which looks like a neighbour's window, and sums in their
// own window. Before the launch that reads it all of it is moved
// (csrc/lattice/grid/ranks_steps.c), flags behind their faces. These have one place then, since
// whoever moves them knows no numbers, and no numbers in their words, which would be as many bytes
// again. Ranks of several hosts stage the faces of some neighbours, and all sums.
//
// A rank that waits longer than the table says gives up: its own window and those of all others get
// the reason, everybody's waits end at once, results are void, and the host reports it.
#pragma once
#include "integer.h"
#include "system.h"

enum { RANK_FACES = 8, RANK_SLOTS = 6 }; // two in each of four directions; x is not cut

// One rank's view. csrc/lattice/grid/rank_table.h has this struct, and what follows of a window,
// for the core, which fills it in; tests/lattice/test_rank_table.py compares the two.
struct rank_table {
    u64 sent;        // exchanges of faces so far
    u64 arrived;     // blocks of an exchange that have counted themselves; 0 before and after
    u64 started;     // blocks of a launch, where these start in any order; 0 before and after
    u64 finished;    // states whose sums have been sent in a launch; 0 before and after
    u64 nanoseconds; // that a wait lasts at most
    u64 rank, ranks;
    u64 staged;                // bit `face`, and STAGED_SUMS: these are moved between launches
    u64 mails;                 // places for mails that a rank has
    u64 slots_at, slot_bytes;  // of faces in a window
    u64* sums;                 // sent so far, of each place for a mail
    u8* mine;                  // the window of this rank
    u8* neighbour[RANK_FACES]; // the windows of those behind face 2 * direction + (1: upper)
    u64 reached;               // windows that this rank stores to
    u8** windows;              // of all ranks, or its own
};

// Returns how many places the data of a message has that is a bit of `staged`, and which is its
// own.
enum : u32 { STAGED_SUMS = RANK_FACES };
FUNCTION u64 places_of(const rank_table& t, u32 message) { return t.staged >> message & 1 ? 1 : 2; }
FUNCTION u64 place_in_turn(const rank_table& t, u32 message, u64 number)
{
    return number % places_of(t, message);
}

// A window: the reason of a failure, a flag for each face, mails of sums, then the faces.
enum : u64 { FAILED_AT = 0, FLAGS_AT = 64, MAIL_AT = 256 };
enum { MAIL_VALUES = 8 };
struct rank_mail {
    word_pair value[MAIL_VALUES]; // the halves of each: tagged_word
};

// Returns 32 bits of a value with the tag of their message, which is its number's last 31 bits and
// 1 above them, as no word has before the first message. A word is written and read in one access,
// so that a reader that finds the tag has the bits, and neither side needs a fence or a flag.
FUNCTION constexpr u32 tag_of(u64 number) { return static_cast<u32>(number) | 0x80000000u; }
FUNCTION constexpr u64 tagged_word(u64 number, u32 bits)
{
    return static_cast<u64>(tag_of(number)) << 32 | bits;
}
FUNCTION constexpr bool has_tag(u64 word, u64 number) { return word >> 32 == tag_of(number); }

// Returns eight bytes as a pair of tagged words: an f64, or two of f32.
FUNCTION word_pair tagged_pair(u64 number, const f64* value)
{
    const u64 bits = bits_of(*value);
    return word_pair{{tagged_word(number, static_cast<u32>(bits)),
                      tagged_word(number, static_cast<u32>(bits >> 32))}};
}
FUNCTION word_pair tagged_pair(u64 number, const f32* value)
{
    return word_pair{
        {tagged_word(number, bits_of(value[0])), tagged_word(number, bits_of(value[1]))}};
}
FUNCTION bool has_tag(const word_pair& pair, u64 number)
{
    return has_tag(pair.word[0], number) && has_tag(pair.word[1], number);
}
FUNCTION void take_values(const word_pair& pair, f64* value)
{
    *value = f64_of(pair.word[1] << 32 | static_cast<u32>(pair.word[0]));
}
FUNCTION void take_values(const word_pair& pair, f32* value)
{
    value[0] = f32_of(static_cast<u32>(pair.word[0]));
    value[1] = f32_of(static_cast<u32>(pair.word[1]));
}

// Returns the slot of a face, in one of its places. There is none of x.
FUNCTION constexpr u64 rank_slot(u32 face, u64 place) { return place * RANK_SLOTS + face - 2; }
// Returns where a slot has the norms of sites of so many bytes: behind the most that there is room
// for. Tagged words are as many bytes again, of norms too.
FUNCTION constexpr u64 rank_norms_at(u64 slot_bytes, u64 site_bytes)
{
    return slot_bytes / (site_bytes + sizeof(f32)) * site_bytes;
}

enum rank_message : u64 { MESSAGE_FACE = 1, MESSAGE_SUM = 2 };

FUNCTION u64* failed_in(u8* window) { return reinterpret_cast<u64*>(window + FAILED_AT); }
FUNCTION u64* face_flag(u8* window, u32 face)
{
    return reinterpret_cast<u64*>(window + FLAGS_AT) + face;
}

// Returns the reason of a failure: the message that did not come, the rank that waited and what it
// waited for, a rank or a face.
FUNCTION constexpr u64 rank_failure(rank_message message, u64 rank, u64 from)
{
    return message << 48 | rank << 24 | from;
}

// Leaves the reason of a failure in every window that has none.
SLOW_FUNCTION void give_up(const rank_table& t, rank_message message, u64 from)
{
    const u64 reason = rank_failure(message, t.rank, from);
    for (u64 r = 0; r < t.reached; r++)
        if (load_acquire_system(failed_in(t.windows[r])) == 0)
            store_release_system(failed_in(t.windows[r]), reason);
}

// Waits a little for a message that is not there yet. `since` is 0 the first time, then what this
// returned before. Returns 0 if the message will not come. A thread that does the work of many
// waits for one site after the other: each of these waits ends at once when one has failed.
enum : u64 { LOOK_FOR_FAILURE_AFTER = SIMT_SINGLE_THREAD ? 0 : 10000 }; // ns: a load more each time
SLOW_FUNCTION u64 wait_longer(const rank_table& t, u64 since, rank_message message, u64 from)
{
    const u64 now = clock_nanoseconds(), begun = since == 0 ? now : since, waited = now - begun;
    if (waited >= LOOK_FOR_FAILURE_AFTER && load_relaxed_system(failed_in(t.mine))) return 0;
    if (waited > t.nanoseconds) {
        give_up(t, message, from);
        return 0;
    }
    spin_pause();
    return begun;
}

// Waits until a flag of this rank's window reaches a number. Returns false if that failed. Called
// by one thread.
FUNCTION bool wait_for_rank(const rank_table& t, const u64* flag, u64 number, rank_message message,
                            u64 from)
{
    u64 since = 0;
    while (load_acquire_system(flag) < number) {
        since = wait_longer(t, since, message, from);
        if (since == 0) return false;
    }
    return true;
}

// ---- sums ---------------------------------------------------------------------------------------
// Sums over all ranks of each state of a solver, or of each block of its sources: a rank first
// sends those of all states, then it waits for those of the others. Ranks that finish their states
// in different orders do not wait for each other in a circle.
//
// More sums than a mail has go in several, one place after the other.

FUNCTION constexpr u64 mails_of(u64 sums) { return ceil_div(sums, MAIL_VALUES); }

// Returns the mail that a rank has sent, in a window. Those of a rank are together.
FUNCTION rank_mail* mail_of(const rank_table& t, u8* window, u64 rank, u64 place)
{
    const u64 at = (rank * t.mails + place) * places_of(t, STAGED_SUMS) +
                   place_in_turn(t, STAGED_SUMS, t.sums[place]);
    return reinterpret_cast<rank_mail*>(window + MAIL_AT) + at;
}

// Sends up to MAIL_VALUES sums to all ranks. Called by one thread of a rank.
FUNCTION void send_mail(const rank_table& t, u64 place, const f64* value, u64 count)
{
    const u64 number = ++t.sums[place];
    for (u64 r = 0; r < t.reached; r++) {
        rank_mail& to = *mail_of(t, t.windows[r], t.rank, place);
        for (u64 k = 0; k < count && k < MAIL_VALUES; k++)
            store_relaxed_system(to.value + k, tagged_pair(number, value + k));
    }
}

// Receives them from all ranks, added in the order of ranks, so that all have the same bits. Values
// that do not come are NaN.
FUNCTION void receive_mail(const rank_table& t, u64 place, f64* value, u64 count)
{
    const u64 number = t.sums[place];
    for (u64 r = 0; r < t.ranks; r++) {
        const rank_mail& mail = *mail_of(t, t.mine, r, place);
        word_pair part[MAIL_VALUES];
        UNROLL
        for (u64 k = 0; k < MAIL_VALUES; k++) // all are under way before one is looked at
            if (k < count) part[k] = load_relaxed_system(mail.value + k);
        UNROLL
        for (u64 k = 0; k < MAIL_VALUES; k++) {
            if (k >= count) break;
            u64 since = 0;
            while (!has_tag(part[k], number)) {
                since = wait_longer(t, since, MESSAGE_SUM, r);
                const f64 none = f64_of(0x7ff8000000000000u);
                part[k] = since ? load_relaxed_system(mail.value + k) : tagged_pair(number, &none);
            }
            f64 of_rank;
            take_values(part[k], &of_rank);
            value[k] = r == 0 ? of_rank : value[k] + of_rank;
        }
    }
}

// Says that all mails of a state are sent. Called by one thread of a rank. Returns true for the
// last of the states if the sums of all of them can be received now; staged, the next launch can.
FUNCTION bool sums_sent(rank_table& t, u64 states)
{
    if (states > 1) { // other blocks have counted theirs in t.sums
        device_fence();
        if (atomic_add(&t.finished, 1) + 1 < states) return false;
        device_fence();
        t.finished = 0;
    }
    return places_of(t, STAGED_SUMS) == 2;
}

// Sends the sums of a state to all ranks, with the result of sums_sent.
template <int N>
FUNCTION bool send_sums(rank_table& t, u64 state, u64 states, const f64 (&value)[N])
{
    for (u64 m = 0; m < mails_of(N); m++)
        send_mail(t, state * mails_of(N) + m, value + m * MAIL_VALUES, N - m * MAIL_VALUES);
    return sums_sent(t, states);
}

template <int N>
FUNCTION void receive_sums(const rank_table& t, u64 state, f64 (&value)[N])
{
    for (u64 m = 0; m < mails_of(N); m++)
        receive_mail(t, state * mails_of(N) + m, value + m * MAIL_VALUES, N - m * MAIL_VALUES);
}
