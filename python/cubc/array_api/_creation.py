"""Arrays of the array API that are made: each is an expression that its device writes."""

from typing import Any

import numpy as np

from .. import _core
from .._calls import named
from .._core import Array, transform
from .._lazy import lazy
from .._nulls import refuse_missing
from ._shapes import broadcast_arrays
from ._types import computed, readable


def _shape(shape: Any) -> tuple[int, ...]:
    return tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)


def written(text: str, shape: Any, dtype: Any, device: Any, **values: Any) -> Array:
    """Return a new array on a device, each item of which is an expression of its index i."""
    out = _core.empty(_shape(shape), dtype, device=device)
    if out.size:
        made = lazy(text, size=out.size, dtype=out.dtype, **values)
        transform(made, out=out.reshape(-1), casting="unsafe")
    return out


@named
def asarray(
    obj: Any, /, *, dtype: Any = None, device: str | None = None, copy: bool | None = None
) -> Array:
    """Return an array on a device of an array of any library, numbers, or lists of them.

    Raises
    ------
    TypeError
        If `obj` is no array of numbers, or the type none of cubc's.
    ValueError
        If copy=False, and the items have to be copied.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.asarray([[1, 2], [3, 4]], dtype=xp.float32).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    shared = isinstance(obj, Array) or hasattr(obj, "__cuda_array_interface__")
    made = _core.asarray(obj, dtype, device=device)
    same = shared and made.ptr == _core.asarray(obj).ptr
    if copy is False and not same:
        raise ValueError(
            "copy=False, but the items are elsewhere or of another type: leave copy= away"
        )
    return made.copy() if copy and same else made


@named
def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """Return an array of one that has __dlpack__; memory of the device is shared.

    Raises
    ------
    TypeError
        If `x` has no `__dlpack__`.
    ValueError
        If copy=False, and the items have to be copied.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.from_dlpack(np.arange(3.0)).tolist()
    [0.0, 1.0, 2.0]
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"{type(x).__name__} has no __dlpack__: asarray takes lists and numbers")
    made = _core.asarray(x, device=device)
    if copy is False and not (isinstance(x, Array) and made is x) and x.__dlpack_device__()[0] < 2:
        raise ValueError("copy=False, but the items are in the host's memory: leave copy= away")
    return made.copy() if copy else made


@named
def empty(shape: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """Return an array whose items are not set.

    Raises
    ------
    TypeError
        If the type is none of cubc's.
    ValueError
        If an extent is negative.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.empty((2, 3)).shape
    (2, 3)
    """
    return _core.empty(_shape(shape), dtype, device=device)


@named
def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """Return an array of one number, of its default type.

    Raises
    ------
    TypeError
        If the type is none of cubc's.
    ValueError
        If an extent is negative.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.full((2, 2), 7).tolist()
    [[7, 7], [7, 7]]
    """
    refuse_missing(fill_value)
    dtype = np.dtype(dtype) if dtype is not None else np.asarray(fill_value).dtype
    return written("value", shape, dtype, device, value=np.asarray(fill_value, dtype)[()])


@named
def zeros(shape: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """Return an array of zeros, by default float64.

    Raises
    ------
    TypeError
        If the type is none of cubc's.
    ValueError
        If an extent is negative.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.zeros(3).tolist()
    [0.0, 0.0, 0.0]
    """
    return full(shape, 0, dtype=dtype or "float64", device=device)


@named
def ones(shape: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """Return an array of ones, by default float64.

    Raises
    ------
    TypeError
        If the type is none of cubc's.
    ValueError
        If an extent is negative.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.ones((2, 2), dtype=xp.int32).tolist()
    [[1, 1], [1, 1]]
    """
    return full(shape, 1, dtype=dtype or "float64", device=device)


def _like(x: Any, dtype: Any, device: Any) -> dict[str, Any]:
    x = readable(x)
    place = x.device if isinstance(x, Array) else computed(x).device
    return {"shape": tuple(x.shape), "dtype": dtype or x.dtype, "device": device or place}


@named
def empty_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Array:
    """Return an array of the shape of `x` whose items are not set.

    Raises
    ------
    TypeError
        If `x` is no array of cubc, or the type none of its.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.empty_like(xp.arange(3)).shape
    (3,)
    """
    return empty(**_like(x, dtype, device))


@named
def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: str | None = None) -> Array:
    """Return an array of the shape of `x` of one number.

    Raises
    ------
    TypeError
        If `x` is no array of cubc, or the type none of its.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.full_like(xp.arange(3), 7).tolist()
    [7, 7, 7]
    """
    return full(fill_value=fill_value, **_like(x, dtype, device))


@named
def zeros_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Array:
    """Return an array of the shape of `x` of zeros.

    Raises
    ------
    TypeError
        If `x` is no array of cubc, or the type none of its.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.zeros_like(xp.arange(3)).tolist()
    [0, 0, 0]
    """
    return full_like(x, 0, dtype=dtype, device=device)


@named
def ones_like(x: Any, /, *, dtype: Any = None, device: str | None = None) -> Array:
    """Return an array of the shape of `x` of ones.

    Raises
    ------
    TypeError
        If `x` is no array of cubc, or the type none of its.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.ones_like(xp.arange(3.0)).tolist()
    [1.0, 1.0, 1.0]
    """
    return full_like(x, 1, dtype=dtype, device=device)


@named
def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: str | None = None,
) -> Array:
    """Return start, start + step, ... up to before `stop`.

    Raises
    ------
    ValueError
        If `step` is 0.
    TypeError
        If the type is none of cubc's.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.arange(3).tolist(), xp.arange(1, 2, 0.5).tolist()
    ([0, 1, 2], [1.0, 1.5])
    """
    if stop is None:
        start, stop = type(start)(0), start
    if step == 0:
        raise ValueError("step is 0: expected another number")
    numbers = np.result_type(*(type(one) for one in (start, stop, step)))
    kind: Any = np.float64
    values: dict[str, Any] = {"first": start, "step": step}
    if numbers.kind in "iu":
        every = range(int(start), int(stop), int(step))
        count, ends = len(every), (every[0], every[-1]) if every else (0, 0)
        kind = np.uint64 if max(ends) >= 2**63 else np.int64
        numbers = numbers if kind is np.int64 else np.dtype(kind)
        values = {"first": ends[0], "step": np.uint64(every.step % 2**64).astype(kind)}  # sums wrap
    else:
        count = max(0, int(np.ceil((stop - start) / step)))
    of = {name: kind(one) for name, one in values.items()}
    dtype = np.dtype(numbers if dtype is None else dtype)
    return _counted("first + i * step", count, kind, dtype, device, of)


def _counted(
    text: str, size: int, kind: Any, dtype: Any, device: Any, values: dict[str, Any]
) -> Array:
    """Return numbers that are computed as one type and stored as another."""
    if not size:
        return empty(0, dtype=dtype, device=device)
    return written("x", size, dtype, device, x=lazy(text, size=size, dtype=kind, **values))


@named
def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: str | None = None,
    endpoint: bool = True,
) -> Array:
    """Return `num` numbers at equal distances from `start` to `stop`; integers are their floors.

    Raises
    ------
    ValueError
        If `num` is negative.
    TypeError
        If the type is none of cubc's.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.linspace(0, 1, 5).tolist(), xp.linspace(0, 1, 4, endpoint=False).tolist()
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 0.25, 0.5, 0.75])
    """
    wide = np.result_type(type(start), type(stop), np.float64)
    gaps = num - 1 if endpoint else num
    step = (wide.type(stop) - wide.type(start)) / gaps if gaps > 0 else wide.type(0)
    text = "i == last ? stop : start + static_cast<f64>(i) * step"
    last = num - 1 if endpoint and num > 1 else -1
    values = {
        "start": wide.type(start),
        "stop": wide.type(stop),
        "step": step,
        "last": np.uint64(last % 2**64),
    }
    dtype = np.dtype(dtype) if dtype is not None else wide
    if dtype.kind in "iu":
        text = f"floor({text})"
    return _counted(text, num, wide, dtype, device, values)


