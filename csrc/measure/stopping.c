// The stopping rules; see stopping.h.
#include "measure/stopping.h"

#include "base/stats.h"

#include <math.h>
#include <string.h>

// NVBench's constants: how many noises and entropies are looked back at, and how steady is steady.
enum { NOISES = 512, STEADY_NOISES = 64, STEADY_STRIDE = 16, FIRST_NOISE = 5, ENTROPIES = 299 };
static const double steady = 0.05;

const char *const stopping_rule_names[STOP_RULES] = {"median", "stdrel", "entropy", "count"};

typedef struct ring {
    double *values;
    int capacity, count, next;
} ring;

// Counts each exact value: timers tick, so that equal samples are common.
typedef struct tally {
    float *value;
    int *count; // 0: free
    size_t capacity, used;
} tally;

struct stopping {
    stopping_options options;
    float *samples; // of the median's rule only
    size_t count, room, next_look;
    double mean, squares, total_s; // running, after Welford
    int strange;                   // noises in a row that are not finite
    ring ring;                     // of noises or entropies
    tally tally;
    double sum_c_log_c; // over the tally
};

stopping_options stopping_defaults(stopping_rule rule)
{
    return (stopping_options){.rule = rule,
                              .max_noise = 0.005,
                              .min_time_s = 0.5,
                              .max_angle = 0.048,
                              .min_r2 = 0.36,
                              .target_samples = 100};
}

// ---- ring ---------------------------------------------------------------------------------------
static void ring_add(ring *r, double value)
{
    r->values[r->next] = value;
    r->next = (r->next + 1) % r->capacity;
    if (r->count < r->capacity) r->count++;
}

static double ring_at(const ring *r, int i) // 0: the oldest
{
    return r->values[(r->next + r->capacity - r->count + i) % r->capacity];
}

static double ring_mean(const ring *r)
{
    double sum = 0;
    for (int i = 0; i < r->count; i++) sum += r->values[i];
    return sum / r->count;
}

static double ring_stdev(const ring *r, double mean)
{
    double squares = 0;
    for (int i = 0; i < r->count; i++) squares += (r->values[i] - mean) * (r->values[i] - mean);
    return sqrt(squares / (r->count - 1));
}

// Least squares of the values over their places: slope and coefficient of determination.
static void ring_line(const ring *r, double *slope, double *r2)
{
    double n = r->count, middle = (n - 1) / 2, mean = ring_mean(r), xy = 0, yy = 0;
    double xx = n * (n * n - 1) / 12;
    for (int i = 0; i < r->count; i++) {
        double dy = ring_at(r, i) - mean;
        xy += (i - middle) * dy;
        yy += dy * dy;
    }
    *slope = xx > 0 ? xy / xx : 0;
    *r2 = yy > 0 && xx > 0 ? xy * xy / (xx * yy) : 1; // a constant is a perfect line
}

// ---- tally --------------------------------------------------------------------------------------
static size_t tally_place(const tally *t, float value)
{
    size_t i = hash64(&value, sizeof value) & (t->capacity - 1);
    while (t->count[i] && t->value[i] != value) i = (i + 1) & (t->capacity - 1);
    return i;
}

static cubc_status tally_grow(tally *t)
{
    tally larger = {.capacity = t->capacity ? 2 * t->capacity : 64, .used = t->used};
    larger.value = mem_alloc(larger.capacity, sizeof *larger.value);
    larger.count = mem_zalloc(larger.capacity, sizeof *larger.count);
    if (!larger.value || !larger.count) {
        mem_free(larger.value);
        mem_free(larger.count);
        return CUBC_NO_MEMORY;
    }
    for (size_t i = 0; i < t->capacity; i++)
        if (t->count[i]) {
            size_t to = tally_place(&larger, t->value[i]);
            larger.value[to] = t->value[i];
            larger.count[to] = t->count[i];
        }
    mem_free(t->value);
    mem_free(t->count);
    *t = larger;
    return CUBC_OK;
}

static cubc_status tally_add(tally *t, float value, int *count)
{
    if (2 * t->used >= t->capacity) TRY(tally_grow(t));
    size_t i = tally_place(t, value);
    t->used += t->count[i] == 0;
    t->value[i] = value;
    *count = ++t->count[i];
    return CUBC_OK;
}

