// Linear algebra of block conjugate gradients (solver/block_cg.h) on the fields of a block of N
// sources: every vector of a block becomes a combination of all of them.
//
// Combinations are the same at every site, so that a source's field is words of 16 bytes, in
// whatever order. A thread takes the words of all sources at a place: N^2 products of complex
// numbers with a matrix, which is in shared memory. The products of all pairs of vectors, summed
// over places, are taken from shared memory too: a thread has a few pairs of a few of the places.
//
// %RANGE% TUNE_THREADS_PER_BLOCK tpb 32:256:32 cpu=1:1:1
// %RANGE% TUNE_MIN_BLOCKS mb 1:8:1 cpu=1:1:1
// %RANGE% TUNE_WORDS_PER_THREAD wpt 1:1:1 cpu=16:64:16
// %GONE% wav 1
//
// wpt   words a thread and turn, SIMT_THREADS apart
//
// Workload:
//     TUNE_T            type of stored reals: f64 or f32
//     TUNE_BLOCK        N, the sources of a block
//     TUNE_STEP         what is done: see below
//     TUNE_NORMAL       1: of M^+ M, by both factors; 0: of a Hermitian positive M
//     TUNE_RANKS        1: sums are of the fields of several ranks (ranks.h)
//     TUNE_STATE, TUNE_STATE_BYTES   members and size of the state (solver/solver.h)
// Traffic: each field of the step is read once, and each that changes is written once.
#define SIMT_MIN_BLOCKS TUNE_MIN_BLOCKS
#include "block.h"
#include "block_cg.h"
#include "block_words.h"
#include "grid_sums.h"
#include "integer.h"
#if TUNE_RANKS
#include "ranks.h"
#endif

// Each step by what it does to the fields of a block; G is summed over all places.
enum {
    STEP_FACTOR,    // G = w^+ w
    STEP_REFACTOR,  // w = w S^-1, G = w^+ w
    STEP_BEGIN,     // w = w S^-1, p = w, or p = w + p - q to keep directions, q = w
    STEP_LENGTH,    // G = p^+ w, of M^+ M G = w^+ w
    STEP_RESIDUAL,  // q = q - w alpha, G = q^+ q
    STEP_DIRECTION, // q = q S^-1, x = x + p (alpha C), p = q + p S^+
    STEP = TUNE_STEP,
    WITH_SUMS = STEP != STEP_BEGIN && STEP != STEP_DIRECTION,
    WITH_TWO = STEP == STEP_LENGTH && !TUNE_NORMAL // sums of products of two fields
};

enum {
    TURN = SIMT_THREADS * TUNE_WORDS_PER_THREAD,
    WITH_VECTORS = WITH_SUMS || STEP == STEP_DIRECTION, // in shared memory
    PLACES = WITH_VECTORS ? TURN * PER_WORD : 0,
    STRIDE = PLACES + 1, // of the vectors in shared memory, so that they are in different banks
    // A task is EDGE x EDGE pairs of vectors at every SLICES-th place; a thread has TASKS of them.
    EDGE = N % 4 == 0   ? 4
           : N % 3 == 0 ? 3
           : N % 2 == 0 ? 2
                        : 1,
    EDGES = N / EDGE,
    TILES = EDGES * EDGES,
    SLICES = SIMT_THREADS > TILES ? SIMT_THREADS / TILES : 1,
    TASKS = ceil_div(TILES, SIMT_THREADS)
};

struct block_update_args {
    real_t* q;
    real_t* p;
    real_t* x;
    real_t* w;
    solver_state* states;
    block_matrices* matrices; // one per block of sources
    f64* parts;               // of sums: 2 N^2 numbers for each block of the launch
    u64 sources;
    u64 words;  // of a source
    u64 blocks; // of the launch, for a block of sources
    u64 phase;  // of the sources that are active
    u64 finish; // 0: leaves states and matrices alone
#if TUNE_RANKS
    rank_table* ranks;
#endif
};

