// CUDA as seen from cubc: the few types, enumerators and functions that the CUDA device uses, all
// resolved at run time.
//
// Nothing of CUDA is needed to build, and a machine without a GPU can still compile kernels (NVRTC
// needs no driver). The declarations below restate CUDA's C ABI, which is stable within and across
// 12.x and 13.x: results are ints, handles are opaque pointers, driver entry points carry the
// version suffix that CUDA's own header maps them to.
//
// After cuda_api_runtime_ready or cuda_api_compiler_ready has succeeded the matching members of
// `cuda` never change again, so they are called without a lock.
#ifndef CUBC_CUDA_API_H
#define CUBC_CUDA_API_H

#include "base/base.h"

typedef int cudaError_t;
typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *cudaStream_t; // the same object as a CUstream
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct cudaIpcMemHandle_t {
    char reserved[64];
} cudaIpcMemHandle_t;
typedef struct CUuuid {
    unsigned char bytes[16];
} CUuuid;

enum { // results; runtime and driver agree on these numbers
    CUDA_SUCCESS = 0,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_STUB_LIBRARY = 34,
    CUDA_ERROR_INSUFFICIENT_DRIVER = 35, // of the runtime only
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715,
    CUDA_ERROR_MISALIGNED_ADDRESS = 716,
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717,
    CUDA_ERROR_INVALID_PC = 718,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
};
enum { // cudaDeviceAttr
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrEccEnabled = 32,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMemoryPoolsSupported = 115,
};
enum { // CUfunction_attribute
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
};
enum {
    cudaMemcpyDefault = 4,
    cudaStreamDefault = 0,
    cudaStreamNonBlocking = 1,
    cudaStreamCaptureStatusActive = 1,
    cudaStreamCaptureModeRelaxed = 2,
    cudaEventDefault = 0,
    cudaEventDisableTiming = 2,
    cudaGraphInstantiateFlagUseNodePriority = 8,
    cudaHostAllocMapped = 2,
    cudaIpcMemLazyEnablePeerAccess = 1,
    cudaMemAllocationTypePinned = 1,
    cudaMemLocationTypeDevice = 1,
    cudaMemPoolAttrReleaseThreshold = 4,
    CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
    CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
    CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
    CU_MEMORYTYPE_HOST = 1,
    CU_MEMORYTYPE_DEVICE = 2,
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_CANCELLED = 16,
};

typedef struct cudaMemPoolProps {
    int allocType;
    int handleTypes;
    struct {
        int type, id;
    } location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} cudaMemPoolProps;
_Static_assert(sizeof(cudaMemPoolProps) == 88, "CUDA's cudaMemPoolProps has 88 bytes");

enum {
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};
typedef union CUlaunchAttributeValue {
    char pad[64];
    struct {
        unsigned x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
} CUlaunchAttributeValue;
typedef struct CUlaunchAttribute {
    int id;
    char pad[4];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;
typedef struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    cudaStream_t hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
_Static_assert(sizeof(CUlaunchConfig) == 56, "CUDA's CUlaunchConfig has 56 bytes");
_Static_assert(sizeof(CUlaunchAttribute) == 72, "CUDA's CUlaunchAttribute has 72 bytes");

typedef struct _nvrtcProgram *nvrtcProgram;

// required(result, name, parameters) must be there; optional(...) may be NULL.
// clang-format off
#define CUDA_DRIVER_TABLE(required, optional)                                                     \
    required(CUresult, cuInit, (unsigned flags))                                                  \
    required(CUresult, cuDriverGetVersion, (int *version))                                        \
    required(CUresult, cuGetErrorName, (CUresult code, const char **name))                        \
    required(CUresult, cuGetErrorString, (CUresult code, const char **text))                      \
    required(CUresult, cuDeviceGet, (CUdevice *device, int ordinal))                              \
    required(CUresult, cuDeviceGetName, (char *name, int size, CUdevice device))                  \
    required(CUresult, cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device))                       \
    required(CUresult, cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device))                     \
    required(CUresult, cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device))           \
    required(CUresult, cuDevicePrimaryCtxRelease_v2, (CUdevice device))                           \
    required(CUresult, cuCtxGetCurrent, (CUcontext *context))                                     \
    required(CUresult, cuCtxSynchronize, (void))                                                  \
    required(CUresult, cuCtxPushCurrent_v2, (CUcontext context))                                  \
    required(CUresult, cuCtxPopCurrent_v2, (CUcontext *context))                                  \
    required(CUresult, cuPointerGetAttributes,                                                    \
             (unsigned count, int *attributes, void **values, CUdeviceptr pointer))               \
    required(CUresult, cuStreamQuery, (cudaStream_t stream))                                      \
    required(CUresult, cuEventQuery, (cudaEvent_t event))                                         \
    required(CUresult, cuStreamGetId, (cudaStream_t stream, unsigned long long *id))              \
    required(CUresult, cuModuleLoadData, (CUmodule *module, const void *image))                   \
    required(CUresult, cuModuleUnload, (CUmodule module))                                         \
    required(CUresult, cuModuleGetFunction,                                                       \
             (CUfunction *function, CUmodule module, const char *name))                           \
    required(CUresult, cuModuleGetGlobal_v2,                                                      \
             (CUdeviceptr *pointer, size_t *bytes, CUmodule module, const char *name))            \
    required(CUresult, cuFuncGetAttribute, (int *value, int attribute, CUfunction function))      \
    required(CUresult, cuFuncSetAttribute, (CUfunction function, int attribute, int value))       \
    required(CUresult, cuOccupancyMaxActiveBlocksPerMultiprocessor,                               \
             (int *blocks, CUfunction function, int threads, size_t dynamic_shared))              \
    required(CUresult, cuOccupancyMaxActiveClusters,                                              \
             (int *clusters, CUfunction function, const CUlaunchConfig *config))                  \
    required(CUresult, cuLaunchKernelEx,                                                          \
             (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)) \
    optional(CUresult, cuFuncLoad, (CUfunction function)) /* since 12.4 */

