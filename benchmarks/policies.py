"""Searches beside the shipped policies, and keeps the stores: what csrc/policies.def rests on.

    python benchmarks/policies.py FOLDER [--only REGEX] [--sizes NAME...] [--seconds S]

For each workload of the list the space is searched for S seconds, at the number of items that the
policy is for, in FOLDER/ALGORITHM.db; the policy itself is visited first, so that it stands among
what was found. A line has the policy's speed over base, the policy for any number of items, and
the best variant's over the policy, by the rounds in which both were measured again: near 1, the
policy is as good as what a search of this length finds. Where it is above, the line ends with the
variant.

The same call goes on for as long again with what was found; after a change of the policies it
needs a new folder. Several GPUs share the work as one process each, with CUDA_VISIBLE_DEVICES and
--only, in one folder.
"""

import argparse
import re
from pathlib import Path

import cubc
from cubc import _core, tuner
from cubc.tuner.space import parse_label

ELEMENTS = "Elements{io}[pow2]"
SIZES = {"small": (16, 20), "middle": (24,), "large": (28,), "": None}  # as csrc/policy.c has them
TIMING = {"max_samples": 30}  # the samples are most of a store
WORKLOADS = [
    ("reduce.sum", "large", "I8 F32 F64"),
    ("reduce.sum", "middle", "F32 F64"),
    ("reduce.sum", "small", "I8 F32 F64"),
    ("scan.exclusive.sum", "large", "I8 I16 I32 I64 F64"),
    ("scan.exclusive.sum", "middle", "F32 F64"),
    ("scan.exclusive.sum", "small", "I8 F32 I64 F64"),
    ("select.if", "large", "I8 I32 F32 F64"),
    ("select.if", "middle", "F32"),
    ("select.if", "small", "I8 F32 F64"),
    ("select.unique", "large", "I8 F32 F64"),
    ("select.unique", "middle", "F32"),
    ("select.unique", "small", "I8 F32 F64"),
    ("runs.encode", "large", "F32 F64"),
    ("histogram.even.256", "large", "U8 F32 F64"),
    ("histogram.even.256", "middle", "F32 F64"),
    ("histogram.even.256", "small", "U8 F32 F64"),
    ("histogram.even.2048", "large", "F32"),
    ("sort.keys", "large", "I8 I16 I32 I64"),
    ("sort.keys", "middle", "I32 I64"),
    ("sort.pairs", "large", "I32 I64"),
    ("sort.pairs", "middle", "I32 I64"),
    ("dslash.wilson.r18", "", "F64 F32 I16"),
    ("dslash.wilson.r12", "", "F64 F32 I16"),
    ("dslash.wilson.r8", "", "F64 F32 I16"),
    ("dslash.wilson.r12.s4", "", "F32"),
]


def pinned(label):
    """Constraints that leave this variant alone."""
    return [f"{name} == {value}" for name, value in parse_label(label).items()]


def line(benchmark, type, sizes, folder, seconds):
    """Search for the policy of a workload, and say how it compares."""
    arch = cubc.device_info()["arch"]
    where = (benchmark, {"T{ct}": type}, arch)
    policy = _core.policy(*where, 2 ** max(sizes)) if sizes else _core.policy(*where)
    base = _core.base(*where)
    axes = {"T{ct}": type} | ({ELEMENTS: list(sizes)} if sizes else {})
    store = folder / f"{benchmark.partition('.')[0]}.db"
    options = {"axes": axes, "db": store, "timing": TIMING, "progress": False}
    if policy != base:
        tuner.search(benchmark, **options, constraints=pinned(policy), variants=1)
    found = tuner.search(benchmark, **options, seconds=seconds)
    (group,) = found.groups
    shipped = "base" if policy == base else policy
    own, (best, label) = group.score(shipped), group.ranked()[0]
    size = ",".join(f"2^{size}" for size in sizes) if sizes else "lattices"
    text = f"{benchmark:<21} {type:<4} {size:<10} {len(group.cells):5} variants"
    if not own:
        return f"{text}   policy: {group.failure(shipped)}   best x{best:.3f} of base  {label}"
    text += f"   policy x{own:.3f} of base"
    return text if label == shipped else f"{text}   best x{best / own:.3f} of the policy  {label}"


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
