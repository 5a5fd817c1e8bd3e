// A C test program in two macros: CHECK(condition) and CHECK_STATUS(call, status). A failed check
// is printed and counted, and the test goes on.
#ifndef CHECK_H
#define CHECK_H

#include "base/base.h"

#include <stdio.h>
#include <string.h>

typedef struct check_test {
    const char *name;
    void (*run)(void);
} check_test;

static int checks_failed_here;

static inline bool check_that(bool holds, const char *what, const char *file, int line)
{
    if (!holds) {
        printf("%s:%d: %s\n", file, line, what);
        checks_failed_here++;
    }
    return holds;
}

static inline bool check_status(cubc_status got, cubc_status want, const char *what,
                                const char *file, int line)
{
    if (got == want) return true;
    printf("%s:%d: %s is %s, not %s", file, line, what, cubc_status_name(got),
           cubc_status_name(want));
    if (got) printf(", from %s: %s\n%s", error_origin(), cubc_error_message(), cubc_error_log());
    if (!got) printf("\n");
    checks_failed_here++;
    return false;
}

static inline bool check_contains(const char *text, const char *part, const char *file, int line)
{
    if (strstr(text, part)) return true;
    printf("%s:%d: \"%s\" does not contain \"%s\"\n", file, line, text, part);
    checks_failed_here++;
    return false;
}

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_STATUS(call, status) check_status((call), (status), #call, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part) check_contains((text), (part), __FILE__, __LINE__)

// Runs the tests, or those whose names contain `only`; what main returns.
static inline int check_run(const check_test *tests, size_t count, const char *only)
{
    int passed = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        if (only && !strstr(tests[i].name, only)) continue;
        checks_failed_here = 0;
        tests[i].run();
        if (checks_failed_here) printf("FAILED: %s\n", tests[i].name);
        if (checks_failed_here)
            failed++;
        else
            passed++;
        fflush(stdout);
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}

#endif
