"""Lattices over ranks of one process: operators and observables of the whole lattice."""

import functools
import gc
import itertools
import os
import shutil
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import isolated
import numpy as np
import pytest
from lattice_system import random_links as near_one
from test_ranks import BOUNDARY, KAPPA, SOLVE, fields, left_of, nothing_is_fused, whole_extent

import cubc
from cubc import _core, lattice

__all__ = ["nothing_is_fused"]  # a fixture
ROOT = Path(__file__).resolve().parents[2]
DEVICES = ["cpu", "cpu:1"]


def gauges(shape):
    """The field of one rank, that of two ranks, and a spinor."""
    links, psi = fields(whole_extent(shape))
    return (
        lattice.Gauge(links, device="cpu"),
        lattice.Gauge(links, grid=shape, devices=DEVICES),
        psi,
    )


def test_bits_are_the_same():
    whole, cut, psi = gauges((1, 1, 1, 2))
    assert cut.device == "cpu, cpu:1" and cut.extent == whole.extent
    whole, cut = (lattice.Wilson(gauge, KAPPA, **BOUNDARY) for gauge in (whole, cut))
    for _ in range(2):
        np.testing.assert_array_equal(cut(psi), whole(psi))
    out = np.empty_like(psi)
    assert cut(psi, out=out) is out
    np.testing.assert_array_equal(out, whole(psi))
    on_device = cut(cubc.asarray(psi, device="cpu"))
    assert on_device.device == "cpu"
    np.testing.assert_array_equal(on_device.numpy(), out)


