"""Binding of calls to their arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _core
from ._calls import named

COPIED = "an array that is not contiguous would be copied: give a contiguous one"


@named
def bind(function: Callable[..., Any], /, *args: Any, **options: Any) -> _core.Bound:
    """Bind a call to its arrays: ``f()`` repeats it for little more than its launches.

    >>> import numpy as np, cubc
    >>> x, out = np.arange(5.0), np.empty(())
    >>> total = cubc.bind(cubc.reduce, x, out=out, device="cpu")
    >>> x += 1
    >>> total()
    array(15.)

    The call is made once, and checked. Then arguments, variant and temporary storage are fixed, and
    what an ``f()`` reads and writes are the arrays as they are then. It runs on the stream of the
    call; calls of one bound object follow each other.

    Parameters
    ----------
    function
        A function of cubc that takes ``out=``, or a function of your own that makes several such
        calls and returns what it wrote to; of several calls each follows the one before.
    *args, **options
        Its arguments. Arrays have to be contiguous. They are kept alive.

    Returns
    -------
    Bound
        Object that repeats the call and returns what the call returned. Its ``count`` is the number
        of primitives that it queues.

    Raises
    ------
    TypeError
        For an operand that is a list or another object that would be copied.
    ValueError
        If an array is not contiguous; if the call has a result that is not one of the arrays given,
        because ``out=``, or ``count=``, is missing; for arrays of the host on a GPU; if nothing was
        called.
    """
    for value in (*args, *options.values()):
        _check(value)
    _core.bind_begin()
    try:
        result = function(*args, **options)
    except BaseException:
        _core.bind_end(None, None)
        raise
    bound = _core.bind_end(result, (args, options))
    given = [id(one) for value in (*args, *options.values()) for one in _parts(value)]
    if any(id(one) not in given for one in _parts(result)):
        raise ValueError("a bound call returns arrays that it was given: give it out=, or count=")
    if not bound.count:
        raise ValueError(f"{getattr(function, '__name__', function)} called nothing to be bound")
    return bound


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple):
        for one in value:
            yield from _parts(one)
    elif value is not None:
        yield value


def _check(value: Any) -> None:
    for one in _parts(value):
        if isinstance(one, list):
            raise TypeError("a list would be copied: give an array")
        if isinstance(one, np.ndarray) and not one.flags.c_contiguous:
            raise ValueError(
                "an array that is not contiguous would be copied: give a contiguous one"
            )
        interface = getattr(one, "__cuda_array_interface__", None)
        if interface and not _is_contiguous(interface):
            raise ValueError(
                "an array that is not contiguous would be copied: give a contiguous one"
            )


def _is_contiguous(interface: dict[str, Any]) -> bool:
    if interface.get("strides") is None:
        return True
    step = np.dtype(interface["typestr"]).itemsize
    for extent, stride in zip(
        reversed(interface["shape"]), reversed(interface["strides"]), strict=True
    ):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True
