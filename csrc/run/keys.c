// Sketches of a call's keys, and keys for a benchmark that have the same sketch: see keys.h.
#include "run/keys.h"

#include "base/base.h"
#include "base/integer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const key_axes[KEY_AXES] = {"Distinct", "KeyBits", "Run", "Sorted"};

enum { PIECES = 16, PIECE = 256, SAMPLE = PIECES * PIECE };

bool keys_are_of(const algorithm *a, const char *benchmark)
{
    return a->keys && (!a->keyed || strcmp(a->keyed, benchmark) == 0);
}

keys_place keys_of(const problem *p)
{
    int k = p->algorithm->keys - 1;
    if (!keys_are_of(p->algorithm, p->benchmark) || k >= p->input_count) return (keys_place){0};
    const operand *o = &p->inputs[k];
    bool numbers = o->type <= CUBC_F64 && !o->lazy && !o->scalar && !o->width;
    bool in_bits = type_table[o->type].kind != KIND_FLOAT && !p->algorithm->keys_fill_type;
    return numbers && o->n > 1 ? (keys_place){o->data, o->n, (cubc_type)o->type, in_bits}
                               : (keys_place){0};
}

// ---- sketches -----------------------------------------------------------------------------------
typedef struct sample {
    unsigned char bytes[SAMPLE * 8];
    uint64_t keys[SAMPLE];  // of the same order as unsigned numbers
    uint64_t heads[SAMPLE]; // those that begin a run
    size_t count, piece;    // items, and of a piece
} sample;

static cubc_status copy_sample(cubc_device *device, const keys_place *k, void *stream, sample *s)
{
    size_t size = cubc_type_size(k->type);
    bool whole = k->n <= SAMPLE;
    s->count = whole ? (size_t)k->n : SAMPLE;
    s->piece = whole ? s->count : PIECE;
    for (size_t at = 0, j = 0; at < s->count; at += s->piece, j++) {
        uint64_t from = whole ? 0 : (uint64_t)((double)(k->n - PIECE) * (double)j / (PIECES - 1));
        TRY(device->api->copy(device, s->bytes + at * size,
                              (const unsigned char *)k->data + from * size, s->piece * size,
                              stream));
    }
    return CUBC_OK;
}

// The bits of negative numbers come before those of positive ones.
static void order_keys(sample *s, cubc_type type)
{
    size_t size = cubc_type_size(type);
    uint64_t sign = (uint64_t)1 << (8 * size - 1), all = sign | (sign - 1);
    type_kind kind = type_table[type].kind;
    for (size_t k = 0; k < s->count; k++) {
        uint64_t bits = 0;
        memcpy(&bits, s->bytes + k * size, size); // little-endian, as all devices are
        if (kind == KIND_FLOAT)
            bits ^= bits & sign ? all : sign;
        else if (kind == KIND_SIGNED)
            bits ^= sign;
        s->keys[k] = bits;
    }
}

typedef struct order {
    size_t pairs, equal;    // within pieces
    size_t rising, falling; // of all neighbours, pieces too
} order;

static order count_order(sample *s, size_t *heads)
{
    order o = {0};
    *heads = 0;
    for (size_t k = 0; k < s->count; k++) {
        bool first = k % s->piece == 0;
        if (k) o.rising += s->keys[k] > s->keys[k - 1];
        if (k) o.falling += s->keys[k] < s->keys[k - 1];
        if (!first) o.pairs++;
        if (!first && s->keys[k] == s->keys[k - 1])
            o.equal++;
        else
            s->heads[(*heads)++] = s->keys[k];
    }
    return o;
}

static int by_value(const void *left, const void *right)
{
    uint64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return (a > b) - (a < b);
}

// Chao's estimate of the distinct ones among `most`, from those seen once and twice.
static double estimate_distinct(uint64_t *heads, size_t count, double most)
{
    size_t distinct = 0, once = 0, twice = 0;
    qsort(heads, count, sizeof *heads, by_value);
    for (size_t k = 0, next; k < count; k = next) {
        for (next = k; next < count && heads[next] == heads[k];) next++;
        distinct++;
        once += next - k == 1;
        twice += next - k == 2;
    }
    if (once == count) return most;
    double unseen = (double)once * (double)once / (2 * (double)(twice ? twice : 1));
    return fmin((double)distinct + unseen, most);
}

