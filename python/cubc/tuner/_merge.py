"""Stores merged into one: what several searches wrote on machines that share no file."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from cubc import _core
from cubc import _outputs as outputs

from ._stores import StorePaths, expand, store_path

BESIDE = ("-wal", "-shm", "-journal")  # ends of the names of what a store may have beside it


class Merged(NamedTuple):
    """Count of the rows of a merge.

    Attributes
    ----------
    added : int
        Rows that the new store took, those among them that took the place of one of their key.
    repeated : int
        Rows that it did not take, as it had one of their key that counts. A recording keeps the
        most calls.

    Examples
    --------
    >>> merged = tuner.merge(tuner.example_db(), "all.db")
    >>> print(merged)
    1600 rows, 0 were there already
    >>> merged.added, merged.repeated
    (1600, 0)
    """

    added: int
    repeated: int

    def __str__(self) -> str:
        return f"{self.added} rows, {self.repeated} were there already"


def merge(paths: StorePaths, out: str | os.PathLike, *, replace: bool = False) -> Merged:
    """Make one store of several.

    Each store is read as `analyze` reads it: from a copy in memory, with every row checked, and no
    journal is played back. A row is what one device measured of a variant at a workload in a round;
    one that several stores have is kept once, the first of them; but one that was wrong counts
    before all others, one that faulted next, and one that was not worth a measurement last. So
    measurements of different devices, drivers, compilers and versions of a kernel all stay.
    Recorded calls add up, those of one recording once; one that goes on between two merges counts
    twice. The new store is written beside its place and put there when it is whole. A store that is
    replaced stays the same file, in which the rows are exchanged at once: who has it open sees the
    old ones or the new ones.

    Parameters
    ----------
    paths
        Stores or glob patterns.
    out
        Path of the new store.
    replace
        Overwrite the store that is there. `out` may then be one of `paths`.

    Returns
    -------
    Merged
        Numbers of rows that were added, and that were there already.

    Raises
    ------
    FileExistsError
        If `out` is there and `replace` is not said.
    FileNotFoundError, IsADirectoryError
        If a path names no store.
    ValueError
        If what is to be replaced is no store.
    OSError
        If the new store cannot be written.
    StoreError
        If a file is no store, or of a newer version; if a row of it is damaged; if another program
        writes to the store that is to be replaced. Nothing is written then.

    Examples
    --------
    >>> tuner.merge(["host1.db", "host2.db"], "all.db")  # doctest: +SKIP
    Merged(added=52310, repeated=120)
    """
    found, place = expand(paths), Path(store_path(out))
    if place.is_dir():
        raise IsADirectoryError(f"{place} is a folder; name a file in it, as {place}/all.db")
    there = replace and place.exists()
    if there and not _is_empty(place):
        return _replaced(found, place)
    _check_quiet(place)
    if not there:
        _make(place)  # nobody else can make it from here on
    try:
        with outputs.beside(place) as part:
            _make(part)
            merged = _written(found, str(part))
            _check_alone(part, place)
            _check_untouched(place)
            part.replace(place)
    except BaseException:
        if not there and _is_empty(place) and not _beside(place):
            os.unlink(place)
        raise
    return merged


def _replaced(paths: list[str], place: Path) -> Merged:
    """Write into a store that is there: who opens it meanwhile has the same file, and its log.

    It is open all the time, so that it knows if somebody else writes to it after it was read.
    """
    _check_store(place)
    if _beside(place):
        _core.Store(str(place), True).close()  # takes in the log that a killed program left
    _check_quiet(place)
    with closing(_core.Store(str(place), True)) as old, outputs.beside(place) as part:
        _make(part)
        merged = _written(paths, str(part))
        with closing(_core.Store(str(part))) as new:
            old.merge(new, True)
    return merged


def _is_empty(path: Path) -> bool:
    return path.is_file() and not path.stat().st_size


def _beside(path: Path) -> bool:
    return any(Path(f"{path}{end}").exists() for end in BESIDE)


def _check_quiet(place: Path) -> None:
    if _beside(place):
        raise FileExistsError(
            f"{place} has a log or a journal beside it: a program may be writing to it; give "
            "another name"
        )


def _check_alone(part: Path, place: Path) -> None:
    """Raise OSError if rows may lie in a log beside the new store: its file alone is moved."""
    if _beside(part):
        raise OSError(
            f"{place} is not written: the new store cannot be closed whole, as where the disk is "
            "full; make room and merge again"
        )


def _check_untouched(place: Path) -> None:
    """Raise FileExistsError if the empty file that the new store replaces is one no more."""
    if _beside(place) or (place.exists() and not _is_empty(place)):
        raise FileExistsError(
            f"{place} is not written: another program has made a store of it meanwhile; give "
            "another name"
        )


def _check_store(place: Path) -> None:
    """Raise ValueError for a file that is no store: merges replace stores alone."""
    try:
        _core.Store(str(place)).close()
    except _core.StoreError as error:
        raise ValueError(f"{place} is no store, which alone is replaced: {error}") from None


def _make(path: Path) -> None:
    """Make an empty file; FileExistsError if there is one."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except FileExistsError:
        raise FileExistsError(f"{path} is there: give another name, or say replace=True") from None


def _written(paths: list[str], name: str) -> Merged:
    added = every = 0
    with closing(_core.Store(name, True)) as new:
        for path in paths:
            with closing(_core.Store(path)) as store:
                of_this, rows = new.merge(store)
            added, every = added + of_this, every + rows
    return Merged(added, every - added)
