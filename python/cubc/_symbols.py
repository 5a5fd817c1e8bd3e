"""Symbols: items of which a Python function makes a text, as it computes with them.

Arithmetic, comparisons and NumPy's ufuncs of symbols make other symbols, in the types in which
NumPy computes. To arithmetic bools alone are 0 and 1 of int64, as in Python. Where a function asks
whether a condition holds, it is called once for each answer, and both results become
``condition ? this : that``.
"""

import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from . import _arithmetic
from ._arrays import common_type
from ._lazy import dialect
from ._nulls import refuse_missing

MOST_ENDS = 64  # of a function: returns under different conditions


def named(function: Any) -> str:
    """Return the name of a function and where it stands."""
    code = getattr(function, "__code__", None)
    name = getattr(function, "__name__", repr(function))
    return f"{name} ({code.co_filename}:{code.co_firstlineno})" if code else name


# ---- numbers that a kernel is given --------------------------------------------------------------
class Whole(int):
    """A number of the closure: where it meets a symbol it is an operand.

    `origin` says how it was made. It is the same in all calls of the function.
    """

    origin: str


class Real(float):
    """The same of a float."""

    origin: str


def number_of(value: Any, origin: str) -> Any:
    """Return an int or float that knows its origin; all else as it is."""
    kind = {int: Whole, float: Real}.get(type(value))
    if kind is None:
        return value
    made = kind(value)
    made.origin = origin
    return made


def plain_of(x: Any) -> Any:
    """Return an operand as what NumPy's promotion takes."""
    return int(x) if isinstance(x, Whole) else float(x) if isinstance(x, Real) else x


def _of_numbers(of: Callable[..., Any], sign: str, turned: bool) -> Callable[..., Any]:
    def made(a: Any, b: Any) -> Any:
        if not isinstance(b, int | float):
            return NotImplemented
        origins = [x.origin if isinstance(x, Whole | Real) else repr(x) for x in (a, b)]
        first, second = (b, a) if turned else (a, b)
        value = of(plain_of(first), plain_of(second))
        return number_of(value, f"({sign.join(reversed(origins) if turned else origins)})")

    return made


def _negative(x: Any) -> Any:
    return number_of(-plain_of(x), f"(-{x.origin})")


def _compute_with_numbers() -> None:
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
        for kind in (Whole, Real):
            of = getattr(operator, name)
            setattr(kind, f"__{name}__", _of_numbers(of, f" {name} ", False))
            setattr(kind, f"__r{name}__", _of_numbers(of, f" {name} ", True))
    for kind in (Whole, Real):
        kind.__neg__ = _negative  # type: ignore[method-assign]


_compute_with_numbers()


# ---- tracing -------------------------------------------------------------------------------------
class Trace:
    """One function that is traced: its operands so far, and the answers on its way."""

    def __init__(self, function: Callable[..., Any], takes_numbers: bool):
        self.function, self.takes_numbers = function, takes_numbers
        self.operands: dict[str, Any] = {}
        self.places: dict[tuple[Any, Any], str] = {}
        self.answers: list[bool] = []
        self.asked: list[Symbol] = []
        self.ends = 0
        self.taken: set[str] = set()

    def ask(self, condition: "Symbol") -> bool:
        for k, before in enumerate(self.asked):
            if before.text == condition.text:
                return self.answers[k]
        if len(self.asked) == len(self.answers):
            self.answers.append(True)
        self.asked.append(condition)
        if len(self.asked) > MOST_ENDS:
            refuse("a loop ends by a condition on items: write a loop of a fixed length")
        return self.answers[len(self.asked) - 1]

    def run(self, function: Callable[..., Any], symbols: Sequence[Any], known: list[bool]) -> Any:
        """Return what the function makes when these conditions have these answers."""
        self.answers, self.asked = [*known], []
        made = function(*symbols)
        asked = self.asked
        if len(asked) == len(known):
            self.ends += 1
            if self.ends > MOST_ENDS:
                raise ValueError(
                    f"{named(self.function)} has more than {MOST_ENDS} ends under different "
                    "conditions: write numpy.where or an expression of C for some of them"
                )
            return made
        condition = asked[len(known)]
        yes = self.run(function, symbols, [*known, True])
        no = self.run(function, symbols, [*known, False])
        return _chosen(self, condition, yes, no)

    def place(self, number: Any, dtype: Any) -> str:
        """Return the text of a number of the closure, in a type."""
        if not self.takes_numbers:
            return _literal(number, dtype)
        key = number.origin, dtype
        if key not in self.places:
            own = number.origin if number.origin.isidentifier() else "k"
            names = (f"{own[:26]}_{turn or ''}" for turn in range(99))  # no word of C
            name = next(n for n in names if n not in self.operands and n not in self.taken)
            self.places[key] = name
            self.operands[name] = np.asarray(plain_of(number), dtype)
        return self.places[key]


