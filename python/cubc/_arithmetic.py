"""Arithmetic of arrays on a device: an operator makes a lazy input, computed where it is read.

Types are NumPy's: its ufuncs are asked what they would compute in and return. A number becomes an
array without dimensions of that type, so that another number needs no other kernel.
"""

import contextlib
import contextvars
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from . import _reductions
from ._arrays import as_array, beside, described, shape_of
from ._calls import unnamed
from ._complex_texts import COMPLEX
from ._core import Array, Lazy, asarray, transform
from ._lazy import dialect, indexed, is_same, lazy, literal, renamed
from ._nulls import refuse_missing

_EAGER = contextvars.ContextVar("cubc.array_api.eager", default=False)
_NUMBERS = (bool, int, float, complex)
_WEAK: dict[type, Any] = {bool: np.dtype(bool), int: int, float: float, complex: complex}
_PLAIN_OPERANDS = (*_NUMBERS, np.ndarray)
_ARRAYS = (Array, Lazy)  # made once, as in _arrays.py
_OPERANDS = (*_ARRAYS, np.generic)
_LETTERS = "xyzuvwpqrst"
_TYPES_OF = {"dtype", "signature", "casting"}
_POWERS = 64  # above it, a power of integers is no expression

_OPPOSITE = "{rest} != 0 && (({rest} < 0) != (b < 0))"  # rest and divisor have other signs
_OPPOSED, _FOPPOSED = (_OPPOSITE.format(rest=rest) for rest in ("a % b", "fmod(a, b)"))
_PLAIN = ["sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos"]
_PLAIN += ["tan", "sinh", "cosh", "tanh", "fabs"]
_ROUNDED = ("floor", "ceil", "trunc")
_NAMED = {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}


def _power_text(beyond: str) -> str:
    """Return a power of integers by squares of squares, which the compiler computes once each.

    `beyond` is for exponents below 0 and above 63: of 1 and -1 alone they are no 0, or overflow.
    """
    squares = ["a"]
    for _ in range(5):
        squares.append(f"({squares[-1]} * {squares[-1]})")
    factors = [f"(b & {1 << k} ? {square} : 1)" for k, square in enumerate(squares)]
    return f"b >= 0 && b < 64 ? {' * '.join(factors)} : {beyond}"


_SIGNS_ALONE = "a == 1 ? 1 : a == -1 ? 1 - 2 * (b & 1) : 0"
_INFINITE = "({of} - {of} != {of} - {of} && {of} == {of})"
_INFINITE_PARTS = [_INFINITE.format(of=f"{part}(a)") for part in ("real", "imag")]
_SIGN_OF_COMPLEX = (
    f"a == 0 ? a : {' == '.join(_INFINITE_PARTS)} ? a / abs(a) : {_INFINITE_PARTS[0]} "
    "? TYPE(real(a) < 0 ? -1 : 1, 0) : TYPE(0, imag(a) < 0 ? -1 : 1)"
)

