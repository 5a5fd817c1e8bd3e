"""Neighbours of a site at any distance, as kernels find them."""

import itertools
import subprocess

import numpy as np
import pytest

from cubc import _core

FOLDERS = ("dialect", "block", "grid", "shared", "lattice")
MAIN = """
#include "lattice.h"
#include <cstdio>
template <int MU, int STEPS>
void show()
{
    for (u32 parity = 0; parity < 2; parity++)
        for (u32 index = 0; index < SITES; index++) {
            const site s = site_of(index, parity);
            std::printf("%d %d %u %u %u %u\\n", MU, STEPS, parity, index,
                        site_beyond<MU, STEPS>(s), crossings<MU, STEPS>(s));
        }
}
int main() { CALLS }
"""
STEPS = (-5, -3, -1, 1, 2, 3, 7)


@pytest.mark.parametrize("extent", [(2, 4, 6, 2), (8, 2, 2, 4)])
def test_neighbours_at_any_distance(tmp_path, extent):
    """Also where the way crosses the boundary, once or more often."""
    calls = "".join(f"show<{mu}, {n}>();" for mu, n in itertools.product(range(4), STEPS))
    (tmp_path / "main.cpp").write_text(MAIN.replace("CALLS", calls))
    options = [f"-I{_core.source_folder()}/{folder}" for folder in FOLDERS]
    options += [f"-DTUNE_L{d}={n}" for d, n in zip("XYZT", extent, strict=True)]
    options += ["-DSIMT_CPU=1", "-DSIMT_THREADS=1", "-DSIMT_WARP=32", "-w"]
    command = ["c++", "-std=c++17", *options, "-o", "main", "main.cpp"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True)
    x, y, z, t = extent
    parity = np.indices((t, z, y, x)).sum(0) % 2
    # The coordinates of each site of a parity, in order; and the place of each site.
    sites = [np.argwhere(parity == p)[:, ::-1] for p in (0, 1)]
    place = {tuple(at): (p, k) for p in (0, 1) for k, at in enumerate(sites[p])}
    lines = found.stdout.splitlines()
    assert len(lines) == 4 * len(STEPS) * x * y * z * t
    for line in lines:
        mu, steps, p, index, beyond, crossed = map(int, line.split())
        there = sites[p][index].copy()
        there[mu] += steps
        assert crossed == abs(there[mu] // extent[mu])
        there[mu] %= extent[mu]
        assert place[tuple(there)] == ((p + steps) % 2, beyond)
