"""Gauge fields over ranks: updates, rotations and fat links have the bits of one rank."""

import numpy as np
import pytest
import ranks
from every_case import EVERY_CASE
from lattice_reference import random_spinors
from test_ranks import EXTENT, check_same, nothing_is_fused

import cubc
from cubc import _core, lattice
from cubc.lattice._gauge_margins import around

__all__ = ["nothing_is_fused"]  # a fixture
CUTS = ["yzt", "t", "y", "zt"]
GRIDS = {2: [((1, 1, 1, 2), "")], 4: [((1, 2, 1, 2), "z")]}
if EVERY_CASE:  # each grid has kernels of its own
    GRIDS[2] += [((1, 1, 2, 1), "t"), ((1, 2, 1, 1), "")]
    GRIDS[4] += [((1, 1, 1, 4), ""), ((1, 1, 2, 2), ""), ((1, 2, 2, 1), "")]
SWEEPS = {"beta": 6.0, "sweeps": 2, "seed": 5, "over_relaxation": 1}
DEVICES = ["cpu", "cpu:1"]
ROUNDING = {"cpu": 1e-14, "cuda:0": 1e-7}  # of observables, after updates


def whole_extent(grid):
    return tuple(e * n for e, n in zip(EXTENT, grid, strict=True))


def made_on(extent, device, grid=None):
    """Make arrays of one field, by name; their first axes are T, Z, Y, X."""
    start = lattice.Gauge.random(extent, 3, noise=0.4, device=device, grid=grid)
    g = lattice.Rotation.random(extent, 4, device=device, grid=grid)
    updated = lattice.quenched(
        extent, **SWEEPS, start="hot", progress=False, device=device, grid=grid
    )
    fixed, to_fixed = start.temporal_gauge()
    rough = start.copy()
    rough.project(nearest=True)
    fields = {
        "updated": updated,
        "rotated": start.transform(g),
        "back": start.transform(g, inverse=True),
        "fixed": fixed,
        "projected": rough,
    }
    found = {name: u.links().numpy() for name, u in fields.items()}
    found["to_fixed"] = to_fixed.numpy()
    found["fat"], found["long"] = (x.numpy() for x in lattice.fat_links(start, "asqtad", u0=0.9))
    return found, fields


def check_all(device, found, expected):
    """Compare bits; on a GPU updates make roundings larger."""
    for name, links in expected.items():
        check_same(device, found[name], links, "single" if name == "updated" else "double")


def numbers_of(fields):
    """Observables of the fields, which have sums."""
    return np.array(
        [
            [
                *u.plaquette(),
                *u.plaquettes().values(),
                u.link_trace(),
                u.polyakov().real,
                *u.unitarity(),
            ]
            for u in fields.values()
        ]
    )


# ---- a rank that is its own neighbour -----------------------------------------------------------
@pytest.mark.some(1)
@pytest.mark.parametrize("cut", CUTS)
def test_an_own_neighbour_has_the_same_bits(device, cut):
    grid = lattice.Grid(cut=cut, device=device)
    found, fields = made_on(EXTENT, device, grid)
    expected, whole = made_on(EXTENT, device)
    check_all(device, found, expected)
    np.testing.assert_allclose(numbers_of(fields), numbers_of(whole), rtol=0, atol=ROUNDING[device])
    grid.check()


@pytest.mark.some(1)
@pytest.mark.parametrize("label", ["tpb_64.mb_1.spt_1", "tpb_32.mb_1.spt_1"])
def test_blocks_of_many_threads(policies, label):
    """The variants of GPUs, whose blocks have sites of several rows."""
    for kind in ("heat_bath", "over_relax"):
        _core.use_policy(f"gauge_update.{kind}", {"T{ct}": "F64"}, "cpu", label)
    made = []
    for grid in (None, lattice.Grid(cut="zt", device="cpu")):
        u = lattice.Gauge.random(EXTENT, 3, device="cpu", grid=grid)
        u.update(6.0, 1, over_relaxation=1)
        made.append(u.links().numpy())
    np.testing.assert_array_equal(made[1], made[0])


# ---- ranks that are processes -------------------------------------------------------------------
def everything(comm):
    """Rank 0 leaves what all have, on every grid."""
    kept = {}
    for k, (shape, cut) in enumerate(GRIDS[comm.size]):
        grid = lattice.Grid(shape, comm, cut=cut)
        found, fields = made_on(whole_extent(shape), None, grid)
        kept |= {f"{k}.{name}": grid.gather(x) for name, x in found.items()}
        kept[f"{k}.numbers"] = numbers_of(fields)
    if comm.rank == 0:
        np.savez(comm.folder / "kept.npz", **kept)


