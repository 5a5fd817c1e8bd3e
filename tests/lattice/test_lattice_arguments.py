"""Arguments of lattices that look like what they are not are refused, and named."""

import warnings

import numpy as np
import pytest

from cubc import lattice

E = (4, 2, 4, 6)
B = lattice.point_source(E, (0, 0, 0, 0))[0, 0]
S = np.ones((*E[::-1], 4, 4, 3, 3))


@pytest.fixture(scope="module")
def wilson():
    return lattice.Wilson(lattice.Gauge.unit(E, device="cpu"), 0.1)


EXTENTS = {
    "Gauge.unit": lattice.Gauge.unit,
    "Gauge.random": lattice.Gauge.random,
    "Rotation.random": lattice.Rotation.random,
    "quenched": lambda e: lattice.quenched(e, beta=6.0, sweeps=0),
    "point_source": lambda e: lattice.point_source(e, (0, 0, 0, 0)),
    "wall_source": lambda e: lattice.wall_source(e, 0),
    "random_wall_source": lambda e: lattice.random_wall_source(e, 0, 1),
}


@pytest.mark.parametrize("name", EXTENTS)
@pytest.mark.parametrize(
    "extent", [4, None, (4, 4, 4), (4.0, 4, 4, 4), "4444", (0, 4, 4, 4), (-2,) * 4, (65534,) * 4]
)
def test_an_extent(name, extent):
    with pytest.raises((TypeError, ValueError), match=r"extent is .*(4|None|4\.0|'4'|0|-2|65534)"):
        EXTENTS[name](extent)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda m: lattice.pion_correlator(S, 6),
            ValueError,
            "time=6: the lattice has 6",
        ),
        (lambda m: lattice.pion_correlator(S, -1), ValueError, "time=-1: the lattice has 6"),
        (lambda m: m.pion_correlator(S, 0.5), TypeError, "time is 0.5: expected an int"),
        (lambda m: m.pion_correlator(S, 6), ValueError, "time=6: the lattice has 6"),
        (
            lambda m: lattice.effective_mass(np.ones(5) + 0j),
            TypeError,
            "give real numbers",
        ),
        (lambda m: m(B[None][:0]), ValueError, "has no sources"),
        (lambda m: m.solve(B[None][:0]), ValueError, "has no sources"),
        (lambda m: m.solve(B, normal="no"), TypeError, "normal is 'no': expected a bool"),
        (lambda m: m.solve(B, even_odd="no"), TypeError, "even_odd is 'no': expected a bool"),
        (lambda m: m.solve(B, delta="a"), TypeError, "delta is 'a': expected a number"),
        (lambda m: m.solve(B, tol="a"), TypeError, "tol is 'a': expected a number"),
        (lambda m: m.dslash(B, dagger="no"), TypeError, "dagger is 'no': expected a bool"),
        (lambda m: m.gauge.update(6.0, 1.5), TypeError, "sweeps is 1.5: expected an int"),
        (lambda m: m.gauge.update(6.0, 1, seed=None), TypeError, "seed is None: expected"),
        (lambda m: m.gauge.update(6.0, over_relaxation="1"), TypeError, "over_relaxation is '1'"),
        (lambda m: lattice.Gauge.random(E, seed=None), TypeError, "seed is None: expected"),
        (lambda m: lattice.Rotation.random(E, seed=0.5), TypeError, "seed is 0.5: expected"),
        (
            lambda m: lattice.Asqtad(m.gauge, mass=0.1, u0="1"),
            TypeError,
            "u0 is '1': expected",
        ),
        (
            lambda m: lattice.Wilson(m.gauge, 0.1, theta="abcd"),
            TypeError,
            "theta is 'a': exp",
        ),
        (lambda m: lattice.point_source(E, (0.5, 0, 0, 0)), TypeError, "place is 0.5: expected"),
        (lambda m: lattice.Gauge(m.gauge.links(), project="no"), TypeError, "project is 'no'"),
        (lambda m: m(B[:, :, :, ::2]), ValueError, "dslash.x, parity=. takes one"),
        (lambda m: m(B.real), TypeError, "as x.astype.complex. is"),
        (lambda m: m.dslash(B, ["even"]), ValueError, "expected 'even' or 'odd'"),
        (lambda m: m.solve(B, solver=None), TypeError, "solver is None: expected a name"),
        (lambda m: m.solve(B, sloppy=["half"]), ValueError, "expected one of double"),
        (
            lambda m: m.solve(B, solver="multishift", shifts=["a"]),
            TypeError,
            "shifts is 'a': expected a number",
        ),
        (lambda m: lattice.Wilson(m.gauge, 0.1, theta=1.0), ValueError, "four finite angles"),
        (
            lambda m: lattice.Wilson(m.gauge, 0.1, theta={0.3, 0.1, 0.2, 0.4}),
            ValueError,
            "four finite angles",
        ),
        (
            lambda m: lattice.Wilson(m.gauge, 0.1, theta=dict.fromkeys(range(4), 0.1)),
            ValueError,
            "four finite angles",
        ),
        (
            lambda m: lattice.Mobius(m.gauge, 0.1, 1.3, 4, np.complex128(1.5 + 0.5j), 0.5),
            TypeError,
            "b5 is .*1.5.0.5j.*: expected a number",
        ),
        (
            lambda m: m.solve(B, solver="multishift", shifts=np.array([0.1 + 1j])),
            TypeError,
            "shifts is .*0.1.1j.*: expected a number",
        ),
        (lambda m: m.solve(B, tol=np.complex64(1e-8)), TypeError, "tol is .*: expected a number"),
        (
            lambda m: lattice.Rotation.random(E)(B, inverse="no"),
            TypeError,
            "inverse is 'no': expected a bool",
        ),
        (lambda m: lattice.Wilson(m.gauge, 0.1, precision=[]), ValueError, "expected one of"),
        (lambda m: lattice.WilsonClover(m.gauge, 0.1, [1, 2, 3]), ValueError, "or a pair"),
        (lambda m: lattice.Staggered(m.gauge, 0.1, phases=[]), ValueError, "expected one of milc"),
        (lambda m: lattice.Gauge.random(E, noise="a"), TypeError, "noise is 'a': expected"),
        (lambda m: lattice.Gauge.random(E, noise=np.nan), ValueError, "noise=nan: expected"),
        (lambda m: m.gauge.transform(np.eye(3)), TypeError, "Rotation.matrices. makes one"),
        (
            lambda m: lattice.Rotation(np.broadcast_to(np.eye(3), (2, 3, 2, 2, 3, 3))),
            ValueError,
            "2x2x3x2 sites: extents are even",
        ),
    ],
)
def test_words(wilson, call, error, words):
    with pytest.raises(error, match=words):
        call(wilson)


