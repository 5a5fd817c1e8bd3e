"""Tuning at run time: the first call of a workload searches, all later ones run what was found.

What is found lies in a store beside the cache of compiled variants, so that one process tunes for
all that follow. Beside it lies a small file for each workload: whoever holds its lock tunes, and
when it says "done" nobody needs to. A process that is killed gives its lock up, and what it
measured is kept.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import math
import os
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from . import _core

SECONDS = 10.0
DONE = "done"
ON, OFF = {"1", "on", "true", "yes"}, {"0", "off", "false", "no", ""}


class Tuner:
    """Tunes what it is asked about, each workload once; the core calls it."""

    def __init__(self, folder: str, seconds: float):
        self.folder, self.seconds = Path(folder), seconds
        self.store = self.folder / "autotune.db"
        self._lock = threading.Lock()  # one search at a time: it measures
        self._seen: set[tuple[str, str, str]] = set()
        self._apply()

    def __call__(self, device: str, benchmark: str, dtype: str, items: int) -> None:
        """Tune a workload unless that was done; a failure is a warning."""
        key = (device, benchmark, dtype)
        axes = _core.benchmarks().get(benchmark)
        if axes is None or dtype not in axes["T{ct}"] or key in self._seen:
            return
        with self._lock:
            if key in self._seen:
                return
            self._seen.add(key)
            try:
                self._tune(device, benchmark, dtype, items, axes)
            except Exception as error:
                warnings.warn(
                    f"{benchmark} {dtype} runs untuned on {device}: {error}",
                    RuntimeWarning,
                    stacklevel=2,
                )

    def _tune(self, device: str, benchmark: str, dtype: str, items: int, axes: Any) -> None:
        from .tuner import search

        with self._claimed(self._file(device, benchmark, dtype)) as file:
            if file is None:  # another process is still at it
                return
            if file.read() != DONE:
                elements = _nearest(axes["Elements{io}[pow2]"], items)
                workload = {"T": dtype, "Elements": elements}
                search(
                    benchmark, workload, db=self.store, device=device, seconds=self.seconds, again=3
                )
                file.write(DONE)
        self._apply()

    def _file(self, device: str, benchmark: str, dtype: str) -> Path:
        """File of a workload; another kernel, device or compiler has another one."""
        info = _core.device_info(device)
        source = _core.source_hash(benchmark, {"T{ct}": dtype}, info["arch"])
        about = (benchmark, dtype, info["uuid"], info["driver"], info["compiler"], source)
        return self.folder / f"tune-{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}"

    @contextlib.contextmanager
    def _claimed(self, path: Path) -> Iterator[IO[str] | None]:
        """Open a workload's file with its lock; None if another process keeps it too long."""
        until = time.monotonic() + 2 * self.seconds
        with path.open("a+", encoding="ascii") as file:
            file.seek(0)
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if time.monotonic() > until:
                        yield None
                        return
                    time.sleep(0.05)
                else:
                    yield file
                    return

    def _apply(self) -> None:
        """Run the best of the store from now on."""
        from .tuner.policies import use_policies

        if self.store.exists():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of rows of an older kernel
                use_policies(self.store)


def _nearest(declared: list[int], items: int) -> int:
    """Declared exponent that is nearest to a number of items."""
    return min(declared, key=lambda exponent: abs(exponent - math.log2(max(1, items))))


def autotune(enabled: bool | str = True, *, seconds: float | None = None) -> None:
    """Tune every workload when it is first called, as QUDA does.

    From now on the first ``reduce``, ``scan`` or ``transform`` of a type and operator searches for
    `seconds`, in a process of its own, for the variant that is fastest at the size nearest to the
    call's, and then runs it; later calls, and later processes with autotuning on, run it at once.
    Results are those of the untuned call. What cannot be tuned runs as it would otherwise, with a
    warning where that is unexpected; so do expressions of your own, and calls that are captured
    into a graph. Ctrl-C ends the tuning and the call, and keeps what was measured.

    What was found is in ``autotune.db`` in the folder of compiled variants (``CUBC_CACHE``), which
    ``cubc.tuner.analyze`` reads. Two processes that need the same workload do not both tune it: the
    second waits, for twice the time at most.

    Parameters
    ----------
    enabled
        Whether to; False stops it and keeps the policies that are in force.
    seconds
        Time for each workload; 10 unless said.

    Raises
    ------
    ValueError
        If `seconds` is not positive.

    Notes
    -----
    ``CUBC_TUNE=1`` does the same from the import on, ``CUBC_TUNE=5s`` with 5 seconds a workload.
    """
    from .tuner.checks import positive

    if isinstance(enabled, str):
        enabled, seconds = _parse(enabled, seconds)
    if not enabled:
        _core.set_tuner(None)
        return
    budget = SECONDS if seconds is None else positive("seconds", seconds)
    folder = _core.cache_folder()
    if folder is None:
        warnings.warn(
            "nothing is tuned: what is found would lie in the cache folder, which cannot be used; "
            "CUBC_CACHE names another",
            RuntimeWarning,
            stacklevel=2,
        )
        return
    try:
        _core.set_tuner(Tuner(folder, budget))
    except (OSError, _core.StoreError) as error:
        warnings.warn(f"nothing is tuned: {error}", RuntimeWarning, stacklevel=2)


def _parse(text: str, seconds: float | None) -> tuple[bool, float | None]:
    """Meaning of ``CUBC_TUNE``."""
    word = text.strip().lower()
    if word in ON | OFF:
        return word in ON, seconds
    with contextlib.suppress(ValueError):
        if word.endswith("s") and 0 < float(word[:-1]) < math.inf:
            return True, float(word[:-1])
    raise ValueError(f"it is {text!r:.40}, must be 1, 0, or a time for each workload, as 5s")


def _after_fork() -> None:
    """A child does not tune: its parent's threads and devices are not its own."""
    _core.set_tuner(None)


os.register_at_fork(after_in_child=_after_fork)
