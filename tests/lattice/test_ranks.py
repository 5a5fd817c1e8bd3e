"""Lattices over ranks: the numbers of a lattice that is not cut, on every grid and every cut."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import ranks
from every_case import EVERY_CASE
from lattice_reference import random_links, random_spinors
from lattice_system import random_links as near_one

import cubc
from cubc import _core, lattice
from cubc.lattice import _grid
from cubc.lattice._gauge_checks import check_temporal

EXTENT = (4, 2, 4, 6)  # X, Y, Z, T of a rank, as in lattice_system: no site is off faces of y
CUTS = ["t", "z", "y", "zt", "yt", "yz", "yzt"]
GRIDS = {  # by the number of ranks: grids, and cuts where ranks are their own neighbours as well
    2: [((1, 1, 1, 2), ""), ((1, 2, 1, 1), "")],
    4: [((1, 1, 2, 2), ""), ((1, 2, 1, 2), "z")],
}
if EVERY_CASE:  # each grid has kernels of its own
    GRIDS[2] += [((1, 1, 2, 1), "")]
    GRIDS[4] += [((1, 1, 1, 4), ""), ((1, 2, 1, 2), ""), ((1, 2, 2, 1), "")]
KAPPA = 0.12
PLACE = (3, 1, 2, 7)  # on the second rank, if t is cut
BOUNDARY = {"theta": (0.3, 0.2, 0.7, 1.1), "temporal_gauge": True}


def fields(extent, sources=1):
    """Links as in temporal gauge, and spinors."""
    rng = np.random.default_rng(7)
    links = random_links(rng, extent)
    links[:-1, ..., 3, :, :] = np.eye(3)
    return links, random_spinors(rng, extent, *([sources] if sources > 1 else []))


def of(operator, x, form, **options):
    """The operator, or its hopping term of both parities, of even or of odd sites."""
    if form == "operator":
        return operator.dagger(x) if options.get("dagger") else operator(x)
    if form == "both":
        return operator.dslash(x, **options)
    return operator.dslash(np.ascontiguousarray(x[..., ::2, :, :]), form, **options)


@pytest.fixture(scope="module", autouse=True)
def nothing_is_fused():
    """Bits are compared, also of gauge fields: no compiler chooses which sums are rounded once."""
    with pytest.MonkeyPatch.context() as patch:
        if "-O0" not in (flags := os.environ["CUBC_CXXFLAGS"]):
            patch.setenv("CUBC_CXXFLAGS", f"{flags} -ffp-contract=off")
        yield


def check_same(device, got, expected, precision="double"):
    """Compare bits of what has no hop; on a GPU, whose compiler fuses it, all but roundings."""
    if device == "cpu":
        np.testing.assert_array_equal(got, expected)
    else:
        bound = {"double": 1e-14, "single": 1e-6, "half": 3e-4}[precision]
        assert np.linalg.norm(got - expected) < bound * np.linalg.norm(expected)


# ---- a rank that is its own neighbour -----------------------------------------------------------
@pytest.fixture(scope="module")
def alone(device):
    return {cut: lattice.Grid(cut=cut, device=device) for cut in CUTS}


@pytest.mark.parametrize("cut", CUTS)
def test_an_own_neighbour_has_the_same_bits(device, alone, cut):
    links, psi = fields(EXTENT)
    whole = lattice.Wilson(lattice.Gauge(links, device=device), KAPPA, **BOUNDARY)
    gauge = lattice.Gauge(links, grid=alone[cut], device=device)
    with_faces = lattice.Wilson(gauge, KAPPA, **BOUNDARY)
    for _ in range(3):  # faces have two places in turn
        np.testing.assert_array_equal(with_faces(psi), whole(psi))
        psi = np.roll(psi, 1, 0)
    alone[cut].check()


def test_one_rank_may_have_no_faces(device):
    links, psi = fields(EXTENT)
    made = [
        lattice.Wilson(lattice.Gauge(links, grid=grid, device=device), KAPPA, **BOUNDARY)(psi)
        for grid in (None, lattice.Grid(device=device))
    ]
    np.testing.assert_array_equal(*made)


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("cut", "sources", "form", "dagger", "options"),
    [
        ("zt", 2, "even", True, {"precision": "half", "reconstruct": 8}),
        ("yt", 3, "both", False, {"precision": "half", "reconstruct": 18, "anisotropy": 2.5}),
        ("yz", 1, "odd", False, {"precision": "single", "reconstruct": 12}),
        ("zt", 2, "operator", True, {"reconstruct": 18, "theta": (0.3, 0, 0.7, 1.1)}),
        ("t", 1, "operator", False, {"temporal_gauge": True, "precision": "single"}),
        ("yzt", 2, "odd", True, {"mu": 0.3, "antiperiodic_t": False}),
    ],
)
def test_an_own_neighbour_with(device, alone, cut, sources, form, dagger, options):
    links, psi = fields(EXTENT, sources)
    made = []
    for grid in (None, alone[cut]):
        gauge = lattice.Gauge(links, grid=grid, device=device)
        kind = lattice.TwistedMass if "mu" in options else lattice.Wilson
        made.append(of(kind(gauge, KAPPA, **options), psi, form, dagger=dagger))
    np.testing.assert_array_equal(made[1], made[0])


def use_many_threads(kind, sources, share="spt_2.sg_2"):
    label = f"tpb_64.mb_1.{share}.sf_1.kl_1.bx_1.by_1.bz_1.bt_1.sz_7.ld_0.ll_0.cv_0"
    place = dict(zip("XYZT", EXTENT, strict=True)) | {"Sources": sources}
    _core.use_policy("dslash.wilson.r12", {"T{ct}": kind}, "cpu", label, place)


@pytest.mark.parametrize("seed", ["", "3"])
def test_blocks_of_many_threads(policies, monkeypatch, seed):
    """The variants of GPUs: a warp has sites on faces and others, of several sources."""
    links, psi = fields(EXTENT, 3)
    own = lattice.Grid(cut="zt", device="cpu", timeout=100)
    gauge, cut = (lattice.Gauge(links, grid=grid, device="cpu") for grid in (None, own))
    expected = lattice.Wilson(gauge, KAPPA)(psi)
    use_many_threads("F64", 3)
    monkeypatch.setenv("CUBC_SIMT_SEED", seed)
    for _ in range(3):
        np.testing.assert_array_equal(lattice.Wilson(cut, KAPPA)(psi), expected)


@pytest.mark.gpu
def test_fields_on_another_device():
    links, psi = fields(EXTENT)
    grid = lattice.Grid(cut="t", device="cuda:0")
    D = lattice.Wilson(lattice.Gauge(links, grid=grid, device="cpu"), KAPPA)
    with pytest.raises(ValueError, match='grid with device="cpu"'):
        D(psi)


SOLVE = {"tol": 1e-6, "sloppy": "single"}


def left_of(b, operator, x):
    """The residuals of several sources."""
    rest = (b - operator(x)).reshape(len(b), -1)
    return np.linalg.norm(rest, axis=1) / np.linalg.norm(b.reshape(len(b), -1), axis=1)


def test_an_own_neighbour_solves(device, alone):
    _, b = fields(EXTENT, 2)
    links = near_one(EXTENT[::-1])
    x, info = lattice.Wilson(lattice.Gauge(links, grid=alone["t"], device=device), KAPPA).solve(
        b, **SOLVE
    )
    assert info.converged and info.residual < 1e-6
    assert (left_of(b, lattice.Wilson(lattice.Gauge(links, device=device), KAPPA), x) < 1e-6).all()


@pytest.mark.some(2)
@pytest.mark.parametrize("share", ["", "spt_2.sg_2", "spt_3.sg_1", "spt_1.sg_2"])
def test_sources_that_end_one_by_one(device, alone, policies, monkeypatch, share):
    """Blocks of the sources that have ended come late, when those of others have taken a step.

    A source that has ended at once is in a thread or a block with one that has not: its faces are
    sent only with those of the thread's other sources.
    """
    b = fields(EXTENT, 3)[1]
    b[1] = 0
    links = near_one(EXTENT[::-1])
    if share:
        use_many_threads("F64", 3, share)
        monkeypatch.setenv("CUBC_SIMT_SEED", "4")
    solves = [
        lattice.Wilson(lattice.Gauge(links, grid=grid, device=device), KAPPA).solve(b, tol=1e-8)
        for grid in (None, alone["t"])
    ]
    for x, info in solves:
        assert info.converged
        np.testing.assert_allclose(x, solves[0][0], rtol=0, atol=1e-7)
    took = [[source.iterations for source in info.sources] for _, info in solves]
    assert took[0][1] == took[1][1] == 0 and np.abs(np.subtract(*took)).max() <= 1


# ---- ranks that are processes -------------------------------------------------------------------
def whole_extent(grid):
    return tuple(e * n for e, n in zip(EXTENT, grid, strict=True))


def operator_on(grid):
    """The operator of this rank, its part of a spinor, and the grid."""
    links, psi = fields(whole_extent(grid.grid))
    gauge = lattice.Gauge(grid.part(links), grid=grid)
    check_temporal(gauge, None)  # gathers, once: before a test's ranks fail to
    return lattice.Wilson(gauge, KAPPA, **BOUNDARY), grid.part(psi)


def hop_everywhere(comm):
    """Rank 0 leaves what all have, on every grid; the solution and the reports of all ranks."""
    found = {}
    for k, (shape, cut) in enumerate(GRIDS[comm.size]):
        grid = lattice.Grid(shape, comm, cut=cut)
        operator, psi = operator_on(grid)
        operator(psi)
        found[f"hop{k}"] = grid.gather(operator(psi))
    grid = lattice.Grid((1, 1, 1, comm.size), comm)
    extent = whole_extent(grid.grid)
    gauge = lattice.Gauge(grid.part(near_one(extent[::-1])), grid=grid)
    found["random"] = grid.gather(lattice.Gauge.random(extent, 3, grid=grid).links().numpy())
    gauge.write(comm.folder / "links.lime")
    gauge = lattice.read_gauge(comm.folder / "links.lime", grid=grid)
    _, b = fields(extent, 2)
    x, info = lattice.Wilson(gauge, KAPPA).solve(grid.part(b, 1), **SOLVE)
    found["x"] = grid.gather(x, 1)
    found["reports"] = comm.allgather([(s.iterations, s.residual) for s in info.sources])
    if comm.size == 2:
        operator = lattice.Wilson(gauge, KAPPA)
        s = operator.propagator(PLACE, tol=1e-2, sloppy="single")
        found["s"], found["pion"] = grid.gather(s), operator.pion_correlator(s, PLACE[3])
    if comm.rank == 0:
        np.savez(comm.folder / "found.npz", **found)


@pytest.mark.parametrize("size", GRIDS)
def test_ranks_have_the_numbers_of_one(tmp_path, device, size):
    ranks.run(size, hop_everywhere, tmp_path, device)
    found = np.load(tmp_path / "found.npz")
    for k, (grid, _) in enumerate(GRIDS[size]):
        links, psi = fields(whole_extent(grid))
        whole = lattice.Wilson(lattice.Gauge(links, device=device), KAPPA, **BOUNDARY)
        np.testing.assert_array_equal(found[f"hop{k}"], whole(psi))
    drawn = lattice.Gauge.random(whole_extent((1, 1, 1, size)), 3, device=device)
    check_same(device, found["random"], drawn.links().numpy())
    links = lattice.read_links(tmp_path / "links.lime")[0]
    np.testing.assert_array_equal(links, near_one(whole_extent((1, 1, 1, size))[::-1]))
    reports = found["reports"]
    assert (reports == reports[0]).all()  # to the last bit
    assert (reports[..., 1] < 1e-6).all()
    extent = whole_extent((1, 1, 1, size))
    whole = lattice.Wilson(lattice.Gauge(near_one(extent[::-1]), device=device), KAPPA)
    assert (left_of(fields(extent, 2)[1], whole, found["x"]) < 1e-6).all()
    if size > 2:
        return
    s = found["s"]
    sources = lattice.point_source(extent, PLACE).reshape(12, *s.shape[:4], 4, 3)
    columns = np.moveaxis(s, (5, 7), (0, 1)).reshape(sources.shape) / (2 * KAPPA)
    assert (left_of(sources, whole, columns) < 1e-2).all()
    np.testing.assert_allclose(found["pion"], lattice.pion_correlator(s, PLACE[3]), rtol=1e-13)


def hop_in_any_order(comm):
    """A rank has one thread for its blocks, of which those with sites on faces wait."""
    found = []
    for few in (True, False):
        if not few:
            use_many_threads("F64", 3)
        for seed in ("3", "8"):
            os.environ["CUBC_SIMT_SEED"] = seed
            grid = lattice.Grid((1, 1, 1, 2), comm, timeout=100)
            psi = grid.part(fields(whole_extent(grid.grid), 3)[1], 1)
            found.append(grid.gather(operator_on(grid)[0](psi), 1))
    if comm.rank == 0:
        np.save(comm.folder / "found.npy", found)


def test_blocks_that_wait_begin_last(tmp_path):
    ranks.run(2, hop_in_any_order, tmp_path)
    links, psi = fields(whole_extent((1, 1, 1, 2)), 3)
    whole = lattice.Wilson(lattice.Gauge(links, device="cpu"), KAPPA, **BOUNDARY)(psi)
    for found in np.load(tmp_path / "found.npy"):
        np.testing.assert_array_equal(found, whole)


# ---- MPI ----------------------------------------------------------------------------------------
SCRIPTS = Path(sys.executable).parent  # of the environment, where MPI is a package of it
SCRIPT = """
import sys
import numpy as np
from mpi4py import MPI
from cubc import lattice
from test_ranks import operator_on
grid = lattice.Grid((1, 1, 1, 2), MPI.COMM_WORLD, device="cpu")
operator, psi = operator_on(grid)
whole = grid.gather(operator(psi))
if grid.rank == 0:
    np.save(sys.argv[1], whole)
