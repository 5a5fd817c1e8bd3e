"""Searches beside the shipped policies, and keeps the stores: what csrc/compile/policies.def rests
on.

    python benchmarks/policies.py FOLDER [--only REGEX] [--sizes NAME...] [--seconds S]

For each workload of the list the space is searched for S seconds, at the number of items that the
policy is for, in FOLDER/ALGORITHM.db. A line has the best variant's speed over the policy, which is
base there, by the rounds in which both were measured again: near 1, the policy is as good as what
a search of this length finds. Where it is not base, the line ends with the variant and its verdict.

The same call goes on for as long again with what was found; after a change of the policies it
needs a new folder. Several GPUs share the work as one process each, with CUDA_VISIBLE_DEVICES and
--only, in one folder.
"""

import argparse
import re
from pathlib import Path

import cubc
from cubc import tuner

ELEMENTS = "Elements{io}[pow2]"
SIZES = {  # exponents of the ranges in csrc/compile/policies.def; lattices have sizes of their own
    "tiny": (16,),
    "small": (20,),
    "middle": (24,),
    "large": (28,),
    "": None,
}
TIMING = {"max_samples": 30}  # the samples are most of a store
WORKLOADS = [
    ("reduce.sum", "large", "I8 F32 F64"),
    ("reduce.sum", "middle", "I16 F32 F64"),
    ("reduce.sum", "small", "I8 I16 F32 F64"),
    ("reduce.sum", "tiny", "I8 I16 F32 F64"),
    ("scan.exclusive.sum", "large", "I8 I16 I32 I64 F64"),
    ("scan.exclusive.sum", "middle", "I16 F32 F64"),
    ("scan.exclusive.sum", "small", "I8 I16 F32 I64 F64"),
    ("scan.exclusive.sum", "tiny", "I8 I16 F32 I64 F64"),
    ("select.if", "large", "I8 I32 F32 F64"),
    ("select.if", "middle", "I16 F32"),
    ("select.if", "small", "I8 I16 F32 F64"),
    ("select.if", "tiny", "I8 I16 F32 F64"),
    ("select.unique", "large", "I8 F32 F64"),
    ("select.unique", "middle", "I16 F32"),
    ("select.unique", "small", "I8 I16 F32 F64"),
    ("select.unique", "tiny", "I8 I16 F32 F64"),
    ("runs.encode", "large", "F32 F64"),
    ("runs.encode", "tiny", "F32 F64"),
    ("histogram.even Bins=256", "large", "U8 F32 F64"),
    ("histogram.even Bins=256", "middle", "F32 F64"),
    ("histogram.even Bins=256", "small", "U8 F32 F64"),
    ("histogram.even Bins=2048", "large", "F32"),
    ("sort.keys", "large", "I8 I16 I32 I64"),
    ("sort.keys", "middle", "I32 I64"),
    ("sort.pairs", "large", "I32 I64"),
    ("sort.pairs", "middle", "I32 I64"),
    ("dslash.wilson.r18", "", "F64 F32 I16"),
    ("dslash.wilson.r12", "", "F64 F32 I16"),
    ("dslash.wilson.r8", "", "F64 F32 I16"),
    ("dslash.wilson.r12 Sources=4", "", "F32"),
]


def line(benchmark, type, sizes, folder, seconds):
    """Search for the policy of a workload, and say how it compares."""
    benchmark, *more = benchmark.split()
    axes = {"T{ct}": type, **dict(text.split("=") for text in more)}
    axes |= {ELEMENTS: list(sizes)} if sizes else {}
    store = folder / f"{benchmark.partition('.')[0]}.db"
    options = {"axes": axes, "db": store, "timing": TIMING, "progress": False}
    (group,) = tuner.search(benchmark, **options, seconds=seconds).groups
    best, label = group.ranked()[0]
    size = ",".join(f"2^{size}" for size in sizes) if sizes else "lattices"
    text = f"{benchmark:<21} {type:<4} {size:<10} {len(group.cells):5} variants   best x{best:.3f}"
    return text if label == "base" else f"{text} of the policy  {label} {group.verdict(label)}"


def main():
    """Search for each workload of the list, one after the other."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="regular expression for NAME TYPE")
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--seconds", type=float, default=40.0)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{cubc.device_info()['name']}, {options.seconds:g} s a workload", flush=True)
    for benchmark, size, types in WORKLOADS:
        for type in types.split() if size in options.sizes else []:
            if re.search(options.only, f"{benchmark} {type}"):
                found = line(benchmark, type, SIZES[size], options.folder, options.seconds)
                print(found, flush=True)


if __name__ == "__main__":
    main()
