// Instances: variants compiled and loaded on a device.
#include "run/instance.h"

#include "run/expression.h"
#include "run/instance_key.h"

#include <stdio.h>
#include <string.h>

static const double COMPILE_SECONDS = 300; // far beyond any kernel; an expression can be anything

// ---- opening ------------------------------------------------------------------------------------
static cubc_status find_kernels(instance *i)
{
    const device_api *api = i->device->api;
    unsigned threads = (unsigned)instance_value(i, "tpb", 1);
    const algorithm *a = i->key.algorithm;
    const char *const *names = algorithm_kernels(a, i->device->info.arch, threads);
    for (int k = 0; k < MAX_KERNELS && names[k]; k++) {
        if (k > 0 && a->has_kernel && !a->has_kernel(&i->key, k)) continue;
        TRY(api->kernel(i->device, i->module, names[k], threads, &i->kernels[k]));
        if (i->kernels[k].info.blocks_per_sm < 1)
            FAIL(
                CUBC_NO_RESOURCES,
                "%s %s: a block of %u threads with %d registers each does not fit a multiprocessor",
                i->key.benchmark, i->label, threads, i->kernels[k].info.registers);
    }
    return CUBC_OK;
}

// Names the source in errors of the compiler: by the caller's texts, whichever variant has them, or
// by the variant.
static void name_source(const problem *p, const instance *i, char *title, size_t size)
{
    const char *equal = p->text_count == 1 ? p->texts[0] : NULL; // problem_take_equal
    const char *all[] = {p->expression, equal, p->lazy_count ? p->lazy[0].expression : NULL};
    const char *shown[COUNT_OF(all) + 1] = {0};
    for (size_t k = 0, n = 0; k < COUNT_OF(all); k++)
        if (all[k]) shown[n++] = all[k];
    if (shown[1])
        snprintf(title, size, "the expression '%.100s', or '%.100s',", shown[0], shown[1]);
    else if (shown[0])
        snprintf(title, size, "the expression '%.100s'", shown[0]);
    else
        snprintf(title, size, "%s %s", i->key.benchmark, i->label);
}

static cubc_status check_text(const char *expression)
{
    const char *why = expression ? expression_reaches_out(expression) : NULL;
    if (why)
        FAIL(CUBC_COMPILE_ERROR, "the expression '%.100s' does not compile: %s", expression, why);
    return CUBC_OK;
}

static cubc_status check_texts(const problem *p)
{
    TRY(check_text(p->expression));
    for (int k = 0; k < p->text_count; k++) TRY(check_text(p->texts[k]));
    for (int k = 0; k < p->lazy_count; k++) TRY(check_text(p->lazy[k].expression));
    return CUBC_OK;
}

// Says which names there are, where the compiler says that one of a caller's text is not.
static void advise(const problem *p)
{
    static const char *const unknown[] = {"was not declared in this scope", // g++, clang, NVRTC
                                          "undeclared identifier", "is undefined"};
    bool is_unknown = false;
    for (size_t k = 0; k < COUNT_OF(unknown); k++)
        is_unknown = is_unknown || strstr(cubc_error_message(), unknown[k]);
    if (is_unknown && (p->expression || p->text_count || p->lazy_count))
        error_suffix(
            "; operators know the names a and b, conditions x and i, expressions i and the "
            "operands that are given by name");
}

cubc_status instance_open(cubc_device *device, const problem *p, const char *label, instance **out)
{
    const char *arch = device->info.arch;
    char workload_hash[65], title[MAX_LABEL + 64];
    text source = {0};
    cubc_status st;
    instance *i = mem_zalloc(1, sizeof *i);
    if (!i) return CUBC_NO_MEMORY;
    i->device = device;
    i->serial = serial_number();
    GUARD(st, instance_key_copy(p, &i->key), done);
    GUARD(st, check_texts(p), done);
    GUARD(st, algorithm_variant(p, arch, label, &i->space, &i->variant, i->label), done);
    GUARD(st, algorithm_source(p, arch, &i->space, &i->variant, &source, workload_hash), done);
    name_source(p, i, title, sizeof title);
    st = variant_load(device, source.data, title, COMPILE_SECONDS, &i->module);
    if (st == CUBC_COMPILE_ERROR) advise(p);
    if (!st) st = find_kernels(i);
done:
    text_free(&source);
    if (st) {
        instance_close(i);
        i = NULL;
    }
    *out = i;
    return st;
}

void instance_close(instance *i)
{
    if (!i) return;
    if (i->module) i->device->api->unload(i->device, i->module);
    instance_key_free(&i->key);
    mem_free(i);
}
