"""Reductions by NumPy's names: each is ``reduce`` with the operator of that name.

Their arguments are NumPy's, in NumPy's order. ``where=`` replaces an item that is left out by the
operator's identity as it is read, without another pass.
"""

import re
from typing import Any, Unpack

import numpy as np

from ._arrays import as_array, beside, dtype_of, is_of_numpy, item_dtype, name_of
from ._axes import axis_number, items_of
from ._calls import name_function
from ._core import Lazy, operator_types, reduce, transform
from ._lazy import lazy
from ._options import Reducing, listed

_IDENTITIES = {"sum": 0, "prod": 1, "any": 0, "all": 1}
_RESULTS = {  # what they are, whatever a dtype argument would say
    **dict.fromkeys(("argmin", "argmax"), "is int64"),
    **dict.fromkeys(("any", "all"), "is bool"),
    **dict.fromkeys(("min", "max"), "has the type of the items"),
}
_OPTIONS = """\
    initial : number or array, optional
        First operand, as for `reduce`. By default an empty array has a sum (0) and a product (1)
        and no other result.
    where : array of bool, optional
        Items that take part; it is broadcast with `x`. min and max need `initial` with it.
    **options
        ``commutative``, ``deterministic``, ``stream``, ``workspace`` and ``device`` of `reduce`."""


def name_initial(error: Exception) -> None:
    """Let an error of `reduce` name the first operand as NumPy does, which is no `init=`."""
    if error.args and isinstance(error.args[0], str):
        error.args = (re.sub(r"\binit(?==| is)", "initial", error.args[0]), *error.args[1:])


def left_out(x: Any, where: Any, value: Any, stream: Any = None) -> Any:
    """Return an array in which items whose `where` is False are `value`; it is lazy."""
    x = as_array(x)
    if isinstance(value, np.floating) and item_dtype(x).kind in "iu":
        value = item_dtype(x).type(value)  # a float beside integers makes all items floats
    is_number = isinstance(where, bool | np.bool)  # which is of every device
    mask = bool(where) if is_number else mask_of(x, where, stream)
    return lazy("where ? x : convert<out_t>(value)", where=mask, x=x, value=value, dtype=x.dtype)


def mask_of(x: Any, where: Any, stream: Any = None) -> Any:
    """Return the mask of where= as an array or a lazy input, which broadcasts to an array."""
    mask = where
    if not isinstance(where, Lazy):
        mask = as_array(beside(x, where, stream))
    if name_of(mask.dtype) not in ("bool", "torch.bool"):
        raise TypeError(f"where has the dtype {mask.dtype}: expected an array of bool")
    shape, own = tuple(x.shape), tuple(mask.shape)
    if own != shape and np.broadcast_shapes(shape, own) != shape:
        raise ValueError(f"where has the shape {own}, which does not broadcast to {shape}")
    return mask


def in_type(x: Any, dtype: Any) -> Any:
    """Return an array whose items have the type that dtype= asks, as NumPy combines them.

    It is the array itself where the accumulator makes no other result of it.
    """
    x = as_array(x)
    kind = item_dtype(x)
    to, of = operator_types("sum", kind, dtype=dtype)[1], name_of(kind)
    if "complex" in of and "complex" not in to and to != "bool":
        raise TypeError(f"{of} does not become {to}: take the real or the imaginary parts first")
    cut = "float" in of and "float" not in to and "complex" not in to
    return lazy("x", x=x, dtype=to) if cut or to == "bool" != of else x


def check_items(op: str, x: Any, axis: Any) -> None:
    """Raise ValueError if an array has no items along axes, even where it has no results."""
    shape = tuple(x.shape)
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not items_of(tuple(shape[axis_number(one, len(shape))] for one in axes)):
        advice = "" if op.startswith("arg") else ": give initial="
        raise ValueError(f"{op} of no items has no value{advice}")


def refuse_complex(found: Any, out: Any) -> None:
    """Raise TypeError for a complex result whose output is of real numbers."""
    if np.dtype(found.dtype).kind == "c" and "complex" not in name_of(out.dtype):
        raise TypeError(f"the result is {found.dtype} and out has {out.dtype}: give another out")


def own_type(op: str, x: Any) -> Any:
    """Return the type of the items where they are compared as they are, whatever the output's."""
    return item_dtype(as_array(x)) if op in ("min", "max") else None


def is_other(dtype: Any, of: Any) -> bool:
    """Tell if a dtype argument is another type than that of an output."""
    return operator_types("sum", of, dtype=dtype)[1] != operator_types("sum", of, dtype=of)[1]


