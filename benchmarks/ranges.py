"""Where a shipped policy of other calls would be faster: what the ranges of
csrc/compile/policies.def are worth.

    python benchmarks/ranges.py [--names NAME ...] [--types TYPE ...] [--sizes N ...] [--jobs N]

A policy is searched at one size and shipped for a range of them. At each size here, none of which
was searched, all variants that are shipped for the algorithm and the type are timed, alternately
with the one that the call takes. A line is printed where a variant takes less than `--below` of its
time in a few samples and in more. Names are those of cub.py, with any values at their ends.
"""

import argparse
import concurrent.futures
import itertools
import multiprocessing

import cub
import numpy as np

import cubc
from cubc import _core

SIZES = (120_000_007, 48_000_001, 12_000_017, 7_000_003, 1_500_007, 200_003, 12_345)
DEVICE = "cuda:0"
FEW, MORE = 5, 15  # samples


def place(name, size):
    benchmark, axes = cub.split_name(name)
    return benchmark, cub.elements(size) | cub.further_axes(benchmark, axes)


def compile_one(name, dtype, size, label):
    """Compile a variant into the cache, if it may run there."""
    benchmark, rt = place(name, size)
    arch = cubc.device_info(DEVICE)["arch"]
    try:
        _core.compile(benchmark, {"T{ct}": dtype}, arch, label, 0.0, b"", rt)
    except cubc.ResourceError:
        return


def compile_all(work, jobs):
    start = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, start) as pool:
        waiting = [pool.submit(compile_one, *one) for one in work]
        for done in concurrent.futures.as_completed(waiting):
            done.result()


def ratio(work, variant, base, samples):
    """Time of a variant over that of base, and its own in us."""
    held = {"min_samples": samples, "max_samples": samples, "timeout": 20.0}
    measured = work.measure(variant, base, **held)
    us, base_us = (cub.microseconds(measured, key) for key in ("samples", "base_samples"))
    return us / base_us, us


def labels_of(name, dtype):
    """Variants shipped for calls of a benchmark of any size."""
    benchmark, rt = place(name, SIZES[0])
    return _core.shipped(benchmark, {"T{ct}": dtype}, cubc.device_info(DEVICE)["arch"], rt)


def faster(name, dtype, size, labels, below):
    """Yield label, ratio and us of each variant that takes less than `below` of the policy's."""
    benchmark, rt = place(name, size)
    work = _core.Workload(benchmark, {"T{ct}": dtype}, rt, DEVICE)
    taken = cub.policy_of(benchmark, dtype, rt, DEVICE)
    base = work.variant(taken)
    for label in labels:
        if label == taken:
            continue
        try:
            variant = work.variant(label)
        except cubc.ResourceError:  # its type is too large for it
            continue
        if ratio(work, variant, base, FEW)[0] < below:
            found, us = ratio(work, variant, base, MORE)
            if found < below and not work.verify(variant):
                yield label, found, us


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", type=cub.known, default=cub.NAMES)
    parser.add_argument("--types", nargs="+", choices=cub.TYPE_CODES, default=cub.TYPE_CODES)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="in this order")
    parser.add_argument("--below", type=float, default=0.97, help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=8, help="processes that compile first")
    return parser.parse_args()


def main():
    options = parse()
    if cubc.devices()[0] == "cpu":
        print("ranges.py: needs a CUDA device")
        return
    cells = [
        (name, dtype, labels_of(name, dtype))
        for name, dtype in itertools.product(options.names, options.types)
        if dtype in cub.types_of(name)
    ]
    compile_all(
        [
            (name, dtype, size, label)
            for (name, dtype, labels), size in itertools.product(cells, options.sizes)
            for label in labels
        ],
        options.jobs,
    )
    gains = []
    for size, (name, dtype, labels) in itertools.product(options.sizes, cells):
        best = sorted(faster(name, dtype, size, labels, options.below), key=lambda one: one[1])
        gains.append(np.log(best[0][1]) if best else 0.0)
        for label, found, us in best[:3]:
            print(
                f"{name:25} {dtype:3} {size:>10}  x{found:.3f}  {us:9.2f} us  {label}", flush=True
            )
    print(
        f"{sum(gain < 0 for gain in gains)} of {len(gains)} cells would be faster by another row;"
        f" geometric mean of all x{np.exp(np.mean(gains)):.3f}"
    )


if __name__ == "__main__":
    main()
