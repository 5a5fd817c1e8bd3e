"""Radix sorts.

A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
arXiv 2206.01784, 2022.
"""

from typing import Any

from ._calls import one_dimension, output_pair, primitive
from ._core import call


@primitive
def sort(
    x,
    /,
    *,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    stream=None,
    workspace=None,
    device=None,
) -> Any:
    """Sort an array into a copy; the sort is stable.

    Parameters
    ----------
    x : array_like
        Keys, of one dimension. More than 2**32 of them are fine.
    descending : bool
        The largest first; equal keys keep their order here too.
    begin_bit, end_bit : int
        Integers sort by these bits alone, the last one not included, and what is above them costs
        nothing; all bits by default.
    out : array, optional
        Where the result goes: of the shape and type of `x`. `x` itself is fine; any other overlap
        is refused.
    stream, workspace, device : optional
        As for `reduce`; the size of the workspace is cubc_sort_temp_bytes, aligned to 256 bytes.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        In host memory if `x` is there, else on its device.

    Raises
    ------
    TypeError
        For types that `asarray` does not take, an `out` of another type, bits of floating keys.
    ValueError
        For an `x` of no or several dimensions, bits that a key has not; as for `reduce`.
    NoDeviceError, DeviceMemoryError, DeviceError
        As for `reduce`. As much temporary storage as `x` takes is needed.

    Notes
    -----
    -0.0 comes before 0.0, and NaN after all numbers as in NumPy (so a descending sort begins with
    it); several NaNs are ordered by their bits. One pass a digit of 8 bits with decoupled
    look-back [1]_.

    References
    ----------
    .. [1] A. Adinets and D. Merrill, "Onesweep: A Faster Least Significant Digit Radix Sort for
       GPUs", arXiv 2206.01784, 2022.
    """
    one_dimension("sort", x, SEVERAL)
    fields = {"keys_in": x, "keys_out": ("keys_in", "keys_in", out)}
    fields |= _order(descending, begin_bit, end_bit)
    return call("sort", fields, stream=stream, workspace=workspace, device=device)[0]


@primitive
def argsort(
    x,
    /,
    *,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    stream=None,
    workspace=None,
    device=None,
) -> Any:
    """Indices that sort an array: ``x[argsort(x)]`` is ``sort(x)``.

    Parameters
    ----------
    x, descending, begin_bit, end_bit, stream, workspace, device
        As for `sort`.
    out : array, optional
        Where the indices go: of the shape of `x`, int64.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        int64; equal items in the order of their indices, as in numpy.argsort(x, kind="stable").

    Raises
    ------
    TypeError, ValueError, NoDeviceError, DeviceMemoryError, DeviceError
        As for `sort`.
    """
    one_dimension("argsort", x, SEVERAL)
    fields = {
        "keys_in": x,
        "keys_out": ("keys_in", "keys_in", None),
        "values_out": ("int64", "keys_in", out),
    }
    fields |= _order(descending, begin_bit, end_bit)
    return call("sort", fields, stream=stream, workspace=workspace, device=device)[1]


@primitive
def sort_pairs(
    keys,
    values,
    /,
    *,
    descending=False,
    begin_bit=0,
    end_bit=None,
    out=None,
    stream=None,
    workspace=None,
    device=None,
) -> tuple[Any, Any]:
    """Sort keys, and values along with them; the sort is stable.

    Parameters
    ----------
    keys : array_like
        Of one dimension.
    values : array_like
        One a key along the first axis: an item, or a row of items, of 1, 2, 4, 8 or 16 bytes.
    descending, begin_bit, end_bit, stream, workspace, device
        As for `sort`.
    out : tuple of two arrays, optional
        Where keys and values go, of their shapes and types. `keys` and `values` themselves are
        fine.

    Returns
    -------
    keys, values : numpy.ndarray, cubc.Array or those of out
        In host memory if both are there, else on their device.

    Raises
    ------
    TypeError, ValueError, NoDeviceError, DeviceMemoryError, DeviceError
        As for `sort`; for values of another size or number.
    """
    one_dimension("sort_pairs", keys, SEVERAL)
    keys_out, values_out = output_pair("sort_pairs", out)
    fields = {
        "keys_in": keys,
        "values_in": values,
        "keys_out": ("keys_in", "keys_in", keys_out),
        "values_out": ("values_in", "values_in", values_out),
    }
    fields |= _order(descending, begin_bit, end_bit)
    return call("sort", fields, stream=stream, workspace=workspace, device=device)


SEVERAL = "for the rows of a matrix call it on each, for all items on x.ravel()"


def _order(descending: bool, begin_bit: int, end_bit: int | None) -> dict[str, int]:
    """The core's parameters, where an end of 0 means the highest bit: no bits are 1 to 1."""
    if end_bit == 0:
        if begin_bit > 0:
            raise ValueError(f"there are no bits {begin_bit} to 0: begin_bit is above end_bit")
        begin_bit = end_bit = 1
    return {
        "descending": bool(descending),
        "begin_bit": begin_bit,
        "end_bit": end_bit or 0,
    }
