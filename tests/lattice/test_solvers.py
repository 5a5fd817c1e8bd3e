"""The solvers of cubc.lattice: true residuals, mixed precision, and what cannot be solved."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from every_case import SLOPPY
from inputs import on, value
from lattice_system import (
    KAPPA,
    LINKS,
    SHAPE,
    SOLVERS,
    B,
    flat_links,
    left_by,
    options_of,
    random_links,
    random_spinors,
    residual,
    wave,
)

import cubc
from cubc import _core, lattice

WEAK_FIELD = Path(__file__).parents[1] / "data/weak_field.lime"
# Sum of |S|^2, Re tr S(0), sum of |S|^2 at t = 1 of S = 2 kappa / M, of an independent program.
GOLDEN = {
    0.120: (1.09842988197987, 2.797812959033, 0.0692381050485),
    0.125: (1.27258086354494, 2.852025947100, 0.0900318582873),
}


@pytest.fixture(scope="module")
def operator(device):
    return lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="double")


@pytest.fixture(scope="module")
def iterations(operator):
    """Conjugate gradients in double precision."""
    x, info = lattice.solve(operator, B, tol=1e-12)
    assert info.converged and residual(operator, x, B) < 1e-12
    assert info.residual == pytest.approx(residual(operator, x, B), rel=1e-3)
    return info.iterations


@pytest.mark.parametrize(("solver", "more"), [("bicgstab", 1.3), ("gcr", 1.15)])
def test_other_solvers(operator, solver, more):
    """In double precision, and with few more iterations in mixed.

    Those of BiCGStab depend on rounding: in half precision they are 10 to 25 % more.
    """
    iterations = {}
    for sloppy in SLOPPY:
        x, info = operator.solve(B, solver=solver, tol=1e-12, sloppy=sloppy, maxiter=300)
        assert info.converged and residual(operator, x, B) < 1e-12
        assert info.residual == pytest.approx(residual(operator, x, B), rel=1e-3)
        iterations[sloppy] = info.iterations
    assert max(iterations.values()) <= more * iterations["double"], iterations


def test_several_shifts(operator):
    """Each by the residual of its own system."""
    shifts = [0, 0.02, 0.5]
    x, info = operator.solve(B, solver="multishift", shifts=shifts, tol=1e-11)
    assert info.converged and x.shape == (3, *B.shape)
    assert info.shifts == 3 and repr(info).endswith("GFLOPS, 3 shifts>")
    for shift, found, one in zip(shifts, x, info.sources, strict=True):
        left = B - operator.dagger(operator(found)) - shift * found
        assert np.linalg.norm(left) < 1e-11 * np.linalg.norm(B)
        assert one.residual == pytest.approx(
            np.linalg.norm(left) / np.linalg.norm(B), rel=1e-2, abs=1e-14
        )


def test_several_shifts_of_several_sources(operator):
    _, info = operator.solve(np.stack([B, 2 * B]), solver="multishift", shifts=[0.1, 0.5], tol=1e-6)
    assert repr(info).endswith(", 2 right-hand sides, 2 shifts>") and len(info.sources) == 4


@pytest.mark.parametrize("sloppy", ["single", "half"])
def test_mixed_precision(operator, iterations, sloppy):
    x, info = operator.solve(B, tol=1e-12, sloppy=sloppy)
    assert info.converged and residual(operator, x, B) < 1e-12
    assert info.iterations <= 1.15 * iterations
    assert info.updates > 5


@pytest.mark.parametrize("solver", ["cg", "gcr"])
def test_residuals_that_drop_fast(device, solver):
    """In a round of iterations by more than half precision holds, which must not be lost."""
    gauge = lattice.Gauge.random(SHAPE[::-1], device=device)
    rough = lattice.Wilson(gauge, 0.1, precision="double")
    found = [rough.solve(B, solver=solver, sloppy=sloppy)[1] for sloppy in ("double", "half")]
    assert all(info.converged for info in found)
    assert found[1].iterations <= 1.15 * found[0].iterations


def test_all_sites(operator):
    x, info = operator.solve(B, tol=1e-12, even_odd=False)
    assert info.converged and residual(operator, x, B) < 1e-12


def test_single_precision_alone(operator):
    b = B.astype(np.complex64)
    x, info = operator.solve(b, tol=1e-5, precision="single")
    assert x.dtype == np.complex64 and info.converged
    assert residual(operator, x.astype(complex), b) < 1.1e-5


def test_whatever_the_operator_is_made_of(operator, device):
    """Fewer numbers a link, links in time left out, an anisotropy: the rotated solution."""
    kappa, options = 0.11, {"precision": "double", "anisotropy": 1.5}
    fixed, g = operator.gauge.temporal_gauge()
    there = lattice.Wilson(fixed, kappa, temporal_gauge=True, reconstruct=8, **options)
    here = lattice.Wilson(operator.gauge, kappa, **options)
    x, info = there.solve(g(B), tol=1e-11)
    assert info.converged and residual(there, x, g(B)) < 1e-11
    assert residual(here, g(x, inverse=True), B) < 2e-11


def test_golden_propagators(device):
    """Those of the other kappa are in the test of what is made of a propagator."""
    kappa, links = 0.125, lattice.read_links(WEAK_FIELD)[0]
    gauge = lattice.Gauge(links, device=device)
    b = np.zeros((12, *links.shape[:4], 4, 3), complex)
    columns = b[:, 0, 0, 0, 0].reshape(12, 12)
    np.fill_diagonal(columns, 1)
    x, info = lattice.Wilson(gauge, kappa, precision="double").solve(b, tol=1e-12)
    assert info.converged and len(info.sources) == 12
    s = 2 * kappa * x
    trace = np.trace(s[:, 0, 0, 0, 0].reshape(12, 12)).real
    found = (abs(s) ** 2).sum(), trace, (abs(s[:, 1]) ** 2).sum()
    np.testing.assert_allclose(found, GOLDEN[kappa], rtol=1e-9)


def test_several_right_hand_sides(operator, iterations):
    b = np.stack([B, np.zeros_like(B), random_spinors(SHAPE, 2)])
    x, info = operator.solve(b, tol=1e-12)
    assert [s.converged for s in info.sources] == [True] * 3
    assert info.sources[0].iterations == iterations
    assert info.sources[1].iterations == 0 and not x[1].any()
    for k in (0, 2):
        alone, _ = operator.solve(b[k], tol=1e-12)
        assert abs(x[k] - alone).max() < 1e-13


@pytest.mark.usefixtures("policies")
def test_blocks_of_several_warps():
    """The sums of GPU variants, whose last block of a source has others to wait for."""
    label = "tpb_64.mb_1.spt_1"
    _core.use_policy("field_update.cg", {"T{ct}": "F64"}, "cpu", label)
    dslash = "bx_6.by_6.bz_0.bt_0.sz_7.ld_0.ll_0.cv_0"
    for sources, of_sources in ((1, "spt_1.sg_1.sf_0.kl_0"), (3, "spt_2.sg_2.sf_1.kl_1")):
        place = dict(zip("XYZT", SHAPE[3::-1], strict=True)) | {"Sources": sources}
        label = f"tpb_128.mb_1.{of_sources}.{dslash}"
        _core.use_policy("dslash.wilson.r12", {"T{ct}": "F64"}, "cpu", label, place)
    operator = lattice.Wilson(lattice.Gauge(LINKS, device="cpu"), KAPPA, precision="double")
    b = np.stack([B, np.zeros_like(B), random_spinors(SHAPE, 2)])
    x, info = operator.solve(b, tol=1e-10)
    assert [s.converged for s in info.sources] == [True] * 3
    for k in (0, 2):
        assert residual(operator, x[k], b[k]) < 1e-10
    again, _ = operator.solve(b, tol=1e-10)
    np.testing.assert_array_equal(x, again)  # not a bit is another


def test_results_in_host_memory(operator):
    """From any device, of the operator as of a solve; what cannot be written to is said first."""
    for call in (operator, operator.dagger, operator.dslash, operator.solve):
        made = call(B)
        out = np.empty_like(B)
        given = call(B, out=out)
        if call == operator.solve:
            made, given = made[0], given[0]
        assert given is out
        np.testing.assert_array_equal(out, made)
        with pytest.raises(ValueError, match="out has shape"):
            call(B, out=out[0])
        out.flags.writeable = False
        with pytest.raises(ValueError, match="out is read-only"):
            call(B, out=out)


def test_a_tolerance_that_the_precision_holds(operator):
    info = operator.solve(B.astype(np.complex64), precision="single")[1]
    assert info.converged and 1e-6 < info.residual < 1e-5
    assert operator.solve(B)[1].residual < 1e-10


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_source_of_zero(operator, solver):
    guess = {} if solver == "multishift" else {"x0": B}
    x, info = operator.solve(np.zeros_like(B), **options_of(solver), **guess)
    assert info.converged and "zero" in info.reason and info.iterations == 0
    assert not x.any() and info.residual == 0


def test_initial_guess(operator, iterations):
    exact, _ = operator.solve(B, tol=1e-12)
    x, info = operator.solve(B, tol=1e-11, x0=exact)
    assert info.converged and info.iterations == 0
    np.testing.assert_allclose(x, exact, rtol=0, atol=1e-13)
    near, info = operator.solve(B, tol=1e-12, x0=exact + 1e-6 * B)
    assert info.converged and 0 < info.iterations < iterations
    assert residual(operator, near, B) < 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_iterations_have_a_limit(operator, solver):
    x, info = operator.solve(B, tol=1e-12, maxiter=5, **options_of(solver))
    assert not info.converged and info.iterations == 5
    assert "most iterations" in info.reason
    assert info.residual == pytest.approx(left_by(solver, operator, x), rel=1e-6)


@pytest.mark.parametrize("solver", ["cg", "bicgstab", "gcr"])
def test_no_hops(operator, solver):
    """M is 1, and the first step leaves nothing to divide by."""
    free = lattice.Wilson(operator.gauge, 0.0, precision="double")
    x, info = free.solve(B, solver=solver)
    assert info.converged and info.iterations <= 8  # to the end of the round
    np.testing.assert_allclose(x, B, rtol=1e-14)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_operator_without_inverse(device, solver):
    """M takes a wave to 0."""
    flat, b = lattice.Gauge(flat_links(), device=device), wave()
    operator = lattice.Wilson(flat, 0.125, precision="double")
    assert np.linalg.norm(operator(b)) < 1e-13 * np.linalg.norm(b)
    _, info = operator.solve(b, maxiter=200, **options_of(solver))
    assert not info.converged
    assert any(word in info.reason for word in ("broke down", "stagnated", "most", "finite"))


def test_what_a_solve_needs_is_compiled_at_once(tmp_path, monkeypatch):
    """By a compiler that waits until it runs three times, and then fails."""
    gauge = lattice.Gauge(LINKS, device="cpu")
    gauge.native(12, "double")
    runs, compiler = tmp_path / "runs", tmp_path / "c++"
    runs.mkdir()
    compiler.write_text(f"""#!/bin/sh
