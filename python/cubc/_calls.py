"""Common parts of the wrappers around ``_core.call``: names in errors, arguments, arrays."""

import contextlib
import difflib
import functools
import inspect
import operator
import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from ._core import (
    Array,
    CompileError,
    Lazy,
    NoDeviceError,
    StoreError,
    _lend,
    asarray,
    device_info,
    is_binding,
    transform,
)
from ._nulls import refuse_missing
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
# Made once: a union that is made for each call takes longer than the call's arguments.
_AS_THEY_ARE = (Array, np.ndarray, np.generic, Lazy, str, list, tuple, type)


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
    if isinstance(error, CompileError) and not error.log:
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

    flags, out_at = _flags_of(function), _place_of_out(function)

    @functools.wraps(function)
    def call(*args, **options):
        try:
            if options and flags:
                _refuse_texts(flags, options)
            if (out := _foreign_out(out_at, args, options)) is not None:
                return _with_memory_of(function, out, out_at, args, options)
            return function(*args, **options)
        except Exception as error:
            trace = error.__traceback__
            if isinstance(error, TypeError) and trace is not None and trace.tb_next is None:
                refuse_unknown(name, options, inspect.signature(function))
            name_function(error, name)
            raise

    return call  # type: ignore[return-value]


def _flags_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of a function's arguments that are bools."""
    code = getattr(function, "__code__", None)
    if code is None:  # of the core, which looks itself
        return frozenset()
    found, defaults = dict(function.__kwdefaults__ or {}), function.__defaults__ or ()
    by_place = code.co_varnames[: code.co_argcount]
    found |= dict(zip(by_place[len(by_place) - len(defaults) :], defaults, strict=True))
    return frozenset(n for n, value in found.items() if isinstance(value, bool) or n == "density")


def _place_of_out(function: Callable[..., Any]) -> int:
    """Return the place of out= among the arguments; -1 of a function without one."""
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    return names.index("out") if "out" in names else -1


def _foreign_out(at: int, args: Any, options: dict[str, Any]) -> Any:
    """Return an output, or a tuple of some, that is known by DLPack alone; None otherwise."""
    if at < 0:
        return None
    out = args[at] if at < len(args) else options.get("out")
    if out is None or isinstance(out, Array | np.ndarray):
        return None
    several = out if isinstance(out, tuple) else (out,)
    return out if any(map(_is_dlpack_alone, several)) else None


def _is_dlpack_alone(x: Any) -> bool:
    """Tell if DLPack is the only way to the memory of an array."""
    others = ("__array__", "__array_interface__", "__cuda_array_interface__")
    return hasattr(x, "__dlpack__") and not any(hasattr(x, name) for name in others)


def _with_memory_of(
    function: Callable[..., Any], out: Any, at: int, args: Any, options: dict[str, Any]
) -> Any:
    """Call a function with outputs as arrays of the same memory, and return what was given."""
    inputs = [y for x in args[:at] for y in (x if isinstance(x, list | tuple) else (x,))]
    if not any(hasattr(x, "shape") or _is_dlpack_alone(x) for x in inputs):
        return function(*args, **options)  # of numbers or of a field: the core looks at `out` alone
    on_device = any(of_device(x) is not None for x in inputs)
    given = out if isinstance(out, tuple) else (out,)
    lent = tuple(_memory_of(x, on_device) if _is_dlpack_alone(x) else x for x in given)
    whole = lent if isinstance(out, tuple) else lent[0]
    if at < len(args):
        args = (*args[:at], whole, *args[at + 1 :])
    else:
        options = {**options, "out": whole}
    own = {id(new): old for new, old in zip(lent, given, strict=True)}
    made = function(*args, **options)
    if isinstance(made, tuple):
        return tuple(own.get(id(one), one) for one in made)
    return own.get(id(made), made)


