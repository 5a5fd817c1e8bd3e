"""Scans, sorts and variances along the first axis of a matrix, beside CuPy and PyTorch.

    python benchmarks/along_axes.py [--names scan sort argsort rows argrows var]
        [--sizes 16 20 24 28] [--json]

Calls through the public functions on CuPy's arrays of integers, with a cold L2 cache and the stream
held while they are queued: device time between two events, medians of 15. Scans are of --columns,
sorts of --lengths of the axis. The scan by transposing is what `deterministic=True` chooses for
floats, with the algorithm that integers have. Sorts are measured in one pass and by transposing
twice; `cubc` is the way that the public function takes (`python/cubc/_axis_sort.py`). `rows` and
`argrows` sort along the last axis, of the same lengths, where `segmented_sort` is the other way.
Variances are of --columns of floats, and have the whole array's beside them; `mean=` makes two
passes of each.
"""

import argparse
import importlib.util

import cells
import cupy
from several import FLUSHED_BYTES, HOLD, median_us

import cubc
from cubc import _core
from cubc._axes import on_rows
from cubc._segmented_sorts import argsort_in_segments, segmented_sort

PEERS = {
    "one pass": "cubc, in one pass",
    "transposed": "cubc, by transposing",
    "segments": "cubc, by segments",
    "two passes": "cubc, in two passes",
    "whole": "cubc, of all items",
    "whole in two": "cubc, of all items in two passes",
    "cupy": "CuPy",
    "torch": "PyTorch",
}
NAMES = ["scan", "sort", "argsort", "rows", "argrows", "var"]
OF_INDICES = ("argsort", "argrows")
OF_ROWS = ("rows", "argrows")
LONGEST = 2048  # axis that one pass sorts


def scans(x, out, stream):
    """Return the calls of cubc that scan, by their names."""

    def scan_rows(rows, length, to):
        return cubc.segmented_scan(rows, segment_size=length, out=to, stream=stream)

    return {
        "cubc": lambda: cubc.scan(x, axis=0, out=out, stream=stream),
        "transposed": lambda: on_rows(x, 0, scan_rows, out, {"stream": stream}),
    }


def sorts(name, x, out, stream):
    """Return the calls of cubc that sort, by their names."""
    placement, axis = {"stream": stream}, axis_of(name)

    def sort_rows(rows, length, to):
        if name in OF_INDICES:
            return argsort_in_segments(rows, length, False, to, **placement)
        return segmented_sort(rows, segment_size=length, out=to, **placement)

    result = ("int64" if name in OF_INDICES else "in", "in", out)
    length = x.shape[axis]
    fields = {"in": x, "length": length, "columns": 1 if axis else x.shape[1]}
    fields |= {"indices": name in OF_INDICES, "out": result}
    public = cubc.argsort if name in OF_INDICES else cubc.sort
    ways = {"cubc": lambda: public(x, axis=axis, out=out, **placement)}
    if length <= LONGEST:
        ways["one pass"] = lambda: _core.call("axis_sort", fields, **placement)
    other = "segments" if axis else "transposed"
    ways[other] = lambda: on_rows(x, axis, sort_rows, out, placement)
    return ways


def variances(x, out, stream):
    """Return the calls of cubc that compute variances, by their names."""

    def in_two_passes(axis):
        mean = cubc.mean(x, axis, keepdims=axis is not None, stream=stream)
        cubc.var(x, axis, mean=mean, stream=stream)

    return {
        "cubc": lambda: cubc.var(x, 0, out=out, stream=stream),
        "two passes": lambda: in_two_passes(0),
        "whole": lambda: cubc.var(x, stream=stream),
        "whole in two": lambda: in_two_passes(None),
    }


def benchmark_of(name):
    """Return the name in the records."""
    return {"rows": "sort.axis_1", "argrows": "argsort.axis_1"}.get(name, f"{name}.axis_0")


def axis_of(name):
    """Return the axis that a benchmark goes along."""
    return 1 if name in OF_ROWS else 0