#define CUDA_RUNTIME_TABLE(required, optional)                                                    \
    required(cudaError_t, cudaRuntimeGetVersion, (int *version))                                  \
    required(cudaError_t, cudaGetDeviceCount, (int *count))                                       \
    required(cudaError_t, cudaGetLastError, (void))                                               \
    required(const char *, cudaGetErrorName, (cudaError_t code))                                  \
    required(const char *, cudaGetErrorString, (cudaError_t code))                                \
    required(cudaError_t, cudaDeviceGetAttribute, (int *value, int attribute, int device))        \
    required(cudaError_t, cudaMalloc, (void **pointer, size_t bytes))                             \
    required(cudaError_t, cudaFree, (void *pointer))                                              \
    required(cudaError_t, cudaHostAlloc, (void **pointer, size_t bytes, unsigned flags))          \
    required(cudaError_t, cudaHostGetDevicePointer,                                               \
             (void **device, void *host, unsigned flags))                                         \
    required(cudaError_t, cudaFreeHost, (void *pointer))                                          \
    optional(cudaError_t, cudaDeviceEnablePeerAccess, (int peer, unsigned flags))                 \
    optional(cudaError_t, cudaIpcGetMemHandle, (cudaIpcMemHandle_t * handle, void *pointer))      \
    optional(cudaError_t, cudaIpcOpenMemHandle,                                                   \
             (void **pointer, cudaIpcMemHandle_t handle, unsigned flags))                         \
    optional(cudaError_t, cudaIpcCloseMemHandle, (void *pointer))                                 \
    required(cudaError_t, cudaMemPoolCreate,                                                      \
             (cudaMemPool_t *pool, const cudaMemPoolProps *properties))                           \
    required(cudaError_t, cudaMemPoolDestroy, (cudaMemPool_t pool))                               \
    required(cudaError_t, cudaMemPoolSetAttribute,                                                \
             (cudaMemPool_t pool, int attribute, void *value))                                    \
    required(cudaError_t, cudaMallocFromPoolAsync,                                                \
             (void **pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream))             \
    required(cudaError_t, cudaFreeAsync, (void *pointer, cudaStream_t stream))                    \
    required(cudaError_t, cudaMemcpyAsync,                                                        \
             (void *to, const void *from, size_t bytes, int kind, cudaStream_t stream))           \
    required(cudaError_t, cudaMemsetAsync,                                                        \
             (void *to, int byte, size_t bytes, cudaStream_t stream))                             \
    required(cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t *stream, unsigned flags))      \
    required(cudaError_t, cudaStreamCreateWithPriority,                                           \
             (cudaStream_t *stream, unsigned flags, int priority))                                \
    required(cudaError_t, cudaStreamDestroy, (cudaStream_t stream))                               \
    required(cudaError_t, cudaStreamSynchronize, (cudaStream_t stream))                           \
    required(cudaError_t, cudaStreamIsCapturing, (cudaStream_t stream, int *status))              \
    required(cudaError_t, cudaThreadExchangeStreamCaptureMode, (int *mode))                       \
    required(cudaError_t, cudaStreamBeginCapture, (cudaStream_t stream, int mode))                \
    required(cudaError_t, cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph))        \
    required(cudaError_t, cudaGraphInstantiateWithFlags,                                          \
             (cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags))          \
    required(cudaError_t, cudaGraphLaunch, (cudaGraphExec_t executable, cudaStream_t stream))     \
    required(cudaError_t, cudaGraphExecDestroy, (cudaGraphExec_t executable))                     \
    required(cudaError_t, cudaGraphDestroy, (cudaGraph_t graph))                                  \
    required(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t *event, unsigned flags))         \
    required(cudaError_t, cudaEventDestroy, (cudaEvent_t event))                                  \
    required(cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream))              \
    required(cudaError_t, cudaStreamWaitEvent,                                                    \
             (cudaStream_t stream, cudaEvent_t event, unsigned flags))                            \
    required(cudaError_t, cudaEventElapsedTime,                                                   \
             (float *milliseconds, cudaEvent_t start, cudaEvent_t stop))

