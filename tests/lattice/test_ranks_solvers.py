"""Solvers over ranks: true residuals of the whole lattice, the same numbers on all ranks."""

import numpy as np
import pytest
import ranks
from lattice_reference import random_spinors
from lattice_system import random_links

from cubc import _core, lattice

pytestmark = pytest.mark.usefixtures("optimised")
PART = (4, 2, 4, 4)  # X, Y, Z, T of a rank
GRIDS = {2: (1, 1, 1, 2), 4: (1, 1, 2, 2)}
KAPPA = 0.12
SOURCES = 5
SOLVES = {  # method and options of each, to a tolerance
    "block": ({"solver": "block_cg", "sloppy": "single"}, 1e-9),
    "blocks": ({"solver": "block_cg"}, 1e-9),  # of more sources than one block takes
}


def extent_of(grid):
    return tuple(e * n for e, n in zip(PART, grid, strict=True))


def system(extent, sources=SOURCES):
    """Links near 1, and several sources."""
    b = random_spinors(np.random.default_rng(8), extent, sources)
    return random_links(extent[::-1]), b


def sources_of(name, b):
    return np.concatenate([b, 1j * b[::-1] + 1, b[:3] + 2]) if name == "blocks" else b


def left_of(b, operator, x):
    """The residuals of several sources."""
    rest = (b - operator(x)).reshape(len(b), -1)
    return np.linalg.norm(rest, axis=1) / np.linalg.norm(b.reshape(len(b), -1), axis=1)


def reports_of(info):
    return [(one.iterations, one.updates, one.residual) for one in info.sources or (info,)]


# ---- ranks that are processes -------------------------------------------------------------------
def solve_everywhere(comm):
    """Rank 0 leaves the solutions, and the reports of all ranks."""
    found = {}
    grid = lattice.Grid(GRIDS[comm.size], comm, timeout=60)
    links, b = system(extent_of(grid.grid))
    D = lattice.Wilson(lattice.Gauge(grid.part(links), grid=grid), KAPPA)
    for name, (options, tol) in SOLVES.items():
        x, info = D.solve(grid.part(sources_of(name, b), 1), tol=tol, **options)
        found[f"x of {name}"] = grid.gather(x, 1)
        found[name] = comm.allgather(reports_of(info))
    if comm.rank == 0:
        np.savez(comm.folder / "found.npz", **found)


@pytest.mark.parametrize("size", GRIDS)
def test_all_ranks_find_the_solution(tmp_path, device, size):
    ranks.run(size, solve_everywhere, tmp_path, device)
    found = np.load(tmp_path / "found.npz")
    links, b = system(extent_of(GRIDS[size]))
    D = lattice.Wilson(lattice.Gauge(links, device=device), KAPPA)
    for name, (options, tol) in SOLVES.items():
        reports = found[name]
        assert (reports == reports[0]).all(), name  # to the last bit
        given = sources_of(name, b)
        assert (left_of(given, D, found[f"x of {name}"]) < tol).all(), name
        _, alone = D.solve(given, tol=tol, **options)
        assert reports[0, :, 0].max() <= 1.3 * alone.iterations + 8, name


# ---- a rank that is its own neighbour -----------------------------------------------------------
@pytest.fixture(scope="module")
def cut(device):
    """Operators on a lattice that is cut along z and t, and on one that is not."""
    links, b = system(PART)
    own = lattice.Grid(cut="zt", device=device)
    gauges = [lattice.Gauge(links, grid=grid, device=device) for grid in (own, None)]
    return *(lattice.Wilson(gauge, KAPPA) for gauge in gauges), b


@pytest.mark.parametrize("options", [{}, {"normal": True}, {"even_odd": False}])
def test_blocks_of_sources_on_one_rank(cut, options):
    """Sums over one rank are those without ranks."""
    own, whole, b = cut
    x, info = own.solve(b, solver="block_cg", **options)
    expected, alone = whole.solve(b, solver="block_cg", **options)
    assert info.converged and abs(info.iterations - alone.iterations) <= 2
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-8)


def test_sums_of_many_threads(cut, policies):
    """The variants of GPUs: threads of a block send the mails of a matrix."""
    own, _, b = cut
    place = dict(zip("XYZT", PART, strict=True)) | {"Sources": SOURCES}
    for label in ("tpb_32.mb_1.wpt_1.wav_2", "tpb_96.mb_1.wpt_1.wav_1"):
        _core.use_policy("block_update.direction", {"T{ct}": "F64"}, "cpu", label, place)
        x, info = own.solve(b, solver="block_cg")
        assert info.converged and (left_of(b, own, x) < 1e-10).all()
