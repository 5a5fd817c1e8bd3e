"""Functions of Python that have no benchmark of the tuner's, beside CUB's calls.

    python benchmarks/cub_calls.py [--names NAME ...] [--types TYPE ...] [--sizes N ...] [--json]

CALLS has them: a function of cubc that is given results to write, and CUB's call of the same
(run_call in cub_reference.cu). Both sides are called on the same arrays, most of them CuPy's, in
turns, with a cold L2 cache and the stream held while they are queued: device time between two
events, medians. The library of CUB and the sizes are those of cub.py.
"""

import argparse
import ctypes
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cells
import cub
import cupy
import numpy as np
from several import FLUSHED_BYTES, HOLD, median_us

import cubc

DTYPES = {"I32": "int32", "I64": "int64", "F32": "float32", "F64": "float64"}
BITS = (4, 20)  # of keys, which sort.bits compares
SEGMENT = 1000  # items from one beginning to the next, of which segmented_reduce.ends adds 900


class Call(NamedTuple):
    """A call of cubc's, and what CUB gets for the same."""

    run: Callable[[], object]
    outputs: tuple[Any, ...]
    inputs: tuple[Any, ...]
    axes: tuple[int, ...] = ()
    arrays: int = 2  # of the items' size that are read or written
    expected: tuple[Any, ...] | None = None  # None: what CUB writes


def adjacent_difference(x, _, stream):
    out = cupy.zeros_like(x)
    expected = cupy.concatenate([x[:1], x[1:] - x[:-1]])
    run = functools.partial(cubc.adjacent_difference, x, out=out, stream=stream)
    return Call(run, (out,), (x,), expected=(expected,))


def for_each(x, y, stream):
    out, text = cupy.zeros_like(x), "out[i] = x[i] + 3 * y[i];"
    run = functools.partial(cubc.for_each, text, x.size, x=x, y=y, out=out, stream=stream)
    return Call(run, (out,), (x, y), arrays=3, expected=(x + 3 * y,))


def transform_several(x, y, stream):
    out, texts = (cupy.zeros_like(x), cupy.zeros_like(x)), ["x + y", "x - y"]
    run = functools.partial(cubc.transform, texts, x=x, y=y, out=out, stream=stream)
    return Call(run, out, (x, y), arrays=4, expected=(x + y, x - y))


def unique_by_key(x, y, stream):
    keys = x // 50  # of which few neighbours differ
    out, count = (cupy.zeros_like(x), cupy.zeros_like(x)), cupy.zeros(1, "int64")
    run = functools.partial(cubc.unique_by_key, keys, y, out=out, count=count, stream=stream)
    return Call(run, (*out, count), (keys, y), arrays=3)


def sort_bits(x, _, stream):
    out, (begin, end) = cupy.zeros_like(x), BITS
    run = functools.partial(cubc.sort, x, begin_bit=begin, end_bit=end, out=out, stream=stream)
    return Call(run, (out,), (x,), BITS)


