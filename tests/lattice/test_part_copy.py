"""Copies of a rank's part into a field with sites around it, and out of such a one."""

import numpy as np
import pytest
from inputs import each_of

import cubc
from cubc import _core, lattice

PART = (4, 2, 6, 4)  # X, Y, Z, T
CUTS = {"y": 2, "zt": 12, "yzt": 14}
REALS = {"float64": (72, 18, 2), "float32": (24, 6, 1), "int16": (72, 24)}


def around(cut, margin):
    return tuple(e + 2 * margin * (cut >> d & 1) for d, e in enumerate(PART))


def field(rng, extent, reals, dtype):
    """Numbers by parity, t, z, y, x / 2 and real."""
    x, y, z, t = extent
    return rng.integers(-999, 999, (2, t, z, y, x // 2, reals)).astype(dtype)


def native(plain):
    """The same in chunks of 16 bytes, the last of which may be shorter."""
    whole = 16 // plain.dtype.itemsize
    parts = [
        plain[parity, ..., first : first + whole].ravel()
        for parity in (0, 1)
        for first in range(0, plain.shape[-1], whole)
    ]
    return np.concatenate(parts)


def inside(cut, margin):
    """The part among the sites of a larger field."""
    cuts = [margin * (cut >> d & 1) for d in (3, 2, 1)]
    return (slice(None), *(slice(m, -m if m else None) for m in cuts))


def copied(x, size, device, extent, reals, **options):
    given = {
        "from": cubc.asarray(x, device=device),
        "to": (x.dtype.name, (size,), cubc.asarray(np.zeros(size, x.dtype), device=device)),
        "reals": reals,
        **dict(zip(("lx", "ly", "lz", "lt"), extent, strict=True)),
        **options,
    }
    return _core.call("part_copy", given)[0].numpy()


@pytest.mark.parametrize(("dtype", "cut"), each_of(REALS, CUTS.values()))
def test_the_part_lands_in_the_middle(device, rng, dtype, cut):
    for margin, reals in zip((2, 2, 4), REALS[dtype], strict=False):
        if margin > 2 and cut & 2:
            continue  # a part of 2 sites has no 4 for its neighbour
        extent, options = around(cut, margin), {"cut": cut, "margin": margin}
        part, larger = (field(rng, e, reals, dtype) for e in (PART, extent))
        expected = np.zeros_like(larger)
        expected[inside(cut, margin)] = part
        found = copied(native(part), larger.size, device, extent, reals, **options)
        np.testing.assert_array_equal(found, native(expected))
        found = copied(native(larger), part.size, device, extent, reals, crop=1, **options)
        np.testing.assert_array_equal(found, native(larger[inside(cut, margin)]))


@pytest.mark.parametrize("cut", CUTS)
def test_an_own_neighbour_is_around(device, rng, cut):
    """Corners too, and again, since messages have two places in turn."""
    grid = lattice.Grid(cut=cut, device=device)
    margin, extent = 2, around(CUTS[cut], 2)
    for reals in (72, 18, 2, 72):
        part = field(rng, PART, reals, "float64")
        widths = [(margin * (CUTS[cut] >> d & 1),) * 2 for d in (3, 2, 1)]
        expected = np.pad(part, [(0, 0), *widths, (0, 0), (0, 0)], mode="wrap")
        given = {"cut": CUTS[cut], "margin": margin, "ranks": grid._ranks}
        found = copied(native(part), expected.size, device, extent, reals, **given)
        np.testing.assert_array_equal(found, native(expected))
    grid.check()


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"cut": 1}, ValueError, "a cut of 1: it has a bit for each of y, z and t"),
        ({"margin": 3}, ValueError, "3 sites around a part: an even number from 2 on"),
        ({"margin": 0}, ValueError, "0 sites around a part"),
        ({"margin": 4}, ValueError, "a rank has 0 sites along t, of which its neighbours need 4"),
        ({"reals": 73}, ValueError, "73 reals a site: 1 to 72"),
        ({"reals": 16}, ValueError, "arrays of .* reals, expected"),
    ],
)
def test_what_is_no_part(changes, error, says):
    part, extent = field(np.random.default_rng(1), PART, 18, "float64"), around(8, 2)
    given = {"reals": 18, "cut": 8, "margin": 2, **changes}
    with pytest.raises(error, match=says):
        copied(native(part), 2 * part.size, "cpu", extent, **given)


def test_ranks_that_are_cut_otherwise(rng):
    part, extent = field(rng, PART, 18, "float64"), around(8, 2)
    given = {"cut": 8, "margin": 2, "ranks": lattice.Grid(cut="z", device="cpu")._ranks}
    with pytest.raises(ValueError, match="a cut of 8, and the ranks have one of 4"):
        copied(native(part), 2 * part.size, "cpu", extent, 18, **given)
