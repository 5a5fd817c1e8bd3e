"""Kernels that only lattices over ranks have compile for GPUs. Needs NVRTC, but no GPU."""

import pytest
from ranks_compile import compile_for, library, sums_of_ca_cg

SITES = {
    "TUNE_THREADS_PER_BLOCK": 64,
    "TUNE_MIN_BLOCKS": 1,
    "TUNE_SOURCES_PER_THREAD": 2,
    "TUNE_SOURCE_GROUPS": 1,
    "TUNE_SOURCES_FIRST": 0,
    "TUNE_KEEP_LINKS": 0,
    "TUNE_BRICK_X_LOG2": 1,
    "TUNE_BRICK_Y_LOG2": 1,
    "TUNE_BRICK_Z_LOG2": 1,
    "TUNE_BRICK_T_LOG2": 1,
    "TUNE_SWEEP_Z_LOG2": 7,
    "TUNE_LOAD": 0,
    "TUNE_LINK_LOAD": 0,
    "TUNE_CONVERT": 0,
    **{f"TUNE_L{d}": 8 for d in "XYZT"},
    "TUNE_T": "f32",
    "TUNE_PARITY": 0,
    "TUNE_XPAY": 1,
    "TUNE_INNER": 1,
    "TUNE_GUARDED": 1,
    "TUNE_Z": 1,
    "TUNE_CUT": 0,
    "TUNE_STAGED": 0,
    "TUNE_OPEN": 0,
    "TUNE_RECONSTRUCT": 12,
    "TUNE_DAGGER": 0,
    "TUNE_ANISOTROPIC": 0,
    "TUNE_ANTIPERIODIC": 1,
    "TUNE_TEMPORAL": 0,
    "TUNE_PHASES": 0,
    "TUNE_STATEMENTS": "",
    "TUNE_SCALARS(X)": "",
    "TUNE_SUMS": 3,
    "TUNE_ADD(X)": "X(0, (norm(out))) X(1, (dot_real(out, z))) X(2, (dot_imag(out, z)))",
    "TUNE_FINISH": "schwarz_length",
    "TUNE_RANKS": 0,
}
STAGGERED = {"TUNE_FAT_REALS": 18, "TUNE_LONG_REALS": 13}
WALL = {"TUNE_COLUMNS_LOG2": 4, "TUNE_INNER": 8, "TUNE_SOURCES_PER_THREAD": 4}
BLOCK = {
    "TUNE_THREADS_PER_BLOCK": 128,
    "TUNE_MIN_BLOCKS": 2,
    "TUNE_WORDS_PER_THREAD": 1,
    "TUNE_BLOCK": 12,
    "TUNE_T": "f64",
    "TUNE_NORMAL": 1,
    "TUNE_RANKS": 1,
}
FIELDS = [f"s{k}" for k in range(5)] + [f"w{k}" for k in range(4)]
SUMS = sums_of_ca_cg()


def passes(type, real, written, statements, sums, finish):
    """The macros of a pass over the fields of communication-avoiding conjugate gradients."""
    listed, changed = (" ".join(f"X({f}, {type})" for f in fields) for fields in (FIELDS, written))
    return {
        **{f"TUNE_L{d}": 8 for d in "XYZT"},
        "TUNE_THREADS_PER_BLOCK": 128,
        "TUNE_MIN_BLOCKS": 4,
        "TUNE_SITES_PER_THREAD": 1,
        "TUNE_REALS": 24,
        "TUNE_PARTS": 1,
        "TUNE_REAL": real,
        "TUNE_FIELDS(X)": listed,
        "TUNE_WRITTEN(X)": changed,
        "TUNE_HELD(X)": changed if type == "i16" else "",
        "TUNE_FLOATS(X)": "" if type == "i16" else changed,
        "TUNE_STATEMENTS": statements,
        "TUNE_SCALARS(X)": "",
        "TUNE_SUMS": len(sums),
        "TUNE_ADD(X)": " ".join(f"X({k}, ({term}))" for k, term in enumerate(sums)),
        "TUNE_FINISH": finish,
        "TUNE_RANKS": 1,
    }


