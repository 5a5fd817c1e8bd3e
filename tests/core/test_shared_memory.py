"""Shared memory of a block, which has to fit every device of an architecture."""

import struct

import pytest

from cubc import _core

MOST = {"sm_75": 64 << 10, "sm_86": 99 << 10, "sm_120": 99 << 10}


def shared_bytes(cubin):
    """Bytes of each kernel's shared memory: NAME_layout has them behind those of its arguments."""
    begin, size, count = struct.unpack_from("<Q10xHH", cubin, 40)
    parts = [struct.unpack_from("<IIQQQQII", cubin, begin + k * size) for k in range(count)]
    found = {}
    for kind, *_, at, length, link, _ in (part[1:] for part in parts):
        if kind != 2:  # a table of symbols
            continue
        names = parts[link][4]
        for symbol in range(at, at + length, 24):
            name_at, _, _, part, value, _ = struct.unpack_from("<IBBHQQ", cubin, symbol)
            name = cubin[names + name_at : cubin.index(b"\0", names + name_at)].decode()
            if name.endswith("_layout"):
                (found[name.removesuffix("_layout")],) = struct.unpack_from(
                    "<4xI", cubin, parts[part][4] + value
                )
    return found


@pytest.mark.some(4)
@pytest.mark.parametrize("arch", MOST)
@pytest.mark.parametrize(
    ("name", "type", "rt"),
    [
        ("segmented_topk.rows", "I64", {"Elements": 1 << 20, "SegmentSize": 1 << 17, "K": 1000}),
        ("segmented_topk.rows", "F32", {"Elements": 1 << 20, "SegmentSize": 1 << 17, "K": 1000}),
        ("topk.pairs", "I64", {"Elements": 1 << 24, "K": 1000}),
        ("sort.keys", "I64", {"Elements": 1 << 24}),
        ("segmented_sort.keys", "I64", {"Elements": 1 << 24, "SegmentSize": 1000}),
        ("histogram.even", "F64", {"Elements": 1 << 24, "Bins": 2048}),
        ("merge_sort.pairs", "F64", {"Elements": 1 << 24}),
    ],
)
def test_it_fits_the_architecture(name, type, rt, arch):
    ct = {"T{ct}": type}
    code = _core.code(name, ct, arch, _core.policy(name, ct, arch, rt), 0.0, b"", rt)
    assert code[:4] == b"\x7fELF"
    found = shared_bytes(code)
    assert found
    assert max(found.values()) <= MOST[arch], found
