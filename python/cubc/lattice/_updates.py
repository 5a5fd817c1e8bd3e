"""What changes the links of a gauge field in place: methods of `Gauge`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._calls import named
from .._core import call, synchronize
from ._fields import extent_fields

if TYPE_CHECKING:
    from ._gauge import Gauge


@named
def project(gauge: Gauge, *, nearest: bool = False, stream: Any = None) -> None:
    """Bring the links back to SU(3), in place.

    Parameters
    ----------
    nearest : bool
        False: row 0 keeps its direction, row 1 loses what it has along row 0 (Gram and Schmidt),
        row 2 follows from both. True: to the matrix with the least sum of squares of the elements'
        differences, which is sought in one SU(2) subgroup after the other until nothing moves.
    stream : optional
        As for `cubc.reduce`.
    """
    given = {
        "links": gauge.native(),
        "out": ("links", "links.size", gauge.native()),
        "nearest": nearest,
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
    """Update the links by Wilson's plaquette action, in place.

    Parameters
    ----------
    beta : float
        6 / g^2; 0 or more.
    sweeps : int
        How many: each is a heat bath of all links, and over-relaxation of all links some times.
    seed : int
        Of the random numbers, 0 to 2^63 - 1.
    first : int
        The number of the first sweep. A call that goes on where another ended has that one's seed,
        and first where it stopped: the result is as if it had been one.
    over_relaxation : int
        How often, after each heat bath; it leaves the action as it is.
    measure : callable, optional
        Called after each sweep with its number and the field.
    progress : bool, optional
        Draw a bar; None: where somebody is there to read it.

    Raises
    ------
    ValueError
        For a number out of range.
    KeyboardInterrupt
        When the user says so: between two sweeps the field is whole, within one, on the cpu, some
        links have been updated and others not, all of them in SU(3).

    Notes
    -----
    Heat bath in SU(2) subgroups: N. Cabibbo and E. Marinari (1982), drawn as by A. D. Kennedy and
    B. J. Pendleton (1985); over-relaxation: M. Creutz (1987); random numbers: Philox4x32-10, J.
    Salmon et al. (2011), counted by seed, sweep, direction and site, so that they do not depend on
    how the work is laid out. Links are made orthonormal again as each is updated. What was measured
    on a GPU and on the cpu agrees in its distribution; rounding makes single fields differ in time.
    """
    from ..tuner._progress import bar

    if sweeps < 0 or over_relaxation < 0 or first < 0:
        raise ValueError(
            f"{sweeps} sweeps from number {first}, {over_relaxation} over-relaxations in each: "
            "all are 0 or more"
        )
    with bar(sweeps, progress, f"beta {beta:g}") as step:
        for sweep in range(first, first + sweeps):
            for over_relax in [False] + [True] * over_relaxation:
                _sweep(gauge, beta, seed, sweep, over_relax)
            synchronize(gauge.device)  # else the bar, and an interrupt, would be ahead of the work
            if measure is not None:
                measure(sweep, gauge)
            step()


def _sweep(gauge: Gauge, beta: float, seed: int, sweep: int, over_relax: bool) -> None:
    links = gauge.native()
    given = {
        "links": ("float64", (links.size,), links),
        "beta": beta,
        "seed": seed,
        "sweep": sweep,
        "over_relax": over_relax,
        **extent_fields(gauge.extent),
    }
    gauge.changed()
    call("gauge_update", given)