PRODUCTS = ("ca_products(*state, s0, s1, s2, s3, s4, w0, w1, w2, w3)", [], "")
OPEN = {"TUNE_OPEN": 12}
KEPT = {"TUNE_KEEP_LINKS": 1, "TUNE_SOURCE_GROUPS": 2}
KEPT_OF_WALL = {"TUNE_KEEP_LINKS": 1, "TUNE_HOPS": 1, "TUNE_CUT": 8, "TUNE_RANKS": 1}
RANKS = {"TUNE_RANKS": 1, "TUNE_CUT": 8}
PART = {
    **{f"TUNE_L{d}": 8 for d in "XYZT"},
    "TUNE_THREADS_PER_BLOCK": 128,
    "TUNE_MIN_BLOCKS": 2,
    "TUNE_SITES_PER_THREAD": 1,
    "TUNE_WAVES": 2,
    "TUNE_T": "f64",
    "TUNE_CUT": 14,
    "TUNE_MARGIN": 2,
    "TUNE_PART": 1,
}
CASES = {
    "part, heat bath": ("gauge_update.cu", PART | {"TUNE_OVER_RELAX": 0}),
    "part, over-relaxation": ("gauge_update.cu", PART | {"TUNE_OVER_RELAX": 1, "TUNE_CUT": 8}),
    "part, plaquettes": ("gauge_measure.cu", PART | {"TUNE_QUANTITY": 0}),
    "part, with sites around": ("part_copy.cu", PART | {"TUNE_REALS": 72, "TUNE_CROP": 0}),
    "part, clover term": (
        "part_copy.cu",
        PART | {"TUNE_REALS": 72, "TUNE_CROP": 1, "TUNE_T": "i16"},
    ),
    "part, temporal gauge": ("gauge_temporal.cu", PART),
    "part, random links": ("gauge_random.cu", PART | {"TUNE_MATRICES": 4}),
    "open": ("dslash_wilson.cu", SITES | OPEN),
    "open, half, links kept": (
        "dslash_wilson.cu",
        SITES | OPEN | {"TUNE_T": "i16", "TUNE_KEEP_LINKS": 1, "TUNE_PARITY": 2},
    ),
    "open, two flavours": ("dslash_doublet.cu", SITES | OPEN | {"TUNE_INNER": 2}),
    "open, domain walls": ("dslash_domain_wall.cu", SITES | OPEN | WALL | {"TUNE_HOPS": 1}),
    "sums of domain walls": (
        "dslash_domain_wall.cu",
        SITES | WALL | {"TUNE_HOPS": 0, "TUNE_RANKS": 1},
    ),
    "open, staggered": ("dslash_staggered.cu", SITES | OPEN | STAGGERED),
    "faces": ("dslash_wilson.cu", SITES | RANKS),
    "faces, links kept": ("dslash_wilson.cu", SITES | RANKS | KEPT),
    "domain walls, links kept": ("dslash_domain_wall.cu", SITES | WALL | KEPT_OF_WALL),
    "faces, staged": ("dslash_wilson.cu", SITES | RANKS | {"TUNE_STAGED": 1, "TUNE_T": "f64"}),
    "faces, staggered": ("dslash_staggered.cu", SITES | RANKS | STAGGERED),
    "thirty sums": ("field_update.cu", passes("f64", "f64", [], "", SUMS, "ca_gram")),
    "thirty sums, half": (
        "field_update.cu",
        passes("i16", "f32", [], "", SUMS, "ca_gram_of_positive"),
    ),
    "combinations": ("field_update.cu", passes("f32", "f32", FIELDS[5:], *PRODUCTS)),
    "combinations, half": ("field_update.cu", passes("i16", "f32", FIELDS[5:], *PRODUCTS)),
    **{
        f"block of sources, step {k}": ("block_update.cu", BLOCK | {"TUNE_STEP": k}) for k in (0, 4)
    },
}


@pytest.fixture(scope="module")
def nvrtc():
    return library() or pytest.skip("NVRTC is not installed")


@pytest.mark.some(7)
@pytest.mark.parametrize("case", CASES)
def test_kernels_over_ranks_compile(nvrtc, case):
    assert compile_for(nvrtc, *CASES[case]) == ""


def test_the_sums_are_all_there():
    assert len(SUMS) == len(set(SUMS)) == 30


def test_what_does_not_compile(nvrtc):
    wrong = SITES | {"TUNE_FINISH": "no_such_step"}
    assert "no_such_step" in compile_for(nvrtc, "dslash_wilson.cu", wrong)
