"""The Wilson Dslash: against NumPy, and by what it has to fulfil."""

import numpy as np
import pytest
from inputs import pairs_of
from lattice_reference import (
    GAMMA,
    dslash,
    gamma5,
    half,
    random_links,
    random_spinors,
    random_su3,
    transform_links,
    transform_spinors,
    unit_links,
)

import cubc
from cubc import lattice

EXTENT = (8, 4, 6, 2)  # X, Y, Z, T: all differ, so that none is taken for another
ERROR = {"double": 1e-14, "single": 1e-6, "half": 3e-4}  # of what is 8 times a spinor
NAN = float("nan")


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(7)


@pytest.fixture(scope="module")
def links(rng):
    return random_links(rng, EXTENT)


@pytest.fixture(scope="module")
def psi(rng):
    return random_spinors(rng, EXTENT)


def distance(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def of_each(psi, function, *arguments):
    """A function of every source, or of the only one."""
    if psi.ndim == 6:
        return function(psi, *arguments)
    return np.stack([function(one, *arguments) for one in psi])


def check(operator, links, psi, dagger, form):
    """Compare with NumPy the operator, or its hopping term, of both parities or of one."""
    bound, antiperiodic = ERROR[operator.precision], operator.antiperiodic_t
    expected = of_each(psi, lambda one: dslash(links, one, dagger, antiperiodic))
    if form == "operator":
        got = operator.dagger(psi) if dagger else operator(psi)
        expected = psi - operator.kappa * expected
    elif form == "both":
        got = operator.dslash(psi, dagger=dagger)
    else:
        which = ["even", "odd"].index(form)
        got = operator.dslash(of_each(psi, half, 1 - which), form, dagger=dagger)
        expected = of_each(expected, half, which)
    assert distance(got, expected) < bound


@pytest.mark.parametrize(
    ("precision", "reconstruct", "dagger", "sources", "antiperiodic", "form"),
    pairs_of(
        ERROR,
        [18, 12, 8],
        [False, True],
        [1, 2],
        [True, False],
        ["operator", "both", "even", "odd"],
    ),
)
def test_numpy(
    device, rng, links, psi, precision, reconstruct, dagger, sources, antiperiodic, form
):
    gauge = lattice.Gauge(links, device=device)
    options = {"reconstruct": reconstruct, "precision": precision}
    operator = lattice.Wilson(gauge, 0.12, antiperiodic_t=antiperiodic, **options)
    psi = random_spinors(rng, EXTENT, sources) if sources > 1 else psi
    check(operator, links, psi, dagger, form)


def test_a_mass_in_place_of_kappa(links):
    """kappa = 1 / (2 (m + 1 + 3 / anisotropy)): the operator at rest is m in units of 2 kappa."""
    gauge = lattice.Gauge(links, device="cpu")
    kinds = (
        (lattice.Wilson, {}),
        (lattice.TwistedMass, {"mu": 0.3}),
        (lattice.WilsonClover, {"csw": 1.0}),
    )
    for kind, options in kinds:
        for mass, xi, kappa in ((0.0, 1.0, 0.125), (0.5, 1.0, 1 / 9), (-0.2, 2.5, 0.25)):
            made = kind(gauge, mass=mass, anisotropy=xi, **options)
            assert made.kappa == pytest.approx(kappa, rel=1e-15)
            assert made.mass == pytest.approx(mass, abs=1e-15)
            assert kind(gauge, kappa, anisotropy=xi, **options).mass == pytest.approx(mass)
        for wrong in ({}, {"kappa": 0.1, "mass": 0.1}):
            with pytest.raises(TypeError, match="either kappa or mass"):
                kind(gauge, **wrong, **options)
        for mass, xi in ((-4, 1.0), (np.nan, 1.0), (np.inf, 1.0)):
            with pytest.raises(ValueError, match=r"mass=.*kappa = .* is no finite number"):
                kind(gauge, mass=mass, anisotropy=xi, **options)
        if options:
            with pytest.raises(TypeError, match=f"takes {next(iter(options))}"):
                kind(gauge, 0.1)
    unit = lattice.Gauge(unit_links(EXTENT), device="cpu")
    x = np.ones((*EXTENT[::-1], 4, 3), complex)
    for xi in (1.0, 2.5):
        free = lattice.Wilson(unit, mass=0.3, anisotropy=xi, antiperiodic_t=False)
        np.testing.assert_allclose(free(x), 2 * free.kappa * 0.3 * x, atol=1e-14)


@pytest.mark.parametrize("precision", ["double", "half"])
def test_several_sources(device, rng, links, precision):
    many = random_spinors(rng, EXTENT, 3)
    operator = lattice.Wilson(lattice.Gauge(links, device=device), 0.1, precision=precision)
    together = operator(many)
    for k in range(3):
        assert np.array_equal(together[k], operator(many[k]))


def test_anisotropy(device, links, psi):
    gauge = lattice.Gauge(links, device=device)
    for reconstruct in (12, 8):
        operator = lattice.Wilson(
            gauge, 0.1, anisotropy=2.5, reconstruct=reconstruct, precision="double"
        )
        assert distance(operator.dslash(psi), dslash(links, psi, False, True, 2.5)) < 1e-14


def test_gamma5_hermiticity(device, links, psi):
    operator = lattice.Wilson(lattice.Gauge(links, device=device), 0.13, precision="double")
    assert distance(gamma5(operator(gamma5(psi))), operator.dagger(psi)) < 1e-15


def test_adjoint(device, rng, links, psi):
    other = random_spinors(rng, EXTENT)
    operator = lattice.Wilson(lattice.Gauge(links, device=device), 0.13, precision="double")
    left, right = np.vdot(other, operator(psi)), np.vdot(operator.dagger(other), psi)
    assert abs(left - right) < 1e-12 * abs(left)


def test_plane_waves(device):
    """On the free field D exp(ipx) u = sum of (2 cos p - 2i gamma sin p) exp(ipx) u."""
    x, y, z, t = EXTENT
    gauge = lattice.Gauge(unit_links(EXTENT), device=device)
    operator = lattice.Wilson(gauge, 0.1, antiperiodic_t=False, precision="double")
    spin = np.array([1, 2j, -1, 0.5])
    for n in ((0, 0, 0, 0), (1, 0, 0, 0), (3, 1, 2, 1), (5, 3, 1, 0)):
        p = 2 * np.pi * np.array(n) / np.array(EXTENT)
        grid = np.indices((t, z, y, x))[::-1]
        wave = np.exp(1j * np.tensordot(p, grid, 1))[..., None, None]
        psi = wave * spin[:, None] * np.ones(3)
        symbol = sum(
            2 * np.cos(p[mu]) * np.eye(4) - 2j * np.sin(p[mu]) * GAMMA[mu] for mu in range(4)
        )
        assert np.allclose(operator.dslash(psi), wave * (symbol @ spin)[:, None], atol=1e-13)


def test_norm_of_a_point(device, links):
    """Every hop of a point has norm 2 |spinor|^2, whatever the links."""
    point = np.zeros((*EXTENT[::-1], 4, 3), complex)
    point[1, 5, 2, 3, 2, 1] = 1
    operator = lattice.Wilson(lattice.Gauge(links, device=device), 0.1, precision="double")
    assert np.linalg.norm(operator.dslash(point)) ** 2 == pytest.approx(16, rel=1e-14)


def test_gauge_covariance(device, rng, links, psi):
    g = random_su3(rng, EXTENT[::-1])
    here = lattice.Wilson(lattice.Gauge(links, device=device), 0.13, precision="double")
    turned = lattice.Gauge(transform_links(links, g), device=device)
    there = lattice.Wilson(turned, 0.13, precision="double")
    assert distance(there(transform_spinors(psi, g)), transform_spinors(here(psi), g)) < 1e-14


@pytest.mark.parametrize("reconstruct", [18, 12, 8])
def test_links_come_back(device, links, reconstruct):
    """A link of 8 numbers loses digits where element 10 is nearly all of its row."""
    gauge = lattice.Gauge(links, device=device)
    native = gauge.native(reconstruct, "double")
    x, y, z, t = EXTENT
    back = cubc._core.call(
        "link_copy",
        {
            "from": native,
            "to": ("complex128", links.shape, None),
            "from_order": 2,
            "to_order": 0,
            "from_reals": reconstruct,
            "to_reals": 18,
            **lattice._fields.extent_fields((x, y, z, t)),
        },
    )[0].numpy()
    bound = 1e-15 if reconstruct > 8 else 1e-14 / (1 - abs(links[..., 1:2, 0:1]) ** 2).min()
    assert abs(back - links).max() < bound
    assert np.array_equal(gauge.links().numpy(), links)


def test_unit_links_in_every_reconstruction(device, psi):
    gauge = lattice.Gauge(unit_links(EXTENT), device=device)
    expected = dslash(unit_links(EXTENT), psi, antiperiodic=True)
    for reconstruct in (12, 8):
        for precision in ("double", "half"):
            operator = lattice.Wilson(gauge, 0.1, reconstruct=reconstruct, precision=precision)
            assert distance(operator.dslash(psi), expected) < ERROR[precision]


@pytest.mark.parametrize(
    ("precision", "rest"), [("double", 1e-2), ("double", 1e-14), ("half", 1e-2)]
)
def test_eight_numbers_where_one_is_nearly_a_row(device, links, psi, precision, rest):
    """Element 10 has the magnitude 1 but for `rest`, by which the kernel divides."""
    near, far = np.sqrt(1 - rest), np.sqrt(rest)
    phases = np.diag(np.exp(1j * np.array([0.3, 0.5, -0.8])))
    links = links.copy()
    turned = [[0, 1, 0], [near, 0, far], [far, 0, -near]]
    links[::2] = phases @ turned @ phases[::-1, ::-1].conj()
    gauge = lattice.Gauge(links, device=device)
    assert max(gauge.unitarity()) < 1e-14
    operator = lattice.Wilson(gauge, 0.1, reconstruct=8, precision=precision)
    expected = dslash(links, psi, antiperiodic=True)
    assert distance(operator.dslash(psi), expected) < ERROR[precision]


def in_native_basis(v):
    upper, lower = v[..., :2, :], v[..., 2:, :]
    return np.concatenate([upper + lower, upper - lower], -2) * np.sqrt(0.5)


def test_fixed_point_keeps_half_a_step(device, psi):
    """An error per real of at most the largest of its site over 65534, but for rounding in f32."""
    field = lattice._fields.pack(cubc.asarray(psi, device=device), EXTENT, "half")
    back = lattice._fields.unpack(field, cubc.asarray(psi)).numpy()
    difference, native = in_native_basis(back - psi), in_native_basis(psi)
    largest = np.maximum(abs(native.real), abs(native.imag)).max((-1, -2), keepdims=True)
    assert (abs(difference.real) < 1.02 * largest / 65534).all()
    assert (abs(difference.imag) < 1.02 * largest / 65534).all()
    zero = lattice._fields.pack(cubc.asarray(0 * psi, device=device), EXTENT, "half")
    assert not lattice._fields.unpack(zero, cubc.asarray(psi)).numpy().any()


def test_arrays_of_every_kind(device, links, psi):
    operator = lattice.Wilson(lattice.Gauge(links, device=device), 0.1, precision="double")
    expected = operator(psi)
    given = cubc.asarray(psi, device=device)
    result = operator(given)
    assert isinstance(result, cubc.Array)
    assert np.array_equal(result.numpy(), expected)
    out = cubc.empty(psi.shape, "complex128", device=device)
    assert operator(given, out=out) is out
    assert np.array_equal(out.numpy(), expected)
    single = operator(psi.astype(np.complex64))
    assert single.dtype == np.complex64
    assert distance(single, expected) < 1e-6


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda u, p: lattice.Gauge(u[:1]), ValueError, "1 sites along t"),
        (lambda u, p: lattice.Gauge(u.real), TypeError, "complex128 or complex64"),
        (lambda u, p: lattice.Gauge(u[..., 0]), ValueError, "a matrix for each"),
        (lambda u, p: lattice.Wilson(u, 0.1), TypeError, "Gauge\\(links\\) makes one"),
        (lambda u, p: wilson(u, reconstruct=9), ValueError, "18, 12 or 8"),
        (lambda u, p: wilson(u, precision="quarter"), ValueError, "double, single, half"),
        (lambda u, p: wilson(u, anisotropy=0), ValueError, "positive"),
        (
            lambda u, p: lattice.Wilson(lattice.Gauge(u), mass=0.1, anisotropy=0),
            ValueError,
            "positive",
        ),
        (lambda u, p: wilson(u, antiperiodic_t=2), TypeError, "antiperiodic_t is 2: .* a bool"),
        (lambda u, p: wilson(u, temporal_gauge="no"), TypeError, "temporal_gauge is 'no'"),
        (lambda u, p: wilson(u)(p[..., 0]), ValueError, "on this lattice it is"),
        (lambda u, p: wilson(u)(p[:, :, :, ::2]), ValueError, "both parities"),
        (lambda u, p: wilson(u).dslash(p, "even"), ValueError, "leave parity out"),
        (lambda u, p: wilson(u).dslash(p[:, :, :, ::2]), ValueError, "say parity="),
        (lambda u, p: wilson(u).dslash(p, "both"), ValueError, "'even' or 'odd'"),
        (lambda u, p: wilson(u)(p.real), TypeError, "complex128 or complex64"),
    ],
)
def test_wrong_arguments(links, psi, wrong, error, text):
    with pytest.raises(error, match=text):
        wrong(links, psi)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("Wilson", {"kappa": NAN}),
        ("Wilson", {"kappa": 0.1, "anisotropy": NAN}),
        ("WilsonClover", {"kappa": 0.1, "csw": NAN}),
        ("WilsonClover", {"kappa": 0.1, "csw": (1.0, NAN)}),
        ("TwistedMass", {"kappa": 0.1, "mu": NAN}),
        ("TwistedClover", {"kappa": 0.1, "csw": 1.0, "mu": NAN}),
        ("TwistedDoublet", {"kappa": 0.1, "mu": 0.1, "epsilon": NAN}),
        ("Staggered", {"mass": NAN}),
    ],
)
def test_numbers_are_finite(kind, given):
    gauge = lattice.Gauge.unit((2, 2, 2, 2), device="cpu")
    with pytest.raises(ValueError, match=rf"^{kind}\(\): \w+=\(?.*nan.*: expected a finite number"):
        getattr(lattice, kind)(gauge, **given)


