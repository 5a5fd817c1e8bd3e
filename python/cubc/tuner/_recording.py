"""Recording of the calls that a program makes, into a store from which they are searched."""

from __future__ import annotations

import atexit
import contextlib
import os
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from cubc import _core

from . import _axes as ax
from ._status import RECORDED
from ._stores import store_path


@contextlib.contextmanager
def record(db: str | os.PathLike) -> Iterator[None]:
    """Record what is called within a ``with`` statement: which work, how often, and for how long.

    >>> with tuner.record("work.db"):            # doctest: +SKIP
    ...     my_program()
    >>> tuner.recorded("work.db")                # what it called, most time first  # doctest: +SKIP
    >>> tuner.search("work.db", seconds=300)     # each at its own shape  # doctest: +SKIP
    >>> cubc.use_policies("work.db")             # doctest: +SKIP

    All calls of the process are recorded, of all threads: primitives, the kernels of lattice solves
    with each of their iterations, and launches of `cubc.Kernel`. Calls of one benchmark, type,
    shape and device are one row. No data are kept.

    The first 16 calls of each kind are timed, and then eight in each doubling of their number. A
    time is that between two events on the call's stream, so it includes the launch where the stream
    was idle. Calls that are captured into a CUDA graph are counted once and not timed.

    The store is written at the end: an error or Ctrl-C in the program is such an end, while one
    that is killed, or that calls ``os._exit``, leaves nothing. Processes that it forks record
    nothing.

    ``cubc record -o work.db -- python program.py`` records a whole program, and so does the
    environment variable ``CUBC_RECORD=work.db``.

    Parameters
    ----------
    db
        Path of the store, made if it is not there. It may hold measurements and other recordings.

    Raises
    ------
    OSError, StoreError
        If the store cannot be written; at the start, or at the end if it became so.
    ValueError
        If calls are being recorded already.
    """
    path = os.path.abspath(store_path(db))  # a program may change its folder
    _core.Store(path, True).close()  # whether it can be written is known before the program runs
    _core.record_calls()
    try:
        yield
    finally:
        calls, lost = _core.recorded_calls()
        write(path, calls)
        if lost:
            text = f"{lost} calls of kinds beyond the first 65536 were not recorded"
            warnings.warn(text, RuntimeWarning, stacklevel=3)


def write(path: str, calls: list[dict[str, Any]]) -> None:
    """Add recorded calls to a store, under rounds that it does not have yet."""
    store = _core.Store(path, True)
    try:
        for device in dict.fromkeys(call["device"] for call in calls):
            store.set_device(_core.device_info(device))
            rows = merged([call for call in calls if call["device"] == device])
            number = 0
            for row in rows:
                # Another process may be writing the same; rows that are there are not changed.
                while not store.add(row | {"round": number}):
                    number += 1
    finally:
        store.close()


def merged(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of a store for the calls of a device.

    Calls of code that differs in what a benchmark does not tell, such as the alignment of arrays,
    are one row.
    """
    found: dict[tuple, dict[str, Any]] = {}
    for call in calls:
        row = _row(call)
        key = (row["benchmark"], row["ct"], row["rt"], row["variant"])
        if (same := found.setdefault(key, row)) is not row:
            same["calls"] += row["calls"]
            same["samples"] += row["samples"]
    return list(found.values())


def _row(call: Mapping[str, Any]) -> dict[str, Any]:
    place = {name: value for name, value in call["place"].items() if value < 1 << 63}
    axes = tuple(ax.Axis(name, (value,)) for name, value in place.items())
    return {
        "benchmark": call["name"],
        "axes": ax.axes_text(axes),
        "ct": ax.workload_text({"T{ct}": call["type"]} if call["type"] else {}),
        "variant": call["variant"],
        "rt": ax.workload_text(place),
        "status": RECORDED,
        "samples": call["seconds"],
        "bytes": call["bytes"],
        "calls": call["calls"],
    }


def from_variable(path: str) -> None:
    """Record the whole process, as ``CUBC_RECORD`` says.

    Raises
    ------
    OSError, StoreError
        If the store cannot be written.
    """
    recording = record(path)
    recording.__enter__()
    atexit.register(_end, recording, path)


def _end(recording: contextlib.AbstractContextManager, path: str) -> None:
    try:
        recording.__exit__(None, None, None)
    except (OSError, _core.StoreError) as error:
        warnings.warn(f"what was called is not recorded in {path}: {error}", stacklevel=1)


os.register_at_fork(after_in_child=_core.forget_calls)