// ---- life ---------------------------------------------------------------------------------------
cubc_status stopping_open(const stopping_options *options, stopping **out)
{
    int capacity = options->rule == STOP_STDREL    ? NOISES
                   : options->rule == STOP_ENTROPY ? ENTROPIES
                                                   : 1;
    *out = NULL;
    stopping *s = mem_zalloc(1, sizeof *s);
    double *values = s ? mem_alloc((size_t)capacity, sizeof *values) : NULL;
    if (!values) {
        mem_free(s);
        return CUBC_NO_MEMORY;
    }
    s->options = *options;
    s->ring = (ring){.values = values, .capacity = capacity};
    *out = s;
    return CUBC_OK;
}

void stopping_close(stopping *s)
{
    if (!s) return;
    mem_free(s->ring.values);
    mem_free(s->tally.value);
    mem_free(s->tally.count);
    mem_free(s->samples);
    mem_free(s);
}

// ---- the rules ----------------------------------------------------------------------------------
static cubc_status keep(stopping *s, float seconds)
{
    float *grown = mem_grow(s->samples, s->count, &s->room, sizeof *grown);
    if (!grown) return CUBC_NO_MEMORY;
    s->samples = grown;
    s->samples[s->count] = seconds;
    return CUBC_OK;
}

static void add_noise(stopping *s, float seconds)
{
    double n = (double)s->count + 1, before = seconds - s->mean;
    s->mean += before / n;
    s->squares += before * (seconds - s->mean);
    s->total_s += seconds;
    if (n < FIRST_NOISE) return;
    double noise = sqrt(s->squares / (n - 1)) / s->mean;
    s->strange = isfinite(noise) ? 0 : s->strange + 1;
    if (isfinite(noise)) ring_add(&s->ring, noise);
}

// Shannon's entropy of the values seen so far, log2(n) - sum(c log2 c) / n for counts c.
static cubc_status add_entropy(stopping *s, float seconds)
{
    double n = (double)s->count + 1;
    int c;
    TRY(tally_add(&s->tally, seconds, &c));
    s->sum_c_log_c += c * log2(c) - (c > 1 ? (c - 1) * log2(c - 1) : 0);
    ring_add(&s->ring, fmax(0, log2(n) - s->sum_c_log_c / n));
    return CUBC_OK;
}

cubc_status stopping_add(stopping *s, float seconds)
{
    if (s->options.rule == STOP_MEDIAN) TRY(keep(s, seconds));
    if (s->options.rule == STOP_STDREL) add_noise(s, seconds);
    if (s->options.rule == STOP_ENTROPY) TRY(add_entropy(s, seconds));
    s->count++;
    return CUBC_OK;
}

// Sorting all samples after each one would be quadratic: the next look comes an eighth later.
static cubc_status median_is_known(stopping *s, bool *reached)
{
    double error = INFINITY;
    if (s->count < s->next_look) return CUBC_OK;
    s->next_look = s->count + (s->count < 8 ? 1 : s->count / 8);
    if (s->count) TRY(stats_median_error(s->samples, s->count, &error));
    *reached = error < s->options.max_noise;
    return CUBC_OK;
}

static bool noise_is_low(const stopping *s)
{
    const ring *r = &s->ring;
    if (s->strange >= STEADY_NOISES) return true;
    if (s->total_s <= s->options.min_time_s || r->count == 0) return false;
    if (ring_at(r, r->count - 1) < s->options.max_noise) return true;
    if (r->count <= STEADY_NOISES || s->count % STEADY_STRIDE) return false;
    double mean = ring_mean(r);
    return ring_stdev(r, mean) < steady * mean;
}

static bool entropy_is_level(const stopping *s)
{
    double slope, r2;
    if (s->count < 2 || s->count % 2) return false;
    ring_line(&s->ring, &slope, &r2);
    return atan(slope) * 180 / 3.14159265358979323846 <= s->options.max_angle &&
           r2 >= s->options.min_r2;
}

cubc_status stopping_reached(stopping *s, bool *reached)
{
    *reached = false;
    switch (s->options.rule) {
    case STOP_MEDIAN: return median_is_known(s, reached);
    case STOP_STDREL: *reached = noise_is_low(s); break;
    case STOP_ENTROPY: *reached = entropy_is_level(s); break;
    default: *reached = s->count >= (size_t)s->options.target_samples;
    }
    return CUBC_OK;
}
