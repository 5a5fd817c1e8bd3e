// The types that results have by default, as C callers ask for them, and a reduction in these.
#include "check.h"
#include "cubc.h"

typedef cubc_status (*question)(const char *op, cubc_type type, cubc_type *acc, cubc_type *out);

static void expect(question ask, const char *op, cubc_type type, cubc_type acc, cubc_type out)
{
    cubc_type got_acc = CUBC_LAZY, got_out = CUBC_LAZY;
    CHECK_STATUS(ask(op, type, &got_acc, &got_out), CUBC_OK);
    if (!CHECK(got_acc == acc && got_out == out))
        printf("%s of %s: %s, %s\n", op, cubc_type_name(type), cubc_type_name(got_acc),
               cubc_type_name(got_out));
}

static void test_reductions(void)
{
    question ask = cubc_reduce_types;
    expect(ask, "sum", CUBC_BOOL, CUBC_I64, CUBC_I64);
    expect(ask, "sum", CUBC_I8, CUBC_I64, CUBC_I64);
    expect(ask, "prod", CUBC_U16, CUBC_U64, CUBC_U64);
    expect(ask, "sum", CUBC_F16, CUBC_F32, CUBC_F16);
    expect(ask, "sum", CUBC_F32, CUBC_F32, CUBC_F32);
    expect(ask, "prod", CUBC_C64, CUBC_C64, CUBC_C64);
    expect(ask, "min", CUBC_I8, CUBC_I8, CUBC_I8);
    expect(ask, "max", CUBC_BF16, CUBC_F32, CUBC_BF16);
    expect(ask, "any", CUBC_F64, CUBC_BOOL, CUBC_BOOL);
    expect(ask, "all", CUBC_I32, CUBC_BOOL, CUBC_BOOL);
    expect(ask, "argmin", CUBC_F16, CUBC_F32, CUBC_I64);
    expect(ask, "argmax", CUBC_U8, CUBC_U8, CUBC_I64);
    expect(ask, "a + b", CUBC_I8, CUBC_I8, CUBC_I8);
    expect(ask, "a", CUBC_F16, CUBC_F32, CUBC_F16);
}

static void test_scans(void)
{
    expect(cubc_scan_types, "sum", CUBC_I8, CUBC_I8, CUBC_I8);
    expect(cubc_scan_types, "sum", CUBC_BOOL, CUBC_I64, CUBC_I64);
    expect(cubc_scan_types, "max", CUBC_BOOL, CUBC_BOOL, CUBC_BOOL);
    expect(cubc_scan_types, "prod", CUBC_F16, CUBC_F32, CUBC_F16);
    expect(cubc_scan_types, "any", CUBC_F32, CUBC_BOOL, CUBC_BOOL);
}

static void test_errors(void)
{
    static const question ask[] = {cubc_reduce_types, cubc_scan_types};
    cubc_type acc, out;
    for (size_t k = 0; k < COUNT_OF(ask); k++) {
        CHECK_STATUS(ask[k]("smu", CUBC_I8, &acc, &out), CUBC_NOT_FOUND);
        CHECK_CONTAINS(cubc_error_message(), "did you mean 'sum'?");
        CHECK_STATUS(ask[k]("sum", CUBC_LAZY, &acc, &out), CUBC_INVALID_TYPE);
        CHECK_STATUS(ask[k]("sum", (cubc_type)200, &acc, &out), CUBC_INVALID_TYPE);
        CHECK_STATUS(ask[k](NULL, CUBC_I8, &acc, &out), CUBC_INVALID_ARGUMENT);
        CHECK_STATUS(ask[k]("sum", CUBC_I8, NULL, &out), CUBC_INVALID_ARGUMENT);
        CHECK_STATUS(ask[k]("sum", CUBC_I8, &acc, NULL), CUBC_INVALID_ARGUMENT);
    }
}

// 300 items of 1 are too many for an I8.
static void test_of_a_reduction(void)
{
    static int8_t items[300];
    int64_t sum = 0;
    cubc_device *device = NULL;
    cubc_reduce_params params = {
        .in = items, .out = &sum, .n = COUNT_OF(items), .type = CUBC_I8, .op = "sum"};
    for (size_t i = 0; i < COUNT_OF(items); i++) items[i] = 1;
    CHECK_STATUS(cubc_reduce_types(params.op, params.type, &params.acc_type, &params.out_type),
                 CUBC_OK);
    CHECK_STATUS(cubc_device_open("cpu", &device), CUBC_OK);
    if (device) CHECK_STATUS(cubc_reduce(device, &params, NULL, 0, NULL), CUBC_OK);
    if (device) CHECK_STATUS(cubc_synchronize(device, NULL), CUBC_OK);
    CHECK(sum == (int64_t)COUNT_OF(items));
    cubc_device_close(device);
}

static const check_test tests[] = {
    {"reductions", test_reductions},
    {"scans", test_scans},
    {"errors", test_errors},
    {"of a reduction", test_of_a_reduction},
};

int main(int argc, char **argv)
{
    return check_run(tests, COUNT_OF(tests), argc > 1 ? argv[1] : NULL);
}
