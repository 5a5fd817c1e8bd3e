"""Several results of one transform: an item is a struct, whose fields go to arrays of their own.

The functions return what `transform` evaluates: expression, operands, dtype, size, and if there are
several results.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import described, item_dtype
from ._core import Lazy
from ._lazy import _NAME, dialect, indexed, lazy, merged

_MOST = 8  # arrays that a call writes
_MOST_BYTES = 64  # of a struct
Evaluated = tuple[str, dict[str, Any], Any, int | None, bool]
_MOST_KNOWN = 1024
_known: dict[Any, Any] = {}  # of what has been looked at: text, dtype, size, and True
_BETWEEN = "\0"  # expressions, while they are looked at together


def of_expressions(
    texts: Sequence[str], operands: dict[str, Any], dtype: Any, out: Any, casting: Any
) -> Evaluated:
    """Return several expressions as one, each of the type that it has alone."""
    out = tuple(map(described, out)) if isinstance(out, tuple) else out
    key = _key(texts, operands, dtype, out, casting)
    if known := _known.get(key):
        return known[0], operands, *known[1:]
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise TypeError(f"one of several expressions is {text!r}: expected a text of C")
    count, texts = len(texts), [f"({text})" for text in texts]
    operands = {name: described(x) for name, x in operands.items()}
    whole, operands, size = merged(_BETWEEN.join(texts), operands)
    texts = whole.split(_BETWEEN)
    dtypes = _given(count, dtype)
    outs = _outs(count, out)
    made = []
    for k, text in enumerate(texts):
        used = {name: operands[name] for name in operands if name in _NAME.findall(text)}
        of = dtypes[k] or _dtype(outs[k])
        if of is None or not (dtypes[k] or casting == "unsafe"):
            natural = _natural(text, used, of)
            of = of or natural
            _check(natural, of)
        made.append((_with_numbers(text, used, of), of))
    found = _struct(made, operands, size)
    if key is not None:
        if len(_known) == _MOST_KNOWN:
            _known.clear()
        _known[key] = (found[0], *found[2:])
    return found


def _key(texts: Any, operands: dict[str, Any], dtype: Any, out: Any, casting: Any) -> Any:
    """Return all that decides what several expressions make; None with lazy operands."""
    kinds: list[Any] = []
    for name, x in operands.items():
        if isinstance(x, bool | int | float | complex):
            kinds.append((name, type(x), _width(x)))
        elif isinstance(getattr(x, "dtype", None), np.dtype) and not isinstance(x, Lazy):
            kinds.append((name, x.dtype, bool(x.ndim), isinstance(x, np.generic), _width(x)))
        else:
            return None
    if out is not None and not isinstance(out, tuple):
        return None
    outs = None if out is None else tuple(getattr(x, "dtype", None) for x in out)
    key = tuple(texts), tuple(kinds), dtype, outs, casting
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _width(x: Any) -> Any:
    """Return what decides which types hold an int: its sign and bits; None for all else."""
    if not isinstance(x, int | np.integer):
        return None
    return x < 0, (int(x) if x >= 0 else ~int(x)).bit_length()


def of_parts(
    parts: Sequence[tuple[str, Any]], operands: dict[str, Any], dtype: Any, out: Any, casting: Any
) -> Evaluated:
    """Return texts that have their types as one, but for what the call asks."""
    dtypes, outs = _given(len(parts), dtype), map(described, _outs(len(parts), out))
    made = []
    for (text, natural), asked, to in zip(parts, dtypes, outs, strict=True):
        of = asked or _dtype(to) or natural
        if not asked and casting != "unsafe":
            _check(natural, of)
        made.append((text, of))
    whole, operands, size = merged(_BETWEEN.join(text for text, _ in made), operands)
    texts = whole.split(_BETWEEN)
    return _struct([(text, of) for text, (_, of) in zip(texts, made, strict=True)], operands, size)


def _struct(made: Sequence[tuple[str, Any]], operands: dict[str, Any], size: Any) -> Evaluated:
    """Return a struct with a field for each text, of its type."""
    fields = [(f"m{k}", _aligned(of)) for k, (_, of) in enumerate(made)]
    struct = np.dtype(fields, align=True)
    if struct.itemsize > _MOST_BYTES:
        raise ValueError(
            f"these {len(made)} results have {struct.itemsize} bytes an item, and {_MOST_BYTES} "
            "are the most: call transform twice"
        )
    text = ", ".join(text for text, _ in made)
    return f"out_t{{{text}}}", operands, struct, size, True


def _aligned(of: Any) -> Any:
    """Return a struct's dtype that says that it lies as in C, which device arrays' leave out."""
    if of.subdtype:
        return np.dtype((_aligned(of.base), of.shape))
    if not of.fields or of.isalignedstruct:
        return of
    inside = [of.fields[name] for name in of.names]
    whole: Any = {
        "names": of.names,
        "formats": [_aligned(one) for one, *_ in inside],
        "offsets": [offset for _, offset, *_ in inside],
        "itemsize": of.itemsize,
    }
    try:
        return np.dtype(whole, align=True)
    except ValueError:  # it is packed
        return of


def _given(count: int, dtype: Any) -> list[Any]:
    """Return the types that a call asks for, one for all or a tuple; None for each without."""
    if not 1 <= count <= _MOST:
        raise ValueError(f"transform has 1 to {_MOST} results, not {count}: divide them over calls")
    several = dtype if isinstance(dtype, tuple) else (dtype,) * count
    if len(several) != count:
        raise TypeError(f"dtype has {len(several)} types for {count} results: expected as many")
    return [None if of is None else np.dtype(of) for of in several]


def _outs(count: int, out: Any) -> Sequence[Any]:
    if out is None:
        return (None,) * count
    if not isinstance(out, tuple) or len(out) != count or any(one is None for one in out):
        raise TypeError(f"out must be a tuple of {count} arrays, one for each result")
    return out


def _dtype(out: Any) -> Any:
    """Return the type of an array's items; None for what is no array."""
    return item_dtype(out) if hasattr(out, "dtype") else None


