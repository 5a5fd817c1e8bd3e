"""Recording of the calls that a program makes, into a store from which they are searched."""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import warnings
from collections.abc import Iterator

from cubc import _core
from cubc._calls import name_function, truth
from cubc._environment import is_on

from ._stores import store_path

EVERY = 2.0  # seconds between two times that a store is written
_numbers = itertools.count(1)  # of recordings


@contextlib.contextmanager
def record(db: str | os.PathLike, *, keys: bool = False) -> Iterator[None]:
    """Record what is called within a ``with`` statement: which work, how often, and for how long.

    >>> with tuner.record("work.db"):            # doctest: +SKIP
    ...     my_program()
    >>> tuner.recorded("work.db")                # what it called, most time first  # doctest: +SKIP
    >>> tuner.search("work.db", seconds=300)     # each at its own shape  # doctest: +SKIP
    >>> cubc.use_policies("work.db")             # doctest: +SKIP

    All calls of the process are recorded, of all threads: primitives, the kernels of lattice solves
    with each of their iterations, and launches of `cubc.Kernel`. Calls of one benchmark, type,
    shape and device are one row. No data are kept, and none are read without ``keys``.

    The first 16 calls of each kind are timed, and then eight in each doubling of their number. A
    time is that between two events on the call's stream, so it includes the launch where the stream
    was idle. Calls that fail are not counted. Calls that are captured into a CUDA graph are counted
    once and not timed, since the graph is launched without cubc; those of `cubc.bind` are counted
    with each launch.

    The store is written every 2 seconds, by a thread that no call waits for, and at the end: an
    error or Ctrl-C in the program is such an end. A program that is killed, or that calls
    ``os._exit``, loses its last seconds. SIGTERM loses nothing, unless the program handles that
    signal itself: the process ends once the calls are written, for which it waits for up to 10
    seconds where another process holds the store. Processes that it forks record nothing.

    ``cubc record -o work.db -- python program.py`` records a whole program, and so does the
    environment variable ``CUBC_RECORD=work.db``.

    Parameters
    ----------
    db
        Path of the store, made if it is not there. It may hold measurements and other recordings.
    keys
        Sketch the keys of sorts, of runs of equal keys, of `topk` and of histograms: how many are
        distinct (``Distinct``), in how many bits integers differ (``KeyBits``), how long equal ones
        follow each other (``Run``), and how many in 100 are in order (``Sorted``, where some are).
        A search of the recording makes keys like them. The 1st, 2nd, 4th, 8th ... call of each kind
        copies 4096 keys to the host, in 16 pieces, and waits for them: some tenths of a
        millisecond. The other calls cost no more than without.

    Raises
    ------
    OSError, StoreError
        If the store cannot be written; at the start, or at the end if it became so.
    ValueError
        If calls are being recorded already.
    TypeError
        If `keys` is neither a bool nor 0 or 1.
    """
    number = next(_numbers)
    try:  # all of it: Ctrl-C may come between two lines
        try:
            path = os.path.abspath(store_path(db))  # a program may change its folder
            _core.record_calls(path, EVERY, truth("keys", keys), number)
        except Exception as error:
            name_function(error, "record")
            raise
        yield
    finally:
        lost = _core.end_recording(number)
        if lost:
            text = f"{lost} calls of kinds beyond the first 65536 were not recorded"
            warnings.warn(text, RuntimeWarning, stacklevel=3)


def from_variable(path: str) -> None:
    """Record the whole process, as ``CUBC_RECORD`` and ``CUBC_RECORD_KEYS`` say.

    Raises
    ------
    OSError, StoreError
        If the store cannot be written.
    ValueError
        If ``CUBC_RECORD_KEYS`` is neither 0 nor 1.
    """
    recording = record(path, keys=is_on("CUBC_RECORD_KEYS"))
    recording.__enter__()
    atexit.register(_end, recording, path)


def _end(recording: contextlib.AbstractContextManager, path: str) -> None:
    try:
        recording.__exit__(None, None, None)
    except (OSError, _core.StoreError) as error:
        warnings.warn(f"what was called is not recorded in {path}: {error}", stacklevel=1)


os.register_at_fork(after_in_child=_core.forget_recording)
