"""Projections of links to SU(3)."""

import numpy as np
from gauge_fields import unchecked
from lattice_reference import adjoint

from cubc import lattice


# ---- projection ---------------------------------------------------------------------------------
def test_gram_and_schmidt(device, rng, links):
    rough = links + 0.3 * (rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape))
    u = unchecked(rough, device)
    u.project()
    assert max(u.unitarity()) < 3e-15
    first = rough[..., 0, :] / np.linalg.norm(rough[..., 0, :], axis=-1)[..., None]
    second = rough[..., 1, :]
    second = second - np.sum(first.conj() * second, -1)[..., None] * first
    second /= np.linalg.norm(second, axis=-1)[..., None]
    expected = np.stack([first, second, np.cross(first, second).conj()], -2)
    assert abs(np.asarray(u.links()) - expected).max() < 1e-13


def test_nearest(device, rng, links):
    """A positive matrix times one of SU(3) has that nearest; of others nothing near is nearer."""
    u = lattice.Gauge(links, device=device)
    hermitian = rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape)
    positive = np.eye(3) + 0.1 * hermitian @ adjoint(hermitian)
    u = unchecked(positive @ links, device)
    u.project(nearest=True)
    assert abs(np.asarray(u.links()) - links).max() < 1e-13
    rough = links + 0.5 * (rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape))
    u = unchecked(rough, device)
    u.project(nearest=True)
    assert max(u.unitarity()) < 3e-15
    found = np.asarray(u.links())
    best = np.einsum("...ij,...ij", found, rough.conj()).real
    for _ in range(20):
        step = rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape)
        other = unchecked(found + 0.02 * step, device)
        other.project()
        there = np.einsum("...ij,...ij", np.asarray(other.links()), rough.conj()).real
        assert (there < best).all()


def largest_overlap(m):
    """The largest Re tr(u^+ m) of u in SU(3): by singular values, and two phases on a grid."""
    v, s, w = np.linalg.svd(m)
    phase = -np.angle(np.linalg.det(v @ w))
    a = np.linspace(-np.pi, np.pi, 721)[:, None]
    return (s[0] * np.cos(a) + s[1] * np.cos(a.T) + s[2] * np.cos(phase - a - a.T)).max()


def test_nearest_of_any_determinant(device, rng):
    """Those with a negative one have two matrices near to them, between which real ones stay."""
    shape = (2, 2, 2, 2, 4, 3, 3)
    rough = rng.normal(size=shape).astype(complex)
    rough[0] += 1j * rng.normal(size=shape[1:])
    rough[1, 0, 0, 0] = np.diag([2, -1, 1]), -np.eye(3), np.eye(3)[[1, 0, 2]], np.diag([1, 1, -3])
    u = unchecked(rough, device)
    u.project(nearest=True)
    assert max(u.unitarity()) < 3e-15
    found = np.einsum("...ij,...ij", np.asarray(u.links()).conj(), rough).real.reshape(-1)
    assert (found > [largest_overlap(m) - 1e-5 for m in rough.reshape(-1, 3, 3)]).all()


def test_projection_leaves_su3_alone(device, links):
    for nearest in (False, True):
        u = lattice.Gauge(links, device=device)
        u.native(12, "single")
        u.project(nearest=nearest)
        assert abs(np.asarray(u.links()) - links).max() < 1e-14
        assert not u._packed  # of links that have changed since
