// Descriptor of block_update: kernels/lattice/block_update.cu.
#include "lattice/operators/block_update.h"
#include "base/integer.h"
#include "lattice/grid/ranks.h"
#include "lattice/operators/lattice_problem.h"
#include "lattice/operators/site_map.h"
#include "lattice/operators/solver_state.h"

#include <stdio.h>
#include <string.h>

enum { WORD = 16, MOST_BLOCKS = 1024 }; // of a launch, for a block of sources

typedef struct block_update_traits {
    int step, normal, block, ranks;
} block_update_traits;

typedef struct block_update_numbers {
    uint64_t sources;
    int extents[4];
    void *matrices;
    cubc_guard guard;
} block_update_numbers;

PROBLEM_TRAITS(block_update_traits);
PROBLEM_NUMBERS(block_update_numbers);

// ---- sizes --------------------------------------------------------------------------------------
int block_of(uint64_t sources)
{
    return (int)ceil_div(sources, ceil_div(sources, MOST_BLOCK));
}

// Five matrices and six words: block_matrices in kernels/lattice/solver/block_cg.h asserts it.
size_t block_matrices_bytes(int block)
{
    return (size_t)(5 * block * block) * 2 * sizeof(double) + 6 * sizeof(uint64_t);
}

uint64_t block_parts(int block)
{
    return (uint64_t)MOST_BLOCKS * 2 * (uint64_t)(block * block);
}

// ---- problems -----------------------------------------------------------------------------------
static const struct {
    const char *name;
    bool q, p, x, w; // the fields that a step has
    bool q_changes, p_changes, w_changes, sums;
} steps[] = {
    [BLOCK_FACTOR] = {"factor", .w = true, .sums = true},
    [BLOCK_REFACTOR] = {"refactor", .w = true, .w_changes = true, .sums = true},
    [BLOCK_BEGIN] = {"begin", .q = true, .p = true, .w = true, .q_changes = true, .p_changes = true,
                     .w_changes = true},
    [BLOCK_LENGTH] = {"length", .p = true, .w = true, .sums = true},
    [BLOCK_RESIDUAL] = {"residual", .q = true, .w = true, .q_changes = true, .sums = true},
    [BLOCK_DIRECTION] = {"direction", .q = true, .p = true, .x = true, .q_changes = true,
                         .p_changes = true},
};

static cubc_status add_field(const block_update_params *params, const char *name, void *field,
                             bool changes, problem *out)
{
    TRY(problem_input(out, name, field, params->n, params->type));
    return changes ? problem_output(out, name, field, params->n, params->type) : CUBC_OK;
}

cubc_status block_update_problem(const block_update_params *params, problem *out)
{
    *out = (problem){.algorithm = &block_update_algorithm,
                     .n = params->n,
                     .type = (uint8_t)params->type,
                     .acc_type = (uint8_t)params->type,
                     .aligned = true};
    block_update_numbers numbers = {
        .sources = params->sources, .matrices = params->matrices, .guard = params->guard};
    memcpy(numbers.extents, params->extents, sizeof numbers.extents);
    if (params->type != CUBC_F64 && params->type != CUBC_F32)
        FAIL(CUBC_INVALID_TYPE, "a block of sources is iterated in F64 or F32, not in %s",
             cubc_type_name(params->type));
    if (params->block < 1 || params->block > MOST_BLOCK || !params->sources)
        FAIL(CUBC_INVALID_ARGUMENT, "a block of %d sources: 1 to %d are expected", params->block,
             MOST_BLOCK);
    if (params->n % params->sources ||
        params->n / params->sources * cubc_type_size(params->type) % WORD)
        FAIL(CUBC_INVALID_ARGUMENT, "fields of %llu numbers are no whole words of %llu sources",
             (unsigned long long)params->n, (unsigned long long)params->sources);
    const bool q = steps[params->step].q_changes, p = steps[params->step].p_changes,
               w = steps[params->step].w_changes;
    if (steps[params->step].q) TRY(add_field(params, "q", params->q, q, out));
    if (steps[params->step].p) TRY(add_field(params, "p", params->p, p, out));
    if (steps[params->step].x) TRY(add_field(params, "x", params->x, true, out));
    if (steps[params->step].w) TRY(add_field(params, "w", params->w, w, out));
    TRY(lattice_aligned(out));
    const bool over_ranks = params->guard.ranks && steps[params->step].sums;
    block_update_traits_set(out, (block_update_traits){.step = (int)params->step,
                                                       .normal = params->normal != 0,
                                                       .block = params->block,
                                                       .ranks = over_ranks});
    block_update_numbers_set(out, numbers);
    if (over_ranks)
        TRY(ranks_reserve_sums(params->guard.ranks,
                               ceil_div(params->sources, (uint64_t)params->block),
                               2 * params->block * params->block));
    snprintf(out->benchmark, sizeof out->benchmark, "block_update.direction");
    return CUBC_OK;
}

static void block_update_axis_values(const problem *p, uint64_t *values)
{
    const block_update_numbers numbers = block_update_numbers_of(p);
    for (int d = 0; d < 4; d++) values[d] = (uint64_t)numbers.extents[d];
    values[LATTICE_SOURCES_AXIS] = numbers.sources;
}

