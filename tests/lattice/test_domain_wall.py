"""Domain-wall operators as a whole: their identities, solutions and propagators."""

import domain_wall_reference as reference
import numpy as np
import pytest
from domain_wall_reference import Along
from lattice_reference import GAMMA5, gamma5, random_links
from lattice_system import random_links as near_one

from cubc import _core, lattice

EXTENT, TINY = (4, 2, 4, 6), (2, 2, 2, 2)
COEFFICIENTS = {"shamir": (1.0, 0.0), "mobius": (1.5, 0.5), "borici": (1.0, 1.0)}
BOUNDS = {"double": 1e-14, "single": 2e-6, "half": 5e-4}


def error(got, expected):
    return np.linalg.norm(got - expected) / np.linalg.norm(expected)


def field(extent, ls, *sources, seed=3):
    g = np.random.default_rng(seed).normal(size=(2, *sources, ls, *extent[::-1], 4, 3))
    return g[0] + 1j * g[1]


@pytest.fixture(scope="module")
def links():
    return random_links(np.random.default_rng(8), EXTENT)


@pytest.fixture(scope="module")
def tiny():
    return random_links(np.random.default_rng(9), TINY)


@pytest.fixture(scope="module")
def gauge(device, links):
    return lattice.Gauge(links, device=device)


# ---- the operator -------------------------------------------------------------------------------
@pytest.mark.some
@pytest.mark.parametrize("precision", BOUNDS)
@pytest.mark.parametrize(("b", "c"), COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_against_dense(device, tiny, precision, b, c):
    """M and its adjoint are those of the definition, of two sources."""
    M = lattice.Mobius(
        lattice.Gauge(tiny, device=device), 0.1, 1.4, 4, b, c, precision=precision, reconstruct=18
    )
    wilson = reference.wilson_matrix(tiny, 1.4, antiperiodic=True)
    dense = reference.mobius_matrix(wilson, 0.1, 4, b, c)
    psi = field(TINY, 4, 2)
    flat = psi.reshape(2, -1)
    assert error(M(psi).reshape(2, -1), flat @ dense.T) < BOUNDS[precision]
    assert error(M.dagger(psi).reshape(2, -1), flat @ dense.conj()) < BOUNDS[precision]


def test_shamir_is_a_mobius_operator(gauge):
    psi = field(EXTENT, 5)
    shamir = lattice.DomainWall(gauge, 0.1, 1.8, 5)
    assert (shamir(psi) == lattice.Mobius(gauge, 0.1, 1.8, 5, 1.0, 0.0)(psi)).all()
    assert "DomainWall(" in repr(shamir)


def test_reflection(gauge):
    """R gamma_5 M gamma_5 R = M^+ of Shamir's operator, with R from s to Ls - 1 - s."""
    M, psi = lattice.DomainWall(gauge, 0.1, 1.8, 5), field(EXTENT, 5)[0:5]
    reflected = gamma5(M(gamma5(psi[::-1])))[::-1]
    assert error(reflected, M.dagger(psi)) < 1e-14


def test_one_site_is_a_wilson_operator(gauge):
    """Ls = 1: D_W(-M5) + 1 + m, of mass 1 + m - M5."""
    M, psi = lattice.DomainWall(gauge, 0.3, 1.8, 1), field(EXTENT, 1)
    W = lattice.Wilson(gauge, mass=1 + 0.3 - 1.8)
    assert error(M(psi), W(psi) / (2 * W.kappa)) < 1e-14


def test_the_hopping_term_is_that_of_every_s(gauge):
    M, psi = lattice.Mobius(gauge, 0.1, 1.8, 4), field(EXTENT, 4)
    W = lattice.Wilson(gauge, kappa=0.1)
    assert (M.dslash(psi) == W.dslash(psi)).all()
    half = psi.reshape(4, *EXTENT[::-1][:3], 2, 2, 4, 3)[..., 0, :, :]
    assert (M.dslash(half, "odd") == W.dslash(half, "odd")).all()


# ---- four dimensions ----------------------------------------------------------------------------
def dense(operator, ls, extent):
    n = ls * 12 * int(np.prod(extent))
    return operator(np.eye(n).reshape(n, ls, *extent[::-1], 4, 3) + 0j).reshape(n, n).T


@pytest.mark.some(1)
@pytest.mark.parametrize(("b", "c"), COEFFICIENTS.values(), ids=COEFFICIENTS)
def test_reduction_to_the_overlap_operator(device, tiny, b, c):
    """The first block of P^+ M(1)^-1 M(m) P is the overlap operator, and the others are 1."""
    ls, mass, m5, n = 4, 0.2, 1.3, 192
    gauge = lattice.Gauge(tiny, device=device)
    M = lattice.Mobius(gauge, mass, m5, ls, b, c, reconstruct=18)
    regulator = lattice.Mobius(gauge, 1.0, m5, ls, b, c, reconstruct=18)
    walls = np.kron(np.eye(ls), reference.on_sites(reference.MINUS, 16))
    walls += np.kron(np.roll(np.eye(ls), 1, axis=1), reference.on_sites(reference.PLUS, 16))
    matrix = dense(M, ls, TINY) @ walls
    reduced = walls.T @ np.linalg.solve(dense(regulator, ls, TINY), matrix)
    wilson = reference.wilson_matrix(tiny, m5, antiperiodic=True)
    overlap = reference.overlap_matrix(wilson, mass, ls, b, c)
    assert error(reduced[:n, :n], overlap) < 1e-12
    assert error(reduced[n:, n:], np.eye(3 * n)) < 1e-12
    assert abs(reduced[:n, n:]).max() < 1e-12

    place = (1, 0, 1, 1)
    inverse = (np.linalg.inv(overlap) - np.eye(n)) / (1 - mass)
    columns = inverse.reshape(16, 4, 3, 16, 4, 3)[:, :, :, np.ravel_multi_index(place[::-1], TINY)]
    expected = np.moveaxis(columns, 2, 3).reshape(*TINY, 4, 4, 3, 3)
    S = M.propagator(place, tol=1e-12)
    assert error(S, expected) < 1e-10
    points = lattice.point_source(M.gauge.extent, place)
    both = M.propagator(source=np.stack([points, 2j * points]), tol=1e-12)
    assert error(both, np.stack([S, 2j * S])) < 1e-10
    assert error(M.pion_correlator(both)[1], 4 * lattice.pion_correlator(S)) < 1e-10


def test_massless_quarks_become_chiral(device):
    """gamma_5 D + D gamma_5 = 2 D gamma_5 D for large Ls: the propagator anticommutes."""
    gauge, defects = lattice.Gauge(near_one(TINY, 0.1), device=device), []
    for ls in (4, 8):
        S = lattice.Mobius(gauge, 0.0, 1.8, ls, reconstruct=18).propagator(tol=1e-6)
        both = np.einsum("st,...tuab->...suab", GAMMA5, S)
        both += np.einsum("...stab,tu->...suab", S, GAMMA5)
        defects.append(np.linalg.norm(both) / np.linalg.norm(S))
    assert defects[1] < defects[0] / 4


# ---- solutions ----------------------------------------------------------------------------------
@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("solver", "sloppy", "even_odd"), [("cg", "half", True), ("bicgstab", "double", False)]
)
def test_solutions(gauge, solver, sloppy, even_odd):
    """Several sources with a first guess, in mixed precision, by parity and on all sites."""
    M, b = lattice.Mobius(gauge, 0.1, 1.8, 4), field(EXTENT, 4, 2)
    guess = field(EXTENT, 4, 2, seed=4)
    x, info = M.solve(b, solver=solver, sloppy=sloppy, even_odd=even_odd, x0=guess, tol=1e-11)
    assert info.converged
    assert len(info.sources) == 2
    assert error(M(x), b) < 1.1e-11


