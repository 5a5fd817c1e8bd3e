// The registry of algorithms, and the text that is compiled for a variant of one.
#include "base/name.h"
#include "run/expression.h"
#include "run/instance.h"
#include "run/notes.h"
#include "run/problem.h"

#include <stdio.h>
#include <string.h>

#define ALGORITHM(name) &name##_algorithm,
#define WITHOUT_CALL ALGORITHM
const algorithm *const algorithm_list[] = {
#include "run/list.def"
    NULL};
#undef ALGORITHM

cubc_status benchmark_find(const char *name, const algorithm **a, const benchmark **b)
{
    const char *names[128];
    size_t count = 0;
    for (int k = 0; algorithm_list[k]; k++)
        for (int j = 0; j < algorithm_list[k]->benchmark_count; j++) {
            if (strcmp(algorithm_list[k]->benchmarks[j].name, name) == 0) {
                *a = algorithm_list[k];
                *b = &algorithm_list[k]->benchmarks[j];
                return CUBC_OK;
            }
            if (count < COUNT_OF(names)) names[count++] = algorithm_list[k]->benchmarks[j].name;
        }
    const char *near = nearest_name(name, names, count);
    FAIL(CUBC_NOT_FOUND, "no benchmark '%.60s'%s%s%s", name, near ? "; did you mean '" : "",
         near ? near : "", near ? "'?" : "");
}

static const char *kind_of_arch(const char *arch)
{
    return device_is_cpu(arch) ? "cpu" : "cuda";
}

// True for the variants of an algorithm whose kernel is the CPU's own.
static bool is_cpu_kernel(const algorithm *a, const char *kind, unsigned threads)
{
    return a->cpu_source && threads == 1 && device_is_cpu(kind);
}

const char *const *algorithm_kernels(const algorithm *a, const char *arch, unsigned threads)
{
    return is_cpu_kernel(a, kind_of_arch(arch), threads) ? a->cpu_kernels : a->kernels;
}

// Sources are read once a process, and so are the spaces that they declare: a search asks for them
// thousands of times a second.
FORK_SAFE_MUTEX(spaces_lock);
static struct known_space {
    bool known;
    space space;
} spaces[COUNT_OF(algorithm_list)][2]; // of the cpu and of cuda

static cubc_status space_of(const algorithm *a, const char *kind, space *out)
{
    const char *file = is_cpu_kernel(a, kind, 1) ? a->cpu_source : a->source, *source;
    size_t k = 0;
    while (algorithm_list[k] != a) k++;
    struct known_space *s = &spaces[k][!device_is_cpu(kind)];
    TRY(source_load(file, &source));
    pthread_mutex_lock(&spaces_lock);
    cubc_status st = s->known ? CUBC_OK : space_parse(source, kind, &s->space);
    s->known = st == CUBC_OK;
    *out = s->space;
    pthread_mutex_unlock(&spaces_lock);
    if (st) error_prefix("%s: ", file);
    return st;
}

cubc_status algorithm_space(const algorithm *a, const char *arch, space *out)
{
    return space_of(a, kind_of_arch(arch), out);
}

// The cpu also runs the variants of GPUs, which is how they are tested without one: a label outside
// the cpu's ranges may lie in those of cuda. *kind: whose variant it is.
static cubc_status parse_label(const algorithm *a, const char *arch, const char *label, space *s,
                               variant *v, const char **kind)
{
    space own;
    *kind = kind_of_arch(arch);
    TRY(algorithm_space(a, arch, &own));
    *s = own;
    cubc_status st = variant_parse(s, label, v);
    if (st != CUBC_INVALID_ARGUMENT || !device_is_cpu(*kind)) return st;
    *kind = "cuda";
    TRY(space_of(a, *kind, s));
    // When it is in neither, the message is about the cpu's.
    return variant_parse(s, label, v) ? variant_parse(&own, label, v) : CUBC_OK;
}

typedef struct candidate {
    const problem *p;
    const char *arch;
} candidate;

// True if the problem can run a policy that goes by the type of its items alone: their accumulators
// may be wider than those that it was made for.
static bool can_run(const void *context, const char *label)
{
    const candidate *c = context;
    space s;
    variant v;
    const char *kind;
    if (!parse_label(c->p->algorithm, c->arch, label, &s, &v, &kind))
        return !c->p->algorithm->invalid(c->p, kind, &s, &v);
    error_clear();
    return false;
}

static void note_refusal(const void *context, const char *label)
{
    const candidate *c = context;
    char resolved[MAX_LABEL];
    space s;
    variant v;
    if (algorithm_variant(c->p, c->arch, label, &s, &v, resolved)) // it says why
        algorithm_note_refusal();
}

void algorithm_note_refusal(void)
{
    note_put("a policy that was to be used is passed over by calls that cannot run it: %s",
             cubc_error_message());
    error_clear();
}

const char *const *algorithm_axes(const algorithm *a)
{
    static const char *const elements[POLICY_AXES + 1] = {"Elements"};
    return a->axes[0] ? a->axes : elements;
}

bool algorithm_has_elements(const algorithm *a)
{
    return strcmp(algorithm_axes(a)[0], "Elements") == 0;
}