def test_a_pair_of_any_kind(wilson):
    for csw in ((1.0, 2.0), [1.0, 2.0], np.array([1.0, 2.0])):
        assert lattice.WilsonClover(wilson.gauge, 0.1, csw).csw == (1.0, 2.0)


def test_reals_of_any_type(wilson):
    links = lattice.Wilson(wilson.gauge, 0.1, reconstruct=12.0)
    assert np.array_equal(links(B), lattice.Wilson(wilson.gauge, 0.1, reconstruct=12)(B))


def test_links_into_an_array_of_numpy(wilson):
    expected = wilson.gauge.links().numpy()
    out = np.empty_like(expected)
    assert wilson.gauge.links(out=out) is out and np.array_equal(out, expected)
    with pytest.raises(ValueError, match="out has shape"):
        wilson.gauge.links(out=out[1:])


def test_a_record_is_a_number(wilson, tmp_path):
    wilson.gauge.write(tmp_path / "u.lime")
    with pytest.raises(TypeError, match="record is '0': expected an int"):
        lattice.read_links(tmp_path / "u.lime", record="0")


@pytest.mark.parametrize("dtype", ["c8", "f4", "f2", "i1"])
def test_correlators_in_double_precision(wilson, dtype):
    """Squares of a propagator's numbers may fit no number of its own type."""
    size = {"c8": 1e-24, "f4": 1e25, "f2": 300, "i1": 100}[dtype]
    s = np.full(S.shape, size, dtype)
    expected = 4 * 2 * 4 * 144 * float(s.flat[0].real) ** 2
    for call in (lattice.pion_correlator, wilson.pion_correlator):
        correlator = call(s)
        assert correlator.dtype == np.float64
        np.testing.assert_allclose(correlator, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["i4", "u2", "f2"])
def test_an_effective_mass_of_any_type(dtype):
    c = np.cosh(0.5 * np.arange(-3, 4))
    c = (np.iinfo("i4").max if dtype == "i4" else 60000) / c.max() * c
    np.testing.assert_allclose(lattice.effective_mass(c.astype(dtype)), 0.5, atol=3e-3)


def test_an_effective_mass_where_a_correlator_is_0():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lattice.effective_mass([1, 0.5, -0.2, 0, 1])[2] == np.inf


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (
            lambda u: lattice.HISQ(u, 0.1, -0.02, reconstruct=18),
            "naik_epsilon=-0.02, reconstruct=18",
        ),
        (lambda u: lattice.Asqtad(u, 0.1, 0.9), "u0=0.9, reconstruct=13"),
        (
            lambda u: lattice.Wilson(u, 0.1, anisotropy=2),
            "kappa=0.1, anisotropy=2.0, reconstruct=12",
        ),
        (lambda u: lattice.Wilson(u, 0.1, theta=(0, 0, 1, 0)), "theta=(0.0, 0.0, 1.0, 0.0), recon"),
        (lambda u: lattice.Staggered(u, 0.1, antiperiodic_t=False), "antiperiodic_t=False, recon"),
    ],
)
def test_a_repr_has_what_is_not_the_default(make, said):
    assert said in repr(make(lattice.Gauge.unit((4, 2, 4, 6), device="cpu")))
