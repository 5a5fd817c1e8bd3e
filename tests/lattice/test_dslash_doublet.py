"""A doublet of twisted mass fermions: its Dslash and operator against NumPy."""

import lattice_terms as terms
import numpy as np
import pytest
from inputs import each_of
from lattice_reference import half
from lattice_terms import BOUNDS, EXTENTS

from cubc import lattice
from cubc._core import call

KAPPA, MU, EPSILON = 0.13, 0.35, 0.8
TAU1, TAU3 = np.array([[0, 1], [1, 0]]), np.diag([1, -1])


def flavour(matrix, psi):
    """A matrix of flavour times doublets [...][flavour][t][z][y][x][spin][colour]."""
    return np.einsum("fg,...gtzyxsc->...ftzyxsc", matrix, psi)


def site_term(psi, one, five, tau):
    """(one + i five gamma_5 tau_3 + tau tau_1) psi."""
    twisted = terms.spin(terms.GAMMA5, flavour(TAU3, psi))
    return one * psi + 1j * five * twisted + tau * flavour(TAU1, psi)


def random_doublets(sources=1, seed=2):
    return terms.random_spinors(2 * sources, seed).reshape(sources, 2, *terms.SHAPE, 4, 3)


def hopping(psi, *options, **more):
    """D of each flavour."""
    flat = psi.reshape(-1, *psi.shape[2:])
    return terms.hopping(terms.random_links(), flat, *options, **more).reshape(psi.shape)


def dslash(psi, precision, device, *, parity=2, x=None, **numbers):
    """The kernel's result: doublets of NumPy in, sites of a parity out."""
    of = parity if parity == 2 else 1 - parity
    field, norms = terms.pack(psi.reshape(-1, *psi.shape[2:]), precision, of, device)
    fields = {
        "links": terms.pack_links(terms.random_links(), precision, 12, device),
        "in": field,
        "in_norms": norms,
        "reconstruct": 12,
        "parity": parity,
        "anisotropy": 1.0,
    }
    if x is not None:
        flat = x.reshape(-1, *x.shape[2:])
        fields["x"], fields["x_norms"] = terms.pack(flat, precision, parity, device)
    fields |= terms.output(precision, field.size // 24) | EXTENTS | numbers
    return terms.unpack(call("dslash_doublet", fields), 2 * len(psi))


def sites_of(psi, parity):
    return terms.sites_of(psi.reshape(-1, *psi.shape[2:]), parity)


def operator(device, mu=MU, epsilon=EPSILON, **options):
    gauge = lattice.Gauge(terms.random_links(), device=device)
    return lattice.TwistedDoublet(gauge, KAPPA, mu, epsilon, **{"precision": "double"} | options)


# ---- the kernel ----------------------------------------------------------------------------------
@pytest.mark.parametrize(("precision", "parity", "dagger"), each_of(BOUNDS, [0, 1, 2], [0, 1]))
def test_against_numpy(device, precision, parity, dagger):
    psi, x = random_doublets(), random_doublets(seed=3)
    options = {"parity": parity, "dagger": dagger, "antiperiodic": 1, "anisotropy": 1.3}
    options |= {"a": 0.4, "a5": 0.9, "a1": -0.3, "b": 0.6, "b5": -0.2, "b1": 0.7}
    hops = hopping(psi, dagger, antiperiodic=True, anisotropy=1.3)
    expected = site_term(x, 0.6, -0.2, 0.7) + site_term(hops, 0.4, 0.9, -0.3)
    got = dslash(psi, precision, device, x=x, **options)
    assert terms.error(got, sites_of(expected, parity)) < BOUNDS[precision]


@pytest.mark.parametrize(("precision", "parity"), each_of(BOUNDS, [1, 2]))
def test_several_sources_without_x(device, precision, parity):
    psi = random_doublets(3)
    got = dslash(psi, precision, device, parity=parity, a=0.4, a5=0.9, a1=-0.3)
    expected = site_term(hopping(psi), 0.4, 0.9, -0.3)
    assert terms.error(got, sites_of(expected, parity)) < BOUNDS[precision]


# ---- the operator --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("precision", "bound"), [("double", 1e-14), ("single", 1e-6), ("half", 2e-4)]
)
def test_the_operator_against_numpy(device, precision, bound):
    D, psi = operator(device, precision=precision), random_doublets()
    hops = hopping(psi, antiperiodic=True)
    expected = site_term(psi, 1, 2 * KAPPA * MU, 2 * KAPPA * EPSILON) - KAPPA * hops
    assert terms.error(D(psi), expected) < bound
    assert terms.error(D.dslash(psi), hops) < bound
    assert "mu=0.35, epsilon=0.8" in repr(D)


