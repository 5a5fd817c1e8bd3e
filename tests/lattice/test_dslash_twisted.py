"""The Dslash of twisted mass fermions against NumPy, and its identities."""

import lattice_terms as terms
import numpy as np
import pytest
from inputs import each_of, on
from lattice_terms import BOUNDS, EXTENTS, twist

from cubc import lattice
from cubc._core import call


def dslash(links, psi, precision, device, *, reconstruct=18, parity=2, x=None, **numbers):
    """The kernel's result: spinors of NumPy in and out."""
    of = parity if parity == 2 else 1 - parity
    field, norms = terms.pack(psi, precision, of, device)
    fields = {
        "links": terms.pack_links(links, precision, reconstruct, device),
        "in": field,
        "in_norms": norms,
        "reconstruct": reconstruct,
        "parity": parity,
        "anisotropy": 1.0,
    }
    if x is not None:
        fields["x"], fields["x_norms"] = terms.pack(x, precision, parity, device)
    fields |= terms.output(precision, field.size // 24) | EXTENTS | numbers
    return terms.unpack(call("dslash_twisted", fields), len(psi))


@pytest.mark.parametrize(
    ("precision", "reconstruct", "parity", "dagger"),
    each_of(BOUNDS, [18, 12, 8], [0, 1, 2], [0, 1]),
)
def test_against_numpy(device, precision, reconstruct, parity, dagger):
    links, psi, x = terms.random_links(), terms.random_spinors(), terms.random_spinors(seed=3)
    hops = terms.hopping(links, psi, dagger, antiperiodic=True, anisotropy=1.3)
    options = {"reconstruct": reconstruct, "parity": parity, "dagger": dagger}
    options |= {"antiperiodic": 1, "anisotropy": 1.3, "a": 0.4, "a5": 0.9}
    bound = BOUNDS[precision] * (10 if reconstruct == 8 else 1)
    expected = twist(x, 0.6, -0.2) + twist(hops, 0.4, 0.9)
    got = dslash(links, psi, precision, device, x=x, b=0.6, b5=-0.2, **options)
    assert terms.error(got, terms.sites_of(expected, parity)) < bound


@pytest.mark.parametrize(("precision", "parity"), each_of(BOUNDS, [1, 2]))
def test_several_sources_without_x(device, precision, parity):
    links, psi = terms.random_links(), terms.random_spinors(3)
    got = dslash(links, psi, precision, device, parity=parity, a=0.4, a5=0.9)
    expected = twist(terms.hopping(links, psi), 0.4, 0.9)
    assert terms.error(got, terms.sites_of(expected, parity)) < BOUNDS[precision]


@pytest.mark.parametrize("precision", BOUNDS)
def test_the_twist_of_sites(device, precision):
    psi = terms.random_spinors(2)
    for parity in (0, 1, 2):
        field, norms = terms.pack(psi, precision, parity, device)
        fields = {"x": field, "x_norms": norms, "a": 0.7, "a5": -0.3} | EXTENTS
        made = call("spinor_twist", fields | terms.output(precision, field.size // 24))
        expected = terms.sites_of(twist(psi, 0.7, -0.3), parity)
        assert terms.error(terms.unpack(made, 2), expected) < BOUNDS[precision]
        fields |= {"out": (field.dtype.name, field.shape, field)}
        if norms is not None:
            fields["out_norms"] = (norms.dtype.name, norms.shape, norms)
        made = call("spinor_twist", fields)
        assert made[0] is field
        assert terms.error(terms.unpack(made, 2), expected) < BOUNDS[precision]


def test_without_a_twist_it_is_wilson(device):
    links, psi, x = terms.random_links(), terms.random_spinors(), terms.random_spinors(seed=3)
    fields = {
        "links": terms.pack_links(links, "f4", 12, device),
        "in": terms.pack(psi, "f4", 2, device)[0],
        "x": terms.pack(x, "f4", 2, device)[0],
        "reconstruct": 12,
        "parity": 2,
        "anisotropy": 1.0,
        "a": -0.12,
    }
    fields |= terms.output("f4", terms.SITES) | EXTENTS
    wilson = terms.unpack(call("dslash_wilson", fields), 1)
    twisted = terms.unpack(call("dslash_twisted", fields | {"b": 1.0}), 1)
    assert terms.error(twisted, wilson) < 1e-7


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"parity": 3}, ValueError, "parity 3: 0 is even, 1 odd, 2 both"),
        ({"anisotropy": 0.0}, ValueError, "anisotropy of 0"),
        ({"reconstruct": 9}, ValueError, "links of 9 real numbers"),
        ({"lx": 3}, ValueError, "3 sites along x"),
        ({"lx": 8}, ValueError, "the gauge field has"),
        ({"in": np.zeros(24 * terms.SITES, "f4")}, TypeError, "float32"),
    ],
)
def test_wrong_arguments(change, error, words):
    fields = {
        "links": np.zeros(72 * terms.SITES),
        "in": np.zeros(24 * terms.SITES),
        "reconstruct": 18,
        "parity": 2,
        "anisotropy": 1.0,
    }
    with pytest.raises(error, match=words):
        call("dslash_twisted", fields | terms.output("f8", terms.SITES) | EXTENTS | change)