# Text of each ufunc, by the kind of the type that it computes in: c for complex numbers, "" for all
# others that are not named, and * for really all.
_TEXTS: dict[str, dict[str, str]] = {
    "add": {"*": "a + b", "b": "a || b"},  # of two that are true, 2 is no bool
    "subtract": {"*": "a - b"},
    "multiply": {"*": "a * b"},
    "divide": {"*": "a / b"},
    "floor_divide": {
        "i": f"b == 0 ? 0 : b == -1 ? 0 - a : a / b - ({_OPPOSED})",
        "u": "b == 0 ? 0 : a / b",
        "f": f"b == 0 ? a / b : copysign(rint((a - fmod(a, b)) / b - ({_FOPPOSED})), a / b)",
    },
    "remainder": {
        "i": f"b == 0 || b == -1 ? 0 : {_OPPOSED} ? a % b + b : a % b",
        "u": "b == 0 ? 0 : a % b",
        "f": f"fmod(a, b) == 0 ? (b < 0 ? -0.0f : 0.0f) : fmod(a, b) + ({_FOPPOSED} ? b : 0)",
    },
    "fmod": {"i": "b == 0 || b == -1 ? 0 : a % b", "u": "b == 0 ? 0 : a % b", "f": "fmod(a, b)"},
    "power": {"f": "pow(a, b)", "u": _power_text("a == 1"), "i": _power_text(_SIGNS_ALONE)},
    "bitwise_and": {"": "a & b"},
    "bitwise_or": {"": "a | b"},
    "bitwise_xor": {"": "a ^ b"},
    "left_shift": {"": "b >= 0 && b < BITS ? a << b : 0"},
    "right_shift": {"i": "a >> (b >= 0 && b < BITS ? b : BITS - 1)", "u": "b < BITS ? a >> b : 0"},
    "logical_and": {"": "a && b", "c": "convert<bool>(a) && convert<bool>(b)"},
    "logical_or": {"": "a || b", "c": "convert<bool>(a) || convert<bool>(b)"},
    "logical_xor": {"": "!a != !b", "c": "convert<bool>(a) != convert<bool>(b)"},
    "logical_not": {"": "!a", "c": "!convert<bool>(a)"},
    "negative": {"*": "-a"},
    "positive": {"*": "a"},
    "absolute": {"i": "a < 0 ? 0 - a : a", "f": "fabs(a)", "c": "abs(a)", "": "a"},
    "invert": {"": "~a", "b": "!a"},
    "conjugate": {"": "a", "c": "conj(a)"},
    "square": {"*": "a * a"},
    "reciprocal": {"f": "1 / a", "c": "1 / a"},
    "sign": {
        "": "(a > 0) - (a < 0)",
        "f": "a != a ? a + a : 0.0f + (a > 0) - (a < 0)",
        "c": _SIGN_OF_COMPLEX,
    },
    "maximum": {"": "a > b ? a : b", "f": "a > b || a != a ? a : b"},
    "minimum": {"": "a < b ? a : b", "f": "a < b || a != a ? a : b"},
    "fmax": {"": "a > b ? a : b", "f": "fmax(a, b)"},
    "fmin": {"": "a < b ? a : b", "f": "fmin(a, b)"},
    "isnan": {"*": "a != a"},
    "isinf": {
        "": "a - a != a - a && a == a",
        "c": " || ".join(_INFINITE_PARTS),
    },
    "isfinite": {"*": "a - a == a - a"},
    "signbit": {"f": "signbit(a)"},
    "hypot": {"f": "hypot(a, b)"},
    "copysign": {"f": "copysign(a, b)"},
    **{name: {"f": f"a * {180 / math.pi!r}"} for name in ("degrees", "rad2deg")},
    **{name: {"f": f"a * {math.pi / 180!r}"} for name in ("radians", "deg2rad")},
    "ldexp": {"f": "ldexp(a, b < -9999 ? -9999 : b > 9999 ? 9999 : static_cast<int>(b))"},
    "gcd": {"i": "gcd(a, b)", "u": "gcd(a, b)"},
    "nextafter": {"f": "nextafter(a, b)"},
    "logaddexp": {"f": "fmax(a, b) + log1p(a == b ? 1 : exp(-fabs(a - b)))"},
    "rint": {"": "a", "f": "rint(a)", "c": "TYPE(rint(real(a)), rint(imag(a)))"},
    "arctan2": {"f": "atan2(a, b)"},
    **{name: {"f": f"{name}(a)"} for name in _PLAIN},
    **{name: {"": "a", "f": f"{name}(a)"} for name in _ROUNDED},
    **{name: {"f": f"{text}(a)"} for name, text in _NAMED.items()},
}
for _name_of, _of_complex in COMPLEX.items():
    _TEXTS[_name_of]["c"] = _of_complex
_COMPARISONS = {
    "equal": "==",
    "not_equal": "!=",
    "less": "<",
    "less_equal": "<=",
    "greater": ">",
    "greater_equal": ">=",
}
# Reductions and scans of NumPy's ufuncs, by the operator of `reduce` and `scan`.
_FOLDS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_and": "all",
    "logical_or": "any",
}


def known(ufunc: np.ufunc) -> bool:
    """Tell if there is an expression for a ufunc of NumPy."""
    return ufunc.__name__ in _TEXTS or ufunc.__name__ in _COMPARISONS


def _operand(x: Any) -> Any:
    """Return what an operator takes: arrays and numbers; None for anything else."""
    if isinstance(x, _OPERANDS) or type(x) in _PLAIN_OPERANDS:
        return x
    refuse_missing(x)
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "__cuda_array_interface__") or hasattr(x, "__dlpack__"):
        x = described(x)
        return x if isinstance(x, np.ndarray) else asarray(x)
    return None


