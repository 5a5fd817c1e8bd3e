"""Communication-avoiding conjugate gradients: the iterates of cg, four at a time."""

from functools import partial

import lattice_reference as reference
import numpy as np
import pytest
from inputs import on, value
from lattice_system import KAPPA, LINKS, SHAPE, B, flat_links, random_spinors, residual, wave

from cubc import _core, lattice

CHI = np.ascontiguousarray(B[..., 0, :])
EVEN = reference.half(B, 0)


@pytest.fixture(scope="module")
def operator(device):
    return lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="double")


@pytest.fixture(scope="module")
def staggered(device):
    return lattice.Staggered(lattice.Gauge(LINKS, device=device), 0.05, precision="double")


def solve(operator, b, **options):
    return operator.solve(b, solver="ca_cg", **{"tol": 1e-10} | options)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("b", "options"), [(B, {}), (EVEN, {"normal": True}), (B, {"even_odd": False})]
)
def test_the_iterates_of_cg(operator, b, options):
    """With normal equations, and with a Hermitian positive operator, without updates between."""
    for count in (4, 12, 28):
        how = {"maxiter": count, "delta": 1e-8, "tol": 1e-14} | options
        x, info = solve(operator, b, **how)
        expected, _ = operator.solve(b, **how)
        assert info.iterations == count
        assert np.linalg.norm(x - expected) < 1e-9 * np.linalg.norm(expected)


def normal_of_even(operator, x):
    """M_e^+ M_e of Wilson fermions, from hops of one parity."""
    for dagger in (False, True):
        odd = operator.dslash(x, "odd", dagger=dagger)
        x = x - operator.kappa**2 * operator.dslash(odd, "even", dagger=dagger)
    return x


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("system", "sloppy"),
    [
        ("wilson", "half"),
        ("wilson", "single"),
        ("product", "half"),
        ("product", "single"),
        ("staggered", "double"),
        ("staggered", "half"),
    ],
)
def test_every_precision(operator, staggered, system, sloppy):
    """True residuals, and few more iterations than cg in double precision."""
    D, b, options, product = {
        "wilson": (operator, B, {}, operator),
        "product": (operator, EVEN, {"normal": True}, partial(normal_of_even, operator)),
        "staggered": (staggered, CHI, {}, staggered),
    }[system]
    x, info = solve(D, b, sloppy=sloppy, tol=1e-12, **options)
    left = np.linalg.norm(b - product(x)) / np.linalg.norm(b)
    assert info.converged and left < 1e-12
    assert info.residual == pytest.approx(left, rel=1e-2)
    _, of_cg = D.solve(b, tol=1e-12, **options)
    assert info.iterations % 4 == 0 and info.iterations <= 1.2 * of_cg.iterations + 8


def test_in_single_precision(device):
    wilson = lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="single")
    x, info = solve(wilson, on(device, B.astype(np.complex64)), tol=1e-5, sloppy="half")
    assert info.converged and x.dtype == np.complex64
    assert residual(wilson, value(x), B) < 2e-5


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("kind", "options", "how"),
    [
        ("TwistedDoublet", {"kappa": KAPPA, "mu": 0.3, "epsilon": 0.1}, {"even_odd": False}),
        ("Mobius", {"mass": 0.3, "M5": 1.4, "Ls": 4}, {}),
        ("WilsonClover", {"kappa": KAPPA, "csw": 1.2}, {}),
        ("Asqtad", {"mass": 0.01}, {}),  # eigenvalues up to 800
    ],
)
def test_other_operators(device, kind, options, how):
    D = getattr(lattice, kind)(lattice.Gauge(LINKS, device=device), **options)
    inner = {"TwistedDoublet": (2,), "Mobius": (4,)}.get(kind, ())
    b = random_spinors((*inner, *SHAPE), 3)
    b = np.ascontiguousarray(b[..., 0, :]) if kind == "Asqtad" else b
    x, info = solve(D, b, **how)
    _, of_cg = D.solve(b, **how)
    assert info.converged and residual(D, x, b) < 1e-10
    assert info.iterations <= 1.1 * of_cg.iterations + 8


