"""Tuning at run time: the first call of a workload searches, all later ones run what was found.

A workload is a benchmark, a type, and a size where policies go by it: up to 2^16 items, 2^20, 2^25
or more.

Measurements lie in a store beside the cache of compiled variants. With it lies a small file for
each workload, which holds the variant that won, so that later processes need not read the store.
Whoever has the lock of that file tunes; a process that is killed gives it up, what it measured is
kept, and the next goes on from there.
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
ON, OFF = {"1", "on", "true", "yes"}, {"0", "off", "false", "no", ""}
ELEMENTS = "Elements{io}[pow2]"


class Tuner:
    """Tunes what it is asked about, each workload once; the core calls it."""

    def __init__(self, folder: str, seconds: float):
        self.folder, self.seconds = Path(folder), seconds
        self._busy = threading.Lock()
        self._settled: set[tuple[str, str, str, str]] = set()

    def __call__(self, device: str, benchmark: str, dtype: str, items: int, size: str) -> bool:
        """Run the best variant of a workload, searched for if it is not known.

        A failure is a warning. False: ask again at the next call. A search measures, so there is
        one at a time; calls of other workloads do not wait for it.
        """
        key = (device, benchmark, dtype, size)
        if key in self._settled or not (exponents := _declared(benchmark, dtype, size)):
            return True
        if items == 0 or not self._busy.acquire(blocking=False):
            return False
        try:
            if key not in self._settled:
                self._settled.add(key)
                self._tune(*key, min(exponents, key=lambda e: abs(e - math.log2(items))))
        except Exception as error:
            warnings.warn(
                f"{benchmark} {dtype} runs untuned on {device}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
        finally:
            self._busy.release()
        return True

    def _tune(self, device: str, benchmark: str, dtype: str, size: str, elements: int) -> None:
        info, items = _core.device_info(device), 1 << elements
        where = (benchmark, {"T{ct}": dtype}, info["arch"])
        if _core.policy(*where, items) != _core.base(*where, items):  # the user has chosen
            return
        source = _core.source_hash(*where)
        about = (benchmark, dtype, size, info["uuid"], info["driver"], info["compiler"], source)
        name = f"tune-{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}"
        with self._claimed(self.folder / name) as file:
            if file is None or _use(where, file.read(), items):
                return
            found = self._search(device, benchmark, {"T": dtype, "Elements": elements})
            _use(where, found, items)
            file.truncate(0)  # of what is no variant
            file.write(found)

    def _search(self, device: str, benchmark: str, workload: dict[str, Any]) -> str:
        """Label of the variant that won."""
        from .tuner import search
        from .tuner._analyze import winners

        store = self.folder / "autotune.db"
        result = search(
            benchmark, workload, db=store, device=device, seconds=self.seconds, confirm=3
        )
        return next((one.label for one in winners(result.groups)), "base")

    @contextlib.contextmanager
    def _claimed(self, path: Path) -> Iterator[IO[str] | None]:
        """Open a workload's file with its lock; None if another process keeps it too long."""
        until = time.monotonic() + 2 * self.seconds
        with path.open("a+", encoding="ascii", errors="replace") as file:
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


def _use(where: tuple[str, dict[str, str], str], label: str, items: int) -> bool:
    """Run a variant for about so many items from the next call on; False if it is none."""
    try:
        _core.use_policy(*where, label, items)
    except ValueError:
        return False
    return True


def _declared(benchmark: str, dtype: str, size: str) -> list[int]:
    """Exponents of the numbers of items that policies of a size are searched at; maybe none."""
    axes = _core.benchmarks().get(benchmark, {"T{ct}": []})
    if dtype not in axes["T{ct}"]:
        return []
    ct = {"T{ct}": dtype}
    return [e for e in axes[ELEMENTS] if _core.policy_size(benchmark, ct, 1 << e) == size]


def autotune(enabled: bool = True, *, seconds: float | None = None) -> None:
    """Tune every workload when it is first called, as QUDA does.

    From now on the first ``reduce``, ``scan`` or ``transform`` of a type and operator searches for
    `seconds`, in a process of its own, for the variant that is fastest at the declared size nearest
    to the call's, and then runs it; where policies go by the number of items, the first of up to
    2^16, of up to 2^20, of up to 2^25 and of more each do, at the size that is declared there (of
    more, 2^28). A workload is searched once, also if nothing faster was found: later calls, and
    later processes with autotuning on, run what was found at once.

    The same is computed as without tuning. What cannot be tuned runs as it would otherwise, with a
    warning where that is unexpected. Left alone are operators of your own, workloads for which
    ``use_policies`` has chosen, calls captured into a graph, and forked processes. Threads that
    need the workload wait; calls of others go on, and are tuned one after another. Ctrl-C ends the
    tuning and the call, and the next process goes on with what was measured.

    The folder of compiled variants (``CUBC_CACHE``) gets all measurements, in ``autotune.db``,
    which ``cubc.tuner.analyze`` reads, and a file ``tune-...`` for each workload that was searched;
    remove these to have the searches go on for as long again, and the store to begin anew. Two
    processes that need the same workload do not both search: the second waits, for twice the time
    at most.

    Parameters
    ----------
    enabled
        Whether to; False stops it and keeps the policies that are in force.
    seconds
        Time for each workload; 10 unless said. Setting up the search comes on top: a second or two.

    Raises
    ------
    TypeError, ValueError
        If `enabled` is no bool; if `seconds` is no number, or not positive.

    Notes
    -----
    ``CUBC_TUNE=1`` does the same from the import on, ``CUBC_TUNE=5s`` with 5 seconds a workload.
    """
    if seconds is not None:
        from .tuner._checks import positive

        seconds = positive("seconds", seconds)
    if not isinstance(enabled, bool):
        like = "autotune(seconds=5) sets the time"
        raise TypeError(f"enabled is {enabled!r:.80}, must be True or False; {like}")
    if enabled:
        _begin(SECONDS if seconds is None else seconds)
    else:
        _core.set_tuner(None)


def _begin(seconds: float) -> None:
    folder = _core.cache_folder()
    if folder is None:
        warnings.warn(
            "nothing is tuned: what is found would lie in the cache folder, which cannot be used; "
            "CUBC_CACHE names another",
            RuntimeWarning,
            stacklevel=3,
        )
        return
    _core.set_tuner(Tuner(folder, seconds))


def from_variable(text: str) -> None:
    """Do as ``CUBC_TUNE`` says; ValueError if it says nothing that is known."""
    if (seconds := _parse(text)) is not None:
        _begin(seconds)


def _parse(text: str) -> float | None:
    """Seconds a workload that ``CUBC_TUNE`` asks for; None for no tuning."""
    word = text.strip().lower()
    if word in ON:
        return SECONDS
    if word in OFF:
        return None
    with contextlib.suppress(ValueError):
        if word.endswith("s") and 0 < float(word[:-1]) < math.inf:
            return float(word[:-1])
    raise ValueError(f"it is {text!r:.40}, must be 1, 0, or a time for each workload, as 5s")


def _after_fork() -> None:
    """A child does not tune: its parent's threads and devices are not its own."""
    _core.set_tuner(None)


os.register_at_fork(after_in_child=_after_fork)