def _chosen(trace: Trace, condition: "Symbol", yes: Any, no: Any) -> Any:
    """Return the symbol of a condition with two results."""
    if isinstance(yes, tuple) and isinstance(no, tuple) and len(yes) == len(no):
        return tuple(_chosen(trace, condition, a, b) for a, b in zip(yes, no, strict=True))
    if yes is no or (isinstance(yes, Symbol) and isinstance(no, Symbol) and yes.text == no.text):
        return yes
    kinds = [kind_of(plain_of(one)) for one in (yes, no)]
    if all(isinstance(kind, type) for kind in kinds):
        dtype = np.result_type(*(np.asarray(plain_of(one)) for one in (yes, no)))
    else:
        weak = [
            plain_of(one) if isinstance(k, type) else k
            for k, one in zip(kinds, (yes, no), strict=True)
        ]
        dtype = common_type(*weak)
        for one in weak:
            if type(one) is int and dtype.kind in "iu" and not _arithmetic._holds(dtype, one):
                words = _arithmetic._beyond(one, dtype)
                raise OverflowError(f"{named(trace.function)}: {words}")
    texts = [converted(trace, one, dtype) for one in (yes, no)]
    return Symbol(trace, f"({condition.text} ? {texts[0]} : {texts[1]})", dtype)


def kind_of(x: Any) -> Any:
    """Return the dtype of a symbol, or the type of a number."""
    if isinstance(x, Symbol | np.generic):
        return x.dtype
    if isinstance(x, bool | int | float | complex):
        return type(x)
    return refuse(f"the result is {x!r}: expected a number made of the items")


def _literal(number: Any, dtype: Any) -> str:
    """Return a number as a text of C, in a type."""
    if dtype.kind == "b":
        return "true" if number else "false"
    if dtype.kind == "c":
        parts = (
            _literal(part, np.dtype(f"f{dtype.itemsize // 2}"))
            for part in (number.real, number.imag)
        )
        return f"{dialect(dtype)}({', '.join(parts)})"
    if dtype.kind in "iu":
        value = int(number)
        if value == -(2**63):
            return "(-9223372036854775807ll - 1)"
        return f"static_cast<{dialect(dtype)}>({value}{'ull' if value >= 2**63 else 'll'})"
    wide = dtype.itemsize == 8
    real = float(number) if wide else float(np.float32(number))
    if math.isfinite(real):
        return f"({real!r}{'' if wide else 'f'})"
    bits = np.asarray(real, "f8" if wide else "f4").view("u8" if wide else "u4")
    return f"f{64 if wide else 32}_of({int(bits):#x}{'ull' if wide else 'u'})"


def converted(trace: Trace, x: Any, dtype: Any) -> str:
    """Return the text of a symbol or number in a type."""
    if isinstance(x, Whole | Real):
        return trace.place(x, dtype)
    if np.dtype(dtype).kind == "O":
        raise OverflowError("no type of items holds an integer beyond 64 bits: give a float")
    if not isinstance(x, Symbol):
        return _literal(x, dtype)
    return x.text if x.dtype == dtype else f"convert<{dialect(dtype)}>({x.text})"


# C computes in these types as they are; others it widens.
_EXACT = {np.dtype(code) for code in ("i4", "i8", "u4", "u8", "f4", "f8", "c8", "c16", "?")}


_MOST_KNOWN = 4096
_known: dict[Any, tuple[str, Any]] = {}  # text and type of what was computed before


def _key(ufunc: np.ufunc, given: Sequence[Any]) -> Any:
    """Return all that decides what a ufunc makes; None with numbers that are operands."""
    key: list[Any] = [ufunc]
    for x in given:
        if type(x) is Symbol:
            key += [x.text, x.dtype]
        elif type(x) in (bool, int, float):
            key.append(repr(x))  # which tells 1, 1.0, True and -0.0 apart
        else:
            return None
    return tuple(key)


