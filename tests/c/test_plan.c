// The steps of a plan (csrc/run/plan.c): arguments that there is no room for.
#include "check.h"
#include "run/plan.h"

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

static const check_test tests[] = {
    {"a launch of too many arguments is refused", test_a_launch_of_too_many_arguments_is_refused},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
