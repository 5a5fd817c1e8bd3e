"""Fat and long links: against NumPy, on free fields, and against the numbers of other codes."""

from pathlib import Path

import numpy as np
import pytest
from lattice_reference import adjoint, random_links, random_su3, shift, transform_links, unit_links

import cubc
from cubc import lattice
from cubc._core import call
from cubc.lattice import _fat_links
from cubc.lattice._fields import NATIVE, PLAIN, extent_fields

EXTENT = (4, 2, 4, 6)
MILC = Path(__file__).resolve().parents[3] / "shared/data/fields"
ALL = _fat_links.Paths(0.3, 0.7, -0.4, 0.2, 0.9, -0.6)  # of no action


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(11)


def field(name):
    if not (MILC / name).exists():
        pytest.skip(f"{name} of MILC is not in ../shared/data/fields")
    return MILC / name


def path(links, steps):
    """The product of links along a path: steps are directions, ~mu for a step back along mu."""
    product, at = np.eye(3), [0, 0, 0, 0]
    for step in steps:
        mu, forward = (step, True) if step >= 0 else (~step, False)
        if not forward:
            at[mu] -= 1
        u = links[..., mu, :, :]
        for nu in range(4):
            u = shift(u, nu, at[nu])
        product = product @ (u if forward else adjoint(u))
        if forward:
            at[mu] += 1
    return product


def fat(links, paths):
    """Fat links, path by path."""
    out = np.zeros_like(links)
    for mu in range(4):
        others = [nu for nu in range(4) if nu != mu]
        both = [(n, ~n) for n in others]
        total = paths.one * links[..., mu, :, :]
        for i, q in enumerate(both):
            for one in q:
                total = total + paths.three * path(links, (one, mu, ~one))
                total = total + paths.lepage * path(links, (one, one, mu, ~one, ~one))
                for j, r in enumerate(both):
                    if j == i:
                        continue
                    for two in r:
                        out_and_back = (one, two, mu, ~two, ~one)
                        total = total + paths.five * path(links, out_and_back)
                        for three in both[3 - i - j]:
                            seven = (one, two, three, mu, ~three, ~two, ~one)
                            total = total + paths.seven * path(links, seven)
        out[..., mu, :, :] = total
    return out


def long(links, factor):
    out = [factor * path(links, (mu, mu, mu)) for mu in range(4)]
    return np.stack(out, axis=-3)


def polar(v):
    """The nearest unitary matrix, by singular values."""
    left, _, right = np.linalg.svd(v)
    return left @ right


def plain(gauge, native):
    return _fat_links._plain(native, gauge, None).numpy()


def test_paths_against_numpy(device, rng):
    links = random_links(rng, EXTENT)
    gauge = lattice.Gauge(links, device=device)
    ours = plain(gauge, _fat_links.fattened(gauge.native(), EXTENT, ALL))
    np.testing.assert_allclose(ours, fat(links, ALL), rtol=0, atol=1e-12)
    ours = plain(gauge, _fat_links.lengthened(gauge.native(), EXTENT, ALL.naik))
    np.testing.assert_allclose(ours, long(links, ALL.naik), rtol=0, atol=1e-14)


def test_single_precision(device, rng):
    links = random_links(rng, EXTENT)
    gauge = lattice.Gauge(links, device=device)
    made = _fat_links.fattened(gauge.native(precision="single"), EXTENT, ALL)
    assert str(made.dtype) == "float32"
    exact = _fat_links.fattened(gauge.native(), EXTENT, ALL)
    np.testing.assert_allclose(plain(gauge, made), plain(gauge, exact), rtol=0, atol=3e-5)


@pytest.mark.parametrize(
    ("action", "sums"), [("fat7", (1, 0)), ("asqtad", (9 / 8, -1 / 24)), ("hisq", (9 / 8, -1 / 24))]
)
def test_unit_links(device, action, sums):
    gauge = lattice.Gauge(unit_links(EXTENT), device=device)
    for made, each in zip(lattice.fat_links(gauge, action), sums, strict=True):
        np.testing.assert_allclose(made.numpy(), each * unit_links(EXTENT), rtol=0, atol=1e-14)


def test_hisq_against_numpy(device, rng):
    links = random_links(rng, EXTENT)
    epsilon = -0.3
    made = lattice.fat_links(lattice.Gauge(links, device=device), naik_epsilon=epsilon)
    w = polar(fat(links, _fat_links.FAT7))
    x = fat(w, _fat_links.HISQ) + epsilon / 8 * w
    np.testing.assert_allclose(made[0].numpy(), x, rtol=0, atol=1e-10)
    naik = long(w, -(1 + epsilon) / 24)
    np.testing.assert_allclose(made[1].numpy(), naik, rtol=0, atol=1e-11)