// ---- benchmarks ---------------------------------------------------------------------------------
// "block_update.direction": the step that has most of the work, of one parity. Matrices and states
// are of numbers that are 0, and stay it.
static cubc_status block_update_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                         problem *out)
{
    block_update_params call = {.step = BLOCK_DIRECTION,
                                .type = type,
                                .q = BENCHMARK_ARRAY(0),
                                .p = BENCHMARK_ARRAY(1),
                                .x = BENCHMARK_ARRAY(2)};
    (void)b;
    TRY(lattice_sources_at(at, &call.sources));
    call.n = SPINOR_REALS / 2 * call.sources;
    for (int d = 0; d < 4; d++) {
        call.extents[d] = (int)smaller(at[d], UINT16_MAX);
        call.n *= (uint64_t)call.extents[d];
    }
    call.block = block_of(call.sources);
    TRY(block_update_problem(&call, out));
    out->inputs[out->input_count++] = (operand){.n = ceil_div(call.sources, (uint64_t)call.block) *
                                                     block_matrices_bytes(call.block) / 8,
                                                .type = CUBC_U64};
    out->inputs[out->input_count++] =
        (operand){.n = call.sources * CUBC_STATE_BYTES / 8, .type = CUBC_U64};
    return CUBC_OK;
}

static const char *block_update_random(const problem *p, int k)
{
    return p->inputs[k].type == CUBC_U64 ? "random_u64(seed, i) * 0"
                                         : "static_cast<i32>(random_u64(seed, i) >> 60) - 8";
}

// ---- variants -----------------------------------------------------------------------------------
static void block_update_define(const problem *p, text *out)
{
    const block_update_traits t = block_update_traits_of(p);
    text_printf(out, "#define TUNE_T %s\n#define TUNE_BLOCK %d\n", type_table[p->type].dialect,
                t.block);
    text_printf(out, "#define TUNE_STEP %d\n#define TUNE_NORMAL %d\n", t.step, t.normal);
    text_printf(out, "#define TUNE_RANKS %d\n#define TUNE_STATE_BYTES %d\n", t.ranks,
                CUBC_STATE_BYTES);
    text_puts(out, "#define TUNE_STATE " SOLVER_STATE_TEXT "\n");
}

static cubc_status block_update_plan(const problem *p, const instance *i, plan *out)
{
    enum { Q, P, X, W, STATES, MATRICES, PARTS, SOURCES, WORDS, BLOCKS, PHASE, FINISH, ARGS };
    const device_kernel *kernel = &i->kernels[0];
    const block_update_traits traits = block_update_traits_of(p);
    block_update_numbers numbers = block_update_numbers_of(p);
    uint64_t groups = ceil_div(numbers.sources, (uint64_t)traits.block),
             words = p->n / numbers.sources * cubc_type_size((cubc_type)p->type) / WORD,
             turn = instance_value(i, "wpt", 1) * kernel->threads,
             resident = resident_blocks(i, kernel);
    uint64_t blocks = smaller(ceil_div(resident, groups), MOST_BLOCKS),
             turns = ceil_div(ceil_div(words, turn), blocks);
    blocks = ceil_div(ceil_div(words, turn), turns);
    const operand *next = p->inputs;
    const void *q = steps[traits.step].q ? next++->data : NULL,
               *field = steps[traits.step].p ? next++->data : NULL,
               *x = steps[traits.step].x ? next++->data : NULL,
               *w = steps[traits.step].w ? next++->data : NULL;
    const bool measured = !numbers.matrices;
    if (measured) {
        numbers.matrices = (void *)(uintptr_t)next[0].data;
        numbers.guard.states = (void *)(uintptr_t)next[1].data;
    } else if (groups * block_parts(traits.block) > numbers.guard.parts_n) {
        FAIL(CUBC_INTERNAL, "partial sums of %llu blocks have no room", (unsigned long long)groups);
    }
    if (blocks * groups > INT32_MAX)
        FAIL(CUBC_INVALID_ARGUMENT, "block_update of %llu sources needs more than 2^31 blocks",
             (unsigned long long)numbers.sources);
    out->launch_count = 1;
    out->launches[0] = (launch){.kernel = kernel,
                                .shape.grid = (unsigned)(blocks * groups),
                                .args_count = ARGS,
                                .args = {[Q] = (uintptr_t)q,
                                         [P] = (uintptr_t)field,
                                         [X] = (uintptr_t)x,
                                         [W] = (uintptr_t)w,
                                         [STATES] = (uintptr_t)numbers.guard.states,
                                         [MATRICES] = (uintptr_t)numbers.matrices,
                                         [PARTS] = (uintptr_t)numbers.guard.parts,
                                         [SOURCES] = numbers.sources,
                                         [WORDS] = words,
                                         [BLOCKS] = blocks,
                                         [PHASE] = numbers.guard.phase,
                                         [FINISH] = !measured}};
    if (!traits.ranks) return CUBC_OK;
    launch *l = out->launches;
    launch_add(l, (uintptr_t)ranks_table(numbers.guard.ranks));
    if (!ranks_are_staged(numbers.guard.ranks)) return CUBC_OK;
    out->launch_count = 2;
    l[1] = l[0];
    l[1].kernel = &i->kernels[1];
    l[1].shape.grid = 1;
    l[1].before = ranks_sums_step(numbers.guard.ranks);
    return CUBC_OK;
}

static bool block_update_has_kernel(const problem *p, int k)
{
    (void)k;
    return block_update_traits_of(p).ranks;
}

static const benchmark block_update_benchmarks[] = {
    LATTICE_SOURCES_BENCHMARK(lattice_plain_types, "block_update.direction")};

const algorithm block_update_algorithm = {
    .name = "block_update",
    .source = "block_update.cu",
    .kernels = {"block_update_words", "block_update_words_sums"},
    .has_kernel = block_update_has_kernel,
    .benchmarks = block_update_benchmarks,
    .benchmark_count = COUNT_OF(block_update_benchmarks),
    .workload = block_update_workload,
    .axes = {LATTICE_SOURCE_AXES},
    .axis_values = block_update_axis_values,
    .define = block_update_define,
    .invalid = site_map_fitting_variant,
    .plan = block_update_plan,
    .traffic = problem_array_bytes,
    .random = block_update_random};
