// Limits of a plan: arguments of a launch (csrc/run/plan.c) and operands of a lazy input
// (csrc/run/problem_lazy.c) that there is no room for, or that are not there.
#include "check.h"
#include "run/plan.h"

#include <limits.h>

static void test_a_launch_of_too_many_arguments_is_refused(void)
{
    static plan pl;
    pl.launch_count = 1;
    launch *l = &pl.launches[0];
    for (uint64_t k = 0; k < MAX_ARGS; k++) launch_add(l, k + 1);
    launch_add(l, 7);
    CHECK(l->args_count == MAX_ARGS + 1 && l->args[MAX_ARGS - 1] == MAX_ARGS);
    CHECK(!pl.launches[1].before.take); // nothing was written behind them
    CHECK_STATUS(plan_place(&pl, NULL, NULL), CUBC_INTERNAL);
    CHECK_CONTAINS(cubc_error_message(), "a launch has 41 arguments: MAX_ARGS is 40");
}

static void test_too_many_operands_are_refused(void)
{
    static const float item = 1;
    const cubc_operand x = {.name = "x", .type = CUBC_F32, .data = &item, .scalar = 1};
    cubc_lazy lazy = {.expression = "x", .type = CUBC_F32, .operands = &x, .operand_count = 1};
    problem p = {0};
    CHECK_STATUS(problem_lazy_input(&p, "in", &lazy, 4, CUBC_LAZY), CUBC_OK);
    lazy.operand_count = INT_MAX;
    CHECK_STATUS(problem_lazy_input(&p, "in", &lazy, 4, CUBC_LAZY), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "in has too many operands");
    CHECK(p.operand_count == 1 && p.lazy_count == 1);
}

static void check_refused(const cubc_lazy *lazy, const char *words)
{
    problem p = {0};
    CHECK_STATUS(problem_lazy_input(&p, "in", lazy, 4, CUBC_LAZY), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), words);
}

static void test_addresses_that_are_missing_are_named(void)
{
    static const float items[4] = {1};
    const ptrdiff_t shape[] = {2, 2};
    cubc_operand x = {.name = "x", .type = CUBC_F32, .data = items};
    cubc_lazy lazy = {.expression = "x", .type = CUBC_F32, .operand_count = 1};
    check_refused(&lazy, "in has 1 operands, whose address is NULL");
    lazy.operands = &x;
    lazy.ndim = 2;
    check_refused(&lazy, "in has 2 axes and no shape");
    lazy.ndim = -1;
    check_refused(&lazy, "in has -1 axes");
    lazy.ndim = 0;
    x.ndim = -3;
    x.shape = shape;
    check_refused(&lazy, "operand 'x' has -3 axes");
}

// Their first items would stand for all.
static void test_operands_of_more_axes_than_the_result_are_refused(void)
{
    static const float items[12] = {1};
    const ptrdiff_t whole[] = {4}, rows[] = {3, 4}, row[] = {1, 4};
    cubc_operand x = {.name = "x", .type = CUBC_F32, .data = items, .ndim = 2, .shape = rows};
    cubc_lazy lazy = {.expression = "x",
                      .type = CUBC_F32,
                      .operands = &x,
                      .operand_count = 1,
                      .ndim = 1,
                      .shape = whole};
    check_refused(&lazy, "operand 'x' has 3 items along an axis of 1");
    lazy.ndim = 0;
    check_refused(&lazy, "operand 'x' has 3 items along an axis of 1");
    x.shape = row;
    problem p = {0};
    CHECK_STATUS(problem_lazy_input(&p, "in", &lazy, 4, CUBC_LAZY), CUBC_OK);
}

static const check_test tests[] = {
    {"too many operands are refused", test_too_many_operands_are_refused},
    {"operands of more axes than the result are refused",
     test_operands_of_more_axes_than_the_result_are_refused},
    {"addresses that are missing are named", test_addresses_that_are_missing_are_named},
    {"a launch of too many arguments is refused", test_a_launch_of_too_many_arguments_is_refused},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
