// Signatures of plain CUDA kernels, for checking a call's arguments. After the user's source the
// core appends KERNEL_ENTRY(name) for each of its kernels. It encodes the kinds and sizes of the
// kernel's parameters as words that the core reads from the compiled variant (device_signature in
// csrc/device/device_signature.c). So an int passed for a pointer, or an array of doubles for a
// pointer to float, is an error that names the parameter, and a Python number is converted to the
// parameter's type.
#pragma once

namespace cubc_entry
{
template <class T>
struct kind {
    static constexpr unsigned value = 's';
};
template <class T>
struct kind<T*> {
    static constexpr unsigned value = 'p';
};
#define KIND_OF(type, letter)                       \
    template <>                                     \
    struct kind<type> {                             \
        static constexpr unsigned value = (letter); \
    };
KIND_OF(float, 'f')
KIND_OF(double, 'f')
KIND_OF(char, static_cast<char>(-1) < 0 ? 'i' : 'u')
KIND_OF(signed char, 'i')
KIND_OF(short, 'i')
KIND_OF(int, 'i')
KIND_OF(long, 'i')
KIND_OF(long long, 'i')
KIND_OF(bool, 'u')
KIND_OF(unsigned char, 'u')
KIND_OF(unsigned short, 'u')
KIND_OF(unsigned, 'u')
KIND_OF(unsigned long, 'u')
KIND_OF(unsigned long long, 'u')
#undef KIND_OF

// Size of a type; 0 for an incomplete type, whose size is unknown, and for 64 KiB or more, which
// does not fit the word.
template <unsigned long>
struct exists {
    typedef void type;
};
template <class T, class = void>
struct bytes {
    static constexpr unsigned value = 0;
};
template <class T>
struct bytes<T, typename exists<sizeof(T)>::type> {
    static constexpr unsigned value = sizeof(T) < 0x10000 ? sizeof(T) : 0;
};

// Word of a parameter: its kind, alignment and size. For a pointer: the kind and size of the type
// it points to, and 'c' instead of 'p' if that is const.
template <class T>
struct parameter {
    static constexpr unsigned word = kind<T>::value << 24 | alignof(T) << 16 | sizeof(T);
};
template <class T>
struct parameter<T*> {
    static constexpr unsigned word = 'p' << 24 | kind<T>::value << 16 | bytes<T>::value;
};
template <class T>
struct parameter<const T*> {
    static constexpr unsigned word = 'c' << 24 | kind<T>::value << 16 | bytes<T>::value;
};

template <unsigned COUNT>
struct words {
    unsigned word[COUNT];
};
template <class F>
struct signature;
template <class... A>
struct signature<void(A...)> {
    static constexpr words<1 + sizeof...(A)> value = {{sizeof...(A), parameter<A>::word...}};
};
} // namespace cubc_entry

#if defined(SIMT_CUDA)
#define KERNEL_ENTRY(name)                                                                 \
    extern "C" {                                                                           \
    __device__ cubc_entry::words<cubc_entry::signature<decltype(name)>::value.word[0] + 1> \
        name##_signature = cubc_entry::signature<decltype(name)>::value;                   \
    }
#else
namespace cubc_entry
{
// Arguments that the CPU's back end passes to an entry; the same struct as plain_frame in
// csrc/device/cpu/device_cpu.c.
struct frame {
    unsigned grid[3], block[3];
    unsigned long long unused;
    alignas(32) unsigned char args[1];
};
template <class... A>
struct call {
    call(void (*kernel)(A...), A... arguments) { kernel(arguments...); }
};
template <class T>
T& take(unsigned char* args, unsigned& at)
{
    at = (at + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T);
    return *reinterpret_cast<T*>(args + at - sizeof(T));
}
// Calls the kernel with its arguments from the frame. Braces evaluate from left to right.
template <class... A>
void unpack(void (*kernel)(A...), frame* f)
{
    unsigned at = 0;
    call<A...>{kernel, take<A>(f->args, at)...};
    (void)at;
}
} // namespace cubc_entry

#define KERNEL_ENTRY(name)                                                                       \
    extern "C" {                                                                                 \
    __attribute__((visibility(                                                                   \
        "default"))) cubc_entry::words<cubc_entry::signature<decltype(name)>::value.word[0] + 1> \
        name##_signature = cubc_entry::signature<decltype(name)>::value;                         \
    __attribute__((visibility("default"))) void name##_entry(cubc_entry::frame* cubc_frame,      \
                                                             void* cubc_shared)                  \
    {                                                                                            \
        cubc_cuda::begin(cubc_frame, cubc_shared);                                               \
        cubc_entry::unpack(::name, cubc_frame);                                                  \
    }                                                                                            \
    }
#endif
