"""Ranks that send messages by NCCL, between two GPUs of a host or four: what one GPU computes.

Each test ends within a minute or two, whatever hangs, and shows how far each rank came.
NCCL_DEBUG=INFO has NCCL say more.
"""

import ctypes
import gc
import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest
import ranks
from lattice_reference import random_links, random_spinors
from lattice_system import random_links as near_one
from test_ranks_messages import TwoHostsOfFiles

import cubc
from cubc import lattice
from cubc._device import nccl_of_wheel


def has_nccl():
    for name in filter(None, (os.environ.get("CUBC_NCCL"), nccl_of_wheel(), "libnccl.so.2")):
        try:
            return bool(ctypes.CDLL(name))
        except OSError:
            continue
    return False


pytestmark = [
    pytest.mark.gpu,
    pytest.mark.timeout(60),  # after the limit of the ranks
    pytest.mark.skipif(
        "cuda:0" in cubc.devices() and not has_nccl(),
        reason="NCCL is not installed: pip install nvidia-nccl-cu13, or -cu12",
    ),
]
needs_two = pytest.mark.skipif("cuda:1" not in cubc.devices(), reason="needs two GPUs")
needs_four = pytest.mark.skipif("cuda:3" not in cubc.devices(), reason="needs four GPUs")
LIMIT = 55  # seconds of all ranks
EXTENT = (8, 4, 4, 8)
LARGE = (16, 16, 16, 32)  # messages come while some waves of blocks compute
GRIDS = [(1, 1, 1, 2), (1, 1, 2, 1), (1, 2, 1, 1)]
PRECISIONS = ["double", "single", "half"]
KAPPA = 0.12
CHAIN, CHAINS = 20, 20
SOLVES = {
    "cg": {"solver": "cg", "sloppy": "half"},
    "blocks": {"solver": "block_cg", "sloppy": "single"},
    "ca": {"solver": "ca_cg", "sloppy": "half"},
    "schwarz": {"solver": "gcr", "schwarz": 4, "sloppy": "half"},
}
STARTED = time.monotonic()


def say(comm, *words):
    """Print where a rank is, for whoever reads a failure."""
    print(f"{time.monotonic() - STARTED:6.1f} s, rank {comm.Get_rank()}:", *words, flush=True)


def check_bits(got, expected, what):
    """Fail with the number of what differs, how much, and on which slices."""
    if np.array_equal(got, expected):
        return
    differ = np.argwhere(np.atleast_1d(got != expected))
    slices = {
        axis: sorted(set(differ[:, k].tolist())) for k, axis in enumerate("tzyx"[: differ.shape[1]])
    }
    most = np.abs(got - expected).max()
    raise AssertionError(
        f"{what}: {len(differ)} of {got.size} numbers differ, at most by {most:.3g}, on {slices}"
    )


def operators(grid, device, kind, extent=EXTENT, **options):
    """The operator on the whole lattice and on a rank's part, and a field of it."""
    rng = np.random.default_rng(3)
    links, psi = random_links(rng, extent), random_spinors(rng, extent)
    if kind == "HISQ":
        links, psi = near_one(extent[::-1]), psi[..., 0, :]
    made = (
        getattr(lattice, kind)(lattice.Gauge(part, grid=g, device=device), KAPPA, **options)
        for part, g in ((links, None), (grid.part(links), grid))
    )
    return *made, psi


# ---- a GPU that is its own neighbour ------------------------------------------------------------
@pytest.mark.parametrize("cut", ["t", "yzt"])
def test_an_own_neighbour_has_the_same_bits(cut):
    """One GPU is enough: NCCL sends to the rank itself."""
    grid = lattice.Grid(cut=cut, device="cuda:0", transport="messages")
    for precision in PRECISIONS:
        whole, sent, psi = operators(grid, "cuda:0", "Wilson", precision=precision)
        for k in range(3):
            check_bits(sent(psi), whole(psi), f"hop {k} in {precision}")
            psi = np.roll(psi, 1, 0)
    links = near_one(EXTENT[::-1])
    b = random_spinors(np.random.default_rng(6), EXTENT, 2)
    D, alone = (
        lattice.Wilson(lattice.Gauge(links, grid=g, device="cuda:0"), KAPPA) for g in (grid, None)
    )
    x, info = D.solve(b, tol=1e-9, sloppy="half")
    assert info.converged
    assert np.linalg.norm(b - alone(x)) < 2e-9 * np.linalg.norm(b)
    grid.check()


# ---- two processes ------------------------------------------------------------------------------
def hop_everywhere(comm):
    """Each rank compares its part with the whole lattice on its own GPU."""
    for shape in GRIDS:
        grid = lattice.Grid(shape, comm, transport="messages")
        say(comm, grid, "on", grid.device)
        for kind in ("Wilson", "HISQ"):
            if kind == "HISQ" and shape != GRIDS[0]:
                continue  # three sites of a hop have no room
            for precision in PRECISIONS:
                if kind == "HISQ" and precision == "double":
                    continue  # links whose sums a compiler may fuse
                whole, sent, psi = operators(grid, grid.device, kind, precision=precision)
                for k in range(3):
                    check_bits(
                        sent(grid.part(psi)), grid.part(whole(psi)), f"{kind} {precision} {k}"
                    )
                    psi = np.roll(psi, 1, 0)
                say(comm, "hops of", kind, "in", precision)


