"""More than 2^32 items, on the cpu and on a GPU with room for them."""

import isolated
import pytest

import cubc

N = 2**32 + 12_345
ROOM = 6 << 30


def memory(device):
    return cubc.device_info(device)["memory_bytes"]


LARGE = f"""
import ctypes, mmap, os, sys
import numpy as np
import cubc

n, place, device = {N}, 2**32 + 77, sys.argv[1]
SHARED, PRIVATE = mmap.MAP_SHARED | mmap.MAP_POPULATE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
FIXED, WINDOW = 0x10, 2 << 20


def items():
    '''Items of which the first 2^32 are one window of memory, over and over.

    To touch 4 GiB for the first time takes longer than all that is done with them. Those above
    are memory of their own, where a wrong index shows.
    '''
    if device != "cpu":
        return cubc.empty(n, "I8", device=device)
    call = ctypes.CDLL(None, use_errno=True).mmap
    call.restype = ctypes.c_void_p
    call.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    window = os.memfd_create("window")
    os.ftruncate(window, WINDOW)

    def at(place, bytes, access, flags, file=-1):
        address = call(place, bytes, access, flags, file, 0)
        assert address != ctypes.c_void_p(-1).value, os.strerror(ctypes.get_errno())
        return address

    both = mmap.PROT_READ | mmap.PROT_WRITE
    first = at(None, n, 0, PRIVATE)  # PROT_NONE: it is not counted as memory
    for offset in range(0, 2**32, WINDOW):
        at(first + offset, WINDOW, both, SHARED | FIXED, window)
    at(first + 2**32, n - 2**32, both, PRIVATE | FIXED)
    return np.frombuffer((ctypes.c_char * n).from_address(first), np.int8)


x = items()
y = items() if device == "cpu" else x  # in place, the window would be read after it was written
cubc.transform("1", out=x, device=device)
cubc.transform("2", out=x[place : place + 1], device=device)
assert cubc.sum(x, device=device).item() == n + 1
if device != "cpu":  # which counts and compares by the same loops over indices as it adds
    assert cubc.argmax(x).item() == place
    assert cubc.histogram(x, 4, (0, 4))[0].numpy().tolist() == [0, n - 1, 1, 0]
cubc.scan(x, out=y, device=device)
right = "static_cast<i8>(i + 1 + (i >= static_cast<u64>(k)))"
wrong = cubc.lazy(f"x != {{right}}", x=y, k=place)
assert cubc.sum(wrong, device=device).item() == 0
"""


@pytest.mark.slow
def test_more_than_32_bits_of_items(device):
    """In a process of its own: this one has loaded some of the kernels without optimisation."""
    if device != "cpu" and memory(device) < ROOM:
        pytest.skip(f"{device} has less than {ROOM >> 30} GiB of memory")
    isolated.output(LARGE, device, CUBC_CXXFLAGS=None)


@pytest.mark.gpu
@pytest.mark.slow
def test_sort_and_select_of_more_than_32_bits_of_items():
    device = "cuda:0"
    if memory(device) < 8 * ROOM:
        pytest.skip(f"{device} has less than {8 * ROOM >> 30} GiB of memory")
    x = cubc.empty(N, "I8", device=device)
    cubc.transform("(i * 2654435761ull) >> 7", out=x)
    total = cubc.sum(x).item()
    ordered = cubc.sort(x)
    assert cubc.sum(ordered).item() == total
    rises = cubc.transform("a <= b", a=ordered[:-1], b=ordered[1:], dtype="bool")
    assert cubc.all(rises).item()
    del rises, ordered
    place = 2**32 + 77
    kept = cubc.select(x, f"i != {place}ull")
    assert kept.size == N - 1
    assert cubc.sum(kept).item() == total - int(x[place : place + 1].numpy()[0])
