"""Tuning at run time: the first call of a workload searches, later ones run the best variant.

A workload is a benchmark, a type, and a place on the run-time axes, rounded to powers of two: calls
of 900 and of 1100 elements are one. A lattice is not rounded, as its kernels are compiled for it.

Measurements are in a store beside the cache of compiled variants. Beside it is a file for each
workload with the variant that won, so that later processes need not read the store. The process
that has the lock of that file tunes. The system releases the lock of a killed process; its
measurements are kept, and the next process continues from there.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import threading
import time
import warnings
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from . import _core
from ._calls import named
from ._first_call import tune_by

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 10.0
ON, OFF = {"1", "on", "true", "yes"}, {"0", "off", "false", "no", ""}
MOST = 1 << 28  # elements that are searched at; calls of more are tuned there
EXACT = {"X", "Y", "Z", "T", "Sources"}  # axes that are not rounded


class Tuner:
    """Tunes each workload that the core asks about, once."""

    def __init__(self, folder: str, seconds: float):
        from pathlib import Path  # takes a tenth of the import of cubc

        self.folder, self.seconds = Path(folder), seconds
        self._busy = threading.Lock()
        self._settled: set[tuple] = set()
        self._found: set[tuple[str, str, str]] = set()  # benchmark, type and label that it applied

    def __call__(self, device: str, benchmark: str, dtype: str, place: dict[str, int]) -> bool:
        """Run the best variant of a workload, searched for if it is not known.

        A failure becomes a warning. The result False asks the core to ask again at the next call.
        One search runs at a time, since it measures; calls of other workloads do not wait for it.
        """
        axes = _core.benchmarks().get(benchmark, {"T{ct}": []})
        if dtype not in axes["T{ct}"]:
            return True
        plain = {name.partition("{")[0] for name in axes}
        place = {name: value for name, value in place.items() if name in plain}
        rt = {name: _rounded(name, value) for name, value in place.items()}
        key = (device, benchmark, dtype, tuple(rt.items()))
        if key in self._settled:
            return True
        if not all(place.values()) or not self._busy.acquire(blocking=False):
            return False
        try:
            if key not in self._settled:
                self._settled.add(key)
                self._tune(device, benchmark, dtype, rt)
        except Exception as error:
            warnings.warn(
                f"{benchmark} {dtype} runs untuned on {device}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )
        finally:
            self._busy.release()
        return True

    def _tune(self, device: str, benchmark: str, dtype: str, rt: dict[str, int]) -> None:
        import hashlib

        info = _core.device_info(device)
        policy_key = (benchmark, {"T{ct}": dtype}, info["arch"])
        runs = _core.policy(*policy_key, rt)
        if runs != _core.base(*policy_key, rt) and (benchmark, dtype, runs) not in self._found:
            return  # the user has chosen
        source = _core.source_hash(*policy_key)
        about = (benchmark, dtype, rt, info["uuid"], info["driver"], info["compiler"], source)
        name = f"tune-{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}"
        with self._claimed(self.folder / name) as file:
            if file is None or self._use(policy_key, file.read(), rt):
                return
            found = self._search(device, benchmark, {"T{ct}": dtype, **_as_axes(rt)})
            self._use(policy_key, found, rt)
            file.truncate(0)  # of what is no variant
            file.write(found)

    def _search(self, device: str, benchmark: str, workload: dict[str, Any]) -> str:
        """Label of the variant that won."""
        from .tuner import search
        from .tuner._winners import winners

        store = self.folder / "autotune.db"
        result = search(
            benchmark, workload, db=store, device=device, seconds=self.seconds, confirm=3
        )
        return next((one.label for one in winners(result.groups)), "base")

    def _use(
        self, policy_key: tuple[str, dict[str, str], str], label: str, rt: dict[str, int]
    ) -> bool:
        """Run a variant in calls near a workload from the next call on; False if it is none."""
        try:
            _core.use_policy(*policy_key, label, rt)
        except ValueError:
            return False
        benchmark, ct, _ = policy_key
        self._found.add((benchmark, ct["T{ct}"], _core.policy(*policy_key, rt)))
        return True

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


def _rounded(axis: str, value: int) -> int:
    """Value of an axis that stands for those near it."""
    if axis in EXACT:
        return value
    power = 1 << round(math.log2(value)) if value > 0 else 1
    return min(power, MOST) if axis == "Elements" else power


def _as_axes(rt: dict[str, int]) -> dict[str, int]:
    """Axes of a search: elements by their exponent, as they are declared."""
    return rt | {name: rt[name].bit_length() - 1 for name in rt if name == "Elements"}


@named
def autotune(enabled: bool = True, *, seconds: float | None = None) -> None:
    """Tune every workload when it is first called, as QUDA does.

    From now on the first call of a type, operator and shape searches for `seconds`, in another
    process, for the fastest variant at that shape, and then runs it. A shape is the number of
    elements, and where they matter the length of segments, the columns, the bins and the like, each
    rounded to a power of two. Calls of more than 2^28 elements are tuned at 2^28. The shape of a
    call on a lattice is its extents and right-hand sides, which are not rounded. A workload is
    searched once, also if no faster variant was found. Later calls, and later processes with
    autotuning on, run the result of the search at once.

    Results are those without tuning. A call that cannot be tuned runs as it would otherwise, with a
    warning where that is unexpected. Not tuned are operators given as expressions, workloads with a
    policy of ``use_policies``, calls captured into a graph, and calls in forked processes. Threads
    that call the workload wait; calls of other workloads continue, and are tuned one after another.
    Ctrl-C ends the tuning and the call; the next process continues with the measurements so far.

    The folder of compiled variants (``CUBC_CACHE``) holds all measurements in ``autotune.db``,
    which ``cubc.tuner.analyze`` reads, and a file ``tune-...`` for each workload that was searched.
    Remove these files to continue the searches for as long again; remove the store too to search
    anew. If two processes call the same workload, one searches, and the other waits for at most
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

    Examples
    --------
    >>> cubc.autotune(seconds=5)
    >>> total = cubc.sum(x)  # the first call of its kind searches  # doctest: +SKIP
    >>> cubc.autotune(False)
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
        tune_by(None)


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
    tune_by(Tuner(folder, seconds))


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