def test_a_good_guess_saves_iterations(gauge):
    M, b = lattice.Mobius(gauge, 0.1, 1.8, 4), field(EXTENT, 4)
    x, info = M.solve(b, tol=1e-6)
    assert M.solve(b, tol=1e-6, x0=x)[1].iterations < info.iterations / 4


def test_the_system_of_the_even_sites(device, links, gauge):
    """M_e = 1 - D_eo K D_oe K / 4 with K = B / T."""
    m5, ls, b, c = 1.8, 4, 1.5, 0.5
    M, along = lattice.Mobius(gauge, 0.1, m5, ls, b, c), Along(ls, 0.1)
    y = field((EXTENT[0] // 2, *EXTENT[1:]), ls)
    x, info = M.solve(y, tol=1e-11)
    assert info.converged
    T = (b * (4 - m5) + 1) * along.one + (c * (4 - m5) - 1) * along.H
    K = (b * along.one + c * along.H) @ np.linalg.inv(T)
    odd = M.dslash(along.apply(K, x), "odd")
    assert error(x - M.dslash(along.apply(K, odd), "even") / 4, y) < 1.1e-11


@pytest.mark.usefixtures("policies")
@pytest.mark.some(1)
@pytest.mark.parametrize("share", ["spt_2.sg_2", "spt_5.sg_1"])
def test_links_that_are_kept_for_all_heights(share):
    """The variants of GPUs: a block has several heights, of one right-hand side or of two."""
    ls, b = 5, field(EXTENT, 5, 2)
    gauge = lattice.Gauge(near_one(EXTENT[::-1]), device="cpu")
    M = lattice.Mobius(gauge, 0.1, 1.8, ls, precision="double")
    expected, (x, info) = M(b), M.solve(b, tol=1e-10)
    sites = "bx_1.by_1.bz_1.bt_1.sz_7.ld_0.ll_0.cv_0"
    place = dict(zip("XYZT", EXTENT, strict=True))
    for name, label, axes in (
        ("wilson", f"tpb_64.mb_1.{share}.sf_1.kl_1", {"Sources": 2 * ls}),
        ("domain_wall", "cl_3.tpb_64.mb_1.spt_2.sg_1.sf_0.kl_1", {"Sources": 2, "Ls": ls}),
    ):
        where = (f"dslash.{name}.r12", {"T{ct}": "F64"}, "cpu")
        _core.use_policy(*where, f"{label}.{sites}", place | axes)
    np.testing.assert_array_equal(M(b), expected)
    again, of_kept = M.solve(b, tol=1e-10)
    assert error(again, x) < 1e-9 and abs(of_kept.iterations - info.iterations) <= 1
    np.testing.assert_array_equal(M.solve(b, tol=1e-10)[0], again)


def test_normal_equations_and_shifts(gauge):
    M, b = lattice.DomainWall(gauge, 0.1, 1.8, 4), field(EXTENT, 4)
    x, info = M.solve(b, solver="multishift", shifts=[0.0, 0.5], tol=1e-10)
    assert info.converged
    for shift, solution in zip([0.0, 0.5], x, strict=True):
        assert error(M.dagger(M(solution)) + shift * solution, b) < 1e-9


# ---- the residual mass --------------------------------------------------------------------------
def test_sources_at_any_height_of_the_wall(gauge):
    """At M5 = 4 nothing is left of D_W but its hops."""
    eta = field(EXTENT, 1)[0]
    source, near = (lattice.Mobius(gauge, 0.1, m5, 4).source(eta) for m5 in (4.0, 4 + 1e-9))
    assert error(source, near) < 1e-8


def test_residual_mass(device):
    """The Ward identity of the pion over all t, m P + J = S(0, 0); m_res falls with Ls."""
    gauge, mass, masses = lattice.Gauge(near_one(TINY, 0.1), device=device), 0.1, []
    for ls in (4, 8):
        M = lattice.DomainWall(gauge, mass, 1.8, ls, reconstruct=18)
        psi, info = M.solve(M.source(lattice.point_source(gauge.extent, (1, 0, 1, 1))), tol=1e-9)
        assert info.converged
        q, middle = M.physical(psi), M.midpoint(psi)
        pion, breaking = ((abs(field) ** 2).sum((0, 1, 3, 4, 5, 6, 7)) for field in (q, middle))
        at_source = np.einsum("sasa->", q[:, :, 1, 1, 0, 1]).real
        assert (mass * pion + breaking).sum() == pytest.approx(at_source, rel=1e-8)
        masses.append(M.residual_mass((1, 0, 1, 1), tol=1e-9))
        np.testing.assert_allclose(masses[-1], np.roll(breaking / pion, -1), rtol=1e-6)
    assert (masses[1] < masses[0] / 4).all()


# ---- arguments ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Ls": 0}, "Ls=0: the fifth dimension has 1 to 64 sites"),
        ({"Ls": 65}, "Ls=65"),
        ({"mass": float("nan")}, "mass=nan.*expected finite numbers"),
        ({"reconstruct": 13}, "reconstruct=13"),
        ({"precision": "quad"}, "precision 'quad'"),
    ],
)
def test_wrong_arguments(gauge, change, words):
    with pytest.raises(ValueError, match=words):
        lattice.Mobius(gauge, **({"mass": 0.1, "M5": 1.8, "Ls": 4} | change))


