"""Search for the first item that fulfils a condition."""

from typing import Any, Unpack

from ._calls import primitive
from ._core import Lazy, call
from ._options import Placement


@primitive(workspace="cubc_find_temp_bytes")
def find_if(x, condition, /, *, out=None, **placement: Unpack[Placement]) -> Any:
    """Find the index of the first item that fulfils a condition; -1 if there is none.

    Parameters
    ----------
    x : array_like
        Array of any number of dimensions, taken flat in C order.
    condition : str, function or Lazy
        C expression of the item ``x`` and its int64 index ``i``, as ``"x > 3 && i % 2 == 0"``; a
        Python function of the item, or of item and index; or a lazy mask of the shape of `x`.
    out : array, optional
        Array for the result: one int64.

    Returns
    -------
    int64
        NumPy scalar if `x` is in host memory, else an array without dimensions on the device, or
        `out`.

    Raises
    ------
    CompileError
        If the expression does not compile.
    TypeError, ValueError
        As `scan`.

    Notes
    -----
    CUB's ``DeviceFind::FindIf`` returns the number of items if there is none. Few items behind the
    first are read: no block begins a tile behind an index that is already found.

    Examples
    --------
    >>> print(cubc.find_if(np.arange(10.0), "x > 6"))
    7
    """
    if isinstance(condition, Lazy):
        x, condition = condition, "x"
    if not isinstance(condition, str):
        raise TypeError(
            f"the condition is {type(condition).__name__}, expected an expression of x and i; of a "
            "mask cubc.argmax finds the first"
        )
    fields = {"in": x, "predicate": condition, "out": ("int64", (), out)}
    return call("find", fields, **placement)[0]
