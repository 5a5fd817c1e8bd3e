// Descriptor of segmented_reduce: kernels/primitives/segmented_reduce.cu.
#include "base/integer.h"
#include "primitives/reduction.h"

// ---- problems -----------------------------------------------------------------------------------
enum { ITEMS, OFFSETS, ENDS }; // places of the inputs
enum { BLOCK_LOADS = 4 };      // items that a thread of a block loads before it uses them
enum { SEGMENT_SIZE = 1 };     // among the run-time axes: the mean, which is what the host knows

// Segments may lie anywhere; the mean is then what it would be if they shared the items.
static bool has_ends(const problem *p)
{
    return p->input_count > ENDS;
}

static void segmented_reduce_axis_values(const problem *p, uint64_t *values)
{
    uint64_t count = p->outputs[0].n;
    values[0] = p->n;
    values[SEGMENT_SIZE] = count ? p->n / count : 0;
}

static void segmented_reduce_complete(const void *call, problem *p)
{
    (void)call;
    problem_set_benchmark(p, "segmented_reduce.", problem_operator_name(p));
}

// ---- benchmarks ---------------------------------------------------------------------------------
static const char *segmented_reduce_random(const problem *p, int k)
{
    (void)p;
    return k == OFFSETS ? problem_random_offsets
           : k == ENDS  ? "(i + 1) * SegmentSize + random_u64(seed, i + 1) % SegmentSize"
                        : NULL;
}

static cubc_status segmented_reduce_workload(const benchmark *b, cubc_type type, const uint64_t *at,
                                             problem *out)
{
    cubc_segmented_reduce_params call = *(const cubc_segmented_reduce_params *)b->call;
    call.n = at[0];
    call.type = type;
    call.segments = call.n / smaller(call.n, at[SEGMENT_SIZE]);
    operator_types(operator_find(call.op), type, true, NULL, &call.acc_type, &call.out_type);
    return segmented_reduce_problem(&call, out);
}

// ---- variants -----------------------------------------------------------------------------------
static void segmented_reduce_define(const problem *p, text *out)
{
    problem_define(p, out);
    problem_define_input(p, 0, "TUNE_IN", out);
    text_printf(out, "#define TUNE_COMMUTATIVE %d\n#define TUNE_ACC_BYTES %d\n", p->commutative,
                problem_acc_bytes(p));
    text_printf(out, "#define TUNE_BLOCK_LOADS %d\n", BLOCK_LOADS);
    problem_define_offsets(p, OFFSETS, out);
    problem_define_ends(p, ENDS, out);
}

static const char *segmented_reduce_invalid(const problem *p, const char *kind, const space *s,
                                            const variant *v)
{
    const int size = (int)cubc_type_size((cubc_type)p->type);
    const int threads = variant_value(s, v, "tpb", 1);
    const int window = variant_value(s, v, "ipt", 1) * threads;
    const int ends = variant_value(s, v, "ept", 1) * threads;
    if (!device_is_cpu(kind) &&
        window * (size + 2) + 16 * threads + ends * problem_acc_bytes(p) > 200 * 1024)
        return "the items of a block do not fit its shared memory";
    return problem_invalid(p, kind, s, v, size);
}

// ---- plans --------------------------------------------------------------------------------------
enum { SHARES_KERNEL, TEAMS_KERNEL, SECTIONS_KERNEL, BLOCKS_KERNEL };

enum { // the arguments; then the initial value
    IN,
    OUT,
    SET_OFFSETS,
    SET_SIZE,
    SET_COUNT,
    SET_ITEMS,
    SET_ENDS, // is inserted before the next one where there are ends
    MESSAGES = SET_ENDS,
    TEAM_LOG2,
    TURNS,
    LONGEST,
    SECTION,
    CAPACITY,
    COUNTS,
    SECTIONS,
    SUMS,
    ARGS
};

static launch make_launch(const problem *p, const device_kernel *kernel, uint64_t grid)
{
    uint64_t count = p->outputs[0].n;
    return (launch){.kernel = kernel,
                    .shape.grid = (unsigned)grid,
                    .message_args = 1u << MESSAGES,
                    .scratch_args = 1u << COUNTS | 1u << SECTIONS | 1u << SUMS,
                    .args_count = ARGS,
                    .args = {[OUT] = (uintptr_t)p->outputs[0].data,
                             [SET_SIZE] = p->n / count,
                             [SET_COUNT] = count,
                             [SET_ITEMS] = p->n}};
}

static cubc_status finish_launch(const problem *p, const launch *made, plan *out)
{
    launch *to = &out->launches[out->launch_count++];
    *to = *made;
    problem_append_init(p, to);
    if (has_ends(p)) TRY(problem_insert_input(p, ENDS, to, SET_ENDS));
    TRY(problem_place_input(p, OFFSETS, to, SET_OFFSETS));
    return problem_place_input(p, ITEMS, to, IN);
}

