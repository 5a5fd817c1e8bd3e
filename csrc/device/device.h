// The device contract: what the rest of the core may ask of a machine that runs kernels.
//
// Two back-ends fill the table: cuda/ (CUDA runtime, driver and NVRTC, found at run time) and cpu/
// (the same kernels compiled by the host's C++ compiler). Nothing outside those two folders knows
// which one it talks to, except by reading `info`.
//
// Threads: every function may be called from any thread. Compilation needs no open device.
#ifndef CUBC_DEVICE_H
#define CUBC_DEVICE_H

#include "base/base.h"

#include <stdatomic.h>
#include <string.h>

typedef struct device_info {
    char name[16];     // "cuda:0", "cpu"
    char kind[8];      // "cuda", "cpu"
    char model[128];   // "NVIDIA H200", "Intel(R) Xeon(R) ..."
    char uuid[48];     // of the physical device; on the cpu a hash of model, cores and host id
    char arch[24];     // target of the compiler: "sm_90", "cpu"
    char compiler[96]; // "NVRTC 13.0", "g++ 12.2.0"; part of every cache key
    char driver[32];   // "580.159.03 (CUDA 13.0)"; on the cpu the kernel release
    char runtime[32];  // "13.0"; on the cpu "-"
    int sm_count;      // multiprocessors; worker threads on the cpu
    int warp_size;     // 32
    int max_threads;   // in a block: 1024
    int threads_per_sm;
    int64_t shared_bytes_per_block; // most that a launch may ask for (opt-in maximum)
    int64_t shared_bytes_per_sm;
    int64_t l2_bytes;
    int64_t memory_bytes;
    int64_t clock_khz;        // maximum; 0 if unknown
    int64_t memory_clock_khz; // 0 if unknown
    int bus_bits;             // 0 if unknown
    int ecc;                  // 1 on, 0 off, -1 unknown
} device_info;

// True of the CPU's kind and of its architecture, which have one name.
static inline bool device_is_cpu(const char *kind)
{
    return strcmp(kind, "cpu") == 0;
}

typedef struct binary { // a compiled variant; owned by whoever received it
    uint8_t *data;
    size_t size;
} binary;

typedef struct compile_request {
    const char *source; // complete text: no #include is left in it
    const char *label;  // shown in messages: "reduce.cu ipt_16.tpb_256"
    const char *arch;   // "sm_90"; "cpu"
    double deadline_s;  // 0: none. Past it the compilation is abandoned with CUBC_TIMEOUT
} compile_request;

// True if a source forbids that a product and a sum become one step, which is rounded once: by the
// line "#define SIMT_ROUNDED 1". Where neither is, results depend on what a compiler finds.
bool device_source_rounds(const char *source);

// Appends the options that a source asks for, a space in front of each: those in lines that begin
// with "// %OPTION% ". One of other characters than an option's is CUBC_INVALID_ARGUMENT.
cubc_status device_source_options(const char *source, text *out);

enum { TARGET_BYTES = 72 }; // of the name of what code is made for

typedef struct device_module device_module; // a loaded binary
typedef struct device_event device_event;
typedef struct device_recording device_recording; // launches to be replayed

typedef struct kernel_info {
    int registers;        // a thread; 0 on the cpu
    int local_bytes;      // a thread: spills and stack; 0 on the cpu
    int64_t shared_bytes; // a block: what the kernel's shared-storage struct takes
    int64_t args_bytes;   // of the kernel's argument struct
    int max_threads;      // a block may have, given its registers
    int blocks_per_sm;    // resident at once with `threads` threads each (occupancy)
} kernel_info;

enum { MAX_KERNEL_ARGUMENTS = 32, MAX_ARGUMENT_BYTES = 4096 };

// The kind of one of a kernel's arguments.
typedef enum argument_kind {
    TYPE_POINTER = 'p',
    TYPE_SIGNED = 'i',
    TYPE_UNSIGNED = 'u',
    TYPE_FLOAT = 'f',
    TYPE_BYTES = 's' // a struct, an enumeration
} argument_kind;
typedef struct argument_type {
    argument_kind kind;
    size_t at, size; // in the launch's args
    // The type that a pointer points to: TYPE_BYTES if that is no number.
    argument_kind item;
    size_t item_size;
    bool constant; // it is const, so the kernel does not write it
} argument_type;

enum { CLUSTER_BLOCKS = 16 }; // as in kernels/grid/cluster.h

// One kernel of a loaded module with everything a launch needs; owned by its module.
typedef struct device_kernel {
    void *function;
    const void *code; // on the cpu, the instructions of its module
    size_t code_bytes;
    bool may_trap;      // a division of integers may be among them
    unsigned threads;   // in a block; fixed by the variant
    unsigned allocated; // bytes of shared storage that each launch has to ask for
    kernel_info info;
    unsigned cluster; // the most of its blocks that can run as one, up to CLUSTER_BLOCKS
    unsigned clusters_at_once[CLUSTER_BLOCKS + 1]; // how many of so many blocks run at once
    // A kernel of the dialect takes one struct; a plain CUDA kernel (kernels/dialect/entry.h) takes
    // any arguments, laid out in the launch's args like the members of a struct.
    bool plain;
    int argument_count;
    argument_type arguments[MAX_KERNEL_ARGUMENTS];
} device_kernel;

