"""Solvers over ranks: true residuals of the whole lattice, the same numbers on all ranks."""

import re

import lattice_reference as reference
import numpy as np
import pytest
import ranks
import staggered_reference
from every_case import EVERY_CASE
from lattice_reference import random_spinors
from lattice_system import random_links

import cubc
from cubc import _core, lattice

PART = (4, 2, 4, 6)  # X, Y, Z, T of a rank, as in lattice_system: they share kernels
GRIDS = {2: (1, 1, 1, 2), 4: (1, 1, 2, 2)}
KAPPA = 0.12
SOURCES = 6
SOLVES = {  # by the number of ranks: method and options of each, and iterations of one rank
    2: {
        "schwarz": ({"solver": "gcr", "schwarz": 4, "sloppy": "half"}, 13),
        "ca": ({"solver": "ca_cg", "sloppy": "half"}, 52),
    },
    4: {
        "blocks": ({"solver": "block_cg"}, 44),  # of more sources than one block takes
    },
}
if EVERY_CASE:  # each method has been on ranks by then
    SOLVES[2]["block"] = ({"solver": "block_cg", "sloppy": "single"}, 46)
    SOLVES[4]["schwarz"] = ({"solver": "gcr", "schwarz": 4}, 13)
    SOLVES[4]["ca"] = ({"solver": "ca_cg"}, 52)
TOLERANCE = 1e-9
APPLIED = {"schwarz": (1 + 4, 1), "blocks": (2, 2)}  # times, by an iteration and by an update


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
    return [
        (one.iterations, one.updates, one.residual, one.sums) for one in info.sources or (info,)
    ]


# ---- ranks that are processes -------------------------------------------------------------------
def solve_everywhere(comm):
    """Rank 0 leaves the solutions, and the reports of all ranks."""
    found = {}
    grid = lattice.Grid(GRIDS[comm.size], comm, timeout=60)
    links, b = system(extent_of(grid.grid))
    D = lattice.Wilson(lattice.Gauge(grid.part(links), grid=grid), KAPPA)
    for name, (options, _) in SOLVES[comm.size].items():
        x, info = D.solve(grid.part(sources_of(name, b), 1), tol=TOLERANCE, **options)
        found[f"x of {name}"] = grid.gather(x, 1)
        found[name] = comm.allgather(reports_of(info))
        found[f"operations of {name}"] = info.gflops * info.seconds * 1e9
    if comm.rank == 0:
        np.savez(comm.folder / "found.npz", **found)


@pytest.mark.parametrize("size", GRIDS)
def test_all_ranks_find_the_solution(tmp_path, device, size):
    ranks.run(size, solve_everywhere, tmp_path, device)
    found = np.load(tmp_path / "found.npz")
    links, b = system(extent_of(GRIDS[size]))
    D = lattice.Wilson(lattice.Gauge(links, device=device), KAPPA)
    for name, (_, of_one_rank) in SOLVES[size].items():
        reports = found[name]
        assert (reports == reports[0]).all(), name  # to the last bit
        if name in APPLIED:  # of the whole lattice, by parity
            times = (reports[0, :, :2] * APPLIED[name]).sum()
            sites = np.prod(extent_of(GRIDS[size])) // 2
            operations = (2 * 1320 + 48) * sites * times
            assert found[f"operations of {name}"] == pytest.approx(operations)
        given = sources_of(name, b)
        assert (left_of(given, D, found[f"x of {name}"]) < TOLERANCE).all(), name
        assert reports[0, :, 0].max() <= 1.3 * of_one_rank + 8, name


def solve_by_other_variants(comm):
    """Each rank has its own number of sources a thread."""
    grid = lattice.Grid(GRIDS[comm.size], comm, timeout=20)
    links, b = system(extent_of(grid.grid))
    b[2:4] = 0  # a thread's on rank 0, half of one's on rank 1
    place = dict(zip("XYZT", PART, strict=True)) | {"Sources": SOURCES}
    for name in ("dslash.wilson.r12", "dslash.wilson.r18"):
        label = _core.base(name, {"T{ct}": "F64"}, "cpu", place)
        label = re.sub(r"spt_\d+", f"spt_{2 + 2 * comm.rank}", label)
        _core.use_policy(name, {"T{ct}": "F64"}, "cpu", label, place)
    D = lattice.Wilson(lattice.Gauge(grid.part(links), grid=grid), KAPPA)
    x, info = D.solve(grid.part(b, 1), tol=TOLERANCE)
    assert info.converged
    x = grid.gather(x, 1)
    if comm.rank == 0:
        np.save(comm.folder / "x.npy", x)