def _beside_arrays(given: Sequence[Any]) -> Sequence[Any]:
    """Return operands with lists as arrays, in the memory of the others."""
    if not any(isinstance(x, list | tuple) for x in given):
        return given
    of = next((x for x in given if isinstance(x, _ARRAYS)), None)
    lists = (isinstance(x, list | tuple) for x in given)
    return [
        as_array(beside(of, x, None)) if is_list else x
        for x, is_list in zip(given, lists, strict=True)
    ]


@unnamed
def compute(ufunc: np.ufunc, *given: Any, **types_of: Any) -> Any:
    """Return a ufunc of operands as a lazy input; NotImplemented if it has no expression.

    `types_of` has NumPy's arguments dtype, signature and casting, which choose its types.
    """
    given = tuple(_beside_arrays(given))
    values: dict[str, Any] = {}
    operands: list[Any] = []
    taken: list[Mapping[str, Any]] = [values]
    tables: set[str] = set()
    for x in map(_operand, given):
        if x is None:
            return NotImplemented
        operands.append(x)
        if isinstance(x, Lazy):
            taken.append(x.operands)
            tables |= indexed(x.expression)
    name = ufunc.__name__
    if name == "power" and not types_of and type(operands[1]) in (int, float):
        simple = _power_of_number(operands[0], operands[1])
        if simple is not None:
            return simple
    if name in _COMPARISONS:
        operands = _beside_integers(operands)
    types = _types(ufunc, operands, **types_of)
    text, places = _text(name, types), {}
    for letter, x, of in zip("ab", operands, types, strict=False):
        if not isinstance(x, (*_ARRAYS, np.ndarray)) and not shape_of(x):
            x = literal(x, of)
        own = _name(x, taken, tables)
        values[own] = x
        places[letter] = own if x.dtype == of else f"convert<{dialect(of)}>({own})"
    return lazy(filled(text, places), dtype=types[-1], **values)


def _beside_integers(operands: list[Any]) -> list[Any]:
    """Return operands with an infinity for an int that is beyond all integers of arrays."""
    if any(x.dtype.kind not in "biu" for x in operands if hasattr(x, "dtype")):
        return operands
    return [
        math.copysign(math.inf, x > 0 or -1) if type(x) is int and not -(2**63) <= x < 2**64 else x
        for x in operands
    ]


def _types(
    ufunc: np.ufunc, operands: list[Any], dtype: Any = None, signature: Any = None, **casting: Any
) -> tuple[Any, ...]:
    """Return the types that NumPy computes in, and that of the result."""
    weak = [_WEAK.get(type(x)) or x.dtype for x in operands]
    if dtype is not None:  # of the result
        signature = (*[None] * ufunc.nin, *[np.dtype(dtype)] * ufunc.nout)
    how = {"signature": signature, **casting} if signature is not None else casting
    types = ufunc.resolve_dtypes((*weak, *[None] * ufunc.nout), **how)
    for x, of in zip(operands, types, strict=False):
        if type(x) is int and of.kind in "iu" and not _holds(of, x):
            if ufunc.__name__ not in _COMPARISONS:
                raise OverflowError(_beyond(x, of))
            return _types(ufunc, [np.asarray(y) if y is x else y for y in operands])
    if len(types) != ufunc.nin + 1:
        raise TypeError(f"numpy.{ufunc.__name__} has {ufunc.nout} results: cubc computes one")
    if types[0].kind in "mMO" and ufunc.__name__ in ("divide", "add", "subtract", "multiply"):
        raise TypeError(f"numpy.{ufunc.__name__} of {types[0]} is no arithmetic of cubc")
    return types


def _beyond(x: int, dtype: Any) -> str:
    """Return NumPy's words for an int that a type cannot hold, with what to write instead."""
    own = np.min_scalar_type(x)
    advice = f": write numpy.{own}({x}), of a type of its own" if own.kind in "iu" else ""
    return f"Python integer {x} out of bounds for {dtype}{advice}"


def _holds(dtype: Any, number: int) -> bool:
    limits = np.iinfo(dtype)
    return bool(limits.min <= number <= limits.max)


def limits(dtype: Any, low: Any, high: Any) -> list[tuple[np.ufunc, Any]]:
    """Return the ufuncs that limit items, each with its bound; none for ints that all items keep.

    As NumPy's clip has it, an int beyond the type on the other side is refused.
    """
    found = [(np.maximum, low), (np.minimum, high)]
    if dtype.kind in "iu":
        of = np.iinfo(dtype)
        keeps = isinstance(low, int) and low <= of.min, isinstance(high, int) and high >= of.max
        found = [one for one, kept in zip(found, keeps, strict=True) if not kept]
    return [(ufunc, bound) for ufunc, bound in found if bound is not None]


