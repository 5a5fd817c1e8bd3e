"""Lazy inputs: expressions of arrays that a call evaluates where it reads them.

They are what CUB's fancy iterators (transform, counting, zip) are for: `cubc.sum` of a product
reads both factors once and writes nothing but the sum.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._calls import name_function
from ._core import Lazy

# Not the suffix of a number, nor a member. The core's scanner (csrc/run/names.c) sees the same.
_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
_OPTIONS = "dtype", "size", "out", "stream", "device"


def lazy(expression, /, *, dtype=None, size=None, **operands) -> Lazy:
    """Put off an element-wise expression until a call reads it.

    Every primitive takes one in place of an array. Where the call fuses it no array is made of it,
    and it costs no pass over memory. That is: what reductions (whole, along an axis, of segments,
    by key), scans, selections, `find_if`, histograms, radix sorts and `topk` read first, masks,
    weights, and keys and values of runs. Elsewhere it is evaluated before: by merge sorts, `merge`,
    `searchsorted`, `segmented_sort` and along another axis than the last of a scan or sort, which
    read items many times; as offsets, edges and values that are moved along. Radix sorts and `topk`
    read their keys twice, and so evaluate it twice.

    Parameters
    ----------
    expression : str
        As for `transform`: C, of the operands' names and of the flat index i.
    dtype, size : optional
        As for `transform`.
    **operands : array_like, number or Lazy
        As for `transform`, with broadcasting. They are kept as they are and read when a call is
        made, so later changes of an array are seen. The expression of another lazy object takes its
        place in this one; together they have at most 8 operands.

    Returns
    -------
    Lazy
        With ``expression``, ``operands``, ``dtype``, ``shape``, ``ndim`` and ``size``.
        ``.array()``, `asarray` and `transform` evaluate it. It has no operators of its own.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `transform`. What is in the expression itself is known when it is used.

    Examples
    --------
    >>> import numpy as np, cubc
    >>> x, y = np.arange(4.0), np.ones(4)
    >>> cubc.sum(cubc.lazy("x * y", x=x, y=y))
    np.float64(6.0)
    """
    if dtype is not None or size is not None:
        refuse_collision("lazy", expression, {"dtype": dtype, "size": size})
    try:
        expression, operands, implied = merged(expression, operands)
        return Lazy(expression, operands, dtype, implied if size is None else size)
    except Exception as error:
        name_function(error, "lazy")
        raise


def refuse_collision(function: str, expression: Any, options: Mapping[str, Any]) -> None:
    """Refuse an expression that names an option, which was meant as an operand."""
    if not isinstance(expression, str):
        return
    for name in _NAME.findall(expression):
        if name not in _OPTIONS or options.get(name) is None:
            continue
        text = re.sub(rf"(?<![\w.]){name}\b", f"{name}_", expression)
        raise TypeError(
            f"'{name}' is an option of {function}(), so no operand can have its name: rename the "
            f"operand, as in {function}({text!r}, {name}_=...)"
        )


def merged(expression: str, operands: Mapping[str, Any]) -> tuple[str, dict[str, Any], int | None]:
    """Expression, operands and size, without operands that are lazy themselves.

    The size is None unless nothing that remains has a shape. An operand that several share is one;
    two of the same name get different ones.
    """
    inner = {name: value for name, value in operands.items() if isinstance(value, Lazy)}
    if not inner:
        return expression, dict(operands), None
    whole = np.broadcast_shapes(*map(np.shape, operands.values()))
    flat = {name: value for name, value in operands.items() if name not in inner}
    texts = {name: _text(name, value, flat, whole) for name, value in inner.items()}
    shaped = any(np.ndim(value) for value in flat.values())
    text = _NAME.sub(lambda found: texts.get(found[0], found[0]), expression)
    used = set(_NAME.findall(expression))
    if unused := sorted(inner.keys() - used):
        raise ValueError(f"the expression '{expression}' does not use the operand '{unused[0]}'")
    return text, flat, None if shaped else math.prod(whole)


def _text(name: str, value: Lazy, flat: dict[str, Any], whole: tuple[int, ...]) -> str:
    """The expression of a lazy operand, whose own operands are added to `flat`."""
    if value.shape != whole and "i" in _NAME.findall(value.expression):
        raise ValueError(
            f"operand '{name}' has an index of its own, of the shape {value.shape}, not "
            f"{whole}: evaluate it before, with its array()"
        )
    names = {own: _place(own, operand, flat) for own, operand in value.operands.items()}
    text = _NAME.sub(lambda found: names.get(found[0], found[0]), value.expression)
    return f"convert<{_dialect(name, value.dtype)}>(({text}))"


def _dialect(name: str, dtype: np.dtype[Any]) -> str:
    """What the kernels call a type."""
    if dtype.fields:
        raise ValueError(
            f"operand '{name}' is lazy and its items are structs: evaluate it before, with its "
            "array()"
        )
    special = {"bool": "bool", "bfloat16": "bf16"}
    return special.get(dtype.name, f"{dtype.kind}{8 * dtype.itemsize}")


def _place(name: str, operand: Any, flat: dict[str, Any]) -> str:
    """A name for an operand: its own, unless that is another's."""
    candidate, count = name, 0
    while candidate in flat and flat[candidate] is not operand:
        count += 1
        candidate = f"{name[:26]}_{count}"
    flat[candidate] = operand
    return candidate
