// Compilation through the cache: the deadline of a compilation that waits for another's.
//
// The claim that is waited for is another thread's. The wait asks whether it is interrupted, and
// the hook that answers ends the other thread, and with it the claim.
#define _XOPEN_SOURCE 700
#include "compile/variant.h"

#include "cache_fixture.h"
#include "compile/claim.h"

#include <pthread.h>

static const char source[] = "extern \"C\" int answer() { return 42; }\n";
static char source_key[65];
static int questions;
static pthread_t other;
static pthread_barrier_t claims, gives_up;

static void *claim_source(void *unused)
{
    char compiler[96];
    bool claimed;
    double waited;
    (void)unused;
    CHECK_STATUS(device_cpu_api.compiler(compiler, sizeof compiler), CUBC_OK);
    cache_key("cpu", compiler, source, source_key);
    CHECK_STATUS(claim_or_wait(source_key, "a kernel", 0, &claimed, &waited), CUBC_OK);
    CHECK(claimed);
    pthread_barrier_wait(&claims);
    pthread_barrier_wait(&gives_up);
    claim_release(source_key);
    return NULL;
}

static bool other_gives_up_late(void)
{
    if (++questions != 6) return false; // after 51 ms; the next look is after 71 ms
    pthread_barrier_wait(&gives_up);
    pthread_join(other, NULL);
    return false;
}

// Nothing is left of the deadline then, which must not be read as no deadline.
CACHE_TEST(a_wait_uses_up_the_deadline)
{
    binary code = {0};
    double seconds;
    CHECK(pthread_barrier_init(&claims, NULL, 2) == 0);
    CHECK(pthread_barrier_init(&gives_up, NULL, 2) == 0);
    CHECK(pthread_create(&other, NULL, claim_source, NULL) == 0);
    pthread_barrier_wait(&claims);
    interrupt_set_hook(other_gives_up_late);
    CHECK_STATUS(variant_compile("cpu", source, "a kernel", 0.06, NULL, &code, &seconds),
                 CUBC_TIMEOUT);
    CHECK_CONTAINS(cubc_error_message(), "compiling a kernel took longer than");
    CHECK(!code.data && files() == 1); // the one of the claims
    interrupt_set_hook(NULL);
    binary_free(&code);
}

int main(int argc, char **argv)
{
    const check_test tests[] = {
        {"a_wait_uses_up_the_deadline", a_wait_uses_up_the_deadline},
    };
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