struct block_operands {
    complex_t matrix[3][N * N];
    complex_t left[WITH_VECTORS ? N : 1][STRIDE], right[WITH_TWO ? N : 1][STRIDE];
};

struct block_update_shared {
    u32 active; // bit k: source k is
    u32 is_last;
    union {
        block_operands operands;
        c128 sums[N * N];
        block_scalars scalars;
    };
};

// field = v m for a lower triangular matrix, plus what is in its place in shared memory.
template <int ROWS>
FUNCTION void store_lower_product(real_t* field, const block_place& at, const vectors& v,
                                  const complex_t* m, const complex_t (&plus)[ROWS][STRIDE],
                                  u32 in_turn)
{
    block_words<bytes16> words = words_of<bytes16>(field, at);
    UNROLL
    for (u32 j = 0; j < N; j++, words.at += words.stride) {
        complex_t sum[PER_WORD];
        UNROLL
        for (int c = 0; c < PER_WORD; c++)
            sum[c] = WITH_VECTORS ? plus[j % ROWS][in_turn * PER_WORD + c] : complex_t(0);
        add_column(sum, v, m, j, j, N - 1);
        store_vector(words.at, at, j, sum);
    }
}

// ---- sums ---------------------------------------------------------------------------------------
struct task_sums {
    c128 pair[EDGE][EDGE];
};

// Adds the products of a turn's vectors in shared memory to the sums of the thread's tasks. Within
// a turn they are added in the precision of the fields.
FUNCTION void add_turn(const block_update_shared& s, task_sums (&sums)[TASKS])
{
    UNROLL
    for (u32 t = 0; t < TASKS; t++) {
        const u32 task = thread_id() + t * SIMT_THREADS, tile = task % TILES, slice = task / TILES;
        if (slice >= SLICES) continue;
        const u32 row = tile / EDGES * EDGE, column = tile % EDGES * EDGE;
        complex_t sum[EDGE][EDGE] = {};
        for (u32 place = slice; place < PLACES; place += SLICES) {
            complex_t left[EDGE], right[EDGE];
            UNROLL
            for (int e = 0; e < EDGE; e++) {
                left[e] = s.operands.left[row + e][place];
                right[e] = WITH_TWO ? s.operands.right[column + e][place]
                                    : s.operands.left[column + e][place];
            }
            UNROLL
            for (int i = 0; i < EDGE; i++) {
                const complex_t conjugate(left[i].real, -left[i].imag);
                UNROLL
                for (int j = 0; j < EDGE; j++) add_product(sum[i][j], conjugate, right[j]);
            }
        }
        UNROLL
        for (int i = 0; i < EDGE; i++) {
            UNROLL
            for (int j = 0; j < EDGE; j++)
                sums[t].pair[i][j] = sums[t].pair[i][j] + c128(sum[i][j]);
        }
    }
}

template <int ROWS>
FUNCTION void put_vector(complex_t (&to)[ROWS][STRIDE], u32 k, u32 in_turn,
                         const complex_t (&z)[PER_WORD])
{
    UNROLL
    for (u32 c = 0; c < PER_WORD; c++) to[k][in_turn * PER_WORD + c] = z[c];
}

template <int ROWS>
FUNCTION void put_vectors(complex_t (&to)[ROWS][STRIDE], u32 in_turn, const vectors& v)
{
    UNROLL
    for (u32 k = 0; k < ROWS; k++) put_vector(to, k, in_turn, v.z[k]);
}

