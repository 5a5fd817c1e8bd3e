"""Reading files of gauge configurations, propagators and fields, in the formats of many codes."""

import os
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from .._calls import named
from ._fields import integer
from ._grid import Grid

_UNVERIFIED, _PROJECTED = 1, 2
_READERS = {
    "links": "read_links",
    "propagator": "read_propagator",
    "spinor": "read_spinor",
    "staggered propagator": "read_staggered_propagator",
    "colour vector": "read_colour_vector",
}


@dataclass(frozen=True)
class FileInfo:
    """Description of a field in a file.

    Attributes
    ----------
    format : str
        ``"ildg"``, ``"scidac"``, ``"etmc"``, ``"nersc"``, ``"milc"``, ``"milc-prop"``,
        ``"fermilab"``, ``"openqcd"`` or ``"ddalphaamg"``.
    kind : str
        ``"links"``, ``"propagator"``, ``"spinor"``, ``"staggered propagator"``,
        ``"colour vector"`` or ``"complex"``.
    extent : tuple of int
        Sites of the lattice along X, Y, Z, T.
    precision : str
        Precision of the numbers in the file: ``"single"`` or ``"double"``.
    rows : int
        Rows of a link in the file: 3, or 2 if the third is computed from them.
    byte_order : str
        Byte order of the file: ``"big"`` or ``"little"``.
    checksum : tuple of int or None
        Checksums that the file states: suma and sumb of SciDAC, sum29 and sum31 of MILC, or the one
        of NERSC. None if there is none, or if it is not verified.
    source : tuple of int or None
        Source spin and colour of a column of a propagator, or the colour alone, if the file states
        them.
    data_offset, data_bytes : int
        Position and number of bytes of the field's numbers in the file.
    plaquette, link_trace : float or None
        Values that the header states; both are 1 for unit links.

    Examples
    --------
    >>> lattice.write_gauge("unit.lime", lattice.Gauge.unit((8, 4, 6, 2)))
    >>> (info,) = lattice.read_info("unit.lime")
    >>> info.kind, info.extent, info.precision
    ('links', (8, 4, 6, 2), 'double')
    """

    format: str
    kind: str
    extent: tuple[int, int, int, int]
    precision: str
    rows: int
    byte_order: str
    checksum: tuple[int, ...] | None
    source: tuple[int, ...] | None
    data_offset: int
    data_bytes: int
    plaquette: float | None
    link_trace: float | None


@named
def read_info(path, verify=True):
    """Read the headers of a file: a list with a `FileInfo` for each field.

    Parameters
    ----------
    path, verify
        As for `read_links`.

    Raises
    ------
    OSError
        If there is no such file, or its headers are damaged or of another format.

    Examples
    --------
    >>> lattice.write_spinor("ones.lime", np.ones((2, 6, 4, 8, 4, 3), complex))
    >>> [info.kind for info in lattice.read_info("ones.lime")]
    ['spinor']
    """
    os.stat(path)  # says in Python's own words that there is no such file
    return [FileInfo(**said) for said in _core.field_infos(path, _flags(verify))]


@named
def read_links(path, verify=True, project=False, record=None):
    """Read a gauge configuration.

    The format is recognised: ILDG and SciDAC (LIME), NERSC (three rows or two), MILC version 5,
    openQCD, DD-alphaAMG; in single or double precision and either byte order.

    Parameters
    ----------
    path : str or os.PathLike
        Path of a regular file. The file is not trusted: an inconsistency is an error that names the
        record and the byte, and no more memory is taken than the field needs.
    verify : bool
        True checks the checksums, the plaquette and link trace of the header, that all numbers are
        finite, that parts of the file agree, and where it ends. False does not read checksums.
    project : bool
        True replaces links of single precision by the SU(3) matrices nearest to them, and refuses
        links that are farther from SU(3) than 1e-4. By default links are those of the file, with
        the plaquettes that its author measured. Links of double precision are never changed.
    record : int, optional
        Number of the field, from 0 on, in a file that holds several of this kind.

    Returns
    -------
    links : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 4, 3, 3): direction (x, y, z, t), row, column.
    info : FileInfo
        Description of the field by the file.

    Raises
    ------
    OSError
        If there is no such file, or it is damaged or of another format.
    ValueError
        If it holds no links, or several fields of them and no `record` is given.

    Examples
    --------
    >>> lattice.write_links("unit.lime", lattice.Gauge.unit((8, 4, 6, 2)).links().numpy())
    >>> links, info = lattice.read_links("unit.lime")
    >>> links.shape, info.format
    ((2, 6, 4, 8, 4, 3, 3), 'ildg')
    """
    return read_field(path, "links", verify, record, project)


