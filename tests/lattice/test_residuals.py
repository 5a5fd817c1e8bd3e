"""Reports of a solve: residuals of the x that comes back, stagnation, NaN, precision, time."""

import isolated
import numpy as np
import pytest
from lattice_system import (
    KAPPA,
    LINKS,
    SHAPE,
    SOLVERS,
    B,
    left_by,
    options_of,
    random_spinors,
    residual,
)

import cubc
from cubc import lattice


@pytest.fixture(scope="module")
def operator(device):
    return lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="double")


def test_shifts_beyond_the_precision(operator):
    """The recurrence converges; what it found does not, and that is said."""
    b = B.astype(np.complex64)
    options = {"solver": "multishift", "precision": "single", "shifts": [0.0, 0.1]}
    info = operator.solve(b, tol=1e-12, **options)[1]
    assert not info.converged and info.reason.endswith("holds no less; precision='double' does")
    assert all(one.residual > 1e-12 for one in info.sources)


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("solver", "sloppy"),
    [
        ("cg", "half"),
        ("ca_cg", "half"),
        ("bicgstab", "half"),
        ("gcr", "single"),
        ("multishift", None),
    ],
)
def test_residuals_in_single_precision(operator, solver, sloppy):
    """The report is true, as far as single precision can tell."""
    options = {"precision": "single", "sloppy": sloppy, "tol": 1e-5}
    x, info = operator.solve(B, **options, **options_of(solver))
    left = left_by(solver, operator, x)
    assert info.converged and left < 1.1e-5 and info.residual == pytest.approx(left, rel=0.1)


@pytest.mark.some(6)
@pytest.mark.parametrize("tol", [1e-16, 0.0])
@pytest.mark.parametrize("solver", [*SOLVERS, "ca_cg"])
def test_what_cannot_be_reached(operator, solver, tol):
    """It is found out, and soon; what is said of x is true of the numbers that come back."""
    x, info = operator.solve(B, tol=tol, **options_of(solver))
    assert not info.converged and "stagnated" in info.reason and info.iterations < 1000
    assert 1e-16 < info.residual < 1e-14
    assert info.residual == pytest.approx(left_by(solver, operator, x), abs=3e-16)


@pytest.mark.some(4)
@pytest.mark.parametrize("sloppy", ["double", "half", "single"])
@pytest.mark.parametrize("solver", ["cg", "bicgstab", "gcr"])
def test_what_can_be_reached(operator, solver, sloppy):
    """A tolerance that double precision holds is; "most iterations" is said at the limit alone."""
    options = {"solver": solver, "sloppy": sloppy}
    for seed, tol in enumerate((1e-10, 1e-11, 1e-12, 1e-13, 1e-14)):
        b = random_spinors(SHAPE, seed)
        x, info = operator.solve(b, tol=tol, maxiter=300, **options)
        assert info.converged and info.residual <= tol and info.iterations < 150, (tol, info)
        assert info.residual == pytest.approx(residual(operator, x, b), rel=1e-3, abs=3e-16)
        most = info.iterations - 2
        info = operator.solve(b, tol=tol, maxiter=most, **options)[1]
        assert info.converged == (info.residual <= tol) and info.iterations <= most
        assert info.converged or (info.iterations == most and "most iterations" in info.reason)


def test_mixed_precision_stagnates(operator):
    info = operator.solve(B, tol=0.0, sloppy="half")[1]
    assert "stagnated" in info.reason and info.iterations < 1500 and info.residual < 1e-15


@pytest.mark.parametrize("solver", ["cg", "multishift"])
def test_solutions_of_single_precision(operator, solver):
    """The residual of complex64 b is that of x as it was rounded, which 1e-10 is too much for."""
    b = B.astype(np.complex64)
    for tol, converged in ((None, True), (5e-7, True), (1e-10, False)):
        x, info = operator.solve(b, tol=tol, **options_of(solver))
        x = x.astype(complex)
        left = b - (operator(x) if solver == "cg" else operator.dagger(operator(x[0])))
        left = np.linalg.norm(left) / np.linalg.norm(b)
        assert info.residual == pytest.approx(left, rel=1e-3)
        assert info.converged == converged and (info.residual <= (tol or 1e-5)) == converged
        assert converged or (info.residual < 5e-7 and "x is rounded to complex64" in info.reason)


def test_shifts_that_have_converged_are_left_alone(operator):
    """The others make no bit of theirs another."""
    shifts = [0.0, 0.5, 20.0]
    x, info = operator.solve(B, solver="multishift", shifts=shifts, tol=1e-6)
    assert info.converged
    for k, shift in enumerate(shifts):
        alone, _ = operator.solve(B, solver="multishift", shifts=[shift], tol=1e-6)
        np.testing.assert_array_equal(x[k], alone[0])


def test_the_precision_is_that_of_the_operator(operator):
    """The precision of a solve is that of an application; half precision has no residual."""
    assert lattice.Wilson(operator.gauge, KAPPA).precision == "double"
    single = lattice.Wilson(operator.gauge, KAPPA, precision="single")
    x, info = single.solve(B)
    assert info.converged and 1e-6 < info.residual < 1e-5
    assert info.residual == pytest.approx(residual(single, x, B), rel=0.1)
    np.testing.assert_array_equal(x, operator.solve(B, precision="single")[0])
    assert single.solve(B, precision="double")[1].residual < 1e-10
    info = single.solve(B, tol=1e-10)[1]
    assert not info.converged and info.residual < 1e-6
    assert info.reason.endswith("precision='double' does, also with sloppy='single'")
    assert single.solve(B, tol=1e-10, precision="double", sloppy="single")[1].converged
    half = lattice.Wilson(operator.gauge, KAPPA, precision="half")
    with pytest.raises(ValueError, match=r"half precision, in which no residual.*sloppy='half'"):
        half.solve(B)


TWICE = """
import time
from lattice_system import KAPPA, LINKS, B
from cubc import lattice
operator = lattice.Wilson(lattice.Gauge(LINKS, device="cpu"), KAPPA)
begin = time.perf_counter()
first, again = (operator.solve(B, even_odd=False)[1] for _ in range(2))
whole = time.perf_counter() - begin
assert first.iterations == again.iterations
assert first.compile_seconds > 0.1 > again.compile_seconds >= 0
assert first.seconds < 5 * again.seconds + 1
assert first.seconds + first.compile_seconds + again.seconds + again.compile_seconds < whole
"""


def test_seconds_without_compilation(tmp_path):
    """A process of its own, and an empty cache: it is read once where compiled kernels are kept."""
    isolated.output(TWICE, CUBC_CACHE=tmp_path)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite(operator, number, solver):
    b = B.copy()
    b[1, 2, 1, 0, 1, 2] = number
    x, info = operator.solve(b, maxiter=50, **options_of(solver))
    assert not info.converged and "not finite" in info.reason and info.iterations <= 1
    assert np.isnan(x).all() and np.isnan(info.residual)


def test_a_guess_or_a_link_that_is_not_finite(operator, device):
    x0 = np.zeros_like(B)
    x0[3, 0, 1, 2, 3, 1] = np.inf
    native = operator.gauge.native().numpy().copy()
    native[1000] = np.nan
    gauge = lattice.Gauge.from_native(cubc.asarray(native, device=device), operator.gauge.extent)
    broken = lattice.Wilson(gauge, KAPPA)
    for x, info in (operator.solve(B, x0=x0), broken.solve(B.astype(np.complex64))):
        assert not info.converged and "not finite" in info.reason
        assert np.isnan(x).all() and np.isnan(info.residual)
