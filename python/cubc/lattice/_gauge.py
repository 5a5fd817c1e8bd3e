"""Gauge fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import _core
from .._calls import named, truth
from .._core import call
from .._html import table
from . import _gauge_starts, _gauge_write, _observables, _rotations, _updates
from ._fields import (
    NATIVE,
    PLAIN,
    as_complex,
    device_output,
    extent_fields,
    on_host,
    precision_type,
    returned,
)
from ._gauge_checks import into_su3
from ._grid import Grid
from ._team import Team, checked_grid, refuse_of_one_device


class Gauge:
    """Gauge field on a periodic lattice, in the memory of a device.

    Parameters
    ----------
    links : array_like
        SU(3) matrices ``[t][z][y][x][direction][row][column]``, complex128 or complex64, of the
        links from each site in the directions x, y, z, t. All extents are even. The matrices are
        kept with their rounding errors.
    device : str, optional
        Device that holds the field: "cuda:0", "cpu". By default that of `links`, and if they are in
        host memory that of `grid`, or else the default device.
    project : bool
        True replaces each link by the SU(3) matrix nearest to it; see `Gauge.project`.
    grid : Grid or tuple of int, optional
        Ranks over which the lattice is cut: `links` are this rank's part, and so are the fields of
        operators. All ranks make the same calls. Or a tuple, (1, 1, 1, 2): ranks of this process,
        a thread and a device for each. Links and fields are then those of the whole lattice, and go
        by the host.
    devices : sequence of str, optional
        Devices of the ranks of this process; by default all GPUs, or "cpu", "cpu:1" and so on.
    stream : optional
        As for `cubc.reduce`. The call returns when the links have been checked.

    Attributes
    ----------
    extent : tuple of int
        Sites of the lattice, or of this rank's part, along X, Y, Z, T.
    grid : Grid or None
        Ranks over which the lattice is cut.
    device : str
        Device that holds the field.
    version : int
        Number of changes of the links; results computed from them are kept for one version.

    Raises
    ------
    ValueError
        If the shape is not that of a gauge field; if an extent is odd; if a link is not in SU(3),
        which means that an element of U U^+ - 1, or det U - 1, is NaN or above 1e-4 in magnitude.
    TypeError
        If the links are not complex.

    Notes
    -----
    Operators have boundary conditions and anisotropy, so that links stay in SU(3).

    Examples
    --------
    >>> links = np.zeros((2, 6, 4, 8, 4, 3, 3), complex)  # T, Z, Y, X, direction, row, column
    >>> links[...] = np.eye(3)
    >>> u = lattice.Gauge(links)
    >>> u, u.device, u.plaquette()[0]
    (Gauge(8x4x6x2 on cpu), 'cpu', 1.0)
    """

    _temporal_at: int | None = None  # the version that was found to be in temporal gauge

    @named
    def __init__(
        self,
        links: Any,
        *,
        device: Any = None,
        project: bool = False,
        grid: Grid | Sequence[int] | None = None,
        devices: Sequence[str] | None = None,
        stream: Any = None,
    ):
        project = truth("project", project)
        self.grid: Grid | None = None
        self.team: Team | None = None
        self._packed: dict[tuple[int, str], Any] = {}
        self.version = 0
        ranks, grid = checked_grid(grid, devices)
        if ranks is not None:
            refuse_of_one_device(device=device, stream=stream)
            self._cut(links, ranks, devices, project)
            return
        if grid is not None and device is None:
            device = grid.device
        links = as_complex(links, "links", device, stream)
        if links.ndim != 7 or tuple(links.shape[4:]) != (4, 3, 3):
            raise ValueError(
                f"links of shape {tuple(links.shape)}: expected (T, Z, Y, X, 4, 3, 3), a matrix "
                "for each direction x, y, z, t"
            )
        self._take(links, stream)
        self.grid = grid
        into_su3(self, stream, project)

    def _take(self, links: Any, stream: Any) -> None:
        t, z, y, x = links.shape[:4]
        self.extent: tuple[int, int, int, int] = (x, y, z, t)
        given = {
            "from": links,
            "to": ("float64", (2 * links.size,), None),
            "from_order": PLAIN,
            "to_order": NATIVE,
            "from_reals": 18,
            "to_reals": 18,
            **extent_fields(self.extent),
        }
        self._native = call("link_copy", given, stream=stream)[0]

    def _cut(self, links: Any, grid: Sequence[int], devices: Any, project: bool) -> None:
        """Give the ranks of this process their parts."""
        team = Team(grid, devices)
        cuts = team.parts(on_host(links), 0)
        self._take_parts(
            team, lambda rank: Gauge(cuts[rank], grid=team.ranks[rank], project=project)
        )

    def _take_parts(self, team: Team, make: Callable[[int], Gauge]) -> None:
        """Make the parts of the ranks of this process."""
        self.parts: list[Gauge] = team.run(make)
        grid = team.ranks[0].grid
        x, y, z, t = (e * n for e, n in zip(self.parts[0].extent, grid, strict=True))
        self.extent, self.team = (x, y, z, t), team

    @classmethod
    def _of_team(cls, team: Team, make: Callable[[int], Gauge]) -> Gauge:
        """Return the field of ranks of this process, each of which makes its part."""
        made = cls.__new__(cls)
        made.grid, made._packed, made.version = None, {}, 0
        made._take_parts(team, make)
        return made

    unit = classmethod(_gauge_starts.unit)
    random = classmethod(_gauge_starts.random)
    plaquette = _observables.plaquette
    plaquettes = _observables.plaquettes
    link_trace = _observables.link_trace
    polyakov = _observables.polyakov
    unitarity = _observables.unitarity
    transform = _rotations.transform
    temporal_gauge = _rotations.temporal_gauge
    project = _updates.project
    update = _updates.update
    write = _gauge_write.write

    @classmethod
    @named
    def from_native(
        cls, links: Any, extent: tuple[int, int, int, int], *, grid: Grid | None = None
    ) -> Gauge:
        """Return a field of links in native order, which are neither copied nor checked.

        Parameters
        ----------
        links : cubc.Array
            float64 of 72 reals a site, as `native` returns them for 18 reals.
        extent : tuple of int
            Sites along X, Y, Z, T, of the lattice or of this rank's part.
        grid : Grid, optional
            Ranks over which the lattice is cut, of which the links are this rank's part.

        Returns
        -------
        Gauge
            Field that has `links` for its memory. Call `changed` after writing to it.

        Examples
        --------
        >>> u = lattice.Gauge.unit((8, 4, 6, 2))
        >>> lattice.Gauge.from_native(u.native(), u.extent).plaquette()[0]
        1.0
        """
        made = cls.__new__(cls)
        made.extent, made._native, made._packed, made.version = extent, links, {}, 0
        made.grid, made.team = grid, None
        return made

    @property
    def device(self) -> str:
        """Name of the device that holds the links, or of those of the ranks."""
        if self.team is not None:
            return ", ".join(self.team.devices)
        return self._native.device

    def __repr__(self) -> str:
        return f"Gauge({'x'.join(map(str, self.extent))} on {self.device})"

    def _repr_html_(self) -> str:
        x, y, z, t = self.extent
        row = [x, y, z, t, x * y * z * t, self.device, self.version]
        return table(["X", "Y", "Z", "T", "sites", "device", "version"], [row], "Gauge field")

    @named
    def native(self, reconstruct: int = 18, precision: str = "double", stream: Any = None) -> Any:
        """Return the links in native order; they are kept for later calls.

        On a `Grid` they are this rank's part. ``cubc/lattice.h`` describes the order.

        Parameters
        ----------
        reconstruct : 18, 12, 8 or 13
            Number of reals of a link, as for `Wilson`, or 13 as for the long links of `Asqtad`.
        precision : "double", "single" or "half"
            Precision of the reals: float64, float32, or int16 in fixed point.
        stream : optional
            As for `cubc.reduce`.

        Returns
        -------
        cubc.Array
            Array of one dimension with ``4 * reconstruct`` reals a site. With 18 reals in double
            precision it is the field's own memory, else a copy that is dropped when the links
            change.

        Raises
        ------
        ValueError
            If `reconstruct` or `precision` is none of those above.
        TypeError
            If the links are those of ranks of this process, which are on several devices.

        Examples
        --------
        >>> u = lattice.Gauge.unit((8, 4, 6, 2))
        >>> u.native().size == 72 * 8 * 4 * 6 * 2
        True
        """
        if self.team is not None:
            raise TypeError(
                "links of ranks of this process are on several devices, and not one array: links() "
                "returns those of the whole lattice"
            )
        key = (reconstruct, precision_type(precision))
        if key == (18, "float64"):
            return self._native
        if key not in self._packed:
            given = {
                "from": self._native,
                "to": (key[1], (self._native.size // 18 * reconstruct,), None),
                "from_order": NATIVE,
                "to_order": NATIVE,
                "from_reals": 18,
                "to_reals": reconstruct,
                **extent_fields(self.extent),
            }
            self._packed[key] = call("link_copy", given, stream=stream)[0]
        return self._packed[key]

    @named
    def copy(self, *, stream: Any = None) -> Gauge:
        """Return another field with the same links.

        Parameters
        ----------
        stream : optional
            As for `cubc.reduce`.

        Returns
        -------
        Gauge
            Field with memory of its own, on the same device or ranks.

        Raises
        ------
        TypeError
            If `stream` is none.
        DeviceMemoryError
            If memory does not suffice.

        Examples
        --------
        >>> u = lattice.Gauge.unit((8, 4, 6, 2))
        >>> u.copy().native() is u.native()
        False
        """
        if self.team is not None:
            refuse_of_one_device(stream=stream)
            return Gauge._of_team(self.team, lambda rank: self.parts[rank].copy())
        return Gauge.from_native(
            _core.transform("u", u=self._native, stream=stream), self.extent, grid=self.grid
        )

    def __copy__(self) -> Gauge:  # a version counts the changes of one field's links
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Gauge:
        return self.copy()

    def changed(self) -> None:
        """Drop everything computed from the links; call this after writing to the native links.

        Examples
        --------
        >>> u = lattice.Gauge.unit((8, 4, 6, 2))
        >>> u.changed()
        >>> u.version
        1
        """
        self._packed.clear()
        self.version += 1

    @named
    def links(self, *, out: Any = None, stream: Any = None) -> Any:
        """Return the links as an array ``[t][z][y][x][direction][row][column]``.

        Parameters
        ----------
        out : array, optional
            Array for the links, complex128; it may be one of NumPy.
        stream : optional
            As for `cubc.reduce`; not for a field over ranks of this process.

        Returns
        -------
        cubc.Array or out
            Copy of the links, complex128 of shape ``(T, Z, Y, X, 4, 3, 3)``, on the device of the
            field. On a `Grid` it is that of this rank's part. A field over ranks of this process
            gives those of the whole lattice, on the first one's device.

        Raises
        ------
        ValueError, TypeError
            If `out` has another shape or another type.

        Examples
        --------
        >>> u = lattice.Gauge.unit((8, 4, 6, 2))
        >>> u.links().shape
        (2, 6, 4, 8, 4, 3, 3)
        """
        if self.team is not None:
            refuse_of_one_device(stream=stream)
            whole = self.team.joined(self.team.run(lambda rank: self.parts[rank].links()))
            to = device_output(out, whole.shape, whole.dtype)
            if to is not None:
                _core.transform("u", out=to, u=whole, stream=stream)
            return returned(whole, whole, out)
        x, y, z, t = self.extent
        shape = t, z, y, x, 4, 3, 3
        given = {
            "from": self._native,
            "to": ("complex128", shape, device_output(out, shape, np.dtype(complex))),
            "from_order": NATIVE,
            "to_order": PLAIN,
            "from_reals": 18,
            "to_reals": 18,
            **extent_fields(self.extent),
        }
        return returned(self._native, call("link_copy", given, stream=stream)[0], out)

    @classmethod
    def _unchecked(cls, links: np.ndarray, grid: Grid | None, device: Any) -> Gauge:
        """Return the field of any matrices, of which links are made or which are checked later."""
        made = cls.__new__(cls)
        made.grid, made.team, made._packed, made.version = grid, None, {}, 0
        made._take(as_complex(links, "links", device, None), None)
        return made
