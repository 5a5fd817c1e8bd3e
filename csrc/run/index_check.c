// Indices of arrays in expressions: see index_check.h.
//
// A kernel of its own evaluates the expression for all items: that of transform, whose tables have
// a note for the first index beyond them in place of a result (TUNE_CHECKED in
// kernels/shared/input.h). The kernels of the call know nothing of it.
#include "run/index_check.h"

#include "base/environment.h"
#include "run/algorithm.h"
#include "run/instance.h"
#include "run/plan.h"
#include "run/table.h"

#include <string.h>

typedef struct note { // input_table in kernels/shared/input.h writes it
    uint64_t count;   // of indices beyond the ends
    int64_t index;    // of the first that was found
    uint64_t item;    // of the expression, that has it
} note;

static int count_tables(const problem *p, const lazy_input *l)
{
    int count = 0;
    for (int k = 0; k < l->count; k++) count += p->operands[l->first + k].table;
    return count;
}

// The evaluation of one lazy input as a call of its own. Notes are its output.
static void make_problem(const problem *p, const operand *in, note *notes, problem *out)
{
    const lazy_input *l = &p->lazy[in->lazy - 1];
    *out = (problem){.algorithm = &transform_algorithm,
                     .n = in->n,
                     .type = in->type,
                     .acc_type = in->type,
                     .aligned = p->aligned,
                     .checked = true,
                     .input_count = 1,
                     .output_count = 1,
                     .lazy_count = 1,
                     .operand_count = l->count};
    memcpy(out->operands, &p->operands[l->first], l->count * sizeof *out->operands);
    out->lazy[0] = *l;
    out->lazy[0].first = 0;
    out->inputs[0] = *in;
    out->inputs[0].lazy = 1;
    out->outputs[0] = (operand){.data = notes, .n = 1, .type = CUBC_U64};
    problem_set_benchmark(out, "", "transform.mul");
}

static cubc_status run(cubc_device *device, const problem *p, void *stream)
{
    table *t;
    instance *i;
    plan pl;
    TRY(table_of(device, &t));
    TRY(table_find_untuned(t, p, stream, &i));
    TRY(plan_make(p, i, &pl));
    TRY(plan_place(&pl, NULL, NULL));
    return plan_queue(device, &pl, NULL, stream);
}

static cubc_status read_notes(const problem *p, const note *notes)
{
    for (int k = 0, at = 0; k < p->operand_count; k++) {
        const operand *o = &p->operands[k];
        if (!o->table) continue;
        const note *n = &notes[at++];
        if (n->count)
            FAIL(CUBC_OUT_OF_BOUNDS, "%s[%lld] is outside of the %llu items of %s, for item %llu",
                 o->name, (long long)n->index, (unsigned long long)o->n, o->name,
                 (unsigned long long)n->item);
    }
    return CUBC_OK;
}

static cubc_status check_input(cubc_device *device, const problem *p, const operand *in,
                               void *stream)
{
    const int count = count_tables(p, &p->lazy[in->lazy - 1]);
    const size_t bytes = (size_t)count * sizeof(note);
    note found[MAX_OPERANDS];
    void *notes;
    problem evaluation;
    if (!count || !in->n) return CUBC_OK;
    TRY(device->api->alloc(device, bytes, stream, &notes));
    make_problem(p, in, notes, &evaluation);
    cubc_status st = device->api->fill(device, notes, 0, bytes, stream);
    if (!st) st = run(device, &evaluation, stream);
    if (!st) st = device->api->copy(device, found, notes, bytes, stream);
    if (!st) st = read_notes(&evaluation, found);
    device->api->free(device, notes, stream);
    return st;
}

cubc_status index_check(cubc_device *device, const problem *p, void *stream)
{
    uint64_t asked = 0;
    bool any = false;
    for (int k = 0; k < p->operand_count; k++) any = any || p->operands[k].table;
    if (!any) return CUBC_OK;
    TRY(environment_number("CUBC_CHECK", 0, 1, &asked));
    if (!asked || device->api->is_capturing(device, stream)) return CUBC_OK;
    for (int k = 0; k < p->input_count; k++)
        if (p->inputs[k].lazy) TRY(check_input(device, p, &p->inputs[k], stream));
    return CUBC_OK;
}
