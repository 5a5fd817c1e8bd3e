"""Binding of calls to their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _core
from ._calls import named


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
    what an ``f()`` reads and writes are the arrays as they are then. Arguments that the host reads
    are what they were: numbers, ``init=``, the edges of a histogram. It runs on the stream of the
    call; calls of one bound object follow each other.

    Parameters
    ----------
    function
        A function of cubc that takes ``out=``, a `Kernel`, an operator of `cubc.lattice`, or a
        function of your own that makes several such calls; of several calls each follows the one
        before. Its other work, as in NumPy, is done once, and not repeated.
        Calls that a signal handler makes in its thread meanwhile are bound, too.
    *args, **options
        Its arguments. Arrays have to be contiguous. They are kept alive.

    Returns
    -------
    Bound
        Object that repeats the call and returns what the call returned. Its ``count`` is the number
        of primitives and kernels that it queues.

    Raises
    ------
    TypeError
        For an operand that is a list.
    ValueError
        If an array is not contiguous or not aligned, and would be copied; if the call makes an
        array for its result, because ``out=``, or ``count=``, is missing; for arrays of the host on
        a GPU; for solves and bound calls within the call; if nothing was called.
    """
    if not callable(function):
        raise TypeError(f"bind(): {function!r:.80} is no function, as cubc.reduce is one")
    _core.bind_begin()
    try:
        result = function(*args, **options)
    except BaseException:
        _core.bind_drop()
        raise
    bound = _core.bind_end(result, (args, options))
    if not bound.count:
        raise ValueError(f"{getattr(function, '__name__', function)} called nothing to be bound")
    return bound