@named
def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: str | None = None,
) -> Array:
    """Return a matrix with ones on the k-th diagonal and zeros elsewhere.

    Raises
    ------
    ValueError
        If an extent is negative.
    TypeError
        If the type is none of cubc's.
    NoDeviceError
        If there is no such device.

    Examples
    --------
    >>> xp.eye(2).tolist(), xp.eye(2, 3, k=1).tolist()
    ([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """
    columns = n_rows if n_cols is None else n_cols
    text = "static_cast<i64>(i / columns) + k == static_cast<i64>(i % columns)"
    values = {"columns": np.uint64(max(columns, 1)), "k": np.int64(k)}
    return written(text, (n_rows, columns), dtype or "float64", device, **values)


def _part_of_matrices(x: Any, sign: str, k: int) -> Array:
    x = computed(x)
    if x.ndim < 2:
        raise ValueError(f"matrices have two dimensions or more, not {x.ndim}")
    rows, columns = x.shape[-2:]
    text = f"static_cast<i64>(i / n % m) + k {sign} static_cast<i64>(i % n) ? x : zero"
    if not x.size:
        return x.copy()
    values: dict[str, Any] = {"n": np.uint64(columns), "m": np.uint64(rows), "k": np.int64(k)}
    return transform(text, x=x, zero=x.dtype.type(0), dtype=x.dtype, **values)


@named
def tril(x: Any, /, *, k: int = 0) -> Array:
    """Return matrices with zeros above the k-th diagonal.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.tril(x).tolist()
    [[1.0, 0.0], [3.0, 4.0]]
    """
    return _part_of_matrices(x, ">=", k)


@named
def triu(x: Any, /, *, k: int = 0) -> Array:
    """Return matrices with zeros below the k-th diagonal.

    Raises
    ------
    TypeError
        If `x` is no array of cubc.
    ValueError
        If `x` has fewer than two axes.

    Examples
    --------
    >>> x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xp.triu(x).tolist()
    [[1.0, 2.0], [0.0, 4.0]]
    """
    return _part_of_matrices(x, "<=", k)


@named
def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Array]:
    """Return the coordinates of a grid, an array for each of its axes.

    Raises
    ------
    TypeError
        If one is no array of cubc.
    ValueError
        If `indexing` is another word.

    Examples
    --------
    >>> [one.tolist() for one in xp.meshgrid(xp.arange(2), xp.arange(3))]
    [[[0, 1], [0, 1], [0, 1]], [[0, 0], [1, 1], [2, 2]]]
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is {indexing!r}: expected 'xy' or 'ij'")
    given = [computed(x).reshape(-1) for x in arrays]
    order = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        order[:2] = [1, 0]
    shaped = [
        x.reshape(tuple(x.size if order[axis] == d else 1 for d in range(len(given))))
        for axis, x in enumerate(given)
    ]
    return broadcast_arrays(*shaped)
