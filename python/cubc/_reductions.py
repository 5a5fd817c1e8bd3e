"""Reductions by NumPy's names: each is ``reduce`` with the operator of that name."""

from collections.abc import Callable
from typing import Any

from ._calls import name_function
from ._core import reduce


def _reduction(op: str, what: str) -> Callable[..., Any]:
    def function(x, /, **options):
        try:
            return reduce(x, op, **options)
        except Exception as error:
            name_function(error, op)
            raise

    function.__name__ = function.__qualname__ = op
    function.__doc__ = f"{what} Options as for `reduce`."
    return function


sum = _reduction("sum", "Sum of all items; integers are summed in 64 bits.")
prod = _reduction("prod", "Product of all items; integers are multiplied in 64 bits.")
min = _reduction("min", "Smallest item; a NaN wins.")
max = _reduction("max", "Largest item; a NaN wins.")
argmin = _reduction("argmin", "Index (int64) of the first smallest item, or of the first NaN.")
argmax = _reduction("argmax", "Index (int64) of the first largest item, or of the first NaN.")
any = _reduction("any", "True if an item is not 0, as a NaN is not; False for no items.")
all = _reduction("all", "True if no item is 0, and for no items.")
