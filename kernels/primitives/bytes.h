// Sums, minima and maxima of bytes, four at a time. One instruction a byte would be slower than
// memory delivers the bytes.
//
// A sum adds the four bytes of a word by a dot product with ones. A minimum or maximum compares the
// bytes as the high bytes of two 16-bit halves; the byte below only decides between equal high
// bytes.
//
//     TUNE_BYTES           1: sum; 2: minimum; 3: maximum; 0: one item at a time
//     TUNE_BYTES_SIGNED    1: the bytes are signed
#pragma once
#include "operator.h"
#include "packed.h"

template <int N>
union byte_words {
    item_t item[N];
    u32 word[N / 4 ? N / 4 : 1];
};

#if TUNE_BYTES == 1
struct byte_fold {
    acc_t sum;

    FUNCTION_MEMBER void begin() { sum = acc_identity(); }
    FUNCTION_MEMBER void take_word(u32 word, i32& part) const
    {
        part = TUNE_BYTES_SIGNED
                   ? dot_of_bytes(static_cast<i32>(word), 0x01010101, part)
                   : static_cast<i32>(dot_of_bytes(word, 0x01010101u, static_cast<u32>(part)));
    }
    template <int N>
    FUNCTION_MEMBER void take(const item_t (&item)[N])
    {
        byte_words<N> words;
        i32 part = 0; // sum of few enough bytes for 32 bits
        UNROLL
        for (int j = 0; j < N; j++) words.item[j] = item[j];
        UNROLL
        for (int w = 0; w < N / 4; w++) take_word(words.word[w], part);
        sum = combine()(sum, convert<value_t>(part));
    }
    FUNCTION_MEMBER acc_t result() const { return sum; }
};
#elif TUNE_BYTES
struct byte_fold {
    u32 high, low; // halves whose high bytes are compared: bytes 1 and 3, bytes 0 and 2

    FUNCTION_MEMBER static u32 extreme(u32 a, u32 b)
    {
        if constexpr (TUNE_BYTES == 2)
            return TUNE_BYTES_SIGNED ? least_of_halves_signed(a, b) : least_of_halves(a, b);
        return TUNE_BYTES_SIGNED ? greatest_of_halves_signed(a, b) : greatest_of_halves(a, b);
    }
    FUNCTION_MEMBER void begin()
    {
        byte_words<4> none;
        UNROLL
        for (int j = 0; j < 4; j++) none.item[j] = acc_identity();
        high = low = none.word[0];
    }
    template <int N>
    FUNCTION_MEMBER void take(const item_t (&item)[N])
    {
        byte_words<N> words;
        UNROLL
        for (int j = 0; j < N; j++) words.item[j] = item[j];
        UNROLL
        for (int w = 0; w < N / 4; w++) {
            high = extreme(high, words.word[w]);
            low = extreme(low, words.word[w] << 8);
        }
    }
    FUNCTION_MEMBER acc_t result() const
    {
        byte_words<4> of_high, of_low;
        of_high.word[0] = high, of_low.word[0] = low;
        acc_t best = acc_identity();
        UNROLL
        for (int j = 1; j < 4; j += 2) {
            best = accumulate(best, of_high.item[j], 0);
            best = accumulate(best, of_low.item[j], 0);
        }
        return best;
    }
};
#else
struct byte_fold {
    FUNCTION_MEMBER void begin() {}
    template <int N>
    FUNCTION_MEMBER void take(const item_t (&)[N])
    {
    }
    FUNCTION_MEMBER acc_t result() const { return acc_identity(); }
};
#endif
