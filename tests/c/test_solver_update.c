// A solver's update of a field: the macros that it becomes, its room for sums, and what it may not
// be.
#include "check.h"
#include "lattice/operators/solver_state.h"
#include "lattice/operators/solver_update.h"
#include "run/instance_key.h"

static double states[CUBC_STATE_BYTES / sizeof(double)], parts[8];
static const cubc_guard of_one_rank = {
    .states = states, .parts = parts, .parts_n = COUNT_OF(parts), .phase = 5, .step = 7};

static void check_macros(const cubc_site_update *update, const char *want)
{
    problem p = {0};
    text out = {0};
    CHECK_STATUS(solver_update_set(&p, "a test", update, &of_one_rank, 1), CUBC_OK);
    solver_update_define(&p, &out);
    if (!CHECK(strcmp(out.data, want) == 0)) printf("%s", out.data);
    text_free(&out);
}

#define STATE "#define TUNE_STATE_BYTES 2632\n#define TUNE_STATE " SOLVER_STATE_TEXT "\n"

static void test_macros(void)
{
    const cubc_site_update all = {.scalars = {"alpha", "beta"},
                                  .statements = "x = x + alpha * p; p = beta * p",
                                  .sums = {"norm(x)", "dot_real(x, p)"},
                                  .finish = "cg_next_residual"};
    check_macros(&all, "#define TUNE_SUMS 2\n"
                       "#define TUNE_STATEMENTS x = x + alpha * p; p = beta * p\n"
                       "#define TUNE_RANKS 0\n"
                       "#define TUNE_FINISH cg_next_residual\n" STATE
                       "#define TUNE_SCALARS(X) X(alpha) X(beta)\n"
                       "#define TUNE_ADD(X) X(0, (norm(x))) X(1, (dot_real(x, p)))\n");
    check_macros(NULL, "#define TUNE_SUMS 0\n#define TUNE_STATEMENTS \n#define TUNE_RANKS 0\n"
                       "#define TUNE_FINISH \n" STATE "#define TUNE_SCALARS(X)\n"
                       "#define TUNE_ADD(X)\n");
}

static void check_refused(cubc_site_update update, const char *why)
{
    problem p = {0};
    CHECK_STATUS(solver_update_set(&p, "a test", &update, &of_one_rank, 1), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), why);
}

// The texts of an update are compiled, so that each must stay within its macro.
static void test_refusals(void)
{
    check_refused((cubc_site_update){.statements = "x = p;\n#include </etc/passwd>"}, "one line");
    check_refused((cubc_site_update){.scalars = {"alpha", "beta\\"}}, "one line");
    check_refused((cubc_site_update){.sums = {"norm(x)", "#x"}, .finish = "f"}, "one line");
    check_refused((cubc_site_update){.sums = {"norm(x)"}, .finish = "f\r"}, "one line");
    check_refused((cubc_site_update){.sums = {"norm(x)"}}, "come together");
    check_refused((cubc_site_update){.finish = "cg_length"}, "come together");
}

// Steps of a solver are taken once all faces have been sent, by the same ranks.
static void test_other_ranks_than_those_of_the_fields(void)
{
    static double links[4 * 16 * 18], in[16 * 24], out[16 * 24], elsewhere[1];
    cubc_guard guard = of_one_rank;
    guard.ranks = (cubc_ranks *)(void *)elsewhere; // it is compared alone
    const cubc_dslash_wilson_params call = {.sites = {.in = in,
                                                      .out = out,
                                                      .n = COUNT_OF(in),
                                                      .type = CUBC_F64,
                                                      .norm_type = CUBC_F32,
                                                      .lx = 2,
                                                      .ly = 2,
                                                      .lz = 2,
                                                      .lt = 2,
                                                      .parity = 2,
                                                      .guard = &guard},
                                            .links = links,
                                            .links_n = COUNT_OF(links),
                                            .reconstruct = 18,
                                            .a = 1,
                                            .anisotropy = 1};
    problem p;
    CHECK_STATUS(dslash_wilson_problem(&call, &p), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "other ranks than the fields");
}