def test_fat_links_transform_as_links(device, rng):
    links, g = random_links(rng, EXTENT), random_su3(rng, EXTENT[::-1])
    fats = [
        lattice.fat_links(lattice.Gauge(u, device=device), "asqtad", u0=0.8)[0].numpy()
        for u in (links, transform_links(links, g))
    ]
    np.testing.assert_allclose(fats[1], transform_links(fats[0], g), rtol=0, atol=1e-11)


# ---- projection to U(3) -------------------------------------------------------------------------
def unitary(device, matrices):
    """The nearest unitary matrices of the links of a lattice of 2^4."""
    extent = (2, 2, 2, 2)
    given = {
        "from": cubc.asarray(matrices, device=device),
        "to": ("float64", (2 * matrices.size,), None),
        "from_order": PLAIN,
        "to_order": NATIVE,
        "from_reals": 18,
        "to_reals": 18,
        **extent_fields(extent),
    }
    native = call("link_copy", given)[0]
    gauge = lattice.Gauge.from_native(native, extent)
    return plain(gauge, _fat_links.unitarised(native, extent))


def is_unitary(u):
    return abs(u @ adjoint(u) - np.eye(3)).max()


@pytest.mark.parametrize("smallest", [1, 1e-3, 1e-8, 1e-12])
def test_projection_of_ill_conditioned_matrices(device, rng, smallest):
    shape = (2, 2, 2, 2, 4)
    left, right = random_su3(rng, shape), random_su3(rng, shape)
    values = np.array([2.5, 1, smallest])
    given = (left * values[..., None, :]) @ right
    made = unitary(device, given)
    assert is_unitary(made) < 1e-14
    # The direction of the smallest value is known to about rounding over it.
    np.testing.assert_allclose(made, left @ right, rtol=0, atol=1e-14 / smallest + 1e-14)
    assert abs(np.einsum("...ij,...ij", made.conj(), given).real.sum() - 64 * values.sum()) < 1e-10


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_projection_of_singular_matrices(device, rng, rank):
    shape = (2, 2, 2, 2, 4)
    left, right = random_su3(rng, shape), random_su3(rng, shape)
    values = np.array([1.0, 1, 1]) * (np.arange(3) < rank)
    given = (left * values[..., None, :]) @ right
    made = unitary(device, given)
    assert is_unitary(made) < 1e-13
    # A matrix of rank 1 has a known direction of the largest value alone, to fewer digits.
    along = np.einsum("...ij,...ij", made.conj(), given).real
    np.testing.assert_allclose(along, rank, rtol=0, atol=1e-3 if rank == 1 else 1e-12)


# ---- the numbers of MILC ------------------------------------------------------------------------
def test_asqtad_of_milc(device):
    """Sums of squares a site: of the fat links in x, and of the long links of each direction."""
    gauge = lattice.read_gauge(field("lat.sample.l8"), project=True, device=device)
    fats, longs = (f.numpy() for f in lattice.fat_links(gauge, "asqtad", u0=0.502))
    assert (abs(fats[..., 0, :, :]) ** 2).sum() / 8**4 == pytest.approx(211.13366, abs=5e-6)
    each = (abs(longs) ** 2).sum((0, 1, 2, 3, 5, 6)) / 8**4
    np.testing.assert_allclose(each, 0.08201322741, rtol=0, atol=5e-12)


def test_hisq_of_milc(device):
    """Mean traces of the links after each step of HISQ, x, y, z, t."""
    gauge = lattice.read_gauge(field("lat.sample.l8"), project=True, device=device)

    def traces(native):
        return np.einsum("...dii->...d", plain(gauge, native)).real.mean((0, 1, 2, 3))

    v = _fat_links.fattened(gauge.native(), gauge.extent, _fat_links.FAT7)
    expected = [2.620155756, 2.620764429, 2.620168866, 2.619936458]
    np.testing.assert_allclose(traces(v), expected, rtol=0, atol=1e-8)
    w = _fat_links.unitarised(v, gauge.extent)
    expected = [2.961885701, 2.962960297, 2.962095032, 2.961974713]
    np.testing.assert_allclose(traces(w), expected, rtol=0, atol=1e-8)
    x = _fat_links.fattened(w, gauge.extent, _fat_links.HISQ)
    expected = [3.314008035, 3.314946329, 3.313961715, 3.313980057]
    np.testing.assert_allclose(traces(x), expected, rtol=0, atol=1e-8)
