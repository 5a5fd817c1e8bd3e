// What a plain CUDA kernel takes, read from the words that kernels/entry.h compiles beside it.
#include "device.h"

static bool is_kind(uint32_t kind)
{
    return kind == TYPE_POINTER || kind == TYPE_SIGNED || kind == TYPE_UNSIGNED ||
           kind == TYPE_FLOAT || kind == TYPE_BYTES;
}

cubc_status device_signature(const char *name, const uint32_t *words, size_t count,
                             device_kernel *out)
{
    size_t at = 0;
    if (count == 0 || (words[0] <= MAX_KERNEL_ARGUMENTS && words[0] != count - 1))
        FAIL(CUBC_DEVICE_ERROR, "the arguments of %s cannot be read from its code", name);
    if (words[0] > MAX_KERNEL_ARGUMENTS)
        FAIL(CUBC_NO_RESOURCES, "%s takes more than %d arguments", name, MAX_KERNEL_ARGUMENTS);
    for (uint32_t i = 0; i < words[0]; i++) {
        uint32_t kind = words[i + 1] >> 24;
        size_t align = words[i + 1] >> 16 & 0xff, size = words[i + 1] & 0xffff;
        if (!is_kind(kind) || align == 0 || (align & (align - 1)))
            FAIL(CUBC_DEVICE_ERROR, "argument %u of %s cannot be passed: its type is unknown",
                 i + 1, name);
        at = (at + align - 1) & ~(align - 1);
        out->arguments[i] = (argument_type){(argument_kind)kind, at, size};
        at += size;
    }
    if (at > MAX_ARGUMENT_BYTES)
        FAIL(CUBC_NO_RESOURCES, "the arguments of %s take %zu bytes, at most %d can be passed",
             name, at, MAX_ARGUMENT_BYTES);
    out->plain = true;
    out->argument_count = (int)words[0];
    out->info.args_bytes = (int64_t)at;
    return CUBC_OK;
}