// Adds up the sums of all slices in s.sums, slice after slice.
FUNCTION void join_slices(const task_sums (&sums)[TASKS], block_update_shared& s)
{
    for (u32 turn = 0; turn < SLICES; turn++) {
        block_sync();
        UNROLL
        for (u32 t = 0; t < TASKS; t++) {
            const u32 task = thread_id() + t * SIMT_THREADS, tile = task % TILES;
            if (task / TILES != turn) continue;
            UNROLL
            for (u32 i = 0; i < EDGE; i++) {
                UNROLL
                for (u32 j = 0; j < EDGE; j++) {
                    c128& to = s.sums[(tile / EDGES * EDGE + i) * N + tile % EDGES * EDGE + j];
                    to = turn == 0 ? sums[t].pair[i][j] : to + sums[t].pair[i][j];
                }
            }
        }
    }
    block_sync();
}

// Returns true in all threads of the block that comes last; s.sums then has the sums of all blocks,
// added in their order.
FUNCTION bool join_blocks(const block_update_args& a, u64 group, u32 block, block_update_shared& s)
{
    enum { AT_ONCE = 16, COUNT = 2 * N * N };
    u64* const parts = reinterpret_cast<u64*>(a.parts) + group * a.blocks * COUNT;
    f64* const mine = reinterpret_cast<f64*>(s.sums);
    if constexpr (WITH_SUMS) {
        for (u32 e = thread_id(); e < COUNT; e += SIMT_THREADS)
            store_relaxed(parts + static_cast<u64>(block) * COUNT + e, sum_word{mine[e]}.word);
        device_fence();
    }
    block_sync();
    if (thread_id() == 0) {
        device_fence();
        s.is_last = atomic_add(&a.matrices[group].arrived, 1) + 1 == a.blocks;
    }
    block_sync();
    if (!s.is_last) return false; // same for all threads of the block
    device_fence();
    if constexpr (WITH_SUMS) {
        for (u32 e = thread_id(); e < COUNT; e += SIMT_THREADS) {
            f64 sum = 0;
            for (u64 b = 0; b < a.blocks; b += AT_ONCE) {
                u64 part[AT_ONCE];
                UNROLL
                for (u32 j = 0; j < AT_ONCE; j++)
                    part[j] = b + j < a.blocks ? load_relaxed(parts + (b + j) * COUNT + e) : 0;
                UNROLL
                for (u32 j = 0; j < AT_ONCE; j++) sum += f64_of(part[j]);
            }
            mine[e] = sum;
        }
    }
    if (thread_id() == 0) a.matrices[group].arrived = 0;
    block_sync();
    return true;
}

// ---- the kernel ---------------------------------------------------------------------------------
FUNCTION void take_matrix(complex_t* to, const c128* from, f64 factor)
{
    for (u32 e = thread_id(); e < N * N; e += SIMT_THREADS)
        to[e] = complex_t(static_cast<real_t>(factor * from[e].real),
                          static_cast<real_t>(factor * from[e].imag));
}
FUNCTION void take_adjoint(complex_t* to, const c128* from)
{
    for (u32 e = thread_id(); e < N * N; e += SIMT_THREADS) {
        const c128 z = from[e % N * N + e / N];
        to[e] = complex_t(static_cast<real_t>(z.real), static_cast<real_t>(-z.imag));
    }
}

FUNCTION void take_matrices(const block_matrices& m, block_update_shared& s)
{
    if constexpr (STEP == STEP_RESIDUAL) {
        take_matrix(s.operands.matrix[0], m.alpha, -1);
    } else if constexpr (STEP != STEP_FACTOR && STEP != STEP_LENGTH) {
        take_matrix(s.operands.matrix[0], m.inverse, 1);
    }
    if constexpr (STEP == STEP_DIRECTION) {
        take_matrix(s.operands.matrix[1], m.alpha_c, 1);
        take_adjoint(s.operands.matrix[2], m.factor);
    }
}