def into(out: Any, found: Any, options: dict[str, Any]) -> Any:
    """Write a result of another type to an output."""
    refuse_complex(found, out)
    if tuple(out.shape) != np.shape(found):
        raise ValueError(f"out has the shape {tuple(out.shape)}, expected {np.shape(found)}")
    if is_of_numpy(found):
        np.copyto(out, found, casting="unsafe")
        return out
    return transform("x", x=found, out=out, casting="unsafe", stream=options.get("stream"))


def refuse_options(op: str, options: dict[str, Any]) -> None:
    """Raise TypeError for an option of `reduce` that an operator does not take."""
    refused = ("dtype", "init", "initial", "where") if op.startswith("arg") else ("dtype",)
    for name in refused if op in _RESULTS else ():
        if name in options:
            error = TypeError(f"{name} is not taken: the result {_RESULTS[op]}")
            name_function(error, op)
            raise error


def _reduced(op, x, axis, dtype, out, keepdims, initial, where, options) -> Any:
    """Reduce as `reduce`, whose errors name this operator."""
    if options:
        refuse_options(op, options)
    try:
        if op.startswith("arg") and isinstance(axis, tuple):
            raise TypeError(f"axis is {axis!r}: {op}() takes one axis, an int")
        first = initial if initial is not None else options.get("init")
        if first is None and op not in _IDENTITIES and not getattr(x, "size", 1):
            check_items(op, x, axis)
        if where is not True and where is not None:
            value = _IDENTITIES.get(op, initial)
            if value is None:
                raise ValueError(f"{op}() with where= needs initial=, since it has no identity")
            x = left_out(x, where, value, options.get("stream"))
        if initial is not None:
            options["init"] = initial
        of = dtype_of(out)
        if dtype is not None:
            x = in_type(x, dtype)
        asked = own_type(op, x) if of is not None and dtype is None else dtype
        if asked is not None and of is not None and is_other(asked, of):
            made = reduce(x, op, axis=axis, dtype=dtype, keepdims=keepdims, **options)
            return into(out, made, options)
        return reduce(x, op, axis=axis, dtype=dtype, out=out, keepdims=keepdims, **options)
    except Exception as error:
        name_initial(error)
        name_function(error, op)
        raise


@listed
def sum(
    x,
    /,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=True,
    **options: Unpack[Reducing],
) -> Any:
    """Sum of all items, or along axes; integers are summed in 64 bits.

    Parameters
    ----------
    x, axis, dtype, out, keepdims
        As for `reduce`.
    {options}

    Returns
    -------
    numpy scalar, array or out
        As of `reduce`. Without `dtype` and `out` integers and bool give 64 bits, and other items
        their own type.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `reduce`.

    Examples
    --------
    >>> print(cubc.sum(np.array([3.0, 1.0, 2.0])))
    6.0
    """
    return _reduced("sum", x, axis, dtype, out, keepdims, initial, where, options)


@listed
def prod(
    x,
    /,
    axis=None,
    dtype=None,
    out=None,
    keepdims=False,
    initial=None,
    where=True,
    **options: Unpack[Reducing],
) -> Any:
    """Product of all items, or along axes; integers are multiplied in 64 bits.

    Parameters
    ----------
    x, axis, dtype, out, keepdims
        As for `reduce`.
    {options}

    Returns
    -------
    numpy scalar, array or out
        As of `reduce`. Without `dtype` and `out` integers and bool give 64 bits, and other items
        their own type.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `reduce`.

    Examples
    --------
    >>> print(cubc.prod(np.array([3.0, 1.0, 2.0])))
    6.0
    """
    return _reduced("prod", x, axis, dtype, out, keepdims, initial, where, options)


@listed
def min(
    x, /, axis=None, out=None, keepdims=False, initial=None, where=True, **options: Unpack[Reducing]
) -> Any:
    """Smallest item, or those along axes; a NaN wins.

    Parameters
    ----------
    x, axis, out, keepdims
        As for `reduce`.
    {options}

    Returns
    -------
    numpy scalar, array or out
        As of `reduce`, of the type of `x` or of `out`.

    Raises
    ------
    ValueError
        If there are no items, or `where` is given without `initial`.
    TypeError, ValueError, CompileError
        As `reduce`.

    Examples
    --------
    >>> print(cubc.min(np.array([3.0, 1.0, 2.0])))
    1.0
    """
    return _reduced("min", x, axis, None, out, keepdims, initial, where, options)


