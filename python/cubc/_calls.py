"""Decorators of public functions, their names in errors, and checks of their arguments."""

import contextlib
import functools
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ._arrays import described
from ._core import CompileError, Lazy, NoDeviceError, StoreError
from ._lent_outputs import foreign_out, place_of_out, with_memory_of
from ._options import documented, signature

F = TypeVar("F", bound=Callable[..., Any])

# Errors of an argument, whose text is all there is to them.
_REFUSALS = (
    *(TypeError, ValueError, LookupError, IndexError, OverflowError),
    *(OSError, FileNotFoundError, IsADirectoryError, CompileError, NoDeviceError, StoreError),
    np.exceptions.DTypePromotionError,
)
# After the name of a function these make a verb of it, as in "take another name"; in quotes it is
# an operator's.
_OBJECTS = r"(?!'| (?:an?|the|it|them|each|one|another|by|with)\b)"
# Parameters that may be functions of Python.
_TEXTS = {"op", "less", "equal", "condition", "second"}


def name_function(error: Exception, function: str) -> None:
    """Let an error name the function that the user called, in place of what that calls.

    The core leaves its algorithm's name as the error's attribute `cubc_function`. Each function
    on the way out puts its own name there, so that the outermost one stands in the message. An
    error of the user's own code, such as an array's, stays as it is.
    """
    if not _raised_here(error):
        return
    if isinstance(error, np.exceptions.AxisError) and error.axis is not None:
        error.__init__(error.axis, error.ndim, f"{function}()")  # type: ignore[misc]
        return
    inner = error.__dict__.get("cubc_function", "")
    error.cubc_function = function  # type: ignore[attr-defined]
    if type(error) not in _REFUSALS or len(error.args) != 1:
        return
    # No compiler, or libraries and folders that the environment names: no fault of the call.
    refused = isinstance(error, CompileError) and not error.log
    if refused and "the expression '" not in str(error):
        return
    if type(error) is OSError and re.match(r"cubc needs|CUBC_", str(error)):
        return
    text = str(error.args[0]).removeprefix(f"{inner}(): ").removeprefix(f"{inner}: ")
    text = text.replace(f"{function}.__init__()", f"{function}()")
    if inner and not isinstance(error, CompileError):  # that has the user's expression
        text = re.sub(rf"(?<!cubc\.)\b{inner}\b{_OBJECTS}", function, text)
    named = re.search(rf"\b{function}\b{_OBJECTS}", text) and not isinstance(error, CompileError)
    error.args = (text if named else f"{function}(): {text}",)


def _raised_here(error: Exception) -> bool:
    """Tell if only cubc, and NumPy called by it, had a part in an error."""
    trace = error.__traceback__
    packages = set()
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        packages.add(module.partition(".")[0])
        trace = trace.tb_next
    return packages <= {"cubc", "numpy"}


def named(function: F) -> F:
    """Let the errors of a public call name it, and the nearest argument to a misspelt one.

    A constructor is named by its class.
    """
    name = function.__name__
    if name == "__init__":
        name = function.__qualname__.partition(".")[0]

    flags, out_at = _flags_of(function), place_of_out(function)

    @functools.wraps(function)
    def call(*args, **options):
        try:
            if options and flags:
                _refuse_texts(flags, options)
            if (out := foreign_out(out_at, args, options)) is not None:
                return with_memory_of(function, out, out_at, args, options)
            return function(*args, **options)
        except Exception as error:
            trace = error.__traceback__
            if isinstance(error, TypeError) and trace is not None and trace.tb_next is None:
                refuse_unknown(name, options, inspect.signature(function))
            name_function(error, name)
            raise

    return call  # type: ignore[return-value]


