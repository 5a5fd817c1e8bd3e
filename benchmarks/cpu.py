"""Primitives on host arrays beside NumPy, interleaved, on the same cores.

    python benchmarks/cpu.py [--elements N] [--rounds N] [--policies STORE...]

Both sides are timed from Python in turns, so that a drift of the machine meets both alike; the
table has medians. NumPy's triad takes the two passes without a temporary array that it can do with.
"""

import argparse
import statistics
import time

import numpy as np

import cubc


def seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def medians(ours, theirs, rounds):
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
    return (statistics.median(side) * 1e3 for side in zip(*taken, strict=True))


def pairs(n):
    """Name, cubc's call, NumPy's call, bytes that both must move."""
    rng = np.random.default_rng(42)
    x, y = rng.random(n, np.float32), rng.random(n, np.float32)
    out, three = np.empty_like(x), np.float32(3)
    total = np.empty((), np.float32)
    ordered, some = np.sort(x), y[: n // 10]

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=61)
    parser.add_argument("--policies", nargs="*", default=[], help="stores whose policies to use")
    options = parser.parse_args()
    if options.policies:
        cubc.use_policies(*options.policies)
    with cubc.device("cpu"):
        info = cubc.device_info()
        print(f"{info['model']}, {info['units']} cores, {info['compiler']}, NumPy {np.__version__}")
        print(f"{options.elements} F32, {options.rounds} rounds, medians")
        for name, ours, theirs, moved in pairs(options.elements):
            a, b = medians(ours, theirs, options.rounds)
            print(
                f"{name:20} cubc {a:8.3f} ms  NumPy {b:8.3f} ms  x{b / a:.2f}"
                f"  {moved / a * 1e-6:6.1f} GB/s",
                flush=True,
            )


if __name__ == "__main__":
    main()
