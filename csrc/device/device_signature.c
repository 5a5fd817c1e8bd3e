// The arguments of a plain CUDA kernel, from the words that kernels/dialect/entry.h compiles beside
// it.
#include "base/integer.h"
#include "device/device.h"

enum { CONSTANT_POINTER = 'c' };

static bool is_kind(uint32_t kind)
{
    return kind == TYPE_SIGNED || kind == TYPE_UNSIGNED || kind == TYPE_FLOAT || kind == TYPE_BYTES;
}

static argument_type pointer_type(uint32_t word)
{
    return (argument_type){.kind = TYPE_POINTER,
                           .size = sizeof(void *),
                           .item = (argument_kind)(word >> 16 & 0xff),
                           .item_size = word & 0xffff,
                           .constant = word >> 24 == CONSTANT_POINTER};
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
        uint32_t word = words[i + 1], kind = word >> 24;
        bool pointer = kind == TYPE_POINTER || kind == CONSTANT_POINTER;
        size_t align = pointer ? sizeof(void *) : word >> 16 & 0xff;
        if ((!pointer && !is_kind(kind)) || align == 0 || (align & (align - 1)))
            FAIL(CUBC_DEVICE_ERROR, "argument %u of %s cannot be passed: its type is unknown",
                 i + 1, name);
        argument_type *type = &out->arguments[i];
        *type = pointer ? pointer_type(word)
                        : (argument_type){.kind = (argument_kind)kind, .size = word & 0xffff};
        type->at = round_up(at, align);
        at = type->at + type->size;
    }
    if (at > MAX_ARGUMENT_BYTES)
        FAIL(CUBC_NO_RESOURCES, "the arguments of %s take %zu bytes, at most %d can be passed",
             name, at, MAX_ARGUMENT_BYTES);
    out->plain = true;
    out->argument_count = (int)words[0];
    out->info.args_bytes = (int64_t)at;
    return CUBC_OK;
}
