"""Histograms of points against NumPy's."""

import numpy as np
import pytest
from inputs import on, same

import cubc

P = np.random.default_rng(0).integers(-8, 9, (500, 3)) / 4


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bins": (3, 4, 5), "range": [(-1, 1), None, (0, 2)]},
        {"bins": [np.array([-2, 0, 0.5, 2]), 3, [0, 1]]},
        {"bins": 2, "weights": np.arange(500) % 7},
    ],
    ids=["default", "numbers", "edges", "weights"],
)
def test_histogramdd(device, options):
    expected, edges = np.histogramdd(P, **options)
    given = {**options}
    if "weights" in given:
        given["weights"] = on(device, given["weights"])
    made, own = cubc.histogramdd(on(device, P), **given)
    same(made, expected)
    for one, other in zip(own, edges, strict=True):
        same(one, other)


def test_histogram2d(device):
    x, y = on(device, P[:, 0].copy()), on(device, P[:, 1].copy())
    for bins in (4, (2, 3), [-2, 0, 1, 2]):
        made, expected = cubc.histogram2d(x, y, bins), np.histogram2d(P[:, 0], P[:, 1], bins)
        for one, other in zip(made, expected, strict=True):
            same(one, other)
    made = cubc.histogram2d(x, y, 4, density=True)[0]
    same(made, np.histogram2d(P[:, 0], P[:, 1], 4, density=True)[0])
    with pytest.raises(ValueError, match="same length"):
        cubc.histogram2d(x, y[1:])
    with pytest.raises(ValueError, match="dimension of bins"):
        cubc.histogramdd(P, (2, 2))
    with pytest.raises(ValueError, match="expected two finite numbers"):
        cubc.histogramdd(P, range=[(0, np.inf)] * 3)
    with pytest.raises(ValueError, match="increase monotonically"):
        cubc.histogramdd(P, [[2, 1], 3, 3])