@pytest.mark.parametrize("size", GRIDS)
def test_ranks_have_the_bits_of_one(tmp_path, device, size):
    ranks.run(size, everything, tmp_path, device)
    kept = np.load(tmp_path / "kept.npz")
    for k, (shape, _) in enumerate(GRIDS[size]):
        expected, fields = made_on(whole_extent(shape), device)
        check_all(device, {name: kept[f"{k}.{name}"] for name in expected}, expected)
        np.testing.assert_allclose(
            kept[f"{k}.numbers"], numbers_of(fields), rtol=0, atol=ROUNDING[device]
        )


def miss_a_sweep(comm):
    """Rank 1 updates nothing, as if it hung."""
    for seconds in (100, 5):  # what has compiled keeps nobody waiting
        grid = lattice.Grid((1, 1, 1, comm.size), comm, timeout=seconds)
        u = lattice.Gauge.unit(whole_extent(grid.grid), grid=grid)
        u.update(6.0, 1, over_relaxation=0)  # there is memory to share
    comm.allgather(None)
    if comm.rank == 0:
        with pytest.raises(TimeoutError, match="rank 0 of 2 waited 5 s for the face of rank 1"):
            u.update(6.0, 1, over_relaxation=0)
    comm.allgather(None)


def test_a_rank_that_hangs_ends_an_update(tmp_path):
    ranks.run(2, miss_a_sweep, tmp_path)


# ---- ranks that are threads ---------------------------------------------------------------------
def test_ranks_of_a_process_have_the_bits_of_one():
    shape = (1, 1, 1, 2)
    extent, given = whole_extent(shape), {"grid": shape, "devices": DEVICES}
    cut = lattice.Gauge.random(extent, 3, noise=0.4, **given)
    whole = lattice.Gauge.random(extent, 3, noise=0.4, device="cpu")
    assert (cut.extent, cut.device) == (extent, "cpu, cpu:1")
    g = lattice.Rotation.random(extent, 4, device="cpu")

    def same(one, other):
        np.testing.assert_array_equal(one.links().numpy(), other.links().numpy())

    same(cut, whole)
    same(cut.transform(g), whole.transform(g))
    fixed, to_fixed = cut.temporal_gauge()
    same(fixed, whole.temporal_gauge()[0])
    np.testing.assert_array_equal(to_fixed.numpy(), whole.temporal_gauge()[1].numpy())
    out = cubc.asarray(np.zeros((*extent[::-1], 4, 3, 3), complex), device="cpu")
    assert cut.links(out=out) is out
    np.testing.assert_array_equal(out.numpy(), whole.links().numpy())
    copies, seen = (cut.copy(), whole.copy()), []
    psi = random_spinors(np.random.default_rng(2), extent)
    clover = [lattice.WilsonClover(u, 0.12, 1.1) for u in copies]
    np.testing.assert_array_equal(*(D(psi) for D in clover))
    for u in copies:
        u.project(nearest=True)
        u.update(6.0, 2, measure=lambda n, u: seen.append((n, u.plaquette()[0])))
    same(*copies)
    np.testing.assert_array_equal(*(D(psi) for D in clover))  # of the links that there are now
    assert [n for n, _ in seen] == [0, 1, 0, 1]
    np.testing.assert_allclose(seen[2:], seen[:2], rtol=1e-14)
    same(cut, whole)
    hot = [lattice.quenched(extent, 6.0, 1, start="hot", **k) for k in (given, {"device": "cpu"})]
    same(*hot)
    same(lattice.quenched(extent, 6.0, 1, start=cut), lattice.quenched(extent, 6.0, 1, start=whole))


def test_a_field_that_is_cut_is_one_array_no_more():
    cut = lattice.Gauge.unit(whole_extent((1, 1, 1, 2)), grid=(1, 1, 1, 2), devices=DEVICES)
    with pytest.raises(TypeError, match="on several devices, and not one array"):
        cut.native()
    with pytest.raises(ValueError, match="no grid="):
        lattice.quenched(cut.extent, 6.0, 1, start=cut, grid=(1, 1, 1, 2))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"direction": 5}, "direction 5: 1 to 4"),
        ({"direction": 0}, "a call is for links of F64 of one direction"),
        ({"margin": 0}, "0 sites around a part"),
    ],
)
def test_an_update_of_no_part(changes, says):
    grid = lattice.Grid(cut="t", device="cpu")
    links, extent = around(lattice.Gauge.unit(EXTENT, grid=grid, device="cpu"))
    given = {"links": ("float64", (links.size,), links), "ranks": grid._ranks, "margin": 2}
    given |= dict(zip(("lx", "ly", "lz", "lt"), extent, strict=True)) | {"direction": 1} | changes
    with pytest.raises(ValueError, match=says):
        _core.call("gauge_update", given)
