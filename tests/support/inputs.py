"""Types, sizes and random inputs that the tests of the primitives share, and their references.

Floating inputs are small integers, so that their sums are exact in any order and a result must
equal NumPy's bit for bit.
"""

from itertools import combinations, product

import ml_dtypes
import numpy as np
from every_case import EVERY_CASE

import cubc
from cubc import _core
from cubc.tuner._space import parse_label

TYPES = {
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "F32": np.float32,
    "F64": np.float64,
}
FLOATS = ("F16", "BF16", "F32", "F64")
# Some of each size and kind, for what is alike for all; CUBC_TESTS=all takes all.
SOME = tuple(TYPES) if EVERY_CASE else ("I8", "BF16", "U16", "I32", "F32", "U64")

# Affine maps x -> p x + q modulo 2^32, packed as p * 2^32 + q: their composition is associative and
# does not commute, so it tells whether the order of the items is kept.
AFFINE = (
    "((a >> 32) * (b >> 32) << 32) | "
    "(((b >> 32) * (a & 0xffffffff) + (b & 0xffffffff)) & 0xffffffff)"
)


def random(type, n, seed=0):
    """Random items of all values of an integer type; of a float small integers with mean 0."""
    draw = np.random.default_rng(seed)
    dtype = np.dtype(TYPES[type])
    if type in FLOATS:
        return draw.integers(-2, 3, n).astype(dtype)
    return draw.integers(0, 256, n * dtype.itemsize, dtype=np.uint8).view(dtype)


def affine(n, seed=0):
    """Random affine maps; the factors are odd, so that no item is forgotten."""
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64) | np.uint64(1 << 32)


def compose(maps):
    """All prefixes of a composition of affine maps."""
    p, q, prefixes = 1, 0, []
    for m in map(int, maps):
        p, q = p * (m >> 32) % 2**32, ((m >> 32) * q + m) % 2**32
        prefixes.append(p << 32 | q)
    return np.array(prefixes, np.uint64)


MANY = (1 << 20) + 5001  # more than the policies for few items take


def heads(x):
    """Places where runs of equal consecutive items begin."""
    return np.flatnonzero(np.concatenate([np.ones(min(1, x.size), bool), x[1:] != x[:-1]]))


def longer_runs(x):
    """Offsets and lengths of the runs of more than one item."""
    begin = heads(x)
    lengths = np.diff(np.append(begin, x.size))
    return np.stack([begin[lengths > 1], lengths[lengths > 1]])


def exact(x):
    """The items in a type in which NumPy's arithmetic on them is exact (or wraps around)."""
    return x.astype(np.float64) if x.dtype.name in ("float16", "bfloat16", "float32") else x


def on(device, x):
    """The operand for a device: NumPy's array itself on the cpu."""
    return x if device == "cpu" else cubc.asarray(x, device=device)


def value(result):
    """A result of no dimensions as a NumPy scalar."""
    return np.asarray(result)[()]


def same(result, expected):
    """Compare type, shape and every bit but those of a NaN and of the sign of a zero."""
    result, expected = np.asarray(result), np.asarray(expected)
    assert result.dtype == expected.dtype
    with np.errstate(invalid="ignore"):  # to convert a signalling NaN
        np.testing.assert_array_equal(exact(result), exact(expected))


def policy(benchmark, type, device, **rt):
    """The parameters of the variant that runs, of many elements unless it is said."""
    arch = cubc.device_info(device)["arch"]
    return parse_label(_core.policy(benchmark, {"T{ct}": type}, arch, {"Elements": 1 << 28, **rt}))


def sizes_of(values, *, blocks=(1, 2, 33), further=()):
    """0, 1 and every boundary of vector, warp, block and tile of a variant, plus and minus one.

    Of `further` pairs of tiles and items there is their sum alone.
    """
    # Without ipt it is a deterministic scan's, of 8 bytes.
    tile = values["ipt"] * values["tpb"] if "ipt" in values else 4096
    edges = {1, 2, 1 << values.get("ipv", 0), 32, values["tpb"], tile * values.get("ms", 1)}
    edges |= {tile * count for count in blocks}
    around = {n for edge in edges for n in (edge - 1, edge, edge + 1)}
    return sorted(around | {tile * count + items for count, items in further})


def sizes(benchmark, type, device, **rt):
    return sizes_of(policy(benchmark, type, device, **rt))


def pairs_of(*choices):
    """Few of the combinations of choices, in which every two values of two of them meet.

    For what each combination is compiled for, where no third choice decides how two go together.
    """
    rows = list(product(*choices))
    missing = {pair: None for row in rows for pair in combinations(enumerate(row), 2)}
    found = []
    while missing:
        best = max(rows, key=lambda row: sum(p in missing for p in combinations(enumerate(row), 2)))
        found.append(best)
        for pair in combinations(enumerate(best), 2):
            missing.pop(pair, None)
    return found


def each_of(*choices):
    """As few combinations of choices as have every value of each; CUBC_TESTS=all gives `pairs_of`.

    For what another test tries pair by pair.
    """
    if EVERY_CASE:
        return pairs_of(*choices)
    choices = [list(choice) for choice in choices]
    return [
        tuple(choice[k % len(choice)] for choice in choices) for k in range(max(map(len, choices)))
    ]


def in_turn(types, others, every):
    """One in `every` of the combinations of two choices: all values of both are in some.

    For what is there of each type and, with the same operators, in a primitive that tries them all.
    CUBC_TESTS=all gives all combinations.
    """
    if EVERY_CASE:
        every = 1
    return [
        (type, other)
        for i, type in enumerate(types)
        for k, other in enumerate(others)
        if (i + k) % every == 0
    ]
