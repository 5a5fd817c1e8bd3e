"""A Gaussian process over the points of a space: forecasts with a mean and a spread.

Values of near points are alike; how near counts for each parameter is learned from what was
measured (Rasmussen and Williams 2006, chapters 2 and 5; the kernel is Matern's of 5/2). Points that
are awaited count too: their outcome is unknown, so they leave the mean as it is, but around them
there is less left to learn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._checks import need
from .distance import Distances, Seen
from .points import Point

WEIGHT = 1.5  # sum of the parameters' weights before anything is known
NOISE = -3.0  # logarithm of the noise's deviation, likewise
FITTED = 120  # outcomes, at most, that weights are learned from
STEPS = 12  # of the optimiser: weights go on from the last ones
GROWTH = 1.3  # of the number of outcomes, that makes new weights worth their time
JITTER = 1e-6  # keeps a matrix of near points positive


class Process:
    """Forecasts that rest on outcomes and on points whose outcome is awaited."""

    def __init__(self, distances: Distances):
        self._distances = distances
        self._prior = np.append(np.full(distances.count, np.log(WEIGHT / distances.count)), NOISE)
        self._found = self._prior
        self._fitted = 0

    def forecast(
        self,
        known: Sequence[Point],
        values: np.ndarray,
        awaited: Sequence[Point],
        asked: Sequence[Point],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and spread of the values at points that are asked for."""
        triangular = need("scipy.linalg").solve_triangular
        count, see = len(known), self._distances.see
        seen = see([*known, *awaited])
        if count >= GROWTH * self._fitted:
            self._fit(seen[:count], values)
            self._fitted = count
        weights, noise = np.exp(self._found[:-1]), np.exp(2 * self._found[-1]) + JITTER
        matrix = _alike(self._distances.squared(seen, seen, weights))
        matrix[np.diag_indices_from(matrix)] += noise
        root = np.linalg.cholesky(matrix)
        shifted = values - values.mean()
        share = triangular(root[:count, :count], shifted, lower=True, check_finite=False)
        near = _alike(self._distances.squared(seen, see(asked), weights))
        parts = triangular(root, near, lower=True, overwrite_b=True, check_finite=False)
        mean = values.mean() + share @ parts[:count]
        left = np.maximum(1 - np.einsum("ij,ij->j", parts, parts), 1e-12)
        return mean, np.sqrt(share @ share / count * left)

    def learn(self, known: Sequence[Point], values: np.ndarray) -> np.ndarray:
        """Weights of the parameters in distances, learned from values at points."""
        self._fit(self._distances.see(known), values)
        return np.exp(self._found[:-1])

    def _fit(self, seen: Seen, values: np.ndarray) -> None:
        """Learn the weights: the likeliest beside what is expected of them."""
        if len(values) > FITTED:
            which = chosen(values, FITTED)
            seen, values = seen[which], values[which]
        count, ones = len(values), np.eye(self._distances.count)
        parts = np.stack([self._distances.squared(seen, seen, one) for one in ones])
        shifted, unit = values - values.mean(), np.eye(len(values))
        cho_solve = need("scipy.linalg").cho_solve

        def unlikely(logs: np.ndarray) -> tuple[float, np.ndarray]:
            """Negative logarithm of the probability, and its gradient."""
            weights, noise = np.exp(logs[:-1]), np.exp(2 * logs[-1])
            squared = np.tensordot(weights, parts, 1)
            matrix, slope = _alike(squared), _slope(squared)
            root = np.linalg.cholesky(matrix + (noise + JITTER) * unit)
            inverse = cho_solve((root, True), unit, check_finite=False)
            solved = inverse @ shifted
            scale = max(1e-12, shifted @ solved / count)
            found = count / 2 * np.log(scale) + np.log(np.diag(root)).sum()
            by_matrix = (inverse - np.outer(solved, solved) / scale) / 2
            gradient = np.append(
                weights * np.tensordot(parts, by_matrix * slope, 2), 2 * noise * by_matrix.trace()
            )
            off = logs - self._prior
            return found + off @ off / 2, gradient + off

        minimize, bounds = need("scipy.optimize").minimize, [(-9.0, 5.0)] * len(self._found)
        options = {"maxiter": STEPS}
        self._found = minimize(
            unlikely, self._found, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        ).x


def chosen(values: np.ndarray, most: int) -> np.ndarray:
    """Places of so many values: the best half of them, and of the others some all over."""
    order = np.argsort(-values, kind="stable")
    rest = np.sort(order[most // 2 :])
    some = rest[np.linspace(0, len(rest) - 1, most - most // 2).astype(int)]
    return np.sort(np.concatenate([order[: most // 2], some]))


def _alike(squared: np.ndarray) -> np.ndarray:
    """Matern's kernel of 5/2 at squared distances."""
    far = np.sqrt(5 * squared)
    found = far / 3
    found += 1
    found *= far
    found += 1
    found *= np.exp(np.negative(far, out=far), out=far)
    return found


def _slope(squared: np.ndarray) -> np.ndarray:
    """Derivative of `_alike` by the squared distances."""
    far = np.sqrt(5 * squared)
    return -5 / 6 * (1 + far) * np.exp(-far)