def _natural(text: str, used: dict[str, Any], of: Any) -> Any:
    """Return the type that an expression has alone; `of` where that cannot be told."""
    tables = indexed(text)
    shaped = any(np.ndim(x) for name, x in used.items() if name not in tables)
    try:
        return lazy(text, size=None if shaped else 1, **used).dtype
    except TypeError:
        if of is None:
            raise
        return of


def _check(natural: Any, of: Any) -> None:
    """Refuse floats that would become integers, and complex numbers that would become real."""
    inexact = _kind(natural) in "fc"
    if inexact and _kind(of) not in ("f", natural.kind, "c", "V"):
        raise TypeError(
            f"a result is {natural} and its out has {of}, which cannot hold it: give another out, "
            "or casting='unsafe'"
        )


def _kind(of: Any) -> str:
    return "f" if of.name == "bfloat16" else of.kind


def _with_numbers(text: str, used: dict[str, Any], of: Any) -> str:
    """Return a text whose numbers have the types that its result gives them."""
    arrays = [_dtype(x) or np.asarray(x).dtype for x in used.values() if np.ndim(x)]
    if of.kind == "b":  # a comparison's numbers go by what it compares
        plain = not any(one.fields for one in arrays)
        of = np.result_type(*arrays) if arrays and plain else np.dtype("f8")
    places = {}
    for name, x in used.items():
        if isinstance(x, int | float | complex | np.number | np.bool):
            type = _number_type(x, of)
            if type is not None:
                places[name] = f"convert<{dialect(type)}>({name})"
    return _NAME.sub(lambda found: places.get(found[0], found[0]), text) if places else text


def _number_type(x: Any, of: Any) -> Any:
    """Return the type of a number beside a result; None for that which it has without."""
    single = of.itemsize <= (8 if of.kind == "c" else 4) and _kind(of) in "fc"
    if np.iscomplexobj(x):
        return np.dtype("c8" if single else "c16")
    if _kind(of) not in "fc":
        return None
    return np.dtype("f4" if single else "f8")
