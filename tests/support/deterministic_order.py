"""Deterministic calls on numbers whose sums round, with the policies of every variant of a list.

    python deterministic_order.py

Prints a line for each call, type and size: a hash of the result's bits with each variant. All have
to be the same, whatever the scheduler seed and the number of workers are.
"""

import hashlib

import numpy as np

import cubc
from cubc import _core

LABELS = {
    "deterministic_reduce.sum": [
        "ipt_4.tpb_64.ld_0.wav_1",
        "ipt_32.tpb_256.ld_1.wav_2",
        "ipt_16.tpb_1024.ld_0.wav_1",
    ],
    "deterministic_scan.sum": [
        "tpb_128.ld_1",
        "tpb_256.ld_0",
    ],
    "axis_reduce.sum": [
        "ipt_4.tpb_64.ipv_0.ld_0.wav_8",
        "ipt_8.tpb_192.ipv_1.ld_1.wav_1",
    ],
}
LABELS["deterministic_reduce.segments"] = LABELS["deterministic_reduce.sum"][:2]
for what in ("by_key", "segmented", "runs"):
    LABELS[f"deterministic_scan.{what}"] = LABELS["deterministic_scan.sum"]


def numbers(n, dtype="f4", seed=0):
    """Numbers of many magnitudes and both signs; float16 of few, which does not overflow."""
    draw = np.random.default_rng(seed)
    x = draw.standard_normal(n)
    return (x if dtype == "f2" else x * 10.0 ** draw.integers(-5, 6, n)).astype(dtype)


def edges(n):
    """Offsets of segments: empty, of a few items, of some hundred, of more than a tile."""
    draw = np.random.default_rng(n)
    few = draw.integers(0, min(n, 600) + 1, 40)
    return np.sort(np.concatenate([[0, 0, n], few, draw.integers(0, n + 1, 9)]))


def keys_of(x):
    return np.repeat(np.arange(x.size // 300 + 1), 300)[: x.size]


def grid(x, *shape):
    """The beginning of x as an array of a shape whose one -1 is what there are items for."""
    return x[: x.size // -np.prod(shape) * -np.prod(shape)].reshape(shape)


# By the benchmark whose policy they run: calls of an array x, and what makes x another device's.
CASES = {
    "deterministic_reduce.sum": {
        "sum": lambda x, on: cubc.sum(on(x), deterministic=True),
        "in order": lambda x, on: cubc.reduce(on(x), "a + b", deterministic=True),
        "dot": lambda x, on: cubc.sum(
            cubc.lazy("v * w", v=on(x), w=on(x[::-1].copy())), deterministic=True
        ),
        "misaligned": lambda x, on: cubc.sum(on(x[1:]), init=1, deterministic=True),
    },
    "deterministic_reduce.segments": {
        "offsets": lambda x, on: cubc.segmented_reduce(
            on(x), on(edges(x.size)), deterministic=True
        ),
        "offsets in order": lambda x, on: cubc.segmented_reduce(
            on(x), on(edges(x.size)), "a + b", init=0, deterministic=True
        ),
        "rows": lambda x, on: cubc.sum(on(grid(x, -1, 100)), axis=1, deterministic=True),
    },
    "axis_reduce.sum": {
        "3 columns": lambda x, on: cubc.sum(on(grid(x, -1, 3)), axis=0, deterministic=True),
        "20 columns": lambda x, on: cubc.sum(on(grid(x, -1, 20)), axis=0, deterministic=True),
        "middle": lambda x, on: cubc.sum(on(grid(x, -1, 75, 4)), axis=1, deterministic=True),
        "wide": lambda x, on: cubc.sum(on(grid(x, -1, 300)), axis=0, deterministic=True),
    },
    "deterministic_scan.sum": {
        "scan": lambda x, on: cubc.scan(on(x), deterministic=True),
        "exclusive": lambda x, on: cubc.scan(on(x), inclusive=False, deterministic=True),
        "expression": lambda x, on: cubc.scan(on(x), "a + b", init=3, deterministic=True),
    },
    "deterministic_scan.by_key": {
        "by key": lambda x, on: cubc.scan_by_key(on(keys_of(x)), on(x), deterministic=True),
    },
    "deterministic_scan.runs": {
        "runs": lambda x, on: cubc.reduce_by_key(on(keys_of(x)), on(x), deterministic=True)[1],
    },
    "deterministic_scan.segmented": {
        "segmented": lambda x, on: cubc.segmented_scan(
            on(x), on(edges(x.size)), inclusive=False, deterministic=True
        ),
    },
}
TYPES = {"F32": "f4", "F64": "f8", "F16": "f2"}


def bits(result):
    return hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest()[:16]


def run(benchmark, label, type):
    """The calls run this variant on the cpu from now on; None: their own."""
    if label is None:
        _core.clear_policies()
    else:
        _core.use_policy(benchmark, {"T{ct}": type}, "cpu", label)


def results(type, n, benchmark, labels, calls=None):
    """The hashes of each call, or of the first ones, with its own policy and with these."""
    x = numbers(n, TYPES[type])
    cases = dict(list(CASES[benchmark].items())[:calls])
    found = {name: [] for name in cases}
    for label in (None, *labels):
        run(benchmark, label, type)
        for name, call in cases.items():
            found[name].append(bits(call(x, lambda array: array)))
    run(benchmark, None, type)
    return found


if __name__ == "__main__":
    for type, n in (("F32", 1), ("F32", 130), ("F32", 8191), ("F32", 34_001), ("F64", 20_001)):
        for benchmark, labels in LABELS.items():
            some = (labels, None) if type == "F32" else (labels[-1:], 1)
            found = results(type, n, benchmark, *some)
            for name, hashes in found.items():
                print(type, n, name, *hashes, sep=",")