def sort_members(x, y, stream):
    if x.size > cub.LARGE:
        return None  # the structs are made on the host
    dtype = np.dtype([("major", "i4"), ("minor", x.dtype)], align=True)
    keys = np.zeros(x.size, dtype)
    keys["major"], keys["minor"] = x.get(), y.get()
    device_keys = cubc.asarray(keys, device="cuda:0")
    out = cubc.empty(x.size, dtype, device="cuda:0")
    order = ["major", "minor"]
    run = functools.partial(cubc.sort, device_keys, order=order, out=out, stream=stream)
    return Call(run, (out,), (device_keys,), arrays=2 * dtype.itemsize // x.itemsize)


def segmented_reduce_ends(x, _, stream):
    begins = cupy.arange(0, x.size, SEGMENT)
    ends = cupy.minimum(begins + SEGMENT - SEGMENT // 10, x.size)
    out = cupy.zeros(begins.size, x.dtype)
    run = functools.partial(cubc.segmented_reduce, x, begins, ends=ends, out=out, stream=stream)
    return Call(run, (out,), (x, begins, ends), (begins.size,), arrays=1)


CALLS = {
    "adjacent_difference": adjacent_difference,
    "for_each": for_each,
    "transform.several": transform_several,
    "unique_by_key": unique_by_key,
    "sort.bits": sort_bits,
    "sort.members": sort_members,
    "segmented_reduce.ends": segmented_reduce_ends,
}


def address(x):
    return x.ptr if isinstance(x, cubc.Array) else x.data.ptr


def empty_like(x):
    if isinstance(x, cubc.Array):
        return cubc.asarray(np.zeros(x.shape, x.dtype), device=x.device)
    return cupy.zeros_like(x)


def count_wrong(found, expected):
    """Return how many items of arrays differ."""
    wrong = 0
    for a, b in zip(found, expected, strict=True):
        of_host = [x.numpy() if isinstance(x, cubc.Array) else x.get() for x in (a, b)]
        wrong += int((of_host[0] != of_host[1]).sum())
    return wrong


def measure(library, name, dtype, size, stream, flushed, hold):
    """Return a cell, with the number of wrong items where there are any; None if there is none."""
    n = cub.items(size)
    x, y = (cupy.random.randint(-99, 99, n).astype(DTYPES[dtype]) for _ in range(2))
    call = CALLS[name](x, y, stream)
    if call is None:
        return None
    theirs = [empty_like(out) for out in call.outputs]
    pointers = [
        [*map(address, arrays), *[0] * (cub.MOST_ARRAYS - len(arrays))]
        for arrays in (call.inputs, theirs)
    ]
    stream.synchronize()
    with cub.cub_work(library, name, dtype, n, call.axes, pointers, "cuda:0") as peer:
        if peer is None:
            return None
        queue, context = library.cub_queue, ctypes.c_void_p(peer[1])
        queue.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        on = ctypes.c_void_p(stream.ptr)
        us = median_us([call.run], stream, flushed, hold)
        peer_us = median_us([lambda: queue(context, on)], stream, flushed, hold)
    wrong = count_wrong(call.outputs, theirs)
    if call.expected:
        wrong += count_wrong(call.outputs, call.expected)
    row = {"benchmark": name, "type": dtype, "size": cub.size_name(size), "cubc": round(us, 2)}
    row |= {"peer": round(peer_us, 2), "unit": "us", "ratio": round(peer_us / us, 3)}
    row["gb_per_s"] = round(call.arrays * x.nbytes / us * 1e-3, 1)
    return row | ({"wrong": wrong} if wrong else {})


def show(row):
    wrong = f"  {row['wrong']} WRONG ITEMS" if "wrong" in row else ""
    print(
        f"{row['benchmark']:22} {row['type']:4}{row['size']:>10}  cubc {row['cubc']:9.2f} us"
        f"  CUB {row['peer']:9.2f} us  x{row['ratio']:.3f}  {row['gb_per_s']:7.1f} GB/s{wrong}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", choices=CALLS, default=CALLS)
    parser.add_argument("--types", nargs="+", choices=DTYPES, default=DTYPES)
    parser.add_argument("--sizes", nargs="+", type=int, default=cub.SIZES, help="in this order")
    built = next((path for path in cub.LIBRARIES if path.exists()), cub.LIBRARIES[-1])
    parser.add_argument("--library", default=built)
    cells.add_option(parser)
    options = parser.parse_args()
    if not Path(options.library).exists():
        sys.exit(f"there is no {options.library}: make build/libcub_newest.so builds it with nvcc")
    library, info = ctypes.CDLL(str(options.library)), cubc.device_info()
    peer = {"peer_name": "CUB", "peer_version": cub.version(library)}
    stream, hold = cupy.cuda.Stream(non_blocking=True), cupy.RawKernel(HOLD, "hold")
    rows = []
    with stream:
        flushed = cupy.empty(FLUSHED_BYTES, "u1")
        for size in options.sizes:
            for name in options.names:
                for dtype in options.types:
                    row = measure(library, name, dtype, size, stream, flushed, hold)
                    if row is None:
                        continue
                    rows.append(row)
                    show(row)
                    if options.json and "wrong" not in row:
                        cell = row | cells.origin(info, **peer)
                        cells.put([cell], cells.folder_name(info), options.json)
    for name in options.names:
        ratios = [row["ratio"] for row in rows if row["benchmark"] == name]
        if ratios:
            mean = np.exp(np.mean(np.log(ratios)))
            print(f"{name}: geometric mean x{mean:.3f}, least x{min(ratios):.3f}")
    if any("wrong" in row for row in rows):
        sys.exit("some results were wrong; their cells are not kept")


if __name__ == "__main__":
    main()
