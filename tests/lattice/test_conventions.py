"""The table of docs/conventions.md, line by line, against numbers of Chroma and tmLQCD.

Chroma's are those that its regression tests print to six digits, on the field that it starts from
as WEAK_FIELD with the seed 11 11 11 0, which is tests/data/weak_field.lime
(tests/chroma/hadron/propagator/*.out.xml in its sources). tmLQCD's are files of its own tests.
"""

from pathlib import Path

import lattice_files as files
import numpy as np
import pytest

from cubc import lattice

REAL = Path(__file__).resolve().parents[3] / "shared/data/fields"
XI_0, NU = 2.464, 0.95  # of the runs of Chroma
XI = XI_0 / NU  # what is called anisotropy here


def anisotropic_kappa(isotropic, xi=XI):
    """Kappa of the mass that Chroma takes from its tag <Kappa>."""
    mass = 1 / (2 * isotropic) - 4
    return 1 / (2 * (mass + 1 + 3 / xi))


def digits(found, printed):
    """Equal to the six digits that were printed."""
    np.testing.assert_allclose(found, np.array(printed.split(), float), rtol=6e-6)


# ---- axes ----------------------------------------------------------------------------------------
def test_axes_and_directions():
    """Polyakov loops in the directions x, y, z, t, which differ, and the extents (x, y, z, t)."""
    links, info = lattice.read_links(files.WEAK_FIELD)
    assert (info.extent, links.shape) == ((4, 4, 4, 8), (8, 4, 4, 4, 4, 3, 3))
    loops = []
    for mu in range(4):
        u = np.moveaxis(links[..., mu, :, :], 3 - mu, 0)
        product = u[0]
        for link in u[1:]:
            product = product @ link
        loops.append(np.einsum("...ii", product).mean() / 3)
    digits([p.real for p in loops], "0.966586 0.966366 0.967146 0.878769")
    digits([p.imag for p in loops], "-0.00132089 -0.00123499 -0.0011231 -0.00991386")
    gauge = lattice.Gauge(links, device="cpu")
    assert gauge.extent == (4, 4, 4, 8)
    assert gauge.polyakov() == pytest.approx(loops[3], abs=1e-13)


# ---- propagators of Chroma -----------------------------------------------------------------------
def covariant_laplacian(links, psi):
    """In space: the sum over neighbours less six times the spinor itself."""
    out = -6 * psi
    for mu in range(3):
        u = links[..., mu, :, :]
        back = np.roll(u, 1, 3 - mu).conj()
        out = out + np.einsum("tzyxab,...tzyxsb->...tzyxsa", u, np.roll(psi, -1, -3 - mu))
        out = out + np.einsum("tzyxba,...tzyxsb->...tzyxsa", back, np.roll(psi, 1, -3 - mu))
    return out


@pytest.fixture(scope="module")
def weak():
    """The field and Chroma's source on it: a point, smeared five times with a width of 2."""
    links = lattice.read_links(files.WEAK_FIELD)[0]
    source = lattice.point_source((4, 4, 4, 8), (0, 0, 0, 0)).reshape(12, *links.shape[:4], 4, 3)
    for _ in range(5):
        source = source + 2.0**2 / (4 * 5) * covariant_laplacian(links, source)
    digits((abs(source) ** 2).sum((0, 2, 3, 4, 5, 6)), "6.634 0 0 0 0 0 0 0")
    return links, source


def correlator(operator, source):
    """Correlator of S = 2 kappa M^-1, Chroma's <prop_corr>: the sum of |S|^2 at each time."""
    x, info = operator.solve(source, tol=1e-7)  # of six digits none is left to the solver
    assert info.converged
    return (abs(2 * operator.kappa * x) ** 2).sum((0, 2, 3, 4, 5, 6))


def test_kappa_with_anisotropy_and_normalisation(device, weak):
    """prec_wilson-v9: Kappa 0.135, xi_0 2.464, nu 0.95, antiperiodic in time."""
    links, source = weak
    gauge = lattice.Gauge(links, device=device)
    kappa = anisotropic_kappa(0.135)
    operator = lattice.Wilson(gauge, kappa, anisotropy=XI, precision="double")
    printed = "0.749882 0.127559 0.0488181 0.0261707 0.0205313 0.026187 0.0488589 0.127619"
    digits(correlator(operator, source), printed)


def test_clover_coefficients(device, weak):
    """prec_clover: Kappa 0.115, clovCoeffR 0.91, clovCoeffT 1.07, the same anisotropy."""
    links, source = weak
    gauge = lattice.Gauge(links, device=device)
    options = {"anisotropy": XI, "precision": "double"}
    kappa, csw = anisotropic_kappa(0.115), (0.91 / XI_0, 1.07)
    operator = lattice.WilsonClover(gauge, kappa, csw, **options)
    printed = "0.588734 0.0440055 0.0154934 0.00913658 0.00757904 0.00913719 0.0155015 0.04401"
    digits(correlator(operator, source), printed)