def test_the_output_is_apart_from_what_is_read():
    field = np.zeros(24 * terms.SITES)
    fields = {"links": np.zeros(72 * terms.SITES), "in": field, "reconstruct": 18, "parity": 2}
    fields |= {"out": ("f8", field.shape, field), "anisotropy": 1.0} | EXTENTS
    with pytest.raises(ValueError, match="overlaps the spinors"):
        call("dslash_twisted", fields)


@pytest.mark.parametrize("dtype", ["f8", "i2"])
def test_the_output_is_x_or_lies_apart(dtype):
    def field(sites, reals=24, dtype=dtype):
        return np.zeros(reals * sites, dtype)

    n, first = terms.SITES, {"links": field(terms.SITES, 72), "in": field(terms.SITES)}
    room, room_of_norms = field(2 * n), field(2 * n, 1, "f4")
    places = {"f8": [16], "i2": [16, 0]}[dtype], {"f8": [0], "i2": [0, 4]}[dtype]
    for at, at_norms in zip(*places, strict=True):
        out, norms = room[at : at + 24 * n], room_of_norms[at_norms : at_norms + n]
        fields = first | {"x": room[: 24 * n], "out": (dtype, out.shape, out), "reconstruct": 18}
        if dtype == "i2":
            fields |= {"in_norms": field(n, 1, "f4"), "x_norms": room_of_norms[:n]}
            fields["out_norms"] = ("f4", norms.shape, norms)
        with pytest.raises(ValueError, match="overlaps a part of x"):
            call("dslash_twisted", fields | {"parity": 2, "anisotropy": 1.0} | EXTENTS)


def test_a_twist_of_too_few_numbers(device):
    with pytest.raises(ValueError, match="the spinors to twist has 24 real numbers"):
        field = on(device, np.zeros(24))
        call("spinor_twist", {"x": field, "out": ("f8", (24,), None), "a": 1.0} | EXTENTS)


# ---- the operator --------------------------------------------------------------------------------
KAPPA, MU = 0.13, 0.35


def operator(mu, device, seed=1, **options):
    """The operator in double precision."""
    gauge = lattice.Gauge(terms.random_links(seed), device=device)
    return lattice.TwistedMass(gauge, KAPPA, mu, precision="double", **options)


def test_the_operator_against_numpy(device):
    D, psi = operator(MU, device), terms.random_spinors()
    hops = terms.hopping(terms.random_links(), psi, antiperiodic=True)
    assert terms.error(D(psi), twist(psi, 1, 2 * KAPPA * MU) - KAPPA * hops) < 1e-14
    assert terms.error(D.dslash(psi), hops) < 1e-14
    assert "mu=0.35" in repr(D)


def test_the_adjoint_has_the_other_sign(device):
    """M(mu)^+ = gamma_5 M(-mu) gamma_5, and it is the adjoint."""
    D, other = operator(MU, device), operator(-MU, device)
    x, y = terms.random_spinors(seed=4), terms.random_spinors(seed=5)
    expected = terms.spin(terms.GAMMA5, other(terms.spin(terms.GAMMA5, x)))
    assert terms.error(D.dagger(x), expected) < 1e-14
    assert abs(np.vdot(y, D(x)) - np.vdot(D.dagger(y), x)) < 1e-12 * np.linalg.norm(x) ** 2


def test_the_normal_operator_is_that_of_wilson_and_a_constant(device):
    """M^+ M = M_W^+ M_W + (2 kappa mu)^2."""
    D, x = operator(MU, device), terms.random_spinors()
    W = lattice.Wilson(D.gauge, KAPPA, precision="double")
    expected = W.dagger(W(x)) + (2 * KAPPA * MU) ** 2 * x
    assert terms.error(D.dagger(D(x)), expected) < 1e-14


def test_of_no_twisted_mass_it_is_wilson(device):
    D, x = operator(0.0, device), terms.random_spinors()
    W = lattice.Wilson(D.gauge, KAPPA, precision="double")
    assert terms.error(D(x), W(x)) < 1e-15


@pytest.mark.parametrize(("sloppy", "even_odd"), [("half", True), ("double", False)])
def test_solve(device, sloppy, even_odd):
    D, b = operator(MU, device), terms.random_spinors(2)
    x, info = D.solve(b, tol=1e-11, sloppy=sloppy, even_odd=even_odd)
    assert info.converged
    assert info.residual < 1e-11
    assert terms.error(D(x), b) < 2e-11


def test_propagators(device):
    """Each column is of its point; of no twisted mass all are those of Wilson fermions."""
    place, options = (1, 0, 3, 2), {"tol": 1e-7, "sloppy": "half"}
    D, free = operator(MU, device), operator(0.0, device)
    assert (terms.left_of_points(D, D.propagator(place, **options), place) < 1e-7).all()
    W = lattice.Wilson(D.gauge, KAPPA, precision="double")
    assert (terms.left_of_points(W, free.propagator(place, **options), place) < 1e-7).all()
