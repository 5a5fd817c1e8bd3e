"""Gauge fields: what is measured of them, projections, rotations, and temporal gauge."""

from pathlib import Path

import numpy as np
import pytest
from lattice_reference import (
    adjoint,
    random_links,
    random_spinors,
    random_su3,
    shift,
    transform_links,
    transform_spinors,
)

from cubc import _core, lattice

pytestmark = pytest.mark.usefixtures("optimised")
EXTENT = (8, 4, 6, 2)
DATA = Path(__file__).parents[1] / "data"
ROUNDING = 1e-13


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(5)


@pytest.fixture(scope="module")
def links(rng):
    return random_links(rng, EXTENT)


def plane(links, mu, nu):
    """The mean plaquette, by NumPy."""
    u, v = links[..., mu, :, :], links[..., nu, :, :]
    loop = u @ shift(v, mu, 1) @ adjoint(v @ shift(u, nu, 1))
    return np.einsum("...ii", loop).real.mean() / 3


# ---- what is measured ---------------------------------------------------------------------------
def test_weak_field(device):
    """The numbers that are known of this file, from an independent code."""
    u = lattice.read_gauge(DATA / "weak_field.lime", device=device)
    expected = 0.9948041322666996, 0.9947985783413031, 0.9948096861920962
    np.testing.assert_allclose(u.plaquette(), expected, rtol=0, atol=ROUNDING)
    planes = {
        "xy": 0.9947037332453218,
        "xz": 0.9949269574866808,
        "xt": 0.9946933200353529,
        "yz": 0.9947650442919065,
        "yt": 0.994854049218729,
        "zt": 0.9948816893222068,
    }
    assert u.plaquettes() == pytest.approx(planes, rel=0, abs=ROUNDING)
    assert abs(u.link_trace() - 0.379449348715193) < ROUNDING
    assert abs(u.polyakov() - (0.8787695009141113 - 0.00991386j)) < 1e-8
    assert max(u.unitarity()) < 2e-15


@pytest.mark.parametrize("extent", [EXTENT, (2, 2, 2, 2), (4, 2, 2, 6)])
def test_against_numpy(device, rng, extent):
    links = random_links(rng, extent)
    u = lattice.Gauge(links, device=device)
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    expected = [plane(links, mu, nu) for mu, nu in pairs]
    np.testing.assert_allclose(list(u.plaquettes().values()), expected, rtol=0, atol=ROUNDING)
    assert abs(u.plaquette()[0] - np.mean(expected)) < ROUNDING
    loop = np.eye(3)
    for t in range(extent[3]):
        loop = loop @ links[t, ..., 3, :, :]
    assert abs(u.polyakov() - np.einsum("...ii", loop).mean() / 3) < ROUNDING
    assert abs(u.link_trace() - np.einsum("...ii", links).real.mean() / 3) < ROUNDING


def test_sums_are_the_same_from_run_to_run(device, links):
    u = lattice.Gauge(links, device=device)
    assert len({(u.plaquette(), u.polyakov(), u.unitarity()) for _ in range(5)}) == 1


def unchecked(links, device):
    """A field of any matrices."""
    u = lattice.Gauge.unit(links.shape[3::-1], device=device)
    given = {
        "from": _core.asarray(links, device=device),
        "to": ("float64", (u.native().size,), u.native()),
        "from_order": 0,
        "to_order": 2,
        "from_reals": 18,
        "to_reals": 18,
        **dict(zip(("lx", "ly", "lz", "lt"), u.extent, strict=True)),
    }
    _core.call("link_copy", given)
    return u


def test_unitarity_finds_one_link(device, links):
    """Wherever it is, and whether it is its rows or the determinant that is wrong."""
    for at, factor, elements, determinant in [
        ((0, 0, 0, 0, 0), 1.01, 1.01**2 - 1, 1.01**3 - 1),
        ((1, 5, 3, 7, 3), np.exp(0.1j), 0, abs(np.exp(0.3j) - 1)),
    ]:
        wrong = links.copy()
        wrong[at] *= factor
        found = unchecked(wrong, device).unitarity()
        np.testing.assert_allclose(found, [elements, determinant], rtol=0, atol=1e-14)
    wrong[1, 2, 3, 4, 1, 2, 0] = np.nan
    assert np.isnan(unchecked(wrong, device).unitarity()).all()