def _memory_of(x: Any, on_device: bool, what: str = "out") -> Any:
    """Return the memory of an array as one of NumPy, or of the device that the others are on."""
    here = _of_host(x) and not on_device
    if here:
        with contextlib.suppress(BufferError, RuntimeError, TypeError):
            array = np.from_dlpack(x)
            if array.flags.writeable:
                return array
    lent = _lend(x, what)  # refuses what may not be written
    return x if here else lent  # of bfloat16, which NumPy does not read


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
    flags, out_at = _flags_of(function), _place_of_out(function)
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
            if (out := _foreign_out(out_at, args, options)) is not None:
                args = (*map(described, args[:out_at]), *args[out_at:])
                return _with_memory_of(function, out, out_at, args, options)
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
        if isinstance(value, str | bytes):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {value!r:.80}: expected a number") from None


def truth(name: str, value: Any) -> bool:
    """Return an argument that is a bool, or 0 or 1; TypeError otherwise."""
    if not isinstance(value, bool | np.bool | int | np.integer) or value not in (0, 1):
        raise TypeError(f"{name} is {value!r:.80}: expected a bool")
    return bool(value)


def dtype_of(out: Any) -> Any:
    """Return the dtype of an output; None without one, or for what is no array."""
    return getattr(out, "dtype", None)


def item_dtype(x: Any) -> Any:
    """Return the dtype of any library's array as a numpy.dtype."""
    if isinstance(x.dtype, np.dtype):
        return x.dtype
    try:
        return np.dtype(str(x.dtype).rpartition(".")[2])  # of torch.float32
    except TypeError:  # bfloat16, which NumPy lacks
        return asarray(x).dtype


def refuse_items(what: str, x: Any, otherwise: str, *, ordered: bool = False) -> None:
    """Raise TypeError for structs; and for complex numbers, where items are `ordered`."""
    kind = "structs" if getattr(x.dtype, "fields", None) else "complex numbers"
    if kind == "structs" or (ordered and item_dtype(x).kind == "c"):
        raise TypeError(f"{what} are {kind}, {otherwise}")


def described(x: Any) -> Any:
    """Return an array of any library as one with a dtype and a shape.

    Memory is shared where the library's protocol allows it. Anything else is returned unchanged.
    """
    if isinstance(x, _AS_THEY_ARE):
        if isinstance(x, np.ndarray) and type(x) is not np.ndarray:
            refuse_missing(x)
        return x
    whole = hasattr(x, "dtype") and hasattr(x, "shape")
    if hasattr(x, "__cuda_array_interface__"):
        return x if whole else asarray(x)
    if hasattr(x, "__dlpack__"):
        if _of_host(x):  # as JAX's and PyTorch's on the cpu
            try:
                return np.from_dlpack(x)
            except (BufferError, RuntimeError, TypeError):  # of bfloat16
                if not whole:
                    raise
        return x if whole else asarray(x)
    if not hasattr(x, "__array__"):
        return x
    refuse_missing(x)
    return np.asarray(x)


def changeable(x: Any, otherwise: str = "") -> Any:
    """Return an array that a call changes in place; TypeError for what has no memory of its own."""
    given = _memory_of(x, False, "the array") if _is_dlpack_alone(x) else described(x)
    if given is x and _is_dlpack_alone(x):
        given = _lend(x, "the array")
    if isinstance(given, np.ndarray) and not isinstance(x, np.ndarray):
        copied = not hasattr(x, "__dlpack__")  # a table's columns may be joined to an array
    else:
        copied = not hasattr(given, "dtype") or isinstance(given, np.generic | Lazy)
    if copied:
        raise TypeError(
            f"this changes an array in place, and {type(x).__name__} is none{otherwise}"
        )
    if isinstance(given, np.ndarray) and not given.flags.writeable:
        raise ValueError("the array is read-only: copy it before")
    return given


def _of_host(x: Any) -> bool:
    """Tell if an array that is no CUDA array is in the host's memory, as DLPack says it."""
    return hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] in (1, 3)