def test_ranks_of_other_variants(tmp_path):
    """A rank does not wait for faces of sources that ended, which another's threads leave out."""
    ranks.run(2, solve_by_other_variants, tmp_path)
    links, b = system(extent_of(GRIDS[2]))
    x = np.load(tmp_path / "x.npy")
    D = lattice.Wilson(lattice.Gauge(links, device="cpu"), KAPPA)
    others = [0, 1, 4, 5]
    assert not x[2:4].any() and (left_of(b[others], D, x[others]) < TOLERANCE).all()


# ---- a rank that is its own neighbour -----------------------------------------------------------
@pytest.fixture(scope="module")
def cut(device):
    """Operators on a lattice that is cut along z and t, and on one that is not."""
    links, b = system(PART)
    own = lattice.Grid(cut="zt", device=device)
    gauges = [lattice.Gauge(links, grid=grid, device=device) for grid in (own, None)]
    return *(lattice.Wilson(gauge, KAPPA) for gauge in gauges), b


@pytest.mark.some(1)
@pytest.mark.parametrize("options", [{}, {"normal": True}, {"even_odd": False}])
def test_blocks_of_sources_on_one_rank(cut, options):
    """Sums over one rank are those without ranks."""
    own, whole, b = cut
    x, info = own.solve(b, solver="block_cg", **options)
    expected, alone = whole.solve(b, solver="block_cg", **options)
    assert info.converged and abs(info.iterations - alone.iterations) <= 2
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-8)


def test_sums_of_many_threads(cut, policies, monkeypatch):
    """The variants of GPUs, under a random order of threads: several mails for a sum."""
    own, _, b = cut
    monkeypatch.setenv("CUBC_SIMT_SEED", "7")
    double, place = {"T{ct}": "F64"}, dict(zip("XYZT", PART, strict=True)) | {"Sources": SOURCES}
    labels = ["tpb_96.mb_1.wpt_1", *["tpb_32.mb_1.wpt_1"] * EVERY_CASE]
    for label in labels:
        _core.use_policy("block_update.direction", double, "cpu", label, place)
        x, info = own.solve(b, solver="block_cg")
        assert info.converged and (left_of(b, own, x) < 1e-10).all()
    _core.use_policy("field_update.cg", double, "cpu", "tpb_64.mb_1.spt_1", place)
    x, info = own.solve(b, solver="ca_cg")
    assert info.converged and (left_of(b, own, x) < 1e-10).all()


# ---- the preconditioner of Schwarz --------------------------------------------------------------
OPEN = {"y": 2, "z": 4, "t": 8}


def opened(operator, directions):
    """Leave the hops across the edges of these directions out of an operator's kernels."""
    call, mask = type(operator)._call, sum(OPEN[d] for d in directions)

    def with_edges(kernel, given, stream):
        return call(operator, kernel, given | {"open": mask}, stream)

    operator._call = with_edges
    return operator


def without(links, directions, depth=1):
    """Links of which those across the edges are zero."""
    links = links.copy()
    for d in directions:
        at = [slice(None)] * 4
        at["tzyx".index(d)] = slice(-depth, None)
        links[(*at, "xyzt".index(d))] = 0
    return links


@pytest.mark.some(8)
@pytest.mark.parametrize("directions", ["t", "yz", "yzt"])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("Wilson", {"reconstruct": 8}),
        ("Wilson", {"precision": "half", "reconstruct": 18}),
        ("TwistedMass", {"mu": 0.3}),
        ("WilsonClover", {"csw": 1.2, "precision": "single"}),
        ("TwistedDoublet", {"mu": 0.3, "epsilon": 0.1}),
        ("Staggered", {}),
        ("Asqtad", {}),
    ],
)
def test_hops_across_edges_are_left_out(device, kind, options, directions):
    """By what links of zero make of a hop in NumPy."""
    extent = (4, 4, 6, 4) if kind == "Asqtad" else PART
    links = random_links(extent[::-1])
    gauge = lattice.Gauge(links, device=device)
    staggered = kind in ("Staggered", "Asqtad")
    flavours = (2,) if kind == "TwistedDoublet" else ()
    psi = random_spinors(np.random.default_rng(3), extent, *flavours)
    if staggered:
        psi = np.ascontiguousarray(psi[..., 0, :])
    whole, cut_off = (getattr(lattice, kind)(gauge, KAPPA, **options) for _ in range(2))
    opened(cut_off, directions)
    if kind == "Asqtad":
        fat, longer = (u.numpy() for u in lattice.fat_links(gauge, "asqtad"))
        cut_fat, cut_long = without(fat, directions), without(longer, directions, 3)
        expected = staggered_reference.hopping(cut_fat, cut_long, psi)
        expected -= staggered_reference.hopping(fat, longer, psi)
    elif kind == "Staggered":
        expected = staggered_reference.hopping(without(links, directions), None, psi)
        expected -= staggered_reference.hopping(links, None, psi)
    else:
        of = {"antiperiodic": True}
        fields = psi if flavours else psi[None]
        expected = np.stack(
            [
                -KAPPA * reference.dslash(without(links, directions), one, **of)
                + KAPPA * reference.dslash(links, one, **of)
                for one in fields
            ]
        ).reshape(psi.shape)
    bound = {"double": 1e-13, "single": 1e-6, "half": 1e-3}[options.get("precision", "double")]
    found = cut_off(psi) - whole(psi)
    assert np.linalg.norm(expected) > 0.05 * np.linalg.norm(psi)
    assert np.linalg.norm(found - expected) < bound * np.linalg.norm(psi)


