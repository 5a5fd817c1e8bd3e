"""Twisted mass fermions with a clover term: their Dslash and operator against NumPy."""

import lattice_terms as terms
import numpy as np
import pytest
from inputs import each_of
from lattice_reference import half
from lattice_terms import BOUNDS, EXTENTS

from cubc import lattice
from cubc._core import call

KAPPA, CSW, MU = 0.1, 1.2, 0.7
T = 2 * KAPPA * MU


def site_term(links, t=T, csw=CSW):
    """A + i t gamma_5 as matrices of 12 rows."""
    gamma_5 = np.kron(terms.GAMMA5, np.eye(3))
    return terms.clover_term(links, KAPPA * csw, KAPPA * csw) + 1j * t * gamma_5


def operator(device, mu=MU, csw=CSW, **options):
    gauge = lattice.Gauge(terms.random_links(), device=device)
    return lattice.TwistedClover(gauge, KAPPA, csw, mu, **{"precision": "double"} | options)


def matrices_in(precision, device):
    """The clover term and K, the inverse of its square and t^2, with their norms."""
    links = terms.pack_links(terms.random_links(), "f8", 18, device)
    c = {"magnetic": KAPPA * CSW, "electric": KAPPA * CSW}
    made = {
        p: call("clover_term", {"links": links} | terms.clover_output(p) | EXTENTS | c)
        for p in ("f8", precision)
    }
    fields = {"clover": made["f8"][0], "log_det": ("f8", (terms.SITES,), None)}
    fields |= {"squared": 1, "shift": T**2} | terms.clover_output(precision) | EXTENTS
    return made[precision], call("clover_invert", fields)[:2]


def dslash(psi, precision, device, *, parity, x=None, **numbers):
    """The kernel's result: spinors of NumPy in and out."""
    of = parity if parity == 2 else 1 - parity
    field, norms = terms.pack(psi, precision, of, device)
    clover, inverse = matrices_in(precision, device)
    fields = {
        "links": terms.pack_links(terms.random_links(), precision, 12, device),
        "in": field,
        "in_norms": norms,
        "clover": clover[0],
        "clover_norms": clover[1],
        "reconstruct": 12,
        "parity": parity,
        "anisotropy": 1.0,
        "t": T,
    }
    if not numbers.get("on_x"):
        fields |= {"inverse": inverse[0], "inverse_norms": inverse[1]}
    if x is not None:
        fields["x"], fields["x_norms"] = terms.pack(x, precision, parity, device)
    fields |= terms.output(precision, field.size // 24) | EXTENTS | numbers
    return terms.unpack(call("dslash_twisted_clover", fields), len(psi))


@pytest.mark.parametrize(("precision", "parity"), each_of(BOUNDS, [0, 1, 2]))
def test_the_term_on_x(device, precision, parity):
    links, psi, x = terms.random_links(), terms.random_spinors(), terms.random_spinors(seed=3)
    got = dslash(psi, precision, device, parity=parity, x=x, a=-0.12, on_x=1)
    expected = terms.apply_sites(site_term(links), x) - 0.12 * terms.hopping(links, psi)
    assert terms.error(got, terms.sites_of(expected, parity)) < BOUNDS[precision]


@pytest.mark.parametrize(("precision", "parity", "has_x"), each_of(BOUNDS, [1, 2], [False, True]))
def test_its_inverse_on_hops(device, precision, parity, has_x):
    """Several sources."""
    links, psi, x = terms.random_links(), terms.random_spinors(3), terms.random_spinors(3, seed=3)
    expected = terms.apply_sites(np.linalg.inv(site_term(links)), terms.hopping(links, psi))
    options = {"parity": parity, "a": -0.12}
    if has_x:
        expected, options["x"] = x - 0.12 * expected, x
    got = dslash(psi, precision, device, **options)
    assert terms.error(got, terms.sites_of(expected, parity)) < 2 * BOUNDS[precision]


# ---- the operator --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("precision", "bound"), [("double", 1e-14), ("single", 1e-6), ("half", 2e-4)]
)
def test_the_operator_against_numpy(device, precision, bound):
    D, psi, links = (
        operator(device, precision=precision),
        terms.random_spinors(),
        terms.random_links(),
    )
    hops = terms.hopping(links, psi, antiperiodic=True)
    expected = terms.apply_sites(site_term(links), psi) - KAPPA * hops
    assert terms.error(D(psi), expected) < bound
    assert "csw=(1.2, 1.2), mu=0.7" in repr(D)


