"""Gauge configurations and propagators in files: ILDG, SciDAC, NERSC, MILC."""

import os
from dataclasses import dataclass

import numpy as np

from .. import _core

_LINKS, _PROPAGATOR = 0, 1
_UNVERIFIED, _PROJECTED = 1, 2
_BITS = {"single": 32, "double": 64}


@dataclass(frozen=True)
class FileInfo:
    """What a file says of the field in it.

    Attributes
    ----------
    format : str
        ``"ildg"``, ``"scidac"``, ``"nersc"`` or ``"milc"``.
    kind : str
        ``"links"`` or ``"propagator"``.
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
    data_offset, data_bytes : int
        Where the numbers are in the file.
    plaquette, link_trace : float or None
        As NERSC's header states them, 1 for unit links.
    """

    format: str
    kind: str
    extent: tuple[int, int, int, int]
    precision: str
    rows: int
    byte_order: str
    checksum: tuple[int, ...] | None
    data_offset: int
    data_bytes: int
    plaquette: float | None
    link_trace: float | None


def read_links(path, verify=True, project=False):
    """Read a gauge configuration.

    The format is recognised: ILDG and SciDAC (LIME), NERSC (three rows or two), MILC version 5; in
    single or double precision and either byte order.

    Parameters
    ----------
    path : str or os.PathLike
        A regular file. It is not trusted: what does not fit in it is an error that names the record
        and the byte, and no more memory is taken than the field itself needs.
    verify : bool
        Check everything that can be: checksums, the header's plaquette and link trace, that all
        numbers are finite, that parts of the file agree and that it ends where it should.
    project : bool
        Replace links of single precision by the SU(3) matrices nearest to them; those that are
        farther from SU(3) than 1e-4 are refused. By default links are what the file holds, and
        plaquettes those that its author measured. Links of double precision are never changed.

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
        It holds a propagator.
    """
    return _read(path, _LINKS, verify, project)


def read_propagator(path, verify=True):
    """Read a propagator from a SciDAC file, as Chroma writes them.

    Parameters
    ----------
    path : str or os.PathLike
        As for `read_links`.
    verify : bool
        As for `read_links`.

    Returns
    -------
    propagator : numpy.ndarray
        complex128 of shape (T, Z, Y, X, 4, 4, 3, 3): sink spin, source spin, sink colour, source
        colour; spins in the basis of the file, which for Chroma is DeGrand-Rossi.
    info : FileInfo
        What the file says.

    Raises
    ------
    OSError
        There is no such file, or it is damaged or of another format.
    ValueError
        It holds links.
    """
    return _read(path, _PROPAGATOR, verify, False)


def write_links(path, links, format="ildg", precision="double", rows=3):
    """Write a gauge configuration.

    The file is there when it is whole: until then its bytes are in another of the same folder. The
    same links make the same file.

    Parameters
    ----------
    path : str or os.PathLike
        A file of that name is replaced.
    links : array_like
        Complex, of shape (T, Z, Y, X, 4, 3, 3), as `read_links` gives them.
    format : {"ildg", "nersc"}
        ILDG in LIME with SciDAC's records and checksums, or NERSC.
    precision : {"double", "single"}
        Of the numbers in the file.
    rows : {3, 2}
        Of each link in the file; 2 for NERSC alone, and for links of SU(3).

    Raises
    ------
    OSError
        The file cannot be written.
    ValueError
        A wrong shape, or a number that is not finite or that the precision cannot hold.
    """
    _write(path, links, _LINKS, format, precision, rows)


def write_propagator(path, propagator, precision="double"):
    """Write a propagator to a SciDAC file that Chroma reads.

    Parameters
    ----------
    path : str or os.PathLike
        A file of that name is replaced when the new one is whole.
    propagator : array_like
        Complex, of shape (T, Z, Y, X, 4, 4, 3, 3), as `read_propagator` gives them.
    precision : {"double", "single"}
        Of the numbers in the file.

    Raises
    ------
    OSError
        The file cannot be written.
    ValueError
        A wrong shape, or a number that is not finite or that the precision cannot hold.
    """
    _write(path, propagator, _PROPAGATOR, "scidac", precision, 3)


def _read(path, kind, verify, project):
    os.stat(path)  # says in Python's own words that there is no such file
    flags = (0 if verify else _UNVERIFIED) | (_PROJECTED if project else 0)
    field, said = _core.read_field(path, kind, flags)
    return field, FileInfo(**said)


def _write(path, field, kind, format, precision, rows):
    if precision not in _BITS:
        raise ValueError(f"precision is {precision!r}, expected 'double' or 'single'")
    array = np.ascontiguousarray(field, np.complex128)
    _core.write_field(path, array, kind, format, _BITS[precision], rows)
