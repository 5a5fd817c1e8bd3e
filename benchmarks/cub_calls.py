"""Functions of Python that have no benchmark of the tuner's, beside CUB's calls.

    python benchmarks/cub_calls.py [--types TYPE ...] [--sizes N ...] [--json]

`adjacent_difference` is CUB's DeviceAdjacentDifference::SubtractLeftCopy, and `for_each` of one
statement DeviceFor::Bulk of the same. Both sides are called on the same arrays of CuPy's, in turns,
with a cold L2 cache and the stream held while they are queued: device time between two events,
medians. The library of CUB and the sizes are those of cub.py.
"""

import argparse
import ctypes
import sys
from pathlib import Path

import cells
import cub
import cupy
import numpy as np
from several import FLUSHED_BYTES, HOLD, median_us

import cubc

DTYPES = {"I32": "int32", "I64": "int64", "F32": "float32", "F64": "float64"}
ARRAYS = {"adjacent_difference": 2, "for_each": 3}  # that a call reads and writes


def calls(name, x, y, out, stream):
    """Return cubc's call on arrays, and what is expected."""
    if name == "adjacent_difference":
        expected = cupy.concatenate([x[:1], x[1:] - x[:-1]])
        return lambda: cubc.adjacent_difference(x, out=out, stream=stream), expected
    text = "out[i] = x[i] + 3 * y[i];"
    return lambda: cubc.for_each(text, x.size, x=x, y=y, out=out, stream=stream), x + 3 * y


def measure(library, name, dtype, size, stream, flushed, hold):
    """Return a cell, with the number of wrong items where there are any."""
    n = cub.items(size)
    x, y = (cupy.random.randint(-99, 99, n).astype(DTYPES[dtype]) for _ in range(2))
    out, theirs = cupy.zeros_like(x), cupy.zeros_like(x)
    call, expected = calls(name, x, y, out, stream)
    pointers = [x.data.ptr, y.data.ptr, 0, 0], [theirs.data.ptr, 0, 0, 0]
    with cub.cub_work(library, name, dtype, n, (), pointers, "cuda:0") as peer:
        queue, context = library.cub_queue, ctypes.c_void_p(peer[1])
        queue.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        on = ctypes.c_void_p(stream.ptr)
        us = median_us([call], stream, flushed, hold)
        peer_us = median_us([lambda: queue(context, on)], stream, flushed, hold)
    wrong = int((out != expected).sum() + (theirs != expected).sum())
    row = {"benchmark": name, "type": dtype, "size": cub.size_name(size), "cubc": round(us, 2)}
    row |= {"peer": round(peer_us, 2), "unit": "us", "ratio": round(peer_us / us, 3)}
    row["gb_per_s"] = round(ARRAYS[name] * x.nbytes / us * 1e-3, 1)
    return row | ({"wrong": wrong} if wrong else {})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
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
            for name in ARRAYS:
                for dtype in options.types:
                    row = measure(library, name, dtype, size, stream, flushed, hold)
                    rows.append(row)
                    print(
                        f"{name:20} {dtype:4}{row['size']:>10}  cubc {row['cubc']:9.2f} us"
                        f"  CUB {row['peer']:9.2f} us  x{row['ratio']:.3f}"
                        f"  {row['gb_per_s']:7.1f} GB/s"
                        + (f"  {row['wrong']} WRONG ITEMS" if "wrong" in row else ""),
                        flush=True,
                    )
                    if options.json and "wrong" not in row:
                        cell = row | cells.origin(info, **peer)
                        cells.put([cell], cells.folder_name(info), options.json)
    for name in ARRAYS:
        ratios = [row["ratio"] for row in rows if row["benchmark"] == name]
        mean = np.exp(np.mean(np.log(ratios)))
        print(f"{name}: geometric mean x{mean:.3f}, least x{min(ratios):.3f}")
    if any("wrong" in row for row in rows):
        sys.exit("some results were wrong; their cells are not kept")


if __name__ == "__main__":
    main()
