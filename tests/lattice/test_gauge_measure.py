"""Measurements of a gauge field: plaquettes, Polyakov loop, unitarity."""

from pathlib import Path

import numpy as np
import pytest
from gauge_fields import EXTENT, native, unchecked
from lattice_reference import adjoint, random_links, shift

from cubc import _core, lattice

DATA = Path(__file__).parents[1] / "data"
ROUNDING = 1e-13


def plane(links, mu, nu):
    """The mean plaquette, by NumPy."""
    u, v = links[..., mu, :, :], links[..., nu, :, :]
    loop = u @ shift(v, mu, 1) @ adjoint(v @ shift(u, nu, 1))
    return np.einsum("...ii", loop).real.mean() / 3


# ---- what is measured ---------------------------------------------------------------------------
def test_weak_field(device):
    """The numbers that are known of this file, from an independent code."""
    u = lattice.read_gauge(DATA / "weak_field.lime", device=device)
    expected = 0.9948041322666996, 0.9947985783413031, 0.9948096861920962
    np.testing.assert_allclose(u.plaquette(), expected, rtol=0, atol=ROUNDING)
    planes = {
        "xy": 0.9947037332453218,
        "xz": 0.9949269574866808,
        "xt": 0.9946933200353529,
        "yz": 0.9947650442919065,
        "yt": 0.994854049218729,
        "zt": 0.9948816893222068,
    }
    assert u.plaquettes() == pytest.approx(planes, rel=0, abs=ROUNDING)
    assert abs(u.link_trace() - 0.379449348715193) < ROUNDING
    assert abs(u.polyakov() - (0.8787695009141113 - 0.00991386j)) < 1e-8
    assert max(u.unitarity()) < 2e-15


@pytest.mark.parametrize("extent", [EXTENT, (2, 2, 2, 2), (4, 2, 2, 6)])
def test_against_numpy(device, rng, extent):
    links = random_links(rng, extent)
    u = lattice.Gauge(links, device=device)
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    expected = [plane(links, mu, nu) for mu, nu in pairs]
    np.testing.assert_allclose(list(u.plaquettes().values()), expected, rtol=0, atol=ROUNDING)
    assert abs(u.plaquette()[0] - np.mean(expected)) < ROUNDING
    loop = np.eye(3)
    for t in range(extent[3]):
        loop = loop @ links[t, ..., 3, :, :]
    assert abs(u.polyakov() - np.einsum("...ii", loop).mean() / 3) < ROUNDING
    assert abs(u.link_trace() - np.einsum("...ii", links).real.mean() / 3) < ROUNDING


def test_sums_are_the_same_from_run_to_run(device, links):
    u = lattice.Gauge(links, device=device)
    assert len({(u.plaquette(), u.polyakov(), u.unitarity()) for _ in range(5)}) == 1


def test_unitarity_finds_one_link(device, links):
    """Wherever it is, and whether it is its rows or the determinant that is wrong."""
    for at, factor, elements, determinant in [
        ((0, 0, 0, 0, 0), 1.01, 1.01**2 - 1, 1.01**3 - 1),
        ((1, 5, 3, 7, 3), np.exp(0.1j), 0, abs(np.exp(0.3j) - 1)),
    ]:
        wrong = links.copy()
        wrong[at] *= factor
        found = unchecked(wrong, device).unitarity()
        np.testing.assert_allclose(found, [elements, determinant], rtol=0, atol=1e-14)
    wrong[1, 2, 3, 4, 1, 2, 0] = np.nan
    assert np.isnan(unchecked(wrong, device).unitarity()).all()


def test_single_precision(device, links):
    u = lattice.Gauge(links, device=device)
    given = {**native(u, "float32"), "out": ("float64", (7,), None), "quantity": 0}
    planes = _core.call("gauge_measure", given)[0].numpy()
    np.testing.assert_allclose(planes[:6], list(u.plaquettes().values()), rtol=0, atol=1e-6)
    reals = given["links"].size
    project = {**native(u, "float32"), "out": ("float32", (reals,), None)}
    projected = _core.call("gauge_project", project)[0].numpy()
    assert abs(projected - given["links"].numpy()).max() < 1e-6