@needs_two
def test_hops_have_the_bits_of_one_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("NCCL_DEBUG", os.environ.get("NCCL_DEBUG", "WARN"))
    ranks.run(2, hop_everywhere, tmp_path, "cuda:0", limit=LIMIT)


def repeat_hops(comm):
    """A chain of hops has the same bits each time: nothing is read before it has come."""
    grid = lattice.Grid((1, 1, 1, 2), comm, transport="messages")
    extent = LARGE if os.environ["LARGE"] == "1" else EXTENT
    for precision in PRECISIONS:
        whole, sent, psi = operators(grid, grid.device, "Wilson", extent, precision=precision)

        def chain(operator, x):
            for _ in range(CHAIN):
                x = operator(x)
            return x.numpy()

        expected = grid.part(chain(whole, cubc.asarray(psi, device=grid.device)))
        x = cubc.asarray(grid.part(psi), device=grid.device)
        start = time.monotonic()
        for k in range(CHAINS):
            check_bits(chain(sent, x), expected, f"chain {k} in {precision}")
        seconds = time.monotonic() - start
        say(comm, f"{1e6 * seconds / CHAINS / CHAIN:.0f} us an application in {precision}")


@needs_two
@pytest.mark.timeout(130)
@pytest.mark.parametrize("large", [0, 1])
def test_many_hops(tmp_path, monkeypatch, large):
    monkeypatch.setenv("NCCL_DEBUG", os.environ.get("NCCL_DEBUG", "WARN"))
    monkeypatch.setenv("LARGE", str(large))
    print(*ranks.run(2, repeat_hops, tmp_path, "cuda:0", limit=120))


def solve_everywhere(comm):
    """Solutions have the bits that shared memory gives, also again, by recorded rounds."""
    name = os.environ["SOLVER"]
    extent = EXTENT
    links = near_one(extent[::-1])
    b = random_spinors(np.random.default_rng(6), extent, 3)
    found = {}
    for transport in ("memory", "messages"):
        grid = lattice.Grid((1, 1, 1, 2), comm, transport=transport)
        D = lattice.Wilson(lattice.Gauge(grid.part(links), grid=grid), KAPPA)
        for again in range(2):
            x, info = D.solve(grid.part(b, 1), tol=1e-9, **SOLVES[name])
            assert info.converged, (transport, name, info)
            reports = [(s.iterations, s.residual, s.sums) for s in info.sources]
            expected = found.setdefault(name, (x, reports))
            assert reports == expected[1], (transport, name, again, reports, expected[1])
            np.testing.assert_array_equal(x, expected[0], f"{transport} {name} {again}")
        say(comm, transport, name, info.iterations, "iterations,", f"{info.seconds:.4f} s")


@needs_two
@pytest.mark.timeout(130)
@pytest.mark.parametrize("name", SOLVES)
def test_solves_have_the_bits_of_shared_memory(name, tmp_path, monkeypatch):
    """A minute of the time is compiling, where the cache is empty."""
    monkeypatch.setenv("NCCL_DEBUG", os.environ.get("NCCL_DEBUG", "WARN"))
    monkeypatch.setenv("SOLVER", name)
    print(*ranks.run(2, solve_everywhere, tmp_path, "cuda:0", limit=120))


# ---- ranks of one process -----------------------------------------------------------------------
@needs_two
@pytest.mark.timeout(130)
def test_ranks_of_a_process_send_messages(monkeypatch):
    """Each joins the others in a thread: none may hold what another needs, as Python's lock."""
    links = near_one(EXTENT[::-1])
    psi = random_spinors(np.random.default_rng(6), EXTENT)
    whole = lattice.Wilson(lattice.Gauge(links, device="cuda:0"), KAPPA)
    found = {}
    for transport in ("memory", "messages"):
        monkeypatch.setenv("CUBC_RANKS", transport)
        cut = lattice.Gauge(links, grid=(1, 1, 1, 2), devices=["cuda:0", "cuda:1"])
        D = lattice.Wilson(cut, KAPPA)
        check_bits(D(psi), whole(psi), transport)
        with pytest.raises(KeyboardInterrupt):
            for k in itertools.count():
                D.solve(psi, tol=1e-9)
                if k == 1:
                    threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)).start()
        check_bits(D(psi), whole(psi), f"{transport}, after Ctrl-C")
        x, info = D.solve(psi, tol=1e-9, sloppy="half")
        assert info.converged
        found[transport] = x
        del cut, D
        gc.collect()
    np.testing.assert_array_equal(found["messages"], found["memory"])