// Sums of several ranks are other code.
static void test_ranks(void)
{
    const cubc_site_update update = {.sums = {"norm(x)"}, .finish = "f"};
    problem alone = {0}, over_ranks;
    text out = {0};
    CHECK_STATUS(solver_update_set(&alone, "a test", &update, &of_one_rank, 1), CUBC_OK);
    over_ranks = alone;
    solver_update_traits_set(&over_ranks, (solver_update_traits){.over_ranks = true});
    CHECK(!instance_key_equal(&alone, &over_ranks));
    solver_update_define(&over_ranks, &out);
    CHECK_CONTAINS(out.data, "#define TUNE_RANKS 1\n");
    text_free(&out);
}

// Every part of an update is part of the code.
static void test_same_code(void)
{
    const cubc_site_update updates[] = {{.statements = "x = p"},
                                        {.statements = "x = q"},
                                        {.statements = "x = p", .scalars = {"alpha"}},
                                        {.statements = "x = p", .scalars = {"alpha", "beta"}},
                                        {.sums = {"norm(x)"}, .finish = "cg_length"},
                                        {.sums = {"norm(x)"}, .finish = "gcr_length"},
                                        {.sums = {"norm(x)", "norm(x)"}, .finish = "cg_length"}};
    problem p[COUNT_OF(updates) + 1] = {0}; // the last is no solver's
    for (size_t k = 0; k < COUNT_OF(updates); k++)
        CHECK_STATUS(solver_update_set(&p[k], "a test", &updates[k], &of_one_rank, 1), CUBC_OK);
    for (size_t k = 0; k < COUNT_OF(p); k++)
        for (size_t j = 0; j < COUNT_OF(p); j++)
            CHECK(instance_key_equal(&p[k], &p[j]) == (k == j));
}

static void test_room_for_sums(void)
{
    const cubc_site_update update = {.sums = {"norm(x)", "norm(p)"}, .finish = "f"};
    problem p = {0};
    launch l = {.args_count = 1};
    CHECK_STATUS(solver_update_set(&p, "a test", &update, &of_one_rank, 1), CUBC_OK);
    CHECK_STATUS(solver_update_place(&p, &of_one_rank, 5, 1, &l), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "10 partial sums have no room in 8");
    CHECK_STATUS(solver_update_place(&p, &of_one_rank, 4, 1, &l), CUBC_OK);
    CHECK(l.args_count == 5 && l.args[3] == 5 && l.args[4] == 7);
}

static void test_no_memory_is_given(void)
{
    const cubc_site_update update = {.sums = {"norm(x)"}, .finish = "f"};
    const cubc_site_update *const updates[] = {&update, NULL};
    cubc_guard guard = of_one_rank;
    problem p = {0};
    launch l = {.args_count = 1};
    guard.parts = NULL;
    CHECK_STATUS(solver_update_set(&p, "a test", &update, &guard, 1), CUBC_OK);
    CHECK_STATUS(solver_update_place(&p, &guard, 1, 1, &l), CUBC_INVALID_ARGUMENT);
    CHECK_CONTAINS(cubc_error_message(), "1 partial sums have no room in 0");
    guard = of_one_rank;
    guard.states = NULL;
    for (size_t k = 0; k < COUNT_OF(updates); k++) {
        CHECK_STATUS(solver_update_set(&p, "a test", updates[k], &guard, 1), CUBC_INVALID_ARGUMENT);
        CHECK_CONTAINS(cubc_error_message(), "a test: there is no state");
    }
}

// An instance keeps the texts of its problem, all or none.
static void test_copies(void)
{
    const cubc_site_update update = {.scalars = {"alpha"}, .sums = {"norm(x)"}, .finish = "f"};
    long before = mem_outstanding();
    problem p = {0}, key;
    CHECK_STATUS(solver_update_set(&p, "a test", &update, &of_one_rank, 1), CUBC_OK);
    for (long nth = 0; nth <= 4; nth++) {
        mem_fail_at(nth);
        cubc_status st = instance_key_copy(&p, &key);
        mem_fail_at(0);
        CHECK(st == (nth >= 1 && nth <= 3 ? CUBC_NO_MEMORY : CUBC_OK));
        CHECK(st || instance_key_equal(&p, &key));
        instance_key_free(&key);
    }
    CHECK(mem_outstanding() == before);
}

static const check_test tests[] = {
    {"macros", test_macros},
    {"refusals", test_refusals},
    {"ranks", test_ranks},
    {"other ranks than those of the fields", test_other_ranks_than_those_of_the_fields},
    {"same_code", test_same_code},
    {"room_for_sums", test_room_for_sums},
    {"copies", test_copies},
    {"no memory is given", test_no_memory_is_given},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