static uint64_t rounded(double value)
{
    if (value < 1) return 1;
    return (uint64_t)(value <= 16 ? round(value) : exp2(round(log2(value))));
}

static uint64_t differing_bits(const sample *s)
{
    uint64_t differ = 0, bits = 0;
    for (size_t k = 1; k < s->count; k++) differ |= s->keys[k] ^ s->keys[0];
    while (bits < 64 && differ >> bits) bits++;
    return bits <= 8 ? (bits ? bits : 1) : round_up(bits, 4);
}

// Neighbours rise in (1 + q^2) / 2 of all places where a share q of the keys is in its place, and
// the others are anywhere.
static uint64_t percent_sorted(const order *o)
{
    size_t changes = o->rising + o->falling;
    double rise = changes ? (double)o->rising / (double)changes : 0;
    double share = rise > 0.55 ? sqrt(2 * rise - 1) : 0;
    return (uint64_t)(10 * round(10 * share));
}

cubc_status keys_sketch(cubc_device *device, const keys_place *k, void *stream,
                        uint64_t out[KEY_AXES])
{
    size_t head_count;
    sample *s = mem_alloc(1, sizeof *s);
    if (!s) return CUBC_NO_MEMORY;
    cubc_status st = copy_sample(device, k, stream, s);
    if (!st) {
        order_keys(s, k->type);
        order o = count_order(s, &head_count);
        double run = (double)(o.pairs + 1) / (double)(o.pairs - o.equal + 1);
        double runs = (double)k->n / run;
        out[KEYS_SORTED] = percent_sorted(&o);
        out[KEYS_RUN] = rounded(run);
        out[KEYS_DISTINCT] =
            rounded(out[KEYS_SORTED] == 100 ? runs : estimate_distinct(s->heads, head_count, runs));
        out[KEYS_BITS] = k->in_bits ? differing_bits(s) : 0;
    }
    mem_free(s);
    return st;
}

// ---- keys ---------------------------------------------------------------------------------------
static void add_operand(keys_made *out, const char *name, uint64_t value)
{
    int k = out->count++;
    out->numbers[k] = value;
    out->operands[k] =
        (cubc_operand){.name = name, .type = CUBC_U64, .data = &out->numbers[k], .scalar = 1};
}

// Distinct keys lie at even distances, integers in the bits that they may differ in, floats from 0
// to 1. Each run of equal ones has the rank that its place gives it, or any.
void keys_make(const uint64_t at[KEY_AXES], cubc_type type, uint64_t n, uint64_t seed,
               keys_made *out)
{
    static const char rank[] = "(random_u64(seed + 1, i / Run) % 100 < Sorted"
                               " ? static_cast<u64>(static_cast<f64>(i / Run) * static_cast<f64>("
                               "Distinct) / static_cast<f64>(Runs))"
                               " : random_u64(seed, i / Run) % Distinct)";
    uint64_t run = at[KEYS_RUN] ? at[KEYS_RUN] : 1, runs = ceil_div(n, run);
    uint64_t distinct = at[KEYS_DISTINCT] ? at[KEYS_DISTINCT] : runs ? runs : 1;
    uint64_t width = 8 * cubc_type_size(type);
    uint64_t bits = at[KEYS_BITS] && at[KEYS_BITS] < width ? at[KEYS_BITS] : width;
    out->count = 0;
    add_operand(out, "seed", seed);
    add_operand(out, "Run", run);
    add_operand(out, "Runs", runs ? runs : 1);
    add_operand(out, "Distinct", distinct);
    add_operand(out, "Sorted", at[KEYS_SORTED]);
    if (type_table[type].kind == KIND_FLOAT) {
        snprintf(out->expression, sizeof out->expression,
                 "(static_cast<f64>(%s) + 0.5) / static_cast<f64>(Distinct)", rank);
        return;
    }
    // Keys of all bits begin below 0 where their type is signed.
    bool below = bits == width && type_table[type].kind == KIND_SIGNED;
    double step = ldexp(1, (int)bits) / (double)distinct;
    add_operand(out, "Step", (uint64_t)fmin(fmax(step, 1), 0x1p63)); // of one key: any
    add_operand(out, "Least", below ? (uint64_t)1 << (width - 1) : 0);
    snprintf(out->expression, sizeof out->expression, "%s * Step - Least", rank);
}
