"""Staggered lattices over ranks: hops over one site and three, fat links, solves."""

import numpy as np
import pytest
import ranks
from every_case import EVERY_CASE
from lattice_system import random_links as near_one
from test_ranks import alone, check_same, nothing_is_fused

from cubc import _core, lattice

__all__ = ["alone", "nothing_is_fused"]  # fixtures
EXTENT = (2, 4, 4, 8)  # X, Y, Z, T: faces of three sites meet along y and z, not along t
PART = (2, 4, 4, 4)  # of a rank among several
GRIDS = {2: [(1, 1, 1, 2)], 4: [(1, 2, 2, 1)]}  # with long links the first alone
if EVERY_CASE:  # each grid has kernels of its own
    GRIDS[2] += [(1, 2, 1, 1)]
    GRIDS[4] += [(1, 1, 2, 2)]
MASS = 0.4
THETA = {"theta": (0.3, 0.2, 0.7, 1.1)}
HALF = {"precision": "half", **THETA}
SOLVE = {"precision": "double", "solver": "multishift", "shifts": [0.0, 0.5], "tol": 1e-6}


def fields(extent, *sources):
    """Links near 1, and colour vectors."""
    g = np.random.default_rng(4).normal(size=(2, *sources, *extent[::-1], 3))
    return near_one(extent[::-1]), g[0] + 1j * g[1]


def whole_extent(grid):
    return tuple(e * n for e, n in zip(PART, grid, strict=True))


def hop(operator, x, form, dagger):
    """The operator, or its hopping term of both parities, of even or of odd sites."""
    if form == "operator":
        return operator.dagger(x) if dagger else operator(x)
    if form == "both":
        return operator.dslash(x, dagger=dagger)
    return operator.dslash(np.ascontiguousarray(x[..., ::2, :]), form, dagger=dagger)


# ---- a rank that is its own neighbour -----------------------------------------------------------
@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("cut", "kind", "sources", "form", "options"),
    [
        ("t", "Staggered", 1, "operator", {**THETA, "reconstruct": 8}),
        ("yz", "Staggered", 3, "both", {"precision": "half", "reconstruct": 18}),
        ("z", "HISQ", 1, "even", {"precision": "half", **THETA}),
        ("yt", "Asqtad", 2, "odd", {"precision": "single", "reconstruct": 18, "phases": "tifr"}),
        ("yzt", "Asqtad", 2, "operator", {"u0": 0.9, **THETA}),
    ],
)
def test_an_own_neighbour_has_the_same_bits(device, alone, cut, kind, sources, form, options):
    links, chi = fields(EXTENT, *([sources] if sources > 1 else []))
    made = []
    for grid in (None, alone[cut]):
        gauge = lattice.Gauge(links, grid=grid, device=device)
        made.append(getattr(lattice, kind)(gauge, MASS, **options))
    for dagger in (False, True):  # faces have two places in turn
        whole, cut_up = (hop(operator, chi, form, dagger) for operator in made)
        check_same(device, cut_up, whole, options.get("precision", "double"))
    alone[cut].check()


def test_blocks_of_many_threads(policies):
    """The variants of GPUs: a warp has sites on faces and others, of several sources."""
    links, chi = fields(EXTENT, 3)
    own = lattice.Grid(cut="zt", device="cpu")
    whole, cut = (
        lattice.Asqtad(lattice.Gauge(links, grid=grid, device="cpu"), MASS, **HALF)
        for grid in (None, own)
    )
    expected = whole(chi)
    label = "tpb_64.mb_1.spt_2.sg_1.sf_1.kl_0.bx_1.by_1.bz_1.bt_1.sz_7.ld_0.ll_0.cv_0"
    place = dict(zip("XYZT", EXTENT, strict=True)) | {"Sources": 3}
    _core.use_policy("dslash.improved.r13", {"T{ct}": "I16"}, "cpu", label, place)
    np.testing.assert_array_equal(cut(chi), expected)


