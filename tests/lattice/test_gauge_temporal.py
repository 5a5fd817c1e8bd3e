"""Temporal gauge: the rotation, and the operator with links in time that are 1."""

import numpy as np
import pytest
from gauge_fields import EXTENT
from lattice_reference import random_links, random_spinors, transform_links

from cubc import lattice

ROUNDING = 1e-13


# ---- temporal gauge -----------------------------------------------------------------------------
@pytest.mark.parametrize("extent", [EXTENT, (4, 4, 2, 8)])
def test_temporal_gauge(device, rng, extent):
    links = random_links(rng, extent)
    u = lattice.Gauge(links, device=device)
    fixed, g = u.temporal_gauge()
    fixed_links = np.asarray(fixed.links())
    assert (fixed_links[:-1, ..., 3, :, :] == np.eye(3)).all()
    assert abs(fixed_links - transform_links(links, g.numpy())).max() < 1e-13
    assert fixed.plaquettes() == pytest.approx(u.plaquettes(), rel=0, abs=ROUNDING)
    assert abs(fixed.polyakov() - u.polyakov()) < ROUNDING
    assert max(fixed.unitarity()) < 1e-14
    assert abs(np.asarray(fixed.transform(g, inverse=True).links()) - links).max() < 1e-13


def test_operator_in_temporal_gauge(device, rng, links):
    """M_fixed g = g M, with the links in time left out."""
    u = lattice.Gauge(links, device=device)
    fixed, g = u.temporal_gauge()
    psi = random_spinors(rng, EXTENT)
    options = {"kappa": 0.12, "precision": "double", "antiperiodic_t": True}
    for reconstruct in (18, 12):
        M = lattice.Wilson(u, reconstruct=reconstruct, **options)
        there = lattice.Wilson(fixed, reconstruct=reconstruct, temporal_gauge=True, **options)
        assert abs(there(g(psi)) - g(M(psi))).max() < 1e-12


def test_a_field_in_another_gauge_is_refused(device, links):
    u = lattice.Gauge(links, device=device)
    b = np.ones((*links.shape[:4], 4, 3), complex)
    D = lattice.Wilson(u, 0.1, temporal_gauge=True)
    for call in (D, D.solve, lattice.TwistedClover(u, 0.1, mu=0.1, csw=1, temporal_gauge=True)):
        with pytest.raises(ValueError, match=r"of the links in time is .* away from that of 1"):
            call(b)
    fixed, _ = u.temporal_gauge()
    D = lattice.Wilson(fixed, 0.1, temporal_gauge=True)
    D(b)
    fixed.update(6.0)
    with pytest.raises(ValueError, match="temporal_gauge=True"):
        D(b)
