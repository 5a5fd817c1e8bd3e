"""Inputs of a benchmark, drawn on the device by seed: the same for every variant and every run."""

from __future__ import annotations

from typing import Any

import cubc

ENTROPIES = (1.0, 0.811, 0.544, 0.337, 0.201)  # bits a bit, of the conjunction of 1, 2, ... draws
DISTRIBUTIONS = ("uniform", "normal")
_APART = 1_000_003  # between the seeds of the draws of one array


def draw(
    out: cubc.Array,
    seed: int,
    *,
    low: Any,
    high: Any,
    entropy: float,
    distribution: str,
) -> None:
    """Fill an array with random numbers; `State.random` has the parameters."""
    # Seeds are constants of the expression: its numbers would take the type of the result.
    unit = f"(({_word(seed, entropy)} >> 11) * 0x1p-53)"  # 53 bits
    bounded = low is not None and high is not None
    if distribution == "normal":
        radius = f"sqrt(-2 * log(1 - {unit}))"
        angle = f"6.283185307179586 * ({_word(seed + 1, 1.0)} >> 11) * 0x1p-53"
        cubc.transform(f"{radius} * cos({angle})", out=out)
    elif out.dtype.kind == "f":
        least, most = (low, high) if bounded else (0.0, 1.0)
        cubc.transform(f"l + w * {unit}", out=out, l=least, w=most - least)
    elif bounded:
        span = int(high) - int(low) + 1
        cubc.transform(f"l + {_word(seed, entropy)} % w", out=out, l=int(low), w=span)
    else:
        cubc.transform(_word(seed, entropy), out=out)


def _word(seed: int, entropy: float) -> str:
    """Expression of 64 random bits, of so much entropy each."""
    if entropy == 0:
        return "(i & 0)"
    draws = range(1 + ENTROPIES.index(entropy))
    return "(" + " & ".join(f"random_u64({seed + _APART * k}u, i)" for k in draws) + ")"


def check(low: float | None, high: float | None, entropy: float, distribution: str) -> float:
    """Entropy as one of those that can be drawn; ValueError for what cannot be drawn."""
    if distribution not in DISTRIBUTIONS:
        known = " and ".join(DISTRIBUTIONS)
        raise ValueError(f"no distribution {distribution!r:.40}: there are {known}")
    if (low is None) != (high is None) or (low is not None and high is not None and low > high):
        raise ValueError(f"low is {low} and high {high}: give both, low first, or none")
    if distribution == "normal" and (low is not None or entropy != 1):
        raise ValueError(
            "a normal distribution has mean 0 and deviation 1, and no bounds or entropy"
        )
    if entropy not in (*ENTROPIES, 0):
        known = ", ".join(map(str, ENTROPIES))
        raise ValueError(f"no entropy {entropy!r:.40}: there are {known} and 0")
    return float(entropy)
