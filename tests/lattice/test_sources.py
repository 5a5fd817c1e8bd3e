"""Sources of propagators by themselves: their sites, columns and random numbers."""

import numpy as np
import pytest

from cubc import lattice

EXTENT = (4, 6, 2, 8)
SHAPE = EXTENT[::-1]
COLUMNS = {"spinor": (4, 3), "colour vector": (3,)}
T, Z, Y, X = np.indices(SHAPE)
SITES = {
    "all": X >= 0,
    "even": (X + Y + Z) % 2 == 0,
    "corner": (X % 2 == 0) & (Y % 2 == 0) & (Z % 2 == 0),
}


def values_of(sources, kind):
    """The numbers of a source at each site, after a look at its columns."""
    site = COLUMNS[kind]
    assert sources.shape == (*site, *SHAPE, *site)
    values = sources[(*(0 for _ in site), ..., *(0 for _ in site))]
    one = np.zeros((*site, *site))
    for column in np.ndindex(site):
        one[column * 2] = 1
    expected = np.multiply.outer(values, one)
    np.testing.assert_array_equal(
        np.moveaxis(sources, range(len(site)), range(4, 4 + len(site))), expected
    )
    return values


def splitmix(seed, i):
    """The generator of kernels/dialect/types.h, in whole numbers."""
    z = (seed * 0xD1342543DE82EF95 + (i + 1) * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


@pytest.mark.parametrize("kind", COLUMNS)
def test_points_and_walls(kind):
    values = values_of(lattice.point_source(EXTENT, (3, 5, 1, 7), kind), kind)
    assert (values[7, 1, 5, 3], values.sum()) == (1, 1)
    for sites, chosen in SITES.items():
        values = values_of(lattice.wall_source(EXTENT, 3, sites, kind), kind)
        np.testing.assert_array_equal(values, chosen & (T == 3))


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize(("noise", "bits"), [("z2", 1), ("z4", 2), ("u1", 53)])
def test_random_walls(kind, noise, bits):
    """A number is of the seed and the site's number alone, x fastest."""
    seed, time = 11, 5
    values = values_of(lattice.random_wall_source(EXTENT, time, seed, noise, kind=kind), kind)
    assert not values[np.arange(8) != time].any()
    numbers = X + 4 * (Y + 6 * (Z + 2 * T))
    turns = [splitmix(seed, int(i)) >> (64 - bits) for i in numbers[time].ravel()]
    expected = np.exp(2j * np.pi * np.array(turns, float) / 2**bits)
    np.testing.assert_allclose(values[time].ravel(), expected, rtol=0, atol=3e-16)
    if noise != "u1":
        assert set(abs(values[time].ravel())) == {1.0}


def test_random_walls_of_sites_and_seeds():
    walls = [
        lattice.random_wall_source(EXTENT, 0, seed, kind="colour vector") for seed in range(99)
    ]
    values = np.array([values_of(wall, "colour vector")[0] for wall in walls])
    correlation = np.einsum("szyx,szyx->", values[1:], values[:-1].conj()) / 98 / 48
    assert abs(correlation) < 4 / np.sqrt(98 * 48)
    assert abs(values.mean()) < 4 / np.sqrt(99 * 48)
    corner = lattice.random_wall_source(EXTENT, 0, 7, sites="corner", kind="colour vector")
    np.testing.assert_array_equal(
        values_of(corner, "colour vector")[0], values[7] * SITES["corner"][0]
    )


def test_what_sources_refuse():
    for call, words in (
        (lambda: lattice.wall_source(EXTENT, 8), "8 time slices"),
        (lambda: lattice.wall_source(EXTENT, -1), "8 time slices"),
        (lambda: lattice.wall_source(EXTENT, 0.5), "expected an int"),
        (lambda: lattice.wall_source(EXTENT, 0, "odd"), "expected one of all, even, corner"),
        (lambda: lattice.wall_source(EXTENT, 0, kind="vector"), "one of spinor, colour vector"),
        (lambda: lattice.random_wall_source(EXTENT, 0, noise="z3"), "one of z2, z4, u1"),
        (lambda: lattice.random_wall_source(EXTENT, 0, -1), "from 0 on"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            call()
