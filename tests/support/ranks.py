"""Ranks as processes of this host, with a communicator of files in place of MPI's.

Run as a script, it is one rank: it imports the test module and calls the function that are named.
"""

import importlib
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

SUPPORT = Path(__file__).parent


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
        deadline = time.monotonic() + 60
        while not all(path.exists() for path in at):
            if time.monotonic() > deadline:
                raise TimeoutError("a rank has not gathered")
            time.sleep(0.002)
        return [pickle.loads(path.read_bytes()) for path in at]


def start(size, function, folder, device="cpu"):
    """Start the ranks of a function of a test module, which gets the communicator.

    A GPU is the first of several that are given to the ranks in turn.
    """
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    environment |= {"CUBC_CPU_THREADS": "1", "CUBC_DEVICE": device}
    name = f"{function.__module__}:{function.__name__}"
    ranks = []
    for rank in range(size):
        command = [sys.executable, __file__, str(folder), str(rank), str(size), name]
        ranks.append(
            subprocess.Popen(
                command,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    return ranks


def run(size, function, folder, device="cpu"):
    """Run the ranks of a function to their ends; a failure shows what all of them printed."""
    ranks = start(size, function, folder, device)
    try:
        said = [rank.communicate(timeout=100)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert all(rank.returncode == 0 for rank in ranks), "\n".join(said)
    return said


if __name__ == "__main__":
    folder, rank, size, name = sys.argv[1:]
    module, function = name.split(":")
    getattr(importlib.import_module(module), function)(FileComm(folder, int(rank), int(size)))
