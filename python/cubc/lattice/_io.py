"""Gauge configurations, propagators and single fields in files of many codes."""

import os
from dataclasses import dataclass, replace

import numpy as np

from .. import _core
from .._calls import named

_UNVERIFIED, _PROJECTED = 1, 2
_BITS = {None: 0, "double": 64, "single": 32}
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
        The lattice: X, Y, Z, T.
    precision : str
        Of the numbers in the file: ``"single"`` or ``"double"``.
    rows : int
        Of a link in the file: 3, or 2 where the third follows from them.
    byte_order : str
        In the file: ``"big"`` or ``"little"``.
    checksum : tuple of int or None
        As the file states it: suma and sumb of SciDAC, sum29 and sum31 of MILC, the one of NERSC.
        None without one, and where it is not verified.
    source : tuple of int or None
        Of a column of a propagator, where the file says so: source spin and colour, or the colour
        alone.
    data_offset, data_bytes : int
        Where the numbers are in the file.
    plaquette, link_trace : float or None
        As the header states them, 1 for unit links.
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


# ---- reading -------------------------------------------------------------------------------------
@named
def read_info(path, verify=True):
    """Return what a file says of each field in it: a list of `FileInfo`, without its numbers.

    Parameters
    ----------
    path, verify
        As for `read_links`.

    Raises
    ------
    OSError
        There is no such file, or its headers are damaged or of another format.
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
        A regular file. It is not trusted: what does not fit in it is an error that names the record
        and the byte, and no more memory is taken than the field itself needs.
    verify : bool
        Check everything that can be: checksums, the header's plaquette and link trace, that all
        numbers are finite, that parts of the file agree and that it ends where it should. Without
        it the checksums of the file are not even looked at.
    project : bool
        Replace links of single precision by the SU(3) matrices nearest to them; those that are
        farther from SU(3) than 1e-4 are refused. By default links are what the file holds, and
        plaquettes those that its author measured. Links of double precision are never changed.
    record : int, optional
        Which field, from 0 on, of a file that holds several of this kind.

    Returns
    -------
    links : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 4, 3, 3): direction (x, y, z, t), row, column.
    info : FileInfo
        What the file says.

    Raises
    ------
    OSError
        There is no such file, or it is damaged or of another format.
    ValueError
        It holds no links, or several fields of them and no `record` is chosen.
    """
    return _read(path, "links", verify, record, project)


@named
def read_propagator(path, verify=True, record=None):
    """Read a propagator of Wilson quarks.

    Formats are SciDAC (LIME), as one field or as twelve spinors, also with sources between them;
    spinors of the European Twisted Mass Collaboration; MILC's own and Fermilab's.

    Parameters
    ----------
    path : str, os.PathLike or a list of these
        As for `read_links`. A list names twelve files of one column each, source spins 0 to 3 and
        within each source colours 0 to 2, which is how tmLQCD numbers them.
    verify, record
        As for `read_links`; `record` is of whole propagators.

    Returns
    -------
    propagator : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 4, 4, 3, 3): sink spin, source spin, sink colour, source
        colour; spins in the basis of the file, which for Chroma is DeGrand-Rossi.
    info : FileInfo
        What the file says; of several columns, the first.

    Raises
    ------
    OSError
        There is no such file, or it is damaged or of another format.
    ValueError
        It holds no propagator.
    """
    return _propagator(path, "propagator", verify, record)


@named
def read_spinor(path, verify=True, record=None):
    """Read a spinor: a column of a propagator, a source, an eigenvector.

    Parameters
    ----------
    path, verify, record
        As for `read_links`; of the formats of `read_propagator`.

    Returns
    -------
    spinor : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 4, 3): spin, in the basis of the file, and colour.
    info : FileInfo

    Raises
    ------
    OSError, ValueError
        As `read_links`.
    """
    return _read(path, "spinor", verify, record)


@named
def read_staggered_propagator(path, verify=True, record=None):
    """Read a propagator of staggered quarks.

    Formats are SciDAC (LIME), as one field or as three colour vectors, also with sources between
    them, MILC's own and Fermilab's.

    Parameters
    ----------
    path, verify, record
        As for `read_propagator`.

    Returns
    -------
    propagator : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 3, 3): sink colour, source colour.
    info : FileInfo

    Raises
    ------
    OSError, ValueError
        As `read_propagator`.
    """
    return _propagator(path, "staggered propagator", verify, record)


@named
def read_colour_vector(path, verify=True, record=None):
    """Read a colour vector: a column of a staggered propagator, a source, an eigenvector.

    Parameters
    ----------
    path, verify, record
        As for `read_links`; of the formats of `read_staggered_propagator`.

    Returns
    -------
    vector : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 3).
    info : FileInfo

    Raises
    ------
    OSError, ValueError
        As `read_links`.
    """
    return _read(path, "colour vector", verify, record)


def _flags(verify, project=False):
    return (0 if verify else _UNVERIFIED) | (_PROJECTED if project else 0)