#define CUDA_NVRTC_TABLE(required, optional)                                                      \
    required(int, nvrtcVersion, (int *major, int *minor))                                         \
    required(const char *, nvrtcGetErrorString, (int code))                                       \
    required(int, nvrtcGetNumSupportedArchs, (int *count))                                        \
    required(int, nvrtcGetSupportedArchs, (int *archs))                                           \
    required(int, nvrtcCreateProgram,                                                             \
             (nvrtcProgram *program, const char *source, const char *name, int headers,           \
              const char *const *header_texts, const char *const *header_names))                  \
    required(int, nvrtcDestroyProgram, (nvrtcProgram *program))                                   \
    required(int, nvrtcCompileProgram,                                                            \
             (nvrtcProgram program, int count, const char *const *options))                       \
    required(int, nvrtcGetCUBINSize, (nvrtcProgram program, size_t *size))                        \
    required(int, nvrtcGetCUBIN, (nvrtcProgram program, char *cubin))                             \
    required(int, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t *size))                   \
    required(int, nvrtcGetProgramLog, (nvrtcProgram program, char *log))                          \
    optional(int, nvrtcSetFlowCallback, /* since 12.8 */                                          \
             (nvrtcProgram program, int (*callback)(void *, void *), void *payload))
// clang-format on

typedef struct cuda_functions {
#define CUDA_MEMBER(result, name, parameters) result(*name) parameters;
    CUDA_DRIVER_TABLE(CUDA_MEMBER, CUDA_MEMBER)
    CUDA_RUNTIME_TABLE(CUDA_MEMBER, CUDA_MEMBER)
    CUDA_NVRTC_TABLE(CUDA_MEMBER, CUDA_MEMBER)
#undef CUDA_MEMBER
    int driver_version, runtime_version; // as CUDA counts: 13000 is 13.0
    int nvrtc_major, nvrtc_minor;
} cuda_functions;
extern cuda_functions cuda;

// File names of the two libraries where a package manager keeps them (NULL: not known). Call it
// before the first use of a device; CUBC_CUDART and CUBC_NVRTC in the environment stand in for it.
void cuda_api_set_paths(const char *cudart, const char *nvrtc);

// The same of NCCL, which is loaded when messages are sent for the first time; CUBC_NCCL.
void cuda_nccl_set_path(const char *path);

// Driver and runtime are loaded, or CUBC_NO_DEVICE with a sentence that says what to install;
// CUBC_IO_ERROR where it is a file of CUBC_CUDART or CUBC_NVRTC that a driver cannot be used with.
cubc_status cuda_api_runtime_ready(void);
// NVRTC is loaded (no driver needed), or CUBC_NO_DEVICE with a sentence that says what to install.
cubc_status cuda_api_compiler_ready(void);

// CUBC_OK for code 0; else the thread's last error becomes "call: NAME (text)" and the status that
// fits the code. `format` names the call with the arguments that matter.
cubc_status cuda_api_check_runtime(const char *file, int line, cudaError_t code, const char *format,
                                   ...) PRINTF_LIKE(4, 5);
cubc_status cuda_api_check_driver(const char *file, int line, CUresult code, const char *format,
                                  ...) PRINTF_LIKE(4, 5);
#define RUNTIME(code, ...) cuda_api_check_runtime(__FILE__, __LINE__, (code), __VA_ARGS__)
#define DRIVER(code, ...) cuda_api_check_driver(__FILE__, __LINE__, (code), __VA_ARGS__)

#endif
