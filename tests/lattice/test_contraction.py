"""Hops leave no product and sum to the compiler to contract. Needs NVRTC, but no GPU.

With contraction and without, a kernel has as many sums, products and fused steps, so that a kernel
with faces and one without compute the same bits: the operations are those of the source.
"""

from collections import Counter

import pytest
from every_case import EVERY_CASE
from ranks_compile import code_of, library
from test_ranks_compile import FIELDS, PRODUCTS, SITES, STAGGERED, WALL, passes

HOP = SITES | {"TUNE_GUARDED": 0, "TUNE_Z": 0, "TUNE_CUT": 8, "TUNE_SOURCES_PER_THREAD": 1}
HALF = {"TUNE_T": "i16", "TUNE_CONVERT": 1}
EIGHT = {"TUNE_RECONSTRUCT": 8}
PHASES = {"TUNE_PHASES": 15, "TUNE_ANISOTROPIC": 1}
C_D, C_X = {"TUNE_SITE": 0}, {"TUNE_SITE": 1}
CASES = {"wilson": ("dslash_wilson.cu", EIGHT | PHASES)}
MORE = {
    "doublet": ("dslash_doublet.cu", {"TUNE_SOURCES_PER_THREAD": 2, "TUNE_INNER": 2}),
    "wilson, double": ("dslash_wilson.cu", EIGHT | {"TUNE_T": "f64", "TUNE_XPAY": 0}),
    "wilson, half": ("dslash_wilson.cu", EIGHT | HALF),
    "wilson, several": (
        "dslash_wilson.cu",
        {"TUNE_SOURCES_PER_THREAD": 4, "TUNE_KEEP_LINKS": 1, "TUNE_DAGGER": 1},
    ),
    "twisted, half": ("dslash_twisted.cu", HALF),
    "twisted, double": ("dslash_twisted.cu", {"TUNE_T": "f64", "TUNE_XPAY": 0}),
    "doublet, half": (
        "dslash_doublet.cu",
        HALF | {"TUNE_SOURCES_PER_THREAD": 2, "TUNE_INNER": 2, "TUNE_TEMPORAL": 1},
    ),
    "clover, C x, half": ("dslash_clover.cu", HALF | C_X),
    "clover, C D": ("dslash_clover.cu", C_D),
    "clover, C D, half": ("dslash_clover.cu", HALF | C_D),
    "twisted clover, C D, half": ("dslash_twisted_clover.cu", HALF | C_D),
    "twisted clover, C x, half": ("dslash_twisted_clover.cu", HALF | C_X),
    "walls": ("dslash_domain_wall.cu", WALL | {"TUNE_HOPS": 1}),
    "walls, half": ("dslash_domain_wall.cu", WALL | HALF | {"TUNE_HOPS": 1}),
    "staggered, half": ("dslash_staggered.cu", HALF | STAGGERED | PHASES),
    "staggered, eight": (
        "dslash_staggered.cu",
        {"TUNE_T": "f64", "TUNE_FAT_REALS": 8, "TUNE_LONG_REALS": 0},
    ),
}
ALL = [*CASES, *MORE] if EVERY_CASE else [*CASES]


# The lowest byte of an instruction of 16, of all its forms: FMUL, FADD, FFMA, DMUL, DADD, DFMA.
ARITHMETIC = {0x20, 0x21, 0x23, 0x28, 0x29, 0x2B}


def arithmetic(kernels):
    """The number of instructions of each kind, by the names of the kernels."""
    return {
        name: Counter(first for first in code[::16] if first in ARITHMETIC)
        for name, code in kernels.items()
    }


@pytest.fixture(scope="module")
def nvrtc():
    return library() or pytest.skip("NVRTC is not installed")


@pytest.mark.parametrize("case", ALL)
def test_no_sum_of_a_hop_is_contracted(nvrtc, case):
    name, macros = (CASES | MORE)[case]
    contracted, plain = (
        arithmetic(code_of(nvrtc, name, HOP | macros, f"--fmad={fused}"))
        for fused in ("true", "false")
    )
    kernel = name.removesuffix(".cu")
    assert contracted.keys() == {kernel}
    assert contracted[kernel].total() > 1000
    assert contracted == plain


def test_what_is_contracted(nvrtc):
    """Combinations of a solver's fields are, so that the test before can fail."""
    macros = passes("f64", "f64", FIELDS[5:], *PRODUCTS)
    contracted, plain = (
        arithmetic(code_of(nvrtc, "field_update.cu", macros, f"--fmad={fused}"))
        for fused in ("true", "false")
    )
    kernel = "field_update_sites"
    assert plain[kernel].total() > contracted[kernel].total() > 0