def ways_of(name, x, out, stream):
    """Return the calls that compute the same, by their names; cubc's own is the first."""
    by_name = {"scan": scans, "var": variances}
    ways = by_name[name](x, out, stream) if name in by_name else sorts(name, x, out, stream)
    axis = axis_of(name)
    ways["cupy"] = {
        "scan": lambda: cupy.cumsum(x, axis=0, out=out),
        "sort": lambda: cupy.sort(x, axis=axis),
        "rows": lambda: cupy.sort(x, axis=axis),
        "argsort": lambda: cupy.argsort(x, axis=axis),
        "argrows": lambda: cupy.argsort(x, axis=axis),
        "var": lambda: cupy.var(x, axis=0),
    }[name]
    if importlib.util.find_spec("torch"):
        import torch

        t, o = torch.from_dlpack(x), torch.from_dlpack(out)
        on = torch.cuda.ExternalStream(stream.ptr)

        def by_torch():
            with torch.cuda.stream(on):
                if name == "scan":
                    torch.cumsum(t, 0, out=o)
                elif name == "var":
                    torch.var(t, 0, correction=0, out=o)
                else:
                    torch.sort(t, axis)

        ways["torch"] = by_torch
    return ways


def expected(name, x):
    """Return what CuPy gives; of indices the items that they stand for are compared."""
    if name == "scan":
        return cupy.cumsum(x, axis=0, dtype=x.dtype)
    if name == "var":
        return cupy.var(x, axis=0, dtype="f8")
    return cupy.sort(x, axis=axis_of(name))


def measure(name, dtype, n, columns, stream, flushed, hold):
    """Return the microseconds of each way, and how many results are wrong."""
    x = cupy.random.randint(-99, 99, n // columns * columns).astype(dtype).reshape(-1, columns)
    if name in OF_ROWS:
        x = x.reshape(columns, -1)
    shape = x.shape[1:] if name == "var" else x.shape
    out = cupy.empty(shape, "int64" if name in OF_INDICES else dtype)
    ways, wanted, wrong = ways_of(name, x, out, stream), expected(name, x), 0
    for way in ("cubc", "one pass"):
        if way in ways:
            out.fill(0)
            ways[way]()
            got = cupy.take_along_axis(x, out, axis_of(name)) if name in OF_INDICES else out
            near = 0.1 if name == "var" else 0  # of 3267
            wrong += int((abs(got - wanted) > near).sum())
    us = {way: round(median_us([call], stream, flushed, hold), 2) for way, call in ways.items()}
    return us, wrong


def shapes_of(name, exponent, options):
    """Return (columns, what is said of them) of each shape: of sorts by the axis' length."""
    if name in ("scan", "var"):
        return [(columns, f"{columns} columns") for columns in options.columns]
    lengths = [length for length in options.lengths if 2 * length <= 1 << exponent]
    return [((1 << exponent) // length, f"{length} rows") for length in lengths]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--types", nargs="+", help="of var float32 and float64, else the integers")
    parser.add_argument("--sizes", type=int, nargs="+", default=[16, 20, 24, 28], help="exponents")
    parser.add_argument("--columns", type=int, nargs="+", default=[3, 8, 64, 1000, 4096])
    lengths = [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
    parser.add_argument("--lengths", type=int, nargs="+", default=lengths)
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
            of_name = ["float32", "float64"] if name == "var" else ["int32", "int64"]
            for dtype in options.types or of_name:
                for exponent in options.sizes:
                    for columns, case in shapes_of(name, exponent, options):
                        us, wrong = measure(
                            name, dtype, 1 << exponent, columns, stream, flushed, hold
                        )
                        row = {"benchmark": benchmark_of(name), "type": dtype}
                        row |= {"size": f"2^{exponent}", "case": case}
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
                            f"{name} {dtype:6} 2^{exponent:<3}{case:>13} ",
                            *texts,
                            f"wrong {wrong}" if wrong else "",
                            sep="  ",
                            flush=True,
                        )
    cells.put_asked(kept, info, options)


if __name__ == "__main__":
    main()
