"""Searches: where the first item is that a condition holds for."""

from typing import Any

from ._calls import primitive
from ._core import call


@primitive
def find_if(x, condition, /, *, out=None, stream=None, workspace=None, device=None) -> Any:
    """Index of the first item that a condition holds for; -1 if there is none.

    Parameters
    ----------
    x : array_like
        Of any number of dimensions, taken flat in C order.
    condition : str
        A C expression of the item ``x`` and its index ``i``, as ``"x > 3 && i % 2 == 0"``.
    out : array, optional
        Where to write: one int64.
    stream, workspace, device
        As for `scan`.

    Returns
    -------
    int64
        A NumPy scalar for host memory, else an array of no dimensions on the device, or `out`.

    Raises
    ------
    CompileError
        If the expression does not compile.
    TypeError, ValueError, DeviceMemoryError
        As `scan`.

    Notes
    -----
    CUB's ``DeviceFind::FindIf`` gives the number of items where there is none. What is read lies
    near the items before the one that is found: no block begins a tile behind it once it is known.
    """
    if not isinstance(condition, str):
        raise TypeError(
            f"the condition is {type(condition).__name__}, expected an expression of x and i; of a "
            "mask cubc.argmax finds the first"
        )
    fields = {"in": x, "predicate": condition, "out": ("int64", (), out)}
    return call("find", fields, stream=stream, workspace=workspace, device=device)[0]