@functools.lru_cache(maxsize=1024)
def _text(name: str, types: tuple[Any, ...]) -> str:
    if name in _COMPARISONS:
        return _comparison(_COMPARISONS[name], types)
    if name == "nextafter" and types[0].itemsize == 2:
        raise TypeError(f"numpy.nextafter of {types[0]} is not there: convert to float32 before it")
    texts, kind = _TEXTS[name], _kind(types[0])
    text = texts.get(kind) or texts.get("*") or (texts.get("") if kind != "c" else None)
    if text is None:
        raise TypeError(
            f"numpy.{name} of {types[0]} is not there: write it as an expression of cubc.lazy"
        )
    return text.replace("BITS", str(8 * types[0].itemsize)).replace("TYPE", dialect(types[0]))


@functools.lru_cache(maxsize=256)
def _kind(dtype: Any) -> str:
    return "f" if dtype.name == "bfloat16" else str(dtype.kind)


def _comparison(sign: str, types: tuple[Any, ...]) -> str:
    """Return a comparison; signed and unsigned 64-bit numbers are compared as numbers."""
    kinds = _kind(types[0]) + _kind(types[1])
    if kinds == "iu":
        beyond = {"==": "false", "!=": "true"}.get(sign, "true" if "<" in sign else "false")
        return f"a < 0 ? {beyond} : static_cast<u64>(a) {sign} b"
    if kinds == "ui":
        beyond = {"==": "false", "!=": "true"}.get(sign, "true" if ">" in sign else "false")
        return f"b < 0 ? {beyond} : a {sign} static_cast<u64>(b)"
    if "c" in kinds and sign not in ("==", "!="):
        raise TypeError("complex numbers have no order: compare abs(x), or parts by cubc.lazy")
    return f"a {sign} b"


def _name(x: Any, taken: Sequence[Mapping[str, Any]], tables: set[str]) -> str:
    """Return the name of an operand: what it is called already, or a letter that is free."""
    for of in taken:
        for name, other in of.items():
            if is_same(other, x) and name not in tables:
                return name
    used = {name for of in taken for name in of}
    letters = "k" if isinstance(x, np.ndarray) and x.ndim == 0 else _LETTERS
    turn = 0
    while True:
        for letter in letters:
            name = f"{letter}{turn or ''}"
            if name not in used:
                return name
        turn += 1


def filled(text: str, places: dict[str, str]) -> str:
    """Return a text with its letters a and b, which are words alone, replaced."""
    return renamed(text, tuple(places.items()))


def _power_of_number(x: Any, exponent: Any) -> Any:
    """Return a power by products, as NumPy does for a square; None where it takes `pow`."""
    kind = _kind(x.dtype) if hasattr(x, "dtype") else ""
    if kind and kind in "fc" and exponent in (2, 1, -1, 0.5):
        simple = {2: np.square, 1: np.positive, -1: np.reciprocal, 0.5: np.sqrt}
        return compute(simple[exponent], x) if kind == "f" or exponent != 0.5 else None
    if kind == "b" and type(exponent) is int and exponent == 2:  # NumPy computes it as a square
        return lazy("x", x=x, dtype="int8")
    if not kind or kind not in "iu" or type(exponent) is not int:
        return None
    if exponent < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    if exponent > _POWERS:
        raise ValueError(f"a power of integers is at most {_POWERS} here: take x.astype(float)")
    if exponent == 0:
        return lazy("x == x", x=x, dtype=x.dtype)
    done, square = None, x
    while exponent:
        if exponent & 1:
            done = square if done is None else compute(np.multiply, done, square)
        exponent >>= 1
        square = compute(np.multiply, square, square) if exponent else square
    return done if isinstance(done, Lazy) else compute(np.positive, done)


@contextlib.contextmanager
def eager() -> Iterator[None]:
    """Let operators of arrays on a device compute at once, as the array API standard says.

    Within the block `d * d + 1` is an array instead of a lazy input. Code that indexes such results
    or writes to them runs then, as that of SciPy and scikit-learn. Each operator is a launch and an
    array. It is for this thread, or this task of asyncio, alone.

    Examples
    --------
    >>> from cubc.array_api import eager
    >>> d = cubc.asarray(np.arange(3.0), device="cpu")
    >>> with eager():
    ...     print(type(d + 1).__name__)
    Array
    """
    token = _EAGER.set(True)
    try:
        yield
    finally:
        _EAGER.reset(token)


