"""Python functions as operators, conditions and expressions of calls.

A function is called with symbols (`_symbols.py`), and leaves a text of C. Functions of `math` are
replaced by ones that take symbols. Numbers of the code are part of the kernel; those of the closure
and of the module are operands where a call takes any: another value needs no other kernel.
"""

import functools
import math
import operator
import re
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _arithmetic
from ._arrays import as_array
from ._core import Lazy, asarray, operator_types
from ._lazy import dialect, lazy, merged
from ._results import Evaluated, of_parts
from ._symbols import (
    Symbol,
    Trace,
    compute,
    converted,
    kind_of,
    named,
    number_of,
    plain_of,
    refuse,
)

_MATH = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
_MATH |= {"ldexp": "ldexp", "gcd": "gcd", "nextafter": "nextafter"}
_MATH |= {"fmod": "fmod", "hypot": "hypot", "fabs": "fabs", "copysign": "copysign"}
_MATH |= {name: name for name in ("isnan", "isinf", "isfinite", "degrees", "radians")}
_MATH |= {name: name for name in _arithmetic._PLAIN}
# Those that NumPy has no ufunc for, and C's names.
_MATH_OF_C = {"erf": "erf", "erfc": "erfc", "gamma": "tgamma", "lgamma": "lgamma"}
_MATH_OF_C |= {"remainder": "remainder"}
# Advice in place of functions that have no expression.
_INSTEAD = {
    "comb": "take items of a table, cubc.lazy('table[k]', ...), or write round(math.exp("
    "math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)))",
    "factorial": "write round(math.gamma(x + 1)), or take items of a table",
    "fsum": "write x + y of items of one function, and cubc.sum(a, deterministic=True) of an array",
    "isqrt": "write math.trunc(math.sqrt(x))",
    "lcm": "write x // math.gcd(x, y) * y",
    "modf": "write x - math.trunc(x) and math.trunc(x)",
    "prod": "write x * y",
}
_AS_THEY_ARE = ("ceil", "floor", "trunc")  # they ask the item itself