"""


def mpiexec(*command, size=2, **options):
    launcher = shutil.which("mpiexec", path=os.pathsep.join([str(SCRIPTS), os.environ["PATH"]]))
    done = subprocess.run(
        [launcher, "-n", str(size), *command],
        capture_output=True,
        text=True,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not importlib.util.find_spec("mpi4py"), reason="mpi4py is not installed")
@pytest.mark.parametrize("transport", ["memory", "messages"])
def test_mpi4py(tmp_path, transport):
    (tmp_path / "script.py").write_text(SCRIPT)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, sys.path)),
        "CUBC_RANKS": transport,
    }
    mpiexec(sys.executable, tmp_path / "script.py", tmp_path / "whole.npy", env=environment)
    links, psi = fields(whole_extent((1, 1, 1, 2)))
    whole = lattice.Wilson(lattice.Gauge(links, device="cpu"), KAPPA, **BOUNDARY)
    np.testing.assert_array_equal(np.load(tmp_path / "whole.npy"), whole(psi))


@pytest.mark.skipif(not (SCRIPTS / "mpicc").exists(), reason="there is no mpicc beside Python")
def test_a_c_program_of_ranks(tmp_path, monkeypatch):
    source = Path(__file__).parents[1] / "c/ranks.c"
    flags = ["-std=c11", "-I", cubc.get_include(), "-Wall", "-Wextra", "-Werror"]
    library = [cubc.get_library(), "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    program = tmp_path / "program"
    subprocess.run([SCRIPTS / "mpicc", source, *flags, *library, "-o", program], check=True)
    for transport in ("memory", "messages"):
        monkeypatch.setenv("CUBC_RANKS", transport)
        said = mpiexec(program).splitlines()
        assert sorted(said) == ["rank 0 of 2 has 8", "rank 1 of 2 has 8"]
    monkeypatch.delenv("CUBC_RANKS")
    said = mpiexec(program, "of hosts", size=4).splitlines()
    assert sorted(said) == [f"rank {rank} of 4 has 8" for rank in range(4)]


@pytest.mark.skipif(not (SCRIPTS / "mpicxx").exists(), reason="there is no mpicxx beside Python")
def test_the_header_for_mpi_is_cpp_too():
    flags = ["-I", cubc.get_include(), "-Wall", "-Wextra", "-Werror"]
    command = [SCRIPTS / "mpicxx", "-x", "c++", "-fsyntax-only", *flags, "-"]
    subprocess.run(command, input="#include <cubc/ranks_mpi.h>\n", text=True, check=True)


# ---- ranks that fail ----------------------------------------------------------------------------
def wait_for_nobody(comm):
    """Rank 1 dies after a hop; the others say how the second one from then on ended."""
    for seconds in (100, 3):  # what has compiled keeps nobody waiting
        grid = lattice.Grid((1, 1, 1, comm.size), comm, timeout=seconds)
        operator, psi = operator_on(grid)
        operator(psi)
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    for _ in range(2):  # no later call goes on
        try:
            said = "went on"
            operator(psi)
        except TimeoutError as error:
            said = str(error)
    print(said)


def test_a_rank_that_dies_ends_the_others(tmp_path, device):
    processes = ranks.start(3, wait_for_nobody, tmp_path, device)
    said = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, -signal.SIGKILL, 0]
    for rank in (0, 2):
        assert "waited 3 s for the face of rank 1, which has ended, hangs or" in said[rank]


def sleep_in_a_solve(comm):
    """Rank 1 solves nothing, as if it hung."""
    for seconds in (100, 6):  # what has compiled keeps nobody waiting
        grid = lattice.Grid((1, 1, 1, comm.size), comm, timeout=seconds)
        gauge = lattice.Gauge(grid.part(near_one(whole_extent(grid.grid)[::-1])), grid=grid)
        operator, b = lattice.Wilson(gauge, KAPPA), fields(EXTENT, 2)[1]
        operator.solve(b, **SOLVE)  # there is memory to share
    comm.allgather(None)
    if comm.rank == 0:
        with pytest.raises(TimeoutError, match="rank 0 of 2 waited 6 s for the sums of rank 1"):
            operator.solve(b, **SOLVE)
    comm.allgather(None)


def test_a_rank_that_hangs_ends_a_solve(tmp_path, device):
    ranks.run(2, sleep_in_a_solve, tmp_path, device)


class Two:
    """A communicator of two ranks, seen from the second; `first` makes the first one's items."""

    def __init__(self, first=lambda value: value):
        self.first = first

    def Get_rank(self):
        return 1

    def Get_size(self):
        return 2

    def allgather(self, value):  # bytes are the core's
        return [self.first(value) if isinstance(value, bytes) else value, value]


