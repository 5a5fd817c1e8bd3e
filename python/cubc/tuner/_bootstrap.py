"""Resampling of measured times, which gives the uncertainty of a figure computed from them.

Samples that follow each other share what the machine was doing, so single ones must not be drawn as
if they were independent: that would promise too narrow an interval. Runs of neighbours are drawn
instead, with the ends of the series joined. Base and variant are measured in turns (A B, B A, ...);
a block takes the same places of both, so that what moved both alike cancels in their ratio as it
does in the measurement. Blocks have an even length, for the order of a pair alternates.

Sources: H. R. Künsch, "The jackknife and the bootstrap for general stationary observations";
D. N. Politis, J. P. Romano, "A circular block-resampling procedure for stationary data".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def block_length(n: int) -> int:
    """Length of the blocks of `n` samples: about the cube root, even."""
    return 2 * max(1, round(n ** (1 / 3) / 2))


def resample(
    x: ArrayLike, y: ArrayLike, *, draws: int = 1000, seed: int | np.random.Generator = 0
) -> tuple[Floats, Floats]:
    """Draw as many samples as there are, again and again.

    Parameters
    ----------
    x : array_like, shape (n,)
        Samples in measured order.
    y : array_like, shape (m,)
        Others; where m equals n they were measured in turns with `x`, and are drawn in pairs.
    draws : int
        Number of draws.
    seed
        Decides the draws, or a generator that does.

    Returns
    -------
    two ndarrays, shapes (draws, n) and (draws, m)
    """
    xs, ys = np.asarray(x, np.float64), np.asarray(y, np.float64)
    rng = np.random.default_rng(seed)
    places = _blocks(xs.size, draws, rng)
    return xs[places], ys[places if ys.size == xs.size else _blocks(ys.size, draws, rng)]


def interval(figures: Floats, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Ends of the interval that holds a share of the resampled figures, along the first axis."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is a share between 0 and 1, not {confidence}")
    tail = (1 - confidence) / 2
    low, high = np.quantile(figures, [tail, 1 - tail], axis=0)
    return low, high


def _blocks(n: int, draws: int, rng: np.random.Generator) -> NDArray[np.intp]:
    length = block_length(n)
    starts = rng.integers(n, size=(draws, -(-n // length), 1))
    return ((starts + np.arange(length)) % n).reshape(draws, -1)[:, :n]