@named
def read_propagator(path, verify=True, record=None, grid=None):
    """Read a propagator of Wilson quarks.

    Formats are SciDAC (LIME), as one field or as twelve spinors with or without sources between
    them; spinors of the European Twisted Mass Collaboration; those of MILC and of Fermilab.

    Parameters
    ----------
    path : str, os.PathLike or a list of these
        As for `read_links`. A list names twelve files of one column each, source spins 0 to 3 and
        within each source colours 0 to 2, which is how tmLQCD numbers them.
    verify, record
        As for `read_links`; `record` counts propagators, each one field or twelve spinors. Without
        it 24 spinors are twelve, each behind its source.
    grid : Grid, optional
        Ranks over which the lattice is cut. All of them call this; each reads its part alone, which
        is the result.

    Returns
    -------
    propagator : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 4, 4, 3, 3): sink spin, source spin, sink colour, source
        colour; spins in the basis of the file, which for Chroma is DeGrand-Rossi.
    info : FileInfo
        Description of the field by the file; with several columns, of the first.

    Raises
    ------
    OSError
        If there is no such file, or it is damaged or of another format.
    ValueError
        If it holds no propagator, or several and no `record` is given.

    Examples
    --------
    >>> lattice.write_propagator("s.lime", np.ones((2, 2, 2, 2, 4, 4, 3, 3), complex))
    >>> s, info = lattice.read_propagator("s.lime")
    >>> s.shape
    (2, 2, 2, 2, 4, 4, 3, 3)
    """
    return _propagator(path, "propagator", verify, record, grid)


@named
def read_spinor(path, verify=True, record=None, grid=None):
    """Read a spinor: a column of a propagator, a source, an eigenvector.

    Parameters
    ----------
    path, verify, record
        As for `read_links`. Formats are those of `read_propagator`.
    grid : Grid, optional
        As for `read_propagator`.

    Returns
    -------
    spinor : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 4, 3): spin, in the basis of the file, and colour.
    info : FileInfo
        Description of the field by the file.

    Raises
    ------
    OSError, ValueError
        As `read_links`.

    Examples
    --------
    >>> lattice.write_spinor("ones.lime", np.ones((2, 2, 2, 2, 4, 3), complex))
    >>> psi, info = lattice.read_spinor("ones.lime")
    >>> psi.shape, info.kind
    ((2, 2, 2, 2, 4, 3), 'spinor')
    """
    return read_field(path, "spinor", verify, record, grid=grid)


@named
def read_staggered_propagator(path, verify=True, record=None, grid=None):
    """Read a propagator of staggered quarks.

    Formats are SciDAC (LIME), as one field or as three colour vectors with or without sources
    between them, and those of MILC and of Fermilab.

    Parameters
    ----------
    path, verify, record, grid
        As for `read_propagator`, with three colour vectors.

    Returns
    -------
    propagator : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 3, 3): sink colour, source colour.
    info : FileInfo
        Description of the field by the file.

    Raises
    ------
    OSError, ValueError
        As `read_propagator`.

    Examples
    --------
    >>> lattice.write_staggered_propagator("s.lime", np.ones((2, 2, 2, 2, 3, 3), complex))
    >>> lattice.read_staggered_propagator("s.lime")[0].shape
    (2, 2, 2, 2, 3, 3)
    """
    return _propagator(path, "staggered propagator", verify, record, grid)


@named
def read_colour_vector(path, verify=True, record=None, grid=None):
    """Read a colour vector: a column of a staggered propagator, a source, an eigenvector.

    Parameters
    ----------
    path, verify, record
        As for `read_links`. Formats are those of `read_staggered_propagator`.
    grid : Grid, optional
        As for `read_propagator`.

    Returns
    -------
    vector : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 3).
    info : FileInfo
        Description of the field by the file.

    Raises
    ------
    OSError, ValueError
        As `read_links`.

    Examples
    --------
    >>> lattice.write_colour_vector("v.lime", np.ones((2, 2, 2, 2, 3), complex))
    >>> lattice.read_colour_vector("v.lime")[0].shape
    (2, 2, 2, 2, 3)
    """
    return read_field(path, "colour vector", verify, record, grid=grid)


def _flags(verify, project=False):
    return (0 if verify else _UNVERIFIED) | (_PROJECTED if project else 0)