def test_links_that_are_not_in_su3_are_refused(device, rng, links):
    """Beyond what single precision explains, in rows, determinant, or by a NaN; or projected."""
    for factor, words in (
        (1 + 1e-4, r"0\.0002 and det U - 1 as 0\.0003"),
        (np.exp(1e-4j), r"det U - 1 as 0\.0003"),
        (0, "as large as 1 and det U - 1 as 1"),
        (np.nan, "as large as nan"),
    ):
        wrong = links.copy()
        wrong[1, 5, 3, 7, 3] *= factor
        with pytest.raises(ValueError, match=f"not in SU\\(3\\): .*{words}.*project=True"):
            lattice.Gauge(wrong, device=device)
    for near in (links * (1 + 3e-5), links.astype(np.complex64)):
        kept = np.asarray(lattice.Gauge(near, device=device).links())
        np.testing.assert_array_equal(kept, near)
    hermitian = rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape)
    far = (np.eye(3) + 0.1 * hermitian @ adjoint(hermitian)) @ links
    u = lattice.Gauge(far, device=device, project=True)
    assert abs(np.asarray(u.links()) - links).max() < 1e-13 and max(u.unitarity()) < 3e-15
    far[0, 0, 0, 0, 0] = np.nan  # which nothing is near to
    with pytest.raises(ValueError, match="not in SU"):
        lattice.Gauge(far, device=device, project=True)


def test_rotations_that_are_not_in_su3_are_refused(rng):
    matrices = random_su3(rng, EXTENT[::-1])
    lattice.Rotation(matrices.astype(np.complex64), device="cpu")
    for factor in (1.001, np.exp(0.001j), np.nan):
        wrong = matrices.copy()
        wrong[1, 2, 3, 4] *= factor
        with pytest.raises(ValueError, match="matrices are not in SU"):
            lattice.Rotation(wrong, device="cpu")


MILC = Path(__file__).parents[3] / "shared/data/fields/lat.sample.l4444"


@pytest.mark.skipif(not MILC.exists(), reason="../shared/data/fields is not there")
def test_a_file_of_single_precision(device):
    """MILC's links and 3 times their plaquettes, in space and with time, as MILC measured them."""
    u = lattice.read_gauge(MILC, device=device)
    known = np.array([1.7946751560761731, 1.7744257976067317])
    np.testing.assert_allclose(3 * np.array(u.plaquette()[1:]), known, rtol=0, atol=2e-15)
    assert 1e-7 < max(u.unitarity()) < 1e-6
    projected = lattice.read_gauge(MILC, device=device, project=True)
    assert max(projected.unitarity()) < 3e-15
    assert abs(3 * np.array(projected.plaquette()[1:]) - known).max() > 1e-9


def test_smeared_links_of_a_file(device, links, tmp_path):
    path = tmp_path / "smeared"
    lattice.write_links(path, 0.9 * links)
    with pytest.raises(ValueError, match=rf"^read_gauge\(\): {path}: the links are not .*0.27"):
        lattice.read_gauge(path, device=device)
    u = lattice.read_gauge(path, device=device, project=True)
    assert abs(np.asarray(u.links()) - links).max() < 1e-13


def native(u, kind):
    """The core's parameters for a field in single precision."""
    links = u.native(precision="single" if kind == "float32" else "double")
    return {"links": links, **dict(zip(("lx", "ly", "lz", "lt"), u.extent, strict=True))}


def test_single_precision(device, links):
    u = lattice.Gauge(links, device=device)
    given = {**native(u, "float32"), "out": ("float64", (7,), None), "quantity": 0}
    planes = _core.call("gauge_measure", given)[0].numpy()
    np.testing.assert_allclose(planes[:6], list(u.plaquettes().values()), rtol=0, atol=1e-6)
    reals = given["links"].size
    project = {**native(u, "float32"), "out": ("float32", (reals,), None)}
    projected = _core.call("gauge_project", project)[0].numpy()
    assert abs(projected - given["links"].numpy()).max() < 1e-6


# ---- projection ---------------------------------------------------------------------------------
def test_gram_and_schmidt(device, rng, links):
    rough = links + 0.3 * (rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape))
    u = unchecked(rough, device)
    u.project()
    assert max(u.unitarity()) < 3e-15
    first = rough[..., 0, :] / np.linalg.norm(rough[..., 0, :], axis=-1)[..., None]
    second = rough[..., 1, :]
    second = second - np.sum(first.conj() * second, -1)[..., None] * first
    second /= np.linalg.norm(second, axis=-1)[..., None]
    expected = np.stack([first, second, np.cross(first, second).conj()], -2)
    assert abs(np.asarray(u.links()) - expected).max() < 1e-13