typedef struct launch_shape {
    unsigned grid;             // blocks, in the x direction
    unsigned grid_y, grid_z;   // 0: 1
    unsigned block_y, block_z; // extents of a block of the kernel's `threads`; 0: 1
    unsigned shared;           // bytes of shared storage besides the kernel's own
    // Launch attributes; 0 and false: none.
    unsigned cluster; // blocks that run at once and share their shared memory; divides the grid.
                      // cuda, compute capability 9.0 and up; else CUBC_NO_RESOURCES
    bool early;       // may start when the kernel before it on the stream allows it, not only when
                      // that one has ended (programmatic dependent launch); no promise
} launch_shape;

// Names memory that devices of several processes share; opaque, and all zero if there is none.
typedef struct device_card {
    unsigned char bytes[160];
} device_card;

static inline unsigned launch_extent(unsigned given)
{
    return given ? given : 1;
}

// A step of the host between two launches, such as moving messages. Its arguments are copied.
enum { STEP_ARGS = 6 };
typedef struct host_step {
    cubc_status (*take)(const uint64_t args[STEP_ARGS], void *stream); // NULL: there is none
    uint64_t args[STEP_ARGS];
} host_step;

typedef struct messenger messenger; // messenger.h
enum { MESSENGER_ID_BYTES = 128 };