@listed
def max(
    x, /, axis=None, out=None, keepdims=False, initial=None, where=True, **options: Unpack[Reducing]
) -> Any:
    """Largest item, or those along axes; a NaN wins.

    Parameters
    ----------
    x, axis, out, keepdims
        As for `reduce`.
    {options}

    Returns
    -------
    numpy scalar, array or out
        As of `reduce`, of the type of `x` or of `out`.

    Raises
    ------
    ValueError
        If there are no items, or `where` is given without `initial`.
    TypeError, ValueError, CompileError
        As `reduce`.

    Examples
    --------
    >>> print(cubc.max(np.array([3.0, 1.0, 2.0])))
    3.0
    """
    return _reduced("max", x, axis, None, out, keepdims, initial, where, options)


@listed
def any(
    x, /, axis=None, out=None, keepdims=False, *, where=True, **options: Unpack[Reducing]
) -> Any:
    """True if an item is not 0, as a NaN is not; False for no items.

    Parameters
    ----------
    x, axis, out, keepdims
        As for `reduce`.
    {options}

    Returns
    -------
    numpy.bool, array or out
        As of `reduce`, of bool. An `out` of numbers gets 0 and 1.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `reduce`.

    Examples
    --------
    >>> print(cubc.any(np.array([1.0, 0.0])))
    True
    """
    return _reduced("any", x, axis, None, out, keepdims, None, where, options)


@listed
def all(
    x, /, axis=None, out=None, keepdims=False, *, where=True, **options: Unpack[Reducing]
) -> Any:
    """True if no item is 0, and for no items.

    Parameters
    ----------
    x, axis, out, keepdims
        As for `reduce`.
    {options}

    Returns
    -------
    numpy.bool, array or out
        As of `reduce`, of bool. An `out` of numbers gets 0 and 1.

    Raises
    ------
    TypeError, ValueError, CompileError
        As `reduce`.

    Examples
    --------
    >>> print(cubc.all(np.array([1.0, 0.0])))
    False
    """
    return _reduced("all", x, axis, None, out, keepdims, None, where, options)


@listed
def argmin(x, /, axis=None, out=None, *, keepdims=False, **options: Unpack[Reducing]) -> Any:
    """Index (int64) of the first smallest item, or of the first NaN; or those along an axis.

    Parameters
    ----------
    x, keepdims
        As for `reduce`.
    axis : int, optional
        Axis along which to look. None takes the array flat in C order.
    out : array, optional
        As for `reduce`, but int64.
    **options
        ``commutative``, ``deterministic``, ``stream``, ``workspace`` and ``device`` of `reduce`.

    Returns
    -------
    numpy.int64, array or out
        As of `reduce`, of int64. Without an axis it is an index of the flat array.

    Raises
    ------
    ValueError
        If there are no items.
    TypeError
        For a tuple of axes; for `dtype`, `init` and `where`, which are not taken.
    TypeError, ValueError, CompileError
        As `reduce`.

    Examples
    --------
    >>> print(cubc.argmin(np.array([3.0, 1.0, 2.0])))
    1
    """
    return _reduced("argmin", x, axis, None, out, keepdims, None, True, options)


@listed
def argmax(x, /, axis=None, out=None, *, keepdims=False, **options: Unpack[Reducing]) -> Any:
    """Index (int64) of the first largest item, or of the first NaN; or those along an axis.

    Parameters
    ----------
    x, keepdims
        As for `reduce`.
    axis : int, optional
        Axis along which to look. None takes the array flat in C order.
    out : array, optional
        As for `reduce`, but int64.
    **options
        ``commutative``, ``deterministic``, ``stream``, ``workspace`` and ``device`` of `reduce`.

    Returns
    -------
    numpy.int64, array or out
        As of `reduce`, of int64. Without an axis it is an index of the flat array.

    Raises
    ------
    ValueError
        If there are no items.
    TypeError
        For a tuple of axes; for `dtype`, `init` and `where`, which are not taken.
    TypeError, ValueError, CompileError
        As `reduce`.

    Examples
    --------
    >>> print(cubc.argmax(np.array([3.0, 1.0, 2.0])))
    0
    """
    return _reduced("argmax", x, axis, None, out, keepdims, None, True, options)


for _function in (sum, prod, min, max, any, all):
    if _function.__doc__:  # None under Python -OO
        _function.__doc__ = _function.__doc__.replace("    {options}", _OPTIONS)
