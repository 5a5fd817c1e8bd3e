"""Block conjugate gradients: sources that share a Krylov space."""

import lattice_reference as reference
import numpy as np
import pytest
from inputs import on, value
from lattice_system import KAPPA, LINKS, SHAPE, B, flat_links, random_spinors, wave

from cubc import _core, lattice

SOURCES = np.stack([random_spinors(SHAPE, k) for k in range(6)])
EVEN = np.stack([reference.half(b, 0) for b in SOURCES])
EXTENTS = dict(zip("TZYX", SHAPE, strict=True))


@pytest.fixture(scope="module")
def operator(device):
    return lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="double")


def left(operator, x, b):
    """The residual of each source."""
    apart = np.asarray(operator(x)) - b
    axes = tuple(range(1, b.ndim))
    return np.sqrt((abs(apart) ** 2).sum(axes) / (abs(b) ** 2).sum(axes))


def normal_of_even(operator, x):
    for dagger in (False, True):
        odd = operator.dslash(x, "odd", dagger=dagger)
        x = x - operator.kappa**2 * operator.dslash(odd, "even", dagger=dagger)
    return x


def solve(operator, b, **options):
    return operator.solve(b, solver="block_cg", **{"tol": 1e-10} | options)


@pytest.mark.some(1)
@pytest.mark.parametrize("sloppy", ["double", "single"])
def test_fewer_iterations_than_alone(operator, sloppy):
    """All sources reach the tolerance, as their own residuals say."""
    x, info = solve(operator, SOURCES, sloppy=sloppy)
    _, alone = operator.solve(SOURCES, tol=1e-10, sloppy=sloppy)
    found = left(operator, x, SOURCES)
    assert info.converged and (found < 1e-10).all()
    np.testing.assert_allclose([one.residual for one in info.sources], found, rtol=1e-3)
    # An update between precisions begins anew, which takes some of the gain of few sources.
    assert info.iterations <= (0.85 if sloppy == "double" else 1) * alone.iterations


def test_a_hermitian_positive_system(operator):
    """It is iterated as it is: by M_e^+ M_e of the even sites."""
    x, info = solve(operator, EVEN, normal=True)
    _, alone = operator.solve(EVEN, tol=1e-10, normal=True)
    product = np.asarray(normal_of_even(operator, x))
    assert info.converged and np.linalg.norm(product - EVEN) < 1e-10 * np.linalg.norm(EVEN)
    assert info.iterations < 0.9 * alone.iterations


def test_staggered_fermions(device):
    """Colour vectors, whose even system is positive."""
    gauge = lattice.Gauge(LINKS, device=device)
    staggered = lattice.Staggered(gauge, 0.05, precision="double")
    b = SOURCES[..., 0, :].copy()
    x, info = solve(staggered, b)
    _, alone = staggered.solve(b, tol=1e-10)
    assert info.converged and (left(staggered, x, b) < 1e-10).all()
    assert info.iterations < 0.7 * alone.iterations


def test_in_single_precision(device):
    wilson = lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="single")
    b = on(device, SOURCES.astype(np.complex64))
    x, info = solve(wilson, b, tol=1e-5)
    assert info.converged and x.dtype == np.complex64
    assert (left(wilson, value(x), SOURCES) < 2e-5).all()


def test_more_sources_than_a_block_takes(operator):
    """Seventeen are two blocks, of which the second has one source fewer."""
    b = np.concatenate([SOURCES, 1j * SOURCES[::-1] + SOURCES, random_spinors((5, *SHAPE), 9)])
    x, info = solve(operator, b)
    assert info.converged and (left(operator, x, b) < 1e-10).all()


def test_sources_that_depend_on_each_other(operator):
    """The same twice, a sum of two, a sum but for a little, and zero."""
    b = np.stack([B, SOURCES[1], B, B + 2j * SOURCES[1], B + 1e-9 * SOURCES[2], 0 * B])
    x, info = solve(operator, b)
    assert info.converged and (left(operator, x[:5], b[:5]) < 1e-10).all()
    assert not x[5].any() and info.sources[5].iterations == 0
    np.testing.assert_allclose(x[2], x[0], atol=1e-9 * abs(x[0]).max())


def test_sources_of_any_size_and_one_that_is_not_finite(operator):
    """None disturbs the others."""
    sizes = np.array([1e-30, 1.0, 1e30, 1e5, 1e-5, np.nan]).reshape(6, 1, 1, 1, 1, 1, 1)
    x, info = solve(operator, SOURCES * sizes)
    assert [one.converged for one in info.sources] == [True] * 5 + [False]
    assert np.isnan(x[5]).all()
    assert (left(operator, x[:5] / sizes[:5], SOURCES[:5]) < 2e-10).all()


def test_guesses_stop_their_sources(operator):
    """A source that is solved already takes no iterations; the others go on without it."""
    guess = np.zeros_like(SOURCES)
    guess[2] = operator.solve(SOURCES[2], tol=1e-12)[0]
    x, info = solve(operator, SOURCES, x0=guess)
    assert info.converged and (left(operator, x, SOURCES) < 1e-10).all()
    assert info.sources[2].iterations == 0 < info.sources[1].iterations
    np.testing.assert_allclose(x[2], guess[2], atol=1e-12)


def test_a_source_that_stops_before_the_others(operator):
    """It is near its solution; its direction then leaves the space."""
    guess = np.zeros_like(SOURCES)
    guess[0] = operator.solve(SOURCES[0], tol=1e-8)[0]
    x, info = solve(operator, SOURCES, x0=guess, sloppy="single")
    assert info.converged and (left(operator, x, SOURCES) < 1e-10).all()
    assert info.sources[0].iterations < info.sources[1].iterations


def test_its_ends(operator):
    """The limit of iterations, and a tolerance that the numbers do not hold."""
    _, info = solve(operator, SOURCES, maxiter=5)
    assert not info.converged and "most iterations" in info.reason
    assert {one.iterations for one in info.sources} == {5}
    _, info = solve(operator, SOURCES, tol=1e-30)
    assert not info.converged and "stagnated" in info.reason and info.residual < 1e-14
    with pytest.raises(TypeError, match="not in fixed point"):
        solve(operator, SOURCES, sloppy="half")


def test_an_operator_without_inverse(operator):
    """A steady residual is noticed."""
    flat = lattice.Gauge(flat_links(), device=operator.gauge.device)
    singular = lattice.Wilson(flat, 0.125, precision="double")
    _, info = solve(singular, np.stack([wave(), SOURCES[1]]))
    assert not info.converged and "stagnated" in info.reason and info.iterations < 5000


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("label", "options"),
    [
        ("tpb_32.mb_1.wpt_1", {}),
        ("tpb_96.mb_1.wpt_1", {"normal": True, "even_odd": False}),
    ],
)
def test_blocks_of_many_threads(device, label, options, monkeypatch):
    """The variants of GPUs on the cpu, under a random order of threads."""
    if device != "cpu":
        pytest.skip("this is for the cpu")
    monkeypatch.setenv("CUBC_SIMT_SEED", "5")
    place = EXTENTS | {"Sources": 5}
    kind = {"T{ct}": "F64"}
    _core.use_policy("block_update.direction", kind, "cpu", label, place)
    D = lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="double")
    _, info = solve(D, SOURCES[:5], **options)
    assert info.converged
