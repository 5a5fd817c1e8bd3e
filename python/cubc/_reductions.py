"""The reductions by NumPy's names: each is ``reduce`` with that operator."""

from ._core import reduce


def sum(x, /, **options):
    """Sum of all items; integers are summed in 64 bits. Options as for `reduce`."""
    return reduce(x, "sum", **options)


def prod(x, /, **options):
    """Product of all items; integers are multiplied in 64 bits. Options as for `reduce`."""
    return reduce(x, "prod", **options)


def min(x, /, **options):
    """Smallest item; a NaN wins. Options as for `reduce`."""
    return reduce(x, "min", **options)


def max(x, /, **options):
    """Largest item; a NaN wins. Options as for `reduce`."""
    return reduce(x, "max", **options)


def argmin(x, /, **options):
    """Index (int64) of the first smallest item, or of the first NaN. Options as for `reduce`."""
    return reduce(x, "argmin", **options)


def argmax(x, /, **options):
    """Index (int64) of the first largest item, or of the first NaN. Options as for `reduce`."""
    return reduce(x, "argmax", **options)


def any(x, /, **options):
    """Whether an item is not 0 (NaN is not); False for none. Options as for `reduce`."""
    return reduce(x, "any", **options)


def all(x, /, **options):
    """Whether no item is 0; True for none. Options as for `reduce`."""
    return reduce(x, "all", **options)
