"""Radix sorts of structs by their fields: the keys are made as they are read.

A key is a lazy input: the codes of the fields side by side, which is what CUB's decomposer is for.
Where the codes say all of a struct, they are sorted alone, and made to structs again: a pass moves
half as much. Otherwise structs, or their indices, are the values that go along. Fields of more than
64 bits together are sorted by in turns, the last ones first.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._arrays import as_array, dtype_of
from ._axes import items_of
from ._calls import truth
from ._core import Lazy, call, transform
from ._lazy import lazy
from ._options import Placement, without_workspace
from ._payload import MOVED
from ._take import take

_MOST_BITS = 64  # of a key


def has_fields(x: Any) -> bool:
    """Tell if the items of an array are structs."""
    return bool(getattr(getattr(x, "dtype", None), "fields", None))


def sorted_by_fields(
    x: Any, order: Any, key: Any, descending: Any, indices: bool, out: Any, placement: Placement
) -> Any:
    """Return structs in the order of fields, or the indices that sort them."""
    given = x.array() if isinstance(x, Lazy) else as_array(x)
    x = given.reshape(-1)
    size = items_of(tuple(x.shape))
    fields = _fields(x.dtype, order, key, descending)
    of = dtype_of(out)
    if not indices and of is not None and of != x.dtype:
        raise TypeError(f"out has {of}, expected {x.dtype}")
    if not indices and _say_all(x.dtype, fields):
        return _sorted_codes(x, fields, out, placement)
    turns = _turns(fields) if size else [fields[:1]]
    movable = len(turns) == 1 and not indices and x.dtype.itemsize in MOVED
    found: Any = None
    for k, turn in enumerate(reversed(turns)):
        keys, bits = _key(x, turn, found)
        last = k == len(turns) - 1
        values = x if movable else found
        to = out if last and (indices or movable) else None
        kind = x.dtype if movable else "int64"
        found = _moved(keys, bits, values, kind, to if to is not given else None, placement)
    if not indices and not movable and size:
        found = take(x, found, 0, None, "clip", **without_workspace(placement))
    if not indices and not size:
        found = x
    if out is None or found is out:
        return found
    return transform("v", v=found, out=out, **without_workspace(placement))


def _moved(keys: Lazy, bits: int, values: Any, kind: Any, out: Any, placement: Placement) -> Any:
    """Sort keys that nobody needs; return the values that go along, or the indices."""
    fields = {
        "keys_in": keys,
        "keys_out": ("keys_in", (keys.size,), None),
        "values_in": values,
        "values_out": (kind, (keys.size,), out),
        "end_bit": bits,
    }
    return call("sort", fields, **placement)[1]


# ---- codes alone ---------------------------------------------------------------------------------
def _say_all(dtype: Any, fields: list[tuple[str, Any, bool]]) -> bool:
    """Tell if fields that are sorted by leave no byte of a struct out, and fit a key."""
    size = int(dtype.itemsize)
    return size in (1, 2, 4, 8) and sum(of.itemsize for _, of, _ in fields) == size


def _sorted_codes(
    x: Any, fields: list[tuple[str, Any, bool]], out: Any, placement: Placement
) -> Any:
    """Return structs made of sorted codes."""
    keys, bits = _key(x, fields, None)
    sort = {"keys_in": keys, "keys_out": ("keys_in", (keys.size,), None), "end_bit": bits}
    codes = call("sort", sort, **placement)[0]
    begin, begins = 0, {}
    for name, of in _leaves(x.dtype).items():  # there are no gaps
        begins[name], begin = begin, begin + 8 * of.itemsize
    text, left = [], bits
    for name, of, fall in fields:
        left -= _bits(of)
        text.append(f"convert<u64>({_bits_of_item(of, fall, left)}) << {begins[name]}")
    make = f"scalar_operand<out_t>(scalar_bits<out_t>{{{{{' | '.join(text)}}}}})"
    return transform(make, k=codes, dtype=x.dtype, out=out, **without_workspace(placement))


def _bits_of_item(of: Any, fall: bool, left: int) -> str:
    """Return the expression of a number's bits, of the code that has `left` bits behind it in k."""
    most, code = 8 * of.itemsize, f"u{8 * of.itemsize}"
    made = f"convert<{code}>({'~' if fall else ''}(k >> {left}))"
    if of.kind == "b":
        return f"({made} & 1)"
    if of.kind == "u":
        return made
    sign = f"convert<{code}>(1) << {most - 1}"
    if of.kind == "i":
        return f"({made} ^ {sign})"
    made = f"convert<{code}>({made} + {_nans(of)})"
    return f"({made} >> {most - 1} ? convert<{code}>({made} ^ {sign}) : convert<{code}>(~{made}))"