// Takes the step at a word, and leaves the vectors whose products are summed in shared memory.
// The compiler does not see where the matrices are: it would keep them in registers from word to
// word.
FUNCTION void take_step(const block_update_args& a, const block_place& at, u32 in_turn,
                        block_update_shared& s)
{
    u32 hidden = 0;
    unknown_value(hidden);
    const complex_t* const matrix = s.operands.matrix[0] + hidden;
    const auto put = [&](u32 k, const complex_t(&z)[PER_WORD]) {
        if constexpr (WITH_VECTORS) put_vector(s.operands.left, k, in_turn, z);
    };
    const auto nothing = [](u32, const complex_t(&)[PER_WORD]) {};
    if constexpr (STEP == STEP_FACTOR) {
        put_vectors(s.operands.left, in_turn, load_vectors(a.w, at));
    } else if constexpr (STEP == STEP_LENGTH) {
        put_vectors(s.operands.left, in_turn, load_vectors(TUNE_NORMAL ? a.w : a.p, at));
        if constexpr (WITH_TWO) put_vectors(s.operands.right, in_turn, load_vectors(a.w, at));
    } else if constexpr (STEP == STEP_RESIDUAL) {
        add_combinations(a.q, at, load_vectors(a.w, at), matrix, put);
    } else if constexpr (STEP == STEP_DIRECTION) {
        store_upper_product(a.q, at, load_vectors(a.q, at), matrix, put);
        warp_sync(FULL_WARP);
        const vectors p = load_vectors(a.p, at);
        add_combinations(a.x, at, p, matrix + N * N, nothing);
        warp_sync(FULL_WARP); // keeps the compiler from mixing both
        store_lower_product(a.p, at, p, matrix + 2 * N * N, s.operands.left, in_turn);
    } else {
        store_upper_product(a.w, at, load_vectors(a.w, at), matrix, put);
    }
}

FUNCTION void begin_at(const block_update_args& a, const block_place& at, bool keeps)
{
    block_words<bytes16> p = words_of<bytes16>(a.p, at), q = words_of<bytes16>(a.q, at),
                         w = words_of<bytes16>(a.w, at);
    for (u32 k = 0; k < N; k++) {
        complex_t now[PER_WORD], direction[PER_WORD], before[PER_WORD];
        load_vector(w.at, at, k, now);
        load_vector(p.at, at, k, direction);
        load_vector(q.at, at, k, before);
        UNROLL
        for (int c = 0; c < PER_WORD; c++)
            direction[c] = keeps ? now[c] + (direction[c] - before[c]) : now[c];
        store_vector(p.at, at, k, direction);
        store_vector(q.at, at, k, now);
        p.at += p.stride;
        q.at += q.stride;
        w.at += w.stride;
    }
}

FUNCTION void finish_step(const block_update_args& a, u64 group, u32 active, block_scalars& s)
{
    block_matrices& m = a.matrices[group];
    const block_sources of{a.states + group * N, active};
    if constexpr (STEP == STEP_FACTOR) block_factor(of, m, s, false);
    if constexpr (STEP == STEP_REFACTOR) block_factor(of, m, s, true);
    if constexpr (STEP == STEP_BEGIN) block_begin(of, m, block_goes_on(m, of));
    if constexpr (STEP == STEP_LENGTH) block_length<TUNE_NORMAL>(of, m, s);
    if constexpr (STEP == STEP_RESIDUAL) block_residual<TUNE_NORMAL>(of, m, s);
    if constexpr (STEP == STEP_DIRECTION) block_end(of, m);
}

// Returns the sources of a block that have the launch's phase, as bits.
FUNCTION u32 active_of(const block_update_args& a, u64 group)
{
    u32 active = 0;
    for (u32 k = 0; k < N; k++)
        if (group * N + k < a.sources && a.states[group * N + k].phase == a.phase)
            active |= 1u << k;
    return active;
}

// True if a step is due of a block of sources: they do not go on as they are.
FUNCTION bool is_due(const block_update_args& a, u64 group, u32 active)
{
    const block_sources of{a.states + group * N, active};
    return active != 0 && (STEP >= STEP_BEGIN || !block_goes_on(a.matrices[group], of));
}

