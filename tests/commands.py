"""Searches as commands of their own (phases.py): started, met in a phase, and awaited."""

import subprocess
import sys
import time
from pathlib import Path

import isolated

HERE = Path(__file__).parent
PATIENCE = 60  # seconds that a step may take on a slow machine
OPTIONS = ["--device", "cpu", "--strategy", "exhaustive", "--variants", "4", "--full", "--quiet"]


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
        again=0,
        db=None,
        env=None,
    ):
        self.folder, self.db = Path(folder), db or Path(folder) / "s.db"
        self._workers = self.folder / "workers"
        self._reached = self.folder / "reached"
        for old in (self._workers, self._reached):
            old.unlink(missing_ok=True)
        what = ["-R", benchmark, "-a", f"T={types}", "-a", "Elements=16", "--again", again]
        words = [phase, self.folder, int(number), "search", "--db", self.db, *what, *OPTIONS]
        self._process = subprocess.Popen(
            [sys.executable, HERE / "phases.py", *map(str, words)],
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
        deadline = time.monotonic() + 5
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
    """Whether a process has ended, as /proc has it."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
