"""Writing files of gauge configurations, propagators and single fields."""

import os

import numpy as np

from .. import _core
from .. import _outputs as outputs
from .._calls import named
from ._fields import MARGIN, on_host
from ._io import ranks_of

_BITS = {None: 0, "double": 64, "single": 32}


@named
def write_links(path, links, format="ildg", precision=None, rows=3):
    """Write a gauge configuration.

    The file appears when it is complete; until then its bytes are in another file of the folder.
    The same links give the same file.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the file, which replaces a file of fields of that name.
    links : array_like
        Complex array of shape (T, Z, Y, X, 4, 3, 3), as `read_links` returns it.
    format : {"ildg", "scidac", "nersc", "milc"}
        Format: ILDG (LIME with SciDAC's records and checksums), SciDAC without ILDG's records,
        NERSC, or MILC version 5.
    precision : {"double", "single"}, optional
        Precision of the numbers in the file; by default double, and single for MILC.
    rows : {3, 2}
        Rows of each link in the file. 2 is possible for NERSC, if the links are in SU(3).

    Raises
    ------
    FileExistsError
        If a file of another kind is there: only files of fields are replaced.
    OSError
        If the file cannot be written.
    ValueError
        For a wrong shape, or a number that is not finite or that the precision cannot hold.

    Examples
    --------
    >>> links = lattice.Gauge.unit((8, 4, 6, 2)).links().numpy()
    >>> lattice.write_links("unit.nersc", links, format="nersc", rows=2)
    >>> lattice.read_info("unit.nersc")[0].rows
    2
    """
    _write(path, links, "links", precision, format, rows)


@named
def write_propagator(path, propagator, precision=None, grid=None):
    """Write a propagator to a SciDAC file that Chroma reads.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the file, which replaces a file of fields of that name when it is complete.
    propagator : array_like
        Complex array of shape (T, Z, Y, X, 4, 4, 3, 3), as `read_propagator` returns it.
    precision : {"double", "single"}, optional
        Precision of the numbers in the file; by default double.
    grid : Grid, optional
        Ranks over which the lattice is cut. All of them call this, each with its part, which it
        writes; the bytes of the file are those that one rank writes.

    Raises
    ------
    FileExistsError
        If a file of another kind is there: only files of fields are replaced.
    OSError
        If the file cannot be written.
    ValueError
        For a wrong shape, or a number that is not finite or that the precision cannot hold.

    Examples
    --------
    >>> s = np.ones((2, 2, 2, 2, 4, 4, 3, 3), complex)
    >>> lattice.write_propagator("s.lime", s, precision="single")
    >>> lattice.read_info("s.lime")[0].precision
    'single'
    """
    _write(path, propagator, "propagator", precision, grid=grid)


@named
def write_spinor(path, spinor, precision=None, grid=None):
    """Write a spinor to a SciDAC file.

    Parameters
    ----------
    path, precision, grid
        As for `write_propagator`.
    spinor : array_like
        Complex array of shape (T, Z, Y, X, 4, 3), as `read_spinor` returns it.

    Raises
    ------
    FileExistsError
        If a file of another kind is there: only files of fields are replaced.
    OSError
        If the file cannot be written.
    ValueError
        For a wrong shape, or a number that is not finite or that the precision cannot hold.

    Examples
    --------
    >>> lattice.write_spinor("ones.lime", np.ones((2, 2, 2, 2, 4, 3), complex))
    >>> lattice.read_info("ones.lime")[0].format
    'scidac'
    """
    _write(path, spinor, "spinor", precision, grid=grid)


@named
def write_staggered_propagator(path, propagator, precision=None, format="scidac", grid=None):
    """Write a propagator of staggered quarks.

    Parameters
    ----------
    path : str or os.PathLike
        Path of the file, which replaces a file of fields of that name when it is complete.
    propagator : array_like
        Complex array of shape (T, Z, Y, X, 3, 3), as `read_staggered_propagator` returns it.
    precision : {"double", "single"}, optional
        Precision of the numbers in the file; by default double, and single for all but SciDAC,
        which have no other.
    format : {"scidac", "milc-prop", "fermilab"}
        Format: SciDAC (LIME, one field), or one of the two of MILC's programs, which read them:
        its own, with a checksum for each source colour, or Fermilab's, without.
    grid : Grid, optional
        As for `write_propagator`.

    Raises
    ------
    FileExistsError
        If a file of another kind is there: only files of fields are replaced.
    OSError
        If the file cannot be written.
    ValueError
        For a wrong shape, or a number that is not finite or that the precision cannot hold.

    Examples
    --------
    >>> s = np.ones((2, 2, 2, 2, 3, 3), complex)
    >>> lattice.write_staggered_propagator("s.lime", s)
    >>> lattice.read_info("s.lime")[0].kind
    'staggered propagator'
    """
    _write(path, propagator, "staggered propagator", precision, format, grid=grid)


@named
def write_colour_vector(path, vector, precision=None, grid=None):
    """Write a colour vector to a SciDAC file.

    Parameters
    ----------
    path, precision, grid
        As for `write_propagator`.
    vector : array_like
        Complex array of shape (T, Z, Y, X, 3), as `read_colour_vector` returns it.

    Raises
    ------
    FileExistsError
        If a file of another kind is there: only files of fields are replaced.
    OSError
        If the file cannot be written.
    ValueError
        For a wrong shape, or a number that is not finite or that the precision cannot hold.

    Examples
    --------
    >>> lattice.write_colour_vector("v.lime", np.ones((2, 2, 2, 2, 3), complex))
    >>> lattice.read_info("v.lime")[0].kind
    'colour vector'
    """
    _write(path, vector, "colour vector", precision, grid=grid)


_FIELD = outputs.Kind("file of fields", _core.is_field_file)


def _prepared(path, field, precision, grid):
    """Return the array that a function gives, once the path and the precision are in order.

    Ranks meet here: an error of one is raised on all, before the others wait for its part.
    """

    def made():
        if precision not in tuple(_BITS):
            raise ValueError(f"precision is {precision!r}, expected 'double' or 'single'")
        if isinstance(path, str | os.PathLike) and os.path.isfile(path):
            outputs.check(path, _FIELD)
        return np.ascontiguousarray(on_host(field()), np.complex128)

    ranks_of(grid)  # refuses what is no Grid
    return made() if grid is None else grid._agreed(made)


def _write(path, field, kind, precision, format=None, rows=3, grid=None):
    array = _prepared(path, lambda: field, precision, grid)
    _core.write_field(path, array, kind, format, _BITS[precision], rows, ranks_of(grid))


def write_part(path, links, format, precision, grid, around):
    """Write this rank's part of links, with the bytes of one rank; all ranks call it.

    Parameters
    ----------
    links : callable
        Returns the part.
    around : callable
        Returns the part with `MARGIN` of the neighbours' sites on each side of the directions that
        ranks are along: plaquettes of the header reach them.
    """
    array = _prepared(path, links, precision, grid)
    measured: tuple[tuple[float, float], ...] = ()
    if format == "nersc" and grid.size > 1:
        measured = (_core.measure_links(grid._agreed(around), MARGIN, grid._ranks),)
    given = array, "links", format, _BITS[precision], 3, grid._ranks
    _core.write_field(path, *given, *measured)
