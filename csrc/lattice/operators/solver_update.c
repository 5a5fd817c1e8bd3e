// The solver's part of a kernel: see solver_update.h.
#include "lattice/operators/solver_update.h"

#include "lattice/grid/ranks.h"
#include "lattice/operators/solver_state.h"

#include <string.h>

// A problem's texts: the members of a cubc_site_update.
enum {
    STATEMENTS,
    FINISH,
    SCALARS,
    SUMS = SCALARS + CUBC_MOST_SCALARS,
    TEXTS = SUMS + CUBC_MOST_SUMS
};
_Static_assert((int)TEXTS <= (int)MAX_TEXTS, "a problem has room for an update");

static int count_texts(const char *const *list, int most)
{
    int count = 0;
    while (count < most && list[count]) count++;
    return count;
}

static int count_sums(const problem *p)
{
    return count_texts(p->texts + SUMS, CUBC_MOST_SUMS);
}

cubc_status solver_update_set(problem *p, const char *what, const cubc_site_update *update,
                              const cubc_guard *guard, uint64_t states)
{
    p->text_count = TEXTS;
    if (!guard->states) FAIL(CUBC_INVALID_ARGUMENT, "%s: there is no state", what);
    if (!update) return CUBC_OK;
    p->texts[STATEMENTS] = update->statements;
    p->texts[FINISH] = update->finish;
    memcpy(p->texts + SCALARS, update->scalars, sizeof update->scalars);
    memcpy(p->texts + SUMS, update->sums, sizeof update->sums);
    for (int k = 0; k < TEXTS; k++)
        if (p->texts[k] && strpbrk(p->texts[k], "\r\n#\\"))
            FAIL(CUBC_INVALID_ARGUMENT, "%s: \"%.60s\" is not of one line without # and \\", what,
                 p->texts[k]);
    if ((count_sums(p) == 0) != (update->finish == NULL))
        FAIL(CUBC_INVALID_ARGUMENT, "%s: sums and the function that takes them come together",
             what);
    if (!count_sums(p) || !guard->ranks) return CUBC_OK;
    solver_update_traits_set(p, (solver_update_traits){.over_ranks = true});
    return ranks_reserve_sums(guard->ranks, states, count_sums(p));
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

void solver_update_define(const problem *p, text *out)
{
    const char *const *scalars = p->texts + SCALARS, *const *sums = p->texts + SUMS;
    int scalar_count = count_texts(scalars, CUBC_MOST_SCALARS), sum_count = count_sums(p);
    text_printf(out, "#define TUNE_SUMS %d\n#define TUNE_STATEMENTS %s\n", sum_count,
                or_empty(p->texts[STATEMENTS]));
    text_printf(out, "#define TUNE_RANKS %d\n", solver_update_traits_of(p).over_ranks);
    text_printf(out, "#define TUNE_FINISH %s\n#define TUNE_STATE_BYTES %d\n",
                or_empty(p->texts[FINISH]), CUBC_STATE_BYTES);
    text_puts(out, "#define TUNE_STATE " SOLVER_STATE_TEXT "\n");
    text_puts(out, "#define TUNE_SCALARS(X)");
    for (int k = 0; k < scalar_count; k++) text_printf(out, " X(%s)", scalars[k]);
    text_puts(out, "\n#define TUNE_ADD(X)");
    for (int k = 0; k < sum_count; k++) text_printf(out, " X(%d, (%s))", k, sums[k]);
    text_puts(out, "\n");
}

cubc_status solver_update_place(const problem *p, const cubc_guard *guard, uint64_t blocks,
                                uint64_t states, launch *l)
{
    uint64_t needed = blocks * (uint64_t)count_sums(p), room = guard->parts ? guard->parts_n : 0;
    if (needed > room)
        FAIL(CUBC_INVALID_ARGUMENT, "%llu partial sums have no room in %llu",
             (unsigned long long)needed, (unsigned long long)room);
    launch_add(l, (uintptr_t)guard->states);
    launch_add(l, (uintptr_t)guard->parts);
    launch_add(l, guard->phase);
    launch_add(l, guard->step);
    if (!solver_update_traits_of(p).over_ranks) return CUBC_OK;
    launch_add(l, (uintptr_t)ranks_table(guard->ranks));
    launch_add(l, states);
    return CUBC_OK;
}

void solver_update_receive(const problem *p, const cubc_guard *guard, const device_kernel *kernel,
                           plan *out)
{
    if (!solver_update_traits_of(p).over_ranks || !ranks_are_staged(guard->ranks)) return;
    launch *l = &out->launches[out->launch_count++];
    *l = l[-1];
    l->kernel = kernel;
    l->shape.grid = 1;
    l->before = ranks_sums_step(guard->ranks);
}