static cubc_status plan_shares(const problem *p, const instance *i, plan *out)
{
    const device_kernel *kernel = &i->kernels[SHARES_KERNEL];
    uint64_t count = p->outputs[0].n;
    uint64_t window = instance_tile(i, kernel);
    uint64_t most = blocks_in_waves(i, &i->kernels[SHARES_KERNEL]);
    uint64_t grid = ceil_div(p->n + count, window);
    if (grid > most) grid = most;
    out->message_bytes = 8 * (1 + grid * ceil_div((uint64_t)problem_acc_bytes(p), 4));
    launch made = make_launch(p, kernel, grid);
    made.scratch_args = 0;
    return finish_launch(p, &made, out);
}

// Bytes that a block reads about as fast as a second launch begins.
enum { SOON = 524288 };

static uint64_t bytes_of(const problem *p)
{
    return p->n * cubc_type_size((cubc_type)p->type);
}

typedef struct layout {
    uint64_t team_log2, turns;  // of teams
    uint64_t longest;           // items of a segment that a team reduces
    uint64_t section, capacity; // items of a section, and sections that there is room for
    bool blocks_hold;           // a block, that loads an item a time, holds the mean segment
} layout;

// Items of a section: a warp gets a few, so that all end together.
static uint64_t section_for(const problem *p, uint64_t warps)
{
    enum { LEAST_BYTES = 8192, MOST_BYTES = 65536, EACH = 4 };
    uint64_t size = cubc_type_size((cubc_type)p->type), items = p->n / (warps * EACH);
    return larger(1, smaller(larger(items, LEAST_BYTES / size), MOST_BYTES / size));
}

// Items of the longest segment that a team reduces: twice the mean where there are segments enough
// for the device; else a section. All items, so that there is no second launch, if blocks read the
// mean segment at once and soon read all.
static uint64_t longest_for(const problem *p, const instance *i, uint64_t team_log2,
                            uint64_t section)
{
    enum { AT_ONCE = 65536, MOST_OF_WARP = 65536, MOST_OF_BLOCK = 262144 };
    uint64_t size = cubc_type_size((cubc_type)p->type), count = p->outputs[0].n;
    bool block = team_log2 == TEAM_IS_BLOCK;
    uint64_t mean = p->n / count, most = block ? MOST_OF_BLOCK : MOST_OF_WARP;
    if (block && mean * size <= AT_ONCE && bytes_of(p) <= SOON) return p->n;
    if (count < (uint64_t)i->device->info.sm_count) return section;
    return larger(section, smaller(2 * mean, most / size));
}

// A team is lanes for the mean segment; a block where a warp does not hold it or items are few, and
// there are not many more segments than blocks that run at once.
static uint64_t team_for(const problem *p, const instance *i)
{
    uint64_t vector = 1u << instance_value(i, "ipv", 0);
    uint64_t loads = instance_value(i, "ipt", 1) / vector;
    uint64_t count = p->outputs[0].n, vectors = ceil_div(p->n / count, vector);
    uint64_t threads = (uint64_t)i->device->info.sm_count * i->kernels[TEAMS_KERNEL].threads;
    if ((vectors > WARP_LANES * loads || bytes_of(p) <= SOON) &&
        count <= 2 * resident_blocks(i, &i->kernels[TEAMS_KERNEL]))
        return TEAM_IS_BLOCK;
    return reduction_team_log2(vectors, loads, count, threads);
}

static layout lay_out(const problem *p, const instance *i)
{
    const device_kernel *teams = &i->kernels[TEAMS_KERNEL], *blocks = &i->kernels[BLOCKS_KERNEL];
    uint64_t count = p->outputs[0].n, warps = teams->threads / WARP_LANES;
    layout l = {.team_log2 = team_for(p, i), .turns = count};
    if (l.team_log2 < TEAM_IS_BLOCK) {
        uint64_t of_warps = ceil_div(count, WARP_LANES >> l.team_log2);
        l.turns = larger(ceil_div(of_warps, warps),
                         smaller(of_warps, (uint64_t)i->device->info.sm_count));
    }
    l.section = section_for(p, resident_blocks(i, teams) * warps);
    l.longest = longest_for(p, i, l.team_log2, l.section);
    // A segment that is cut has a whole section, so that its last one at most doubles their number.
    if (l.longest < p->n) l.capacity = 2 * (p->n / l.section);
    l.blocks_hold =
        l.team_log2 == TEAM_IS_BLOCK && p->n / count <= BLOCK_LOADS * (uint64_t)blocks->threads;
    return l;
}

// The scratch has the counts, the sections and their sums, one behind the other.
static void place_scratch(const problem *p, const layout *l, launch *made, plan *out)
{
    enum { SECTION_ENTRY = 16 }; // sizeof(long_section)
    if (l->capacity == 0) return;
    uint64_t left_over = has_ends(p) ? p->outputs[0].n : 0;
    made->args[SECTIONS] = round_up(8 * (2 + l->capacity + left_over), SECTION_ENTRY);
    made->args[SUMS] = made->args[SECTIONS] + SECTION_ENTRY * l->capacity;
    out->scratch_bytes =
        made->args[SUMS] + l->capacity * round_up((uint64_t)problem_acc_bytes(p), 4);
    out->message_bytes = has_ends(p) ? 16 : 8;
}

