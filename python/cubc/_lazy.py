"""Lazy inputs: expressions of arrays that a call evaluates as it reads them.

They do the work of CUB's transform, counting and zip iterators: `cubc.sum` of a product reads both
factors once and writes the sum alone.
"""

import functools
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import described, of_device, shape_of
from ._calls import name_function
from ._core import Lazy, _type_name, asarray

# Not the suffix of a number, nor a member. The core's scanner, csrc/run/expression.c, is like it.
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_INDEXED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\s*\[")
_MOST_LETTERS = 1 << 16
STRUCTS: dict[str, Any] = {}  # by their names in expressions, once one has named them
_OPTIONS = "dtype", "casting", "size", "out", "stream", "device"


def lazy(expression, /, *, dtype=None, size=None, **operands) -> Lazy:
    """Make an element-wise expression that a call evaluates as it reads its input.

    Every primitive takes a lazy object in place of an array. Most inputs are fused: the call
    evaluates the expression for each item that it reads, without an array and without a pass over
    memory. These are the items of reductions (of all items, along an axis, of segments, by key), of
    scans, selections, `find_if` and histograms; the keys of radix sorts and of `topk`; masks and
    weights; keys and values of runs; and offsets of segments. Radix sorts and `topk` read their
    keys twice, and evaluate the expression twice.

    All other inputs are evaluated to an array before the call. These are the inputs of merge sorts,
    `merge` and `searchsorted`, keys of `segmented_sort`, and inputs of a scan or sort along another
    axis than the last, which read items many times; and edges, and values that are sorted along.

    Parameters
    ----------
    expression : str or function
        C expression of the operands' names and of the flat index i, an int64, or a Python function
        of them, as for `transform`. An operand of the name i hides the index.
    dtype, size : optional
        As for `transform`.
    **operands : array_like, number or Lazy
        Operands as for `transform`, with broadcasting, but for arrays that the expression indexes,
        as in ``table[k]``: they have shapes of their own, and are taken flat. An index beyond the
        ends names the nearest item; with ``CUBC_CHECK=1`` in the environment the call that reads
        it raises IndexError, but not what repeats it: a bound call, a captured graph. Arrays are
        kept by reference and read when a call reads them, so that later changes of an array count.
        An operand that is lazy is replaced by its expression; together they have at most 8 operands
        and 65536 letters.

    Returns
    -------
    Lazy
        Object with the attributes ``expression``, ``operands``, ``dtype``, ``shape``, ``ndim`` and
        ``size``. ``.array()``, `asarray` and `transform` evaluate it. Operators, and ufuncs of
        NumPy, make another one, as they do of arrays on a device.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `transform`. Errors in the expression itself are raised by the call that evaluates it.

    Examples
    --------
    >>> import numpy as np, cubc
    >>> x, y = np.arange(4.0), np.ones(4)
    >>> cubc.sum(cubc.lazy("x * y", x=x, y=y))
    np.float64(6.0)
    """
    if not isinstance(expression, str) or "dtype" in expression or "size" in expression:
        refuse_collision("lazy", expression, {"dtype": dtype, "size": size})
    try:
        if callable(expression):
            from ._callables import expression_of

            return expression_of(expression, operands, dtype, size)
        if not isinstance(expression, str):
            given = type(expression).__name__
            raise TypeError(f"the expression is of {given}: expected a str or a function")
        expression, operands, implied = merged(expression, operands)
        return Lazy(expression, operands, dtype, implied if size is None else size)
    except Exception as error:
        name_function(error, "lazy")
        raise


def refuse_collision(function: str, expression: Any, options: Mapping[str, Any]) -> None:
    """Raise TypeError if an expression, one of several or a function has an option as operand."""
    code = getattr(expression, "__code__", None)
    texts = [expression] if isinstance(expression, str) else expression
    if not isinstance(texts, list | tuple):
        texts = [", ".join(code.co_varnames[: code.co_argcount])] if code else []
    for one in texts:
        for name in _NAME.findall(one) if isinstance(one, str) else ():
            if name not in _OPTIONS or options.get(name) is None:
                continue
            text = re.sub(rf"(?<![\w.]){name}\b", f"{name}_", one)
            shown = f"lambda {text}: ..." if code else repr(text)
            raise TypeError(
                f"'{name}' is an option of {function}(), so no operand can have its name: rename "
                f"the operand, as in {function}({shown}, {name}_=...)"
            )


def merged(expression: str, operands: Mapping[str, Any]) -> tuple[str, dict[str, Any], int | None]:
    """Return expression, operands and size, with lazy operands replaced by their expressions.

    The size is None if an operand has a shape. An array that several expressions share becomes one
    operand; two arrays of one name get different names. Beside a size alone, arrays of one item
    lose their axes, so that the size is that of the result. Arrays of several dimensions get one
    more operand, which has the extent of the last axis alone.
    """
    if "i" in operands:
        expression, operands = _with_own_i(expression, operands)
    inner = {name: value for name, value in operands.items() if isinstance(value, Lazy)}
    if not inner:
        return expression, dict(operands), None
    tables = indexed(expression)
    if tables and (wrong := sorted(tables & inner.keys())):
        raise ValueError(f"'{wrong[0]}' is indexed and lazy: evaluate it before, with its array()")
    flat, shapes = {}, set()
    for name, value in operands.items():
        if name not in inner:
            flat[name] = value = described(value)
        if name not in tables:
            shapes.add(shape_of(value))
    shapes.discard(())
    whole = np.broadcast_shapes(*shapes) if len(shapes) > 1 else next(iter(shapes), ())
    texts = {name: _text(name, value, flat, tables, whole) for name, value in inner.items()}
    shapes = {shape_of(value) for name, value in flat.items() if name not in tables} - {()}
    if shapes and np.broadcast_shapes(*shapes) != whole:
        if len(whole) == 1:
            flat = {k: x if k in tables else _without_axes(x) for k, x in flat.items()}
            shapes.clear()
        else:
            name = next(iter(texts))
            shape = _place("shape", _zeros(whole[-1], flat), flat, tables, False)
            texts[name] = f"(void({shape}), {texts[name]})"
    used = names_in(expression)
    length = len(expression) + sum(len(texts[name]) for name in used if name in texts)
    if length > _MOST_LETTERS:
        raise ValueError(
            f"lazy operands make an expression of {length} letters, more than the {_MOST_LETTERS} "
            "that are compiled soon: evaluate one of them before, with its array()"
        )
    text = renamed(expression, tuple(texts.items()))
    if unused := inner.keys() - used:
        raise ValueError(f"the expression '{expression}' does not use the operand '{min(unused)}'")
    return text, flat, None if shapes else math.prod(whole)


def _without_axes(x: Any) -> Any:
    """Return an array of one item without its axes, in the same memory; numbers have none."""
    if shape_of(x) == ():
        return x
    return (x if isinstance(x, np.ndarray) else asarray(x)).reshape(())


def _zeros(count: int, flat: Mapping[str, Any]) -> Any:
    """Return an array where other operands are, for its shape alone."""
    zeros = np.zeros(count, np.uint8)
    of = next((x for x in map(of_device, flat.values()) if x is not None), None)
    return zeros if of is None else asarray(zeros, device=asarray(of).device)


def _with_own_i(expression: str, operands: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return expression and operands with another name for the operand i, which hides the index."""
    used = {*operands, *_NAME.findall(expression)}
    name = next(one for one in (f"i_{k or ''}" for k in range(len(used) + 1)) if one not in used)
    text = _NAME.sub(lambda found: name if found[0] == "i" else found[0], expression)
    return text, {name if key == "i" else key: value for key, value in operands.items()}


def indexed(expression: str) -> set[str]:
    """Return the names that an expression indexes, as in ``table[k]``."""
    return set(_INDEXED.findall(expression)) if "[" in expression else set()


@functools.lru_cache(maxsize=256)
def names_in(expression: str) -> tuple[str, ...]:
    """Return the names in an expression, in their order."""
    return tuple(_NAME.findall(expression))


@functools.lru_cache(maxsize=256)
def renamed(expression: str, others: tuple[tuple[str, str], ...]) -> str:
    """Return an expression with other texts in place of some names."""
    texts = dict(others)
    return _NAME.sub(lambda found: texts.get(found[0], found[0]), expression)


def _text(
    name: str, value: Lazy, flat: dict[str, Any], tables: set[str], whole: tuple[int, ...]
) -> str:
    """Return the expression of a lazy operand; its operands are added to `flat` and `tables`."""
    if value.shape != whole and "i" in names_in(value.expression):
        raise ValueError(
            f"operand '{name}' has an index of its own, of the shape {value.shape}, not "
            f"{whole}: evaluate it before, with its array()"
        )
    inside = indexed(value.expression)
    names = {
        own: _place(own, operand, flat, tables, own in inside)
        for own, operand in value.operands.items()
    }
    of = names["out_t"] = dialect(value.dtype)
    text = renamed(value.expression, tuple(names.items()))
    return f"convert<{of}>(({text}))"


@functools.lru_cache(maxsize=256)
def dialect(dtype: np.dtype[Any]) -> str:
    """Return the name of a type in the kernels."""
    if dtype.fields:
        name = _type_name(dtype)
        STRUCTS[name] = dtype
        return name
    special = {"bool": "bool", "bfloat16": "bf16"}
    return special.get(dtype.name, f"{dtype.kind}{8 * dtype.itemsize}")


def _place(name: str, operand: Any, flat: dict[str, Any], tables: set[str], is_table: bool) -> str:
    """Return a name for an operand that no other operand has; the same one has its name already."""
    for known, other in flat.items():
        if is_same(other, operand) and (known in tables) == is_table:
            return known
    candidate, count = name, 0
    while candidate in flat:
        count += 1
        candidate = f"{name[:26]}_{count}"
    flat[candidate] = operand
    tables |= {candidate} if is_table else set()
    return candidate


def literal(number: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Return a number as an array of a type, which nobody else has and nobody changes."""
    made = np.array(number, dtype)
    made.flags.writeable = False
    return made


def is_same(a: Any, b: Any) -> bool:
    """Tell if two operands are one: the same array, or literals of one type and value.

    Other arrays that are equal now may differ when they are read.
    """
    return a is b or (_is_literal(a) and _is_literal(b) and _bits(a) == _bits(b))


def _is_literal(x: Any) -> bool:
    is_number = isinstance(x, np.ndarray) and not x.ndim
    return is_number and x.flags.owndata and not x.flags.writeable


def _bits(number: np.ndarray[Any, Any]) -> tuple[Any, bytes]:
    return number.dtype, number.tobytes()
