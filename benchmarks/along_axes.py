"""Scans and sorts along the first axis of a matrix, beside transposing, CuPy and PyTorch.

    python benchmarks/along_axes.py [--sizes 16 20 24 28] [--columns 3 8 64 1000 4096] [--json]

Calls through the public functions on CuPy's arrays of integers, with a cold L2 cache and the stream
held while they are queued: device time between two events, medians of 15. The scan by transposing
is what `deterministic=True` chooses, with the algorithm that integers have without it. The sort
transposes twice; beside it stands the sort of the rows of an array that is transposed already.
"""

import argparse
import importlib.util

import cells
import cupy
from several import FLUSHED_BYTES, HOLD, median_us

import cubc

PEERS = {"cubc, transposed": "cubc, by transposing", "cupy": "CuPy", "torch": "PyTorch"}


def ways_of(name, x, out, stream):
    """Return the calls that compute the same, by their names; cubc's own is the first."""
    ways = {}
    if name == "scan":
        ways["cubc"] = lambda: cubc.scan(x, axis=0, out=out, stream=stream)
        ways["cubc, transposed"] = lambda: cubc.scan(
            x, axis=0, out=out, deterministic=True, stream=stream
        )
        ways["cupy"] = lambda: cupy.cumsum(x, axis=0, out=out)
    else:
        rows, sorted_rows = cupy.ascontiguousarray(x.T), cupy.empty_like(x.T, order="C")
        ways["cubc"] = lambda: cubc.sort(x, axis=0, out=out, stream=stream)
        ways["cubc, transposed"] = lambda: cubc.sort(rows, axis=1, out=sorted_rows, stream=stream)
        ways["cupy"] = lambda: cupy.sort(x, axis=0)
    if importlib.util.find_spec("torch"):
        import torch

        t, o = torch.from_dlpack(x), torch.from_dlpack(out)
        on = torch.cuda.ExternalStream(stream.ptr)

        def by_torch():
            with torch.cuda.stream(on):
                torch.cumsum(t, 0, out=o) if name == "scan" else torch.sort(t, 0)

        ways["torch"] = by_torch
    return ways


def measure(name, dtype, n, columns, stream, flushed, hold):
    """Return the microseconds of each way."""
    x = cupy.random.randint(-99, 99, n // columns * columns).astype(dtype).reshape(-1, columns)
    out = cupy.empty_like(x)
    ways = ways_of(name, x, out, stream)
    ways["cubc"]()
    expected = cupy.cumsum(x, axis=0, dtype=dtype) if name == "scan" else cupy.sort(x, axis=0)
    wrong = int((out != expected).sum())
    us = {way: round(median_us([call], stream, flushed, hold), 2) for way, call in ways.items()}
    return us, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", choices=["scan", "sort"], default=["scan", "sort"])
    parser.add_argument("--types", nargs="+", default=["int32", "int64"])
    parser.add_argument("--sizes", type=int, nargs="+", default=[16, 20, 24, 28], help="exponents")
    parser.add_argument("--columns", type=int, nargs="+", default=[3, 8, 64, 1000, 4096])
    cells.add_option(parser)
    options = parser.parse_args()
    stream = cupy.cuda.Stream(non_blocking=True)
    hold = cupy.RawKernel(HOLD, "hold")
    info = cubc.device_info()
    kept = []
    print(info["name"])
    with stream:
        flushed = cupy.empty(FLUSHED_BYTES, "u1")
        for name in options.names:
            for dtype in options.types:
                for exponent in options.sizes:
                    for columns in options.columns:
                        us, wrong = measure(
                            name, dtype, 1 << exponent, columns, stream, flushed, hold
                        )
                        row = {"benchmark": f"{name}.axis_0", "type": dtype}
                        row |= {"size": f"2^{exponent}", "case": f"{columns} columns"}
                        row |= {"cubc": us["cubc"], "unit": "us"}
                        row |= {"wrong": wrong} if wrong else {}
                        kept += [
                            row
                            | {"peer": us[way], "ratio": round(us[way] / us["cubc"], 3)}
                            | {"peer_name": peer}
                            for way, peer in PEERS.items()
                            if way in us
                        ]
                        texts = (f"{way} {time:.2f}" for way, time in us.items())
                        print(
                            f"{name} {dtype:6} 2^{exponent:<3}{columns:5} columns ",
                            *texts,
                            f"wrong {wrong}" if wrong else "",
                            sep="  ",
                            flush=True,
                        )
    cells.put_asked(kept, info, options)


if __name__ == "__main__":
    main()