def test_nearest(device, rng, links):
    """A positive matrix times one of SU(3) has that nearest; of others nothing near is nearer."""
    u = lattice.Gauge(links, device=device)
    hermitian = rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape)
    positive = np.eye(3) + 0.1 * hermitian @ adjoint(hermitian)
    u = unchecked(positive @ links, device)
    u.project(nearest=True)
    assert abs(np.asarray(u.links()) - links).max() < 1e-13
    rough = links + 0.5 * (rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape))
    u = unchecked(rough, device)
    u.project(nearest=True)
    assert max(u.unitarity()) < 3e-15
    found = np.asarray(u.links())
    best = np.einsum("...ij,...ij", found, rough.conj()).real
    for _ in range(20):
        step = rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape)
        other = unchecked(found + 0.02 * step, device)
        other.project()
        there = np.einsum("...ij,...ij", np.asarray(other.links()), rough.conj()).real
        assert (there < best).all()


def test_projection_leaves_su3_alone(device, links):
    for nearest in (False, True):
        u = lattice.Gauge(links, device=device)
        u.native(12, "single")
        u.project(nearest=nearest)
        assert abs(np.asarray(u.links()) - links).max() < 1e-14
        assert not u._packed  # of links that have changed since


# ---- starts -------------------------------------------------------------------------------------
def test_starts(device):
    unit = lattice.Gauge.unit(EXTENT, device=device)
    assert unit.plaquette() == (1, 1, 1)
    assert unit.link_trace() == 1
    assert (np.asarray(unit.links()) == np.eye(3)).all()
    hot = lattice.Gauge.random((8, 8, 8, 8), 3, device=device)
    links = np.asarray(hot.links())
    assert max(hot.unitarity()) < 3e-15
    # By Haar's measure <tr U> = 0, <|tr U|^2> = 1, <|tr U|^4> = 2, and links are independent.
    trace, n = np.einsum("...ii", links), links.size // 9
    assert abs(trace.mean()) < 4 / np.sqrt(n)
    assert abs((abs(trace) ** 2).mean() - 1) < 4 / np.sqrt(n)
    assert abs((abs(trace) ** 4).mean() - 2) < 4 * np.sqrt(20 / n)
    assert abs(hot.plaquette()[0]) < 4 / np.sqrt(18 * 6 * n / 4)
    assert abs((links[..., 0, :, :] * links[..., 1, :, :].conj()).mean()) < 4 / np.sqrt(9 * n / 4)
    rough = [lattice.Gauge.random(EXTENT, noise=noise, device=device) for noise in (0.0, 0.05, 0.2)]
    assert rough[0].plaquette()[0] == 1 > rough[1].plaquette()[0] > rough[2].plaquette()[0] > 0.5


def test_seeds(device):
    fields = [lattice.Gauge.random(EXTENT, seed, device=device) for seed in (1, 1, 2, 2**40 + 1)]
    first, again, *others = [np.asarray(u.links()) for u in fields]
    assert (first == again).all()
    for other in others:
        assert abs(first - other).max() > 0.5
    cpu = lattice.Gauge.random(EXTENT, 1, device="cpu")
    assert abs(np.asarray(cpu.links()) - first).max() < 1e-12


def test_copy(device, links):
    u = lattice.Gauge(links, device=device)
    v = u.copy()
    v.update(6.0)
    assert (np.asarray(u.links()) == links).all()
    assert abs(np.asarray(v.links()) - links).max() > 0.1


# ---- rotations ----------------------------------------------------------------------------------
def test_rotation_against_numpy(device, rng, links):
    matrices = random_su3(rng, links.shape[:4])
    g = lattice.Rotation(matrices, device=device)
    assert (g.numpy() == matrices).all()
    u = lattice.Gauge(links, device=device)
    rotated = u.transform(g)
    assert abs(np.asarray(rotated.links()) - transform_links(links, matrices)).max() < 1e-14
    back = rotated.transform(g, inverse=True)
    assert abs(np.asarray(back.links()) - links).max() < 1e-14
    assert u.plaquettes() == pytest.approx(rotated.plaquettes(), rel=0, abs=ROUNDING)
    assert abs(u.polyakov() - rotated.polyakov()) < ROUNDING
    assert abs(u.link_trace() - rotated.link_trace()) > 1e-6


def test_rotated_spinors(device, rng):
    matrices = random_su3(rng, EXTENT[::-1])
    g = lattice.Rotation(matrices, device=device)
    for psi in (random_spinors(rng, EXTENT), random_spinors(rng, EXTENT, 3)):
        assert abs(g(psi) - transform_spinors(psi, matrices)).max() < 1e-13
        assert abs(g(g(psi), inverse=True) - psi).max() < 1e-13
    there = _core.asarray(psi, device=device)
    assert isinstance(g(there), _core.Array)
    assert (g(there).numpy() == g(psi)).all()


