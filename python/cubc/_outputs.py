"""Files that commands and functions write: whole or not at all, never over one of another kind.

A store holds hours of measurements and has the same kind of name as an output. So what is there is
replaced only by its like: a page by a page, a bundle by a bundle.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from cubc import _core

if TYPE_CHECKING:
    from pathlib import Path


class Kind(NamedTuple):
    """A kind of file: its name in a sentence, how it is recognised, and who may write to it."""

    name: str
    known: Callable[[Path], bool]
    mode: int = 0o666


def begins(start: bytes) -> Callable[[Path], bool]:
    """Recognition of files that begin so."""

    def known(path: Path) -> bool:
        return _core.read_file(path, len(start)) == start  # it may be a store in use

    return known


def check(path: str | os.PathLike, kind: Kind) -> None:
    """Check, before the work of an hour, that a file can be made; FileExistsError of another kind.

    An empty file is of no kind. OSError if its folder is not there, or not the user's to write in.
    """
    from pathlib import Path

    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder; name a file in it")
    folder = Path(os.path.realpath(path)).parent  # of the file that a link names
    if not place.exists() or place.is_file():  # a terminal or a pipe is written to where it is
        if not folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path))
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
    if place.is_file() and place.stat().st_size and not kind.known(place):
        raise FileExistsError(
            f"{place} is there and is no {kind.name}, which alone would be replaced: give another "
            "name, or remove it"
        )


def write(path: str | os.PathLike, kind: Kind, pieces: Iterable[bytes]) -> int:
    """Write a file, or replace one of its kind; its bytes. A terminal or a pipe is written to."""
    from pathlib import Path

    check(path, kind)
    if Path(path).exists() and not Path(path).is_file():  # /dev/stdout may name what has no path
        with open(path, "wb") as file:
            return sum(map(file.write, pieces))
    place = Path(os.path.realpath(path))  # the file that a link names, not the link
    try:
        with beside(place) as part:
            flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC
            with open(os.open(part, flags, kind.mode), "wb") as file:
                count = sum(map(file.write, pieces))
            part.replace(place)
    except OSError as error:
        error.filename = os.fspath(path)  # the one that was asked for
        raise
    return count


@contextmanager
def beside(place: Path) -> Iterator[Path]:
    """Name a file that is written beside its place, in a folder of its own, and then put there.

    The folder goes in the end with all that is left in it, as what a database has beside its file.
    """
    from pathlib import Path
    from tempfile import TemporaryDirectory

    folder = TemporaryDirectory(
        prefix=f"{place.name[:64]}.", suffix=".new", dir=place.parent, ignore_cleanup_errors=True
    )
    with folder as name:
        yield Path(name, place.name)
