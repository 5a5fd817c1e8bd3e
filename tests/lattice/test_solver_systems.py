"""Systems beside M x = b: of M^+ M, and of the even sites alone."""

import os
import time

import lattice_reference as reference
import numpy as np
import pytest
from every_case import SLOPPY
from lattice_system import KAPPA, LINKS, SHAPE, B, flat_links, random_spinors, wave

import cubc
from cubc import _core, _waiting, lattice

EVEN = reference.half(B, 0)
MU = 0.3


@pytest.fixture(scope="module")
def operator(device):
    return lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="double")


def of_even(operator, x, dagger=False):
    """M_e of Wilson fermions, from hops of one parity."""
    odd = operator.dslash(x, "odd", dagger=dagger)
    return x - operator.kappa**2 * operator.dslash(odd, "even", dagger=dagger)


def normal_of_even(operator, x):
    return of_even(operator, of_even(operator, x), dagger=True)


def left(b, product):
    return np.linalg.norm(b - product) / np.linalg.norm(b)


def test_normal_equations(operator):
    """By conjugate gradients on the product itself, in all precisions of the iteration."""
    iterations = {}
    for sloppy in SLOPPY:
        x, info = operator.solve(B, normal=True, tol=1e-11, sloppy=sloppy)
        found = left(B, operator.dagger(operator(x)))
        assert info.converged and found < 1e-11
        assert info.residual == pytest.approx(found, rel=1e-3)
        iterations[sloppy] = info.iterations
    assert max(iterations.values()) <= 1.15 * iterations["double"], iterations


@pytest.mark.some(1)
@pytest.mark.parametrize("solver", ["gcr", "bicgstab"])
def test_other_methods_take_the_product_too(operator, solver):
    x, info = operator.solve(EVEN, normal=True, solver=solver, tol=1e-10)
    assert info.converged and left(EVEN, normal_of_even(operator, x)) < 1e-10


def test_bicgstab_of_the_product_is_that_of_the_paper(operator):
    """H. A. van der Vorst (1992), to a residual that few iterations reach."""
    r = B.copy()
    p = r
    rho = np.vdot(B, r)
    for _ in range(6):
        v = operator.dagger(operator(p))
        alpha = rho / np.vdot(B, v)
        r = r - alpha * v
        t = operator.dagger(operator(r))
        omega = np.vdot(t, r) / np.vdot(t, t)
        r = r - omega * t
        rho, before = np.vdot(B, r), rho
        p = r + rho / before * alpha / omega * (p - omega * v)
    options = {"solver": "bicgstab", "normal": True, "maxiter": 6, "delta": 1e-9}
    info = operator.solve(B, tol=1e-12, **options)[1]
    assert info.residual == pytest.approx(np.linalg.norm(r) / np.linalg.norm(B), rel=1e-6)


@pytest.mark.parametrize("solver", ["cg", "ca_cg", "bicgstab", "gcr"])
def test_the_even_sites_alone(operator, solver):
    x, info = operator.solve(EVEN, solver=solver, tol=1e-11)
    found = left(EVEN, of_even(operator, x))
    assert x.shape == EVEN.shape and info.converged and found < 1e-11
    assert info.residual == pytest.approx(found, rel=1e-3)


def test_a_guess_of_the_even_sites(operator):
    x, _ = operator.solve(EVEN, normal=True, tol=1e-12)
    again, info = operator.solve(EVEN, normal=True, tol=1e-11, x0=x)
    assert info.converged and info.iterations == 0
    np.testing.assert_allclose(again, x, rtol=0, atol=1e-13)


def test_twisted_mass_on_the_even_sites(operator):
    """A site term: M_e = A - kappa^2 D_eo A^-1 D_oe."""
    twisted = lattice.TwistedMass(operator.gauge, KAPPA, mu=MU, precision="double")
    t = 2 * KAPPA * MU
    x, info = twisted.solve(EVEN, tol=1e-11)
    odd = operator.dslash(x, "odd")
    odd = (odd - 1j * t * reference.gamma5(odd)) / (1 + t * t)
    product = x + 1j * t * reference.gamma5(x) - KAPPA**2 * operator.dslash(odd, "even")
    assert info.converged and left(EVEN, product) < 1e-11


@pytest.mark.parametrize("normal", [False, True])
def test_shifts_on_the_even_sites(operator, normal):
    """M_e^+ M_e + shift: by both factors, or of the product as a Hermitian positive operator."""
    shifts = [0, 0.02, 0.5]
    x, info = operator.solve(EVEN, solver="multishift", shifts=shifts, tol=1e-11, normal=normal)
    assert info.converged and x.shape == (3, *EVEN.shape)
    for shift, found, one in zip(shifts, x, info.sources, strict=True):
        product = normal_of_even(operator, found) + shift * found
        assert left(EVEN, product) < 1e-11
        assert one.residual == pytest.approx(left(EVEN, product), rel=1e-2, abs=1e-14)


def test_sources_stop_one_by_one(operator):
    """A source takes the iterations that it takes alone, and gets the same solution."""
    unit = np.zeros_like(EVEN)
    unit[0, 0, 0, 0, 0, 0] = 1
    b = np.stack([EVEN, unit, np.zeros_like(EVEN), reference.half(random_spinors(SHAPE, 2), 0)])
    guess = np.zeros_like(b)
    guess[3] = operator.solve(b[3], normal=True, tol=1e-5)[0]
    x, info = operator.solve(b, normal=True, tol=1e-8, x0=guess)
    alone = [
        operator.solve(one, normal=True, tol=1e-8, x0=near)
        for one, near in zip(b, guess, strict=True)
    ]
    assert [one.iterations for one in info.sources] == [one.iterations for _, one in alone]
    assert len({one.iterations for one in info.sources}) > 2
    for k, (y, _) in enumerate(alone):
        np.testing.assert_allclose(x[k], y, rtol=0, atol=1e-12 * max(1, abs(y).max()))


