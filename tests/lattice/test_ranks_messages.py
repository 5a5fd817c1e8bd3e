"""Ranks that send messages, as those of several hosts do: numbers of ranks that share memory.

Here on the cpu; test_ranks_of_two_gpus_messages.py has NCCL.
"""

import os
import signal
import time

import numpy as np
import pytest
import ranks
import test_ranks
import test_ranks_staggered as staggered
from lattice_system import random_links as near_one
from test_ranks import BOUNDARY, EXTENT, KAPPA, check_same, fields, nothing_is_fused, whole_extent

import cubc
from cubc import _core, lattice

__all__ = ["nothing_is_fused"]  # a fixture
GRIDS = {
    2: [((1, 1, 1, 2), ""), ((1, 1, 2, 1), "t"), ((1, 2, 1, 1), "")],
    4: [((1, 1, 1, 4), ""), ((1, 2, 1, 2), "z")],
}
SOLVES = {  # those of two ranks have recorded rounds, of 8 iterations each; blocks send matrices
    2: {
        "cg": {"solver": "cg", "sloppy": "half", "tol": 1e-8},
        "blocks": {"solver": "block_cg", "sloppy": "single", "tol": 1e-4},
    },
    4: {"cg": {"solver": "cg", "tol": 1e-2}},
}
CARD_BYTES = 176  # of a rank's window
SWEEPS = {"beta": 6.0, "sweeps": 1, "start": "hot", "seed": 5, "progress": False}


# ---- a rank that is its own neighbour -----------------------------------------------------------
@pytest.mark.parametrize("cut", ["t", "yzt"])
def test_an_own_neighbour_has_the_same_bits(cut):
    grid = lattice.Grid(cut=cut, device="cpu", transport="messages")
    links, psi = fields(EXTENT)
    whole, sent = (
        lattice.Wilson(lattice.Gauge(links, grid=g, device="cpu"), KAPPA, **BOUNDARY)
        for g in (None, grid)
    )
    for _ in range(3):
        np.testing.assert_array_equal(sent(psi), whole(psi))
        psi = np.roll(psi, 1, 0)
    links, chi = staggered.fields(staggered.EXTENT)
    whole, sent = (
        lattice.HISQ(lattice.Gauge(links, grid=g, device="cpu"), 0.4, **staggered.HALF)
        for g in (None, grid)
    )
    check_same("cpu", sent(chi), whole(chi), "half")
    links, walls = fields(EXTENT, 4)
    whole, sent = (
        lattice.Mobius(lattice.Gauge(links, grid=g, device="cpu"), 1.8, 0.1, 4)
        for g in (None, grid)
    )
    np.testing.assert_array_equal(sent(walls), whole(walls))
    grid.check()


@pytest.mark.some
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("threads", [32, 64])
def test_blocks_of_many_threads(policies, threads, first):
    """Those of sites off the faces, and those that have both kinds, are of several sources."""
    links, psi = fields(EXTENT, 3)
    own = lattice.Grid(cut="t", device="cpu", transport="messages")
    gauge, cut = (lattice.Gauge(links, grid=grid, device="cpu") for grid in (None, own))
    expected = lattice.Wilson(gauge, KAPPA)(psi)
    label = f"tpb_{threads}.mb_1.spt_2.sg_1.sf_{first}.kl_0.bx_1.by_1.bz_1.bt_1.sz_7.ld_0.ll_0.cv_0"
    place = dict(zip("XYZT", EXTENT, strict=True)) | {"Sources": 3}
    _core.use_policy("dslash.wilson.r12", {"T{ct}": "F64"}, "cpu", label, place)
    np.testing.assert_array_equal(lattice.Wilson(cut, KAPPA)(psi), expected)


class Late:
    """A request for a message that comes when it is asked for."""

    def __init__(self, comm, buffer):
        self.comm, self.buffer, self.message = comm, buffer, b""

    def Test(self):
        if len(self.message) > 4:  # a word says that ranks are there, before a kernel runs
            self.comm.look()
        self.buffer[:] = self.message
        return True