def _choose(path, kind, verify, record):
    """Return the index of the field in the file, and what the file says of it."""
    infos = read_info(path, verify)
    found = [k for k, info in enumerate(infos) if info.kind == kind]
    if not found:
        other = infos[0].kind
        reader = f"; read it with cubc.lattice.{_READERS[other]}" if other in _READERS else ""
        raise ValueError(f"{path}: it holds {_named(other)}, not {_named(kind)}{reader}")
    if record is None and len(found) > 1:
        raise ValueError(
            f"{path}: it holds {len(found)} fields of this kind ({kind}); choose one with record=, "
            f"from 0 to {len(found) - 1}"
        )
    if not 0 <= (record or 0) < len(found):
        raise ValueError(f"{path}: record {record} of a file that holds {len(found)} ({kind})")
    index = found[record or 0]
    return index, infos[index]


def _named(kind):
    return kind if kind in ("links", "complex") else f"a {kind}"


def _read(path, kind, verify, record, project=False):
    index, _ = _choose(path, kind, verify, record)
    field, said = _core.read_field(path, kind, index, _flags(verify, project))
    return field, FileInfo(**said)


def _propagator(path, kind, verify, record):
    """Read a propagator that is one field, or one column after the other."""
    column, count = ("spinor", 12) if kind == "propagator" else ("colour vector", 3)
    if isinstance(path, list | tuple):
        columns = [(p, *_choose(p, column, verify, None)) for p in path]
        held = f"{len(columns)} files"
    else:
        infos = read_info(path, verify)
        columns = [(path, k, info) for k, info in enumerate(infos) if info.kind == column]
        if not columns or any(info.kind == kind for info in infos):
            return _read(path, kind, verify, record)
        if len(columns) == 2 * count:  # each source in front of its solution
            columns = columns[1::2]
        held = f"{path}: {len(columns)} fields of kind {column}"
    if len(columns) != count:
        raise ValueError(f"{held} are not the {count} columns of a propagator")
    return _joined(columns, kind, held, verify)


def _joined(columns, kind, held, verify):
    """Return the propagator of these columns, (path, index, info) of each."""
    infos = [info for _, _, info in columns]
    wilson = kind == "propagator"
    by_rank: list[tuple[int, ...]] = [divmod(k, 3) if wilson else (k,) for k in range(len(columns))]
    sources = [info.source or rank for info, rank in zip(infos, by_rank, strict=True)]
    if sorted(sources) != by_rank:
        raise ValueError(f"{held} are not of all sources, but of {sources}")
    if any(info.extent != infos[0].extent for info in infos):
        raise ValueError(f"{held} are of different lattices")
    shape = (*infos[0].extent[::-1], *((4, 4) if wilson else ()), 3, 3)
    out = np.empty(shape, np.complex128)
    for (path, index, info), source in zip(columns, sources, strict=True):
        place = (..., source[0], slice(None), source[1]) if wilson else (..., *source)
        out[place] = _core.read_field(path, info.kind, index, _flags(verify))[0]
    return out, replace(infos[0], kind=kind, checksum=None, source=None)


# ---- writing -------------------------------------------------------------------------------------
@named
def write_links(path, links, format="ildg", precision=None, rows=3):
    """Write a gauge configuration.

    The file is there when it is whole: until then its bytes are in another of the same folder. The
    same links make the same file.

    Parameters
    ----------
    path : str or os.PathLike
        A file of that name is replaced.
    links : array_like
        Complex, of shape (T, Z, Y, X, 4, 3, 3), as `read_links` gives them.
    format : {"ildg", "scidac", "nersc", "milc"}
        ILDG in LIME with SciDAC's records and checksums, SciDAC alone, NERSC, or MILC version 5.
    precision : {"double", "single"}, optional
        Of the numbers in the file. By default double; MILC's files are of single precision.
    rows : {3, 2}
        Of each link in the file; 2 for NERSC alone, and for links of SU(3).

    Raises
    ------
    OSError
        The file cannot be written.
    ValueError
        A wrong shape, or a number that is not finite or that the precision cannot hold.
    """
    _write(path, links, "links", precision, format, rows)


@named
def write_propagator(path, propagator, precision=None):
    """Write a propagator to a SciDAC file that Chroma reads.

    Parameters
    ----------
    path : str or os.PathLike
        A file of that name is replaced when the new one is whole.
    propagator : array_like
        Complex, of shape (T, Z, Y, X, 4, 4, 3, 3), as `read_propagator` gives them.
    precision : {"double", "single"}, optional
        Of the numbers in the file; double by default.

    Raises
    ------
    OSError
        The file cannot be written.
    ValueError
        A wrong shape, or a number that is not finite or that the precision cannot hold.
    """
    _write(path, propagator, "propagator", precision)


@named
def write_spinor(path, spinor, precision=None):
    """Write a spinor to a SciDAC file: of shape (T, Z, Y, X, 4, 3); see `write_propagator`."""
    _write(path, spinor, "spinor", precision)


@named
def write_staggered_propagator(path, propagator, precision=None):
    """Write a staggered propagator to a SciDAC file; see `write_propagator`.

    Its shape is (T, Z, Y, X, 3, 3): sink colour, source colour.
    """
    _write(path, propagator, "staggered propagator", precision)


@named
def write_colour_vector(path, vector, precision=None):
    """Write a colour vector to a SciDAC file: of shape (T, Z, Y, X, 3); see `write_propagator`."""
    _write(path, vector, "colour vector", precision)


def _write(path, field, kind, precision, format=None, rows=3):
    if precision not in _BITS:
        raise ValueError(f"precision is {precision!r}, expected 'double' or 'single'")
    array = np.ascontiguousarray(field, np.complex128)
    _core.write_field(path, array, kind, format, _BITS[precision], rows)