def _choose(path, kind, verify, record, whole=None):
    """Return the index of a field in the file, and its `FileInfo`, as of a column of `whole`."""
    infos = read_info(path, verify)
    found = [k for k, info in enumerate(infos) if info.kind == kind]
    if not found:
        other = infos[0].kind
        reader = f"; read it with cubc.lattice.{_READERS[other]}" if other in _READERS else ""
        if other == whole:
            reader = ": a list has a file for each column; give the path by itself"
        raise ValueError(f"{path}: it holds {_named(other)}, not {_named(kind)}{reader}")
    if record is None and len(found) > 1:
        raise ValueError(
            f"{path}: it holds {len(found)} fields of this kind ({kind}); choose one with record=, "
            f"from 0 to {len(found) - 1}"
        )
    index = found[_checked_record(path, kind, record, len(found))]
    return index, infos[index]


def _checked_record(path, kind, record, count):
    """Return the number of one of several fields or propagators; None is the first."""
    record = 0 if record is None else integer("record", record)
    if not 0 <= record < count:
        raise ValueError(f"{path}: record {record} of a file that holds {count} ({kind})")
    return record


def _named(kind):
    return kind if kind in ("links", "complex") else f"a {kind}"


def ranks_of(grid):
    """Return the ranks of a grid as the core takes them, or None; TypeError if it is none."""
    if grid is not None and not isinstance(grid, Grid):
        raise TypeError(f"grid is a {type(grid).__name__}: expected a Grid")
    return None if grid is None else grid._ranks


def _told(grid, work):
    """Return what a function makes of the headers, which the first of several ranks reads."""
    ranks_of(grid)
    return work() if grid is None else grid._by_first(work)


def read_field(path, kind, verify, record, project=False, grid=None):
    """Return a field of one kind, or this rank's part of it, and its `FileInfo`."""
    index, _ = _told(grid, lambda: _choose(path, kind, verify, record))
    field, said = _core.read_field(path, kind, index, _flags(verify, project), ranks_of(grid))
    return field, FileInfo(**said)


def _propagator(path, kind, verify, record, grid):
    """Read a propagator that is one field, or a field for each column."""
    columns, sources = _told(grid, lambda: _columns(path, kind, verify, record))
    if columns is None:
        return read_field(path, kind, verify, record, grid=grid)
    infos = [info for _, _, info in columns]
    ranks = (1, 1, 1, 1) if grid is None else grid.grid
    extent = [e // n for e, n in zip(infos[0].extent, ranks, strict=True)]
    wilson = kind == "propagator"
    out = np.empty((*extent[::-1], *((4, 4) if wilson else ()), 3, 3), np.complex128)
    for (of, index, info), source in zip(columns, sources, strict=True):
        place = (..., source[0], slice(None), source[1]) if wilson else (..., *source)
        out[place] = _core.read_field(of, info.kind, index, _flags(verify), ranks_of(grid))[0]
    return out, replace(infos[0], kind=kind, checksum=None, source=None)


def _columns(path, kind, verify, record):
    """Return the columns of a propagator, each as (path, index, info), and their sources.

    They are None where the propagator is one field.
    """
    column, count = ("spinor", 12) if kind == "propagator" else ("colour vector", 3)
    if isinstance(path, list | tuple):
        columns = [(p, *_choose(p, column, verify, None, whole=kind)) for p in path]
        held = f"{len(columns)} files"
        _checked_record(held, kind, record, 1)
    else:
        infos = read_info(path, verify)
        columns = [(path, k, info) for k, info in enumerate(infos) if info.kind == column]
        if not columns or any(info.kind == kind for info in infos):
            return None, None
        reader = f"cubc.lattice.{_READERS[column]}"
        held = f"{path}: {len(columns)} fields of kind {column}, of which {reader} reads each,"
        if len(columns) == 2 * count and record is None:  # each source in front of its solution
            columns = columns[1::2]
        whole, rest = divmod(len(columns), count)
        if whole > 1 and not rest and record is None:
            raise ValueError(
                f"{held} may be {whole} propagators: choose one with record=, from 0 to {whole - 1}"
            )
        if whole and not rest:
            first = count * _checked_record(path, kind, record, whole)
            columns = columns[first : first + count]
    if len(columns) != count:
        raise ValueError(f"{held} are not the {count} columns of a propagator")
    return columns, _sources_of([info for _, _, info in columns], kind == "propagator", held)


def _sources_of(infos, wilson, held):
    """Return the source of each column, all of which there are once."""
    by_rank: list[tuple[int, ...]] = [divmod(k, 3) if wilson else (k,) for k in range(len(infos))]
    sources = [info.source or rank for info, rank in zip(infos, by_rank, strict=True)]
    if sorted(sources) != by_rank:
        raise ValueError(f"{held} are not of all sources, but of {sources}")
    if any(info.extent != infos[0].extent for info in infos):
        raise ValueError(f"{held} are of different lattices")
    return sources
