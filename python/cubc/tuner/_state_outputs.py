"""Outputs of a benchmark's work: what is right, and whether it is, as methods of `State`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import cubc
from cubc._calls import named

from ._checks import tolerance
from ._difference import difference

if TYPE_CHECKING:
    from ._state import State


@named
def verify(
    state: State, output: cubc.Array, expected: Any, *, rtol: float | None = None, atol: float = 0.0
) -> None:
    """Declare the right contents of an output.

    Parameters
    ----------
    output
        An array that the work writes.
    expected
        The right contents; or a function of the output, a NumPy array, that gives the right
        contents or whether they are right.
    rtol, atol
        An item of a number may be off by ``atol + rtol * abs(expected)``. By default rtol is 0
        for integers, 0.05 for bfloat16, 0.01 for float16, 1e-5 for float32 and complex64, and
        1e-12 for float64 and complex128. NaN is right where NaN is expected. What is expected
        is rounded to the type of an output of floats. Of a struct each field is compared so.

    Raises
    ------
    TypeError
        If `rtol` or `atol` is no number.
    ValueError
        If `output` is no array of this state, or `rtol` or `atol` is negative.

    Examples
    --------
    >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
    >>> y = state.zeros()
    >>> state.verify(y, np.full(16, 2, "f4"), rtol=1e-6)
    """
    relative = None if rtol is None else tolerance("rtol", rtol)
    right = expected if callable(expected) else copy.deepcopy(expected)
    state.checks.append((state._known(output), right, relative, tolerance("atol", atol)))


def renew(state: State) -> None:
    """Give the outputs their first contents; those of `empty` take turns between two.

    Raises
    ------
    DeviceError, KernelFault
        If a variant has left the device unusable.

    Examples
    --------
    >>> state = tuner.State({"T": "F32"}, {"Elements": 2}, "cpu")
    >>> y = state.array([1, 2])
    >>> state.writes(y)
    >>> y[:] = 0
    >>> state.renew()
    >>> y.tolist()
    [1, 2]
    """
    for kept in state._kept:
        if any(kept.array is output for output in state.outputs):
            kept.fills[state.turn % len(kept.fills)](kept.array)
    state.turn += 1


def wrong(state: State, base: Mapping[int, cubc.Array]) -> str:
    """Describe what is wrong with the outputs; "" if nothing is.

    Outputs without expected contents are compared with those of base, which are given by the
    ``id`` of the output.

    Raises
    ------
    TypeError, ValueError
        If contents that `verify` was given cannot be those of an array.

    Examples
    --------
    >>> state = tuner.State({"T": "F32"}, {"Elements": 2}, "cpu")
    >>> y = state.array([1, 2])
    >>> state.verify(y, [1, 3])
    >>> state.wrong({})
    'output 1: 1 of 2 items differ, the first at [1]: 2, not 3'
    """
    for output, expected, rtol, atol in state.checks:
        right = expected(output.numpy()) if callable(expected) else expected
        if isinstance(right, bool | np.bool_):
            message = "" if right else "the benchmark's function says that it is not right"
        else:
            message = difference(output, right, rtol, atol)
        if message:
            return f"output {_place(state, output)}: {message}"
    for output in state.unverified:
        if id(output) in base and (message := difference(output, base[id(output)], None, 0.0)):
            return f"output {_place(state, output)}: {message} (of base)"
    return ""


def _place(state: State, output: cubc.Array) -> int:
    return next(i for i, a in enumerate(state.outputs, 1) if a is output)
