"""The number of each item's segment (cubc_segment_ids), against numpy.searchsorted."""

import numpy as np
import pytest
from inputs import on

import cubc
from cubc._core import call


@pytest.mark.parametrize("type", ["i4", "i8"])
@pytest.mark.parametrize("n", [0, 1, 1000, 300_007])
def test_ids(device, type, n):
    """Some segments are empty, and items before the first and behind the last are in none."""
    offsets = np.sort(np.random.default_rng(n).integers(0, n + 1, n // 7 + 2))
    given = {"offsets": on(device, offsets), "segments": offsets.size - 1}
    found = call("segment_ids", given | {"out": (type, (n,), None)})[0]
    expected = np.searchsorted(offsets, np.arange(n), side="right")
    np.testing.assert_array_equal(cubc.asarray(found).numpy(), expected)
