"""Ranks as processes of this host, with a communicator of files in place of MPI's.

They are forked from a server, which has imported what takes longer than most ranks run. It imports
and calls nothing else, so that a rank is as fresh as a Python that was just started.
"""

import importlib
import multiprocessing
import os
import pickle
import sys
import time
from pathlib import Path

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["pytest", "cubc.lattice"])


class FileComm:
    """The part of mpi4py's communicators that a Grid uses."""

    def __init__(self, folder, rank, size):
        self.folder, self.rank, self.size, self.calls = Path(folder), rank, size, 0

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.size

    def allgather(self, value):
        self.calls += 1
        at = [self.folder / f"{self.calls}.{rank}" for rank in range(self.size)]
        unfinished = at[self.rank].with_suffix(f".{self.rank}.new")
        unfinished.write_bytes(pickle.dumps(value))
        unfinished.rename(at[self.rank])
        deadline = time.monotonic() + 500
        while not all(path.exists() for path in at):
            if time.monotonic() > deadline:
                raise TimeoutError("a rank has not gathered")
            time.sleep(0.002)
        return [pickle.loads(path.read_bytes()) for path in at]


class Sent:
    """A request that is done."""

    def Test(self):
        return True

    def Cancel(self):
        pass

    def Wait(self):
        pass


class Receipt:
    """A request for a message that comes as a file."""

    def __init__(self, path, buffer):
        self.path, self.buffer = path, buffer

    def Test(self):
        if self.buffer is None or not self.path.exists():
            return self.buffer is None
        self.buffer[:] = self.path.read_bytes()
        self.path.unlink()
        self.buffer = None
        return True

    def Cancel(self):
        self.buffer = None

    def Wait(self):
        assert self.buffer is None


class PairComm(FileComm):
    """A communicator with messages from one rank to another as well."""

    def __init__(self, folder, rank, size):
        super().__init__(folder, rank, size)
        self.sent, self.received = [0] * size, [0] * size  # by rank

    def _path(self, source, dest, number):
        return self.folder / f"from{source}to{dest}.{number}"

    def Isend(self, data, dest, tag):
        self.sent[dest] += 1
        path = self._path(self.rank, dest, self.sent[dest])
        path.with_suffix(".new").write_bytes(data)
        path.with_suffix(".new").rename(path)
        return Sent()

    def Irecv(self, buffer, source, tag):
        self.received[source] += 1
        return Receipt(self._path(source, self.rank, self.received[source]), buffer)


def be_rank(comm, module, function, path, environment, said):
    """Call a function of a test module; what is printed goes to a file."""
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)
    sys.path[:] = path
    getattr(importlib.import_module(module), function)(comm)


class Rank:
    """The process of a rank; its methods are those of subprocess.Popen."""

    def __init__(self, comm, function, environment):
        self._said = comm.folder / f"said.{comm.rank}"
        where = (function.__module__, function.__name__, list(sys.path), environment)
        self._process = SERVER.Process(target=be_rank, args=(comm, *where, self._said))
        self._process.start()

    @property
    def returncode(self):
        return self._process.exitcode

    def communicate(self, timeout=500):
        self.join(timeout)
        if self.returncode is None:
            raise TimeoutError(f"a rank has not ended in {timeout} s")
        return self.said(), None

    def join(self, timeout):
        self._process.join(timeout)

    def said(self):
        return self._said.read_text() if self._said.exists() else ""

    def kill(self):
        self._process.kill()


def start(size, function, folder, device="cpu", comm=FileComm):
    """Start the ranks of a function of a test module, which gets the communicator.

    A GPU is the first of several that are given to the ranks in turn.
    """
    environment = os.environ | {"CUBC_CPU_THREADS": "1", "CUBC_DEVICE": device}
    return [Rank(comm(folder, k, size), function, environment) for k in range(size)]


def run(size, function, folder, device="cpu", comm=FileComm, limit=500, ends=0):
    """Run the ranks of a function to their ends; a failure shows what all of them printed.

    The ends are those of all ranks, or a list of them; one that takes longer than the limit in
    seconds is killed.
    """
    ranks = start(size, function, folder, device, comm)
    deadline = time.monotonic() + limit
    try:
        for rank in ranks:
            rank.join(max(0, deadline - time.monotonic()))
        ended = [rank.returncode for rank in ranks]  # None: it had to be killed
    finally:
        for rank in ranks:
            rank.kill()
    said = [rank.said() for rank in ranks]
    expected = [ends] * size if isinstance(ends, int) else ends
    assert ended == expected, "\n".join(
        f"---- rank {k} ended with {end}, and printed\n{text}"
        for k, (end, text) in enumerate(zip(ended, said, strict=True))
    )
    return said