def test_the_size_of_a_source_is_no_matter(operator):
    x, _ = operator.solve(EVEN, normal=True, tol=1e-10)
    for size in (1e-200, 1e200):
        y, info = operator.solve(EVEN * size, normal=True, tol=1e-10)
        assert info.converged
        np.testing.assert_allclose(y / size, x, rtol=0, atol=1e-8 * abs(x).max())


def test_an_operator_without_inverse(operator):
    """The product is not positive: the solve ends and says so."""
    none = lattice.Wilson(operator.gauge, 0.0, precision="double")
    x, info = none.solve(EVEN, normal=True)
    assert info.converged and abs(x - EVEN).max() < 1e-14
    flat = lattice.Gauge(flat_links(), device=operator.gauge.device)
    singular = lattice.Wilson(flat, 0.125, precision="double")
    _, info = singular.solve(wave(), normal=True, maxiter=100)
    assert not info.converged


def test_a_propagator_is_of_all_sites(operator):
    with pytest.raises(ValueError, match="M itself"):
        operator.propagator(normal=True)


@pytest.mark.some(1)
@pytest.mark.parametrize(("kind", "shape"), [("staggered", (3,)), ("domain wall", (2, 4, 3))])
def test_kernels_are_compiled_before_the_first_solve(device, kind, shape, monkeypatch, capsys):
    """On a lattice that no other test has, by an option that no kept cache has."""
    options = f"{os.environ['CUBC_CXXFLAGS']} -DTEST_{time.time_ns()}"
    monkeypatch.setenv("CUBC_CXXFLAGS", options)
    monkeypatch.setattr(_waiting, "SECONDS", 0.02)
    monkeypatch.setattr(_waiting, "watched", lambda: True)
    gauge = lattice.Gauge.random((2, 2, 4, 6), noise=0.1, device=device)
    walls = kind == "domain wall"
    operator = lattice.DomainWall(gauge, 0.1, 1.8, 2) if walls else lattice.Staggered(gauge, 0.5)
    b = np.ones((*shape[:-2], 6, 4, 2, 2, *shape[-2:]) if walls else (6, 4, 2, 2, 3), complex)
    before = _core.compilers_started()
    seconds = lattice.precompile(operator, tol=1e-3)
    compiled = _core.compilers_started()
    said = capsys.readouterr().err.splitlines()
    assert operator.solve(b, tol=1e-3)[1].converged
    assert capsys.readouterr().err == ""
    if device == "cpu":
        assert seconds > 0
        name = type(operator).__name__
        what = f"the kernels of a solve with {name} on 2x2x4x6"
        assert said == [f"cubc: compiling {what}, which are cached"]
        assert compiled > before
        assert _core.compilers_started() == compiled


def test_precompile_refuses(operator):
    with pytest.raises(ValueError, match="sources 0: at least one right-hand side"):
        lattice.precompile(operator, 0)
    with pytest.raises(TypeError, match="is no operator"):
        lattice.precompile(operator.gauge)
    with pytest.raises(TypeError, match="tolerance"):
        lattice.precompile(operator, tolerance=1e-5)


# ---- the C interface ----------------------------------------------------------------------------
def solve_params(ffi, lib, **members):
    """Return parameters of a solve of two sources, with what they point to, and no arrays."""
    op = ffi.new("cubc_operator *", {"kind": lib.CUBC_WILSON, "lx": 4, "ly": 4, "lz": 4, "lt": 4})
    params = ffi.new("cubc_solve_params *")
    params.op, params.n = op, 2 * 24 * 4**4
    params.tolerance, params.iterations = 1e-9, 100
    params.type = params.precise = params.sloppy = lib.CUBC_F64
    keep = [op, ffi.new("char[]", b"cg")]
    params.solver = keep[-1]
    for name, value in members.items():
        setattr(params, name, value)
    return params, keep


def test_shifts_that_are_not_given_are_not_counted():
    ffi, lib = cubc.ffi()
    count, shifts = ffi.new("uint64_t *"), ffi.new("double[3]")
    for given, expected in ((shifts, 6), (ffi.NULL, 2)):
        params, _keep = solve_params(ffi, lib, shifts=given, shift_count=3)
        assert lib.cubc_solve_reports(params, count) == lib.CUBC_OK
        assert count[0] == expected


@pytest.mark.parametrize("name", ["I16", "I32", "C128"])
def test_the_type_of_a_source(name):
    ffi, lib = cubc.ffi()
    opened, info = ffi.new("cubc_device **"), ffi.new("cubc_solve_info[2]")
    assert lib.cubc_device_open(b"cpu", opened) == lib.CUBC_OK
    params, _keep = solve_params(ffi, lib, type=getattr(lib, f"CUBC_{name}"))
    status = lib.cubc_solve(opened[0], params, info, ffi.NULL)
    lib.cubc_device_close(opened[0])
    assert status == lib.CUBC_INVALID_TYPE
    message = ffi.string(lib.cubc_error_message()).decode()
    assert f"b and x of a solve are F64 or F32, not {name}" in message
