"""Checks of arguments before anything is built."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import operator
import re
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from cubc._calls import refuse_unknown

P = ParamSpec("P")
R = TypeVar("R")

MOST = 2**31 - 1  # the largest count that the core takes


def integer(name: str, value: Any) -> int:
    """`value` as an int; TypeError if it is no whole number."""
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r:.80}, must be a whole number") from None


def count(name: str, value: Any, least: int = 1) -> int:
    """`value` as an int of at least `least`; TypeError or ValueError if it is none."""
    number = integer(name, value)
    if number < least:
        raise ValueError(f"{name} is {number}, must be a whole number of at least {least}")
    if number > MOST:
        raise ValueError(f"{name} is {number}, must be a whole number of at most {MOST}")
    return number


def positive(name: str, value: Any) -> float:
    """`value` as a positive float; TypeError or ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r:.80}, must be a number")
    number = float(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} is {value}, must be positive and finite")
    return number


def share(name: str, value: Any) -> float:
    """`value` as a float from 0 to 1; TypeError or ValueError if it is none."""
    number = 0.0 if value == 0 and not isinstance(value, bool) else positive(name, value)
    if number > 1:
        raise ValueError(f"{name} is {value}, must be from 0 to 1")
    return number


def tolerance(name: str, value: Any) -> float:
    """`value` as a float of 0 or more; TypeError or ValueError if it is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r:.80}, must be a number")
    number = float(value)
    if not number >= 0:
        raise ValueError(f"{name} is {value}, must be 0 or more")
    return number


def regex(pattern: str) -> re.Pattern[str]:
    """Compile a regular expression; TypeError if it is no text, ValueError if it is malformed."""
    if not isinstance(pattern, str):
        raise TypeError(f"{pattern!r:.80} is neither a benchmark's name nor a regular expression")
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{pattern!r} is no regular expression: {error}") from None


def takes_arguments_of(other: Callable[P, Any]) -> Callable[[Callable[..., R]], Callable[P, R]]:
    """Decorate a function that passes all its arguments to another: it has that one's signature.

    An option that the other does not take is refused, with the nearest that it does.
    """

    def decorate(function: Callable[..., R]) -> Callable[P, R]:
        parameters = inspect.signature(other).parameters.values()
        whole = inspect.signature(function).replace(parameters=list(parameters))

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> R:
            refuse_unknown(function.__name__, options, whole)
            return function(*arguments, **options)

        call.__signature__ = whole  # type: ignore[attr-defined]
        return call

    return decorate