def test_the_adjoint(device):
    """M^+ = gamma_5 tau_1 M tau_1 gamma_5, and it is the adjoint."""
    D = operator(device)
    x, y = random_doublets(seed=4), random_doublets(seed=5)

    def turned(psi):
        return flavour(TAU1, terms.spin(terms.GAMMA5, psi))

    assert terms.error(D.dagger(x), turned(D(turned(x)))) < 1e-14
    assert abs(np.vdot(y, D(x)) - np.vdot(D.dagger(y), x)) < 1e-12 * np.linalg.norm(x) ** 2


def test_the_sign_of_epsilon_is_a_rotation(device):
    """tau_3 M(epsilon) tau_3 = M(-epsilon)."""
    x = random_doublets()
    turned = flavour(TAU3, operator(device)(flavour(TAU3, x)))
    assert terms.error(turned, operator(device, epsilon=-EPSILON)(x)) < 1e-15


def test_without_a_difference_they_are_two_flavours(device):
    """Those of twisted mass with mu and -mu."""
    D, x = operator(device, epsilon=0.0), random_doublets()
    for k, mu in enumerate((MU, -MU)):
        M = lattice.TwistedMass(D.gauge, KAPPA, mu, precision="double")
        assert terms.error(D(x)[:, k], M(x[:, k])) < 1e-15


def test_without_a_twist_they_are_two_masses(device):
    """tau_1 is diagonal on sum and difference: 1 +- 2 kappa epsilon - kappa D."""
    D, x = operator(device, mu=0.0), random_doublets()
    y = D(x)
    for sign in (1, -1):
        part, made = (v[:, 0] + sign * v[:, 1] for v in (x, y))
        W = lattice.Wilson(D.gauge, KAPPA, precision="double")
        assert terms.error(made, W(part) + 2 * sign * KAPPA * EPSILON * part) < 1e-15


def of_even(D, x):
    """M_e of doublets of the even sites, from hops of one parity."""
    t, e = 2 * KAPPA * D.mu, 2 * KAPPA * D.epsilon
    odd = site_term(D.dslash(x, "odd"), 1, -t, -e) / (1 + t**2 - e**2)
    return site_term(x, 1, t, e) - KAPPA**2 * D.dslash(odd, "even")


@pytest.mark.parametrize(("sloppy", "even_odd"), [("half", True), ("double", False)])
def test_solve(device, sloppy, even_odd):
    D, b = operator(device), random_doublets(2)
    x, info = D.solve(b, tol=1e-11, sloppy=sloppy, even_odd=even_odd)
    assert info.converged and len(info.sources) == 2
    assert terms.error(D(x), b) < 2e-11


def test_solve_on_the_even_sites(device):
    D = operator(device)
    b = np.stack([half(one, 0) for one in random_doublets()[0]])
    x, info = D.solve(b, tol=1e-11, sloppy="half")
    assert info.converged and terms.error(of_even(D, x), b) < 2e-11


def test_propagators(device):
    """Each column is of its point and flavour."""
    place = (1, 0, 3, 2)
    D = operator(device)
    S = D.propagator(place, tol=1e-7, sloppy="half")
    points = lattice.point_source(D.gauge.extent, place)
    again = D.propagator(source=2j * points[None], tol=1e-2, sloppy="half")
    assert terms.error(again, 2j * S[:, :, None]) < 0.05
    assert D.pion_correlator(S).shape == (2, 2, D.gauge.extent[3])
    point = points[2, 1]
    for source in range(2):
        column = S[:, source, ..., :, 2, :, 1] / (2 * KAPPA)
        left = D(column)
        left[source] -= point
        assert np.linalg.norm(left) < 1e-6


def test_wrong_arguments(device):
    D = operator(device)
    with pytest.raises(TypeError, match="takes mu and epsilon"):
        lattice.TwistedDoublet(D.gauge, KAPPA, MU)
    with pytest.raises(ValueError, match="the inner dimension, of 2"):
        D(terms.random_spinors(3))
    singular, b = operator(device, 0.0, 1 / (2 * KAPPA)), random_doublets()
    with pytest.raises(ValueError, match="has no inverse; even_odd=False solves for all sites"):
        singular.solve(b)
    x, info = singular.solve(b, even_odd=False, maxiter=5)
    left = np.linalg.norm(b - singular(x)) / np.linalg.norm(b)
    np.testing.assert_allclose(info.residual, left, rtol=1e-6)
    heavy = operator(device)
    heavy.epsilon = float("inf")
    with pytest.raises(ValueError, match="epsilon is inf"):
        heavy.solve(random_doublets())
    with pytest.raises(ValueError, match="2 belong together"):
        dslash(random_doublets()[:, :1], "f8", device)
    with pytest.raises(ValueError, match="takes no normal"):
        D.propagator(normal=True)