def without_memory(value):
    return b"\1\0\0\0" if len(value) == 4 else value  # how a step went is a word


def of_no_process(value):
    if len(value) <= 16:  # how a step went, and the host
        return value
    nobody = b"\xff" * 3 + b"\x7f"  # at both places of the process
    return nobody + value[4:-16] + nobody + value[-12:]


@pytest.mark.parametrize(
    ("first", "error", "says"),
    [
        (without_memory, cubc.ResourceError, "rank 0 of 2 has no memory that ranks can share"),
        (of_no_process, cubc.ResourceError, "memory of process 2147483647 cannot be opened"),
        (lambda _: b"", OSError, "all_gather has failed"),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_memory_that_is_not_shared(first, error, says):
    operator, psi = operator_on(lattice.Grid((1, 1, 1, 2), Two(first), device="cpu"))
    left = []
    for _ in range(3):
        with pytest.raises(error, match=says):
            operator(psi)
        left.append(_core._outstanding())
    assert left[2] == left[1] or error is OSError  # of which pytest keeps the exception


# ---- what is refused ----------------------------------------------------------------------------
def test_a_copy_has_the_ranks_of_its_field():
    grid = lattice.Grid(cut="t", device="cpu")
    links, _ = fields(EXTENT)
    gauge = lattice.Gauge(links, grid=grid)
    assert lattice.Wilson(gauge.copy(), KAPPA).gauge.grid is grid
    assert gauge.unitarity()[0] < 1e-14


@pytest.mark.parametrize(
    ("arguments", "options", "says"),
    [
        (((2, 1, 1, 1),), {}, "cut along y, z and t, not along x"),
        (((1, 1, 1, 2),), {}, "1x1x1x2 is one of 2 ranks, and there are 1"),
        (((1, 1, 0, 1),), {}, "0 ranks along z"),
        (((1, 1, 1),), {}, "the ranks along x, y, z, t"),
        ((), {"cut": "x"}, "some of 'y', 'z' and 't'"),
        ((), {"cut": 5}, "some of 'y', 'z' and 't'"),
        ((), {"timeout": 0}, "a number of seconds above 0"),
        ((), {"timeout": "1"}, "timeout is '1': expected a number"),
        ((), {"transport": ["memory"]}, "expected 'memory' or 'messages'"),
        ((), {"comm": 5}, "comm is a int without Get_rank and Get_size and allgather"),
    ],
)
def test_no_grid(arguments, options, says):
    with pytest.raises((ValueError, TypeError), match=says):
        lattice.Grid(*arguments, device="cpu", **options)


def test_ranks_of_a_host_take_its_gpus_in_turn(monkeypatch):
    gpus = types.SimpleNamespace(
        device_info=lambda name: {"name": name or "cuda:0"},
        devices=lambda: ["cuda:0", "cuda:1", "cpu"],
    )
    monkeypatch.setattr(_grid, "_core", gpus)
    hosts = ["a", "b", "a", "a", "b"]
    took = []
    for rank in range(5):
        comm = types.SimpleNamespace(Get_rank=lambda r=rank: r, allgather=lambda host: hosts)
        took.append(_grid._device_of(None, comm))
    assert took == ["cuda:0", "cuda:0", "cuda:1", "cuda:0", "cuda:1"]
    assert _grid._device_of("cuda:1", comm) == "cuda:1"
    assert _grid._device_of(None, None) == "cuda:0"


@pytest.mark.parametrize(
    "other", [np.ones((1, 2, 2, 2)), np.ones((2, 2, 2, 1)), np.ones((2, 2, 2, 2), complex)]
)
def test_parts_that_are_not_alike_are_not_gathered(other):
    both = Two(lambda value: value)
    both.allgather = lambda value: [other, value]
    grid = lattice.Grid((1, 1, 1, 2), both, device="cpu")
    with pytest.raises(ValueError, match=r"the part of rank 1 is float64 .* they are alike"):
        grid.gather(np.ones((2, 2, 2, 2)))


def test_parts_are_gathered():
    grid = lattice.Grid((1, 1, 2, 1), Two(), device="cpu")
    assert (grid.rank, grid.size, grid.place) == (1, 2, (0, 0, 1, 0))
    whole = np.arange(3 * 2 * 4 * 2 * 4).reshape(3, 2, 4, 2, 4)
    np.testing.assert_array_equal(grid.part(whole, 1), whole[:, :, 2:])
    twice = grid.gather(whole, 1)
    np.testing.assert_array_equal(twice, np.concatenate([whole, whole], 2))
    sums = np.arange(6.0).reshape(2, 3)  # of slices of t, the same on both ranks or not
    np.testing.assert_array_equal(grid.sum_of_slices(sums), 2 * sums)
    of_t = lattice.Grid((1, 1, 1, 2), Two(), device="cpu").sum_of_slices(sums)
    np.testing.assert_array_equal(of_t, np.concatenate([sums, sums], 1))
    with pytest.raises(ValueError, match="no equal parts of even extents"):
        grid.part(whole[:, :, :, :, :], 0)
    with pytest.raises(ValueError, match="no equal parts of even extents"):
        lattice.Gauge.random((4, 4, 6, 4), grid=grid)
    for refuses in (grid.part, grid.gather):
        with pytest.raises(ValueError, match="no axes T, Z, Y, X from axis 2 on"):
            refuses(whole, 2)
