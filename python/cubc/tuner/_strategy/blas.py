"""The linear algebra of a search on one thread: its matrices are too small for several.

OpenBLAS, which NumPy and SciPy each bring, would wake threads on all cores, and on these the
compilers work. They are left as they were after each use.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

# Around the names of OpenBLAS: SciPy's build has the first, one for long integers the second.
PREFIXES, SUFFIXES = ("", "scipy_"), ("", "64_")


class Library:
    """A loaded OpenBLAS; AttributeError if it is none."""

    def __init__(self, path: str):
        library = ctypes.CDLL(path)
        names = [(prefix, suffix) for prefix in PREFIXES for suffix in SUFFIXES]
        has = (n for n in names if hasattr(library, f"{n[0]}openblas_set_num_threads{n[1]}"))
        prefix, suffix = next(has, ("", ""))
        self.get: Any = getattr(library, f"{prefix}openblas_get_num_threads{suffix}")
        self.set: Any = getattr(library, f"{prefix}openblas_set_num_threads{suffix}")


@cache
def libraries() -> list[Library]:
    """All that are loaded; none where that cannot be told."""
    try:
        lines = os.fsdecode(Path("/proc/self/maps").read_bytes()).split("\n")  # a path in each
    except OSError:
        return []
    paths = {line.split(maxsplit=5)[-1] for line in lines if "openblas" in line}
    found = []
    for path in sorted(paths):
        with suppress(AttributeError, OSError):
            found.append(Library(path))
    return found


class _Users:
    """Count of the threads inside of `one_thread`; the last to leave puts the settings back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._before: list[tuple[Library, int]] = []

    def enter(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._before = [(library, library.get()) for library in libraries()]
                for library, _ in self._before:
                    library.set(1)

    def leave(self) -> None:
        with self._lock:
            self._count -= 1
            if not self._count:
                for library, count in self._before:
                    library.set(count)


_users = _Users()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let each of them use one thread, here and in other threads of this process."""
    _users.enter()
    try:
        yield
    finally:
        _users.leave()