#if TUNE_RANKS
FUNCTION u64 groups_of(const block_update_args& a) { return ceil_div(a.sources, N); }

enum : u64 { SUMS = 2 * N * N, MAILS = mails_of(SUMS) };

// Receives the sums of all blocks of sources of a launch, and takes their steps. All threads of a
// block call this.
FUNCTION void take_steps(const block_update_args& a, block_update_shared& s)
{
    f64* const sums = reinterpret_cast<f64*>(s.sums);
    for (u64 g = 0; g < groups_of(a); g++) {
        const u32 active = active_of(a, g);
        if (!is_due(a, g, active)) continue;
        block_sync();
        for (u64 m = thread_id(); m < MAILS; m += SIMT_THREADS)
            receive_mail(*a.ranks, g * MAILS + m, sums + m * MAIL_VALUES, SUMS - m * MAIL_VALUES);
        block_sync();
        for (u32 k = thread_id(); k < N; k += SIMT_THREADS)
            if (active >> k & 1) a.states[g * N + k].sums++;
        finish_step(a, g, active, s.scalars);
        block_sync();
    }
}

// Sends the sums of a block of sources. The last one of the launch receives those of all of them.
// All threads of a block call this.
FUNCTION void finish_over_ranks(const block_update_args& a, u64 group, block_update_shared& s)
{
    const f64* const sums = reinterpret_cast<const f64*>(s.sums);
    for (u64 m = thread_id(); m < MAILS; m += SIMT_THREADS)
        send_mail(*a.ranks, group * MAILS + m, sums + m * MAIL_VALUES, SUMS - m * MAIL_VALUES);
    block_sync();
    if (thread_id() == 0) {
        u64 due = 0;
        for (u64 g = 0; g < groups_of(a); g++) due += is_due(a, g, active_of(a, g));
        s.is_last = sums_sent(*a.ranks, due);
    }
    block_sync();
    if (s.is_last) take_steps(a, s); // same for all threads of the block
}

// Receives sums that are staged, in a block of its own.
KERNEL(block_update_words_sums, block_update_args, block_update_shared) { take_steps(a, s); }
#endif

KERNEL(block_update_words, block_update_args, block_update_shared)
{
    const u64 group = block_id() / a.blocks;
    const u32 block = static_cast<u32>(block_id() % a.blocks);
    block_place at{group * N, a.words, 0, 0};
    task_sums sums[TASKS] = {};
    if (thread_id() == 0) s.active = active_of(a, group);
    block_sync();
    at.active = s.active;
    if (!is_due(a, group, at.active)) return; // same for all threads of all blocks of the group
    const block_sources sources{a.states + group * N, at.active};
    const bool goes_on = STEP == STEP_BEGIN && block_goes_on(a.matrices[group], sources);
    const bool keeps = STEP == STEP_BEGIN && block_keeps(a.matrices[group], sources);
    take_matrices(a.matrices[group], s);
    block_sync();
    for (u64 first = static_cast<u64>(block) * TURN; first < a.words && !goes_on;
         first += a.blocks * TURN) {
        for (u32 k = 0; k < TUNE_WORDS_PER_THREAD; k++) {
            const u32 in_turn = k * SIMT_THREADS + thread_id();
            at.word = first + in_turn;
            take_step(a, at, in_turn, s);
            if constexpr (STEP == STEP_BEGIN) begin_at(a, at, keeps);
        }
        if constexpr (WITH_SUMS) {
            block_sync();
            add_turn(s, sums);
            block_sync();
        }
    }
    if (!a.finish) return;
    if constexpr (WITH_SUMS) join_slices(sums, s);
    if (!join_blocks(a, group, block, s)) return;
#if TUNE_RANKS
    if constexpr (WITH_SUMS) return finish_over_ranks(a, group, s);
#endif
    finish_step(a, group, at.active, s.scalars);
}