# ---- the function with functions of math and numbers replaced ------------------------------------
def _math_function(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    ufunc = getattr(np, _MATH[name])

    def of(*given: Any, **options: Any) -> Any:
        if not _has_item(given) and not _has_item([*options.values()]):
            return plain(*given, **options)
        if name == "log" and len(given) == 2 and not options:
            return of(given[0]) / of(given[1])
        if len(given) != ufunc.nin or options:
            count = "one argument" if ufunc.nin == 1 else f"{ufunc.nin} arguments"
            refuse(f"math.{name} of items takes {count}, and no options")
        return compute(ufunc, *given)

    return of


def _c_function(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    def of(*given: Any) -> Any:
        if not any(isinstance(x, Symbol) for x in given):
            return plain(*given)
        like = compute(np.hypot, *given) if len(given) == 2 else compute(np.sqrt, *given)
        if like.dtype.kind != "f":
            refuse(f"math.{name} takes real items")
        wide = np.promote_types(like.dtype, np.float32)
        places = ", ".join(converted(like.trace, x, wide) for x in given)
        text = f"convert<{dialect(like.dtype)}>({_MATH_OF_C[name]}({places}))"
        return Symbol(like.trace, text, like.dtype)

    return of


def _has_item(given: Any) -> bool:
    several = isinstance(given, list | tuple)
    return any(map(_has_item, given)) if several else isinstance(given, Symbol)


def _refused(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    instead = _INSTEAD.get(name, "write it by others, or the whole as a text of C")

    def of(*given: Any, **options: Any) -> Any:
        if _has_item(given) or _has_item([*options.values()]):
            refuse(f"math.{name} of items has no expression: {instead}")
        return plain(*given, **options)

    return of


def _of_whole(name: str, first: int, plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of math whose arguments are integers, from the first of these on."""
    made = _math_function(name, plain)

    def of(*given: Any) -> Any:
        for x in given[first:] if _has_item(given) else ():
            if isinstance(x, Symbol) and x.dtype.kind not in "iu":
                refuse(f"math.{name} of {x.dtype} where it takes integers: give such an array")
        return made(*given)

    return of


def _gcd(*given: Any) -> Any:
    """Return math.gcd, which takes any number of arguments."""
    if not _has_item(given):
        return math.gcd(*given)
    return functools.reduce(_gcd_of_two, given if given[1:] else (0, *given))


_gcd_of_two = _of_whole("gcd", 0, math.gcd)


def _symbolic(name: str, plain: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of math that takes items, or says what to write instead."""
    if name == "gcd":
        return _gcd
    if name == "ldexp":
        return _of_whole(name, 1, plain)
    if name in _MATH:
        return _math_function(name, plain)
    return _c_function(name, plain) if name in _MATH_OF_C else _refused(name, plain)


class _Math:
    """The module math, whose functions take symbols too."""

    def __getattr__(self, name: str) -> Any:
        return getattr(math, name)


_symbolic_math = _Math()
_SYMBOLIC = {}
for _name, _plain in vars(math).items():
    if callable(_plain) and _name[0] != "_" and _name not in _AS_THEY_ARE:
        _of = _symbolic(_name, _plain)
        setattr(_symbolic_math, _name, _of)
        _SYMBOLIC[_plain] = _of


class _Conversion(type):
    """Metaclass of NumPy's types of numbers, which convert items too."""

    plain: Any

    def __call__(cls, *given: Any, **options: Any) -> Any:
        if len(given) != 1 or options or not isinstance(given[0], Symbol):
            return cls.plain(*given, **options)
        (x,), of = given, np.dtype(cls.plain)
        if x.dtype.fields or (x.dtype.kind == "c" and of.kind not in "cb"):
            refuse(f"numpy.{of} of {x.dtype}: take a field, or x.real")
        return Symbol(x.trace, converted(x.trace, x, of), of)

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, cls.plain)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, cls.plain)


class _Numpy:
    """The module numpy, whose types of numbers take symbols too."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


_symbolic_numpy = _Numpy()
_CONVERSIONS = {}
for _code in "?bhilqBHILQefdFD":
    _type = np.dtype(_code).type
    _bases = () if _type is np.bool else (_type,)  # which cannot be a base
    _CONVERSIONS[_type] = _Conversion(_type.__name__, _bases, {"plain": _type})
for _name, _plain in vars(np).items():  # what is there: its lazy modules take long to import
    if isinstance(_plain, type) and _plain in _CONVERSIONS:
        setattr(_symbolic_numpy, _name, _CONVERSIONS[_plain])


def _replaced(name: str, value: Any, memo: dict[int, Any]) -> Any:
    """Return what a name of the function means while it is traced."""
    kind = type(value)
    if kind in (int, float):
        return number_of(value, name)
    if value is math:
        return _symbolic_math
    if value is np:
        return _symbolic_numpy
    if kind is type:
        return _CONVERSIONS.get(value, value)
    if kind is types.BuiltinFunctionType:
        return _SYMBOLIC.get(value, value)
    if kind is types.FunctionType and value.__module__ not in ("numpy", "math", "cubc"):
        return _prepared(value, memo)
    return value


def _prepared(function: Any, memo: dict[int, Any]) -> Any:
    """Return a function with the names that it uses replaced."""
    if type(function) is not types.FunctionType:
        return _SYMBOLIC.get(function, function)
    if id(function) in memo:
        return memo[id(function)]
    code, known = function.__code__, function.__globals__
    memo[id(function)] = function  # a function that calls itself
    used = _names(code)
    changed = {}
    for name in used:
        if name in known:
            own = _replaced(name, known[name], memo)
            if own is not known[name]:
                changed[name] = own
    cells = function.__closure__
    if cells:
        free = zip(code.co_freevars, cells, strict=True)
        inside = [(cell, _replaced(name, cell.cell_contents, memo)) for name, cell in free]
        cells = tuple(
            cell if own is cell.cell_contents else types.CellType(own) for cell, own in inside
        )
    if not changed and cells is function.__closure__:
        return function
    made = types.FunctionType(
        code,
        {**known, **changed} if changed else known,
        function.__name__,
        function.__defaults__,
        cells,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    memo[id(function)] = made
    return made


def _names(code: types.CodeType) -> set[str]:
    """Return the names of globals that a code may use, with those of functions inside."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found


def _traced(
    function: Any, names: Sequence[str], dtypes: Sequence[Any], numbers: bool
) -> tuple[Trace, Any]:
    """Return the trace of a function of symbols, and what it returns."""
    expected = _parameters(function)
    if expected and len(expected) != len(names):
        raise TypeError(f"{named(function)} has {len(expected)} parameters: expected {len(names)}")
    trace = Trace(function, numbers)
    trace.taken = {*names, "i"}
    return trace, _run(trace, [Symbol(trace, *one) for one in zip(names, dtypes, strict=True)])


def _run(trace: Trace, symbols: list[Any]) -> Any:
    function = trace.function
    try:
        made = trace.run(_prepared(function, {}), symbols, [])
    except RecursionError:
        raise TypeError(f"{named(function)} calls itself without an end") from None
    except TypeError as error:
        if "Symbol" not in str(error):
            raise
        said = re.sub(r"'?\bSymbol\b'?", "an item", str(error))
        raise TypeError(
            f"{_line_of(error)}{said}: items go into operators, comparisons and functions of math "
            "and numpy"
        ) from error
    if made is NotImplemented or made is None:
        raise TypeError(f"{named(function)} returns nothing: expected a number made of its items")
    return made


def _line_of(error: Exception) -> str:
    """Return the place of an error in the user's code."""
    at, found = error.__traceback__, ""
    while at is not None:
        if not at.tb_frame.f_globals.get("__name__", "").startswith("cubc."):
            found = f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}: "
        at = at.tb_next
    return found


def _result(trace: Trace, made: Any, struct: str, dtype: Any = None) -> tuple[str, Any]:
    """Return the text and the type of what a function returned."""
    if isinstance(made, tuple):
        if dtype is None or not dtype.fields or len(dtype.names) != len(made):
            raise TypeError(
                f"{named(trace.function)} returns {len(made)} values: the type of a struct with as "
                "many fields is needed"
            )
        fields = [
            converted(trace, one, dtype.fields[name][0])
            for one, name in zip(made, dtype.names, strict=True)
        ]
        return f"{struct}{{{', '.join(fields)}}}", dtype
    kind = kind_of(plain_of(made))
    of = np.asarray(plain_of(made)).dtype if isinstance(kind, type) else kind
    return converted(trace, made, of), of


# ---- what calls ask for --------------------------------------------------------------------------
_BUILT_IN = {getattr(np, name): op for name, op in _arithmetic._FOLDS.items()}
_BUILT_IN |= {operator.add: "sum", operator.mul: "prod", min: "min", max: "max"}


def operator_of(function: Any, x: Any, dtype: Any = None) -> str:
    """Return an operator of `a` and `b` as a text, for items of an array or lazy input."""
    if function in _BUILT_IN:
        return _BUILT_IN[function]
    if isinstance(function, np.ufunc) and function.nin != 2:
        raise TypeError(f"numpy.{function.__name__} is of {function.nin} item, an operator is of 2")
    of = _items(x).dtype
    if not of.fields:
        of = np.dtype(operator_types("a + b", of, dtype=dtype)[0])
    trace, made = _traced(function, ("a", "b"), (of, of), False)
    return _result(trace, made, "value_t", of)[0]


def _order_of(function: Any, x: Any) -> str:
    of = _items(x).dtype
    trace, made = _traced(function, ("a", "b"), (of, of), False)
    return _result(trace, made, "value_t")[0]


def _condition_of(function: Any, x: Any, numbers: bool) -> Any:
    """Return a condition of the item `x`, and of its index `i` if the function takes two.

    It is a text; with numbers of the closure a lazy mask, which takes them as operands.
    """
    x = _items(x)
    both = {"x": x.dtype, "i": np.dtype("i8")}
    names = list(both)[: 1 if _count(function) == 1 else 2]
    trace, made = _traced(function, names, [both[name] for name in names], numbers)
    text, of = _result(trace, made, "out_t")
    found = _used(trace, text)
    return lazy(text, dtype=of, x=x, **found) if found else text


def argument_of(name: str, function: Any, x: Any, dtype: Any, more: bool) -> Any:
    """Return what a call takes in place of a function; `more` conditions need texts."""
    if name == "op":
        return operator_of(function, x, dtype)
    if name in ("less", "equal"):
        return _order_of(function, x)
    return _condition_of(function, x, name == "condition" and not more)


def expression_of(
    function: Any, operands: dict[str, Any], dtype: Any = None, size: int | None = None
) -> Lazy:
    """Return a lazy input: a function whose parameters have the names of the operands."""
    trace, given, made = _computed(function, operands)
    asked = None if dtype is None else np.dtype(dtype)
    text, natural = _result(trace, made, "out_t", asked)
    return lazy(text, dtype=dtype or natural, size=size, **given, **_used(trace, text))


def transform_of(
    function: Any, operands: dict[str, Any], dtype: Any, out: Any, casting: Any
) -> Evaluated:
    """Return what a transform evaluates: several results if the function returns a tuple."""
    trace, given, made = _computed(function, operands)
    several = isinstance(made, tuple)
    if several and dtype is None and getattr(getattr(out, "dtype", None), "fields", None):
        dtype = out.dtype  # one array of structs
    asked = None if dtype is None or (several and isinstance(dtype, tuple)) else np.dtype(dtype)
    if several and (asked is None or not asked.fields):
        parts = [_result(trace, one, "out_t") for one in made]
        numbers = _used(trace, *(text for text, _ in parts))
        return of_parts(parts, {**given, **numbers}, dtype, out, casting)
    text, natural = _result(trace, made, "out_t", asked)
    text, operands, size = merged(text, {**given, **_used(trace, text)})
    return text, operands, dtype or natural, size, False


def _used(trace: Trace, *texts: str) -> dict[str, Any]:
    """Return the numbers of the closure in texts: a branch that is never taken has more."""
    words = set(re.findall(r"\w+", " ".join(texts))) if trace.operands else set()
    return {name: number for name, number in trace.operands.items() if name in words}


def _computed(function: Any, operands: dict[str, Any]) -> tuple[Trace, dict[str, Any], Any]:
    """Return a function's trace, the operands without its numbers, and what it returned."""
    given = {name: _operand(value) for name, value in operands.items()}
    wanted = _parameters(function) or tuple(given)
    if set(wanted) - {"i"} != given.keys():
        raise TypeError(
            f"{named(function)} has the parameters {', '.join(wanted)}, and the operands are "
            f"{', '.join(given) or 'none'}: give each by its name"
        )
    trace = Trace(function, True)
    trace.taken = {*wanted, "i"} - {n for n, value in given.items() if type(value) in (int, float)}
    symbols = []
    for name in wanted:
        value = given.get(name, np.int64(0))
        if type(value) in (int, float):
            symbols.append(number_of(value, name))
            del given[name]
        else:
            symbols.append(Symbol(trace, name, _type_of(value)))
    return trace, given, _run(trace, symbols)


def _operand(x: Any) -> Any:
    return x if type(x) in _arithmetic._NUMBERS else _items(x)


def _items(x: Any) -> Any:
    """Return an array whose dtype is NumPy's."""
    x = x if isinstance(x, Lazy) else as_array(x)
    return x if isinstance(x.dtype, np.dtype) else asarray(x)


def _parameters(function: Any) -> tuple[str, ...]:
    """Return the names of a function's parameters; of what is not Python's there are none.

    Those that have a default keep it, and a method has its object.
    """
    code = getattr(function, "__code__", None)
    first = 1 if getattr(function, "__self__", None) is not None else 0
    defaults = len(getattr(function, "__defaults__", None) or ())
    return tuple(code.co_varnames[first : code.co_argcount - defaults]) if code else ()


def _count(function: Any) -> int:
    return len(_parameters(function)) or getattr(function, "nin", 1)


def _type_of(x: Any) -> Any:
    return x.dtype if hasattr(x, "dtype") else np.asarray(x).dtype
