"""Inputs of a benchmark, drawn on the device by seed: the same for every variant and every run."""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np

import cubc

ENTROPIES = (1.0, 0.811, 0.544, 0.337, 0.201)  # bits a bit, of the conjunction of 1, 2, ... draws
DISTRIBUTIONS = ("uniform", "normal")
_APART = 1_000_003  # between the seeds of the draws of one array
_PART_APART = _APART * len(ENTROPIES)  # between those of the parts of a complex number
_FIELD_APART = 2 * _PART_APART  # between those of the fields of a struct
_MOST = {name: float(np.finfo(name).max) for name in ("float16", "float32", "float64")}
_MOST["bfloat16"] = 2.0**128 - 2.0**120  # NumPy lacks it
_PARTS = {"complex64": "float32", "complex128": "float64"}


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
    options = {"low": low, "high": high, "entropy": entropy, "distribution": distribution}
    if out.dtype.fields:
        host = np.zeros(out.shape, out.dtype)
        for k, field in enumerate(_fields(host)):
            drawn = cubc.empty(field.shape, field.dtype, device=out.device)
            draw(drawn, seed + k * _FIELD_APART, **options)
            field[...] = drawn.numpy()
        cubc.transform("x", x=cubc.asarray(host, device=out.device), out=out)
        return
    name = out.dtype.name
    _check_bounds(_PARTS.get(name, name), low, high)
    if distribution == "normal" and name == "bool":
        raise ValueError("bool has no normal distribution, of mean 0 and deviation 1")
    if name in _PARTS:
        whole = "c64" if name == "complex64" else "c128"
        real, operands = _expression(_PARTS[name], seed, **options)
        imaginary, _ = _expression(_PARTS[name], seed + _PART_APART, **options)
        typed = {k: np.dtype(_PARTS[name]).type(value) for k, value in operands.items()}
        cubc.transform(f"{whole}({real}, {imaginary})", out=out, **typed)
    else:
        text, operands = _expression(name, seed, **options)
        cubc.transform(text, out=out, **operands)


def _fields(host: np.ndarray) -> Iterator[np.ndarray]:
    """Views of the numbers in structs."""
    if not host.dtype.names:
        yield host
    for field in host.dtype.names or ():
        yield from _fields(host[field])


def _expression(
    name: str, seed: int, *, low: Any, high: Any, entropy: float, distribution: str
) -> tuple[str, dict[str, Any]]:
    """Expression of a random number of a type, and its operands."""
    # Seeds are constants of the expression: its numbers would take the type of the result.
    word = _word(seed, entropy)
    unit = f"({word} >> 11) * 0x1p-53"  # 53 bits
    if distribution == "normal":
        angle = f"6.283185307179586 * ({_word(seed + 1, 1.0)} >> 11) * 0x1p-53"
        return f"sqrt(-2 * log(1 - {unit})) * cos({angle})", {}
    if name in _MOST:
        least, most = (0.0, 1.0) if low is None else (low, high)
        # The width may be too great for a number, and half of it is not.
        return f"l + w * ({unit}) + w * ({unit})", {"l": least, "w": most / 2 - least / 2}
    if name == "bool" and low is None:
        low, high = 0, 1
    if low is None:
        return word, {}
    span = {"l": int(low), "m": np.uint64(int(high) - int(low))}
    return f"l + (m + 1 ? {word} % (m + 1) : {word})", span


def _word(seed: int, entropy: float) -> str:
    """Expression of 64 random bits, of so much entropy each."""
    if entropy == 0:
        return "(i & 0)"
    draws = range(1 + ENTROPIES.index(entropy))
    return "(" + " & ".join(f"random_u64({seed + _APART * k}u, i)" for k in draws) + ")"


def _check_bounds(name: str, low: Any, high: Any) -> None:
    """ValueError unless the bounds, if any, are numbers of a type."""
    most: Any = _MOST.get(name)
    least = 0 if name == "bool" else -most if most else int(np.iinfo(name).min)
    most = 1 if name == "bool" else most or int(np.iinfo(name).max)
    for side, bound in (("low", low), ("high", high)):
        if bound is not None and not least <= bound <= most:
            raise ValueError(f"{side} is {bound!s:.40}: {name} has numbers from {least} to {most}")
        if bound is not None and name not in _MOST and bound != int(bound):
            raise ValueError(f"{side} is {bound!s:.40}: {name} has whole numbers")


def check(low: float | None, high: float | None, entropy: float, distribution: str) -> float:
    """Entropy as one of those that can be drawn; an error for what cannot be drawn."""
    if distribution not in DISTRIBUTIONS:
        known = " and ".join(DISTRIBUTIONS)
        raise ValueError(f"no distribution {distribution!r:.40}: there are {known}")
    for side, bound in (("low", low), ("high", high)):
        if bound is not None and not isinstance(bound, numbers.Real):
            raise TypeError(f"{side} is {bound!r:.60}: expected a number")
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
