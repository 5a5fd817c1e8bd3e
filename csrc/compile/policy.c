// Lookup and overlay of policies: see policy.h.
#include "compile/policy.h"

#include "device/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shipped_policy {
    const char *arch, *what, *type, *label;
} shipped_policy;

#define POLICY(arch, what, type, label) {arch, what, type, label},
static const shipped_policy shipped[] = {
#include "compile/policies.def"
};

typedef struct overlay {
    struct overlay *next;
    char arch[24], benchmark[40], type[32];
    policy_size size;
    char label[];
} overlay;

FORK_SAFE_MUTEX(lock);
static overlay *overlays; // newest first
static atomic_uint generation = 1;

unsigned policy_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_relaxed);
}

void policy_renew(void)
{
    atomic_fetch_add(&generation, 1);
}

// Rates a row's architecture for a device's: its number if it is at or below, else -1.
static int arch_fit(const char *row, const char *device)
{
    int of_row = device_arch_number(row), of_device = device_arch_number(device);
    return (of_row == 0) == (of_device == 0) && of_row <= of_device ? of_row : -1;
}

policy_size policy_size_of(uint64_t items)
{
    static const uint64_t most[] = {[POLICY_TINY] = 1u << 16, 1u << 20, 1u << 25};
    for (int size = POLICY_TINY; size < (int)COUNT_OF(most); size++)
        if (items <= most[size]) return (policy_size)size;
    return POLICY_ANY_SIZE;
}

const char *policy_size_name(policy_size size)
{
    static const char *const names[] = {"", "tiny", "small", "middle"};
    return names[size];
}

// True if `what` is the name with what rows of that size add to it.
static bool is_name(const char *what, const char *name, policy_size of)
{
    size_t length = strlen(name);
    if (strncmp(what, name, length) != 0) return false;
    if (of == POLICY_ANY_SIZE) return what[length] == '\0';
    return what[length] == '.' && strcmp(what + length + 1, policy_size_name(of)) == 0;
}

// Rates rows of a size for a call of another: those of any number the least, 1; 0: not at all.
static int size_fit(policy_size row, policy_size call)
{
    if (row == call && row != POLICY_ANY_SIZE) return 3;
    if (row == POLICY_SMALL && call == POLICY_TINY) return 2;
    return row == POLICY_ANY_SIZE;
}

static int what_fit(const char *what, const policy_key *key)
{
    for (int size = POLICY_ANY_SIZE; size <= POLICY_MIDDLE; size++) {
        int fit = size_fit((policy_size)size, key->size);
        if (fit && is_name(what, key->benchmark, (policy_size)size)) return 16 * fit + 8;
        if (fit && is_name(what, key->algorithm, (policy_size)size)) return 16 * fit;
    }
    return 0;
}

// 0: not for this workload. The size counts before the benchmark, and that before the type.
static int row_fit(const shipped_policy *row, const policy_key *key)
{
    char size[8];
    int what = what_fit(row->what, key);
    snprintf(size, sizeof size, "B%zu", key->type_size);
    bool vector = key->type_size <= 8 && (key->type_size & (key->type_size - 1)) == 0;
    int type = !strcmp(row->type, key->type)         ? 4
               : !strcmp(row->type, size)            ? 3
               : !strcmp(row->type, "B*") && !vector ? 2
               : !strcmp(row->type, "*")             ? 1
                                                     : 0;
    return what && type ? what + type : 0;
}

static bool is_first_of_arch(size_t row)
{
    for (size_t r = 0; r < row; r++)
        if (!strcmp(shipped[r].arch, shipped[row].arch)) return false;
    return true;
}

const char *policy_arch(size_t number)
{
    for (size_t r = 0; r < COUNT_OF(shipped); r++)
        if (is_first_of_arch(r) && number-- == 0) return shipped[r].arch;
    return NULL;
}

static const char *best_row(const policy_key *key, bool only_accepted)
{
    const char *label = NULL;
    int best_arch = -1, best_fit = 0;
    for (size_t r = 0; r < COUNT_OF(shipped); r++) {
        int arch = arch_fit(shipped[r].arch, key->arch), fit = row_fit(&shipped[r], key);
        if (arch < 0 || fit == 0) continue;
        if (arch < best_arch || (arch == best_arch && fit <= best_fit)) continue;
        if (only_accepted && key->accepts && !key->accepts(key->context, shipped[r].label))
            continue;
        best_arch = arch;
        best_fit = fit;
        label = shipped[r].label;
    }
    return label;
}

cubc_status policy_base(const policy_key *key, const char **label)
{
    *label = best_row(key, true);
    if (!*label) *label = best_row(key, false);
    if (!*label)
        FAIL(CUBC_NOT_FOUND, "no policy for %s with %s on %s: the oldest architecture is sm_75",
             key->benchmark, key->type, key->arch);
    return CUBC_OK;
}

static bool is_for(const overlay *o, const policy_key *key)
{
    return o->size == key->size && !strcmp(o->benchmark, key->benchmark) &&
           !strcmp(o->type, key->type);
}

cubc_status policy_find(const policy_key *key, char *label, size_t size)
{
    const char *base;
    int best = -1;
    pthread_mutex_lock(&lock);
    for (const overlay *o = overlays; o; o = o->next) {
        int arch = is_for(o, key) ? arch_fit(o->arch, key->arch) : -1;
        if (arch > best) {
            best = arch;
            snprintf(label, size, "%s", o->label);
        }
    }
    pthread_mutex_unlock(&lock);
    if (best >= 0) return CUBC_OK;
    TRY(policy_base(key, &base));
    snprintf(label, size, "%s", base);
    return CUBC_OK;
}

cubc_status policy_overlay(const char *arch, const char *benchmark, const char *type,
                           policy_size size, const char *label)
{
    size_t length = strlen(label) + 1;
    overlay *o = mem_zalloc(1, sizeof *o + length);
    if (!o) return CUBC_NO_MEMORY;
    snprintf(o->arch, sizeof o->arch, "%s", arch);
    snprintf(o->benchmark, sizeof o->benchmark, "%s", benchmark);
    snprintf(o->type, sizeof o->type, "%s", type);
    o->size = size;
    memcpy(o->label, label, length);
    pthread_mutex_lock(&lock);
    o->next = overlays;
    overlays = o;
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
    return CUBC_OK;
}

void policy_clear(void)
{
    pthread_mutex_lock(&lock);
    while (overlays) {
        overlay *o = overlays;
        overlays = o->next;
        mem_free(o);
    }
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
}
