"""Type of the result of an expression, by NumPy's promotion.

C's rules compute the items; this says as what they are stored where the caller does not: a
comparison as bool, ``x + 0.5`` of integers as float64. Literals and numbers are weak, as in NumPy.
An expression that is not understood has no type here, and the arrays decide alone.
"""

from __future__ import annotations

import functools
import operator
import re
from typing import Any, NamedTuple

import numpy as np

from ._arrays import common_type
from ._lazy import STRUCTS

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F']+[uUlL]*"
    r"|(?:\d[\d']*\.?[\d']*|\.\d[\d']*)(?:[eE][-+]?\d+)?[uUlLfF]*)"
    r"|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign><<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^?:(),.\[\]{}]))"
)
# From the loosest on; the ternary operator is below them.
_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
_LEVEL = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}
_TRUE_OR_FALSE = {"||", "&&", "==", "!=", "<", ">", "<=", ">="}
_BOOL = np.dtype(bool)
_TRUTHS = {"isnan", "isinf", "isfinite", "signbit"}
_REALS = {"abs", "real", "imag", "norm"}
_ALIKE = {"min", "max", "conj", "gcd"}
_FLOATING = {
    *("sqrt", "rsqrt", "cbrt", "hypot", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10"),
    *("log1p", "pow", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh"),
    *("asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma", "floor", "ceil", "trunc"),
    *("round", "rint", "nearbyint", "fabs", "fmod", "remainder", "fmin", "fmax", "fdim", "fma"),
    *("copysign", "ldexp", "nextafter", "sinpi", "cospi"),
}
_NAMES = {
    **{
        f"{kind}{8 * size}": f"{kind}{size}"
        for kind in "iuf"
        for size in (1, 2, 4, 8)[kind == "f" :]
    },
    "float": "f4",
    "double": "f8",
    "int": "i4",
    "unsigned": "u4",
    "char": "i1",
    "short": "i2",
    **{f"int{bits}_t": f"i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"u{bits // 8}" for bits in (8, 16, 32, 64)},
    "bool": "?",
    "complex64": "c8",
    "complex128": "c16",
    "c64": "c8",
    "c128": "c16",
}
_TYPES = {name: np.dtype(code) for name, code in _NAMES.items()}


def _quotient(a: int, b: int) -> int:
    """Return a quotient of C, which is cut towards 0; one by 0 is left to the compiler."""
    if b == 0:
        return a
    return abs(a) // abs(b) if (a < 0) == (b < 0) else -(abs(a) // abs(b))


# Values of two literals together, as C computes them.
_FOLDED: dict[str, Any] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": lambda a, b: a << b if 0 <= b < 64 else a,
    ">>": lambda a, b: a >> b if 0 <= b < 64 else a,
    "/": _quotient,
    "%": lambda a, b: a - _quotient(a, b) * b,
}


class _NotUnderstoodError(Exception):
    """An expression has something that the parser does not know."""


class _Index(int):
    """Type of the index i: weak beside floats, int64 beside integers but uint64, which stays."""


class _Literal(NamedTuple):
    """An integer, or what C makes of some before the kernel runs."""

    value: int
    bits: int = 0  # of an unsigned one, which wraps

    def wrapped(self) -> _Literal:
        return _Literal(self.value % 2**self.bits, self.bits) if self.bits else self


def result(expression: str, names: tuple[str, ...], types: tuple[Any, ...]) -> Any:
    """Return a dtype; the type int, float or complex for a weak number; or None.

    The types of operands are dtypes, or the types of Python's numbers.
    """
    found, _ = _parsed(expression, names, types)
    return int if found is _Index else found


@functools.lru_cache(maxsize=4096)
def check_integers(
    expression: str,
    names: tuple[str, ...],
    types: tuple[Any, ...],
    dtype: np.dtype[Any],
    numbers: tuple[tuple[str, int], ...] = (),
) -> None:
    """Raise OverflowError for an integer that a result of integers cannot hold.

    As in NumPy it counts where it takes part in the result's type, and not where it is compared.
    The type of the expression may hold it, too: int64 items plus 300 are cut into an int8 `out`.

    Parameters
    ----------
    numbers : tuple
        Pairs of the name and the value of operands that are integers beyond the type; those of the
        text are found here.
    """
    natural, literals = _parsed(expression, names, types)
    if natural is None:
        return
    computed = np.dtype(np.int64) if natural is _Index else natural
    holding = [dtype]
    if isinstance(computed, np.dtype) and computed.kind in "iu":
        holding.append(computed)
    for which, value in (*numbers, *enumerate(literals)):
        if any(_holds(of, value) for of in holding):
            continue
        typed, _ = _parsed(expression, names, types, which)
        if isinstance(typed, type) == isinstance(natural, type) and typed == natural:
            continue
        integer = f"{which} = {value}" if isinstance(which, str) else str(value)
        raise OverflowError(
            f"the expression '{expression:.80}' has {integer}, which {dtype}, the type of the "
            f"result, cannot hold{_advice(dtype, value)}"
        )


def _holds(dtype: np.dtype[Any], value: int) -> bool:
    return bool(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max)


def _advice(dtype: np.dtype[Any], value: int) -> str:
    """Return what to give: the least type that holds an integer, of the same sign if one does."""
    wider = (np.dtype(f"{kind}{size}") for kind in (dtype.kind, "i") for size in (2, 4, 8))
    held = [of for of in wider if of.itemsize > dtype.itemsize and _holds(of, value)]
    return f": give dtype='{held[0]}', or items of that type" if held else ""


class _Parser:
    """A recursive descent that computes with types.

    `typed`, an operand's name or a literal's place among the literals, is taken as a float64, which
    shows in the result.
    """

    def __init__(
        self,
        text: str,
        names: tuple[str, ...],
        types: tuple[Any, ...],
        typed: int | str | None = None,
    ):
        self.text, self.typed = text, typed
        self.operands = dict(zip(names, types, strict=True))
        if isinstance(typed, str):
            self.operands[typed] = np.dtype("f8")
        self.tokens: list[tuple[str, str]] = []
        self.literals: list[int] = []  # that met something else, or are the result
        self.at = 0

    def result(self) -> Any:
        """Return the type of all; None where it is not understood."""
        try:
            self.tokens = _tokens(self.text)
            found = self.choice()
            return found if self.sign is None else None
        except (_NotUnderstoodError, RecursionError):  # of hundreds of brackets
            return None

    def met(self, found: Any) -> Any:
        """Return the type of a literal that meets others, and all else as it is."""
        if not isinstance(found, _Literal):
            return found
        self.literals.append(found.value)
        return np.dtype("f8") if len(self.literals) - 1 == self.typed else int

    @property
    def sign(self) -> str | None:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else None

    def take(self, expected: str | None = None) -> str:
        sign = self.sign
        if sign is None or (expected is not None and sign != expected):
            raise _NotUnderstoodError
        self.at += 1
        return sign

    def choice(self) -> Any:
        condition = self.met(self.binary(0))
        return self.chosen(condition) if self.sign == "?" else condition

    def chosen(self, condition: Any) -> Any:
        """Return the type of what follows a condition: two results, one of which is taken."""
        self.met(condition)
        self.take("?")
        first = self.choice()
        self.take(":")
        return _common(first, self.choice())

    def binary(self, level: int) -> Any:
        """Return the type of operators of a level and of those that bind closer."""
        left = self.unary()
        while (of := _LEVEL.get(self.sign or "", -1)) >= level:
            left = self.combined(left, self.take(), self.binary(of + 1))
        return left

    def combined(self, left: Any, sign: str, right: Any) -> Any:
        if isinstance(left, _Literal) and isinstance(right, _Literal) and sign in _FOLDED:
            bits = left.bits if sign in ("<<", ">>") else max(left.bits, right.bits)
            return _Literal(_FOLDED[sign](left.value, right.value), bits).wrapped()
        left, right = self.met(left), self.met(right)
        if sign in _TRUE_OR_FALSE:
            return _BOOL
        shifted = sign in ("<<", ">>") and isinstance(left, np.dtype)
        return left if shifted else _common(left, right)

    def unary(self) -> Any:
        if self.sign in ("-", "+", "~", "!"):
            sign = self.take()
            of = self.unary()
            if isinstance(of, _Literal) and sign != "!":
                value = {"-": -of.value, "~": ~of.value}.get(sign, of.value)
                return _Literal(value, of.bits).wrapped()
            return _BOOL if sign == "!" else of
        if self.sign == "(" and (dtype := self.cast()) is not None:
            self.unary()
            return dtype
        return self.member()

    def cast(self) -> Any:
        """Return the type of a cast such as (float); None, where it is no cast."""
        inside = [word for _, word in self.tokens[self.at + 1 : self.at + 3]]
        if len(inside) < 2 or inside[0] not in _TYPES or inside[1] != ")":
            return None
        self.at += 3
        return _TYPES[inside[0]]

    def member(self) -> Any:
        of = self.primary()
        while self.sign in (".", "["):
            if self.take() == "[":  # an item of a table, of its type
                self.choice()
                self.take("]")
                continue
            kind, name = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
            self.at += 1
            fields = of.fields if isinstance(of, np.dtype) else None
            if kind != "name":
                raise _NotUnderstoodError
            of = fields[name][0] if fields and name in fields else None
        return of

    def primary(self) -> Any:
        if self.at == len(self.tokens):
            raise _NotUnderstoodError
        kind, word = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            whole = word[:2] in ("0x", "0X") or not re.search(r"[.eEfF]", word)
            return _whole_number(word) if whole else float
        if word == "(":
            inside = self.within()
            while self.sign == ",":
                self.take()
                inside = self.within()
            self.take(")")
            return inside
        if kind != "name":
            raise _NotUnderstoodError
        if word in ("true", "false"):
            return _BOOL
        if word in ("static_cast", "convert"):
            self.take("<")
            word = self.take()
            self.take(">")
        if word in STRUCTS and self.sign == "{":
            self.arguments("{}")
            return STRUCTS[word]
        return (
            self.call(word)
            if self.sign == "("
            else self.operands.get(word, _Index if word == "i" else None)
        )

    def within(self) -> Any:
        """Return the type of what stands in parentheses; literals there have met nothing yet."""
        inside = self.binary(0)
        return self.chosen(inside) if self.sign == "?" else inside

    def call(self, name: str) -> Any:
        arguments = self.arguments()
        if name in _TYPES or name in STRUCTS:
            return _TYPES.get(name) or STRUCTS[name]
        if name in _TRUTHS:
            return _BOOL
        of = functools.reduce(_common, arguments) if arguments else None
        if name in _REALS:
            return _real(of)
        if name in _ALIKE:
            return of
        single = name.endswith("f") and name[:-1] in _FLOATING
        return _floating(of, single) if single or name in _FLOATING else None

    def arguments(self, around: str = "()") -> list[Any]:
        self.take(around[0])
        found = []
        while self.sign != around[1]:
            found.append(self.choice())
            if self.sign != around[1]:
                self.take(",")
        self.take(around[1])
        return found


@functools.lru_cache(maxsize=4096)
def _parsed(
    expression: str,
    names: tuple[str, ...],
    types: tuple[Any, ...],
    typed: int | str | None = None,
) -> tuple[Any, tuple[int, ...]]:
    """Return the type of an expression, and its literals that may take part in it."""
    parser = _Parser(expression, names, types, typed)
    return parser.result(), tuple(parser.literals)


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at, end = [], 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if not match or match.lastgroup is None:
            raise _NotUnderstoodError
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


def _whole_number(word: str) -> _Literal:
    """Return a literal of C; one with a 0 in front is octal."""
    digits = word.rstrip("uUlL").replace("'", "")
    suffix = word[len(word.rstrip("uUlL")) :].lower()
    try:
        value = int(digits, 8 if digits.isdigit() and digits[0] == "0" else 0)
    except ValueError:
        raise _NotUnderstoodError from None
    if "u" not in suffix:
        return _Literal(value)
    return _Literal(value, 64 if "l" in suffix or value >= 2**32 else 32)


def _is_weak(of: Any) -> bool:
    return isinstance(of, type)


def _is_floating(of: Any) -> bool:
    return of.kind in "fc" or of.name == "bfloat16"


def _common(a: Any, b: Any) -> Any:
    """Return the type of a sum."""
    if a is None or b is None:
        return None
    if _is_weak(a) and _is_weak(b):
        return max(a, b, key=(int, _Index, float, complex).index)
    if _is_weak(a):
        a, b = b, a
    if _is_weak(b) and _is_floating(a) and b is not complex:
        return a
    try:
        if b is _Index:
            return a if a == np.uint64 else np.result_type(a, np.int64)
        return common_type(a, b(0) if _is_weak(b) else b)
    except TypeError:
        return None


def _real(of: Any) -> Any:
    if of is complex:
        return float
    complexes = isinstance(of, np.dtype) and of.kind == "c"
    return np.dtype(f"f{of.itemsize // 2}") if complexes else of


def _floating(of: Any, single: bool) -> Any:
    if (
        of is None
        or (_is_weak(of) and of not in (int, _Index))
        or (not _is_weak(of) and _is_floating(of))
    ):
        return of
    return float if _is_weak(of) else np.dtype("f4" if single else "f8")
