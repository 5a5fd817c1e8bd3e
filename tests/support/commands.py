"""Searches as commands of their own (phases.py): started, met in a phase, and awaited; and here."""

import contextlib
import functools
import io
import subprocess
import sys
import time
from pathlib import Path
from unittest import mock

import isolated
from phases import TIMING

from cubc.tuner import _cli as cli

HERE = Path(__file__).parent
PATIENCE = 500  # seconds that a step may take on a slow machine
OPTIONS = ["--device", "cpu", "--strategy", "exhaustive", "--variants", "4", "--full", "--quiet"]


def words(db, benchmark="transform.fill", types="F32", confirm=0):
    """The arguments of a search."""
    what = ["-R", benchmark, "-a", f"T={types}", "-a", "Elements=16", "--confirm", str(confirm)]
    return ["search", "--db", str(db), *what, *OPTIONS]


def search_here(db, **options):
    """Exit status and messages of an undisturbed search in this process, which needs no start."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(cli, "search", functools.partial(cli.search, timing=TIMING)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        return cli.main(words(db, **options)), err.getvalue()


class Command:
    """A search that is disturbed in a phase, with its store in a folder unless `db` is given."""

    def __init__(
        self,
        folder,
        phase="none",
        number=0,
        *,
        benchmark="transform.fill",
        types="F32",
        confirm=0,
        db=None,
        env=None,
    ):
        self.folder, self.db = Path(folder), db or Path(folder) / "s.db"
        self._workers = self.folder / "workers"
        self._reached = self.folder / "reached"
        for old in (self._workers, self._reached):
            old.unlink(missing_ok=True)
        search = words(self.db, benchmark, types, confirm)
        self._process = subprocess.Popen(
            [sys.executable, HERE / "phases.py", phase, str(folder), str(int(number)), *search],
            env=isolated.environment(**(env or {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def reach(self, until=lambda: True):
        """Wait for the phase, and for a condition that comes true in it."""
        deadline = time.monotonic() + PATIENCE
        while not (self._reached.exists() and until()):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self._process.kill()
                raise AssertionError(self._process.communicate())
            time.sleep(0.01)

    def kill(self, number):
        """Send a signal to the searching process alone."""
        self._process.send_signal(number)

    def end(self):
        """Exit status, output and messages, once it has ended with all its measuring processes."""
        try:
            out, err = self._process.communicate(timeout=PATIENCE)
        finally:
            self._process.kill()
        deadline = time.monotonic() + PATIENCE
        for pid in self.workers:
            while not gone(pid):
                assert time.monotonic() < deadline, f"measuring process {pid} is still there"
                time.sleep(0.01)
        return self._process.returncode, out, err

    @property
    def workers(self):
        """Numbers of the measuring processes that there were."""
        if not self._workers.exists():
            return []
        return [int(pid) for pid in self._workers.read_text().split()]


def gone(pid):
    """Tell if a process has ended, as /proc has it."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