def compute(ufunc: np.ufunc, *given: Any) -> Any:
    """Return the symbol of a ufunc's result."""
    trace = next(x.trace for x in given if isinstance(x, Symbol))
    key = _key(ufunc, given)
    if found := _known.get(key):
        return Symbol(trace, *found)
    made = _computed(trace, ufunc, given)
    if key is not None and type(made) is Symbol:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = made.text, made.dtype
    return made


def _applied(ufunc: np.ufunc, *given: Any) -> Any:
    """Return a ufunc of numbers, or the symbol of it if one of them is one."""
    return compute(ufunc, *given) if any(isinstance(x, Symbol) for x in given) else ufunc(*given)


def _computed(trace: Trace, ufunc: np.ufunc, given: Sequence[Any]) -> Any:
    plain = [plain_of(x) for x in given]
    for x in plain:
        if not isinstance(x, Symbol | np.generic) and type(x) not in _arithmetic._NUMBERS:
            refuse_missing(x)
            return NotImplemented
    name = ufunc.__name__
    if not _arithmetic.known(ufunc):
        refuse(f"numpy.{name} has no expression: write it by others, or the whole as a text of C")
    if name == "power" and type(plain[1]) is int:
        made = _whole_power(given[0], plain[1])
        if made is not None:
            return made
    try:
        of = _arithmetic._types(ufunc, plain)
        text = _arithmetic._text(name, of)
    except TypeError as error:
        refuse(str(error))
    except OverflowError as error:
        refuse(str(error), OverflowError)
    places = {}
    for letter, x, dtype in zip("ab", given, of, strict=False):
        places[letter] = converted(trace, x, dtype)
    filled = f"({_arithmetic.filled(text, places)})"
    exact = of[-1] in _EXACT and (of[-1].kind == "b" or of[0] == of[-1])
    return Symbol(trace, filled if exact else f"convert<{dialect(of[-1])}>{filled}", of[-1])


def _as_numbers(*given: Any) -> Sequence[Any]:
    """Return operands of arithmetic; where all are bools, their symbols are of int64.

    NumPy's sum of two bools is true or false, its difference is refused, and others are int8.
    """
    if any(not isinstance(x, bool) and getattr(x, "dtype", None) != np.bool for x in given):
        return given
    whole = np.dtype(np.int64)
    return [
        Symbol(x.trace, converted(x.trace, x, whole), whole) if isinstance(x, Symbol) else x
        for x in given
    ]


def _whole_power(x: Any, exponent: int) -> Any:
    """Return a power by products; None where it takes `pow`."""
    (x,) = _as_numbers(x)
    kind = x.dtype.kind if isinstance(x, Symbol) else ""
    if kind not in ("i", "u") and not (kind and 1 <= exponent <= 4):
        return None
    if not 0 <= exponent <= _arithmetic._POWERS:
        refuse(f"a power of integers is from 0 to {_arithmetic._POWERS}: write float(x) before it")
    made = x
    for _ in range(exponent - 1):
        made = made * x
    return made if exponent else x * 0 + 1


