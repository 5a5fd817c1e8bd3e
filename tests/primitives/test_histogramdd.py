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


LARGE = 1_700_000_000_000_000_000


@pytest.mark.parametrize(
    ("points", "edges"),
    [
        (LARGE + np.array([0, 5, 12, 13, 25]), LARGE + np.array([0, 10, 20, 25])),
        (np.array([0, 9, 10, 10, 20], "u8") + 2**63, np.array([0, 10, 20], "u8") + 2**63),
        (np.array([0, 1, 2, 3, 200], "u1"), np.array([-1, 2, 200])),
        (np.array([True, False, True, True, False]), np.array([False, True])),
        (np.array([0.1, 0.2, 0.3, 0.3, 0.4], "f4"), np.array([0.1, 0.2, 0.3], "f4")),
        (np.array([0.1, 0.2, 0.3, 0.3, 0.4], "f4"), np.array([0.1, 0.2, 0.3])),
        (np.array([1, 2, 3, 4, 5], "f2"), np.array([1, 2.5, 4])),
    ],
    ids=["int64", "uint64", "uint8", "bool", "float32", "float64", "float16"],
)
def test_points_and_edges_are_compared_in_their_common_type(device, points, edges):
    y = np.zeros(5, points.dtype)  # beside another type NumPy converts the points
    expected = np.histogram2d(points, y, bins=[edges, [0, 1]])[0]
    same(cubc.histogram2d(on(device, points), on(device, y), bins=[edges, [0, 1]])[0], expected)
    made = cubc.histogramdd((on(device, points), on(device, y)), [edges, [0, 1]])[0]
    same(made, expected)


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
