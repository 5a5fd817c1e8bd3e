"""Bricks of the Dslash: the divisors of an extent that their sizes become."""

import math
import re
import subprocess

import pytest

from cubc import _core

MAIN = """
#include <cstdint>
#include <cstdio>
typedef uint32_t u32;
#define FUNCTION static inline
{functions}
int main()
{{
    for (u32 extent = 1; extent <= 96; extent++)
        for (u32 log2 = 0; log2 <= 7; log2++)
            for (u32 unit = 1; unit <= 2; unit++)
                if (extent % unit == 0 && (1u << log2) % unit == 0)
                    std::printf("%u %u %u %u\\n", extent, 1u << log2, unit,
                                nearest_divisor(extent, 1u << log2, unit));
}}
"""


@pytest.fixture(scope="module")
def divisors(tmp_path_factory):
    """Divisor by extent, wanted size and unit, of the header's own function."""
    folder = tmp_path_factory.mktemp("bricks")
    with open(f"{_core.source_folder()}/lattice/dslash_sites.h", encoding="utf-8") as file:
        text = file.read()
    function = re.search(r"^FUNCTION constexpr u32 nearest_divisor.*?^}", text, re.M | re.S)
    (folder / "main.cpp").write_text(MAIN.format(functions=function[0]))
    subprocess.run(["c++", "-std=c++17", "-o", "main", "main.cpp"], cwd=folder, check=True)
    lines = subprocess.run(["./main"], cwd=folder, check=True, capture_output=True, text=True)
    rows = [[int(word) for word in line.split()] for line in lines.stdout.splitlines()]
    return {(extent, wanted, unit): found for extent, wanted, unit, found in rows}


def test_powers_of_two_are_taken_as_they_are(divisors):
    for (extent, wanted, _), found in divisors.items():
        if extent & (extent - 1) == 0:
            assert found == math.gcd(extent, wanted)


def test_the_nearest_by_ratio(divisors):
    for (extent, wanted, unit), found in divisors.items():
        fitting = [d for d in range(unit, extent + 1, unit) if extent % d == 0]
        assert found in fitting
        assert max(found / wanted, wanted / found) == min(
            max(d / wanted, wanted / d) for d in fitting
        )


@pytest.mark.parametrize(
    ("half_x", "wanted", "sites"),
    [(12, 32, 12), (14, 32, 14), (20, 16, 20), (22, 16, 22), (46, 32, 46), (48, 32, 24)],
)
def test_rows_of_lattices_off_powers_of_two(divisors, half_x, wanted, sites):
    """Long ones, as a warp that takes few sites of many rows reads many lines at a time."""
    assert divisors[half_x, wanted, 2] == sites