def test_colour_vectors(device, rng):
    """A field of six reals a site, native: parity, chunks of two reals, sites."""
    g = lattice.Rotation.random(EXTENT, device=device)
    sites, matrices = g.numpy().size // 18, g._native.numpy().view(complex).reshape(2, 9, -1)
    psi = rng.normal(size=(2, 2, 3, sites)) + 1j * rng.normal(size=(2, 2, 3, sites))
    given = {
        "in": _core.asarray(psi.view(float).reshape(-1), device=device),
        "rotation": g._native,
        "out": ("in", "in.size", None),
        "reals": 6,
        **dict(zip(("lx", "ly", "lz", "lt"), EXTENT, strict=True)),
    }
    out = _core.call("gauge_rotate", given)[0].numpy().view(complex).reshape(psi.shape)
    expected = np.einsum("pijx,npjx->npix", matrices.reshape(2, 3, 3, -1), psi)
    assert abs(out - expected).max() < 1e-13


def test_random_rotation(device):
    g = lattice.Rotation.random((4, 4, 4, 4), 2, device=device)
    matrices = g.numpy()
    assert abs(matrices @ adjoint(matrices) - np.eye(3)).max() < 3e-15
    assert abs(np.linalg.det(matrices) - 1).max() < 3e-15
    assert (lattice.Rotation(matrices, device=device).numpy() == matrices).all()


# ---- temporal gauge -----------------------------------------------------------------------------
@pytest.mark.parametrize("extent", [EXTENT, (4, 4, 2, 8)])
def test_temporal_gauge(device, rng, extent):
    links = random_links(rng, extent)
    u = lattice.Gauge(links, device=device)
    fixed, g = u.temporal_gauge()
    fixed_links = np.asarray(fixed.links())
    assert (fixed_links[:-1, ..., 3, :, :] == np.eye(3)).all()
    assert abs(fixed_links - transform_links(links, g.numpy())).max() < 1e-13
    assert fixed.plaquettes() == pytest.approx(u.plaquettes(), rel=0, abs=ROUNDING)
    assert abs(fixed.polyakov() - u.polyakov()) < ROUNDING
    assert max(fixed.unitarity()) < 1e-14
    assert abs(np.asarray(fixed.transform(g, inverse=True).links()) - links).max() < 1e-13


def test_operator_in_temporal_gauge(device, rng, links):
    """M_fixed g = g M, with the links in time left out."""
    u = lattice.Gauge(links, device=device)
    fixed, g = u.temporal_gauge()
    psi = random_spinors(rng, EXTENT)
    options = {"kappa": 0.12, "precision": "double", "antiperiodic_t": True}
    for reconstruct in (18, 12):
        M = lattice.Wilson(u, reconstruct=reconstruct, **options)
        there = lattice.Wilson(fixed, reconstruct=reconstruct, temporal_gauge=True, **options)
        assert abs(there(g(psi)) - g(M(psi))).max() < 1e-12


# ---- wrong arguments ----------------------------------------------------------------------------
def test_wrong_arguments(links):
    u = lattice.Gauge(links, device="cpu")
    g = lattice.Rotation.random((4, 4, 4, 4), device="cpu")
    with pytest.raises(ValueError, match="different lattices"):
        u.transform(g)
    with pytest.raises(ValueError, match="expected \\(T, Z, Y, X, 3, 3\\)"):
        lattice.Rotation(links)
    with pytest.raises(ValueError, match="extents are even numbers"):
        lattice.Gauge.unit((4, 4, 3, 4), device="cpu")
    with pytest.raises(ValueError, match="sites along x, y, z and t"):
        lattice.Gauge.unit((4, 4, 4), device="cpu")
    with pytest.raises(ValueError, match="they are finite"):
        lattice.Gauge.random(EXTENT, noise=np.inf, device="cpu")
    given = {**native(u, "float64"), "out": ("float64", (2,), None), "quantity": 0}
    with pytest.raises(ValueError, match="gives 7 numbers"):
        _core.call("gauge_measure", given)
    with pytest.raises(ValueError, match="quantity 3"):
        _core.call("gauge_measure", {**given, "quantity": 3})
    with pytest.raises(ValueError, match="72 a site of a lattice of 8x4x6x4"):
        _core.call("gauge_measure", {**given, "lt": 4})
    half = {**given, "links": u.native(18, "half")}
    with pytest.raises(TypeError, match="F64 or F32, not of I16"):
        _core.call("gauge_measure", half)
