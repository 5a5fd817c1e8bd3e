"""Checks of the links of a gauge field: they are in SU(3), and where asked in temporal gauge."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _observables
from ._fields import NEAR

if TYPE_CHECKING:
    from ._gauge import Gauge

NEARLY = 0.1  # most that a matrix is off one in SU(3), or unitary, to be taken for one in the rough


def into_su3(gauge: Gauge, stream: Any, project: bool) -> None:
    """Raise ValueError for links that are not in SU(3), which are projected first if asked.

    Unitary links with another determinant have signs or phases of a boundary, and the nearest
    matrix would be another link.
    """
    elements, determinant = _observables.own_unitarity(gauge, stream)
    has_phases = determinant > NEARLY and (
        elements <= NEAR or (project and _has_phases(gauge, stream))
    )
    if project and not has_phases:
        gauge.project(nearest=True, stream=stream)
        elements, determinant = _observables.own_unitarity(gauge, stream)
    if max(elements, determinant) <= NEAR:  # of NaN both are NaN
        return
    hint = "project=True replaces each link by the SU(3) matrix nearest to it"
    if has_phases:
        hint = (
            "these have signs or phases, as of a boundary: multiply the links by the "
            "reciprocals, and give them to the operator, as antiperiodic_t= or theta="
        )
    elif project or math.isnan(elements):
        hint = "no SU(3) matrix is nearest to one of no inverse, with NaN or an infinity"
    raise ValueError(
        f"the links are not in SU(3): an element of U U^+ - 1 is as large as {elements:.2g}"
        f" and det U - 1 as {determinant:.2g}, and {NEAR:g} is the most that is taken for "
        f"rounding; {hint}"
    )


def _has_phases(gauge: Gauge, stream: Any) -> bool:
    """Say if any link is nearly unitary with a determinant that is not nearly positive."""
    for links in gauge.links(stream=stream).numpy():  # a time slice
        with np.errstate(all="ignore"):  # some may be anything
            off = np.abs(links @ links.conj().swapaxes(-1, -2) - np.eye(3)).max((-1, -2))
            determinant = np.linalg.det(links)
            phase = np.abs(determinant / np.abs(determinant) - 1)
        if ((off < NEARLY) & (phase > NEARLY)).any():
            return True
    return False


def check_temporal(gauge: Gauge, stream: Any) -> None:
    """Raise ValueError if the links are not in temporal gauge, once after each change."""
    if gauge._temporal_at == gauge.version:
        return
    away = _observables.temporal_deviation(gauge, stream)
    if not away <= NEAR:
        raise ValueError(
            f"temporal_gauge=True: an element of the links in time is {away:.2g} away from "
            f"that of 1 before the last time slice, and {NEAR:g} is the most that is taken for "
            "rounding; Gauge.temporal_gauge() makes a field in that gauge"
        )
    gauge._temporal_at = gauge.version
