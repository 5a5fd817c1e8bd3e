"""Every base policy compiles for the GPUs that are supported. Needs NVRTC, but no GPU."""

import re

import pytest

from cubc import _core

BENCHMARKS = _core.benchmarks()
TYPES = {
    "sm_75": ("I8", "F64"),
    "sm_80": ("F32",),
    "sm_90": ("I8", "BF16", "F32", "F64"),
    "sm_100": ("I32",),
}


def why_no_nvrtc():
    try:
        _core.compile("transform.fill", {"T{ct}": "F32"}, "sm_90", "base")
    except RuntimeError as error:
        if "NVRTC" in str(error) and not isinstance(error, _core.CompileError):
            return str(error)
    return ""


@pytest.fixture(scope="module", autouse=True)
def nvrtc():
    if why := why_no_nvrtc():
        pytest.skip(why)


@pytest.mark.parametrize("arch", TYPES)
@pytest.mark.parametrize("name", BENCHMARKS)
def test_base_policies(name, arch):
    declared = BENCHMARKS[name]["T{ct}"]
    for type in TYPES[arch] if "I8" in declared else declared:  # those of a lattice are few
        assert _core.compile(name, {"T{ct}": type}, arch, "base") >= 0


def test_a_second_time_comes_from_the_cache():
    workload = ("reduce.max", {"T{ct}": "I16"}, "sm_80", "base")
    _core.compile(*workload)
    assert _core.compile(*workload) == 0


def test_a_deadline():
    label = "ipt_24.tpb_608.ipv_2.ld_0.sm_0.wav_6.ms_1.ord_1"
    said = f"compiling reduce.sum {label} took longer than 1e-06 s and was stopped"
    with pytest.raises(TimeoutError, match=re.escape(said)):
        _core.compile("reduce.sum", {"T{ct}": "U32"}, "sm_90", label, 1e-6)
