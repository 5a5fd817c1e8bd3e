"""NumPy's names on a GPU: each function of cubc beside CuPy's of the same name.

    python benchmarks/names.py [--names NAME ...] [--sizes N ...]

Both are called on the same CuPy arrays, in turns. A time is that from the call until its result is
there, so that launches, allocations and waits of the host count: medians of 15, microseconds. A
line is printed as soon as its call was measured, and in the end all of a size, the slowest beside
CuPy first. Kernels are compiled side by side before.
"""

import argparse
import contextlib
import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

import cupy
import numpy as np

import cubc

SAMPLES, WARM_UP = 15, 3
SIZES = [50_000, 3_000_017, 20_000_003]
SLOW_S = 0.2  # of a call, after which one sample is enough


def cases(n):
    """Return the calls by name, a pair of one of cubc and one of CuPy, for arrays of n items."""
    draw = cupy.random.RandomState(1)
    x = draw.standard_normal(n, dtype="f4")
    y = draw.standard_normal(n, dtype="f4")
    i = draw.randint(0, n, n, dtype="i8")
    few = draw.randint(0, 100, n, dtype="i4")
    rows = x[: n // 1000 * 1000].reshape(-1, 1000)
    columns = x[: n // 1000 * 1000].reshape(1000, -1)
    some_nan = cupy.where(x > 2, np.float32("nan"), x)
    mask, ordered, places = x > 1, cupy.sort(x), cupy.sort(y)
    ints, others = draw.randint(0, n, n, dtype="i4"), draw.randint(0, n, n // 2, dtype="i4")
    table = x.copy()
    found = {
        "sum": ("sum", x), "prod": ("prod", x), "min": ("min", x), "max": ("max", x),
        "argmin": ("argmin", x), "argmax": ("argmax", x), "all": ("all", mask),
        "any": ("any", mask), "mean": ("mean", x), "std": ("std", x), "var": ("var", x),
        "count_nonzero": ("count_nonzero", few), "cumsum": ("cumsum", x),
        "cumprod": ("cumprod", x), "sort": ("sort", x), "argsort": ("argsort", x),
        "sort of few": ("sort", few), "unique": ("unique", few), "unique of many": ("unique", ints),
        "nonzero": ("nonzero", mask), "flatnonzero": ("flatnonzero", mask), "diff": ("diff", x),
        "bincount": ("bincount", few), "nansum": ("nansum", some_nan),
        "nanmean": ("nanmean", some_nan), "nanvar": ("nanvar", some_nan),
        "nanmax": ("nanmax", some_nan), "nanargmax": ("nanargmax", some_nan),
        "nancumsum": ("nancumsum", some_nan), "median": ("median", x),
    }  # fmt: skip
    calls = {
        name: (lambda f=f, a=a: getattr(cubc, f)(a), lambda f=f, a=a: getattr(cupy, f)(a))
        for name, (f, a) in found.items()
    }
    for axis, of in ((1, rows), (0, columns)):
        for f in ("sum", "max", "argmax", "mean", "var", "cumsum", "sort", "argsort", "median"):
            calls[f"{f} axis={axis}"] = (
                lambda f=f, of=of, axis=axis: getattr(cubc, f)(of, axis=axis),
                lambda f=f, of=of, axis=axis: getattr(cupy, f)(of, axis=axis),
            )

    def both(name, f, *arguments, **options):
        calls[name] = (
            lambda: getattr(cubc, f)(*arguments, **options),
            lambda: getattr(cupy, f)(*arguments, **options),
        )

    both("searchsorted", "searchsorted", ordered, y)
    both("searchsorted sorted", "searchsorted", ordered, places)
    both("take", "take", x, i)
    both("take axis=1", "take", rows, i[:100] % 1000, axis=1)
    both("take_along_axis", "take_along_axis", rows, i[: rows.size].reshape(rows.shape) % 1000, 1)
    both("where", "where", mask, x, y)
    both("repeat", "repeat", x, 3)
    both("concatenate", "concatenate", [x, y])
    both("histogram", "histogram", x, 100)
    both("histogram edges", "histogram", x, cupy.linspace(-3, 3, 101))
    both("histogram2d", "histogram2d", x, y, 30)
    both("digitize by searchsorted", "searchsorted", ordered[:: n // 100], y)
    both("isin", "isin", ints, others)
    both("quantile", "quantile", x, 0.9)
    both("partition", "partition", x, n // 2)
    both("argpartition", "argpartition", x, n // 2)
    both("lexsort", "lexsort", cupy.stack([x, few.astype("f4")]))
    both("unique index", "unique", few, return_index=True)
    both("unique inverse", "unique", ints, return_inverse=True)
    both("unique counts", "unique", few, return_counts=True)
    both("array_equal", "array_equal", x, x.copy())
    both("union1d", "union1d", ints, others)
    both("intersect1d", "intersect1d", ints, others)
    both("setdiff1d", "setdiff1d", ints, others)
    both("setxor1d", "setxor1d", ints, others)
    both("put", "put", table, i, y)
    d = cubc.asarray(x)
    calls |= {
        "x[mask]": (lambda: d[mask], lambda: x[mask]),
        "x[i]": (lambda: d[i], lambda: x[i]),
        "x[::2]": (lambda: d[::2].copy(), lambda: x[::2].copy()),
        "x[::-1]": (lambda: d[::-1].copy(), lambda: x[::-1].copy()),
        "x.astype": (lambda: d.astype("f8"), lambda: x.astype("f8")),
        "x.copy": (lambda: d.copy(), lambda: x.copy()),
        "x.T.copy": (lambda: cubc.asarray(rows).T.copy(), lambda: rows.T.copy()),
        "x * x + 1": (lambda: (d * d + 1).array(), lambda: x * x + 1),
        "x == y": (lambda: cubc.transform("x == y", x=x, y=y), lambda: x == y),
        "permutation": (lambda: cubc.permutation(n), lambda: cupy.random.permutation(n)),
        "select": (lambda: cubc.select(x, "x > 1"), lambda: x[x > 1]),
        "topk": (lambda: cubc.topk(x, 100), lambda: cupy.sort(cupy.partition(x, n - 100)[-100:])),
        "adjacent_difference": (lambda: cubc.adjacent_difference(x), lambda: cupy.diff(x)),
        "scatter add": (
            lambda: cubc.scatter(x, few, y, op="sum"),
            lambda: cupy.add.at(x.copy(), few, y),
        ),
        "is_sorted": (lambda: cubc.is_sorted(x), lambda: bool((x[1:] >= x[:-1]).all())),
        "reduce_by_key": (
            lambda: cubc.reduce_by_key(ints // 7, x),
            lambda: cupy.unique(ints // 7, return_counts=True),
        ),
    }
    return calls


def median_us(call):
    times = []
    for sample in range(WARM_UP + SAMPLES):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        call()
        cupy.cuda.Device().synchronize()
        seconds = time.perf_counter() - begin
        if sample >= WARM_UP:
            times.append(seconds)
        if sample and seconds > SLOW_S:
            return 1e6 * seconds
    return 1e6 * statistics.median(times)


def compiled(call):
    """Call a function for the kernels that it compiles; its error comes when it is measured."""
    with contextlib.suppress(Exception):
        call()


def row(n, ratio, name, us, peer_us):
    return f"{name:24} {n:>10}  {us:10.1f} us  CuPy {peer_us:10.1f} us  x{ratio:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", help="those that contain one of these")
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    options = parser.parse_args()
    print(cubc.device_info()["name"], "CuPy", cupy.__version__)
    for n in options.sizes:
        found, calls = [], cases(n)
        if options.names:
            calls = {k: v for k, v in calls.items() if any(part in k for part in options.names)}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compiled, [ours for ours, _ in calls.values()]))
        for name, (ours, theirs) in calls.items():
            try:
                us, peer_us = median_us(ours), median_us(theirs)
            except Exception as error:  # what one of them does not take is shown, too
                print(f"{name:24} {n:>10}  {type(error).__name__}: {error}"[:160], flush=True)
                continue
            found.append((peer_us / us, name, us, peer_us))
            print(row(n, *found[-1]), flush=True)
        print("", *(row(n, *one) for one in sorted(found)), sep="\n", flush=True)


if __name__ == "__main__":
    main()
