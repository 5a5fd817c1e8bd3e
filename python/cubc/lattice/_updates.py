"""Changes of the links of a gauge field in place, as methods of `Gauge`."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._calls import named
from .._core import call, synchronize
from .._progress import bar
from ._fields import MARGIN, extent_fields, integer
from ._gauge_margins import around, inside
from ._team import refuse_of_one_device

if TYPE_CHECKING:
    from ._gauge import Gauge
    from ._grid import Grid

ROWS, NEAREST, UNITARY = range(3)  # cubc_gauge_projection


@named
def project(gauge: Gauge, *, nearest: bool = False, stream: Any = None) -> None:
    """Project the links to SU(3), in place.

    Parameters
    ----------
    nearest : bool
        False: row 0 keeps its direction, row 1 is made orthogonal to it (Gram and Schmidt), and row
        2 follows from both. True: the result is the SU(3) matrix nearest to the link, with the
        least sum of squares of the elements' differences; it is found by steps in SU(2) subgroups
        until they change nothing.
    stream : optional
        As for `cubc.reduce`.

    Raises
    ------
    TypeError
        If `stream` is none.
    ValueError
        If the field was made of native links that no such lattice has.

    Examples
    --------
    >>> u = lattice.Gauge.random((8, 4, 6, 2))
    >>> u.project()
    >>> max(u.unitarity()) < 1e-14
    True
    """
    if gauge.team is not None:
        refuse_of_one_device(stream=stream)
        gauge.team.run(lambda rank: project(gauge.parts[rank], nearest=nearest))
        gauge.changed()
        return
    given = {
        "links": gauge.native(),
        "out": ("links", "links.size", gauge.native()),
        "projection": NEAREST if nearest else ROWS,
        **extent_fields(gauge.extent),
    }
    gauge.changed()  # even if it is interrupted
    call("gauge_project", given, stream=stream)


@named
def update(
    gauge: Gauge,
    beta: float,
    sweeps: int = 1,
    *,
    seed: int = 1,
    first: int = 0,
    over_relaxation: int = 4,
    measure: Callable[[int, Gauge], Any] | None = None,
    progress: bool | None = False,
) -> None:
    """Update the links by Monte Carlo with Wilson's plaquette action, in place.

    On a `Grid` all ranks call it, and links are those that one rank makes: faces of the parts go
    from device to device whenever links of one parity and direction have changed.

    Parameters
    ----------
    beta : float
        Coupling 6 / g^2, 0 or more.
    sweeps : int
        Number of sweeps. A sweep is a heat bath of all links, and `over_relaxation`
        over-relaxations of all links.
    seed : int
        Seed of the random numbers, 0 to 2^63 - 1.
    first : int
        Number of the first sweep. A call continues an earlier one if it has the same seed, and as
        first the number of sweeps so far: the result is that of one call.
    over_relaxation : int
        Number of over-relaxations after each heat bath. They do not change the action.
    measure : callable, optional
        Function that is called after each sweep with its number and the field.
    progress : bool, optional
        True draws a progress bar. None draws one if the output is a terminal or a notebook.

    Raises
    ------
    ValueError
        If a number is out of range.
    TypeError
        If an argument is of another type.
    KeyboardInterrupt
        On Ctrl-C. On the cpu some links may have been updated by an incomplete sweep and others
        not; all are in SU(3). On a `Grid` links are those of complete sweeps.
    TimeoutError
        If a rank of a `Grid` waits in vain for another.

    Notes
    -----
    Heat bath in SU(2) subgroups: N. Cabibbo and E. Marinari (1982), drawn as by A. D. Kennedy and
    B. J. Pendleton (1985); over-relaxation: M. Creutz (1987); random numbers: Philox4x32-10, J.
    Salmon et al. (2011), counted by seed, sweep, direction and site, so that they do not depend on
    how work is shared out. Each link is made orthonormal again as it is updated. Results on a GPU
    and on the cpu have the same distribution; fields of one seed differ after some time because of
    rounding.

    Examples
    --------
    >>> u = lattice.Gauge.unit((4, 6, 2, 4))
    >>> u.update(6.0, sweeps=1, over_relaxation=1, seed=3)
    >>> 0.5 < u.plaquette()[0] < 1
    True
    """
    if isinstance(beta, bool) or not isinstance(beta, numbers.Real):
        raise TypeError(f"beta is {beta!r:.80}: expected a number")
    sweeps, first = integer("sweeps", sweeps), integer("first", first)
    over_relaxation = integer("over_relaxation", over_relaxation)
    seed = integer("seed", seed)
    if not 0 <= beta < math.inf:
        raise ValueError(f"beta is {beta:g}: it is a number of 0 or more")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}: it is from 0 to 2^63 - 1")
    if measure is not None and not callable(measure):
        raise TypeError(f"measure is {measure!r:.80}: expected a function of a number and a field")
    if sweeps < 0 or over_relaxation < 0 or first < 0:
        raise ValueError(
            f"{sweeps} sweeps from number {first}, {over_relaxation} over-relaxations in each: "
            "all are 0 or more"
        )
    with bar(sweeps, progress, f"beta {beta:g}") as step:
        for sweep in range(first, first + sweeps):
            _sweep(gauge, over_relaxation, {"beta": beta, "seed": seed, "sweep": sweep})
            if measure is not None:
                measure(sweep, gauge)
            step()


def _sweep(gauge: Gauge, over_relaxation: int, numbers: dict[str, Any]) -> None:
    """Do a heat bath and over-relaxations, and wait for them."""
    if gauge.team is not None:
        gauge.team.run(lambda rank: _sweep(gauge.parts[rank], over_relaxation, numbers))
        gauge.changed()
        return
    rounds = [False] + [True] * over_relaxation
    gauge.changed()  # even if it is interrupted
    if gauge.grid is None or not gauge.grid._cut:
        for over_relax in rounds:
            _change(gauge.native(), gauge.extent, numbers | {"over_relax": over_relax})
    else:
        _sweep_of_ranks(gauge, gauge.grid, rounds, numbers)
    synchronize(gauge.device)  # else the bar, and an interrupt, would be ahead of the work


def _sweep_of_ranks(gauge: Gauge, grid: Grid, rounds: list[bool], numbers: dict[str, Any]) -> None:
    """Change a copy of the links with the neighbours' around them, then those of the part."""
    links, extent = around(gauge)
    numbers = numbers | {"ranks": grid._ranks, "margin": MARGIN}
    for over_relax in rounds:
        for direction in range(1, 5):
            more = {"over_relax": over_relax, "direction": direction}
            _change(links, extent, numbers | more)
    grid._check_others()
    inside(gauge, links, extent, 72, out=gauge.native())


def _change(links: Any, extent: tuple[int, ...], numbers: dict[str, Any]) -> None:
    given = {"links": ("float64", (links.size,), links), **extent_fields(extent), **numbers}
    call("gauge_update", given)