# ---- ranks that are processes -------------------------------------------------------------------
def operators_on(grid):
    """Naive and improved operators of this rank, and its part of colour vectors."""
    links, chi = fields(whole_extent(grid.grid))
    gauge = lattice.Gauge(grid.part(links), grid=grid)
    return (
        lattice.Staggered(gauge, MASS, **THETA),
        lattice.HISQ(gauge, MASS, **HALF),
        grid.part(chi),
    )


def hop_everywhere(comm):
    """Rank 0 leaves what all have, on every grid; rank 1 then calls nothing."""
    found = {}
    for k, shape in enumerate(GRIDS[comm.size]):
        naive, improved, chi = operators_on(grid := lattice.Grid(shape, comm, timeout=100))
        found[f"naive{k}"] = grid.gather(naive(chi))
        if k == 0:
            improved(chi)
            found["improved"] = grid.gather(improved(chi))
            found["fat"] = grid.gather(lattice.fat_links(improved.gauge)[0].numpy())
    if comm.size == 2:
        _, improved, chi = operators_on(lattice.Grid(GRIDS[2][0], comm, timeout=4))
        improved(chi)
        if comm.rank == 0:
            with pytest.raises(TimeoutError, match="rank 0 of 2 waited 4 s for the face of rank 1"):
                improved(chi)
        comm.allgather(None)
    if comm.rank == 0:
        np.savez(comm.folder / "found.npz", **found)


@pytest.mark.parametrize("size", GRIDS)
def test_ranks_have_the_numbers_of_one(tmp_path, device, size):
    ranks.run(size, hop_everywhere, tmp_path, device)
    found = np.load(tmp_path / "found.npz")
    for k, shape in enumerate(GRIDS[size]):
        links, chi = fields(whole_extent(shape))
        gauge = lattice.Gauge(links, device=device)
        naive = lattice.Staggered(gauge, MASS, **THETA)
        np.testing.assert_array_equal(found[f"naive{k}"], naive(chi))
        if k == 0:
            improved = lattice.HISQ(gauge, MASS, **HALF)
            check_same(device, found["improved"], improved(chi), "half")
            check_same(device, found["fat"], lattice.fat_links(gauge)[0].numpy())


# ---- ranks that are threads ---------------------------------------------------------------------
def test_ranks_of_a_process():
    links, chi = fields(whole_extent((1, 1, 1, 2)))
    whole = lattice.Gauge(links, device="cpu")
    cut = lattice.Gauge(links, grid=(1, 1, 1, 2), devices=["cpu", "cpu:1"])
    made = [lattice.HISQ(gauge, MASS, **HALF) for gauge in (whole, cut)]
    for _ in range(2):
        np.testing.assert_array_equal(*(operator(chi) for operator in made))
    precise = lattice.HISQ(whole, MASS, **THETA)
    if EVERY_CASE:
        x, info = made[1].solve(chi, precision="double", tol=1e-6)
        assert info.converged
        assert np.linalg.norm(chi - precise(x)) < 1e-6 * np.linalg.norm(chi)
    x, _ = made[1].solve(chi, **SOLVE)
    for shift, of_shift in zip(SOLVE["shifts"], x, strict=True):
        rest = chi - precise.dagger(precise(of_shift)) - shift * of_shift
        assert np.linalg.norm(rest) < 1e-6 * np.linalg.norm(chi)
    for made, expected in zip(lattice.fat_links(cut), lattice.fat_links(whole), strict=True):
        np.testing.assert_array_equal(made.numpy(), expected.numpy())


# ---- what is refused ----------------------------------------------------------------------------
def test_parts_that_hops_leave_behind():
    links, chi = fields((4, 2, 4, 6))
    gauge = lattice.Gauge(links, grid=lattice.Grid(cut="y", device="cpu"))
    assert lattice.Staggered(gauge, MASS)(chi).shape == chi.shape
    with pytest.raises(ValueError, match="2 sites along y, and hops over 3: cut another direction"):
        lattice.Asqtad(gauge, MASS)(chi)
