"""Twisted boundary conditions: against links that have the phases."""

import numpy as np
import pytest
from inputs import each_of
from lattice_reference import dslash, half, random_links, random_spinors, unit_links
from staggered_reference import hopping

from cubc import lattice

EXTENT = (4, 2, 4, 6)
THETA = (0.4, -1.1, 2.0, 0.7)
ERROR = {"double": 1e-14, "single": 1e-6, "half": 3e-4}
RNG = np.random.default_rng(5)
LINKS = random_links(RNG, EXTENT)
PSI = random_spinors(RNG, EXTENT)


def turned(links, theta):
    """Links with the phases of the boundaries that they cross."""
    out = links.copy()
    for mu, angle in enumerate(theta):
        last = [slice(None)] * 4
        last[3 - mu] = -1
        out[(*last, mu)] *= np.exp(1j * angle)
    return out


def distance(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


@pytest.fixture(scope="module")
def gauge(device):
    return lattice.Gauge(LINKS, device=device)


@pytest.mark.parametrize(
    ("precision", "reconstruct", "dagger"), each_of(ERROR, [18, 12, 8], [False, True])
)
def test_hops_across_boundaries(gauge, precision, reconstruct, dagger):
    """A phase is that of a half spinor, whatever its link was stored in."""
    options = {"reconstruct": reconstruct, "precision": precision, "theta": THETA}
    operator = lattice.Wilson(gauge, 0.12, **options)
    links = turned(LINKS, THETA)
    expected = dslash(links, PSI, dagger, True)
    assert distance(operator.dslash(PSI, dagger=dagger), expected) < ERROR[precision]
    expected = half(dslash(links, PSI, not dagger, True), 0)
    even = operator.dslash(half(PSI, 1), "even", dagger=not dagger)
    assert distance(even, expected) < ERROR[precision]


@pytest.mark.parametrize("mu", range(4))
def test_each_direction_alone(gauge, mu):
    """The others have no phase in the kernel; one of pi is the sign of antiperiodic fermions."""
    theta = [0.0] * 4
    theta[mu] = np.pi if mu == 3 else THETA[mu]
    operator = lattice.Wilson(gauge, 0.12, theta=theta, antiperiodic_t=False)
    assert distance(operator.dslash(PSI), dslash(turned(LINKS, theta), PSI)) < 1e-14
    if mu == 3:
        antiperiodic = lattice.Wilson(gauge, 0.12, antiperiodic_t=True)
        assert distance(operator(PSI), antiperiodic(PSI)) < 1e-14


OPERATORS = {
    lattice.TwistedMass: {"kappa": 0.11, "mu": 0.2},
    lattice.WilsonClover: {"kappa": 0.11, "csw": (1.3, 0.7)},
    lattice.TwistedClover: {"kappa": 0.11, "csw": 1.2, "mu": 0.2},
    lattice.TwistedDoublet: {"kappa": 0.11, "mu": 0.2, "epsilon": 0.1},
    lattice.Mobius: {"mass": 0.1, "M5": 1.2, "Ls": 2},
}


def of(kind, gauge, theta=THETA):
    """An operator, and a field of it."""
    operator = kind(gauge, theta=theta, **OPERATORS[kind])
    return operator, PSI if operator._inner == 1 else np.stack([PSI, 1j * PSI[::-1]])


@pytest.mark.parametrize(
    ("kind", "mu", "dagger"), each_of(list(OPERATORS)[:4], range(4), [False, True])
)
def test_site_terms_have_no_phases(gauge, kind, mu, dagger):
    """Operators with phases and without differ by the hops."""
    applied, hops = [], []
    for theta in (np.where(np.arange(4) == mu, THETA, 0), None):
        operator, psi = of(kind, gauge, theta)
        applied.append(operator.dagger(psi) if dagger else operator(psi))
        hops.append(-operator.kappa * operator.dslash(psi, dagger=dagger))
    assert distance(applied[0] - applied[1], hops[0] - hops[1]) < 1e-13


@pytest.mark.parametrize("kind", OPERATORS)
def test_adjoints(gauge, kind):
    """Those of domain walls have hops of their own."""
    operator, psi = of(kind, gauge)
    chi = np.roll(psi, 1, -3) + 1j * psi
    expected = np.vdot(chi, operator(psi))
    assert abs(np.vdot(operator.dagger(chi), psi) - expected) < 1e-13 * abs(expected)


@pytest.mark.parametrize(("kind", "sloppy"), each_of(OPERATORS, ["half", "double"]))
def test_solves(gauge, kind, sloppy):
    """By parity, with a site term: |b - M x| is that of the operator with its phases."""
    operator, b = of(kind, gauge)
    x, info = operator.solve(b, tol=1e-10, sloppy=sloppy)
    assert info.converged and distance(operator(x), b) < 1e-10


def test_the_momentum_of_a_free_fermion(device):
    """The wave exp(i theta x / L) is an eigenvector: each hop has the phase theta / L."""
    free = lattice.Gauge(unit_links(EXTENT), device=device)
    operator = lattice.Wilson(free, 0.12, theta=THETA, antiperiodic_t=False)
    t, z, y, x = np.indices(EXTENT[::-1])
    p = np.array(THETA) / EXTENT
    wave = np.exp(1j * (p[0] * x + p[1] * y + p[2] * z + p[3] * t))
    psi = wave[..., None, None] * random_spinors(RNG, (1, 1, 1, 1))
    squared = operator.dslash(operator.dslash(psi), dagger=True)
    of_squares = (2 * np.cos(p).sum()) ** 2 + (2 * np.sin(p)) @ (2 * np.sin(p))
    assert distance(squared, of_squares * psi) < 1e-14


# ---- staggered fermions --------------------------------------------------------------------------
CHI = PSI[..., 0, :]
IMPROVED = {"theta": THETA, "u0": 0.9}


@pytest.mark.parametrize(("precision", "improved"), each_of(ERROR, [False, True]))
def test_staggered_hops_across_boundaries(gauge, improved, precision):
    """Long links cross a boundary once or, where the lattice has two sites, twice."""
    made = lattice.Asqtad if improved else lattice.Staggered
    options = IMPROVED if improved else {"theta": THETA}
    operator = made(gauge, 0.1, precision=precision, **options)
    links = (LINKS, None)
    if improved:
        links = [f.numpy() for f in lattice.fat_links(gauge, "asqtad", u0=0.9)]
    expected = hopping(*links, CHI, theta=THETA)
    assert distance(operator.dslash(CHI), expected) < ERROR[precision]
    assert distance(operator.dslash(CHI, dagger=True), -expected) < ERROR[precision]


def test_fat_links_of_links_with_phases(gauge):
    """Phases of 2 pi / 3 may be in the links, which stay in SU(3), and then are in fat ones."""
    theta = 2 * np.pi / 3 * np.array([1, -1, 1, 1])
    turned_gauge = lattice.Gauge(turned(LINKS, theta), device=gauge.device)
    expected = lattice.HISQ(turned_gauge, 0.1).dslash(CHI)
    assert distance(lattice.HISQ(gauge, 0.1, theta=theta).dslash(CHI), expected) < 1e-14


def test_staggered_solves(gauge):
    operator = lattice.Asqtad(gauge, 0.3, **IMPROVED)
    x, info = operator.solve(CHI, tol=1e-10)
    assert info.converged and distance(operator(x), CHI) < 1e-10


def test_wrong_angles(gauge):
    for theta in ((1.0, 2.0), (0, 0, 0, np.inf)):
        with pytest.raises(ValueError, match="four finite angles"):
            lattice.Wilson(gauge, 0.12, theta=theta)
        with pytest.raises(ValueError, match="four finite angles"):
            lattice.HISQ(gauge, 0.12, theta=theta)
