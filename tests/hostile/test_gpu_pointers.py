"""Device arrays that lie about their memory: an error each, and the GPU is used on as before."""

import ctypes

import cudart
import inputs
import numpy as np
import pytest

import cubc

pytestmark = pytest.mark.gpu
GPU = "cuda:0"


class Lies:
    """An object whose __cuda_array_interface__ is what a test wants it to be."""

    def __init__(self, pointer, shape, typestr="<i4", **more):
        self.__cuda_array_interface__ = {
            "data": (pointer, False),
            "shape": shape,
            "typestr": typestr,
            "version": 3,
            **more,
        }


@pytest.fixture
def array():
    """An honest array; at the end its sum is right, so the context has not been poisoned."""
    x = inputs.random("I32", 5000)
    honest = cubc.asarray(x, device=GPU)
    yield honest
    cubc.synchronize(GPU)
    assert cubc.sum(honest).item() == x.sum()


def allocation(kind, *arguments):
    pointer = ctypes.c_void_p()
    cudart.call(kind, ctypes.byref(pointer), *arguments)
    return pointer.value


def use(lies):
    cubc.sum(lies).item()


def test_host_memory(array):
    x = np.ones(1000, "i4")
    with pytest.raises(ValueError, match="no CUDA device reaches"):
        use(Lies(x.ctypes.data, x.shape))
    with pytest.raises(ValueError, match="no CUDA device reaches"):
        cubc.scan(array, out=Lies(x.ctypes.data, x.shape))


def test_freed_memory(array):
    pointer = allocation("cudaMalloc", ctypes.c_size_t(64 << 20))
    cudart.call("cudaFree", ctypes.c_void_p(pointer))
    with pytest.raises(ValueError, match="it was freed"):
        use(Lies(pointer, (1000,)))


@pytest.mark.parametrize("pointer", [0, 1 << 12, 1 << 63, (1 << 64) - 4096])
def test_invented_addresses(array, pointer):
    with pytest.raises(ValueError, match="no CUDA device reaches"):
        use(Lies(pointer, (1000,)))


def test_misaligned_items(array):
    with pytest.raises(ValueError, match="aligned"):
        use(Lies(array.ptr + 2, (1000,), "<f8"))


def test_more_items_than_there_are(array):
    with pytest.raises(ValueError, match="its memory ends before"):
        use(Lies(array.ptr, (1 << 40,)))


def test_a_mask_is_refused(array):
    with pytest.raises(TypeError, match="mask"):
        use(Lies(array.ptr, (1000,), mask=array))


def test_dlpack_of_another_device(array):
    """A capsule that names another device than the one its memory is on."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]

    class Elsewhere:
        def __dlpack__(self, stream=None):
            capsule = array.__dlpack__(stream=stream)
            tensor = pointer_of(capsule, b"dltensor")
            ctypes.c_int32.from_address(tensor + 12).value += 1  # DLTensor.device.device_id
            return capsule

        def __dlpack_device__(self):
            return 2, 1

    with pytest.raises((ValueError, cubc.NoDeviceError), match="its memory is on cuda:0"):
        use(Elsewhere())


def test_arrays_of_two_devices(array):
    if len([name for name in cubc.devices() if name.startswith("cuda")]) < 2:
        pytest.skip("needs two GPUs")
    other = cubc.asarray(np.zeros(5000, "i4"), device="cuda:1")
    with pytest.raises(ValueError, match="out must lie on cuda:0, as the input does"):
        cubc.scan(array, out=other)


def test_mapped_host_memory_is_reached():
    """Pinned memory, as Numba's mapped arrays have it, is no lie: kernels read it."""
    x = inputs.random("I32", 1000)
    mapped = 2
    pointer = allocation("cudaHostAlloc", ctypes.c_size_t(x.nbytes), ctypes.c_uint(mapped))
    ctypes.memmove(pointer, x.ctypes.data, x.nbytes)
    assert cubc.sum(Lies(pointer, x.shape)).item() == x.sum()
    cudart.call("cudaFreeHost", ctypes.c_void_p(pointer))
