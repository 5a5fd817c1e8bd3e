// Operators that do not commute, in GPU variants: reductions and scans of affine maps with blocks
// of 64 to 1024 threads, under three seeds of the random scheduler, instrumented by ASan and UBSan.
//
// Users' operators belong to no benchmark, so no search reaches these variants; here a policy names
// them. An argument runs only the tests whose names contain it.
#define _GNU_SOURCE
#include "compile/policy.h"
#include "cpu_fixture.h"
#include "run/algorithm.h"

enum { MOST = 12000 };

// x -> p x + q modulo 2^32 as p << 32 | q; first a, then b.
static const char compose[] =
    "((a >> 32) * (b >> 32) << 32) | (((b >> 32) * (a & 0xffffffff) + (b & 0xffffffff)) & "
    "0xffffffff)";
static uint64_t maps[MOST], prefixes[MOST], results[MOST + 1];

static void make_maps(void)
{
    uint64_t state = 1, p = 1, q = 0;
    for (int i = 0; i < MOST; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        maps[i] = state | (uint64_t)1 << 32; // an odd factor: nothing is forgotten
        q = ((maps[i] >> 32) * q + maps[i]) & 0xffffffff;
        p = p * (maps[i] >> 32) & 0xffffffff;
        prefixes[i] = p << 32 | q;
    }
}

static const uint64_t sizes[] = {1,   2,    31,   32,   33,   255,  256,
                                 257, 1023, 1024, 1025, 4096, 4097, MOST};

static void check_reduce(cubc_device *device)
{
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        results[0] = 0;
        cubc_reduce_params params = {.in = maps,
                                     .out = results,
                                     .n = sizes[s],
                                     .type = CUBC_U64,
                                     .acc_type = CUBC_U64,
                                     .out_type = CUBC_U64,
                                     .op = compose};
        CHECK_STATUS(cubc_reduce(device, &params, NULL, 0, NULL), CUBC_OK);
        CHECK(results[0] == prefixes[sizes[s] - 1]);
    }
}

static void check_scan(cubc_device *device, int inclusive)
{
    uint64_t identity = (uint64_t)1 << 32;
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        uint64_t n = sizes[s], wrong = 0;
        memset(results, 0xAB, sizeof results);
        cubc_scan_params params = {.in = maps,
                                   .out = results,
                                   .n = n,
                                   .type = CUBC_U64,
                                   .acc_type = CUBC_U64,
                                   .out_type = CUBC_U64,
                                   .op = compose,
                                   .inclusive = inclusive,
                                   .init = inclusive ? NULL : &identity};
        CHECK_STATUS(cubc_scan(device, &params, NULL, 0, NULL), CUBC_OK);
        for (uint64_t i = 0; i < n; i++)
            wrong += results[i] != (inclusive ? prefixes[i] : i ? prefixes[i - 1] : identity);
        CHECK(wrong == 0);
        CHECK(results[n] == 0xABABABABABABABAB); // nothing is written past the end
    }
}

static cubc_device *open_seeded(const char *seed)
{
    cubc_device *device = NULL;
    setenv("CUBC_CPU_THREADS", "2", 1);
    setenv("CUBC_SIMT_SEED", seed, 1);
    CHECK_STATUS(cubc_device_open("cpu", &device), CUBC_OK);
    return device;
}

static void under_every_seed(const char *benchmark, const char *label,
                             void (*check)(cubc_device *device))
{
    static const char *const seeds[] = {"1", "2", "3"};
    CHECK_STATUS(policy_overlay("cpu", benchmark, "U64", NULL, label), CUBC_OK);
    for (size_t s = 0; s < COUNT_OF(seeds); s++) {
        cubc_device *device = open_seeded(seeds[s]);
        if (device) check(device);
        cubc_device_close(device);
    }
    policy_clear();
}

static void check_inclusive(cubc_device *device)
{
    check_scan(device, 1);
}

static void check_exclusive(cubc_device *device)
{
    check_scan(device, 0);
}

static void test_reduce(void)
{
    static const char *const labels[] = {
        "ipt_4.tpb_128.ipv_0.ld_0.sm_0.wav_6.ms_1.ord_0",
        "ipt_8.tpb_256.ipv_1.ld_0.sm_1.wav_1.ms_1.ord_0", // one contiguous share a block even so
        "ipt_4.tpb_1024.ipv_2.ld_1.sm_0.wav_2.ms_1.ord_0",
        "ipt_128.tpb_1.ipv_3.ld_0.sm_0.wav_16.ms_1.ord_0",
    };
    for (size_t l = 0; l < COUNT_OF(labels); l++)
        under_every_seed("reduce.custom", labels[l], check_reduce);
}

static void test_scan(void)
{
    static const char *const labels[] = {
        "ipt_4.tpb_64.mb_1.pk_0.ipv_0.ld_0.la_0.ord_0.lb_1.ns_0.l2w_0",
        "ipt_8.tpb_96.mb_1.pk_3.ipv_1.ld_0.la_0.ord_0.lb_3.ns_0.l2w_0",
        "ipt_4.tpb_1024.mb_1.pk_0.ipv_2.ld_1.la_0.ord_0.lb_2.ns_0.l2w_0",
    };
    for (size_t l = 0; l < COUNT_OF(labels); l++) {
        under_every_seed("scan.inclusive.custom", labels[l], check_inclusive);
        under_every_seed("scan.exclusive.custom", labels[l], check_exclusive);
    }
}

// Bindings check a label before it becomes a policy; here one is passed over that no call can run.
static void test_labels_of_nobody(void)
{
    cubc_device *device = open_seeded("0");
    if (!device) return;
    results[0] = 0;
    CHECK_STATUS(policy_overlay("cpu", "reduce.custom", "U64", NULL, "ipt_4.tpb_1"), CUBC_OK);
    cubc_reduce_params params = {.in = maps, .out = results, .n = 1, .op = compose};
    params.type = params.acc_type = params.out_type = CUBC_U64;
    CHECK_STATUS(cubc_reduce(device, &params, NULL, 0, NULL), CUBC_OK);
    CHECK(results[0] == maps[0]);
    policy_clear();
    cubc_device_close(device);
}

static const check_test tests[] = {
    {"reduce", test_reduce},
    {"scan", test_scan},
    {"labels of nobody", test_labels_of_nobody},
};

int main(int argc, char **argv)
{
    make_maps();
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
