"""Primitives on host arrays beside NumPy, interleaved, on the same cores.

    python benchmarks/cpu.py [--only REGEX] [--elements N] [--rounds N] [--json]
        [--policies STORE...]

Both sides are timed from Python in turns, so that a drift of the machine meets both alike; the
table has medians. NumPy's triad takes the two passes without a temporary array that it can do with.

On a machine that others use too, wall time says how many threads they have. So the last column is
the processor time that each side took at least: NumPy's, over cubc's divided by the cores.
"""

import argparse
import itertools
import re
import statistics
import time

import cells
import numpy as np

import cubc

TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8")


def seconds(call):
    """Wall time and processor time."""
    start, busy = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - start, time.process_time() - busy


def measure(ours, theirs, rounds):
    """Median of the wall time and least processor time of each side, in ms."""
    for call in (ours, theirs):
        for _ in range(3):
            call()
    taken = []
    for turn in range(rounds):
        if turn % 2:  # whoever comes second finds the other's cache
            b, a = seconds(theirs), seconds(ours)
        else:
            a, b = seconds(ours), seconds(theirs)
        taken.append((a, b))
    for side in zip(*taken, strict=True):
        wall, busy = zip(*side, strict=True)
        yield statistics.median(wall) * 1e3, min(busy) * 1e3


def pairs(n):
    """Name, cubc's call, NumPy's call, bytes that both must move."""
    rng = np.random.default_rng(42)
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    out, three = np.empty_like(x), np.float32(3)
    total = np.empty((), np.float32)
    ordered, some, mask = np.sort(x), y[: n // 10], y < 0.5
    words = rng.integers(0, 2**31 - 1, n, np.int32)

    def triad():
        np.multiply(y, three, out=out)
        np.add(x, out, out=out)

    return [
        (
            "reduce.sum",
            lambda: cubc.reduce(x, out=total),
            lambda: np.sum(x, out=total),
            4 * n,
        ),
        (
            "scan.inclusive.sum",
            lambda: cubc.scan(x, out=out),
            lambda: np.cumsum(x, out=out),
            8 * n,
        ),
        (
            "transform.triad",
            lambda: cubc.transform("x + s * y", x=x, y=y, s=3.0, out=out),
            triad,
            12 * n,
        ),
        (
            "histogram.even.256",
            lambda: cubc.histogram(x, 256, (0, 1)),
            lambda: np.histogram(x, 256, (0, 1)),
            4 * n,
        ),
        (
            "select.if",
            lambda: cubc.select(x, "x < 0.5f"),
            lambda: x[x < 0.5],
            6 * n,
        ),
        (
            "select.flagged",
            lambda: cubc.select(x, mask),
            lambda: x[mask],
            7 * n,
        ),
        (
            "unique",
            lambda: cubc.unique(words),
            lambda: np.unique(words),
            8 * n,
        ),
        (
            "merge_sort.keys",
            lambda: cubc.merge_sort(x, out=out),
            lambda: np.sort(x, kind="stable"),
            8 * n,
        ),
        (
            "searchsorted.lower",
            lambda: cubc.searchsorted(ordered, some),
            lambda: np.searchsorted(ordered, some),
            4 * n + 12 * some.size,
        ),
    ]


def keys(type, order, n):
    rng, dtype = np.random.default_rng(42), np.dtype(type)
    if order == "normal":
        x = rng.standard_normal(n).astype(dtype)
    elif dtype.kind == "f":
        x = rng.random(n).astype(dtype)
    else:
        x = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, n, dtype, endpoint=True)
    if order == "few":
        x = x[:100][rng.integers(0, 100, n)]
    return np.sort(x) if order == "sorted" else x


def sorts(n):
    """The same of sorting; what is sorted is made as it is asked for."""
    cases = itertools.product(TYPES, ("random", "sorted", "few"))
    for type, order in (*cases, ("f4", "normal"), ("f8", "normal")):  # floats of either sign
        x = keys(type, order, n)
        out = np.empty_like(x)
        yield (
            f"sort.{order} {type}",
            lambda x=x, out=out: cubc.sort(x, out=out),
            lambda x=x: np.sort(x),
            2 * x.nbytes,
        )
    for type in ("u1", "i4", "f8"):
        x = keys(type, "random", n)
        yield (
            f"argsort {type}",
            lambda x=x: cubc.argsort(x),
            lambda x=x: np.argsort(x, kind="stable"),
            x.nbytes + 8 * n,
        )