def refuse(message: str, error: type[Exception] = TypeError) -> NoReturn:
    """Raise an error that names the line of the user's function."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").startswith("cubc."):
        frame = frame.f_back
    at = f"{frame.f_code.co_filename}:{frame.f_lineno}: " if frame is not None else ""
    raise error(at + message)


class Symbol:
    """An item, or what was made of items: a text and its type."""

    __slots__ = ("dtype", "text", "trace")

    def __init__(self, trace: Trace, text: str, dtype: Any):
        self.trace, self.text, self.dtype = trace, text, dtype

    def __repr__(self) -> str:
        return f"<item {self.text:.60}, {self.dtype}>"

    def __hash__(self) -> int:
        refuse("an item is no key of a dict: write comparisons, or 'table[k]' of cubc.lazy")

    def __bool__(self) -> bool:
        if self.dtype.fields:
            refuse("a struct is neither true nor false: ask about a field")
        if self.dtype == bool:
            return self.trace.ask(self)
        return self.trace.ask(Symbol(self.trace, f"({self.text} != 0)", np.dtype(bool)))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, /, *given: Any, **options: Any) -> Any:
        if method != "__call__" or options:
            what = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
            refuse(f"numpy.{what} of one item has no options: write the ufunc of the item alone")
        # A number of NumPy beside an item is an array without dimensions here.
        return compute(ufunc, *(x[()] if isinstance(x, np.ndarray) else x for x in given))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is np.where and len(args) == 3:
            condition: Any = args[0]
            if not isinstance(condition, Symbol):
                return args[1] if condition else args[2]
            met = condition if condition.dtype == bool else compute(np.not_equal, condition, 0)
            return _chosen(self.trace, met, args[1], args[2])
        if function is np.clip and len(args) == 3 and not options:
            made, low, high = args
            of = made.dtype if isinstance(made, Symbol) else np.asarray(made).dtype
            for ufunc, bound in _arithmetic.limits(of, low, high):
                made = _applied(ufunc, made, bound)
            return made
        refuse(f"numpy.{function.__name__} has no expression: write it by ufuncs or as a text of C")

    def __getattr__(self, name: str) -> Any:
        return self._field(name)

    def __getitem__(self, name: Any) -> Any:
        if not isinstance(name, str | int):
            refuse("an item has no items of its own: index an array as 'table[k]' of cubc.lazy")
        if isinstance(name, int) and self.dtype.fields:
            name = self.dtype.names[name]
        return self._field(name)

    def __iter__(self) -> Any:
        if not self.dtype.fields:
            refuse("an item is one number, and has no items of its own")
        return iter([self[name] for name in self.dtype.names])

    def _field(self, name: Any) -> Any:
        if isinstance(name, str) and name.startswith("__"):
            raise AttributeError(name)
        fields = self.dtype.fields
        if fields and name in fields:
            return Symbol(self.trace, f"{self.text}.{name}", fields[name][0])
        if name in ("real", "imag"):
            if self.dtype.kind != "c":
                return self if name == "real" else compute(np.multiply, self, 0)
            return Symbol(
                self.trace, f"({self.text}).{name}", np.dtype(f"f{self.dtype.itemsize // 2}")
            )
        known = ", ".join(fields) if fields else "real and imag"
        refuse(f"an item of {self.dtype} has no {name!r}; it has {known}")

    def conjugate(self) -> Any:
        return compute(np.conjugate, self)

    def __float__(self) -> float:
        refuse(
            "float() of an item, or a function that takes it for a number: write x * 1.0, or a "
            "function of math or numpy that the module has by that name"
        )

    def __int__(self) -> int:
        refuse("int() of an item: write math.trunc(x), numpy.int64(x), or give dtype=")

    def __index__(self) -> int:
        refuse("an item is no index: take items by cubc.take or 'table[k]' of cubc.lazy")

    def __len__(self) -> int:
        refuse("an item has no length")

    def __trunc__(self) -> Any:
        return compute(np.trunc, *_as_numbers(self))

    def __floor__(self) -> Any:
        return compute(np.floor, *_as_numbers(self))

    def __ceil__(self) -> Any:
        return compute(np.ceil, *_as_numbers(self))

    def __round__(self, digits: Any = None) -> Any:
        if digits:
            refuse("round() to digits: write round(x * 10**digits) / 10**digits")
        (x,) = _as_numbers(self)
        return x if x.dtype.kind in "iu" else compute(np.rint, x)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other


# Signs by which bools stay bools, as in NumPy: `~mask` is the other mask.
_LOGICAL = ("and", "or", "xor", "invert")


def _install() -> None:
    def both(ufunc: np.ufunc, of: Callable[..., Any]) -> tuple[Any, Any]:
        return (
            lambda self, other: compute(ufunc, *of(self, other)),
            lambda self, other: compute(ufunc, *of(other, self)),
        )

    def alone(ufunc: np.ufunc, of: Callable[..., Any]) -> Any:
        return lambda self: compute(ufunc, *of(self))

    def as_given(*given: Any) -> Sequence[Any]:
        return given

    for name, ufunc in (_arithmetic._SIGNS | {"pow": np.power}).items():
        of, reflected = both(ufunc, as_given if name in _LOGICAL else _as_numbers)
        setattr(Symbol, f"__{name}__", of)
        setattr(Symbol, f"__r{name}__", reflected)
    for name, ufunc in _arithmetic._ORDERS.items():
        setattr(Symbol, f"__{name}__", both(ufunc, as_given)[0])
    for name, single in _arithmetic._ALONE.items():
        setattr(Symbol, f"__{name}__", alone(single, as_given if name in _LOGICAL else _as_numbers))


_install()
