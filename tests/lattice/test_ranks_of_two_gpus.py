"""Lattices over two GPUs: what one GPU computes, without races, by processes and by threads."""

import numpy as np
import pytest
import ranks
from lattice_reference import random_links, random_spinors
from lattice_system import random_links as near_one
from test_ranks_bits import ALL, fields, operator

import cubc
from cubc import lattice

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif("cuda:1" not in cubc.devices(), reason="needs two GPUs"),
]
EXTENT = (8, 4, 4, 8)
GRIDS = [(1, 1, 1, 2), (1, 1, 2, 1), (1, 2, 1, 1)]
PRECISIONS = ["double", "single", "half"]
KAPPA = 0.12
CHAIN, CHAINS = 20, 1700  # with three precisions 10^5 exchanges


def operator_of(precision, grid=None):
    """The operator on all of the lattice, or on a rank's part, and a spinor of it on its device."""
    rng = np.random.default_rng(3)
    links, psi = random_links(rng, EXTENT), random_spinors(rng, EXTENT)
    if grid is not None:
        links, psi = grid.part(links), grid.part(psi)
    device = "cuda:0" if grid is None else grid.device
    gauge = lattice.Gauge(links, grid=grid, device=device)
    operator = lattice.Wilson(gauge, KAPPA, precision=precision, reconstruct=18)
    return operator, cubc.asarray(psi, device=device)


def chain_of(operator, x):
    for _ in range(CHAIN):
        x = operator(x)
    return x.numpy()


def many_hops(comm):
    """Rank 0 leaves the result of a chain of hops, which all later ones have to the last bit."""
    found = {}
    grid = lattice.Grid((1, 1, 1, 2), comm)
    for precision in PRECISIONS:
        operator, x = operator_of(precision, grid)
        first = chain_of(operator, x)
        wrong = sum(not np.array_equal(chain_of(operator, x), first) for _ in range(CHAINS))
        assert wrong == 0, f"{wrong} of {CHAINS} chains differ in {precision}"
        found[precision] = grid.gather(first)
    if comm.rank == 0:
        np.savez(comm.folder / "found.npz", **found)


@pytest.mark.slow
def test_many_hops_of_processes(tmp_path):
    ranks.run(2, many_hops, tmp_path, "cuda:0")
    found = np.load(tmp_path / "found.npz")
    for precision in PRECISIONS:
        np.testing.assert_array_equal(found[precision], chain_of(*operator_of(precision)))


@pytest.mark.parametrize("shape", GRIDS)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_ranks_of_a_process_have_the_same_bits(shape, precision):
    rng = np.random.default_rng(5)
    links, psi = random_links(rng, EXTENT), random_spinors(rng, EXTENT)
    whole, cut = (
        lattice.Wilson(lattice.Gauge(links, **how), KAPPA, precision=precision, reconstruct=12)
        for how in ({"device": "cuda:0"}, {"grid": shape})
    )
    assert cut.gauge.device == "cuda:0, cuda:1"
    for _ in range(3):
        np.testing.assert_array_equal(cut(psi), whole(psi))
        psi = np.roll(psi, 1, 0)


@pytest.mark.parametrize(("kind", "reals", "precision"), ALL)
def test_operators_of_a_process_have_the_same_bits(kind, reals, precision):
    links, psi = fields(kind)
    whole = operator(kind, reals, precision, links, device="cuda:0")
    cut = operator(kind, reals, precision, links, grid=(1, 1, 1, 2))
    np.testing.assert_array_equal(cut(psi), whole(psi))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("WilsonClover", {"csw": 1.2}),
        ("TwistedClover", {"csw": 1.2, "mu": 0.1}),
        ("Mobius", {"M5": 1.4, "Ls": 4}),
    ],
)
def test_solves_of_a_process(kind, options):
    links = near_one(EXTENT[::-1])
    b = random_spinors(np.random.default_rng(6), EXTENT, *([4] if kind == "Mobius" else []))
    one, two = (
        getattr(lattice, kind)(lattice.Gauge(links, **how), KAPPA, **options)
        for how in ({"device": "cuda:0"}, {"grid": (1, 1, 1, 2)})
    )
    x, info = two.solve(b, sloppy="half", tol=1e-9)
    assert info.converged
    assert np.linalg.norm(b - one(x)) < 2e-9 * np.linalg.norm(b)


SOLVERS = {
    "blocks": {"solver": "block_cg", "sloppy": "single"},
    "schwarz": {"solver": "gcr", "schwarz": 8, "sloppy": "half"},
    "ca": {"solver": "ca_cg", "sloppy": "half"},
}


def solve_again(comm):
    """All ranks find the solution, and the same again, to the last bit."""
    grid = lattice.Grid((1, 1, 1, 2), comm)
    links = near_one(EXTENT[::-1])
    b = random_spinors(np.random.default_rng(6), EXTENT, 14)
    D = lattice.Wilson(lattice.Gauge(grid.part(links), grid=grid), KAPPA)
    found = {}
    for name, options in SOLVERS.items():
        x, info = D.solve(grid.part(b, 1), tol=1e-9, **options)
        assert info.converged, (name, info)
        for _ in range(20):
            np.testing.assert_array_equal(D.solve(grid.part(b, 1), tol=1e-9, **options)[0], x)
        reports = comm.allgather([(s.iterations, s.residual, s.sums) for s in info.sources])
        assert reports[0] == reports[1], name
        found[name] = grid.gather(x, 1)
    if comm.rank == 0:
        np.savez(comm.folder / "found.npz", **found)


def test_solvers_of_processes(tmp_path):
    ranks.run(2, solve_again, tmp_path, "cuda:0")
    found = np.load(tmp_path / "found.npz")
    D = lattice.Wilson(lattice.Gauge(near_one(EXTENT[::-1]), device="cuda:0"), KAPPA)
    b = random_spinors(np.random.default_rng(6), EXTENT, 14)
    for name in SOLVERS:
        assert np.linalg.norm(b - D(found[name])) < 2e-9 * np.linalg.norm(b), name


@pytest.mark.parametrize("shape", GRIDS)
def test_gauge_fields_of_a_process(shape):
    """Links around parts go from GPU to GPU, many times: a race would change all links."""
    one, two = (
        lattice.quenched(EXTENT, 6.0, 20, start="hot", progress=False, **how)
        for how in ({"device": "cuda:0"}, {"grid": shape})
    )
    assert two.device == "cuda:0, cuda:1"
    np.testing.assert_allclose(two.links().numpy(), one.links().numpy(), rtol=0, atol=1e-6)
    for u in (one, two):
        u.project()
    g = lattice.Rotation.random(EXTENT, 2, device="cuda:0")
    for make in (
        lambda u: u.transform(g).links(),
        lambda u: u.temporal_gauge()[0].links(),
        lambda u: lattice.fat_links(u, "asqtad")[0],
    ):
        np.testing.assert_allclose(make(two).numpy(), make(one).numpy(), rtol=0, atol=1e-5)
    assert two.plaquette()[0] == pytest.approx(one.plaquette()[0], abs=1e-7)


def test_files_of_a_process(tmp_path):
    u = lattice.Gauge.random(EXTENT, 3, grid=(1, 1, 1, 2))
    u.write(tmp_path / "several", "nersc")
    lattice.write_links(tmp_path / "one", u.links().numpy(), "nersc")
    assert (tmp_path / "several").read_bytes() == (tmp_path / "one").read_bytes()
    again = lattice.read_gauge(tmp_path / "one", grid=(1, 1, 1, 2))
    np.testing.assert_array_equal(again.links().numpy(), u.links().numpy())
