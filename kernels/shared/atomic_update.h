// Updates of items in memory by several threads at once, with any operator.
//
// An item of 1, 2, 4 or 8 bytes is replaced by a compare and exchange, repeated until no other
// thread came between. A GPU has none of one byte, which is exchanged together with its neighbour
// in two. Items are aligned to their size. An update that leaves the item as it is writes nothing.
#pragma once
#include "types.h"

template <int BYTES>
struct word_of_bytes {
    typedef least_word type;
};
template <>
struct word_of_bytes<2> {
    typedef u16 type;
};
template <>
struct word_of_bytes<4> {
    typedef u32 type;
};
template <>
struct word_of_bytes<8> {
    typedef u64 type;
};

template <class T, class Word>
union item_bits {
    Word word;
    T item;
    FUNCTION_MEMBER item_bits() {}
};

// Replaces *p by next(*p).
template <class T, class Next>
FUNCTION void atomic_update(T* p, Next next)
{
    typedef typename word_of_bytes<sizeof(T)>::type word_t;
    constexpr bool PART = sizeof(word_t) > sizeof(T); // of the word, which begins at an even byte
    const u64 address = reinterpret_cast<u64>(p);
    const u32 shift = PART ? static_cast<u32>(address & 1u) * 8 : 0;
    word_t* const at = reinterpret_cast<word_t*>(PART ? address & ~1ull : address);
    word_t held = load_relaxed(at);
    for (;;) {
        item_bits<T, word_t> bits;
        bits.word = static_cast<word_t>(held >> shift);
        bits.item = next(bits.item);
        word_t changed = bits.word;
        if (PART) {
            const u32 others = held & ~(0xffu << shift);
            changed = static_cast<word_t>(others | (bits.word & 0xffu) << shift);
        }
        if (changed == held) return;
        const word_t found = atomic_exchange_if(at, held, changed);
        if (found == held) return;
        held = found;
    }
}

// Adds to *p, in one step for numbers that the device adds, part by part for complex ones.
FUNCTION void atomic_sum(f32* p, f32 v) { atomic_add(p, v); }
FUNCTION void atomic_sum(f64* p, f64 v) { atomic_add(p, v); }
FUNCTION void atomic_sum(u32* p, u32 v) { atomic_add(p, v); }
FUNCTION void atomic_sum(u64* p, u64 v) { atomic_add(p, v); }
FUNCTION void atomic_sum(i32* p, i32 v)
{
    atomic_add(reinterpret_cast<u32*>(p), static_cast<u32>(v));
}
FUNCTION void atomic_sum(i64* p, i64 v)
{
    atomic_add(reinterpret_cast<u64*>(p), static_cast<u64>(v));
}
template <class F>
FUNCTION void atomic_sum(complex<F>* p, complex<F> v)
{
    atomic_add(&p->real, v.real);
    atomic_add(&p->imag, v.imag);
}