def test_the_adjoint_has_the_other_sign(device):
    """M(mu)^+ = gamma_5 M(-mu) gamma_5, and it is the adjoint."""
    D, other = operator(device), operator(device, -MU)
    x, y = terms.random_spinors(seed=4), terms.random_spinors(seed=5)
    expected = terms.spin(terms.GAMMA5, other(terms.spin(terms.GAMMA5, x)))
    assert terms.error(D.dagger(x), expected) < 1e-14
    assert abs(np.vdot(y, D(x)) - np.vdot(D.dagger(y), x)) < 1e-12 * np.linalg.norm(x) ** 2


def test_the_normal_operator(device):
    """M^+ M = M_W^+ M_W + t^2 holds with the clover term in M_W."""
    D, x = operator(device), terms.random_spinors()
    W = lattice.WilsonClover(D.gauge, KAPPA, CSW, precision="double")
    assert terms.error(D.dagger(D(x)), W.dagger(W(x)) + T**2 * x) < 1e-14


def test_its_limits(device):
    """Without a twisted mass it is Wilson-clover, without a clover term twisted mass."""
    x, options = terms.random_spinors(), {"precision": "double"}
    D, E = operator(device, 0.0), operator(device, csw=0.0)
    W = lattice.WilsonClover(D.gauge, KAPPA, CSW, **options)
    assert terms.error(D(x), W(x)) < 1e-15
    assert terms.error(E(x), lattice.TwistedMass(E.gauge, KAPPA, MU, **options)(x)) < 1e-15


def test_trace_of_the_logarithm(device):
    """It is of both flavours, and follows mu."""
    D, matrices = operator(device), site_term(terms.random_links())
    assert abs(D.trace_log() - 2 * np.linalg.slogdet(matrices)[1].sum()) < 1e-10
    D.mu = 0.0
    matrices = site_term(terms.random_links(), 0.0)
    assert abs(D.trace_log() - 2 * np.linalg.slogdet(matrices)[1].sum()) < 1e-10


def of_even(D, x):
    """M_e of spinors of the even sites, by matrices of NumPy and hops of one parity."""
    matrices = site_term(terms.random_links(), 2 * KAPPA * D.mu)
    odd = terms.apply_sites(half(np.linalg.inv(matrices), 1), D.dslash(x, "odd"))
    return terms.apply_sites(half(matrices, 0), x) - KAPPA**2 * D.dslash(odd, "even")


@pytest.mark.some(1)
@pytest.mark.parametrize(("precision", "sloppy"), [("double", "half"), ("single", "half")])
def test_solve(device, precision, sloppy):
    """Even-odd, of several sources; each precision has its own matrices."""
    D, b = operator(device), terms.random_spinors(2)
    tol = 1e-11 if precision == "double" else 1e-5
    x, info = D.solve(b, tol=tol, precision=precision, sloppy=sloppy)
    assert info.converged
    assert terms.error(D(x), b) < 2 * tol


def test_solve_on_all_sites(device):
    D, b = operator(device), terms.random_spinors(2)
    x, info = D.solve(b, tol=1e-11, even_odd=False)
    assert info.converged and terms.error(D(x), b) < 2e-11


def test_solve_on_the_even_sites(device):
    D = operator(device)
    even = np.stack([half(b, 0) for b in terms.random_spinors(2)])
    x, info = D.solve(even, tol=1e-11, sloppy="half")
    assert info.converged and terms.error(of_even(D, x), even) < 2e-11


def test_propagators(device):
    """Each column is of its point."""
    D, place = operator(device), (1, 0, 3, 2)
    S = D.propagator(place, tol=1e-7, sloppy="half")
    assert (terms.left_of_points(D, S, place) < 1e-7).all()


def test_wrong_arguments(device):
    D = operator(device)
    with pytest.raises(TypeError, match="takes csw and mu"):
        lattice.TwistedClover(D.gauge, KAPPA, CSW)
    D.mu = float("nan")
    with pytest.raises(ValueError, match="mu is nan"):
        D.solve(terms.random_spinors())
    with pytest.raises(ValueError, match="there is no x"):
        dslash(terms.random_spinors(), "f8", device, parity=2, on_x=1)