def _operated(ufunc: np.ufunc, *operands: Any, **types_of: Any) -> Any:
    """Return what an operator gives: a lazy input, or its items within `eager`."""
    made = compute(ufunc, *operands, **types_of)
    return asarray(made) if _EAGER.get() and isinstance(made, Lazy) else made


def _binary(ufunc: np.ufunc) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def of(self: Any, other: Any, /) -> Any:
        return _operated(ufunc, self, other)

    def reflected(self: Any, other: Any, /) -> Any:
        return _operated(ufunc, other, self)

    return of, reflected


def store(made: Lazy, out: Array) -> Any:
    """Write the items of a lazy input; before, it is computed apart if it reads others of `out`."""
    begin, end = out.ptr, out.ptr + out.nbytes
    for x in made.operands.values():
        whole = isinstance(x, Array) and x.ptr == begin and x.shape == out.shape
        if isinstance(x, Array) and not whole and x.ptr < end and begin < x.ptr + x.nbytes:
            made = lazy("x", x=made.array())
            break
    return transform(made, out=out, casting="unsafe")


def _in_place(ufunc: np.ufunc) -> Callable[..., Any]:
    def of(self: Any, other: Any, /) -> Any:
        made = compute(ufunc, self, other)
        if made is NotImplemented:
            return made
        if not np.can_cast(made.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"a result of {made.dtype} does not go into an array of {self.dtype}: write "
                f"x = x.astype('{made.dtype}') before"
            )
        return store(made, self)

    return of


def _unary(ufunc: np.ufunc) -> Callable[..., Any]:
    return lambda self: _operated(ufunc, self)


def _power(self: Any, other: Any, modulo: Any = None, /) -> Any:
    return NotImplemented if modulo is not None else _operated(np.power, self, other)


def _power_in_place(self: Any, other: Any, modulo: Any = None, /) -> Any:
    return NotImplemented if modulo is not None else _in_place(np.power)(self, other)


def _divmod(self: Any, other: Any, /) -> Any:
    quotient = _operated(np.floor_divide, self, other)
    if quotient is NotImplemented:
        return quotient
    return quotient, _operated(np.remainder, self, other)


def _rdivmod(self: Any, other: Any, /) -> Any:
    return _divmod(other, self)


def _ufunc(self: Any, ufunc: np.ufunc, method: str, /, *inputs: Any, **options: Any) -> Any:
    """Compute a ufunc of NumPy as a lazy input; its reduce is that of cubc.

    Anything else is refused: it would copy the items to the host unseen.
    """
    if method == "__call__" and known(ufunc) and options.keys() <= _TYPES_OF:
        made = _operated(ufunc, *inputs, **options)
        if made is not NotImplemented:
            return made
    if method == "reduce" and ufunc.__name__ in _FOLDS and len(inputs) == 1:
        of = getattr(_reductions, _FOLDS[ufunc.__name__])
        if isinstance(options.get("out"), tuple):
            options["out"] = options["out"][0]
        given = {k: v for k, v in options.items() if v is not None or k == "axis"}
        return of(inputs[0], **{"axis": 0, **given})
    for x in inputs:
        refuse_missing(x)
    shown = f"numpy.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
    raise TypeError(
        f"{shown}() with these arguments would copy the items of {type(self).__name__} to the "
        "host: take x.numpy() for that, or an expression of cubc.lazy"
    )


_SIGNS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshift": np.left_shift,
    "rshift": np.right_shift,
}
_ORDERS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_ALONE = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}


def methods() -> dict[str, Any]:
    """Return the operators of both kinds of arrays, by the names of Python's methods."""
    found: dict[str, Any] = {"pow": _power, "rpow": _binary(np.power)[1]}
    found |= {"divmod": _divmod, "rdivmod": _rdivmod}
    for name, ufunc in _SIGNS.items():
        found[name], found[f"r{name}"] = _binary(ufunc)
    found |= {name: _binary(ufunc)[0] for name, ufunc in _ORDERS.items()}
    found |= {name: _unary(ufunc) for name, ufunc in _ALONE.items()}
    found |= {"array_ufunc": _ufunc, "hash": None}
    return {f"__{name}__": method for name, method in found.items()}


def methods_in_place() -> dict[str, Any]:
    """Return the operators of arrays alone, which write."""
    found = {f"__i{name}__": _in_place(ufunc) for name, ufunc in _SIGNS.items()}
    return found | {"__ipow__": _power_in_place}