def test_several_sources(operator):
    """Some are large or small, one is zero, one is solved already, and one is not finite."""
    b = np.stack([B, 0 * B, random_spinors(SHAPE, 2), 1e30 * B, 1e-30 * B, np.nan * B, 1j * B])
    guess = np.zeros_like(b)
    guess[2] = operator.solve(b[2], tol=1e-12)[0]
    x, info = solve(operator, b, x0=guess, sloppy="half")
    assert [one.converged for one in info.sources] == [True] * 5 + [False, True]
    assert not x[1].any() and np.isnan(x[5]).all()
    assert [one.iterations for one in info.sources[1:3]] == [0, 0]
    for k in (0, 2, 3, 4, 6):
        assert residual(operator, x[k], b[k]) < 2e-10
    alone, _ = solve(operator, B, sloppy="half")
    np.testing.assert_allclose(x[0], alone, rtol=0, atol=1e-9)


def test_its_ends(operator):
    """The limit, in steps of four, and a tolerance that the numbers do not hold."""
    _, info = solve(operator, B, maxiter=5)
    assert not info.converged and "most iterations" in info.reason and info.iterations == 8
    _, info = solve(operator, B, tol=1e-30)
    assert not info.converged and "stagnated" in info.reason and info.residual < 1e-14


def test_directions_that_are_parallel(operator):
    """M is 1, or the source is an eigenvector of a low eigenvalue: one direction is enough."""
    x, info = solve(lattice.Wilson(operator.gauge, 0.0, precision="double"), B)
    assert info.converged and info.iterations <= 8
    np.testing.assert_allclose(x, B, rtol=1e-13)
    flat = lattice.Gauge(flat_links(), device=operator.gauge.device)
    constant = lattice.Wilson(flat, 0.12, precision="double")
    for b in (wave(), wave() + 1e-6 * B):
        x, info = solve(constant, b)
        assert info.converged and residual(constant, x, b) < 1e-10


@pytest.mark.parametrize(("mass", "sloppy"), [(0.05, "half"), (0.3, "half"), (0.3, "single")])
def test_a_space_that_few_steps_exhaust(device, mass, sloppy):
    """The free field and a point source: the next directions are rounding alone."""
    free = lattice.Staggered(lattice.Gauge.unit((4, 4, 4, 8), device=device), mass)
    b = np.zeros((8, 4, 4, 4, 3), complex)
    b[0, 0, 0, 0, 0] = 1
    x, info = solve(free, b, sloppy=sloppy)
    assert info.converged and info.iterations < 200
    assert np.linalg.norm(free(x) - b) < 2e-10


def test_an_operator_without_inverse(operator):
    flat = lattice.Gauge(flat_links(), device=operator.gauge.device)
    singular = lattice.Wilson(flat, 0.125, precision="double")
    _, info = solve(singular, wave(), maxiter=2000)
    assert not info.converged
    assert any(word in info.reason for word in ("broke down", "stagnated", "most", "finite"))


@pytest.mark.usefixtures("policies")
def test_blocks_of_several_warps():
    """The sums of GPU variants, thirty at once, of several sources."""
    _core.use_policy("field_update.cg", {"T{ct}": "F64"}, "cpu", "tpb_64.mb_1.spt_1")
    operator = lattice.Wilson(lattice.Gauge(LINKS, device="cpu"), KAPPA, precision="double")
    b = np.stack([B, random_spinors(SHAPE, 2)])
    x, info = solve(operator, b)
    assert info.converged
    for k in range(2):
        assert residual(operator, x[k], b[k]) < 1e-10
    again, _ = solve(operator, b)
    np.testing.assert_array_equal(x, again)  # not a bit is another