class Echo(test_ranks.Two):
    """The second of two ranks with the same fields: its messages are those of the first one."""

    def look(self):
        """See what there is when a message comes."""

    def Irecv(self, buffer, source, tag):
        self.last = Late(self, buffer)
        return self.last

    def Isend(self, data, dest, tag):
        self.last.message = bytes(data)
        return ranks.Sent()


def test_sites_off_faces_are_computed_while_faces_are_sent():
    links, psi = fields(EXTENT)
    comm = Echo()
    grid = lattice.Grid((1, 1, 1, 2), comm, device="cpu", transport="messages")
    options = {"antiperiodic_t": False}
    D = lattice.Wilson(lattice.Gauge(links, grid=grid, device="cpu"), KAPPA, **options)
    _, native = D._packed(psi, None)
    given = D._fields(native, 2, False, None) | {"ranks": grid._ranks}
    type, shape, _ = given["out"]
    made = cubc.asarray(np.zeros(shape), device="cpu")
    out = np.from_dlpack(made)
    given["out"] = (type, shape, made)
    seen = []
    comm.look = lambda: seen.append(out.copy())
    _core.call("dslash_wilson", given)
    assert len(seen) == 4  # sites and a flag, of two faces
    for before in seen:
        inner, after = (field.reshape(2, 12, EXTENT[3], -1, 2) for field in (before, out))
        np.testing.assert_array_equal(inner[:, :, 1:-1], after[:, :, 1:-1])
        assert not inner[:, :, [0, -1]].any()
        assert after[:, :, [0, -1]].all()
    one = lattice.Wilson(lattice.Gauge(links, device="cpu"), KAPPA, **options)
    np.testing.assert_array_equal(D(psi), one(psi))


# ---- ranks that are processes -------------------------------------------------------------------
def on_hosts(found, hosts):
    """The wishes of ranks, of 16 bytes, as if these were on hosts; other values as they are."""
    if not isinstance(found[0], bytes) or len(found[0]) != 16:
        return found
    return [bytes([hosts(rank)]) * 8 + item[8:] for rank, item in enumerate(found)]


