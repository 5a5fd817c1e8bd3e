"""More than 2^32 items, on every device with room for them."""

import isolated
import pytest

import cubc

N = 2**32 + 12_345
ROOM = 6 << 30


def room(device):
    """Bytes that are free, roughly."""
    if device != "cpu":
        return cubc.device_info(device)["memory_bytes"]
    try:
        with open("/proc/meminfo") as lines:
            fields = dict(line.split(":") for line in lines)
    except OSError:
        return 0
    return int(fields["MemAvailable"].split()[0]) << 10


LARGE = f"""
import sys, cubc
n, place = {N}, 2**32 + 77
x = cubc.empty(n, "I8", device=sys.argv[1])
cubc.transform("1", out=x)
cubc.transform("2", out=x[place : place + 1])
assert cubc.sum(x).item() == n + 1
if sys.argv[1] != "cpu":  # which counts and compares by the same loops over indices as it adds
    assert cubc.argmax(x).item() == place
    assert cubc.histogram(x, 4, (0, 4))[0].numpy().tolist() == [0, n - 1, 1, 0]
cubc.scan(x, out=x)
right = "static_cast<i8>(i + 1 + (i >= static_cast<u64>(k)))"
assert cubc.sum(cubc.lazy(f"x != {{right}}", x=x, k=place)).item() == 0
"""


@pytest.mark.slow
def test_more_than_32_bits_of_items(device):
    """In a process of its own: this one has loaded some of the kernels without optimisation."""
    if room(device) < ROOM:
        pytest.skip(f"{device} has less than {ROOM >> 30} GiB of memory to spare")
    isolated.output(LARGE, device, timeout=280, CUBC_CXXFLAGS=None)


@pytest.mark.gpu
@pytest.mark.slow
def test_sort_and_select_of_more_than_32_bits_of_items():
    device = "cuda:0"
    if room(device) < 8 * ROOM:
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
