// Words of 16 bytes of the fields of a block of sources, and their combinations with a matrix: see
// block_update.cu. A thread has the words of all N sources at a place.
#pragma once
#include "block_cg.h"

typedef TUNE_T real_t;
typedef complex<real_t> complex_t;

enum { PER_WORD = 16 / sizeof(complex_t) }; // complex numbers

struct vectors { // the numbers of all sources at a word
    complex_t z[N][PER_WORD];
};

// ---- fields -------------------------------------------------------------------------------------
struct block_place {
    u64 first; // source of the block
    u64 words, word;
    u32 active;
};

FUNCTION bool is_active(const block_place& at, u32 k)
{
    return at.active >> k & 1 && at.word < at.words;
}

union word {
    bytes16 bytes;
    real_t real[2 * PER_WORD];
};

// The words of a field at a place, source after source. How far apart they are is hidden from the
// compiler, which would keep the addresses of all of them in registers.
template <class Word>
struct block_words {
    Word* at;
    u64 stride;
};
template <class Word, class Real>
FUNCTION block_words<Word> words_of(Real* field, const block_place& at)
{
    u32 hidden = 0;
    unknown_value(hidden);
    return block_words<Word>{reinterpret_cast<Word*>(field) + at.first * at.words + at.word,
                             at.words + hidden};
}

FUNCTION void load_vector(const bytes16* from, const block_place& at, u32 k,
                          complex_t (&z)[PER_WORD])
{
    word v;
    UNROLL
    for (int j = 0; j < 2 * PER_WORD; j++) v.real[j] = 0;
    if (is_active(at, k)) v.bytes = load_bytes16<0>(from);
    UNROLL
    for (int c = 0; c < PER_WORD; c++) z[c] = complex_t(v.real[2 * c], v.real[2 * c + 1]);
}

FUNCTION void store_vector(bytes16* to, const block_place& at, u32 k,
                           const complex_t (&z)[PER_WORD])
{
    word v;
    UNROLL
    for (int c = 0; c < PER_WORD; c++) {
        v.real[2 * c] = z[c].real;
        v.real[2 * c + 1] = z[c].imag;
    }
    if (is_active(at, k)) *to = v.bytes;
}

FUNCTION vectors load_vectors(const real_t* field, const block_place& at)
{
    vectors v;
    block_words<const bytes16> words = words_of<const bytes16>(field, at);
    UNROLL
    for (u32 k = 0; k < N; k++, words.at += words.stride) load_vector(words.at, at, k, v.z[k]);
    return v;
}

// ---- combinations -------------------------------------------------------------------------------
FUNCTION void add_product(complex_t& sum, complex_t a, complex_t b)
{
    sum.real += a.real * b.real;
    sum.imag += a.real * b.imag;
    sum.real -= a.imag * b.imag;
    sum.imag += a.imag * b.real;
}

// Adds sum over k from FIRST to LAST of v_k times m[k][j] to `sum`.
FUNCTION void add_column(complex_t (&sum)[PER_WORD], const vectors& v, const complex_t* m, u32 j,
                         u32 first, u32 last)
{
    UNROLL
    for (u32 k = 0; k < N; k++) {
        if (k < first || k > last) continue;
        const complex_t factor = m[k * N + j];
        UNROLL
        for (int c = 0; c < PER_WORD; c++) add_product(sum[c], v.z[k][c], factor);
    }
}

// field = v m for an upper triangular matrix, from the last source on, and calls each(j, z) with
// the result of source j.
template <class Each>
FUNCTION void store_upper_product(real_t* field, const block_place& at, const vectors& v,
                                  const complex_t* m, Each each)
{
    block_words<bytes16> words = words_of<bytes16>(field, at);
    words.at += (N - 1) * words.stride;
    UNROLL
    for (u32 n = 0; n < N; n++, words.at -= words.stride) {
        const u32 j = N - 1 - n;
        complex_t sum[PER_WORD] = {};
        add_column(sum, v, m, j, 0, j);
        store_vector(words.at, at, j, sum);
        each(j, sum);
    }
}

// field = field + v m, source by source, and calls each(j, z) with the result of source j.
template <class Each>
FUNCTION void add_combinations(real_t* field, const block_place& at, const vectors& v,
                               const complex_t* m, Each each)
{
    block_words<bytes16> words = words_of<bytes16>(field, at);
    UNROLL
    for (u32 j = 0; j < N; j++, words.at += words.stride) {
        complex_t sum[PER_WORD];
        load_vector(words.at, at, j, sum);
        add_column(sum, v, m, j, 0, N - 1);
        store_vector(words.at, at, j, sum);
        each(j, sum);
    }
}
