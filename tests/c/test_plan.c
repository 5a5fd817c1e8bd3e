// Limits of a plan: arguments of a launch (csrc/run/plan.c) and operands of a lazy input
// (csrc/run/problem_lazy.c) that there is no room for.
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

static const check_test tests[] = {
    {"too many operands are refused", test_too_many_operands_are_refused},
    {"a launch of too many arguments is refused", test_a_launch_of_too_many_arguments_is_refused},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