@pytest.mark.parametrize("keep", [0, 1])
def test_open_edges_in_blocks_of_many_threads(policies, keep):
    """The variants of GPUs, which keep the links of several sources or not."""
    links, b = system(PART, 3)
    gauge = lattice.Gauge(links, device="cpu")
    D = opened(lattice.Wilson(gauge, KAPPA), "zt")
    expected = D(b)
    label = f"tpb_64.mb_1.spt_2.sg_1.sf_1.kl_{keep}.bx_1.by_1.bz_1.bt_1.sz_7.ld_0.ll_0.cv_0"
    place = dict(zip("XYZT", PART, strict=True)) | {"Sources": 3}
    _core.use_policy("dslash.wilson.r12", {"T{ct}": "F64"}, "cpu", label, place)
    np.testing.assert_allclose(D(b), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("given", "says"),
    [({"open": 16}, "open is 16"), ({"open": -1}, "open is -1"), ({"ranks": 1}, "has no faces")],
)
def test_edges_that_are_refused(given, says):
    links, b = system(PART, 1)
    own = lattice.Grid(cut="t", device="cpu")
    D = lattice.Wilson(lattice.Gauge(links, grid=own, device="cpu"), KAPPA)
    mask = given.get("open", 8)
    ranks = {"ranks": own._ranks} if "ranks" in given else {}
    D._call = lambda kernel, fields, stream: _core.call(
        kernel, fields | {"open": mask} | ranks, stream=stream
    )
    with pytest.raises(ValueError, match=says):
        D(b)


# Iterations with the whole lattice as a block, where links across faces are zero and where not.
WHOLE_BLOCK = {
    ("zt", True): (3, 5),
    ("zt", False): (7, 11),
    ("t", True): (4, 5),
    ("t", False): (9, 11),
}


@pytest.mark.some(1)
@pytest.mark.parametrize("even_odd", [True, False])
@pytest.mark.parametrize("cut", ["zt", "t"])
def test_the_block_of_a_rank_ends_at_its_faces(device, cut, even_odd):
    """It is all of the system if links across the faces are zero, else not."""
    links, b = system(PART, 2)
    own = lattice.Grid(cut=cut, device=device)
    options = {"solver": "gcr", "schwarz": 12, "schwarz_precision": "double", "even_odd": even_odd}
    took = []
    for of in (without(links, cut), links):
        gauge = lattice.Gauge(links, grid=own, device=device)
        gauge._take(cubc.asarray(of, device=device), None)  # which are not checked
        D = lattice.Wilson(gauge, KAPPA, reconstruct=18)
        x, info = D.solve(b, **options)
        assert info.converged and (left_of(b, D, x) < 1e-10).all()
        took.append(info.iterations)
    closed, joined = WHOLE_BLOCK[cut, even_odd]
    assert abs(took[0] - closed) <= 1 and took[1] > joined + 2


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("TwistedClover", {"csw": 1.2, "mu": 0.1}),
        ("Wilson", {"precision": "single"}),
        ("TwistedDoublet", {"mu": 0.3, "epsilon": 0.1}),
        # The system is that of M^+ M, as M has eigenvalues on all sides: hundreds of steps.
        ("Mobius", {"mass": 0.2, "M5": 1.4, "Ls": 2}),
        ("Asqtad", {"mass": 0.3}),
    ],
)
def test_fewer_iterations_of_any_operator(device, kind, options):
    """With fields and matrices in three types."""
    extent, inner = (4, 2, 4, 6), {"TwistedDoublet": (2,), "Mobius": (2,)}.get(kind, ())
    links, _ = system(extent)
    own = lattice.Grid(cut="t", device=device)
    b = random_spinors(np.random.default_rng(3), extent, *inner)
    kappa = {} if "mass" in options else {"kappa": KAPPA}
    if kind == "Asqtad":
        b = np.ascontiguousarray(b[..., 0, :])
    D = getattr(lattice, kind)(lattice.Gauge(links, grid=own, device=device), **kappa, **options)
    took, tol = {}, {"Wilson": 1e-5, "Mobius": 1e-6}.get(kind, 1e-10)
    how = {"sloppy": "half" if D.precision == "single" else "single", "normal": kind == "Mobius"}
    for steps in (0, 1, 5):
        x, info = D.solve(b, solver="gcr", schwarz=steps, tol=tol, **how)
        product = D.dagger(D(x)) if how["normal"] else D(x)
        assert info.converged and np.linalg.norm(b - product) < 1.1 * tol * np.linalg.norm(b)
        took[steps] = info.iterations
    assert took[5] < 0.7 * took[0] and took[1] <= took[0] + 8


