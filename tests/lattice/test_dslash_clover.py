"""The Dslash of Wilson-clover fermions, and their operator."""

import lattice_terms as terms
import numpy as np
import pytest
from clover_terms import apply, expected_term, inverse_of, term_of
from inputs import each_of, on
from lattice_terms import BOUNDS, EXTENTS

from cubc import lattice
from cubc._core import call


# ---- the Dslash ----------------------------------------------------------------------------------
def dslash(links, psi, term, precision, device, *, reconstruct=18, parity=2, x=None, **numbers):
    """The kernel's result: spinors of NumPy in and out."""
    of = parity if parity == 2 else 1 - parity
    field, norms = terms.pack(psi, precision, of, device)
    fields = {
        "links": terms.pack_links(links, precision, reconstruct, device),
        "in": field,
        "in_norms": norms,
        "clover": term[0],
        "clover_norms": term[1],
        "reconstruct": reconstruct,
        "parity": parity,
        "anisotropy": 1.0,
    }
    if x is not None:
        fields["x"], fields["x_norms"] = terms.pack(x, precision, parity, device)
    fields |= terms.output(precision, field.size // 24) | EXTENTS | numbers
    return terms.unpack(call("dslash_clover", fields), len(psi))


@pytest.mark.parametrize(
    ("precision", "reconstruct", "parity", "dagger"),
    each_of(BOUNDS, [18, 12, 8], [0, 1, 2], [0, 1]),
)
def test_the_term_on_x(device, precision, reconstruct, parity, dagger):
    """M and, of one parity, the asymmetric form."""
    links, psi, x = terms.random_links(), terms.random_spinors(), terms.random_spinors(seed=3)
    hops = terms.hopping(links, psi, dagger, antiperiodic=True, anisotropy=1.3)
    options = {"reconstruct": reconstruct, "parity": parity, "dagger": dagger, "on_x": 1}
    options |= {"antiperiodic": 1, "anisotropy": 1.3, "a": -0.12}
    got = dslash(links, psi, term_of(links, precision, device), precision, device, x=x, **options)
    expected = terms.sites_of(terms.apply_sites(expected_term(links), x) - 0.12 * hops, parity)
    assert terms.error(got, expected) < BOUNDS[precision] * (10 if reconstruct == 8 else 1)


@pytest.mark.parametrize(("precision", "parity", "has_x"), each_of(BOUNDS, [1, 2], [False, True]))
def test_the_term_on_hops(device, precision, parity, has_x):
    """The symmetric form, of several sources."""
    links, psi, x = terms.random_links(), terms.random_spinors(3), terms.random_spinors(3, seed=3)
    expected = terms.apply_sites(expected_term(links), terms.hopping(links, psi))
    options = {"parity": parity, "a": -0.12}
    if has_x:
        expected, options["x"] = x - 0.12 * expected, x
    term = term_of(links, precision, device)
    got = dslash(links, psi, term, precision, device, **options)
    assert terms.error(got, terms.sites_of(expected, parity)) < BOUNDS[precision]


def test_without_a_term_it_is_wilson(device):
    links, psi, x = terms.random_links(), terms.random_spinors(), terms.random_spinors(seed=3)
    term = term_of(links, "f8", device, magnetic=0.0, electric=0.0)
    expected = terms.sites_of(x - 0.12 * terms.hopping(links, psi), 2)
    for on_x in (0, 1):
        got = dslash(links, psi, term, "f8", device, x=x, a=-0.12, on_x=on_x)
        assert terms.error(got, expected) < BOUNDS["f8"]


# ---- the operator --------------------------------------------------------------------------------
KAPPA, CSW = 0.1, 1.2


def operator(device, csw=CSW, **options):
    """The operator in double precision."""
    gauge = lattice.Gauge(terms.random_links(), device=device)
    return lattice.WilsonClover(gauge, KAPPA, csw, **{"precision": "double"} | options)


def hopping(links, psi):
    """D of the operator."""
    return terms.hopping(links, psi, antiperiodic=True)


@pytest.mark.parametrize(
    ("precision", "bound"), [("double", 1e-14), ("single", 1e-6), ("half", 2e-4)]
)
def test_the_operator_against_numpy(device, precision, bound):
    D, psi, links = (
        operator(device, (1.2, 0.7), precision=precision),
        terms.random_spinors(),
        terms.random_links(),
    )
    matrices = terms.clover_term(links, KAPPA * 1.2, KAPPA * 0.7)
    hops = hopping(links, psi)
    assert terms.error(D(psi), terms.apply_sites(matrices, psi) - KAPPA * hops) < bound
    assert terms.error(D.dslash(psi), hops) < bound
    assert "csw=(1.2, 0.7)" in repr(D)


def test_the_operator_is_gamma5_hermitian(device):
    D, x, y = operator(device), terms.random_spinors(seed=4), terms.random_spinors(seed=5)
    turned = terms.spin(terms.GAMMA5, D(terms.spin(terms.GAMMA5, x)))
    assert terms.error(D.dagger(x), turned) < 1e-14
    assert abs(np.vdot(y, D(x)) - np.vdot(D.dagger(y), x)) < 1e-12 * np.linalg.norm(x) ** 2


def test_another_field_has_another_term(device):
    """Put in place of the first, which had not changed either."""
    D, x = operator(device), terms.random_spinors()
    before = D(x)
    D.gauge = lattice.Gauge(terms.random_links(seed=8), device=device)
    fresh = lattice.WilsonClover(D.gauge, KAPPA, D.csw, precision="double")
    assert terms.error(D(x), fresh(x)) == 0
    assert terms.error(D(x), before) > 0.1


def test_without_a_coefficient_it_is_wilson(device):
    D, x = operator(device, 0.0), terms.random_spinors()
    W = lattice.Wilson(D.gauge, KAPPA, precision="double")
    assert terms.error(D(x), W(x)) < 1e-15


def test_trace_of_the_logarithm(device):
    D = operator(device)
    log_det = np.linalg.slogdet(terms.clover_term(terms.random_links(), KAPPA * CSW, KAPPA * CSW))[
        1
    ]
    for parity, sites in (("even", terms.PARITY == 0), ("odd", terms.PARITY == 1), (None, ...)):
        assert abs(D.trace_log(parity) - log_det[sites].sum()) < 1e-11
    with pytest.raises(ValueError, match="parity 'all': expected 'even' or 'odd', or None"):
        D.trace_log("all")
    D.csw = (float("nan"), 0.1 / KAPPA)
    with pytest.raises(ValueError, match=r"coefficients of nan and 0\.1: they are finite"):
        D(terms.random_spinors())


def test_the_term_follows_the_coefficients(device):
    D, fresh, x = operator(device), operator(device), terms.random_spinors()
    D(x)
    D.kappa = fresh.kappa = 0.5 * KAPPA
    D.csw = fresh.csw = (2.0, 1.0)
    np.testing.assert_array_equal(D(x), fresh(x))


def test_the_term_follows_the_links(device):
    D, x = operator(device), terms.random_spinors()
    before = D.trace_log()
    D.gauge._native = lattice.Gauge(terms.random_links(9), device=device).native()
    D.gauge.changed()
    assert D.trace_log() != before
    matrices = terms.clover_term(terms.random_links(9), KAPPA * CSW, KAPPA * CSW)
    hops = hopping(terms.random_links(9), x)
    assert terms.error(D(x), terms.apply_sites(matrices, x) - KAPPA * hops) < 1e-14


def solution(D, b):
    """M^-1 b by conjugate gradients on the normal operator."""
    x, r = np.zeros_like(b), b.copy()
    s = p = D.dagger(r)
    gamma = np.vdot(s, s).real
    for _ in range(500):
        q = D(p)
        alpha = gamma / np.vdot(q, q).real
        x, r = x + alpha * p, r - alpha * q
        if np.linalg.norm(r) < 1e-13 * np.linalg.norm(b):
            break
        s = D.dagger(r)
        gamma, old = np.vdot(s, s).real, gamma
        p = s + gamma / old * p
    return x


def test_even_odd_forms_have_the_same_solution(device):
    """The whole operator, and both forms on even sites, by kernels for one parity."""
    D, b = operator(device), terms.random_spinors()
    x = solution(D, b)
    links = terms.random_links()
    term = term_of(links, "f8", device, magnetic=KAPPA * CSW, electric=KAPPA * CSW)
    inverse = inverse_of(term, "f8")

    def dslash_of(psi, parity, matrices, x=None, **numbers):
        numbers |= {"parity": parity, "reconstruct": 12, "antiperiodic": 1}
        sites = dslash(links, psi, matrices, "f8", device, x=x, **numbers)
        whole = np.zeros_like(psi)
        whole[:, parity == terms.PARITY] = sites
        return whole

    def site(matrices, psi, parity):
        whole = np.zeros_like(psi)
        whole[:, parity == terms.PARITY] = apply(matrices, psi, "f8", device, parity)
        return whole

    odd = dslash_of(x, 1, inverse)  # A^-1 D x
    even = {"a": -(KAPPA**2)}
    of_source = site(inverse, b, 1)
    asymmetric = dslash_of(odd, 0, matrices=term, x=x, on_x=1, **even)
    source = site(inverse, b + KAPPA * hopping(links, of_source), 0)
    symmetric = dslash_of(odd, 0, matrices=inverse, x=x, **even)
    even_sites = terms.PARITY == 0
    expected = (b + KAPPA * hopping(links, of_source))[:, even_sites]
    assert terms.error(asymmetric[:, even_sites], expected) < 1e-11
    assert terms.error(symmetric[:, even_sites], source[:, even_sites]) < 1e-11
    rest = dslash_of(x, 1, inverse, x=of_source, a=KAPPA)
    assert terms.error(rest[:, ~even_sites], x[:, ~even_sites]) < 1e-11


@pytest.mark.parametrize(("sloppy", "even_odd"), [("half", True), ("double", False)])
def test_solve(device, sloppy, even_odd):
    D, b = operator(device), terms.random_spinors(2)
    x, info = D.solve(b, tol=1e-11, sloppy=sloppy, even_odd=even_odd)
    assert info.converged
    assert info.residual < 1e-11
    assert terms.error(D(x), b) < 2e-11


def test_solve_in_single_precision(device):
    D, b = operator(device), terms.random_spinors()
    x, info = D.solve(b, tol=1e-5, precision="single", sloppy="half")
    assert info.converged
    assert terms.error(D(x), b) < 2e-5


def test_propagators(device):
    """Each column is of its point; without a coefficient all are those of Wilson fermions."""
    place, options = (1, 0, 3, 2), {"tol": 1e-7, "sloppy": "half"}
    D, free = operator(device), operator(device, 0.0)
    assert (terms.left_of_points(D, D.propagator(place, **options), place) < 1e-7).all()
    W = lattice.Wilson(D.gauge, KAPPA, precision="double")
    assert (terms.left_of_points(W, free.propagator(place, **options), place) < 1e-7).all()


# ---- errors --------------------------------------------------------------------------------------
LINKS, SPINORS, MATRICES = (np.zeros(n * terms.SITES) for n in (72, 24, 72))


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("dslash_clover", {"clover": MATRICES[2:]}, "the clover term has 13822 real numbers"),
        ("dslash_clover", {"on_x": 1}, "there is no x"),
        ("dslash_clover", {"out": ("f8", SPINORS.shape, MATRICES[: SPINORS.size])}, "overlaps"),
        ("clover_apply", {"parity": 4}, "parity 4"),
        ("clover_term", {"out": ("f8", (72,), None)}, "the clover term has 72 real numbers"),
        ("clover_invert", {"log_det": ("f8", (3,), None)}, "log_det has 3 numbers"),
    ],
)
def test_wrong_arguments(name, fields, words):
    given = {
        "dslash_clover": {
            "links": LINKS,
            "in": SPINORS,
            "clover": MATRICES,
            "reconstruct": 18,
            "parity": 2,
            "anisotropy": 1.0,
            "out": ("f8", SPINORS.shape, None),
        },
        "clover_apply": {"clover": MATRICES, "x": SPINORS, "out": ("f8", SPINORS.shape, None)},
        "clover_term": {"links": LINKS, "out": ("f8", MATRICES.shape, None)},
        "clover_invert": {"clover": MATRICES, "out": ("f8", MATRICES.shape, None)},
    }
    with pytest.raises(ValueError, match=words):
        call(name, given[name] | EXTENTS | fields)


def test_links_in_fixed_point(device):
    links = on(device, np.zeros(72 * terms.SITES, "i2"))
    with pytest.raises(TypeError, match="of links in fixed point"):
        call("clover_term", {"links": links} | terms.clover_output("f8") | EXTENTS)