def test_outputs_have_the_shape_and_the_type_of_the_result():
    _, cut, psi = gauges((1, 1, 1, 2))
    D = lattice.Wilson(cut, KAPPA, **BOUNDARY)
    read_only = np.empty_like(psi)
    read_only.flags.writeable = False
    for out, words in (
        (np.empty((2, *psi.shape), complex), "out has shape"),
        (np.empty(psi.shape), "and dtype float64"),
        (read_only, "out is read-only"),
    ):
        with pytest.raises(ValueError, match=words):
            D(psi, out=out)
    with pytest.raises(ValueError, match="out has shape"):
        D.solve(psi, solver="multishift", shifts=[0.1, 0.2], out=np.empty_like(psi))
    t, z, y, x = psi.shape[:4]
    with pytest.raises(
        ValueError, match=rf"on this lattice it is \(..., {t}, {z}, {y}, {x}, 4, 3\)"
    ):
        D(psi[: t // 2])


def test_the_determinant_of_clover_terms():
    whole, cut, _ = gauges((1, 1, 1, 2))
    a, b = (lattice.WilsonClover(gauge, KAPPA, 1.3) for gauge in (whole, cut))
    assert b.trace_log("odd") == pytest.approx(a.trace_log("odd"), rel=1e-12)


def test_a_grid_without_ranks():
    with pytest.raises(ValueError, match="expected the ranks along x, y, z, t"):
        lattice.Gauge.unit((4, 4, 4, 4), grid=(1, 1, 1, 0))
    with pytest.raises(TypeError, match=r"grid is 1\.0: expected an int"):
        lattice.Gauge.unit((4, 4, 4, 4), grid=(1, 1, 1, 1.0))


def test_grids_and_devices_that_are_none(tmp_path):
    """All functions that make a field say the same."""
    path, extent = tmp_path / "links", (4, 4, 4, 4)
    lattice.write_gauge(path, lattice.Gauge.unit(extent, device="cpu"))
    for make in (
        functools.partial(lattice.Gauge, np.broadcast_to(np.eye(3), (4, 4, 4, 4, 4, 3, 3))),
        functools.partial(lattice.Gauge.unit, extent),
        functools.partial(lattice.Gauge.random, extent),
        functools.partial(lattice.quenched, extent, 6.0, sweeps=1),
        functools.partial(lattice.read_gauge, path),
    ):
        for grid, name in ((5, "int"), ("1111", "str"), (np.ones(4, int), "ndarray")):
            with pytest.raises(TypeError, match=f"grid is a {name}: expected a Grid, or the ranks"):
                make(grid=grid)
        with pytest.raises(TypeError, match="devices are those of the ranks of this process"):
            make(devices=["cpu", "cpu:1"])


def rank_threads():
    return {thread for thread in threading.enumerate() if thread.name.startswith("cubc rank")}


def test_ranks_end_with_their_gauge():
    before = rank_threads()  # those of other tests may not have ended yet
    for _ in range(3):
        _, cut, psi = gauges((1, 1, 1, 2))
        lattice.Wilson(cut, KAPPA)(psi)
    made = rank_threads() - before
    assert made
    del cut
    gc.collect()
    for thread in made:
        thread.join(10)
        assert not thread.is_alive()


def test_two_grids_on_the_same_devices_take_turns():
    """Each would have one of the devices, and wait for the other."""
    operators = [lattice.Wilson(gauges((1, 1, 1, 2))[1], KAPPA) for _ in range(2)]
    psi = gauges((1, 1, 1, 2))[2]
    expected = operators[0](psi)
    with ThreadPoolExecutor(2) as threads:
        made = [threads.submit(operators[k % 2], psi) for k in range(60)]
        for one in made:
            np.testing.assert_array_equal(one.result(), expected)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def fail():
    raise ValueError("of this rank")


@pytest.mark.parametrize(
    ("end", "error"), [(interrupt, KeyboardInterrupt), (fail, ValueError)], ids=["Ctrl-C", "error"]
)
@pytest.mark.parametrize("comes_back", [True, False])
def test_ranks_work_after_an_end(end, error, comes_back):
    """Ranks may wait for each other then: in a kernel, or where they make memory."""
    _, cut, psi = gauges((1, 1, 1, 2))
    operator = lattice.Wilson(cut, KAPPA)
    expected = operator(psi)
    half = len(psi) // 2

    def hop(rank):
        mine = lattice.Wilson(cut.parts[rank], KAPPA)
        part = psi[rank * half : (rank + 1) * half]
        for k in itertools.count():
            if rank == 1 and k == 3:
                end()
                if not comes_back:
                    return
            mine(part)

    def gather(rank):
        if rank == 0 or not comes_back:
            return cut.team.ranks[rank]._all(rank) and cut.team.ranks[rank]._all(rank)
        return end() or time.sleep(0.1)

    for work in (hop, gather) if comes_back else (hop,):
        with pytest.raises(error):
            cut.team.run(work)
        np.testing.assert_array_equal(operator(psi), expected)


@pytest.mark.parametrize("failing", [0, 1])
def test_the_error_of_a_file_is_the_one_that_is_raised(failing):
    """Not the end of the other rank, which waits for this one."""
    _, cut, _ = gauges((1, 1, 1, 2))

    def work(rank):
        if rank == failing:
            raise OSError("the disk is full")
        return cut.team.ranks[rank]._all(rank)

    with pytest.raises(OSError, match="the disk is full"):
        cut.team.run(work)


def test_a_handler_that_calls_within_a_call():
    """It is refused, on other devices too, and neither ends the call nor those after it."""
    _, cut, psi = gauges((1, 1, 1, 2))
    other = lattice.Gauge.unit((4, 4, 4, 4), grid=(1, 1, 1, 2), devices=("cpu:2", "cpu:3"))
    operator, said, handled = lattice.Wilson(cut, KAPPA), [], threading.Event()
    expected = operator(psi)

    def handler(*_):
        for nested in (lambda: operator(psi), lambda: other.team.run(int)):
            try:
                nested()
            except ValueError as error:
                said.append(str(error))
        handled.set()

    def work(rank):
        if rank == 0:
            os.kill(os.getpid(), signal.SIGUSR1)
        return handled.wait(20)

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        assert cut.team.run(work) == [True, True]
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(said) == 2 and all("within another, as by a signal handler" in text for text in said)
    np.testing.assert_array_equal(operator(psi), expected)


def test_the_error_of_a_lost_device_is_the_one_that_is_raised(monkeypatch):
    """A device that is lost refuses to be stopped, too, which is no reason to leave the others."""
    _, cut, psi = gauges((1, 1, 1, 2))
    D = lattice.Wilson(cut, KAPPA, **BOUNDARY)
    want, stopped, stop = D(psi), [], _core.ranks_stop

    def refuse_first(ranks):
        stopped.append(ranks)
        if ranks is stopped[0]:
            raise RuntimeError("the device is lost")
        stop(ranks)

    def work(rank):
        if rank == 0:
            raise ZeroDivisionError("why the work ended")
        return cut.team.ranks[rank].check()

    monkeypatch.setattr(_core, "ranks_stop", refuse_first)
    with pytest.raises(ZeroDivisionError, match="why the work ended"):
        cut.team.run(work)
    assert len(set(map(id, stopped))) == 2
    monkeypatch.undo()
    np.testing.assert_array_equal(D(psi), want)


@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_child_says_that_it_has_no_ranks():
    _, cut, psi = gauges((1, 1, 1, 2))
    operator = lattice.Wilson(cut, KAPPA)
    operator(psi)
    reads, writes = os.pipe()
    if (child := os.fork()) == 0:
        try:
            operator(psi)
        except BaseException as error:
            os.write(writes, str(error).encode())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert "after the fork" in os.read(reads, 1000).decode()


@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_handler_that_forks_within_a_call():
    """The child's call ends with an error, and its parent's goes on."""
    _, cut, _ = gauges((1, 1, 1, 2))
    children, handled = [], threading.Event()

    def handler(*_):
        children.append(os.fork())
        if children[-1]:  # a rank may have had the event's lock at the fork
            handled.set()

    def work(rank):
        if rank == 0:
            os.kill(os.getpid(), signal.SIGUSR1)
        return handled.wait(20)

    before = signal.signal(signal.SIGUSR1, handler)
    reads, writes = os.pipe()
    try:
        made = cut.team.run(work)
    except BaseException as error:
        if children == [0]:
            os.write(writes, str(error).encode())
            os._exit(0)
        raise
    finally:
        signal.signal(signal.SIGUSR1, before)
    if children == [0]:
        os._exit(1)
    for _ in range(200):
        pid, status = os.waitpid(children[0], os.WNOHANG)
        if pid:
            break
        time.sleep(0.1)
    else:
        os.kill(children[0], signal.SIGKILL)
        pytest.fail("the child waits for ranks that it does not have")
    assert status == 0 and made == [True, True]
    assert "after the fork" in os.read(reads, 1000).decode()


def test_fields_of_too_few_dimensions():
    _, cut, _ = gauges((1, 1, 1, 2))
    with pytest.raises(ValueError, match=r"spinors of shape \(\): on this lattice it is"):
        lattice.Wilson(cut, KAPPA)(3.0)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("kind", "shape", "options"),
    [
        ("WilsonClover", (1, 1, 1, 2), {"csw": (1.2, 0.9), "precision": "half"}),
        ("TwistedClover", (1, 1, 1, 2), {"csw": 1.2, "mu": 0.1}),
        ("Mobius", (1, 1, 1, 2), {"M5": 1.4, "Ls": 2, "precision": "half"}),
        ("TwistedDoublet", (1, 1, 2, 1), {"mu": 0.1, "epsilon": 0.2}),
    ],
)
def test_bits_are_the_same_of(kind, shape, options):
    whole, cut, psi = gauges(shape)
    whole, cut = (getattr(lattice, kind)(gauge, KAPPA, **options) for gauge in (whole, cut))
    x = np.stack([psi, 2 * psi]) if kind in ("TwistedDoublet", "Mobius") else psi
    for _ in range(2):
        np.testing.assert_array_equal(cut(x), whole(x))


@pytest.mark.parametrize("shape", [(1, 1, 1, 2), (1, 1, 2, 1)])
def test_observables_are_the_same(shape):
    whole, cut, _ = gauges(shape)
    for name in ("plaquette", "polyakov", "link_trace"):
        np.testing.assert_allclose(getattr(cut, name)(), getattr(whole, name)(), atol=1e-14)
    assert cut.unitarity() == whole.unitarity()


def test_files(tmp_path):
    whole, cut, _ = gauges((1, 1, 1, 2))
    lattice.write_gauge(tmp_path / "links", cut)
    again = lattice.read_gauge(tmp_path / "links", grid=(1, 1, 1, 2))
    assert again.device == cut.device
    again.write(tmp_path / "again")
    links = lattice.read_links(tmp_path / "again")[0]
    np.testing.assert_array_equal(links, whole.links().numpy())


def test_what_is_made_of_the_links_is_made_once(monkeypatch):
    """By operators of the parts, which are made anew for each call."""
    made = []
    term = lattice.WilsonClover._term
    monkeypatch.setattr(lattice.WilsonClover, "_term", lambda *a: made.append(1) or term(*a))
    _, cut, psi = gauges((1, 1, 1, 2))
    D = lattice.WilsonClover(cut, KAPPA, 1.5)
    first = D(psi)
    count = len(made)
    np.testing.assert_array_equal(D(psi), first)
    assert len(made) == count > 0


def test_a_solve():
    extent = whole_extent((1, 1, 1, 2))
    links, (_, b) = near_one(extent[::-1]), fields(extent, 2)
    cut = lattice.Wilson(lattice.Gauge(links, grid=(1, 1, 1, 2), devices=DEVICES), KAPPA)
    x, info = cut.solve(b, x0=np.zeros_like(b), **SOLVE)
    assert info.converged and len(info.sources) == 2
    assert (left_of(b, lattice.Wilson(lattice.Gauge(links, device="cpu"), KAPPA), x) < 1e-6).all()


def test_a_solve_whose_launches_have_the_most_arguments():
    extent = whole_extent((1, 1, 1, 2))
    links, (_, b) = near_one(extent[::-1]), fields(extent, 2)
    one, two = (
        lattice.TwistedClover(lattice.Gauge(links, **how), KAPPA, csw=1.2, mu=0.1)
        for how in ({"device": "cpu"}, {"grid": (1, 1, 1, 2), "devices": DEVICES})
    )
    (x, info), (y, _) = (each.solve(b[0], sloppy="half", tol=1e-6) for each in (two, one))
    assert info.converged
    np.testing.assert_allclose(x, y, atol=1e-5 * abs(y).max())


def test_what_is_refused():
    links, psi = fields(whole_extent((1, 1, 1, 2)))
    gauge = lattice.Gauge(links, grid=(1, 1, 1, 2), devices=DEVICES)
    cut = lattice.Wilson(gauge, KAPPA, **BOUNDARY)
    with pytest.raises(ValueError, match="of shape"):
        cut(psi[:2])
    for call in (cut, cut.dagger, cut.dslash, cut.solve):
        with pytest.raises(ValueError, match="stream= is for one device"):
            call(psi, stream=1)
    for call in (gauge.links, gauge.copy, gauge.unitarity, gauge.temporal_gauge, gauge.project):
        with pytest.raises(ValueError, match="stream= is for one device"):
            call(stream=1)
    for call in (
        lambda **options: lattice.Gauge(links, **options),
        lambda **options: lattice.Gauge.random((4, 2, 4, 4), **options),
    ):
        with pytest.raises(ValueError, match="device= is for one device: give devices="):
            call(grid=(1, 1, 1, 2), device="cpu")
    with pytest.raises(ValueError, match="names of 2 devices"):
        lattice.Gauge(links, grid=(1, 1, 1, 2), devices=["cpu"])
    with pytest.raises(TypeError, match=r"give grid=\(1, 1, 1, 2\)"):
        lattice.Gauge(links, devices=DEVICES)
    both = lattice.Wilson(lattice.Gauge(links, grid=(1, 1, 1, 2), devices=["cpu"] * 2), KAPPA)
    with pytest.raises(ValueError, match="several ranks of a process on cpu"):
        both(psi)
    assert cut(psi).shape == psi.shape  # an error leaves nothing behind


# ---- steps of a solver --------------------------------------------------------------------------
LATE = """
    const u64 begun = clock_nanoseconds();
    while (a.d.ranks->rank == 0 && block + 1 == sending_blocks(a.d) &&
           clock_nanoseconds() - begun < 5000000) {}
"""
SOLVE_OF_THREE = """
import numpy as np
from cubc import lattice
links = lattice.Gauge.random((4, 2, 4, 12), seed=3, noise=0.1).links().numpy()
gauge = lattice.Gauge(links, grid=(1, 1, 1, 2), devices=["cpu", "cpu:1"])
b = np.random.default_rng(1).normal(size=(3, 12, 4, 2, 4, 4, 3)) + 0j
print(lattice.Wilson(gauge, kappa=0.1).solve(b, tol=1e-8)[1].reason)
"""


def test_no_step_comes_before_the_faces_of_all_sources(tmp_path):
    """A block that sends the last face late counts who is iterated, as it was at the beginning."""
    folder = shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
    header = folder / "lattice" / "faces.h"
    text = header.read_text()
    begin = "FUNCTION void send_faces(const Args& a, u32 block, Tiling tiles)\n{\n"
    assert text.count(begin) == 1
    header.write_text(text.replace(begin, begin + LATE))
    variables = {"CUBC_KERNELS": folder, "CUBC_CPU_THREADS": 2, "CUBC_DEVICE": "cpu"}
    assert isolated.output(SOLVE_OF_THREE, **variables) == "converged"
