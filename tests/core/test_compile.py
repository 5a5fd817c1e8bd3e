"""Every base policy compiles for the GPUs that are supported. Needs NVRTC, but no GPU.

NVRTC optimises little here where it can be told so (12.8 and later): what it refuses it refuses all
the same, in a third of the time.
"""

import os
import re

import pytest
from every_case import EVERY_CASE
from nvrtc import FILL, why_no_nvrtc

from cubc import _core

BENCHMARKS = _core.benchmarks()
ARCHS = ("sm_75", "sm_80", "sm_90", "sm_100")  # most policies are of the third
TYPES = ("I8", "BF16", "F32", "F64")  # one of each size


def types_of(name, turn):
    """The sizes of items that a benchmark is declared for, from another one each turn."""
    types = TYPES if "I8" in BENCHMARKS[name]["T{ct}"] else BENCHMARKS[name]["T{ct}"]
    return [types[(k + turn) % len(types)] for k in range(len(types))]


def cases():
    """Every benchmark and every policy for the GPU that most policies are of, and every algorithm
    for two of the others; types take turns."""
    seen = set()
    for rest in (False, True):  # one type of every benchmark, then the policies that are left
        for k, name in enumerate(BENCHMARKS):
            policies = {
                (name.split(".")[0], _core.base(name, {"T{ct}": type}, "sm_90")): type
                for type in types_of(name, k)
            }
            fresh = [policy for policy in policies if policy not in seen]
            for policy in fresh if rest else (fresh or list(policies))[:1]:
                seen.add(policy)
                yield name, policies[policy], "sm_90"
    first = {name.split(".")[0]: name for name in reversed(BENCHMARKS)}
    others = [arch for arch in ARCHS if arch != "sm_90"]
    for k, name in enumerate(first.values()):
        for turn, type in zip((k, k + 1), types_of(name, k), strict=False):
            yield name, type, others[turn % len(others)]


QUICK = "--Ofast-compile=max --minimal"


@pytest.fixture(scope="module", autouse=True)
def quick_nvrtc():
    if why := why_no_nvrtc():
        pytest.skip(why)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUBC_NVRTCFLAGS", QUICK)
        try:
            _core.compile(*FILL)
        except _core.CompileError:  # an older NVRTC, which does not know it
            patch.setenv("CUBC_NVRTCFLAGS", "")
        yield


@pytest.mark.some(2)
@pytest.mark.parametrize("size", [1, 4, 8])
@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("reduce.sum", {1: "U8", 4: "I32", 8: "I64"}),
        ("scan.exclusive.sum", {1: "I8", 4: "F32", 8: "F64"}),
        ("select.if", {1: "U8", 4: "F32", 8: "I64"}),
        ("histogram.even", {1: "I8", 4: "I32", 8: "F64"}),
        ("sort.keys", {1: "U8", 4: "I32", 8: "F64"}),
        ("sort.pairs", {1: "I8", 4: "F32", 8: "I64"}),
    ],
)
def test_policies_for_some_sizes(name, types, size):
    type = types[size]
    labels = {
        _core.base(name, {"T{ct}": type}, "sm_90", {"Elements": 1 << n}) for n in (16, 20, 25)
    }
    for label in labels - {_core.base(name, {"T{ct}": type}, "sm_90")}:
        assert _core.compile(name, {"T{ct}": type}, "sm_90", label) >= 0


def some_cases():
    """Every ninth of each algorithm, one at least; CUBC_TESTS=all runs all."""
    of_algorithms = {}
    for case in cases():
        of_algorithms.setdefault(case[0].split(".")[0], []).append(case)
    every = 1 if EVERY_CASE else 9
    for k, of_one in enumerate(of_algorithms.values()):
        yield from of_one[k % min(every, len(of_one)) :: every]


@pytest.mark.parametrize(("name", "type", "arch"), list(some_cases()))
def test_base_policies(name, type, arch):
    if why := why_no_nvrtc(arch):
        pytest.skip(why)
    assert _core.compile(name, {"T{ct}": type}, arch, "base") >= 0


def test_a_second_time_comes_from_the_cache():
    workload = ("reduce.max", {"T{ct}": "I16"}, "sm_80", "base")
    _core.compile(*workload)
    assert _core.compile(*workload) == 0


@pytest.mark.parametrize("given", ["--no-such-option", "-DA " * 30, "-D" + "A" * 2000])
def test_further_options(monkeypatch, given):
    """They reach the compiler, and their number and length have limits."""
    monkeypatch.setenv("CUBC_NVRTCFLAGS", given)
    said = "no-such-option" if "such" in given else "CUBC_NVRTCFLAGS is too long"
    with pytest.raises((ValueError, _core.CompileError), match=said):
        _core.compile(*FILL)


def test_a_deadline():
    if os.environ["CUBC_NVRTCFLAGS"] != QUICK:
        pytest.skip("NVRTC before 12.8 cannot be stopped")
    label = "ipt_24.tpb_608.ipv_2.ld_0.sm_0.wav_6.ms_1.ord_1"
    said = f"compiling reduce.sum {label} took longer than 1e-06 s and was stopped"
    with pytest.raises(TimeoutError, match=re.escape(said)):
        _core.compile("reduce.sum", {"T{ct}": "U32"}, "sm_90", label, 1e-6)


@pytest.mark.some(1)
@pytest.mark.parametrize("operator", ["wilson", "clover", "twisted"])
def test_policies_of_several_right_hand_sides(operator):
    where = (f"dslash.{operator}.r12", {"T{ct}": "F32"}, "sm_90")
    rt = {"X": 12, "Y": 12, "Z": 12, "T": 20, "Sources": 4}
    assert _core.compile(*where, "base", 0.0, b"", rt) >= 0
