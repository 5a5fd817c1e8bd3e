// The primary context of a CUDA device made current: see cuda_context.h.
#include "device/cuda/cuda_context.h"

cubc_status cuda_context_enter(const cuda_device *d, bool *pushed)
{
    CUcontext current = NULL;
    *pushed = false;
    TRY(DRIVER(cuda.cuCtxGetCurrent(&current), "cuCtxGetCurrent"));
    if (current == d->context) return CUBC_OK;
    TRY(DRIVER(cuda.cuCtxPushCurrent_v2(d->context), "cuCtxPushCurrent"));
    *pushed = true;
    return CUBC_OK;
}

void cuda_context_leave(bool pushed)
{
    CUcontext ours;
    if (pushed) cuda.cuCtxPopCurrent_v2(&ours);
}

void cuda_capture_exchange(int *mode)
{
    cuda.cudaThreadExchangeStreamCaptureMode(mode);
}

cubc_status cuda_enter_aside(const cuda_device *device, cuda_visit *v)
{
    v->mode = cudaStreamCaptureModeRelaxed;
    TRY(cuda_context_enter(device, &v->pushed));
    cuda_capture_exchange(&v->mode);
    return CUBC_OK;
}

void cuda_leave_aside(cuda_visit *v)
{
    cuda_capture_exchange(&v->mode);
    cuda_context_leave(v->pushed);
}