def as_array(x: Any) -> Any:
    """Return an array of any library as `described` does; lists and numbers as NumPy arrays."""
    x = described(x)
    if hasattr(x, "dtype"):
        return x
    if is_binding() and isinstance(x, list | tuple):
        raise TypeError("a list would be copied: give an array")
    refuse_missing(x)
    array = np.asarray(x)
    if array.dtype == object:
        raise TypeError(f"{reprlib.repr(x)} is no array of numbers: pass an array or a list")
    return array


def is_of_numpy(x: Any) -> bool:
    """Tell if NumPy may compute with a result: a bound call repeats the core's work alone."""
    return not isinstance(x, Array | Lazy) and not (is_binding() and isinstance(x, np.ndarray))


def refuse_bound(what: str) -> None:
    """Raise ValueError within `bind` for a step of the host, which would be done once."""
    if is_binding():
        raise ValueError(f"{what} on the host, which a bound call cannot repeat")


def overlap(a: Any, b: Any) -> bool:
    """Tell if two arrays of NumPy, or two of a device, may have memory in common."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    if not all(isinstance(x, Array) or hasattr(x, "__cuda_array_interface__") for x in (a, b)):
        return False
    a, b = asarray(a), asarray(b)
    return bool(a.ptr < b.ptr + b.nbytes and b.ptr < a.ptr + a.nbytes)


def address_of(x: Any) -> int:
    """Return the place of an array's first item in memory."""
    return int(x.ctypes.data if isinstance(x, np.ndarray) else asarray(x).ptr)


def is_on_cpu(x: Any, device: Any) -> bool:
    """Tell if a call on an array, with a device= option, is computed by the cpu."""
    if isinstance(x, np.ndarray):
        return bool(device_info(device)["name"] == "cpu")
    other = hasattr(x, "__cuda_array_interface__") and not isinstance(x, Array)
    return not other and str(asarray(x).device) == "cpu"  # which would copy one with strides


def dimensions(x: Any) -> int:
    """Return the number of dimensions of an array of any library, or of a list."""
    return x.ndim if hasattr(x, "ndim") else as_array(x).ndim


def computed(x: Any, stream: Any = None) -> Any:
    """Return an array as `as_array` does, and the items of a lazy input as one."""
    return transform(x, stream=stream) if isinstance(x, Lazy) else as_array(x)


def beside(a: Any, v: Any, stream: Any) -> Any:
    """Return a number or a list as an array on the device of `a`, and an array unchanged."""
    of = of_device(a)
    if of is None or (hasattr(v, "shape") and not isinstance(v, np.generic)):
        return v
    return asarray(v, device=asarray(of).device, stream=stream)


def of_dlpack(a: Array, x: Any) -> Any:
    """Return an array that is known by DLPack alone as one beside `a`, and all else unchanged.

    Memory of the host is the cpu device's too; beside an array of a GPU it is NumPy's.
    """
    if not _is_dlpack_alone(x):
        return x
    if not _of_host(x):
        return asarray(x)
    return asarray(x, device="cpu") if a.device == "cpu" else described(x)


def of_device(a: Any) -> Any:
    """Return an array of a device, or such an operand of a lazy input; None for host memory."""
    if isinstance(a, Lazy):
        return next((x for x in a.operands.values() if of_device(x) is not None), None)
    if isinstance(a, Array):
        return a
    if not hasattr(a, "shape") or hasattr(a, "__array_interface__"):
        return None
    return a if hasattr(a, "__cuda_array_interface__") or not _of_host(a) else None


def one_dimension(function: str, x: Any, otherwise: str) -> None:
    """Raise ValueError unless an array has one dimension."""
    if dimensions(x) != 1:
        shape = tuple(getattr(x, "shape", np.shape(x)))
        raise ValueError(
            f"{function}() takes arrays of one dimension, not of the shape {shape}; {otherwise}"
        )


def output_pair(function: str, out: Any, of: str = "(keys, values)") -> tuple[Any, Any]:
    """Return the two arrays of out=, or (None, None)."""
    if out is None:
        return None, None
    if isinstance(out, tuple) and len(out) == 2:
        return out
    raise TypeError(f"{function}(): out must be a tuple of two arrays, {of}")
