"""More than 2^32 items, on every device with room for them."""

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


@pytest.mark.slow
def test_more_than_32_bits_of_items(device):
    if room(device) < ROOM:
        pytest.skip(f"{device} has less than {ROOM >> 30} GiB of memory to spare")
    place = 2**32 + 77
    x = cubc.empty(N, "I8", device=device)
    cubc.transform("i == k ? 2 : 1", k=place, out=x)
    assert cubc.sum(x).item() == N + 1
    assert cubc.argmax(x).item() == place
    cubc.scan(x, out=x)
    right = "static_cast<i8>(i + 1 + (i >= static_cast<u64>(k)))"
    cubc.transform(f"x != {right}", x=x, k=place, out=x)
    assert cubc.sum(x).item() == 0