static cubc_status plan_teams(const problem *p, const instance *i, plan *out)
{
    const device_kernel *teams = &i->kernels[TEAMS_KERNEL],
                        *sections = &i->kernels[SECTIONS_KERNEL];
    uint64_t waves = instance_value(i, "wav", 1);
    layout l = lay_out(p, i);
    launch made = make_launch(p, teams, smaller(l.turns, resident_blocks(i, teams) * waves));
    made.args[TEAM_LOG2] = l.team_log2;
    made.args[TURNS] = l.turns;
    made.args[LONGEST] = l.longest;
    made.args[SECTION] = l.section;
    made.args[CAPACITY] = l.capacity;
    place_scratch(p, &l, &made, out);
    if (l.blocks_hold) {
        made.kernel = &i->kernels[BLOCKS_KERNEL];
        made.shape.grid = (unsigned)p->outputs[0].n;
    }
    TRY(finish_launch(p, &made, out));
    if (l.capacity == 0) return CUBC_OK; // all segments are reduced
    made.kernel = sections;
    made.shape.grid = (unsigned)smaller(ceil_div(l.capacity, teams->threads / WARP_LANES),
                                        resident_blocks(i, sections));
    return finish_launch(p, &made, out);
}

static cubc_status segmented_reduce_plan(const problem *p, const instance *i, plan *out)
{
    enum { LEAST_BYTES = 128, LEAST_OF_FEW = 64 }; // of the mean segment, for teams
    uint64_t count = p->outputs[0].n, least = bytes_of(p) <= SOON ? LEAST_OF_FEW : LEAST_BYTES;
    if (count == 0) return CUBC_OK;
    bool teams = p->n / count * cubc_type_size((cubc_type)p->type) >= least || has_ends(p);
    bool any_order = p->commutative && i->kernels[SHARES_KERNEL].threads > 1;
    return teams && any_order ? plan_teams(p, i, out) : plan_shares(p, i, out);
}

static const field segmented_reduce_fields[] = {
    FIELD_ARRAY(cubc_segmented_reduce_params, in, FIELD_LAZY, type, n),
    {"offsets", FIELD_LAZY, offsetof(cubc_segmented_reduce_params, offsets),
     offsetof(cubc_segmented_reduce_params, offset_type), 0, 0},
    {"ends", FIELD_LAZY, offsetof(cubc_segmented_reduce_params, ends),
     offsetof(cubc_segmented_reduce_params, end_type), 0, 0},
    FIELD(cubc_segmented_reduce_params, acc_type, FIELD_TYPE),
    FIELD(cubc_segmented_reduce_params, op, FIELD_TEXT),
    FIELD(cubc_segmented_reduce_params, commutative, FIELD_INT),
    FIELD(cubc_segmented_reduce_params, deterministic, FIELD_INT),
    {"init", FIELD_VALUE, offsetof(cubc_segmented_reduce_params, init),
     offsetof(cubc_segmented_reduce_params, acc_type), 0,
     offsetof(cubc_segmented_reduce_params, init_in_memory)},
    FIELD_ARRAY(cubc_segmented_reduce_params, out, FIELD_OUTPUT, out_type, segments),
};

#define BENCHMARK(op_name, lengths)                                                \
    BENCHMARK_OF("segmented_reduce." op_name, .axes[SEGMENT_SIZE] = AXIS(lengths), \
                 REDUCTION_CALL_SEGMENTED(.op = op_name))
static const int lengths[] = {8, 256, 65536}, short_length[] = {8};
static const benchmark segmented_reduce_benchmarks[] = {BENCHMARK("sum", lengths),
                                                        BENCHMARK("argmin", short_length)};

const algorithm segmented_reduce_algorithm = {
    .name = "segmented_reduce",
    .source = "segmented_reduce.cu",
    .kernels = {"segmented_reduce_shares", "segmented_reduce_teams", "segmented_reduce_sections",
                "segmented_reduce_blocks"},
    .cpu_source = "cpu_segmented_reduce.cu",
    .cpu_kernels = {"segmented_reduce_shares"},
    .cpu_unused = {"TUNE_BLOCK_LOADS"},
    .axes = {"Elements", "SegmentSize"},
    .benchmarks = segmented_reduce_benchmarks,
    .benchmark_count = COUNT_OF(segmented_reduce_benchmarks),
    FIELDS(segmented_reduce_fields),
    .workload = segmented_reduce_workload,
    .complete = segmented_reduce_complete,
    .axis_values = segmented_reduce_axis_values,
    .define = segmented_reduce_define,
    .invalid = segmented_reduce_invalid,
    .plan = segmented_reduce_plan,
    .traffic = problem_array_bytes,
    .random = segmented_reduce_random};
