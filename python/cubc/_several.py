"""Several reductions of one array in one pass: an item becomes a struct with a member for each.

A struct has at most 64 bytes. Operators that need more are divided over several passes.
"""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ._arithmetic import filled
from ._arrays import as_array, dtype_of, is_on_cpu, overlap
from ._axes import axis_number, items_of
from ._callables import operator_of
from ._calls import shown_as
from ._core import Array, Lazy, is_binding, operator_types, reduce, transform
from ._lazy import dialect, lazy

_SIGNS = {"min": "<", "argmin": "<", "max": ">", "argmax": ">"}
_TEXTS = {"sum": "a + b", "prod": "a * b", "any": "a || b", "all": "a && b"}
OPERATORS = _TEXTS.keys() | _SIGNS.keys()
_MOST_BYTES = 64  # of a struct


class _Asked(NamedTuple):
    """One of the reductions, and what a call asks of its result."""

    op: str
    init: Any = None
    out: Any = None
    dtype: Any = None


def reduce_several(
    x, *, op, axis=None, keepdims=False, init=None, out=None, dtype=None, **options
) -> tuple[Any, ...]:
    """Reduce by each operator of a list; the results have the types that single calls give."""
    x = x if isinstance(x, Lazy) else as_array(x)
    texts = [_text(one, x) for one in op]
    each = (_each("init", init, texts), _each("out", out, texts), _dtypes(dtype, texts))
    asked = [_Asked(*one) for one in zip(texts, *each, strict=True)]
    for one in asked:
        if one.op in ("argmin", "argmax") and one.init is not None:
            raise ValueError(f"{one.op} takes no initial value: its place in init is None")
    _refuse_overlap(x, [one.out for one in asked if one.out is not None])
    return _reduced(x, asked, {"axis": axis}, keepdims, options)


def _reduced(
    x: Any, asked: list[_Asked], along: dict[str, Any], keepdims: Any, options: dict[str, Any]
) -> tuple[Any, ...]:
    texts, axis = [one.op for one in asked], along["axis"]
    # The struct between two calls would be memory that a bound call does not keep.
    apart = isinstance(axis, tuple) or is_binding()
    if not x.size or len(texts) < 2 or apart or _faster_apart(x, texts, options.get("device")):
        return tuple(
            reduce(x, **_given(one), **along, keepdims=keepdims, **options) for one in asked
        )
    passes = _passes(asked, x.dtype)
    if len(passes) > 1:
        parts = (_reduced(x, some, along, keepdims, options) for some in passes)
        return tuple(itertools.chain.from_iterable(parts))
    index, numbers = _index(tuple(x.shape), axis)
    members, makes, combines, results = _members(asked, x.dtype, index)
    struct = np.dtype(members, align=True)
    numbers = numbers if index in makes else {}
    items = lazy(f"out_t{{{', '.join(makes)}}}", x=x, dtype=struct, **numbers)
    # An expression keeps the order of its operands, unless the call allows others.
    once = {**options, "commutative": options.get("commutative") or {*texts} <= OPERATORS}
    combine = f"value_t{{{', '.join(combines)}}}"
    # With a dimension for each axis, so that what is left to do is a reduction along the same one.
    more = any(one.init is not None or one.out is not None for one in asked)
    with shown_as(*(text for text in texts if not text.isidentifier())):
        found: Any = reduce(items, combine, **along, keepdims=keepdims or more, **once)
    if not more and not isinstance(found, Array):
        return tuple(found[name].astype(of)[()] for name, of in results)
    made = []
    where: dict[str, Any] = {name: options.get(name) for name in ("stream", "device")}
    for one, (name, of) in zip(asked, results, strict=True):
        member = lazy(f"p.{name}", p=found) if isinstance(found, Array) else found[name]
        if more:  # init and out have the rules, and the errors, of a call of its own
            one = one._replace(op="max" if name[0] == "i" else one.op, dtype=of)
            made.append(reduce(member, **_given(one), **along, keepdims=keepdims, **where))
        else:
            made.append(transform(member, dtype=of, stream=where["stream"]))
    return tuple(made)


def _refuse_overlap(x: Any, outs: list[Any]) -> None:
    """Raise ValueError for an output that another reduction reads or writes."""
    inputs = [*x.operands.values()] if isinstance(x, Lazy) else [x]
    pairs = itertools.chain(itertools.product(outs, inputs), itertools.combinations(outs, 2))
    if any(itertools.starmap(overlap, pairs)):
        raise ValueError(
            "an output of several operators overlaps the array or another output: give each memory "
            "of its own"
        )


def _given(one: _Asked) -> dict[str, Any]:
    """Return what is asked of a reduction as arguments of a call of its own."""
    return {name: value for name, value in one._asdict().items() if value is not None}


def _each(name: str, given: Any, texts: list[str]) -> Sequence[Any]:
    """Return what each operator is given; TypeError for what is no list of as many."""
    if given is None:
        return [None] * len(texts)
    if not isinstance(given, list | tuple) or len(given) != len(texts):
        raise TypeError(
            f"{name} must be a list of {len(texts)}, one for each operator, with None for what is "
            "not given"
        )
    return given


def _dtypes(dtype: Any, texts: list[str]) -> Sequence[Any]:
    """Return the type that each operator is asked for; one alone is that of all but indices."""
    if isinstance(dtype, list | tuple):
        return _each("dtype", dtype, texts)
    return [None if text in ("argmin", "argmax") else dtype for text in texts]


def _passes(asked: list[_Asked], items: Any) -> list[list[_Asked]]:
    """Divide operators, in order, into lists whose structs are no larger than a struct may be."""
    passes: list[list[_Asked]] = [[]]
    for one in asked:
        some = [*passes[-1], one]
        members, *_ = _members(some, items, "")
        if len(some) > 1 and np.dtype(members, align=True).itemsize > _MOST_BYTES:
            passes.append([one])
        else:
            passes[-1] = some
    return passes


def _faster_apart(x: Any, texts: list[str], device: Any) -> bool:
    """Tell if a call each is faster: the cpu has vector instructions for them, not for structs."""
    if isinstance(x, Lazy) or not {*texts} <= OPERATORS:
        return False
    return isinstance(x, np.ndarray | Array) and is_on_cpu(x, device)


def _text(op: Any, x: Any) -> str:
    if callable(op):
        return operator_of(op, x)
    if not isinstance(op, str):
        raise TypeError(f"an operator of several is {op!r}: expected a text or a function")
    if op.isidentifier() and op not in OPERATORS | {"a", "b"}:
        reduce(np.zeros(1), op, device="cpu")  # which knows what the name may have meant
    return op


def _index(shape: tuple[int, ...], axis: int | None) -> tuple[str, dict[str, int]]:
    """Return the expression of an item's index along the axis, and its numbers."""
    if axis is None or len(shape) < 2:
        return "i", {}
    number = axis_number(axis, len(shape))
    numbers = {"columns": items_of(shape[number + 1 :]), "length": shape[number]}
    return "static_cast<i64>(i / columns % length)", numbers


def _members(asked: list[_Asked], items: Any, index: str) -> tuple[Any, list[str], list[str], Any]:
    """Return the struct's members, how an item and how two structs make them, and the results."""
    members: list[tuple[str, Any]] = []
    makes, combines, results = [], [], []
    for k, (op, _, out, dtype) in enumerate(asked):
        types = operator_types(op, items, dtype=dtype, out=dtype_of(out), widen=True)
        acc, of = map(np.dtype, types)
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
