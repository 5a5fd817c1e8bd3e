"""Tuning at run time: the first call of a workload searches, all later ones run what was found.

What is found lies in a store beside the cache of compiled variants, so that one process tunes for
all that follow. Beside it lies a small file for each workload: whoever holds its lock tunes, and
when it says "done" nobody needs to. A process that is killed gives its lock up, what it measured is
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
DONE = "done"
ON, OFF = {"1", "on", "true", "yes"}, {"0", "off", "false", "no", ""}
ELEMENTS = "Elements{io}[pow2]"


class Tuner:
    """Tunes what it is asked about, each workload once; the core calls it."""

    def __init__(self, folder: str, seconds: float):
        self.folder, self.seconds = Path(folder), seconds
        self.store = self.folder / "autotune.db"
        self._busy = threading.Lock()
        self._settled: set[tuple[str, str, str]] = set()
        self._applied: dict[tuple[str, str, str], str] = {}
        self._apply(self._stored())

    def __call__(self, device: str, benchmark: str, dtype: str, items: int) -> bool:
        """Tune a workload unless that was done; a failure is a warning.

        False: ask again at the next call. A search measures, so there is one at a time; calls of
        other workloads do not wait for it.
        """
        key = (device, benchmark, dtype)
        axes = _core.benchmarks().get(benchmark)
        if axes is None or dtype not in axes["T{ct}"] or key in self._settled:
            return True
        if items == 0 or not self._busy.acquire(blocking=False):
            return False
        try:
            if key not in self._settled:
                self._settled.add(key)
                self._tune(device, benchmark, dtype, _by_distance(axes[ELEMENTS], items))
        except Exception as error:
            warnings.warn(
                f"{benchmark} {dtype} runs untuned on {device}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
        finally:
            self._busy.release()
        return True

    def _tune(self, device: str, benchmark: str, dtype: str, sizes: list[int]) -> None:
        info = _core.device_info(device)
        where = (benchmark, {"T{ct}": dtype}, info["arch"])
        if self._is_chosen(*where):
            return
        source = _core.source_hash(*where)
        about = (benchmark, dtype, info["uuid"], info["driver"], info["compiler"], source)
        name = f"tune-{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}"
        with self._claimed(self.folder / name) as file:
            if file is not None:
                size, done = _read(file, sizes)
                if not (done and self._stored(*where)):
                    _write(file, f"{size}")
                    self._search(device, benchmark, {"T": dtype, "Elements": size})
                    _write(file, f"{size} {DONE}")
        self._apply(self._stored(*where))

    def _search(self, device: str, benchmark: str, workload: dict[str, Any]) -> None:
        from .tuner import search

        search(benchmark, workload, db=self.store, device=device, seconds=self.seconds, again=3)

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

    def _stored(self, *where: Any) -> list[Any]:
        """What the store holds of a workload, or of all, and of this version of the kernels."""
        from .tuner.stores import read

        _core.Store(str(self.store), True).close()  # may be new, or left empty by a kill
        groups = read(self.store, bad="pass")
        return [
            group
            for group in groups
            if group.current and where in ((), (group.benchmark, group.ct, group.arch))
        ]

    def _apply(self, groups: list[Any]) -> None:
        """Run the best of what was measured from now on."""
        from .tuner.analyze import winners

        for group, label, _ in winners(groups):
            where = (group.benchmark, group.ct, group.arch)
            if not self._is_chosen(*where):
                _core.use_policy(*where, label)
                self._applied[group.benchmark, group.workload, group.arch] = label

    def _is_chosen(self, benchmark: str, ct: dict[str, str], arch: str) -> bool:
        """Whether the user has chosen a policy: then that is the one to run."""
        policy = _core.policy(benchmark, ct, arch)
        own = self._applied.get((benchmark, ",".join(ct.values()), arch))
        return policy not in (own, _core.base(benchmark, ct, arch))


def _by_distance(declared: list[int], items: int) -> list[int]:
    """Declared exponents, that which is nearest to a number of items first."""
    return sorted(declared, key=lambda exponent: abs(exponent - math.log2(items)))


def _read(file: IO[str], sizes: list[int]) -> tuple[int, bool]:
    """Size to tune at, and whether that was done.

    A search that was stopped goes on at its own size, since variants that were measured at
    different ones cannot be ranked. New ones take the first of `sizes`.
    """
    words = file.read().split()
    begun = [size for size in sizes if words[:1] == [str(size)]]
    return (begun or sizes)[0], bool(begun) and words[1:] == [DONE]


def _write(file: IO[str], text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()


def autotune(enabled: bool = True, *, seconds: float | None = None) -> None:
    """Tune every workload when it is first called, as QUDA does.

    From now on the first ``reduce``, ``scan`` or ``transform`` of a type and operator searches for
    `seconds`, in a process of its own, for the variant that is fastest at the declared size nearest
    to the call's, and then runs it. A workload is searched once, also if nothing faster was found:
    later calls, and later processes with autotuning on, run what was found at once.

    The same is computed as without tuning. What cannot be tuned runs as it would otherwise, with a
    warning where that is unexpected. Left alone are operators of your own, workloads for which
    ``use_policies`` has chosen, calls captured into a graph, and forked processes. Threads that
    need the workload wait; calls of others go on, and are tuned one after another. Ctrl-C ends the
    tuning and the call, and the next process goes on with what was measured.

    What was found is in ``autotune.db`` in the folder of compiled variants (``CUBC_CACHE``), which
    ``cubc.tuner.analyze`` reads; to tune everything anew, remove it. Two processes that need the
    same workload do not both tune it: the second waits, for twice the time at most.

    Parameters
    ----------
    enabled
        Whether to; False stops it and keeps the policies that are in force.
    seconds
        Time for each workload; 10 unless said. Setting up the search comes on top: a second or two.

    Raises
    ------
    TypeError, ValueError
        If `seconds` is no number, or not positive.

    Notes
    -----
    ``CUBC_TUNE=1`` does the same from the import on, ``CUBC_TUNE=5s`` with 5 seconds a workload.
    """
    from .tuner.checks import positive

    budget = SECONDS if seconds is None else positive("seconds", seconds)
    if not enabled:
        _core.set_tuner(None)
        return
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
        warnings.warn(
            f"nothing is tuned: {error}; remove that file to begin anew",
            RuntimeWarning,
            stacklevel=2,
        )


def from_variable(text: str) -> None:
    """Do as ``CUBC_TUNE`` says; ValueError if it says nothing that is known."""
    if (seconds := _parse(text)) is not None:
        autotune(seconds=seconds)


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
