"""Tens of thousands of calls leave no more memory in use than the first ones did."""

import json

import isolated

CALLS = """
import ctypes, gc, json, sys
from pathlib import Path
import numpy as np
import cubc
from primitives import FAILING, PRIMITIVES, values

class Heap(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

def in_use(device):
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    found = {"resident": 4096 * pages, "objects": sys.getallocatedblocks()}
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallinfo2"):
        libc.mallinfo2.restype = Heap
        heap = libc.mallinfo2()
        found["heap"] = heap.uordblks + heap.hblkhd
    if device != "cpu":
        import cudart
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        cubc.synchronize(device)
        cudart.call("cudaMemGetInfo", ctypes.byref(free), ctypes.byref(total))
        found["device"] = total.value - free.value
    return found

def fail(call, x, device):
    try:
        call(x, device=device)
    except Exception:
        return
    raise SystemExit("a call succeeded that is there to fail")

def call_often(kind, times, device):
    x = values(100 if device == "cpu" else 10_001)
    given = x if device == "cpu" else cubc.asarray(x, device=device)
    if kind == "failing":
        for k in range(times):
            for call in FAILING.values():
                fail(call, x, device)
    else:
        for k in range(times):
            PRIMITIVES[kind].call(given)

device, calls = sys.argv[1], int(sys.argv[2])
growth = {}
for kind in [*PRIMITIVES, "failing"]:
    call_often(kind, 500, device)
    seen = [in_use(device)]
    for _ in range(3):
        call_often(kind, calls, device)
        seen.append(in_use(device))
    growth[kind] = {
        name: min(after[name] - before[name] for before, after in zip(seen, seen[1:]))
        for name in seen[0]
    }
print(json.dumps(growth))
"""
EACH = 400
# The least of three times so many calls: CPython's table of attributes that were looked up has 4096
# places, which calls that fail fill at random. Less than an object and 16 bytes a call. Pages come
# in lumps, a GPU driver takes 128 KiB.
MOST = {"objects": EACH // 4, "heap": 16 * EACH, "resident": 2_000_000, "device": 70_000_000}
DRIVER = 2 << 17


def test_nothing_is_left_behind(device):
    growth = json.loads(isolated.output(CALLS, device, EACH))
    too_much = {
        (kind, name): bytes
        for kind, found in growth.items()
        for name, bytes in found.items()
        if bytes > MOST[name] + (DRIVER if name == "heap" and device != "cpu" else 0)
    }
    assert not too_much
