"""Searches: the first item that a condition holds for, the largest items."""

from typing import Any, Unpack

import numpy as np

from ._calls import one_dimension, primitive, whole
from ._core import call
from ._options import Where, without_workspace
from ._sorting import sort_pairs


@primitive(workspace="cubc_find_temp_bytes")
def find_if(x, condition, /, *, out=None, **where: Unpack[Where]) -> Any:
    """Index of the first item that a condition holds for; -1 if there is none.

    Parameters
    ----------
    x : array_like
        Of any number of dimensions, taken flat in C order.
    condition : str
        A C expression of the item ``x`` and its index ``i``, as ``"x > 3 && i % 2 == 0"``.
    out : array, optional
        Where to write: one int64.

    Returns
    -------
    int64
        A NumPy scalar for host memory, else an array of no dimensions on the device, or `out`.

    Raises
    ------
    CompileError
        If the expression does not compile.
    TypeError, ValueError
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
    return call("find", fields, **where)[0]


@primitive(workspace="cubc_topk_temp_bytes")
def topk(
    x,
    k,
    /,
    *,
    largest=True,
    sorted=True,
    values=None,
    out=None,
    **where: Unpack[Where],
) -> tuple[Any, Any]:
    """The k largest keys, or the k smallest, with their indices or with values of theirs.

    Parameters
    ----------
    x : array_like
        Keys, of one dimension. More than 2**32 of them are fine.
    k : int
        At most the number of keys.
    largest : bool
        The largest; False: the smallest.
    sorted : bool
        The best first; False saves the sort of the `k`, whose order is then nothing to rely on, but
        the same each time.
    values : array_like, optional
        One a key along the first axis, an item or a row of 1, 2, 4, 8 or 16 bytes: what is given
        back in place of indices.
    out : tuple of two arrays, optional
        Where keys and indices (int64) or values go, of `k` items each.

    Returns
    -------
    keys, indices : numpy.ndarray, cubc.Array or those of out
        Keys compare as for `sort`: NaN counts as the largest and -0.0 as less than 0.0. Of equal
        keys those of the lowest indices are taken, and come in that order.

    Raises
    ------
    TypeError, ValueError
        As for `sort`; for a `k` that is negative or above the number of keys.

    Notes
    -----
    Radix selection (Zhang, Naruse, Li and Wang, "Parallel Top-K Algorithms on GPU: A Comprehensive
    Study and New Methods", SC23): as a rule the keys are read twice, once to count their highest
    digit and once to select by it. Keys that agree in their first digits take a further read for
    each of those. The temporary storage is a quarter of a sort's, besides a constant.
    """
    one_dimension("topk", x, "for the rows of a matrix call it on each, for all items on x.ravel()")
    if out is not None and not (isinstance(out, tuple) and len(out) == 2):
        raise TypeError("topk(): out must be a tuple of two arrays, (keys, indices)")
    keys_out, values_out = out or (None, None)
    k = whole("topk", "k", k)
    if k < 0:
        raise ValueError(f"topk(): k is {k}, which is out of range")
    rows = (k, *getattr(values, "shape", np.shape(values))[1:]) if values is not None else (k,)
    fields = {
        "keys_in": x,
        "values_in": values,
        "largest": bool(largest),
        "keys_out": ("keys_in", (k,), keys_out),
        "values_out": ("values_in" if values is not None else "int64", rows, values_out),
    }
    found = call("topk", fields, **where)
    if not sorted or k < 2:
        return found
    return sort_pairs(*found, descending=largest, out=found, **without_workspace(where))
