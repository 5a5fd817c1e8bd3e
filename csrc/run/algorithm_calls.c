// The public calls, generated from list.def. Each makes a problem of its parameters, which checks
// them, and runs it.
#include "run/run.h"

#define ALGORITHM(name)                                                 \
    static cubc_status name##_checked(const void *params, problem *out) \
    {                                                                   \
        return name##_problem(params, out);                             \
    }
#include "run/list.def"
#undef ALGORITHM

#define ALGORITHM(name) name##_checked,
#define WITHOUT_CALL(name) NULL,
static cubc_status (*const problems[])(const void *params, problem *out) = {
#include "run/list.def"
};
#undef ALGORITHM

cubc_status algorithm_problem(const algorithm *a, const void *params, problem *out)
{
    size_t k = 0;
    while (algorithm_list[k] != a) k++;
    if (!problems[k]) FAIL(CUBC_INTERNAL, "%s has no call of its own", a->name);
    if (!params) FAIL(CUBC_INVALID_ARGUMENT, "%s: NULL argument", a->name);
    return problems[k](params, out);
}

static cubc_status public_temp_bytes(cubc_device *device, const algorithm *a, const void *params,
                                     size_t *bytes)
{
    problem p;
    if (bytes) *bytes = 0;
    if (!device || !bytes) FAIL(CUBC_INVALID_ARGUMENT, "%s: NULL argument", a->name);
    TRY(algorithm_problem(a, params, &p));
    return run_temp_bytes(device, &p, bytes);
}

static cubc_status public_run(cubc_device *device, const algorithm *a, const void *params,
                              void *temp, size_t temp_bytes, cubc_stream stream)
{
    problem p;
    if (!device) FAIL(CUBC_INVALID_ARGUMENT, "%s: NULL argument", a->name);
    TRY(algorithm_problem(a, params, &p));
    return run_problem(device, &p, temp, temp_bytes, stream);
}

#define ALGORITHM(name)                                                                           \
    cubc_status cubc_##name##_temp_bytes(cubc_device *device, const cubc_##name##_params *params, \
                                         size_t *bytes)                                           \
    {                                                                                             \
        return public_temp_bytes(device, &name##_algorithm, params, bytes);                       \
    }                                                                                             \
    cubc_status cubc_##name(cubc_device *device, const cubc_##name##_params *params, void *temp,  \
                            size_t temp_bytes, cubc_stream stream)                                \
    {                                                                                             \
        return public_run(device, &name##_algorithm, params, temp, temp_bytes, stream);           \
    }
#include "run/list.def"
#undef ALGORITHM
