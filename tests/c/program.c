// A C program that knows nothing of Python: it links the extension module for cubc.h, reduces an
// array, scans it in two phases, and reads what an error says. test_interface.py builds and runs
// it.
#include <cubc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 100000 };

static int failed(const char *what)
{
    fprintf(stderr, "%s: %s\n%s", what, cubc_error_message(), cubc_error_log());
    return 1;
}

static int reduce(cubc_device *device, const float *items)
{
    double sum = 0, init = 0.5;
    cubc_reduce_params params = {.in = items,
                                 .out = &sum,
                                 .n = COUNT,
                                 .type = CUBC_F32,
                                 .acc_type = CUBC_F64,
                                 .out_type = CUBC_F64,
                                 .op = "sum",
                                 .init = &init};
    if (cubc_reduce(device, &params, NULL, 0, NULL)) return failed("reduce");
    if (cubc_synchronize(device, NULL)) return failed("synchronize");
    printf("sum %.1f\n", sum);
    return 0;
}

// Both phases: how much temporary storage, then the work in storage of our own.
static int scan(cubc_device *device, const float *items)
{
    size_t bytes = 0;
    void *temp = NULL, *sums = NULL;
    float last = 0;
    cubc_scan_params params = {.in = items,
                               .n = COUNT,
                               .type = CUBC_F32,
                               .acc_type = CUBC_F32,
                               .out_type = CUBC_F32,
                               .op = "sum",
                               .inclusive = 1};
    if (cubc_alloc(device, COUNT * sizeof(float), NULL, &sums)) return failed("alloc");
    params.out = sums;
    if (cubc_scan_temp_bytes(device, &params, &bytes)) return failed("scan_temp_bytes");
    if (bytes == 0 || cubc_alloc(device, bytes, NULL, &temp)) return failed("alloc");
    if (cubc_scan(device, &params, temp, bytes - 1, NULL) != CUBC_INVALID_ARGUMENT)
        return failed("too little storage");
    if (cubc_scan(device, &params, temp, bytes, NULL)) return failed("scan");
    if (cubc_copy(device, &last, (float *)sums + COUNT - 1, sizeof last, NULL))
        return failed("copy");
    if (cubc_synchronize(device, NULL)) return failed("synchronize");
    printf("last %.1f\n", (double)last);
    cubc_free(device, temp, NULL);
    cubc_free(device, sums, NULL);
    return 0;
}

static int errors(cubc_device *device)
{
    float item = 0;
    cubc_device *none = NULL;
    cubc_reduce_params params = {.in = &item, .out = &item, .n = 1, .op = "smu"};
    params.type = params.acc_type = params.out_type = CUBC_F32;
    if (cubc_reduce(device, &params, NULL, 0, NULL) != CUBC_NOT_FOUND) return failed("smu");
    printf("error %s\n", cubc_error_message());
    params.op = "a +* b";
    if (cubc_reduce(device, &params, NULL, 0, NULL) != CUBC_COMPILE_ERROR) return failed("a +* b");
    printf("log %d\n", strstr(cubc_error_log(), "error") != NULL);
    if (cubc_device_open("nosuch", &none) != CUBC_NO_DEVICE || none) return failed("nosuch");
    printf("status %s\n", cubc_status_name(CUBC_NO_DEVICE));
    cubc_device_close(NULL);
    return 0;
}

int main(void)
{
    cubc_device *device;
    if (cubc_device_open("cpu", &device)) return failed("device_open");
    printf("version %s on %s\n", cubc_version(), cubc_device_name(device));
    float *items = malloc(COUNT * sizeof *items);
    int status = items == NULL;
    for (int i = 0; !status && i < COUNT; i++) items[i] = (float)(i % 3);
    if (!status) status = reduce(device, items) || scan(device, items) || errors(device);
    free(items);
    cubc_device_close(device);
    return status;
}
