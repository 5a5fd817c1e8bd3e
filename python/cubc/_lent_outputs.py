"""Outputs that are known by DLPack alone: the call writes to arrays of the same memory."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import is_dlpack_alone, memory_of, of_device
from ._core import Array


def place_of_out(function: Callable[..., Any]) -> int:
    """Return the place of out= among the arguments; -1 of a function without one."""
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
    return names.index("out") if "out" in names else -1


def foreign_out(at: int, args: Any, options: dict[str, Any]) -> Any:
    """Return an output, or a tuple of some, that is known by DLPack alone; None otherwise."""
    if at < 0:
        return None
    out = args[at] if at < len(args) else options.get("out")
    if out is None or isinstance(out, Array | np.ndarray):
        return None
    several = out if isinstance(out, tuple) else (out,)
    return out if any(map(is_dlpack_alone, several)) else None


def with_memory_of(
    function: Callable[..., Any], out: Any, at: int, args: Any, options: dict[str, Any]
) -> Any:
    """Call a function with outputs as arrays of the same memory, and return what was given."""
    inputs = [y for x in args[:at] for y in (x if isinstance(x, list | tuple) else (x,))]
    if not any(hasattr(x, "shape") or is_dlpack_alone(x) for x in inputs):
        return function(*args, **options)  # of numbers or of a field: the core looks at `out` alone
    on_device = any(of_device(x) is not None for x in inputs)
    given = out if isinstance(out, tuple) else (out,)
    lent = tuple(memory_of(x, on_device) if is_dlpack_alone(x) else x for x in given)
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
