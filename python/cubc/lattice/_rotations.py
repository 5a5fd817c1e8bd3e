"""Gauge rotations: an SU(3) matrix g(x) for each site, applied to links and spinors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._calls import named, truth
from .._core import call
from ._fields import (
    MARGIN,
    NEAR,
    Spinors,
    as_complex,
    copied_part,
    extent_fields,
    integer,
    is_half,
    is_on_host,
    on_host,
    pack,
    reals_of,
    site_of,
    sites_along,
    unpack,
)
from ._gauge_margins import inside
from ._team import refuse_of_one_device

if TYPE_CHECKING:
    from ._gauge import Gauge
    from ._grid import Grid


class Rotation:
    """Gauge rotation, in the memory of a device. On a `Grid` it is that of a rank's part.

    ``g(psi)`` is g psi, of spinors, or of colour vectors with ``kind="colour vector"``.
    ``gauge.transform(g)`` has the links g(x) U_mu(x) g(x + mu)^+. An operator D on a field and D'
    on the rotated field fulfil D' g = g D.

    Parameters
    ----------
    matrices : array_like
        SU(3) matrices ``[t][z][y][x][row][column]``, complex.
    device : str, optional
        Device that holds them; by default the default device.

    Attributes
    ----------
    extent : tuple of int
        Sites of the lattice along X, Y, Z, T.

    Raises
    ------
    ValueError
        If the shape is not that of a field of matrices; if a matrix is not in SU(3), which means
        that an element of g g^+ - 1, or det g - 1, is NaN or above 1e-4 in magnitude.

    Examples
    --------
    >>> g = lattice.Rotation.random((8, 4, 6, 2), seed=2)
    >>> g.device
    'cpu'
    >>> u = lattice.Gauge.unit((8, 4, 6, 2)).transform(g)  # a pure gauge
    >>> print(np.round(u.plaquette(), 12))
    [1. 1. 1.]
    """

    @named
    def __init__(self, matrices: Any, *, device: Any = None):
        plain = np.asarray(on_host(matrices), np.complex128)
        if plain.ndim != 6 or plain.shape[4:] != (3, 3):
            raise ValueError(
                f"matrices of shape {plain.shape}: expected (T, Z, Y, X, 3, 3), one for each site"
            )
        with np.errstate(invalid="ignore"):  # NaN is refused below
            unitarity = np.abs(plain @ plain.conj().swapaxes(-1, -2) - np.eye(3)).max(initial=0)
            defect = max(unitarity, np.abs(np.linalg.det(plain) - 1).max(initial=0))
        if not defect <= NEAR:
            raise ValueError(
                f"the matrices are not in SU(3): g g^+ or det g is {defect:.2g} away from 1, and "
                f"{NEAR:g} is the most that is taken for rounding"
            )
        t, z, y, x = plain.shape[:4]
        if any(n % 2 or not n for n in plain.shape[:4]):
            raise ValueError(f"a lattice of {x}x{y}x{z}x{t} sites: extents are even numbers")
        self.extent: tuple[int, int, int, int] = (x, y, z, t)
        # The native order, in chunks of one complex number.
        parts = [plain[sites].reshape(-1, 9).T for sites in _parities(self.extent)]
        reals = np.ascontiguousarray(parts).view(np.float64).reshape(-1)
        self._native = _core.asarray(reals, device=device)

    @classmethod
    @named
    def from_native(cls, matrices: Any, extent: tuple[int, int, int, int]) -> Rotation:
        """Return the rotation of matrices in native order, a device array that is not copied.

        Examples
        --------
        >>> g = lattice.Rotation.random((8, 4, 6, 2))
        >>> lattice.Rotation.from_native(g._native, g.extent)
        Rotation(8x4x6x2 on cpu)
        """
        made = cls.__new__(cls)
        made.extent, made._native = extent, matrices
        return made

    @classmethod
    @named
    def random(
        cls,
        extent: tuple[int, int, int, int],
        seed: int = 1,
        *,
        device: Any = None,
        grid: Grid | None = None,
    ) -> Rotation:
        """Return random matrices of Haar's measure, on a lattice of `extent` X, Y, Z, T.

        Parameters
        ----------
        seed, device
            As for `Gauge.random`.
        grid : Grid, optional
            Ranks over which the lattice of `extent` is cut: the matrices are those of this rank's
            part of it.

        Raises
        ------
        ValueError
            If an extent is odd, or the seed is out of range.

        Examples
        --------
        >>> lattice.Rotation.random((8, 4, 6, 2))
        Rotation(8x4x6x2 on cpu)
        """
        extent, seed = sites_along(extent), integer("seed", seed)
        if grid is not None:
            extent = grid._extent_of_part(extent)
            device = grid.device if device is None else device
        matrices = _core.empty((18 * math.prod(extent),), "float64", device=device)
        fill(matrices, 1, extent, seed, 0, 1, grid)
        return cls.from_native(matrices, extent)

    @property
    def device(self) -> str:
        """Name of the device that holds the matrices."""
        return self._native.device

    def __repr__(self) -> str:
        return f"Rotation({'x'.join(map(str, self.extent))} on {self.device})"

    def numpy(self) -> np.ndarray:
        """Return the matrices, complex128 ``[t][z][y][x][row][column]``, in host memory.

        Examples
        --------
        >>> lattice.Rotation.random((8, 4, 6, 2)).numpy().shape
        (2, 6, 4, 8, 3, 3)
        """
        plain = np.empty((*self.extent[::-1], 3, 3), np.complex128)
        native = self._native.numpy().view(np.complex128).reshape(2, 9, -1)
        for sites, part in zip(_parities(self.extent), native, strict=True):
            plain[sites] = part.T.reshape(-1, 3, 3)
        return plain

    def __call__(
        self, psi: Any, *, inverse: bool = False, kind: str = "spinor", stream: Any = None
    ) -> Any:
        """Rotate spinors, or colour vectors.

        Parameters
        ----------
        psi : array_like
            Spinors, complex128 or complex64 of shape ``(..., T, Z, Y, X, 4, 3)``, or colour vectors
            of shape ``(..., T, Z, Y, X, 3)``.
        inverse : bool
            True rotates by g^+, which undoes the rotation by g.
        kind : "spinor" or "colour vector"
            Kind of field, as for `point_source`.
        stream : optional
            As for `cubc.reduce`.

        Returns
        -------
        array
            g psi, of the shape and type of `psi`.
        """
        inverse = truth("inverse", inverse)
        site = site_of(kind)
        there = as_complex(psi, "the field", self.device, stream)
        if is_half(there.shape, self.extent, site):
            raise ValueError("sites of both parities are rotated together")
        field = pack(there, self.extent, "double", stream, site)
        reals = reals_of(site)
        data = rotated(self._native, self.extent, field.data, reals, stream, inverse=inverse)
        result = Spinors(data, None, field.extent, field.fields, site)
        return _like(psi, unpack(result, there, stream=stream))


@named
def transform(
    gauge: Gauge, rotation: Rotation, *, inverse: bool = False, stream: Any = None
) -> Gauge:
    """Return the rotated field, whose links are g(x) U_mu(x) g(x + mu)^+.

    Parameters
    ----------
    rotation : Rotation
        Rotation g, of the same lattice; on a `Grid` of the same part. All ranks call this.
    inverse : bool
        True rotates by g^+, which undoes the rotation by g.
    stream : optional
        As for `cubc.reduce`.

    Returns
    -------
    Gauge
        Another field, on the same device or ranks.

    Raises
    ------
    TypeError
        If `rotation` is no `Rotation`.
    ValueError
        If the rotation is of another lattice.

    Examples
    --------
    >>> u = lattice.Gauge.unit((8, 4, 6, 2))
    >>> g = lattice.Rotation.random(u.extent)
    >>> back = u.transform(g).transform(g, inverse=True)
    >>> abs(back.links().numpy() - u.links().numpy()).max() < 1e-12
    np.True_
    """
    if not isinstance(rotation, Rotation):
        raise TypeError(
            f"expected a Rotation, not {type(rotation).__name__}: Rotation(matrices) makes one"
        )
    if rotation.extent != gauge.extent:
        raise ValueError(f"{rotation!r} and {gauge!r} are of different lattices")
    if (team := gauge.team) is not None:
        refuse_of_one_device(stream=stream)
        given = team.parts(rotation.numpy(), 0)
        return gauge._of_team(
            team,
            lambda rank: transform(
                gauge.parts[rank],
                Rotation(given[rank], device=team.devices[rank]),
                inverse=inverse,
            ),
        )
    return _with_links(gauge, rotation, stream, inverse=inverse)


def _with_links(gauge: Gauge, g: Rotation, stream: Any, **options: int) -> Gauge:
    """Return the rotated field; g of the sites above a part comes from the neighbours."""
    grid = gauge.grid
    if grid is None or not grid._cut:
        links = rotated(g._native, g.extent, gauge.native(), 72, stream, **options)
        return gauge.from_native(links, gauge.extent, grid=grid)
    extent = grid._surrounded(gauge.extent, MARGIN)
    matrices = grid._around(g._native, gauge.extent, 18, MARGIN, stream)
    to = "float64", (72 * math.prod(extent),), None
    links = copied_part(gauge.native(), to, extent, 72, stream, cut=grid._cut, margin=MARGIN)
    links = rotated(matrices, extent, links, 72, stream, **options)
    return gauge.from_native(
        inside(gauge, links, extent, 72, stream=stream), gauge.extent, grid=grid
    )


@named
def temporal_gauge(gauge: Gauge, *, stream: Any = None) -> tuple[Gauge, Rotation]:
    """Return the field in temporal gauge: links in time are 1, except in the last time slice.

    On a `Grid` all ranks call it, and the rotation is that of this rank's part. The rotation of a
    time slice goes from one rank to the next by the hosts.

    Returns
    -------
    tuple
        Rotated field, and the `Rotation` g. A solution on the rotated field is g psi, where psi is
        the solution on this field: ``g(x, inverse=True)`` returns to it.

    Raises
    ------
    TypeError
        If `stream` is none.
    ValueError
        If the field was made of native links that no such lattice has.
    TimeoutError
        If a rank of a `Grid` waits in vain for another.
    DeviceMemoryError
        If memory does not suffice.

    Examples
    --------
    >>> u = lattice.Gauge.random((8, 4, 6, 2))
    >>> fixed, g = u.temporal_gauge()
    >>> print(fixed.links().numpy()[0, 0, 0, 0, 3].real.round(12))  # a link in time
    [[1. 0. 0.]
     [0. 1. 0.]
     [0. 0. 1.]]
    """
    if (team := gauge.team) is not None:
        refuse_of_one_device(stream=stream)
        made = team.run(lambda rank: temporal_gauge(gauge.parts[rank]))
        whole = team.whole([g.numpy() for _, g in made], 0)
        fixed = gauge._of_team(team, lambda rank: made[rank][0])
        return fixed, Rotation(whole, device=team.devices[0])
    given = {
        "links": gauge.native(),
        "out": ("float64", (gauge.native().size // 4,), None),
        **extent_fields(gauge.extent),
    }
    grid = gauge.grid
    if grid is None or grid.grid[3] == 1:
        made = call("gauge_temporal", given, stream=stream)[0]
    else:
        made = _temporal_of_ranks(gauge, grid, given, stream)
    g = Rotation.from_native(made, gauge.extent)
    behind = 0
    if grid is not None and grid._cut >> 3:
        behind = MARGIN if grid.place[3] == grid.grid[3] - 1 else -1
    return _with_links(gauge, g, stream, temporal_gauge=True, slices_behind=behind), g


def _temporal_of_ranks(gauge: Gauge, grid: Grid, given: dict[str, Any], stream: Any) -> Any:
    """Return the rotation of this part, whose first slice follows from the rank before it."""
    slice_sites = math.prod(gauge.extent[:3])
    edge = np.broadcast_to(np.eye(3, dtype=complex), (slice_sites, 3, 3))
    made = None
    for place in range(grid.grid[3]):
        if place == grid.place[3]:
            reals = np.ascontiguousarray(edge).view(np.float64).ravel()
            there = _core.asarray(reals, device=gauge.device, stream=stream)
            given["edge"] = ("float64", (there.size,), there)
            made, there = call("gauge_temporal", given, stream=stream)
            edge = there.numpy().view(np.complex128).reshape(slice_sites, 3, 3)
        edge = grid._all(edge)[grid._beside(3, -1)]
    return made


def rotated(
    matrices: Any, extent: tuple[int, ...], field: Any, reals: int, stream: Any, **options: int
) -> Any:
    """Return a field in native order, of `reals` reals a site, rotated by matrices of its sites."""
    given = {
        "in": field,
        "rotation": matrices,
        "out": ("in", "in.size", None),
        "reals": reals,
        **extent_fields(extent),
        **options,
    }
    return call("gauge_rotate", given, stream=stream)[0]


def fill(
    out: Any,
    matrices: int,
    extent: tuple[int, ...],
    seed: int,
    identity: float,
    noise: float,
    grid: Any = None,
) -> None:
    """Write random matrices, made of the rows of identity * 1 + noise * G."""
    given = {
        "out": ("float64", (out.size,), out),
        "matrices": matrices,
        "seed": seed,
        "identity": identity,
        "noise": noise,
        **extent_fields(extent),
        **({} if grid is None else {"ranks": grid._ranks}),
    }
    call("gauge_random", given)


def _like(given: Any, result: Any) -> Any:
    """Return a result as a NumPy array if a NumPy array was given."""
    return result.numpy() if is_on_host(given) else result


def _parities(extent: tuple[int, ...]) -> list[np.ndarray]:
    """Return masks [t][z][y][x] of the even and of the odd sites."""
    parity = np.indices(extent[::-1]).sum(0) % 2
    return [parity == 0, parity == 1]