def wilson(links, **options):
    return lattice.Wilson(lattice.Gauge(links), 0.1, **options)


def test_too_few_norms(links, psi):
    """A norm a site: with fewer the kernel would read beyond them."""
    gauge = lattice.Gauge(links, device="cpu")
    operator = lattice.Wilson(gauge, 0.1, precision="half")
    field = lattice._fields.pack(cubc.asarray(psi, device="cpu"), EXTENT, "half")
    short = lattice._fields.Spinors(
        field.data, cubc.empty(8, "float32", device="cpu"), EXTENT, field.fields
    )
    with pytest.raises(ValueError, match="norms"):
        operator._hop(short, 2, False, None)


def test_an_inner_dimension(device, links, rng):
    """Sources that share the state of a solver are computed as any others, and come together."""
    operator = lattice.Wilson(lattice.Gauge(links, device=device), 0.12)
    _, field = operator._packed(random_spinors(rng, EXTENT, 4), None)
    given = operator._fields(field, 2, False, None)
    alone = operator._run("dslash_wilson", given, field, None).data.numpy()
    paired = operator._run("dslash_wilson", given | {"inner": 2}, field, None).data.numpy()
    np.testing.assert_array_equal(paired, alone)
    with pytest.raises(ValueError, match="4 sources: 3 belong together"):
        operator._run("dslash_wilson", given | {"inner": 3}, field, None)
    with pytest.raises(ValueError, match="dslash of -1 sources a state"):
        operator._run("dslash_wilson", given | {"inner": -1}, field, None)


@pytest.mark.parametrize("exponent", [-36, -33, -20, 0, 30])
def test_sites_of_tiny_numbers_in_half(device, rng, exponent):
    """Right, or 0 where the norm of a site would be subnormal."""
    gauge = lattice.Gauge(random_links(rng, EXTENT), device=device)
    psi = random_spinors(rng, EXTENT)
    expected = lattice.Wilson(gauge, 0.1, precision="double")(psi)
    made = lattice.Wilson(gauge, 0.1, precision="half")(psi * 10.0**exponent) / 10.0**exponent
    assert abs(made).max() == 0 if exponent == -36 else abs(made - expected).max() < 1e-3