def test_clover_coefficients_of_pyquda():
    """Its two numbers of the scaled links say the same as Chroma's."""
    csw_r, csw_t = 0.91, 1.07
    csw, xi = XI_0 * csw_t**2 / csw_r, (XI_0 * csw_t / csw_r) ** 0.5  # of core.getClover
    # A leaf has four links in space, or two; each is divided by xi there.
    assert (csw / xi**4, csw / xi**2) == pytest.approx((csw_r / XI_0, csw_t), rel=1e-14)


def test_twisted_mass_of_chroma(device, weak):
    """prec_parwilson-v9: Kappa 0.205, H 0.01, isotropic, with i H gamma_5 beside the mass.

    The sum over space does not see the sign of mu.
    """
    links, source = weak
    gauge = lattice.Gauge(links, device=device)
    operator = lattice.TwistedMass(gauge, 0.205, 0.01, precision="double")
    printed = "0.240751 0.0924521 0.0263446 0.00841285 0.0046024 0.00841236 0.0262829 0.0924747"
    digits(correlator(operator, source), printed)


# ---- twisted mass of tmLQCD ----------------------------------------------------------------------
# tmLQCD's spinor is V times ours: each chirality's two spins change places with the other's.
V = np.array([[0, 0, 0, 1], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]])


@pytest.fixture
def of_tmlqcd(device):
    """Its configuration, and three columns of a propagator: kappa is 0.1, its mu 0.01."""
    names = [f"source48_u.{k:02d}.inverted" for k in range(3)]
    for name in ("conf48.0000", *names):
        if not (REAL / name).exists():
            pytest.skip(f"{name} of tmLQCD is not in ../shared/data/fields")
    columns = np.stack([lattice.read_spinor(REAL / name)[0] for name in names])
    return lattice.read_gauge(REAL / "conf48.0000", device=device), columns


def test_twisted_mass_of_tmlqcd(of_tmlqcd):
    """Sign of mu, gamma_5, normalisation and basis, number by number.

    tmLQCD's columns 0 to 2 are of its spin 0, which is our spin 3.
    """
    gauge, columns = of_tmlqcd
    source = lattice.point_source(gauge.extent, (0, 0, 0, 0))[3]
    kappa, theirs = 0.1, 0.01
    operator = lattice.TwistedMass(gauge, kappa, -theirs, precision="double")
    x, info = operator.solve(source, tol=1e-12)
    assert info.converged
    ours = 2 * kappa * np.einsum("st,...tc->...sc", V, x)
    assert abs(ours - columns).max() < 1e-9
    density, known = ((abs(field) ** 2).sum((-1, -2)) for field in (ours, columns))
    np.testing.assert_allclose(density, known, rtol=1e-5, atol=1e-11)
    slices = known.max(axis=(2, 3, 4), keepdims=True)
    assert (abs(density - known) / slices).max() < 1e-6
    # With the sign of tmLQCD it is another propagator.
    operator = lattice.TwistedMass(gauge, kappa, theirs, precision="double")
    other = (abs(2 * kappa * operator.solve(source, tol=1e-9)[0]) ** 2).sum((-1, -2))
    assert (abs(other - known) / slices).max() > 1e-3


def test_twisted_clover_and_doublet_of_tmlqcd(of_tmlqcd):
    """Both contain twisted mass, with its sign of mu: the first flavour has mu, the other -mu."""
    gauge, columns = of_tmlqcd
    kappa, ours, options = 0.1, -0.01, {"precision": "double"}
    x = np.einsum("st,...tc->...sc", V, columns) / (2 * kappa)
    source = lattice.point_source(gauge.extent, (0, 0, 0, 0))[3]
    clover = lattice.TwistedClover(gauge, kappa, 0.0, ours, **options)
    assert abs(clover(x) - source).max() < 1e-8
    both = np.stack([x, 0 * x], axis=1), np.stack([0 * x, x], axis=1)
    for flavour, mu in enumerate((ours, -ours)):
        doublet = lattice.TwistedDoublet(gauge, kappa, mu, 0.0, **options)
        assert abs(doublet(both[flavour])[:, flavour] - source).max() < 1e-8
        # Flavours mix with 2 kappa epsilon and its sign.
        doublet = lattice.TwistedDoublet(gauge, kappa, mu, 0.7, **options)
        mixed = doublet(both[flavour])[:, 1 - flavour]
        np.testing.assert_allclose(mixed, 2 * kappa * 0.7 * x, rtol=0, atol=1e-14)


def test_gamma_5_is_that_of_the_twist(device):
    """DeGrand and Rossi's: diag(1, 1, -1, -1), which in tmLQCD's basis is -1 times its own."""
    gauge = lattice.Gauge.unit((2, 2, 2, 2), device=device)
    psi = np.ones((2, 2, 2, 2, 4, 3), complex)
    options = {"antiperiodic_t": False, "precision": "double"}
    twisted = lattice.TwistedMass(gauge, 0.1, 0.3, **options)(psi)
    plain = lattice.Wilson(gauge, 0.1, **options)(psi)
    gamma_5 = np.array([1, 1, -1, -1])
    expected = 2j * 0.1 * 0.3 * gamma_5[:, None] * psi
    np.testing.assert_allclose(twisted - plain, expected, atol=1e-15)
    np.testing.assert_array_equal(V @ np.diag(gamma_5) @ V.T, -np.diag(gamma_5))