def _flags_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of a function's arguments that are bools; so is density=None, as NumPy's."""
    code = getattr(function, "__code__", None)
    if code is None:  # of the core, which looks itself
        return frozenset()
    found, defaults = dict(function.__kwdefaults__ or {}), function.__defaults__ or ()
    by_place = code.co_varnames[: code.co_argcount]
    found |= dict(zip(by_place[len(by_place) - len(defaults) :], defaults, strict=True))
    return frozenset(n for n, value in found.items() if isinstance(value, bool) or n == "density")


def _refuse_texts(flags: frozenset[str], options: dict[str, Any]) -> None:
    """Raise TypeError for a text as a bool, which would be True whatever it says."""
    for name in flags & options.keys():
        if isinstance(options[name], str | bytes):
            raise TypeError(f"{name} is {options[name]!r:.80}: expected a bool")


def unnamed(function: F) -> F:
    """Let the errors of an operator, or of an index, name no function: the user called none."""

    @functools.wraps(function)
    def call(*args, **options):
        try:
            return function(*args, **options)
        except Exception as error:
            inner = error.__dict__.get("cubc_function")
            if inner and len(error.args) == 1 and isinstance(error.args[0], str):
                error.args = (error.args[0].removeprefix(f"{inner}(): "),)
            raise

    return call  # type: ignore[return-value]


@contextlib.contextmanager
def shown_as(*given: str) -> Iterator[None]:
    """Let an expression within that does not compile be shown as what was given, if anything."""
    try:
        yield
    except CompileError as error:
        if not given:
            raise
        shown = "', or '".join(f"{text:.100}" for text in given) + ("'," if given[1:] else "'")
        pattern = r"the expression '.*',?(?= does not compile)"
        text = re.sub(pattern, lambda _: f"the expression '{shown}", str(error.args[0]))
        error.args = (text, *error.args[1:])
        raise


def check_pair(text: str, given: str = "") -> str:
    """Return an expression of two items; ValueError if it does not use both.

    `given` is what the user gave in place of a text.
    """
    unused = [f"'{name}'" for name in "ab" if not re.search(rf"\b{name}\b", text)]
    if unused:
        shown, names = given or f"the expression '{text:.200}'", " and ".join(unused)
        raise ValueError(f"{shown} does not use {names}: expected one of an item a and another, b")
    return text


def refuse_unknown(function: str, options: Iterable[str], takes: inspect.Signature) -> None:
    """Raise TypeError if an option is none that a function takes, with the nearest."""
    kinds = {name: parameter.kind for name, parameter in takes.parameters.items()}
    if inspect.Parameter.VAR_KEYWORD in kinds.values():
        return
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)
    bound = ("self", "cls")
    names = [name for name, kind in kinds.items() if kind not in by_place and name not in bound]
    if not set(options) <= {*names}:
        raise _unknown_option(function, options, names) from None


def primitive(*, workspace: str | None) -> Callable[[F], F]:
    """Decorate a public function that passes its options `**placement` to the core.

    Its signature and its documentation list these options. `workspace` names the C function that
    returns the size of a workspace; None if the call needs none.

    Errors name the function, a missing argument, and the nearest name to a misspelt one. Arguments
    are arrays as `described` returns them.
    """
    return functools.partial(_public, workspace)


def _public(workspace: str | None, function: F) -> F:
    whole_signature = signature(function)
    parameters = whole_signature.parameters.values()
    names = [p.name for p in parameters if p.kind is not p.POSITIONAL_ONLY]
    needed = [p.name for p in parameters if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
    flags, out_at = _flags_of(function), place_of_out(function)
    known, arrays = frozenset(names), tuple({"weights", "values"} & {*names})
    order = [*whole_signature.parameters]
    texts = {name: k for k, name in enumerate(order) if name in _TEXTS}
    items = int("values" in order[:2])  # place of what an operator is of

    @functools.wraps(function)
    def checked(*args, **options):
        if len(args) < len(needed):  # NumPy's names of some, which are arrays too
            for name in needed[len(args) :]:
                if name not in known or name not in options:
                    break
                args = (*args, options.pop(name))
        for name, value in zip(needed, args, strict=False):
            if value is None:  # to the core it means that there is no such input
                raise TypeError(f"{function.__name__}() needs {name}, which is None")
        if not known.issuperset(options):
            raise _unknown_option(function.__name__, options, names)
        for name in arrays:
            if name in options:
                options[name] = described(options[name])
        try:
            if options and flags:
                _refuse_texts(flags, options)
            if texts:
                args = _translated(texts, items, args, options)
            if (out := foreign_out(out_at, args, options)) is not None:
                args = (*map(described, args[:out_at]), *args[out_at:])
                return with_memory_of(function, out, out_at, args, options)
            return function(*map(described, args), **options)
        except Exception as error:
            name_function(error, function.__name__)
            raise

    checked.__signature__ = whole_signature  # type: ignore[attr-defined]
    checked.__doc__ = documented(function, workspace)
    return checked  # type: ignore[return-value]


def _translated(texts: dict[str, int], items: int, args: Any, options: dict[str, Any]) -> Any:
    """Return arguments with texts in place of Python functions; those in options are replaced."""
    for name, at in texts.items():
        value = args[at] if at < len(args) else options.get(name)
        if value is None or not callable(value):
            continue
        from ._callables import argument_of

        of = args[0 if name == "equal" else items]
        found = argument_of(name, value, of, options.get("dtype"), len(args) > at + 1)
        if at < len(args):
            args = (*args[:at], found, *args[at + 1 :])
        else:
            options[name] = found
    return args


def translated(name: str, value: Any, x: Any) -> Any:
    """Return a condition or an order of items of `x`: of a Python function its text or mask."""
    if value is None or isinstance(value, str | Lazy) or not callable(value):
        return value
    from ._callables import argument_of

    return argument_of(name, value, x, None, False)


def _unknown_option(function: str, options: Iterable[str], names: Sequence[str]) -> TypeError:
    import difflib

    name = next(name for name in options if name not in names)
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"it takes {', '.join(names)}"
    return TypeError(f"{function}() has no argument '{name}'; {hint}")


def whole(function: str, name: str, value: Any) -> int:
    """Return a count as an int that fits 64 bits; TypeError or ValueError otherwise."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{function}(): {name} is {value!r}: expected an int") from None
    if abs(number) >= 2**63:
        raise ValueError(f"{function}(): {name} is {number}, which is out of range")
    return number


def real(name: str, value: Any) -> float:
    """Return a number as a float; TypeError otherwise."""
    try:
        # NumPy gives the real part of a complex number.
        if isinstance(value, str | bytes) or np.iscomplexobj(value):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r:.80}: expected a number") from None


def truth(name: str, value: Any) -> bool:
    """Return an argument that is a bool, or 0 or 1; TypeError otherwise."""
    if not isinstance(value, bool | np.bool | int | np.integer) or value not in (0, 1):
        raise TypeError(f"{name} is {value!r:.80}: expected a bool")
    return bool(value)
