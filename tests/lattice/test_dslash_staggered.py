"""The hopping term of staggered fermions, naive and improved, against NumPy."""

import numpy as np
import pytest
from inputs import each_of, pairs_of
from lattice_reference import parity, random_links
from staggered_reference import hopping

from cubc import lattice
from cubc.lattice._staggered import PHASES

EXTENT = (4, 2, 4, 6)  # as in lattice_system: they share kernels
SHAPE = (*EXTENT[::-1], 3)
BOUNDS = {"double": 1e-14, "single": 1e-6, "half": 3e-4}


def vectors(rng, *sources):
    shape = (*sources, *SHAPE)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def rows_of(field, which):
    """The sites of a parity, in rows of half the length."""
    t, z, y, x = field.shape[-5:-1]
    of = parity((x, y, z, t)) == which
    return field[..., of, :].reshape(*field.shape[:-5], t, z, y, x // 2, 3)


def error(got, expected):
    return np.linalg.norm(got - expected) / np.linalg.norm(expected)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(3)


@pytest.fixture(scope="module")
def links(rng):
    return random_links(rng, EXTENT)


def made(name, links, device, **options):
    """An operator, and its links in NumPy."""
    gauge = lattice.Gauge(links, device=device)
    if name == "naive":
        return lattice.Staggered(gauge, 0.1, **options), (links, None)
    operator = lattice.Asqtad(gauge, 0.1, 0.9, **options)
    return operator, [f.numpy() for f in lattice.fat_links(gauge, "asqtad", u0=0.9)]


LINKS = [("naive", 18), ("naive", 12), ("naive", 8), ("improved", 18), ("improved", 13)]


@pytest.mark.parametrize(("precision", "stored"), each_of(BOUNDS, LINKS))
def test_against_numpy(device, rng, links, precision, stored):
    name, reconstruct = stored
    operator, given = made(name, links, device, reconstruct=reconstruct, precision=precision)
    chi = vectors(rng, 3)
    expected = 0.2 * chi + hopping(*given, chi)
    assert error(operator(chi), expected) < BOUNDS[precision] * (10 if reconstruct == 8 else 1)


@pytest.mark.parametrize("name", ["naive", "improved"])
def test_adjoint_and_parities(device, rng, links, name):
    operator, given = made(name, links, device, precision="single")
    chi = vectors(rng)
    expected, bound = hopping(*given, chi), BOUNDS["single"]
    assert error(operator.dslash(chi), expected) < bound
    assert error(operator.dslash(chi, dagger=True), -expected) < bound
    assert error(operator.dagger(chi), 0.2 * chi - expected) < bound
    for which, of in (("even", 0), ("odd", 1)):
        got = operator.dslash(rows_of(chi, 1 - of), parity=which)
        assert error(got, rows_of(expected, of)) < bound


@pytest.mark.parametrize(("phases", "antiperiodic"), pairs_of(PHASES, [True, False]))
@pytest.mark.parametrize("name", ["naive", "improved"])
def test_signs(device, rng, links, name, phases, antiperiodic):
    operator, given = made(name, links, device, phases=phases, antiperiodic_t=antiperiodic)
    chi = vectors(rng)
    expected = hopping(*given, chi, phases, antiperiodic)
    assert error(operator.dslash(chi), expected) < 1e-14


def test_of_a_lattice_shorter_than_a_long_link(device, rng):
    links = random_links(rng, (2, 2, 2, 2))
    operator, given = made("improved", links, device)
    chi = rng.normal(size=(2, 2, 2, 2, 3)) + 0j
    assert error(operator.dslash(chi), hopping(*given, chi)) < 1e-14


@pytest.mark.parametrize("theta", [None, (0.3, 0.0, -1.1, 2.0)])
def test_free_spectrum(device, rng, theta):
    """Plane waves are eigenvectors of D^2: sin p, with long links 9/8 sin p - 1/24 sin 3 p.

    Momenta are at any place of the zone, among them its corners, where D is 0 but for theta.
    """
    extent = (4, 4, 4, 8)
    gauge = lattice.Gauge.unit(extent, device=device)
    n = np.concatenate([np.indices((2, 2, 2, 2)).reshape(4, 16).T * np.array(extent) // 2,
                        rng.integers(0, extent, (8, 4))])  # fmt: skip
    boundary = np.zeros(4)
    if theta is not None:
        boundary += theta
        boundary[3] += np.pi
    p = (2 * np.pi * n + boundary) / extent
    t, z, y, x = np.indices(extent[::-1])
    waves = np.exp(1j * np.einsum("km,m...->k...", p, np.array([x, y, z, t])))
    waves = waves[..., None] * np.array([1, -0.5, 2j])
    options = {"antiperiodic_t": theta is not None, "theta": theta}
    naive = lattice.Staggered(gauge, 0.1, **options)
    improved = lattice.Asqtad(gauge, 0.1, **options)
    for operator, of in ((naive, np.sin(p)), (improved, 9 / 8 * np.sin(p) - np.sin(3 * p) / 24)):
        squared = operator.dslash(operator.dslash(waves))
        expected = -4 * (of**2).sum(1)[:, None, None, None, None, None] * waves
        np.testing.assert_allclose(squared, expected, rtol=0, atol=1e-12)


def test_links_follow_the_gauge_field(device, rng, links):
    gauge = lattice.Gauge(links, device=device)
    operator = lattice.HISQ(gauge, 0.1)
    chi = vectors(rng)
    before = operator.dslash(chi)
    gauge.update(5.7, 1)
    fat, far = (f.numpy() for f in lattice.fat_links(gauge))
    assert error(operator.dslash(chi), before) > 0.1
    assert error(operator.dslash(chi), hopping(fat, far, chi)) < 1e-14


# ---- what is refused ----------------------------------------------------------------------------
def test_refused(device, links):
    gauge = lattice.Gauge(links, device=device)
    with pytest.raises(ValueError, match="phases 'quda': expected one of milc, chroma, tifr"):
        lattice.Staggered(gauge, 0.1, phases="quda")
    with pytest.raises(ValueError, match="long links are stored in 18 or 13"):
        lattice.HISQ(gauge, 0.1, reconstruct=12)
    with pytest.raises(ValueError, match="expected a positive number"):
        lattice.Asqtad(gauge, 0.1, 0.0)
    with pytest.raises(ValueError, match="colour vectors of shape"):
        lattice.Staggered(gauge, 0.1)(np.zeros((6, 4, 2, 4, 4, 3), complex))


def test_the_correction_of_hisq(device, rng, links):
    gauge = lattice.Gauge(links, device=device)
    hisq = lattice.HISQ(gauge, 0.1, -0.3)
    fat, far = (f.numpy() for f in lattice.fat_links(gauge, "hisq", naik_epsilon=-0.3))
    chi = vectors(rng)
    assert error(hisq.dslash(chi), hopping(fat, far, chi)) < 1e-14
