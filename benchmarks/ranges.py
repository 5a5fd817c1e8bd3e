"""Calls where a shipped policy of other calls would be faster: the worth of the ranges of
csrc/compile/policies.def.

    python benchmarks/ranges.py [--names NAME ...] [--types TYPE ...] [--sizes N ...] [--jobs N]
    python benchmarks/ranges.py --write before.json [--sizes N ...]
    python benchmarks/ranges.py --against before.json

A policy is searched at one size and shipped for a range of them. At each size, best one that is off
those of searches, all variants that are shipped for the algorithm and the type are timed,
alternately with the one that the call takes. A line is printed where a variant takes less than
`--below` of its time in a few samples and in more. Names are those of cub.py, with any values at
their ends.

--write notes which variant each call takes, and --against times those of a note beside today's
where they differ. Results that are wrong are printed as such and end the program with an error.
"""

import argparse
import itertools
import json
import sys
from pathlib import Path

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


def taken_by(name, dtype, size):
    benchmark, rt = place(name, size)
    return cub.policy_of(benchmark, dtype, rt, DEVICE)


def workload(name, dtype, size):
    benchmark, rt = place(name, size)
    return _core.Workload(benchmark, {"T{ct}": dtype}, rt, DEVICE)


def faster(name, dtype, size, labels, below, wrong):
    """Yield label, ratio and us of each variant that takes less than `below` of the policy's.

    One with a wrong result goes to `wrong` instead.
    """
    work, taken = workload(name, dtype, size), taken_by(name, dtype, size)
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
            if work.verify(variant):
                wrong.append(f"{name} {dtype} {size} {label}")
            elif found < below:
                yield label, found, us


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", type=cub.known, default=cub.NAMES)
    parser.add_argument("--types", nargs="+", choices=cub.TYPE_CODES, default=cub.TYPE_CODES)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="in this order")
    parser.add_argument("--below", type=float, default=0.97, help="default: %(default)s")
    parser.add_argument("--jobs", type=int, default=8, help="processes that compile first")
    note = parser.add_mutually_exclusive_group()
    note.add_argument("--write", type=Path, metavar="FILE", help="which variants calls take")
    note.add_argument("--against", type=Path, metavar="FILE", help="time those of a note")
    return parser.parse_args()


def sweep(options, cells, wrong):
    """Time what is shipped for other sizes."""
    cells = [(*cell, labels_of(*cell)) for cell in cells]
    work = [
        (name, dtype, size, label)
        for (name, dtype, labels), size in itertools.product(cells, options.sizes)
        for label in labels
    ]
    cub.compile_all(compile_one, work, options.jobs)
    gains = []
    for size, (name, dtype, labels) in itertools.product(options.sizes, cells):
        found = faster(name, dtype, size, labels, options.below, wrong)
        best = sorted(found, key=lambda one: one[1])
        gains.append(np.log(best[0][1]) if best else 0.0)
        for label, share, us in best[:3]:
            print(
                f"{name:25} {dtype:3} {size:>10}  x{share:.3f}  {us:9.2f} us  {label}", flush=True
            )
    print(
        f"{sum(gain < 0 for gain in gains)} of {len(gains)} cells would be faster by another row;"
        f" geometric mean of all x{np.exp(np.mean(gains)):.3f}"
    )


def compare(note, jobs, wrong):
    """Time the variants of a note beside those that calls take."""
    before = [(name, dtype, int(size), label) for name, dtype, size, label in note]
    differ = [(*one, now) for one in before if (now := taken_by(*one[:3])) != one[3]]
    work = [(*where, label) for *where, old, now in differ for label in (old, now)]
    cub.compile_all(compile_one, work, jobs)
    logs = []
    for name, dtype, size, old, now in differ:
        one = workload(name, dtype, size)
        variant = one.variant(now)
        share, us = ratio(one, variant, one.variant(old), MORE)
        if one.verify(variant):
            wrong.append(f"{name} {dtype} {size} {now}")
        logs.append(np.log(share))
        print(
            f"{name:25} {dtype:3} {size:>10}  x{share:.3f}  {us:9.2f} us  {now}, was {old}",
            flush=True,
        )
    mean = np.exp(np.mean(logs)) if logs else 1.0
    print(
        f"{len(logs)} of {len(before)} cells differ: geometric mean x{mean:.3f},"
        f" {sum(log > np.log(1.03) for log in logs)} above x1.03"
    )


def main():
    options = parse()
    if DEVICE not in cubc.devices():
        print("ranges.py: needs a CUDA device")
        return
    cells = [
        (name, dtype)
        for name, dtype in itertools.product(options.names, options.types)
        if dtype in cub.types_of(name)
    ]
    wrong = []
    if options.write:
        everywhere = itertools.product(cells, options.sizes)
        note = [(*cell, size, taken_by(*cell, size)) for cell, size in everywhere]
        options.write.write_text(json.dumps(note))
    elif options.against:
        compare(json.loads(options.against.read_text()), options.jobs, wrong)
    else:
        sweep(options, cells, wrong)
    if wrong:
        sys.exit("wrong results: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
