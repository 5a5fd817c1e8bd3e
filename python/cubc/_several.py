"""Several reductions of one array in one pass: an item becomes a struct with a member for each.

A struct has at most 64 bytes. Operators that need more are divided over several passes.
"""

import itertools
from typing import Any

import numpy as np

from ._arithmetic import filled
from ._axes import axis_number, items_of
from ._callables import operator_of
from ._calls import as_array, shown_as
from ._core import Array, Lazy, device_info, operator_types, reduce, transform
from ._lazy import dialect, lazy

_SIGNS = {"min": "<", "argmin": "<", "max": ">", "argmax": ">"}
_TEXTS = {"sum": "a + b", "prod": "a * b", "any": "a || b", "all": "a && b"}
_MOST_BYTES = 64  # of a struct


def reduce_several(
    x, *, op, axis=None, keepdims=False, init=None, out=None, dtype=None, **options
) -> tuple[Any, ...]:
    """Reduce by each operator of a list; the results have the types that single calls give."""
    if init is not None or out is not None or dtype is not None:
        raise TypeError("several operators have no init, out or dtype: reduce by one at a time")
    x = x if isinstance(x, Lazy) else as_array(x)
    along = {"axis": axis, "keepdims": keepdims}
    texts = [_text(one, x) for one in op]
    apart = isinstance(axis, tuple) or _faster_apart(x, texts, options.get("device"))
    if not x.size or len(texts) < 2 or apart:
        return tuple(reduce(x, one, **along, **options) for one in texts)
    passes = _passes(texts, x.dtype)
    if len(passes) > 1:
        made = (reduce_several(x, op=some, **along, **options) for some in passes)
        return tuple(itertools.chain.from_iterable(made))
    index, numbers = _index(tuple(x.shape), axis)
    members, makes, combines, results = _members(texts, x.dtype, index)
    struct = np.dtype(members, align=True)
    numbers = numbers if index in makes else {}
    items = lazy(f"out_t{{{', '.join(makes)}}}", x=x, dtype=struct, **numbers)
    options.pop("commutative", None)
    combine = f"value_t{{{', '.join(combines)}}}"
    with shown_as(*(text for text in texts if not text.isidentifier())):
        one: Any = reduce(items, combine, commutative=True, **along, **options)
    if not isinstance(one, Array):
        return tuple(one[name].astype(of)[()] for name, of in results)
    stream = options.get("stream")
    return tuple(transform(f"p.{name}", p=one, dtype=of, stream=stream) for name, of in results)


def _passes(texts: list[str], items: Any) -> list[list[str]]:
    """Divide operators, in order, into lists whose structs are no larger than a struct may be."""
    passes: list[list[str]] = [[]]
    for op in texts:
        some = [*passes[-1], op]
        members, *_ = _members(some, items, "")
        if len(some) > 1 and np.dtype(members, align=True).itemsize > _MOST_BYTES:
            passes.append([op])
        else:
            passes[-1] = some
    return passes


def _faster_apart(x: Any, texts: list[str], device: Any) -> bool:
    """Tell if a call each is faster: the cpu has vector instructions for them, not for structs."""
    if isinstance(x, Lazy) or not {*texts} <= _TEXTS.keys() | _SIGNS.keys():
        return False
    if isinstance(x, np.ndarray):
        return device_info(device)["name"] == "cpu"
    return isinstance(x, Array) and x.device == "cpu"


def _text(op: Any, x: Any) -> str:
    if callable(op):
        return operator_of(op, x)
    if not isinstance(op, str):
        raise TypeError(f"an operator of several is {op!r}: expected a text or a function")
    if op.isidentifier() and op not in _TEXTS.keys() | _SIGNS.keys() | {"a", "b"}:
        reduce(np.zeros(1), op, device="cpu")  # which knows what the name may have meant
    return op


def _index(shape: tuple[int, ...], axis: int | None) -> tuple[str, dict[str, int]]:
    """Return the expression of an item's index along the axis, and its numbers."""
    if axis is None or len(shape) < 2:
        return "i", {}
    number = axis_number(axis, len(shape))
    numbers = {"columns": items_of(shape[number + 1 :]), "length": shape[number]}
    return "static_cast<i64>(i / columns % length)", numbers


def _members(texts: list[str], items: Any, index: str) -> tuple[Any, list[str], list[str], Any]:
    """Return the struct's members, how an item and how two structs make them, and the results."""
    members: list[tuple[str, Any]] = []
    makes, combines, results = [], [], []
    for k, op in enumerate(texts):
        acc, of = (np.dtype(one) for one in operator_types(op, items, widen=True))
        value = "x" if acc == items else f"convert<{dialect(acc)}>(x)"
        name, sign = f"m{k}", _SIGNS.get(op)
        members.append((name, acc))
        makes.append(value)
        if not sign:
            own = {"a": f"a.{name}", "b": f"b.{name}"}
            combines.append(f"convert<{dialect(acc)}>({filled(_TEXTS.get(op, op), own)})")
            results.append((name, of))
            continue
        first = _first(name, sign)
        if not op.startswith("arg"):
            combines.append(f"{first} ? a.{name} : b.{name}")
            results.append((name, of))
            continue
        # The lower index wins among equal values.
        equal = f"({_equal(name)} & (a.i{k} < b.i{k}))"
        members.append((f"i{k}", np.dtype("int64")))
        makes.append(index)
        results.append((f"i{k}", of))
        combines += [f"{first} | {equal} ? a.{one} : b.{one}" for one in (name, f"i{k}")]
    return members, makes, combines, results


def _first(name: str, sign: str) -> str:
    """Return the condition that the item of `a` wins; NaN does before any number.

    Its operators have no branches, which && and || would be for each item.
    """
    a, b = f"a.{name}", f"b.{name}"
    return f"(({a} {sign} {b}) | (({a} != {a}) & ({b} == {b})))"


def _equal(name: str) -> str:
    a, b = f"a.{name}", f"b.{name}"
    return f"(({a} == {b}) | (({a} != {a}) & ({b} != {b})))"
