"""Links of improved staggered fermions: fat7, asqtad and HISQ."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from math import isfinite
from typing import Any

from .._calls import named, real
from .._core import call
from ._fields import NATIVE, PLAIN, extent_fields
from ._gauge import Gauge
from ._gauge_margins import around, inside
from ._team import refuse_of_one_device
from ._updates import UNITARY


@dataclass(frozen=True)
class Paths:
    """Coefficients of the paths of an action, each of a single path.

    Attributes
    ----------
    one, three, five, seven : float
        Coefficients of the paths of fat links with one, three, five and seven links.
    lepage : float
        Coefficient of the paths that go two steps out on one side.
    naik : float
        Coefficient of the long links.
    """

    one: float
    three: float = 0.0
    five: float = 0.0
    seven: float = 0.0
    lepage: float = 0.0
    naik: float = 0.0


LEAST_U0 = 1e-50  # whose sixth power can be divided by
FAT7 = Paths(1 / 8, 1 / 16, 1 / 64, 1 / 384)
HISQ = Paths(1, 1 / 16, 1 / 64, 1 / 384, -1 / 8, -1 / 24)  # of the links that are projected


def asqtad(u0: float) -> Paths:
    """Return the paths of asqtad, each link over u0 but for one of them."""
    return Paths(5 / 8, u0**-2 / 16, u0**-4 / 64, u0**-6 / 384, -(u0**-4) / 16, -(u0**-2) / 24)


def fattened(links: Any, extent: tuple[int, ...], paths: Paths, stream: Any = None) -> Any:
    """Return the fat links of links in native order, in that order."""
    names = ("one", "three", "five", "seven", "lepage")
    given = {
        "links": links,
        "out": ("links", "links.size", None),
        **dict(zip(names, astuple(paths), strict=False)),
        **extent_fields(extent),
    }
    return call("fat_links", given, stream=stream)[0]


def lengthened(links: Any, extent: tuple[int, ...], factor: float, stream: Any = None) -> Any:
    """Return the long links of links in native order, in that order."""
    given = {
        "links": links,
        "out": ("links", "links.size", None),
        "factor": factor,
        **extent_fields(extent),
    }
    return call("long_links", given, stream=stream)[0]


def unitarised(links: Any, extent: tuple[int, ...], stream: Any = None) -> Any:
    """Replace each matrix by that of U(3) which is nearest to it, in place."""
    given = {
        "links": links,
        "out": ("links", "links.size", links),
        "projection": UNITARY,
        **extent_fields(extent),
    }
    return call("gauge_project", given, stream=stream)[0]


def check(action: str, u0: float, naik_epsilon: float) -> None:
    """Refuse an unknown action, and factors that it has not."""
    if action not in ("fat7", "asqtad", "hisq"):
        raise ValueError(f"action {action!r}: expected 'fat7', 'asqtad' or 'hisq'")
    u0, naik_epsilon = real("u0", u0), real("naik_epsilon", naik_epsilon)
    if not isfinite(u0) or u0 < LEAST_U0:
        raise ValueError(f"u0 is {u0}: expected a positive number, of {LEAST_U0:g} and more")
    if u0 != 1 and action != "asqtad":
        raise ValueError(f"u0 is {u0}: links of {action} have no tadpole factor; only asqtad's do")
    if not isfinite(naik_epsilon):
        raise ValueError(f"naik_epsilon is {naik_epsilon}: expected a finite number")
    if naik_epsilon and action != "hisq":
        raise ValueError(f"naik_epsilon is {naik_epsilon}: only links of hisq have that correction")


def paths_of(action: str, u0: float, naik_epsilon: float) -> Paths:
    """Return the paths that fat and long links of an action are made of."""
    check(action, u0, naik_epsilon)
    if action == "fat7":
        return FAT7
    if action == "asqtad":
        return asqtad(u0)
    return replace(HISQ, one=1 + naik_epsilon / 8, naik=HISQ.naik * (1 + naik_epsilon))


def made_of(gauge: Gauge, action: str, paths: Paths, factor: float, stream: Any) -> tuple[Any, Any]:
    """Return the fat links of a field and its long links with a factor, in native order.

    On a `Grid` they are made with the neighbours' links around a part, as far as paths reach:
    two sites, and one more for the links of hisq that are smeared first. All ranks call it.
    """
    first = action == "hisq"
    margin = 4 if first else 2
    links, extent = around(gauge, margin, stream)
    if first:
        links = unitarised(fattened(links, extent, FAT7, stream), extent, stream)
    made = fattened(links, extent, paths, stream), lengthened(links, extent, factor, stream)
    fat, long = (inside(gauge, x, extent, 72, margin, stream) for x in made)
    return fat, long


@named
def fat_links(
    gauge: Gauge,
    action: str = "hisq",
    *,
    u0: float = 1.0,
    naik_epsilon: float = 0.0,
    stream: Any = None,
) -> tuple[Any, Any]:
    """Return the fat and the long links of improved staggered fermions.

    A fat link is a sum of the products of links along paths between its ends, a long link the
    product of three links of one direction. Phases and boundary conditions are not in them.

    Parameters
    ----------
    gauge : Gauge
        Gauge field.
    action : str
        "fat7": paths of up to seven links. "asqtad": the same and those two steps out (Lepage),
        with long links. "hisq": fat7, projected to U(3), and asqtad's paths of the result with
        twice the coefficient two steps out.
    u0 : float
        Tadpole factor of asqtad.
    naik_epsilon : float
        Correction of HISQ's dispersion relation for heavy quarks.
    stream : optional
        As for `cubc.reduce`.

    Returns
    -------
    fat, long : cubc.Array
        Links ``[t][z][y][x][direction][row][column]``, complex128, on the device of the field. Fat
        links are not in SU(3). The long ones of fat7 are zero. On a `Grid` they are this rank's
        part, and all ranks call this. Those of ranks of one process are of the whole lattice, on
        the first rank's device.

    Raises
    ------
    ValueError
        If the action is none of these, or has no such factor; if a rank has fewer sites along a
        direction than its neighbours need, 2 or of hisq 4.

    Notes
    -----
    K. Orginos, D. Toussaint and R. L. Sugar (1999); G. P. Lepage (1999); S. Naik (1989); E. Follana
    et al., "Highly improved staggered quarks on the lattice" (2007). Coefficients are of MILC's
    operator 2 m + D. Construction takes memory for six matrices a site besides the results.

    >>> fat, long = lattice.fat_links(lattice.Gauge.unit((4, 2, 4, 6), device="cpu"), "asqtad")
    >>> complex(fat.numpy()[0, 0, 0, 0, 0, 0, 0].round(12)), len(long.shape)
    ((1.125+0j), 7)
    """
    if not isinstance(gauge, Gauge):
        raise TypeError(f"gauge is {gauge!r:.60}, must be a cubc.lattice.Gauge")
    paths = paths_of(action, u0, naik_epsilon)
    if (team := gauge.team) is not None:
        refuse_of_one_device(stream=stream)
        parts = team.run(
            lambda rank: fat_links(gauge.parts[rank], action, u0=u0, naik_epsilon=naik_epsilon)
        )
        fat, long = (team.joined(links) for links in zip(*parts, strict=True))
        return fat, long
    fat, long = made_of(gauge, action, paths, paths.naik, stream)
    return _plain(fat, gauge, stream), _plain(long, gauge, stream)


def _plain(links: Any, gauge: Gauge, stream: Any) -> Any:
    x, y, z, t = gauge.extent
    given = {
        "from": links,
        "to": ("complex128", (t, z, y, x, 4, 3, 3), None),
        "from_order": NATIVE,
        "to_order": PLAIN,
        "from_reals": 18,
        "to_reals": 18,
        **extent_fields(gauge.extent),
    }
    return call("link_copy", given, stream=stream)[0]
