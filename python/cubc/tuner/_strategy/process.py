"""A Gaussian process over the points of a space: forecasts with a mean and a spread.

Values of near points are alike; how near counts for each parameter is learned from what was
measured (Rasmussen and Williams 2006, chapters 2 and 5; the kernel is Matern's of 5/2). Points that
are awaited count too: their outcome is unknown, so they leave the mean as it is, but around them
there is less left to learn.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from operator import eq

import numpy as np

from cubc._extras import need

from .blas import one_thread
from .distance import Distances, Seen
from .points import Point

WEIGHT = 1.5  # sum of the parameters' weights before anything is known
NOISE = -3.0  # logarithm of the noise's deviation, likewise
FITTED = 120  # outcomes, at most, that weights are learned from
STEPS = 12  # of the optimiser: weights go on from the last ones
GROWTH = 1.3  # of the number of outcomes, that makes new weights worth their time
SLOTS = 800  # points at which solutions are kept
JITTER = 1e-6  # keeps a matrix of near points positive


class Process:
    """Forecasts that rest on outcomes and on points whose outcome is awaited.

    Much of a forecast is that of the last one: most points are known already, and most are asked
    for again. So the root of the matrix, and its solutions at the points that are asked for, are
    kept and only extended, until the weights are learned anew.
    """

    def __init__(self, distances: Distances):
        self._distances = distances
        self._prior = np.append(np.full(distances.count, np.log(WEIGHT / distances.count)), NOISE)
        self._found = self._prior
        self._fitted = self._known = 0  # outcomes that the weights and the last forecast rest on
        self._forget()

    def _forget(self) -> None:
        """Keep nothing of the last forecast."""
        self._points: list[Point] = []  # the root's rows: known points, then awaited ones
        self._seen, self._root = self._distances.see([]), np.empty((0, 0))
        self._columns: dict[Point, int] = {}  # of the solutions: points that were asked for
        self._asked, self._parts = self._distances.see([]), np.empty((0, SLOTS))

    def forecast(
        self,
        known: Sequence[Point],
        values: np.ndarray,
        awaited: Sequence[Point],
        asked: Sequence[Point],
        once: Sequence[Point] = (),
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and spread of the values at points that are asked for, each once.

        Those in `once` come behind the others; they will hardly be asked for again.
        """
        need("scipy.linalg"), need("scipy.optimize")  # what they load is to have one thread, too
        with one_thread():
            return self._forecast(known, values, awaited, asked, once)

    def _forecast(
        self,
        known: Sequence[Point],
        values: np.ndarray,
        awaited: Sequence[Point],
        asked: Sequence[Point],
        once: Sequence[Point],
    ) -> tuple[np.ndarray, np.ndarray]:
        points, count = [*known, *awaited], len(known)
        if count >= GROWTH * self._fitted or count < self._known:  # some were left out
            self._fit(self._distances.see(known), values)
            self._fitted = count
            self._forget()
        self._known = count
        kept = sum(1 for _ in takewhile(bool, map(eq, points, self._points)))
        self._extend(points, kept)
        self._reach(asked, kept)
        share = solve(self._root[:count, :count], values - values.mean())
        columns, which = len(self._columns), [self._columns[point] for point in asked]
        there = self._parts[: len(points), :columns]
        found = [(share @ there[:count])[which], _lengths(there)[which]]
        if once:
            there = solve(self._root, self._alike(self._seen, self._distances.see(once)))
            passing = share @ there[:count], _lengths(there)
            found = [np.concatenate(both) for both in zip(found, passing, strict=True)]
        left = np.maximum(1 - found[1], 1e-12)
        return values.mean() + found[0], np.sqrt(share @ share / count * left)

    def _extend(self, points: list[Point], kept: int) -> None:
        """Make the root that of `points`, of which it has the first `kept` already."""
        size = len(points)
        self._points, old = points, self._root
        self._seen = self._seen[:kept].joined(self._distances.see(points[kept:]))
        self._root = np.zeros((size, size))
        self._root[:kept, :kept] = old[:kept, :kept]
        if kept == size:
            return
        near = self._alike(self._seen, self._seen[kept:])  # to all others and among themselves
        near[kept:][np.diag_indices(size - kept)] += np.exp(2 * self._found[-1]) + JITTER
        low = solve(self._root[:kept, :kept], near[:kept])
        self._root[kept:, :kept] = low.T
        self._root[kept:, kept:] = np.linalg.cholesky(near[kept:] - low.T @ low)

    def _reach(self, asked: Sequence[Point], kept: int) -> None:
        """Solve for points that have no solution yet, and for the rows behind the first `kept`."""
        size, used = len(self._points), len(self._columns)
        fresh = [point for point in asked if point not in self._columns]
        if used + len(fresh) > self._parts.shape[1]:  # those that are not asked for make room
            stay = [point for point in asked if point in self._columns]
            self._make_room(stay, max(SLOTS, len(asked)))
            used = len(stay)
        if size > len(self._parts):
            more = np.empty((2 * size - len(self._parts), self._parts.shape[1]))
            self._parts = np.concatenate([self._parts, more])
        if kept < size and used:
            near = self._alike(self._seen[kept:], self._asked)
            near -= self._root[kept:, :kept] @ self._parts[:kept, :used]
            self._parts[kept:size, :used] = solve(self._root[kept:, kept:], near)
        if fresh:
            seen = self._distances.see(fresh)
            self._asked = self._asked.joined(seen)
            found = solve(self._root, self._alike(self._seen, seen))
            self._parts[:size, used : used + len(fresh)] = found
            self._columns |= {point: at for at, point in enumerate(fresh, used)}

    def _make_room(self, stay: list[Point], slots: int) -> None:
        """Keep the solutions at some points alone."""
        which = np.array([self._columns[point] for point in stay], int)
        parts = np.empty((len(self._parts), slots))
        parts[:, : len(stay)] = self._parts[:, which]
        self._parts, self._asked = parts, self._asked[which]
        self._columns = {point: at for at, point in enumerate(stay)}

    def _alike(self, one: Seen, other: Seen) -> np.ndarray:
        return _alike(self._distances.squared(one, other, np.exp(self._found[:-1])))

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
    """Places of `most` values: half of them the best, the others spread over the rest."""
    order = np.argsort(-values, kind="stable")
    rest = np.sort(order[most // 2 :])
    some = rest[np.linspace(0, len(rest) - 1, most - most // 2).astype(int)]
    return np.sort(np.concatenate([order[: most // 2], some]))


def _lengths(columns: np.ndarray) -> np.ndarray:
    """Squared lengths."""
    return np.einsum("ij,ij->j", columns, columns)


def solve(root: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solution of a triangular system, which may have no rows or no columns."""
    if not right.size:
        return right
    return need("scipy.linalg").solve_triangular(root, right, lower=True, check_finite=False)


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
