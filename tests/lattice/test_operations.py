"""Floating-point operations of the operators' benchmarks, which rooflines are drawn by."""

import pytest

from cubc import _core

SITES = 4**4 // 2  # of one parity
EXTENT = dict.fromkeys("XYZT", 4)
COUNTS = {
    "dslash.wilson.r12": 1320,
    "dslash.twisted.r18": 1320 + 96,
    "dslash.clover.r8": 1320 + 552,
    "dslash.twisted_clover.r12": 1320 + 2 * 552,
    "dslash.doublet.r12": 2 * (1320 + 192),
    "dslash.naive.r18": 570,
    "dslash.improved.r13": 1146,
}


def flops(name, **at):
    return _core.Workload(name, {"T{ct}": "F32"}, EXTENT | at, "cpu").flops


@pytest.mark.parametrize("name", COUNTS)
def test_each_site_of_each_source_counts(name):
    assert flops(name, Sources=1) == COUNTS[name] * SITES
    assert flops(name, Sources=12) == 12 * COUNTS[name] * SITES


def test_along_the_fifth_dimension():
    assert flops("dslash.domain_wall.r12", Sources=1, Ls=12) == 12 * (1320 + 240) * SITES
    assert flops("domain_wall.inverse", Sources=1, Ls=12) == 0  # not counted


def test_what_is_no_operator_counts_none():
    assert _core.Workload("reduce.sum", {"T{ct}": "F32"}, {"Elements": 4096}, "cpu").flops == 0
