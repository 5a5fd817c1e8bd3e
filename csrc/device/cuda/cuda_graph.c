// Recordings of the CUDA device: what is queued on a stream is captured into a graph, and replayed
// by one call. Messages on a stream of their own (cuda_nccl.c) keep its priority.
#define _POSIX_C_SOURCE 200809L
#include "device/cuda/device_cuda.h"

struct device_recording {
    cudaGraphExec_t graph;
};

cubc_status cuda_graph_record(cubc_device *device, void *stream)
{
    bool pushed;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = RUNTIME(cuda.cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
                             "cudaStreamBeginCapture");
    cuda_context_leave(pushed);
    return st;
}

// recording: NULL if there was no memory for it. The capture ends in any case, without which the
// stream would take no other work.
static cubc_status end_capture(void *stream, device_recording *recording)
{
    cudaGraph_t graph = NULL;
    cubc_status st = RUNTIME(cuda.cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    if (!st && recording)
        st = RUNTIME(cuda.cudaGraphInstantiateWithFlags(&recording->graph, graph,
                                                        cudaGraphInstantiateFlagUseNodePriority),
                     "cudaGraphInstantiateWithFlags");
    if (graph && cuda.cudaGraphDestroy(graph)) cuda.cudaGetLastError();
    return st || recording ? st : CUBC_NO_MEMORY;
}

cubc_status cuda_graph_end(cubc_device *device, void *stream, device_recording **out)
{
    bool pushed;
    *out = NULL;
    device_recording *recording = mem_zalloc(1, sizeof *recording);
    cubc_status st = cuda_context_enter((cuda_device *)device, &pushed);
    if (!st) {
        st = end_capture(stream, recording);
        cuda_context_leave(pushed);
    }
    if (st)
        mem_free(recording);
    else
        *out = recording;
    return st;
}

cubc_status cuda_graph_replay(cubc_device *device, device_recording *recording, void *stream)
{
    bool pushed;
    TRY(cuda_context_enter((cuda_device *)device, &pushed));
    cubc_status st = RUNTIME(cuda.cudaGraphLaunch(recording->graph, stream), "cudaGraphLaunch");
    cuda_context_leave(pushed);
    return st;
}

void cuda_graph_free(cubc_device *device, device_recording *recording)
{
    bool pushed;
    if (!recording) return;
    if (!cuda_context_enter((cuda_device *)device, &pushed)) {
        if (cuda.cudaGraphExecDestroy(recording->graph)) cuda.cudaGetLastError();
        cuda_context_leave(pushed);
    }
    mem_free(recording);
}