# ---- fields --------------------------------------------------------------------------------------
def _leaves(dtype: Any, path: str = "") -> dict[str, Any]:
    """Return the numbers of a struct by their names, as "a" and "inner.b"."""
    found: dict[str, Any] = {}
    for name in dtype.names:
        of = dtype.fields[name][0]
        place = f"{path}{name}"
        if of.subdtype:
            shape = of.subdtype[1]
            if of.subdtype[0].fields or len(shape) != 1:
                found[place] = of
            else:
                found |= {f"{place}[{k}]": of.subdtype[0] for k in range(shape[0])}
        elif of.fields:
            found |= _leaves(of, f"{place}.")
        else:
            found[place] = of
    return found


def _fields(dtype: Any, order: Any, key: Any, descending: Any) -> list[tuple[str, Any, bool]]:
    """Return the numbers to sort by, their types, and whether the largest comes first."""
    if order is not None and key is not None:
        raise TypeError("order and key are given: give one of the two")
    known = _leaves(dtype)
    given = key if key is not None else order
    if not isinstance(given, str | Sequence | np.ndarray | None):
        raise TypeError(f"key={given!r:.80}: expected the name of a field, or a list of them")
    names = [given] if isinstance(given, str) else [] if given is None else list(given)
    chosen: list[list[str]] = []
    for name in names:
        parts = [one for one in known if one == name or one.startswith((f"{name}.", f"{name}["))]
        if not isinstance(name, str) or not parts:
            raise ValueError(f"there is no field {name!r}: expected some of {', '.join(known)}")
        chosen.append(parts)
    if isinstance(descending, Sequence | np.ndarray) and not isinstance(descending, str):
        if len(descending) != len(chosen):
            raise ValueError(f"descending has {len(descending)} items for {len(chosen)} fields")
        falls = [truth("descending", one) for one in descending]
    else:
        falls = [truth("descending", descending)] * len(chosen)
    listed = {one: fall for parts, fall in zip(chosen, falls, strict=True) for one in parts}
    if key is None:  # as in NumPy, all others decide where these are equal
        rest = False if isinstance(descending, Sequence | np.ndarray) else bool(descending)
        listed |= {one: rest for one in known if one not in listed}
    for one in listed:
        if known[one].kind not in "biuf" and known[one].name != "bfloat16":
            raise TypeError(f"field '{one}' is {known[one]}, without an order: leave it out")
    if not listed:
        raise ValueError(f"key has no fields: expected some of {', '.join(known)}")
    return [(name, known[name], fall) for name, fall in listed.items()]


def _bits(dtype: Any) -> int:
    return 1 if dtype.kind == "b" else 8 * int(dtype.itemsize)


def _turns(fields: list[tuple[str, Any, bool]]) -> list[list[tuple[str, Any, bool]]]:
    """Return the fields in parts that fit a key, the most significant ones first."""
    turns: list[list[tuple[str, Any, bool]]] = [[]]
    for field in fields:
        if sum(_bits(of) for _, of, _ in turns[-1]) + _bits(field[1]) > _MOST_BITS:
            turns.append([])
        turns[-1].append(field)
    return turns


def _key(x: Any, turn: list[tuple[str, Any, bool]], found: Any) -> tuple[Lazy, int]:
    """Return the codes of fields side by side, of structs in the order found so far."""
    total = sum(_bits(of) for _, of, _ in turn)
    word = next(bits for bits in (8, 16, 32, 64) if bits >= total)
    item = "x" if found is None else "x[k]"
    text, left = [], total
    for name, of, fall in turn:
        left -= _bits(of)
        code = f"u{8 * of.itemsize}"
        value = f"order_code({item}.{name})"
        if of.kind == "f" or of.name == "bfloat16":  # every NaN is last
            value = f"({value} - {_nans(of)})"
        value = f"convert<{code}>({'~' if fall else ''}{value})"
        mask = " & 1" if _bits(of) == 1 else ""
        text.append(f"(convert<u{word}>({value}{mask}) << {left})")
    operands = {"x": x} if found is None else {"x": x, "k": found}
    return lazy(" | ".join(text), dtype=f"uint{word}", **operands), total


def _nans(dtype: Any) -> str:
    """Return how many codes the NaNs with a sign have, which are the lowest."""
    mantissa = 7 if dtype.name == "bfloat16" else {2: 10, 4: 23, 8: 52}[dtype.itemsize]
    return f"{2**mantissa - 1}u" + ("ll" if dtype.itemsize == 8 else "")
