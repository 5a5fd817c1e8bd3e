// Lookup and overlay of policies: see policy.h.
#include "compile/policy.h"

#include "device/device.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shipped_policy {
    const char *arch, *name, *type, *ranges, *label;
} shipped_policy;

#define POLICY(arch, name, type, ranges, label) {arch, name, type, ranges, label},
static const shipped_policy shipped[] = {
#include "compile/policies.def"
};

typedef struct overlay {
    struct overlay *next;
    char arch[24], benchmark[40], type[32];
    bool anywhere;
    uint64_t axis_values[POLICY_AXES];
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

// ---- ranges -------------------------------------------------------------------------------------
static const policy_range everything = {0, UINT64_MAX};

static void hold_everywhere(policy *row)
{
    for (int k = 0; k < POLICY_AXES; k++) row->ranges[k] = everything;
}

static bool holds(const policy *row, const uint64_t *values)
{
    for (int k = 0; k < POLICY_AXES; k++) {
        policy_range r = row->ranges[k];
        if (values ? values[k] < r.from || values[k] > r.to : r.from > 0 || r.to < UINT64_MAX)
            return false;
    }
    return true;
}

// Parses "Elements=0:65536,Bins=257:": an end that is left out is open. False: it is malformed, or
// names an axis that there is not.
static bool parse_ranges(const char *ranges, const char *const *axes, policy *row)
{
    while (*ranges) {
        size_t name = strcspn(ranges, "="), k = 0;
        char *end;
        while (axes[k] && (strlen(axes[k]) != name || strncmp(axes[k], ranges, name) != 0)) k++;
        if (!axes[k] || ranges[name] != '=') return false;
        row->ranges[k].from = strtoull(ranges + name + 1, &end, 10);
        if (*end++ != ':') return false;
        if (*end && *end != ',') row->ranges[k].to = strtoull(end, &end, 10);
        if (*end && *end != ',') return false;
        ranges = *end ? end + 1 : end;
    }
    return true;
}

void policy_range_text(const policy *row, const char *const *axes, text *out)
{
    const char *separator = "";
    for (int k = 0; axes[k]; k++) {
        policy_range r = row->ranges[k];
        if (r.from == 0 && r.to == UINT64_MAX) continue;
        text_printf(out, "%s%s=%llu:", separator, axes[k], (unsigned long long)r.from);
        if (r.to < UINT64_MAX) text_printf(out, "%llu", (unsigned long long)r.to);
        separator = ",";
    }
}

static double octaves(uint64_t a, uint64_t b)
{
    return fabs(log2(((double)a + 1) / ((double)b + 1)));
}

// Octaves between a call's values and the ranges of a row, summed over the axes; 0 if the row holds
// there.
static double octaves_outside(const policy *row, const uint64_t *values)
{
    double sum = 0;
    for (int k = 0; k < POLICY_AXES; k++) {
        policy_range r = row->ranges[k];
        if (values[k] < r.from) sum += octaves(r.from, values[k]);
        if (values[k] > r.to) sum += octaves(values[k], r.to);
    }
    return sum;
}

int policy_by_distance(const policy_list *l, const uint64_t *values, int *order)
{
    int count = 0, arch = -1;
    for (int row = 0; row < l->count; row++)
        if (!l->rows[row].overlaid && l->rows[row].arch > arch) arch = l->rows[row].arch;
    for (int row = 0; row < l->count; row++) {
        const policy *new = &l->rows[row];
        if (new->overlaid || new->arch != arch) continue;
        double away = octaves_outside(new, values);
        int at = count++;
        for (; at > 0 && away < octaves_outside(&l->rows[order[at - 1]], values); at--)
            order[at] = order[at - 1];
        order[at] = row;
    }
    return count;
}

static double width(const policy *row)
{
    double sum = 0;
    for (int k = 0; k < POLICY_AXES; k++) sum += octaves(row->ranges[k].to, row->ranges[k].from);
    return sum;
}

// ---- shipped rows -------------------------------------------------------------------------------
// Rates a row's architecture for a device's: its number if it is at or below, else -1. Blocks of
// sm_90 to sm_119 have up to 227 KiB of shared memory, those of sm_120 to sm_129 have 99 KiB.
static int arch_fit(const char *row, const char *device)
{
    int of_row = device_arch_number(row), of_device = device_arch_number(device);
    bool less_shared = of_device >= 120 && of_device < 130 && of_row >= 90 && of_row < 120;
    return (of_row == 0) == (of_device == 0) && of_row <= of_device && !less_shared ? of_row : -1;
}

// 0: the row is for other types.
static int type_fit(const char *type, const policy_key *key)
{
    char size[8];
    snprintf(size, sizeof size, "B%zu", key->type_size);
    bool vector = key->type_size <= 8 && (key->type_size & (key->type_size - 1)) == 0;
    return !strcmp(type, key->type)         ? 4
           : !strcmp(type, size)            ? 3
           : !strcmp(type, "B*") && !vector ? 2
           : !strcmp(type, "*")             ? 1
                                            : 0;
}

// The characters of a benchmark's name that a row's stands for: all, or those before a dot. 0: the
// row is for others.
static int name_fit(const char *row, const char *benchmark)
{
    size_t length = strlen(row);
    bool fits = !strncmp(row, benchmark, length);
    return fits && (benchmark[length] == '\0' || benchmark[length] == '.') ? (int)length : 0;
}

typedef struct rank { // greater is preferred, member by member
    int accepted, arch, name, type;
    double narrow;
} rank;

static bool comes_before(const rank *a, const rank *b)
{
    if (a->accepted != b->accepted) return a->accepted > b->accepted;
    if (a->arch != b->arch) return a->arch > b->arch;
    if (a->name != b->name) return a->name > b->name;
    if (a->narrow < b->narrow || a->narrow > b->narrow) return a->narrow > b->narrow;
    return a->type > b->type;
}

static bool rate(const shipped_policy *row, const policy_key *key, rank *out)
{
    *out = (rank){.arch = arch_fit(row->arch, key->arch),
                  .name = name_fit(row->name, key->benchmark),
                  .type = type_fit(row->type, key)};
    bool named = out->name > 0 || !strcmp(row->name, key->algorithm);
    return named && out->arch >= 0 && out->type > 0;
}

static cubc_status add_shipped(const policy_key *key, policy_list *out)
{
    rank ranks[COUNT_OF(shipped)] = {0};
    for (size_t r = 0; r < COUNT_OF(shipped); r++) {
        policy new = {.beside = -1};
        rank rating;
        if (!rate(&shipped[r], key, &rating)) continue;
        hold_everywhere(&new);
        if (!parse_ranges(shipped[r].ranges, key->axes, &new))
            FAIL(CUBC_INTERNAL, "policies.def: %s has no ranges %s", shipped[r].name,
                 shipped[r].ranges);
        new.arch = rating.arch;
        snprintf(new.label, sizeof new.label, "%s", shipped[r].label);
        rating.narrow = -width(&new);
        rating.accepted = !key->accepts || key->accepts(key->context, new.label);
        int at = out->count++;
        for (; at > 0 && comes_before(&rating, &ranks[at - 1]); at--) {
            ranks[at] = ranks[at - 1];
            out->rows[at] = out->rows[at - 1];
        }
        ranks[at] = rating;
        out->rows[at] = new;
    }
    if (policy_choose(out, NULL, true) < 0)
        FAIL(CUBC_NOT_FOUND, "no policy for %s with %s on %s: the oldest architecture is sm_75",
             key->benchmark, key->type, key->arch);
    return CUBC_OK;
}

// ---- overlaid rows ------------------------------------------------------------------------------
static bool is_for(const overlay *o, const policy_key *key)
{
    return !strcmp(o->benchmark, key->benchmark) && !strcmp(o->type, key->type) &&
           arch_fit(o->arch, key->arch) >= 0;
}

static bool is_accepted(const policy_key *key, const char *label)
{
    return !key->accepts || key->accepts(key->context, label);
}

static policy from_overlay(const overlay *o, const policy_list *rows)
{
    policy new = {.overlaid = true, .arch = device_arch_number(o->arch), .beside = -1};
    snprintf(new.label, sizeof new.label, "%s", o->label);
    hold_everywhere(&new);
    if (o->anywhere) return new;
    memcpy(new.axis_values, o->axis_values, sizeof new.axis_values);
    new.beside = policy_choose(rows, o->axis_values, true);
    for (int k = 0; k < POLICY_AXES; k++) {
        uint64_t at = o->axis_values[k];
        new.ranges[k] = (policy_range){at >> 2, at >> 62 ? UINT64_MAX : at << 2};
    }
    return new;
}

// Needs the lock. The rows of the nearest architecture come first, and of these the newest.
static void add_overlaid(const policy_key *key, policy_list *out)
{
    int shipped_rows = out->count;
    for (const overlay *o = overlays; o; o = o->next)
        if (is_for(o, key) && is_accepted(key, o->label))
            out->rows[out->count++] = from_overlay(o, out);
    int overlaid = out->count - shipped_rows;
    for (int k = 0; k < overlaid; k++) { // into place before the shipped ones
        policy row = out->rows[shipped_rows + k];
        int at = k;
        if (row.beside >= 0) row.beside += overlaid;
        while (at > 0 && out->rows[at - 1].arch < row.arch) at--;
        memmove(&out->rows[at + 1], &out->rows[at],
                (size_t)(shipped_rows + k - at) * sizeof *out->rows);
        out->rows[at] = row;
    }
}

// Needs the lock.
static cubc_status make_list(const policy_key *key, policy_list *out)
{
    size_t most = 0;
    rank unused;
    *out = (policy_list){0};
    for (size_t r = 0; r < COUNT_OF(shipped); r++) most += rate(&shipped[r], key, &unused);
    for (const overlay *o = overlays; o; o = o->next) most += is_for(o, key);
    out->rows = mem_zalloc(most + 1, sizeof *out->rows); // never NULL for none
    cubc_status st = out->rows ? add_shipped(key, out) : CUBC_NO_MEMORY;
    if (!st) add_overlaid(key, out);
    if (st) policy_list_free(out);
    return st;
}

// Needs the lock. Reports a refused overlaid row that the call would have taken. One that was
// found at another point is not reported, since calls near that point need not be able to run it.
static cubc_status tell_of_refused(const policy_key *key)
{
    policy_key any = *key;
    policy_list all;
    any.accepts = NULL;
    TRY(make_list(&any, &all));
    const policy *row = &all.rows[policy_choose(&all, key->axis_values, false)];
    bool meant =
        row->beside < 0 || memcmp(row->axis_values, key->axis_values, sizeof row->axis_values) == 0;
    if (row->overlaid && meant && !is_accepted(key, row->label))
        key->refused(key->context, row->label);
    policy_list_free(&all);
    return CUBC_OK;
}

cubc_status policy_list_make(const policy_key *key, policy_list *out)
{
    pthread_mutex_lock(&lock);
    cubc_status st = make_list(key, out);
    if (!st && overlays && key->refused) st = tell_of_refused(key);
    pthread_mutex_unlock(&lock);
    if (st) policy_list_free(out);
    return st;
}

void policy_list_free(policy_list *l)
{
    mem_free(l->rows);
    *l = (policy_list){0};
}

static double distance(const policy *row, const uint64_t *values)
{
    double sum = 0;
    if (row->beside < 0)
        return 1e6; // for any call: every row that was measured somewhere is nearer
    for (int k = 0; k < POLICY_AXES; k++) sum += octaves(row->axis_values[k], values[k]);
    return sum;
}

int policy_choose(const policy_list *l, const uint64_t *values, bool base)
{
    int of_base = 0, best = -1;
    double nearest = INFINITY;
    while (of_base < l->count && (l->rows[of_base].overlaid || !holds(&l->rows[of_base], values)))
        of_base++;
    if (of_base == l->count) return -1;
    for (int k = 0; !base && l->rows[k].overlaid; k++) {
        const policy *row = &l->rows[k];
        if (best >= 0 && row->arch < l->rows[best].arch) break;
        if (!holds(row, values) || (row->beside >= 0 && row->beside != of_base)) continue;
        double d = values ? distance(row, values) : 0;
        if (d < nearest) best = k;
        if (d < nearest) nearest = d;
    }
    return best >= 0 ? best : of_base;
}

// True if a new row takes the place of an old one.
static bool replaces(const overlay *new, const overlay *old)
{
    bool same = !strcmp(new->arch, old->arch) && !strcmp(new->benchmark, old->benchmark) &&
                !strcmp(new->type, old->type);
    bool same_values =
        !old->anywhere && memcmp(new->axis_values, old->axis_values, sizeof old->axis_values) == 0;
    return same && (new->anywhere || same_values);
}

// Removes the overlays that a new one replaces. Needs the lock.
static void drop_replaced(const overlay *new)
{
    overlay **link = &overlays;
    while (*link) {
        overlay *old = *link;
        if (!replaces(new, old)) {
            link = &old->next;
            continue;
        }
        *link = old->next;
        mem_free(old);
    }
}

cubc_status policy_overlay(const char *arch, const char *benchmark, const char *type,
                           const uint64_t *values, const char *label)
{
    size_t length = strlen(label) + 1;
    overlay *o = mem_zalloc(1, sizeof *o + length);
    if (!o) return CUBC_NO_MEMORY;
    snprintf(o->arch, sizeof o->arch, "%s", arch);
    snprintf(o->benchmark, sizeof o->benchmark, "%s", benchmark);
    snprintf(o->type, sizeof o->type, "%s", type);
    o->anywhere = !values;
    if (values) memcpy(o->axis_values, values, sizeof o->axis_values);
    memcpy(o->label, label, length);
    pthread_mutex_lock(&lock);
    drop_replaced(o);
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
