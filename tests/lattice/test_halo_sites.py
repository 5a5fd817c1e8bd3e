"""Sites of faces have the same numbers in the core, for launches, and in the kernels."""

import pytest
from both_sides import why_not

BOTH = """
#include <cstddef>
#include <cstdint>
#define inline constexpr
namespace core {
#include "lattice/grid/halo.h"
}
#undef inline
#include "faces.h"
constexpr core::halo_shape shape = {{TUNE_LX, TUNE_LY, TUNE_LZ, TUNE_LT}, TUNE_CUT, FACE_DEPTH};
"""
SAME = [
    *(f"face_sites<{d}>() == core::halo_slice_sites(shape.extents, {d})" for d in (1, 2, 3)),
    "FACE_PLACES == FACE_PARITIES * core::halo_face_sites(shape)",
    "INTERIOR_SITES == core::halo_interior_sites(shape)",
    "INTERIOR_PLACES == FACE_PARITIES * core::halo_interior_sites(shape)",
]
FOLDERS = [f"kernels/{folder}" for folder in ("dialect", "block", "grid", "shared", "lattice")]


def macros(extents, cut, depth, parity):
    values = dict(zip(("LX", "LY", "LZ", "LT"), extents, strict=True), CUT=cut, PARITY=parity)
    values |= dict.fromkeys(("XPAY", "GUARDED", "Z", "OPEN", "KEEP_LINKS", "SOURCES_FIRST"), 0)
    values |= dict.fromkeys(("INNER", "MIN_BLOCKS", "SOURCES_PER_THREAD", "SOURCE_GROUPS"), 1)
    values |= dict.fromkeys(("LOAD", "LINK_LOAD", "CONVERT", "SWEEP_Z_LOG2"), 0)
    values |= {f"BRICK_{axis}_LOG2": 0 for axis in "XYZT"}
    lines = [f"#define TUNE_{name} {value}\n" for name, value in values.items()]
    return "".join([*lines, "#define TUNE_T double\n", f"#define HALO_DEPTH {depth}\n"])


@pytest.mark.parametrize(
    "extents, cut, depth, parity",
    [
        ((4, 6, 8, 10), 8, 1, 0),
        ((4, 6, 8, 10), 14, 1, 2),
        ((8, 6, 4, 10), 14, 3, 2),  # faces meet along y and z
        ((6, 8, 12, 4), 4, 3, 1),
    ],
)
def test_the_core_and_the_kernels_count_the_same(extents, cut, depth, parity):
    text = macros(extents, cut, depth, parity) + BOTH
    assert not why_not(text + "".join(f"static_assert({same});\n" for same in SAME), *FOLDERS)


def test_a_difference_is_seen():
    text = macros((4, 6, 8, 10), 14, 1, 0) + BOTH
    wrong = "static_assert(FACE_PLACES == core::halo_interior_sites(shape));"
    assert "assert" in why_not(text + wrong, *FOLDERS)
