"""Tuning at run time: the first call of a workload searches, later ones run the best variant.

A workload is a benchmark and a type, and a size where policies depend on it: up to 2^16 items, up
to 2^20, up to 2^25, or more.

Measurements are in a store beside the cache of compiled variants. Beside it is a file for each
workload with the variant that won, so that later processes need not read the store. The process
that has the lock of that file tunes. The system releases the lock of a killed process; its
measurements are kept, and the next process continues from there.
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
from ._calls import named

SECONDS = 10.0
ON, OFF = {"1", "on", "true", "yes"}, {"0", "off", "false", "no", ""}
ELEMENTS = "Elements{io}[pow2]"


class Tuner:
    """Tunes each workload that the core asks about, once."""

    def __init__(self, folder: str, seconds: float):
        self.folder, self.seconds = Path(folder), seconds
        self._busy = threading.Lock()
        self._settled: set[tuple[str, str, str, str]] = set()

    def __call__(self, device: str, benchmark: str, dtype: str, items: int, size: str) -> bool:
        """Run the best variant of a workload, searched for if it is not known.

        A failure becomes a warning. The result False asks the core to ask again at the next call.
        One search runs at a time, since it measures; calls of other workloads do not wait for it.
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
    """Overlay a variant as the policy for a number of items; False if the label is no variant."""
    try:
        _core.use_policy(*where, label, items)
    except ValueError:
        return False
    return True


def _declared(benchmark: str, dtype: str, size: str) -> list[int]:
    """Exponents of the declared numbers of items in a size of policies; may be empty."""
    axes = _core.benchmarks().get(benchmark, {"T{ct}": []})
    if dtype not in axes["T{ct}"]:
        return []
    ct = {"T{ct}": dtype}
    return [e for e in axes[ELEMENTS] if _core.policy_size(benchmark, ct, 1 << e) == size]


@named
def autotune(enabled: bool = True, *, seconds: float | None = None) -> None:
    """Tune every workload when it is first called, as QUDA does.

    From now on the first call of a type and operator searches for `seconds`, in another process,
    for the fastest variant at the declared size nearest to the call's, and then runs it. Where
    policies depend on the number of items, there is a search for each of four sizes: up to 2^16
    items, up to 2^20, up to 2^25, and more, each at the size declared there (2^28 for more). A
    workload is searched once, also if no faster variant was found. Later calls, and later processes
    with autotuning on, run the result of the search at once.

    Results are those without tuning. A call that cannot be tuned runs as it would otherwise, with a
    warning where that is unexpected. Not tuned are operators given as expressions, workloads with a
    policy of ``use_policies``, calls captured into a graph, and calls in forked processes. Threads
    that call the workload wait; calls of other workloads continue, and are tuned one after another.
    Ctrl-C ends the tuning and the call; the next process continues with the measurements so far.

    The folder of compiled variants (``CUBC_CACHE``) holds all measurements in ``autotune.db``,
    which ``cubc.tuner.analyze`` reads, and a file ``tune-...`` for each workload that was searched.
    Remove these files to continue the searches for as long again; remove the store too to search
    anew. Of two processes that call the same workload one searches, and the other waits for at most
    twice the time.

    Parameters
    ----------
    enabled
        False stops tuning; policies found so far stay in force.
    seconds
        Time for each workload; by default 10. Setting up a search takes a second or two more.

    Raises
    ------
    TypeError, ValueError
        If `enabled` is no bool; if `seconds` is no number, or not positive.

    Notes
    -----
    ``CUBC_TUNE=1`` in the environment switches autotuning on at the import of cubc,
    ``CUBC_TUNE=5s`` with 5 seconds for each workload.
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
    """Switch autotuning on or off as ``CUBC_TUNE`` says; ValueError for an unknown value."""
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
    """Switch autotuning off in a forked child, which has neither threads nor devices."""
    _core.set_tuner(None)


os.register_at_fork(after_in_child=_after_fork)
