"""Arrays of a benchmark's state and the functions that fill them, as methods of `State`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import cubc
from cubc._calls import named
from cubc._kernel import Extent

from . import _inputs as inputs

if TYPE_CHECKING:
    from ._state import State

DTYPES = {
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "C128": "complex128",
    "BOOL": "bool",
}
SEED = 42


@dataclass
class Kept:
    """An array of the state, and the functions that fill it before the work, in turn."""

    array: cubc.Array
    fills: tuple[Callable[[cubc.Array], Any], ...]


@named
def random(
    state: State,
    shape: Extent | None = None,
    dtype: Any = None,
    *,
    low: float | None = None,
    high: float | None = None,
    entropy: float = 1.0,
    distribution: str = "uniform",
) -> cubc.Array:
    """Make an array of random numbers, which are the same whenever and wherever it is made.

    Parameters
    ----------
    shape
        By default the value of the axis ``Elements``.
    dtype
        A dtype or a name such as ``"F32"``; by default the type on the axis ``T``.
    low, high
        Bounds; of integers the upper one is included. By default 0 and 1 for floats, and all
        bits at random for integers. They are those of both parts of a complex number, and of
        each field of a struct.
    entropy
        Entropy of each random bit: 1.000, 0.811, 0.544, 0.337, 0.201 (it is the conjunction of
        1 to 5 draws, as in CUB's benchmarks) or 0.
    distribution
        ``"uniform"`` or ``"normal"``, of mean 0 and deviation 1, which bool has not.

    Returns
    -------
    cubc.Array
        Array on the device of the state.

    Raises
    ------
    LookupError
        If the workload has no axis that a default is taken from.
    ValueError
        If there is no such distribution or entropy, or `low` is above `high`, or one of them is
        no number of the type.
    TypeError
        If the type is none of cubc's, or a bound is no number.

    Examples
    --------
    >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
    >>> x = state.random(low=1, high=2)
    >>> x.shape, x.dtype, bool(cubc.all(x >= 1))
    ((16,), dtype('float32'), True)
    """
    entropy = inputs.check(low, high, entropy, distribution)
    seed = SEED + 2 * len(state._kept)
    draw = partial(
        inputs.draw, seed=seed, low=low, high=high, entropy=entropy, distribution=distribution
    )
    return _keep(state, shape, dtype, draw)


@named
def zeros(state: State, shape: Extent | None = None, dtype: Any = None) -> cubc.Array:
    """Make an array of zeros.

    Parameters
    ----------
    shape, dtype
        As for `random`.

    Returns
    -------
    cubc.Array
        Array on the device of the state.

    Raises
    ------
    LookupError
        If the workload has no axis that a default is taken from.
    TypeError
        If the type is none of cubc's.

    Examples
    --------
    >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
    >>> state.zeros((2, 3), "I32").tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    return _keep(state, shape, dtype, partial(_fill, byte=0))


@named
def empty(state: State, shape: Extent | None = None, dtype: Any = None) -> cubc.Array:
    """Make an array to be written; items that a variant does not write are wrong.

    Its first contents take turns between two, of which no item has the same in both.

    Parameters
    ----------
    shape, dtype
        As for `random`.

    Returns
    -------
    cubc.Array
        Array on the device of the state.

    Raises
    ------
    LookupError
        If the workload has no axis that a default is taken from.
    TypeError
        If the type is none of cubc's.

    Examples
    --------
    >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
    >>> state.empty().size
    16
    """
    return _keep(state, shape, dtype, _poison, _other_poison)


@named
def array(state: State, values: Any, dtype: Any = None) -> cubc.Array:
    """Put an array of the host on the device.

    Parameters
    ----------
    values
        Array of NumPy, or what NumPy makes one of, of any shape. It is copied.
    dtype
        A dtype or a name such as ``"F32"``; by default that of the values.

    Returns
    -------
    cubc.Array
        Array on the device of the state, of the shape of the values.

    Raises
    ------
    TypeError
        If the values are no numbers, or the type is none of cubc's.

    Examples
    --------
    >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
    >>> state.array([1, 2], "F64")
    cubc.Array([1. 2.], dtype=float64, device='cpu')
    """
    given = np.ascontiguousarray(values, dtype if dtype is None else _dtype(dtype))
    host = given.copy()  # the caller may change its own

    def fill(out: cubc.Array) -> None:
        cubc.transform("x", x=cubc.asarray(host, device=state.device), out=out)

    return _keep(state, host.shape, host.dtype, fill)


def _keep(state: State, shape: Any, dtype: Any, *fills: Callable[[cubc.Array], Any]) -> cubc.Array:
    if shape is None:
        shape = state["Elements"]
    out = cubc.empty(shape, _dtype(state["T"] if dtype is None else dtype), device=state.device)
    fills[0](out)
    state._kept.append(Kept(out, fills))
    return out


def _dtype(dtype: Any) -> Any:
    return DTYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype


def _fill(out: cubc.Array, byte: int) -> None:
    out[...] = _items(out.dtype, byte)[0]


def _items(dtype: Any, byte: int) -> np.ndarray:
    """Return an array of one item, whose bytes are all the same."""
    return np.full(dtype.itemsize, byte, np.uint8).view(dtype)


def _poison(out: cubc.Array) -> None:
    """Fill an array with NaN where there is one, and else with a number that is seldom right."""
    if out.dtype.kind in "fc" or out.dtype.name == "bfloat16":
        out[...] = math.nan
    else:
        _fill(out, 0xA5)


def _other_poison(out: cubc.Array) -> None:
    """Fill an array with what `_poison` does not: no NaN, and False, for 0xA5 is read as True."""
    items = _items(out.dtype, 0x5A)
    _make_false(items)
    out[...] = items[0]


def _make_false(items: np.ndarray) -> None:
    if items.dtype.kind == "b":
        items[...] = False
    for name in items.dtype.names or ():
        _make_false(items[name])