typedef struct device_api {
    const char *kind;
    // Counts the usable devices of this kind; *why says in a sentence why not when it is 0.
    int (*count)(const char **why);
    // The index of the device whose kernels reach the memory at this very address: the device's
    // own, managed, and registered host memory. -1: there is none. *whole: all of the
    // bytes from there on are in it.
    int (*index_of)(const void *pointer, size_t bytes, bool *whole);
    cubc_status (*open)(int index, cubc_device **out);
    void (*close)(cubc_device *device);

    // Stream-ordered memory. Alignment is at least 256 bytes. bytes may be 0 (gives a valid
    // pointer).
    cubc_status (*alloc)(cubc_device *device, size_t bytes, void *stream, void **out);
    void (*free)(cubc_device *device, void *pointer, void *stream);
    // Either side may be host or device memory. Asynchronous only device to device.
    cubc_status (*copy)(cubc_device *device, void *to, const void *from, size_t bytes,
                        void *stream);
    cubc_status (*fill)(cubc_device *device, void *to, int byte, size_t bytes, void *stream);
    // Memory, zero at first, that a device of the same kind in another process of the host opens by
    // its card, up to share_end; where a process opens its own, devices reach each other's memory.
    // Each closes what it has, with the card that it was opened by or NULL.
    cubc_status (*share)(cubc_device *device, size_t bytes, device_card *card, void **out);
    void (*share_end)(cubc_device *device, device_card *card);
    cubc_status (*share_open)(cubc_device *device, const device_card *card, size_t bytes,
                              void **out);
    void (*share_close)(cubc_device *device, const device_card *card, void *memory, size_t bytes);
    // Messages between devices that share no memory, by a library of theirs; NULL: the host carries
    // them. One rank makes an id; NULL asks if it could. All open with it, and together: whoever
    // waits much longer than `seconds` fails.
    cubc_status (*messenger_id)(unsigned char id[MESSENGER_ID_BYTES]);
    cubc_status (*messenger_open)(cubc_device *device, const unsigned char id[MESSENGER_ID_BYTES],
                                  int rank, int size, double seconds, messenger **out);
    // Waits; polls interrupt_pending(). Reports faults of kernels that ran on the stream.
    cubc_status (*synchronize)(cubc_device *device, void *stream);
    // Work queued on `later` from now on waits for what is queued on `earlier` by now. Between a
    // stream that is being captured into a graph and one that is not there is no such order.
    cubc_status (*order)(cubc_device *device, void *later, void *earlier);
    bool (*is_capturing)(cubc_device *device, void *stream); // into a CUDA graph
    cubc_status (*stream_create)(cubc_device *device, void **out);
    void (*stream_destroy)(cubc_device *device, void *stream);
    // A number that no other stream of a GPU has in the device's lifetime: handles are used again.
    // On the cpu, where work is done when it was queued, it is the handle.
    uint64_t (*stream_id)(cubc_device *device, void *stream);

    cubc_status (*event_create)(cubc_device *device, device_event **out);
    void (*event_destroy)(cubc_device *device, device_event *event);
    cubc_status (*event_record)(cubc_device *device, device_event *event, void *stream);
    // Work queued on the stream from now on waits for the event.
    cubc_status (*event_wait)(cubc_device *device, device_event *event, void *stream);
    bool (*event_reached)(cubc_device *device, device_event *event); // or failed; does not wait
    // The host waits until the event is reached, as synchronize does.
    cubc_status (*event_synchronize)(cubc_device *device, device_event *event);
    // Both events must have been reached (synchronize first).
    cubc_status (*event_elapsed)(cubc_device *device, device_event *start, device_event *stop,
                                 double *seconds);

    // Compilation: no device needed, any number at once from any threads.
    cubc_status (*compile)(const compile_request *request, binary *out);
    cubc_status (*compiler)(char *name, size_t size); // "NVRTC 13.0"
    // Names what code is made for besides the architecture, and says if this machine runs such
    // code; needs no compiler. NULL: the architecture says it all.
    cubc_status (*target)(char name[TARGET_BYTES]);
    bool (*runs)(const char *target);
    // Says whether load could take the code, as far as can be told without a device; NULL: nothing
    // can.
    cubc_status (*check)(const binary *code);
    // CUBC_DEVICE_ERROR: not this code.
    cubc_status (*load)(cubc_device *device, const binary *code, device_module **out);
    void (*unload)(cubc_device *device, device_module *module);
    // `threads` is the block size that the variant was compiled for; occupancy is computed for it.
    cubc_status (*kernel)(cubc_device *device, device_module *module, const char *name,
                          unsigned threads, device_kernel *out);
    // Copies the arguments before it returns. Asynchronous on cuda, complete on return on cpu.
    cubc_status (*launch)(cubc_device *device, const device_kernel *kernel,
                          const launch_shape *shape, const void *args, size_t args_bytes,
                          void *stream);

    // Takes a step in the order of the launches around it. On the cpu it is done with them, at each
    // replay too. On cuda it is taken at once: what it queues on the stream keeps the order.
    cubc_status (*step)(cubc_device *device, const host_step *step, void *stream);

    // Work that this thread queues on a stream of stream_create between these two is not done but
    // recorded: launches of kernels that are loaded, steps, and fills. After a failure in between
    // there is still an end; it may fail as well. Kernels outlive the recording.
    cubc_status (*record)(cubc_device *device, void *stream);
    cubc_status (*record_end)(cubc_device *device, void *stream, device_recording **out);
    cubc_status (*replay)(cubc_device *device, device_recording *recording, void *stream);
    void (*recording_free)(cubc_device *device, device_recording *recording);

    // For measuring. flush evicts the last-level cache of the device (a no-op on the cpu, whose
    // callers find their arrays in cache); hold keeps a stream from starting what is queued after
    // it until release, so that launch latency stays out of an event interval.
    cubc_status (*flush)(cubc_device *device, void *stream);
    cubc_status (*hold)(cubc_device *device, void *stream);
    cubc_status (*release)(cubc_device *device);
    // The clock of the multiprocessors between two marks on a stream, 0 and 1, once both are
    // reached; 0: not known. clock_mark NULL: a device without such a clock.
    cubc_status (*clock_mark)(cubc_device *device, int which, void *stream);
    double (*clock_hertz)(cubc_device *device);
    // Temperature and power of the device, as of a moment ago; 0: not known. NULL: no sensors.
    void (*sensors)(cubc_device *device, double *celsius, double *watts);
    // Joules that the device has used since some moment in the past; 0: not known. NULL: no meter.
    double (*energy)(cubc_device *device);
} device_api;

// Back-ends embed this as their first member. `attached` belongs to run/table.c (its compiled
// variants and workspaces); `detach` is called with the device before it closes.
struct cubc_device {
    const device_api *api;
    device_info info;
    atomic_int references;
    void *attached;
    void (*detach)(cubc_device *device);
};

extern const device_api device_cuda_api;
extern const device_api device_cpu_api;

// True: a GPU is usable without NVRTC too, since code comes in bundles; CUBC_BUNDLE says the same.
void device_without_compiler(bool may_be);
// By name: "cuda:N", "cuda" (the first), "cpu", NULL (CUBC_DEVICE, else the first cuda, else cpu).
// Opening the same name twice gives the same device, counted.
cubc_status device_open(const char *name, cubc_device **out);
void device_retain(cubc_device *device);
void device_release(cubc_device *device);
int device_arch_number(const char *arch); // 90 of "sm_90" and "sm_90a", 0 of "cpu", else -1
const device_api *device_api_of_arch(const char *arch); // "sm_90": cuda; "cpu": cpu
// Reads the compiled `<name>_signature` of a plain kernel: the count of its arguments, then for
// each one word, the parameter<T>::word of kernels/dialect/entry.h.
cubc_status device_signature(const char *name, const uint32_t *words, size_t count,
                             device_kernel *out);
// All usable devices' names, e.g. "cuda:0\0cpu\0"; count of them returned.
int device_list(char names[][16], int capacity);
void binary_free(binary *code);

#endif
