// The processor's name (csrc/device/cpu/cpu_target.c), which a process asks for until it has it.
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "device/cpu/cpu_target.h"

#include <stdlib.h>
#include <sys/resource.h>

static void test_a_name_that_is_not_found_is_asked_for_again(void)
{
    char name[TARGET_BYTES], again[TARGET_BYTES];
    struct rlimit files, none;
    getrlimit(RLIMIT_NOFILE, &files);
    none = (struct rlimit){0, files.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
    CHECK_STATUS(cpu_target_name(name), CUBC_IO_ERROR);
    CHECK_CONTAINS(cubc_error_message(), "CUBC_CPU_PORTABLE=1");
    CHECK(!cpu_target_runs("0123"));
    setenv("CUBC_CPU_PORTABLE", "1", 1);
    CHECK_STATUS(cpu_target_name(name), CUBC_OK);
    CHECK(cpu_target_runs(name));
    unsetenv("CUBC_CPU_PORTABLE");
    setrlimit(RLIMIT_NOFILE, &files);
    mem_fail_at(1);
    CHECK_STATUS(cpu_target_name(name), CUBC_NO_MEMORY);
    mem_fail_at(0);
    CHECK_STATUS(cpu_target_name(name), CUBC_OK);
    CHECK_STATUS(cpu_target_name(again), CUBC_OK);
    CHECK(strcmp(name, again) == 0 && cpu_target_runs(name) && !cpu_target_runs("0123"));
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        {"a name that is not found is asked for again",
         test_a_name_that_is_not_found_is_asked_for_again},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