def test_no_steps_are_no_preconditioner(cut):
    own, _, b = cut
    plain, of_plain = own.solve(b, solver="gcr")
    x, info = own.solve(b, solver="gcr", schwarz=0)
    np.testing.assert_array_equal(x, plain)
    assert reports_of(info) == reports_of(of_plain)
    expected, _ = own.solve(b, solver="cg", tol=1e-12)
    x, _ = own.solve(b, solver="gcr", schwarz=4, tol=1e-12)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-10 * abs(expected).max())


def test_a_block_far_from_the_source(device):
    """A point source is on one rank of two: the residual of the other is zero at first."""
    links, _ = system((4, 2, 4, 12))
    gauge = lattice.Gauge(links, grid=(1, 1, 1, 2), devices=["cpu", "cpu:1"])
    b = lattice.point_source((4, 2, 4, 12), (0, 0, 0, 1))[0, 0]
    D = lattice.Wilson(gauge, KAPPA)
    x, info = D.solve(b, solver="gcr", schwarz=4, sloppy="half")
    assert info.converged and np.linalg.norm(b - D(x)) < 1e-10


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"schwarz": 4}, ValueError, "schwarz preconditions gcr, not cg"),
        ({"schwarz": -1, "solver": "gcr"}, ValueError, "number of steps from 0 to 64"),
        ({"schwarz": 1.5, "solver": "gcr"}, TypeError, "schwarz is 1.5: expected an int"),
        ({"schwarz": 1 << 20, "solver": "gcr"}, ValueError, "number of steps from 0 to 64"),
        (
            {"schwarz": 2, "solver": "gcr", "sloppy": "half", "schwarz_precision": "single"},
            TypeError,
            "more precise than iterations",
        ),
        ({"solver": "gcr", "schwarz_precision": "quad"}, ValueError, "expected one of double"),
    ],
)
def test_no_preconditioner(cut, options, error, says):
    own, _, b = cut
    with pytest.raises(error, match=says):
        own.solve(b, **options)


# ---- sums over ranks ----------------------------------------------------------------------------
@pytest.mark.some(1)
@pytest.mark.parametrize("options", [{}, {"normal": True}, {"sloppy": "single"}])
def test_four_iterations_have_one_sum(cut, options):
    """Two that bound the eigenvalues, and two of each update, come on top; cg has two of each."""
    own, whole, b = cut
    x, info = own.solve(b, solver="ca_cg", **options)
    expected, of_cg = own.solve(b, solver="cg", **options)
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-7)
    for ca, cg in zip(info.sources, of_cg.sources, strict=True):
        assert ca.sums == 2 + 2 * ca.updates + ca.iterations // 4
        assert cg.sums == 2 * cg.updates + 2 * cg.iterations
    assert info.sums < 0.4 * of_cg.sums
    assert whole.solve(b, solver="ca_cg", **options)[1].sums == 0  # nobody else has any


def test_steps_of_a_block_have_no_sums(cut):
    """They are as many as without it: three an iteration, besides those of source and updates."""
    own, _, b = cut
    took = [own.solve(b[0], solver="gcr", schwarz=steps, maxiter=8)[1] for steps in (0, 1, 6)]
    assert [info.iterations for info in took] == [8, 8, 8]
    of_a_round = 8 * 3 - 1  # the first direction is orthogonal to none
    assert [info.sums for info in took] == [of_a_round + 4] * 3