cubc_status algorithm_policies(const problem *p, const char *arch, policy_list *out)
{
    const candidate who = {p, arch};
    uint64_t values[POLICY_AXES];
    problem_axis_values(p, values);
    const policy_key key = {.arch = arch,
                            .algorithm = p->algorithm->name,
                            .benchmark = p->benchmark,
                            .type = cubc_type_name(problem_policy_type(p)),
                            .type_size = cubc_type_size(problem_policy_type(p)),
                            .axes = algorithm_axes(p->algorithm),
                            .accepts = can_run,
                            .refused = note_refusal,
                            .axis_values = values,
                            .context = &who};
    return policy_list_make(&key, out);
}

static cubc_status base_label(const problem *p, const char *arch, char label[MAX_LABEL])
{
    uint64_t values[POLICY_AXES];
    policy_list rows;
    problem_axis_values(p, values);
    TRY(algorithm_policies(p, arch, &rows));
    snprintf(label, MAX_LABEL, "%s", rows.rows[policy_choose(&rows, values, true)].label);
    policy_list_free(&rows);
    return CUBC_OK;
}

cubc_status algorithm_variant(const problem *p, const char *arch, const char *label, space *s,
                              variant *v, char resolved[MAX_LABEL])
{
    char base[MAX_LABEL];
    const char *kind;
    if (strcmp(label, "base") == 0) {
        TRY(base_label(p, arch, base));
        label = base;
    }
    TRY(parse_label(p->algorithm, arch, label, s, v, &kind));
    const char *reason = p->algorithm->invalid(p, kind, s, v);
    if (reason) FAIL(CUBC_NO_RESOURCES, "%s cannot run %s: %s", p->benchmark, label, reason);
    variant_label(s, v, resolved);
    return CUBC_OK;
}

// Defines structs behind the types that they are made of, for kernels/dialect/types.h.
static void define_structs(const problem *p, text *out)
{
    bool done[CUBC_TYPE_LAST + 1] = {false};
    text structs = {0};
    type_define((cubc_type)p->type, done, &structs);
    type_define((cubc_type)p->acc_type, done, &structs);
    for (int k = 0; k < p->input_count; k++)
        type_define((cubc_type)p->inputs[k].type, done, &structs);
    for (int k = 0; k < p->operand_count; k++)
        type_define((cubc_type)p->operands[k].type, done, &structs);
    for (int k = 0; k < p->output_count; k++)
        type_define((cubc_type)p->outputs[k].type, done, &structs);
    for (int k = 0; k < p->lazy_count; k++) { // those that operands of an operand make
        const char *at = p->lazy[k].expression;
        cubc_type inside;
        while (expression_next_struct(&at, &inside)) type_define(inside, done, &structs);
    }
    if (structs.length) text_printf(out, "#define TUNE_STRUCTS %s\n", structs.data);
    out->failed = out->failed || structs.failed;
    text_free(&structs);
}

// True if a line of the workload defines a macro that the CPU's own variants do not use.
static bool is_unused(const algorithm *a, const char *line)
{
    static const char define[] = "#define ";
    size_t skip = sizeof define - 1;
    if (strncmp(line, define, skip) != 0) return false;
    for (int k = 0; k < MAX_CPU_UNUSED && a->cpu_unused[k]; k++) {
        size_t length = strlen(a->cpu_unused[k]);
        if (strncmp(line + skip, a->cpu_unused[k], length) == 0 && line[skip + length] == ' ')
            return true;
    }
    return false;
}

static void append_used(const algorithm *a, const char *workload, text *out)
{
    for (const char *line = workload, *end; *line; line = end) {
        end = line + strcspn(line, "\n");
        if (*end) end++;
        if (!is_unused(a, line)) text_append(out, line, (size_t)(end - line));
    }
}

cubc_status algorithm_source(const problem *p, const char *arch, const space *s, const variant *v,
                             text *out, char workload_hash[65])
{
    const algorithm *a = p->algorithm;
    const char *kernel, *cpu_kernel = "", *kind = kind_of_arch(arch);
    bool cpu = device_is_cpu(kind);
    unsigned threads = (unsigned)variant_value(s, v, "tpb", 1);
    text workload = {0};
    sha256 h;
    cubc_status st;
    TRY(source_load(a->source, &kernel));
    if (cpu && a->cpu_source) TRY(source_load(a->cpu_source, &cpu_kernel));
    define_structs(p, &workload);
    a->define(p, &workload);
    GUARD(st, text_done(&workload), done);

    text_printf(out, "#define SIMT_%s 1\n#define SIMT_THREADS %u\n#define SIMT_WARP %d\n",
                cpu ? "CPU" : "CUDA", threads, cpu && threads == 1 ? 1 : 32);
    variant_defines(s, v, out);
    if (cpu && threads == 1)
        append_used(a, workload.data, out);
    else
        text_append(out, workload.data, workload.length);
    text_puts(out, is_cpu_kernel(a, kind, threads) ? cpu_kernel : kernel);
    st = text_done(out);

    sha256_begin(&h);
    sha256_add(&h, kind, strlen(kind) + 1);
    sha256_add(&h, workload.data, workload.length);
    sha256_add(&h, kernel, strlen(kernel));
    sha256_add(&h, cpu_kernel, strlen(cpu_kernel));
    sha256_end_hex(&h, workload_hash);
done:
    text_free(&workload);
    return st;
}