def test_wrong_fields(gauge):
    M = lattice.DomainWall(gauge, 0.1, 1.8, 5)
    with pytest.raises(ValueError, match="the axis before those of the lattice is the inner"):
        M(field(EXTENT, 4))
    with pytest.raises(ValueError, match="Ls=5: the middle of an even number of sites"):
        M.midpoint(field(EXTENT, 5))
    of_one = lattice.DomainWall(gauge, 0.1, 1.8, 1)
    for psi in (field(EXTENT, 2), field(EXTENT, 1)[0]):  # sources without an axis of Ls, and one
        with pytest.raises(ValueError, match="axis before those of the lattice is the fifth"):
            of_one.physical(psi)
    with pytest.raises(ValueError, match="`solve` takes normal"):
        M.propagator(normal=True)
    with pytest.raises(TypeError, match="expected a Gauge"):
        lattice.DomainWall(None, 0.1, 1.8, 5)
    singular = lattice.Mobius(gauge, 0.1, 5.0, 4, b5=1.0)
    with pytest.raises(ValueError, match=r"b5 \(4 - M5\) \+ 1 is 0"):
        singular.solve(field(EXTENT, 4))
    b = field(EXTENT, 4)
    x, info = singular.solve(b, even_odd=False, maxiter=5000, tol=1e-6)
    assert info.converged and np.linalg.norm(b - singular(x)) < 1e-5 * np.linalg.norm(b)