class OfTwoHosts:
    """Communicators of ranks of which each two are on a host."""

    transport = None

    def allgather(self, value):
        return on_hosts(super().allgather(value), lambda rank: rank // 2)


class TwoHosts(OfTwoHosts, ranks.PairComm):
    pass


class TwoHostsOfFiles(OfTwoHosts, ranks.FileComm):
    pass


class NoMemory(TwoHosts):
    """The same, of a host whose ranks cannot open each other's memory."""

    def allgather(self, value):
        found = super().allgather(value)
        if isinstance(value, bytes) and len(value) == CARD_BYTES:
            found[1] = bytes(CARD_BYTES)
        return found


def solve_on(grid):
    """The solutions, and the reports of this rank."""
    extent = whole_extent(grid.grid)
    D = lattice.Wilson(lattice.Gauge(grid.part(near_one(extent[::-1])), grid=grid), KAPPA)
    b = grid.part(fields(extent, 2)[1], 1)
    found = {}
    for name, options in SOLVES[grid.size].items():
        x, info = D.solve(b, **options)
        assert info.converged
        found[name] = grid.gather(x, 1)
        found[f"{name} reports"] = [(s.iterations, s.residual, s.sums) for s in info.sources]
    return found


def compute_everywhere(comm):
    """Rank 0 leaves what all have, on every grid; solutions have the bits that memory gives."""
    found = {}
    transport = getattr(comm, "transport", "messages")
    for k, (shape, cut) in enumerate(GRIDS[comm.size]):
        grid = lattice.Grid(shape, comm, cut=cut, transport=transport)
        operator, psi = test_ranks.operator_on(grid)
        operator(psi)
        found[f"hop{k}"] = grid.gather(operator(psi))
    shape = GRIDS[comm.size][0][0]
    sent = lattice.Grid(shape, comm, transport=transport)
    naive, improved, chi = staggered.operators_on(sent)
    found["naive"], found["improved"] = (sent.gather(D(chi)) for D in (naive, improved))
    u = lattice.quenched(whole_extent(shape), **SWEEPS, grid=sent)
    found["updated"] = sent.gather(u.links().numpy())
    if isinstance(comm, ranks.PairComm):
        memory = lattice.Grid(shape, comm, transport="memory")
        by_messages, by_memory = solve_on(sent), solve_on(memory)
        for name, value in by_memory.items():
            np.testing.assert_array_equal(by_messages[name], value, name)
        assert comm.size > 2 or max(by_memory["cg reports"])[0] > 24
    if comm.rank == 0:
        np.savez(comm.folder / "found.npz", **found)


@pytest.mark.parametrize(
    ("size", "comm"),
    [
        (2, ranks.PairComm),
        (2, ranks.FileComm),
        (4, ranks.PairComm),
        (4, TwoHosts),
        (4, TwoHostsOfFiles),
    ],
)
def test_ranks_have_the_numbers_of_one(tmp_path, size, comm):
    ranks.run(size, compute_everywhere, tmp_path, "cpu", comm)
    found = np.load(tmp_path / "found.npz")
    for k, (grid, _) in enumerate(GRIDS[size]):
        links, psi = fields(whole_extent(grid))
        whole = lattice.Wilson(lattice.Gauge(links, device="cpu"), KAPPA, **BOUNDARY)
        np.testing.assert_array_equal(found[f"hop{k}"], whole(psi))
    shape = GRIDS[size][0][0]
    links, chi = staggered.fields(staggered.whole_extent(shape))
    gauge = lattice.Gauge(links, device="cpu")
    naive = lattice.Staggered(gauge, staggered.MASS, **staggered.THETA)
    np.testing.assert_array_equal(found["naive"], naive(chi))
    improved = lattice.HISQ(gauge, staggered.MASS, **staggered.HALF)
    check_same("cpu", found["improved"], improved(chi), "half")
    u = lattice.quenched(whole_extent(shape), **SWEEPS, device="cpu")
    check_same("cpu", found["updated"], u.links().numpy(), "single")


# ---- transports ---------------------------------------------------------------------------------
class OtherHost(ranks.PairComm):
    """A communicator of ranks that are on a host each."""

    def allgather(self, value):
        return on_hosts(super().allgather(value), lambda rank: rank)


def ask_for(comm):
    """Ranks send messages where hosts differ or one of them asks for it."""
    used = []
    one = "messages" if comm.rank == 1 else None
    for transport in (None, "memory", "messages", one):
        operator, psi = test_ranks.operator_on(
            lattice.Grid((1, 1, 1, 2), comm, transport=transport)
        )
        operator(psi)  # before which ranks tell each other of their memory
        before = sum(comm.sent)
        operator(psi)
        used.append(sum(comm.sent) > before)
    print("messages were sent:", used)


@pytest.mark.parametrize(
    ("comm", "used"),
    [
        (ranks.PairComm, [False, False, True, True]),
        (OtherHost, [True, False, True, True]),
    ],
)
def test_what_carries_faces(tmp_path, comm, used):
    for said in ranks.run(2, ask_for, tmp_path, "cpu", comm):
        assert f"messages were sent: {used}" in said


def send_to_neighbours(comm):
    """Ranks of a host send each other nothing but sums."""
    grid = lattice.Grid((1, 1, 1, 4), comm)
    operator, psi = test_ranks.operator_on(grid)
    operator(psi)  # before which ranks tell each other of their memory
    before = list(comm.sent)
    operator(psi)
    print("sent to", [rank for rank in range(4) if comm.sent[rank] > before[rank]])


@pytest.mark.parametrize(
    ("comm", "sent"),
    [(TwoHosts, [[3], [2], [1], [0]]), (NoMemory, [[1, 3], [0, 2], [1, 3], [0, 2]])],
)
def test_neighbours_that_messages_go_to(tmp_path, comm, sent):
    for said, to in zip(ranks.run(4, send_to_neighbours, tmp_path, "cpu", comm), sent, strict=True):
        assert f"sent to {to}" in said


def test_the_environment_chooses(monkeypatch):
    monkeypatch.setenv("CUBC_RANKS", "pigeons")
    with pytest.raises(ValueError, match="CUBC_RANKS=pigeons: expected memory or messages"):
        lattice.Grid(device="cpu")
    with pytest.raises(ValueError, match="transport='pigeons': expected 'memory' or 'messages'"):
        lattice.Grid(device="cpu", transport="pigeons")
    lattice.Grid(device="cpu", transport="memory")  # which has precedence


# ---- ranks that fail ----------------------------------------------------------------------------
def wait_for_nobody(comm):
    """Rank 1 dies after a hop; the others say how the second one from then on ended."""
    transport = getattr(comm, "transport", "messages")
    for seconds in (100, 2):  # what has compiled keeps nobody waiting
        grid = lattice.Grid((1, 1, 1, comm.size), comm, timeout=seconds, transport=transport)
        operator, psi = test_ranks.operator_on(grid)
        operator(psi)
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    for call in (lambda: operator(psi), lambda: operator(psi), grid.check):
        try:
            said = "went on"
            call()
        except TimeoutError as error:
            said = str(error)
        print(said)


def test_a_rank_that_dies_ends_the_others(tmp_path):
    ends = [0, -signal.SIGKILL, 0]
    said = ranks.run(3, wait_for_nobody, tmp_path, "cpu", ranks.PairComm, ends=ends)
    for rank in (0, 2):  # which may wait for the other one instead, who has given up
        lines = said[rank].splitlines()
        assert len(lines) == 3
        for line in lines:
            assert f"rank {rank} of 3 waited 2 s for " in line
            assert ", which has ended, hangs or" in line


def test_a_rank_that_dies_ends_those_of_its_host_and_of_others(tmp_path):
    ends = [0, -signal.SIGKILL, 0, 0]
    said = ranks.run(4, wait_for_nobody, tmp_path, "cpu", TwoHosts, ends=ends)
    for rank in (0, 2, 3):
        lines = said[rank].splitlines()
        assert len(lines) == 3
        for line in lines[rank == 3 :]:  # which has the faces of its neighbours for one hop more
            assert f"rank {rank} of 4 waited 2 s for " in line
    assert "for the face of rank 1, which" in said[0] or "for a message of rank 3" in said[0]


def sleep_in_a_solve(comm):
    """Rank 1 solves nothing, as if it hung."""
    for seconds in (100, 3):  # what has compiled keeps nobody waiting
        grid = lattice.Grid((1, 1, 1, comm.size), comm, timeout=seconds, transport="messages")
        gauge = lattice.Gauge(grid.part(near_one(whole_extent(grid.grid)[::-1])), grid=grid)
        operator, b = lattice.Wilson(gauge, KAPPA), fields(EXTENT, 2)[1]
        operator.solve(b, tol=1e-6, sloppy="single")
    comm.allgather(None)
    if comm.rank == 0:
        with pytest.raises(TimeoutError, match="rank 0 of 2 waited 3 s for a message of rank 1"):
            operator.solve(b, tol=1e-6, sloppy="single")
    comm.allgather(None)


def test_a_rank_that_hangs_ends_a_solve(tmp_path):
    ranks.run(2, sleep_in_a_solve, tmp_path, "cpu", ranks.PairComm)


def die_before_more_sources(comm):
    """The solve of more sources needs more memory, of which ranks tell each other."""
    for seconds in (100, 2):  # what has compiled keeps nobody waiting
        grid = lattice.Grid((1, 1, 1, comm.size), comm, timeout=seconds, transport="memory")
        gauge = lattice.Gauge(grid.part(near_one(whole_extent(grid.grid)[::-1])), grid=grid)
        operator, b = lattice.Wilson(gauge, KAPPA), fields(EXTENT, 9)[1]
        operator.solve(b[0], tol=1e-2)
    comm.allgather(None)
    if comm.rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    with pytest.raises(TimeoutError, match="rank 0 of 2 waited 2 s for a message of rank 1"):
        operator.solve(b, tol=1e-2)


def test_a_rank_that_dies_ends_those_that_want_memory(tmp_path):
    ends = [0, -signal.SIGKILL]
    ranks.run(2, die_before_more_sources, tmp_path, "cpu", ranks.PairComm, ends=ends)


def give_up_before_more_sources(comm):
    """Rank 1 alone wants more memory: what it has given up is over for both, with any sources."""
    for seconds in (100, 3):  # what has compiled keeps nobody waiting
        grid = lattice.Grid((1, 1, 1, comm.size), comm, timeout=seconds, transport="memory")
        gauge = lattice.Gauge(grid.part(near_one(whole_extent(grid.grid)[::-1])), grid=grid)
        operator, b = lattice.Wilson(gauge, KAPPA), fields(EXTENT, 9)[1]
        operator.solve(b[0], tol=1e-2)
    if comm.rank == 1:
        with pytest.raises(TimeoutError, match="rank 1 of 2 waited 3 s for a message of rank 0"):
            operator.solve(b, tol=1e-2)
    else:
        time.sleep(5)
    for call in (lambda: operator.solve(b[1], tol=1e-2), lambda: operator(b[0]), grid.check):
        with pytest.raises(TimeoutError, match="results since then are void"):
            call()


def test_a_rank_that_gives_up_wanting_memory_ends_the_others(tmp_path):
    ranks.run(2, give_up_before_more_sources, tmp_path, "cpu", ranks.PairComm)


class Two(test_ranks.Two):
    """The second of two ranks; the first sends what it gets. Messages above `most` bytes fail."""

    def __init__(self, most, error):
        super().__init__()
        self.most, self.error = most, error

    def Irecv(self, buffer, source, tag):
        if len(buffer) > self.most:
            raise self.error
        self.buffer = buffer
        return ranks.Sent()

    def Isend(self, data, dest, tag):
        self.buffer[:] = data
        return ranks.Sent()


OF_SETUP = 200  # bytes at most, of what ranks tell each other before they send faces


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_message_that_fails():
    two = Two(OF_SETUP, OSError("the network is down"))
    grid = lattice.Grid((1, 1, 1, 2), two, device="cpu", transport="messages")
    operator, psi = test_ranks.operator_on(grid)
    with pytest.raises(OSError, match="exchange of messages has failed, on rank 1 of 2"):
        operator(psi)
    with pytest.raises(TimeoutError, match="for the messages of rank 0"):
        grid.check()


class Interrupted(Two):
    """Ctrl-C comes before the first message."""

    def __init__(self):
        super().__init__(OF_SETUP, None)
        self.tests, self.ends = 0, []

    def Isend(self, data, dest, tag):
        return self

    def Test(self):
        self.tests += 1
        if self.tests == 2:
            raise KeyboardInterrupt("of the user")
        return False

    def Cancel(self):
        self.ends.append("cancel")

    def Wait(self):
        self.ends.append("wait")


@pytest.mark.parametrize("most", [0, OF_SETUP])
def test_ctrl_c_ends_a_wait_for_a_message(most):
    """It is no failure of the communicator, and leaves no message that writes to memory later."""
    two = Two(0, KeyboardInterrupt("of the user")) if most == 0 else Interrupted()
    operator, psi = test_ranks.operator_on(lattice.Grid((1, 1, 1, 2), two, device="cpu"))
    with pytest.raises(KeyboardInterrupt, match="of the user"):
        operator(psi)
    if most:
        assert two.ends == ["cancel", "wait"]


class Alone:
    """The second of two ranks, by `allgather` alone; the first has what it has, and then hangs."""

    def __init__(self):
        self.hangs, self.waited = False, 0

    def Get_rank(self):
        return 1

    def Get_size(self):
        return 2

    def allgather(self, value):
        if self.hangs:
            time.sleep(0.3)
            self.waited += 1
            raise TimeoutError("a rank has not gathered")
        return on_hosts([value, value], lambda rank: rank)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_allgather_alone_waits_by_its_own_limit():
    """Neither hops nor what hosts gather end before it; they fail when it does."""
    comm = Alone()
    grid = lattice.Grid((1, 1, 1, 2), comm, device="cpu", transport="messages", timeout=0.1)
    operator, psi = test_ranks.operator_on(grid)
    comm.hangs = True
    with pytest.raises(OSError, match="all_gather has failed"):
        operator(psi)
    assert comm.waited == 1
    with pytest.raises(TimeoutError, match="a rank has not gathered"):
        grid.gather(psi)