# ---- two hosts of two GPUs each, as ranks of four are told --------------------------------------
def use_two_hosts(comm):
    """Faces go by memory along z, by NCCL along t; then the same by memory alone."""
    extent = (8, 4, 8, 16)
    grids = [lattice.Grid((1, 1, 2, 2), comm, transport=to) for to in (None, "memory")]
    for precision in PRECISIONS:
        whole, sent, psi = operators(
            grids[0], grids[0].device, "Wilson", extent, precision=precision
        )
        for k in range(3):
            got, expected = sent(grids[0].part(psi)), grids[0].part(whole(psi))
            check_bits(got, expected, f"{precision} {k}")
            psi = np.roll(psi, 1, 0)
        say(comm, "hops in", precision)
    links, b = near_one(extent[::-1]), random_spinors(np.random.default_rng(6), extent, 3)
    found = []
    for grid in grids:
        D = lattice.Wilson(lattice.Gauge(grid.part(links), grid=grid), KAPPA)
        for _ in range(2):
            x, info = D.solve(grid.part(b, 1), tol=1e-9, **SOLVES["cg"])
            found.append((x, [(s.iterations, s.residual) for s in info.sources]))
        say(comm, "a solve,", info.iterations, "iterations,", f"{info.seconds:.4f} s")
    for x, reports in found[1:]:
        assert reports == found[0][1]
        np.testing.assert_array_equal(x, found[0][0])


@needs_four
@pytest.mark.timeout(190)
def test_memory_and_messages_of_four_gpus(tmp_path, monkeypatch):
    monkeypatch.setenv("NCCL_DEBUG", os.environ.get("NCCL_DEBUG", "WARN"))
    print(*ranks.run(4, use_two_hosts, tmp_path, "cuda:0", TwoHostsOfFiles, limit=180))


def lose_a_neighbour(comm):
    """Rank 1 dies after a hop: one of its host waits for memory, one of the other for a message."""
    grid = lattice.Grid((1, 1, 2, 2), comm, timeout=4)
    _, sent, psi = operators(grid, grid.device, "Wilson", (8, 4, 8, 16))
    sent(grid.part(psi))
    say(comm, "one hop")
    comm.allgather(None)
    if comm.Get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(TimeoutError) as caught:
        for _ in range(4):
            sent(grid.part(psi))
    say(comm, caught.value)


@needs_four
@pytest.mark.timeout(130)
def test_a_rank_that_dies_ends_those_of_both_hosts(tmp_path):
    ends = [0, -signal.SIGKILL, 0, 0]
    ranks.run(4, lose_a_neighbour, tmp_path, "cuda:0", TwoHostsOfFiles, limit=60, ends=ends)


# ---- gauge fields -------------------------------------------------------------------------------
def update_links(comm):
    """Updated links are those of one GPU."""
    extent = EXTENT
    grid = lattice.Grid((1, 1, 1, 2), comm, transport="messages")
    u = lattice.quenched(extent, 6.0, 2, start="hot", progress=False, grid=grid)
    one = lattice.quenched(extent, 6.0, 2, start="hot", progress=False, device=grid.device)
    np.testing.assert_allclose(u.links().numpy(), grid.part(one.links().numpy()), rtol=0, atol=1e-6)
    say(comm, "updates of links")


@needs_two
def test_updates_are_those_of_one_gpu(tmp_path, monkeypatch):
    monkeypatch.setenv("NCCL_DEBUG", os.environ.get("NCCL_DEBUG", "WARN"))
    print(*ranks.run(2, update_links, tmp_path, "cuda:0", limit=LIMIT))


# ---- ranks that fail ----------------------------------------------------------------------------
ENDED = "rank 0 of 2 waited 4 s for |messages of rank 0 of 2 have failed"


def wait_for_nobody(comm):
    """Rank 1 dies after a hop; rank 0 says how later ones ended."""
    grid = lattice.Grid((1, 1, 1, 2), comm, timeout=4, transport="messages")
    _, sent, psi = operators(grid, grid.device, "Wilson")
    sent(grid.part(psi))
    say(comm, "one hop")
    comm.allgather(None)
    if comm.Get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(TimeoutError, match=ENDED) as caught:
            sent(grid.part(psi))
        say(comm, caught.value)


@needs_two
def test_a_rank_that_dies_ends_the_other(tmp_path):
    ranks.run(2, wait_for_nobody, tmp_path, "cuda:0", limit=30, ends=[0, -signal.SIGKILL])


def sleep_in_a_solve(comm):
    """Rank 1 solves nothing, as if it hung; rank 0 replays a recorded round then."""
    grid = lattice.Grid((1, 1, 1, 2), comm, timeout=4, transport="messages")
    D = lattice.Wilson(lattice.Gauge(grid.part(near_one(EXTENT[::-1])), grid=grid), KAPPA)
    b = grid.part(random_spinors(np.random.default_rng(6), EXTENT))
    D.solve(b, tol=1e-9, sloppy="half")
    say(comm, "one solve")
    comm.allgather(None)
    if comm.Get_rank() == 0:
        with pytest.raises(TimeoutError, match=ENDED) as caught:
            D.solve(b, tol=1e-9, sloppy="half")
        say(comm, caught.value)
    comm.allgather(None)


@needs_two
def test_a_rank_that_hangs_ends_a_solve(tmp_path):
    ranks.run(2, sleep_in_a_solve, tmp_path, "cuda:0", limit=LIMIT)
