"""Rotations of links, spinors and colour vectors by an SU(3) matrix a site."""

import numpy as np
import pytest
from gauge_fields import EXTENT
from lattice_reference import (
    adjoint,
    random_spinors,
    random_su3,
    transform_links,
    transform_spinors,
)

from cubc import _core, lattice

ROUNDING = 1e-13


def test_rotations_that_are_not_in_su3_are_refused(rng):
    matrices = random_su3(rng, EXTENT[::-1])
    lattice.Rotation(matrices.astype(np.complex64), device="cpu")
    for factor in (1.001, np.exp(0.001j), np.nan):
        wrong = matrices.copy()
        wrong[1, 2, 3, 4] *= factor
        with pytest.raises(ValueError, match="matrices are not in SU"):
            lattice.Rotation(wrong, device="cpu")


# ---- rotations ----------------------------------------------------------------------------------
def test_rotation_against_numpy(device, rng, links):
    matrices = random_su3(rng, links.shape[:4])
    g = lattice.Rotation(matrices, device=device)
    assert (g.numpy() == matrices).all()
    u = lattice.Gauge(links, device=device)
    rotated = u.transform(g)
    assert abs(np.asarray(rotated.links()) - transform_links(links, matrices)).max() < 1e-14
    back = rotated.transform(g, inverse=True)
    assert abs(np.asarray(back.links()) - links).max() < 1e-14
    assert u.plaquettes() == pytest.approx(rotated.plaquettes(), rel=0, abs=ROUNDING)
    assert abs(u.polyakov() - rotated.polyakov()) < ROUNDING
    assert abs(u.link_trace() - rotated.link_trace()) > 1e-6


def test_rotated_spinors(device, rng):
    matrices = random_su3(rng, EXTENT[::-1])
    g = lattice.Rotation(matrices, device=device)
    for psi in (random_spinors(rng, EXTENT), random_spinors(rng, EXTENT, 3)):
        assert abs(g(psi) - transform_spinors(psi, matrices)).max() < 1e-13
        assert abs(g(g(psi), inverse=True) - psi).max() < 1e-13
    there = _core.asarray(psi, device=device)
    assert isinstance(g(there), _core.Array)
    assert (g(there).numpy() == g(psi)).all()


def test_colour_vectors(device, rng):
    """A field of six reals a site, native: parity, chunks of two reals, sites."""
    g = lattice.Rotation.random(EXTENT, device=device)
    sites, matrices = g.numpy().size // 18, g._native.numpy().view(complex).reshape(2, 9, -1)
    psi = rng.normal(size=(2, 2, 3, sites)) + 1j * rng.normal(size=(2, 2, 3, sites))
    given = {
        "in": _core.asarray(psi.view(float).reshape(-1), device=device),
        "rotation": g._native,
        "out": ("in", "in.size", None),
        "reals": 6,
        **dict(zip(("lx", "ly", "lz", "lt"), EXTENT, strict=True)),
    }
    out = _core.call("gauge_rotate", given)[0].numpy().view(complex).reshape(psi.shape)
    expected = np.einsum("pijx,npjx->npix", matrices.reshape(2, 3, 3, -1), psi)
    assert abs(out - expected).max() < 1e-13


def test_staggered_operators_on_rotated_fields(device, rng, links):
    """D' g = g D, for several sources, whose shape may be that of spinors."""
    g = lattice.Rotation.random(EXTENT, seed=3, device=device)
    u = lattice.Gauge(links, device=device)
    here, there = (lattice.Staggered(gauge, 0.1) for gauge in (u, u.transform(g)))
    chi = random_spinors(rng, EXTENT, 4)[..., 0, :]
    rotated = g(chi, kind="colour vector")
    assert abs(there(rotated) - g(here(chi), kind="colour vector")).max() < ROUNDING
    assert abs(g(rotated, kind="colour vector", inverse=True) - chi).max() < ROUNDING
    with pytest.raises(ValueError, match="sites of both parities"):
        g(chi[:, :, :, :, ::2], kind="colour vector")
    with pytest.raises(ValueError, match="expected one of spinor, colour vector"):
        g(chi, kind="staggered")


def test_random_rotation(device):
    g = lattice.Rotation.random((4, 4, 4, 4), 2, device=device)
    matrices = g.numpy()
    assert abs(matrices @ adjoint(matrices) - np.eye(3)).max() < 3e-15
    assert abs(np.linalg.det(matrices) - 1).max() < 3e-15
    assert (lattice.Rotation(matrices, device=device).numpy() == matrices).all()
