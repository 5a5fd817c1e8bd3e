"""Identity of a user's function: of which code and which values measurements are."""

import array
import dataclasses
import enum
import functools
import os
import subprocess
import sys
import types
from collections import deque
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import cubc
from cubc import tuner
from cubc.tuner._identity import identity

SOURCE = """
// %RANGE% TUNE_THREADS tpb 32:64:32
__global__ void k(float* x) {}
"""
COUNT = 3
TABLE = np.arange(3)


def own(function):
    return tuner.benchmark(SOURCE)(function)


def test_another_function_is_another_benchmark():
    """Expected results and launches belong to a benchmark: with others old results do not count."""

    def strict(state):
        return 1e-9

    def loose(state):
        return 1e-3  # with a comment

    hashes = []
    for function in (strict, loose):
        function.__name__ = "same"
        [workload] = own(function).workloads(None, "cpu", ())
        hashes.append(workload.source_hash)
    assert hashes[0] != hashes[1]


class Kind(enum.Enum):
    A = 1
    B = 2


@dataclasses.dataclass(frozen=True)
class Pair:
    n: int

    def twice(self):
        return 2 * self.n


def identity_of(function):
    return own(function)._identity


def test_the_values_that_a_function_uses_are_of_its_identity(monkeypatch):
    """Numbers, arrays, lists and functions of enclosing functions, defaults and the module."""

    def made(n, of=(1, 2), more=None):
        def inner(state, k=n, *, also=2 * n):
            return n, of, COUNT, TABLE, more and more(n)

        return inner

    same = identity_of(made(3))
    assert identity_of(made(3)) == same
    others = [made(4), made(3, of=[1, 3]), made(3, more=lambda n: n), made(3, more=lambda n: -n)]
    assert len({same, *map(identity_of, others)}) == 5
    for name, value in (("COUNT", 4), ("TABLE", np.arange(1, 4))):
        with monkeypatch.context() as changed:
            changed.setitem(globals(), name, value)
            assert identity_of(made(3)) != same
    itself = []
    itself.append(itself)
    assert identity_of(made(3, of=itself))
    one, other = [1], [2]  # each of which is named twice
    first, second = (made(3, of=(one, other, last)) for last in (one, other))
    assert identity_of(first) != identity_of(second)
    kinds = [Kind.A, Kind.B, Path("a"), Path("b"), Pair(1), Pair(2)]
    kinds += [functools.partial(max, 1), functools.partial(max, 2)]
    assert len({identity_of(made(3, of=kind)) for kind in kinds}) == 8


def doubles(x):
    return 2 * x


def triples(x):
    return 3 * x


@pytest.mark.parametrize(
    "make",
    [
        lambda k: functools.cache((doubles, triples)[k]),
        lambda k: functools.lru_cache(9)((doubles, triples)[k]),
        lambda k: np.vectorize((doubles, triples)[k]),
        lambda k: [Fraction(1, 2), Fraction(1, 3)][k],
        lambda k: [Decimal(1), Decimal(2)][k],
        lambda k: np.ma.array([1, 2], mask=[0, k]),
        lambda k: np.array([1, Fraction(1, 2 + k)], object),
        lambda k: deque([k]),
        lambda k: bytearray([k]),
        lambda k: array.array("i", [k]),
        lambda k: memoryview(bytes([k])),
        lambda k: types.SimpleNamespace(n=k),
        lambda k: types.MappingProxyType({"n": k}),
        lambda k: Pair(k).twice,
        lambda k: cubc.asarray([1.0, k], device="cpu"),
    ],
)
def test_kinds_of_values_that_differ(make):
    def made(value):
        return lambda state: value

    said = [identity(made(make(k))) for k in (0, 1, 0)]
    assert said[0] == said[2] != said[1]


def test_what_is_defined_below_a_benchmark_is_of_its_identity(monkeypatch):
    def calls(state):
        return defined_below(state)  # noqa: F821

    benchmark = own(calls)
    said = []
    for function in (lambda state: 1, lambda state: 2):
        monkeypatch.setitem(globals(), "defined_below", function)
        said.append(benchmark._identity)
    assert said[0] != said[1]


def test_sets_in_a_function_are_the_same_in_each_process(tmp_path):
    (tmp_path / "beside.py").write_text(
        "from cubc import tuner\n"
        "@tuner.benchmark('// %RANGE% A tpb 32,64\\n__global__ void k(float* x) {}')\n"
        "def one(state):\n"
        "    return state in {'a', 'b', 'c', 'dd'}, (1, frozenset({'e', 'f', 'g'}))\n"
        "print(one._identity)\n"
    )
    said = {
        subprocess.run(
            [sys.executable, tmp_path / "beside.py"],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in range(3)
    }
    assert len(said) == 1