[ "$1" = --version ] && echo "g++ 1.0" && exit
touch {runs}/$$
for wait in $(seq 100); do
    [ $(ls {runs} | wc -l) -ge 3 ] && break
    sleep 0.05
done
echo "kernel.cu:1: error: $(ls {runs} | wc -l) at once" >&2
exit 1
""")
    compiler.chmod(0o700)
    monkeypatch.setenv("CUBC_CXX", str(compiler))
    monkeypatch.setenv("CUBC_CPU_THREADS", "3")
    operator = lattice.Wilson(gauge, KAPPA, anisotropy=1.5, precision="double")
    with pytest.raises(cubc.CompileError, match=r"does not compile.*[3-9] at once") as error:
        operator.solve(B)
    assert "at once" in error.value.log


def test_arrays_of_the_device(operator, device):
    b = cubc.asarray(B, device=device)
    out = cubc.empty(B.shape, "complex128", device=device)
    x, info = operator.solve(b, tol=1e-12, out=out)
    assert x is out and info.converged
    assert residual(operator, x.numpy(), B) < 1e-12


def test_an_output_that_lies_on_inputs(operator, device):
    """The source is read, whatever x0 is copied to."""
    b, x0 = (cubc.asarray(field, device=device) for field in (B, 0.5 * B))
    x, info = operator.solve(b, tol=1e-12, x0=x0, out=b)
    assert x is b and info.converged and residual(operator, x.numpy(), B) < 1e-12
    both = cubc.asarray(np.stack([B, 0.5 * B, B]), device=device)
    x, info = operator.solve(both[:2], tol=1e-12, x0=both[:2], out=both[1:])
    assert info.converged
    for found, source in zip(x.numpy(), (B, 0.5 * B), strict=True):
        assert residual(operator, found, source) < 1e-12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "gc"}, "no solver 'gc'"),
        ({"tol": -1.0}, "tolerance of -1"),
        ({"delta": 2.0}, "delta of 2"),
        ({"precision": "half"}, "precision 'half'"),
        ({"sloppy": "quarter"}, "precision 'quarter'"),
        ({"precision": "single", "sloppy": "double"}, "more precise than its residual"),
        ({"x0": B[:4]}, "x0 must have the shape"),
        ({"solver": "multishift"}, "multishift needs shifts"),
        ({"solver": "multishift", "shifts": [1.0], "sloppy": "half"}, "multishift iterates in"),
        ({"shifts": [1.0]}, "shifts need the solver multishift, not cg"),
        ({"shifts": []}, r"shifts is \[\]: give a sequence"),
        ({"shifts": 0.1}, "shifts is 0.1: give a sequence"),
        ({"sloppy": ""}, "precision '': expected one of"),
        ({"solver": "multishift", "shifts": [-1.0]}, "a shift of -1"),
        ({"solver": "multishift", "shifts": [1.0] * 17}, "17 shifts"),
        ({"solver": "multishift", "shifts": [1.0, 2.0, 3.0], "x0": B}, "takes no x0"),
        ({"maxiter": 0}, "at least one iteration"),
        ({"maxiter": -1}, "at least one iteration"),
        ({"maxiter": 1.5}, "expected an int"),
        ({"out": np.empty((2, *B.shape), complex)}, "out has shape"),
        ({"out": np.empty(B.shape, np.complex64)}, "dtype complex64"),
        ({"tol": -1}, "a tolerance of -1"),
        ({"out": np.broadcast_to(B, B.shape)}, "out is read-only"),
    ],
)
def test_wrong_arguments(operator, options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        operator.solve(B, **options)


def test_propagator_and_what_is_made_of_it(device):
    gauge = lattice.read_gauge(WEAK_FIELD, device=device)
    operator = lattice.Wilson(gauge, 0.12, precision="double")
    s = operator.propagator((0, 0, 0, 0), tol=1e-11)
    assert s.shape == (8, 4, 4, 4, 4, 4, 3, 3)
    correlator = lattice.pion_correlator(s)
    assert correlator.sum() == pytest.approx(GOLDEN[0.120][0], rel=1e-9)
    assert np.einsum("ssaa->", s[0, 0, 0, 0]).real == pytest.approx(GOLDEN[0.120][1], rel=1e-9)
    assert correlator[1] == pytest.approx(GOLDEN[0.120][2], rel=1e-9)
    assert lattice.pion_correlator(s, time=1)[0] == correlator[1]
    assert np.allclose(lattice.effective_mass(correlator)[2], 0.499, atol=1e-2)
    with pytest.raises(RuntimeError, match="did not converge"):
        operator.propagator(maxiter=2)
    with pytest.raises(RuntimeError, match="did not converge"):
        lattice.propagator(operator, maxiter=2)
    for place in ((0, 0, 0, 99), (0, 0, 0, -1), (0, 0, 0), 3):
        with pytest.raises(ValueError, match="place"):
            operator.propagator(place)
    with pytest.raises(TypeError, match=r"place is 0\.5: expected an int"):
        operator.propagator((0.5, 0, 0, 0))
    for shifts in ([0.1], np.array([0.1, 0.2])):
        with pytest.raises(ValueError, match="`solve` takes shifts"):
            operator.propagator(shifts=shifts, solver="multishift")
    with pytest.raises(ValueError, match="T, Z, Y, X, 4, 4, 3, 3"):
        lattice.pion_correlator(s[0])


def test_an_operator_with_another_propagator_is_refused():
    gauge = lattice.Gauge.unit((4, 2, 4, 6), device="cpu")
    for other in (
        lattice.Mobius(gauge, 0.1, 1.8, 12),  # whose sources would be taken for the fifth axis
        lattice.DomainWall(gauge, 0.1, 1.8, 4),
        lattice.TwistedDoublet(gauge, 0.1, 0.1, 0.05),
    ):
        with pytest.raises(TypeError, match=f"{type(other).__name__} has .* as D.propagator"):
            lattice.propagator(other, maxiter=1)


@pytest.mark.parametrize("where", ["host", "device"])
def test_a_propagator_takes_what_a_solve_takes(operator, device, where):
    """From the columns that another propagator wrote nothing is left to do."""
    like = np.empty((12, *SHAPE, 4, 3), complex)
    out = like if where == "host" else cubc.asarray(like, device=device)
    s, info = lattice.propagator(operator, (1, 1, 3, 4), tol=1e-11, sloppy="half", out=out)
    assert info.converged and info.updates > 1
    columns = cubc.asarray(out, device="cpu").numpy().reshape(4, 3, *SHAPE, 4, 3)
    assert np.array_equal(s, 2 * KAPPA * np.moveaxis(columns, (0, 1), (5, 7)))
    for x0 in (out, s, cubc.asarray(s, device=device)):
        again, info = lattice.propagator(operator, (1, 1, 3, 4), tol=1e-11, x0=x0)
        assert info.converged and info.iterations == 0 and abs(again - s).max() < 1e-14


def test_threads_at_once(device):
    """Each solve records and replays iterations of its own while others do, and while calls that
    have nothing to do with them use the default stream."""
    numbers = np.arange(1000.0)
    given = on(device, numbers)

    def solved(solver, seed):
        links = random_links(SHAPE, seed=seed)
        own = lattice.Wilson(lattice.Gauge(links, device=device), KAPPA, precision="double")
        x, info = own.solve(B, solver=solver, tol=1e-11, sloppy="half")
        return info.converged and residual(own, x, B) < 1e-11

    with ThreadPoolExecutor(5) as pool:
        solves = [pool.submit(solved, name, seed) for seed in (1, 2) for name in ("cg", "bicgstab")]
        calls = 0
        while calls < 10 or not all(solve.done() for solve in solves):
            assert value(cubc.sum(given)) == numbers.sum()
            calls += 1
            time.sleep(0.005)  # the solves need the processors
        assert all(solve.result() for solve in solves)


@pytest.mark.parametrize(
    ("solver", "iteration", "update"), [("cg", 2, 2), ("bicgstab", 2, 1), ("gcr", 1, 1)]
)
def test_gflops(operator, solver, iteration, update):
    """Those of the operator on the even sites: two hops and an addition, however often."""
    _, info = operator.solve(B, solver=solver, tol=1e-8)
    sites = B.size // 12 // 2
    applied = iteration * info.iterations + update * info.updates
    flops = (2 * 1320 + 48) * sites * applied
    assert info.gflops * info.seconds * 1e9 == pytest.approx(flops)


@pytest.mark.some(2)
@pytest.mark.parametrize("even_odd", [True, False])
@pytest.mark.parametrize("solver", ["cg", "bicgstab", "multishift", "gcr"])
def test_sources_of_any_size(device, solver, even_odd):
    """Their squares fit no float: each is solved for as if it were near 1, and so is its guess."""
    sizes = np.array([1e-30, 1.0, 0.0, 1e30]).reshape(4, 1, 1, 1, 1, 1, 1)
    wilson = lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="single")
    options = options_of(solver) | {"tol": 1e-5, "precision": "single", "even_odd": even_odd}
    several = (B * sizes).astype(np.complex64)
    solved = []
    for b in [several] if even_odd else several:  # all at once, and each alone
        b = on(device, b)
        guess = {} if solver == "multishift" else {"x0": b}
        solved.append(wilson.solve(b, **options, **guess))
    of_sources = [one for _, info in solved for one in info.sources or [info]]
    assert [one.converged for one in of_sources] == [True] * 4
    assert [one.iterations > 0 for one in of_sources] == [True, True, False, True]
    x = np.array([value(x) for x, _ in solved], complex)
    x = x.reshape(4, *B.shape)  # of one shift, if there are any
    np.testing.assert_array_equal(x[2], 0)
    for k in (0, 3):
        largest = abs(x[1]).max()
        np.testing.assert_allclose(x[k] / sizes[k], x[1], rtol=0, atol=3e-4 * largest)


@pytest.mark.parametrize("even_odd", [True, False])
def test_double_sources_of_any_size(operator, device, even_odd):
    """Their squares fit no double, or only with a few digits."""
    x, _ = operator.solve(B, tol=1e-10, even_odd=even_odd)
    sizes = (1e-306, 1e-200, 1e-162, 1e-160, 1e-155, 1e155, 1e200, 1e300)
    for size in sizes if even_odd else sizes[::3]:
        y, info = operator.solve(B * size, tol=1e-10, even_odd=even_odd)
        assert info.converged, size
        assert info.iterations > 3, size
        np.testing.assert_allclose(value(y) / size, value(x), atol=1e-9 * abs(value(x)).max())
    several = np.stack([B, B * 1e200, np.zeros_like(B), B * np.nan])
    solved = [
        operator.solve(on(device, b), tol=1e-10, even_odd=even_odd)
        for b in ([several] if even_odd else several)  # all at once, and each alone
    ]
    of_sources = [one for _, info in solved for one in info.sources or [info]]
    assert [one.converged for one in of_sources] == [True, True, True, False]
    y = np.array([value(y) for y, _ in solved]).reshape(several.shape)
    for k, size in ((0, 1), (1, 1e200)):
        np.testing.assert_allclose(y[k] / size, value(x), atol=1e-9 * abs(value(x)).max())
    np.testing.assert_array_equal(y[2], 0)
    assert np.isnan(y[3]).all()


def test_a_source_whose_solution_is_no_float(operator):
    """A double one, iterated in half precision."""
    x, info = operator.solve(B * 1e-100, sloppy="half", tol=1e-10)
    assert info.converged
    assert residual(operator, value(x) * 1e100, B) < 2e-10