def rows(n):
    """The same of rows and columns, each sorted or searched by itself, and of a whole search."""
    for type in ("u1", "i4", "f8"):
        x = keys(type, "random", n)
        yield f"argmax {type}", lambda x=x: cubc.argmax(x), lambda x=x: np.argmax(x), x.nbytes
        for length in (10, 100, 1000, 10_000, 100_000):
            m = x[: n // length * length].reshape(-1, length)
            out = np.empty_like(m)
            yield (
                f"rows.sort.{length} {type}",
                lambda m=m, out=out: cubc.sort(m, axis=1, out=out),
                lambda m=m: np.sort(m, axis=1),
                2 * m.nbytes,
            )
            turned = m.reshape(length, -1)
            yield (
                f"columns.sort.{length} {type}",
                lambda m=turned, out=out: cubc.sort(m, axis=0, out=out.reshape(m.shape)),
                lambda m=turned: np.sort(m, axis=0),
                2 * m.nbytes,
            )
            yield (
                f"rows.argmax.{length} {type}",
                lambda m=m: cubc.argmax(m, axis=1),
                lambda m=m: np.argmax(m, axis=1),
                m.nbytes,
            )


def cell(name, n, ours, theirs, moved):
    """Cell of a row; each side's figures are the wall and the processor time in ms."""
    (a, busy), (b, numpy_busy), cores = ours, theirs, cubc.device_info()["sm_count"]
    benchmark, _, kind = name.partition(" ")
    case = {}
    if benchmark.startswith("sort."):
        benchmark, case["case"] = benchmark.split(".")
    kind = cubc_type(kind) if kind else "I32" if name == "unique" else "F32"
    return {
        "benchmark": benchmark,
        "type": kind,
        "size": f"10^{len(str(n)) - 1}" if str(n).strip("0") == "1" else str(n),
        **case,
        "cubc": round(a, 3),
        "peer": round(b, 3),
        "unit": "ms",
        "ratio": round(b / a, 2),
        "processor_ratio": round(numpy_busy / busy * cores, 2),
        "gb_per_s": round(moved / a * 1e-6, 1),
        **cells.origin(cubc.device_info(), peer_name="NumPy", peer_version=np.__version__),
    }


def cubc_type(dtype):
    """Name of NumPy's one-letter type: u4 is U32."""
    return f"{dtype[0].upper()}{8 * int(dtype[1:])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows in whose names this is found")
    parser.add_argument("--elements", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=61)
    parser.add_argument("--policies", nargs="*", default=[], help="stores whose policies to use")
    cells.add_option(parser)
    options = parser.parse_args()
    if options.policies:
        cubc.use_policies(*options.policies)
    found = []
    with cubc.device("cpu"):
        info = cubc.device_info()
        print(
            f"{info['model']}, {info['sm_count']} cores, {info['compiler']}, NumPy {np.__version__}"
        )
        print(f"{options.elements} items, {options.rounds} rounds, medians")
        for name, ours, theirs, moved in itertools.chain(
            pairs(options.elements), sorts(options.elements), rows(options.elements)
        ):
            if not re.search(options.only, name):
                continue
            (a, busy), (b, numpy_busy) = measure(ours, theirs, options.rounds)
            print(
                f"{name:20} cubc {a:8.3f} ms  NumPy {b:8.3f} ms  x{b / a:.2f}"
                f"  {moved / a * 1e-6:6.1f} GB/s"
                f"  processor x{numpy_busy / busy * info['sm_count']:.2f}",
                flush=True,
            )
            found.append(cell(name, options.elements, (a, busy), (b, numpy_busy), moved))
        if options.json:
            cells.put(found, cells.folder_name(info), options.json)


if __name__ == "__main__":
    main()
