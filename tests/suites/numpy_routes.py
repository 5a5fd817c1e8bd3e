"""Sends calls of NumPy's functions to cubc's of the same names, so that NumPy's tests test cubc.

A call that cubc does not take on purpose (object arrays, subclasses, ...) stays NumPy's.
All else goes to cubc, whose answer is then held against what NumPy's test expects.
"""

import inspect

import numpy as np

import cubc

# The keywords that go on to cubc, by function; others must have their defaults.
REDUCTION = {"axis", "dtype", "out", "keepdims", "initial", "where"}
SCAN = {"axis", "dtype", "out"}
VARIANCE = {"axis", "dtype", "out", "ddof", "keepdims", "where", "mean", "correction"}
MEDIAN = {"axis", "out", "overwrite_input", "keepdims"}
QUANTILE = MEDIAN | {"method", "weights"}
HISTOGRAM = {"bins", "range", "weights", "density"}
KEYWORDS = {
    "sum": REDUCTION,
    "prod": REDUCTION,
    "min": REDUCTION,
    "max": REDUCTION,
    "any": REDUCTION,
    "all": REDUCTION,
    "argmin": REDUCTION,
    "argmax": REDUCTION,
    "sort": {"axis", "kind", "stable"},
    "argsort": {"axis", "kind", "stable"},
    "cumsum": SCAN,
    "cumprod": SCAN,
    "unique": {"return_index", "return_inverse", "return_counts", "axis", "equal_nan", "sorted"},
    "histogram": HISTOGRAM,
    "histogram2d": HISTOGRAM,
    "histogramdd": HISTOGRAM,
    "bincount": {"weights", "minlength"},
    "diff": {"n", "axis", "prepend", "append"},
    "mean": {"axis", "dtype", "out", "keepdims", "where"},
    "var": VARIANCE,
    "std": VARIANCE,
    "count_nonzero": {"axis", "keepdims"},
    "nansum": REDUCTION,
    "nanprod": REDUCTION,
    "nanmin": REDUCTION,
    "nanmax": REDUCTION,
    "nanargmin": REDUCTION,
    "nanargmax": REDUCTION,
    "nancumsum": SCAN,
    "nancumprod": SCAN,
    "nanmean": {"axis", "dtype", "out", "keepdims", "where"},
    "nanvar": VARIANCE,
    "nanstd": VARIANCE,
    "median": MEDIAN,
    "nanmedian": MEDIAN,
    "quantile": QUANTILE,
    "nanquantile": QUANTILE,
    "percentile": QUANTILE,
    "nanpercentile": QUANTILE,
    "flatnonzero": set(),
    "digitize": {"right"},
    "searchsorted": {"side", "sorter"},
    "repeat": {"axis"},
    "partition": {"kth", "axis", "kind"},
    "argpartition": {"kth", "axis", "kind"},
    "lexsort": {"axis"},
    "take": {"axis", "out", "mode"},
    "take_along_axis": {"axis"},
    "put": {"mode"},
    "put_along_axis": {"axis"},
    "nonzero": set(),
    "where": {"x", "y"},
    "concatenate": {"axis", "out", "dtype", "casting"},
    "array_equal": {"equal_nan"},
    "isin": {"assume_unique", "invert", "kind"},
    "union1d": set(),
    "intersect1d": {"assume_unique", "return_indices"},
    "setdiff1d": {"assume_unique"},
    "setxor1d": {"assume_unique"},
}
ALIASES = {"amin": "min", "amax": "max"}
METHODS = {
    *("sum", "prod", "min", "max", "any", "all", "argmin", "argmax", "sort", "argsort"),
    *("cumsum", "cumprod", "searchsorted", "repeat", "take", "nonzero", "mean", "var", "std"),
    *("argpartition", "put"),
}
ARRAYS = {
    "digitize": 2,
    "searchsorted": 2,
    "quantile": 2,
    "nanquantile": 2,
    "percentile": 2,
    "nanpercentile": 2,
    "repeat": 2,
    "take": 2,
    "take_along_axis": 2,
    "put": 3,
    "put_along_axis": 3,
    "where": 3,
    "histogram2d": 2,
    "array_equal": 2,
    "isin": 2,
    "union1d": 2,
    "intersect1d": 2,
    "setdiff1d": 2,
    "setxor1d": 2,
}  # how many leading arguments are arrays; else 1
OF_ARRAYS = {"concatenate"}  # whose first argument is a sequence of arrays
ORDERED = {"sort", "argsort", "min", "max", "argmin", "argmax", "searchsorted"}
ORDERED |= {"median", "nanmedian", "histogram2d", "histogramdd"}
ORDERED |= {"partition", "argpartition", "lexsort", "nanmin", "nanmax", "nanargmin", "nanargmax"}
PLAIN = (np.ndarray, np.generic, list, tuple, int, float, complex, bool)
NUMPY = {name: getattr(np, name) for name in KEYWORDS}

reached = []  # the names of the functions of cubc that the running test has called


class StaysNumPys(Exception):
    """The call is one that cubc does not take; the message says why."""


# Functions that have no signature of their own.
UNSIGNED = {
    "bincount": lambda x, /, weights=None, minlength=0: None,
    "where": lambda condition, x=None, y=None, /: None,
    "lexsort": lambda keys, axis=-1: None,
    "concatenate": lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
}


def signature(name):
    return inspect.signature(UNSIGNED.get(name) or NUMPY[name])


SIGNATURES = {name: signature(name) for name in KEYWORDS}


def check_dtype(dtype):
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufc" or dtype.itemsize > 8 << (dtype.kind == "c"):
        raise StaysNumPys(f"items of {dtype}")
    if not dtype.isnative:
        raise StaysNumPys("another byte order")


def check_array(x):
    if not isinstance(x, PLAIN) or (isinstance(x, np.ndarray) and type(x) is not np.ndarray):
        raise StaysNumPys(f"a {type(x).__name__}")
    try:
        dtype = np.asarray(x).dtype
    except (TypeError, ValueError) as error:
        raise StaysNumPys("ragged lists") from error
    check_dtype(dtype)
    return dtype


def is_default(value, default):
    return value is default or (isinstance(value, bool | int | str) and value == default)


def check_keyword(name, value):
    """The keyword as cubc takes it."""
    if name == "initial" and value is None:
        raise StaysNumPys("initial=None")
    if name == "dtype":
        check_dtype(value)
    if name == "where":
        check_array(value)
    if name == "out":
        value = value[0] if isinstance(value, tuple) else value
        if type(value) is not np.ndarray:
            raise StaysNumPys("out= of another type")
        check_dtype(value.dtype)
    if name in ("bins", "weights"):  # bins of several axes are a list of numbers and arrays
        for one in value if isinstance(value, list | tuple) else [value]:
            if np.ndim(one):
                check_array(one)
    return value


def cubc_arguments(name, args, kwargs):
    """The positional and keyword arguments for cubc; StaysNumPys, or NumPy's own TypeError."""
    bound = SIGNATURES[name].bind(*args, **kwargs).arguments
    arrays = [bound.pop(key) for key in list(bound)[: ARRAYS.get(name, 1)]]
    dtypes = [check_array(array) for array in (arrays[0] if name in OF_ARRAYS else arrays)]
    if name in ORDERED and np.result_type(*dtypes).kind == "c":
        raise StaysNumPys("an order of complex numbers")
    options = {}
    for key, value in bound.items():
        default = SIGNATURES[name].parameters[key].default
        if is_default(value, default):
            continue
        if key not in KEYWORDS[name]:
            raise StaysNumPys(f"{key}=")
        options[key] = check_keyword(key, value)
    return arrays, options


def call(name, *args, **kwargs):
    """NumPy's function `name`, answered by cubc where that takes the call."""
    try:
        arrays, options = cubc_arguments(name, args, kwargs)
    except (StaysNumPys, TypeError):
        return NUMPY[name](*args, **kwargs)
    reached.append(name)
    return getattr(cubc, name)(*arrays, **options)


def method(name, array, *args, **kwargs):
    """The method `name` of an array, answered by cubc; of any other object its own method."""
    if type(array) is not np.ndarray:
        return getattr(array, name)(*args, **kwargs)
    if name != "sort":
        return call(name, array, *args, **kwargs)
    try:
        arrays, options = cubc_arguments(name, (array, *args), kwargs)
    except (StaysNumPys, TypeError):
        return array.sort(*args, **kwargs)
    reached.append(name)
    array[...] = cubc.sort(*arrays, **options)
    return None


class Functions(dict):
    """Stand-ins for NumPy's functions, by name; a test that only names one finds it callable."""

    def __missing__(self, name):
        def stand_in(*args, **kwargs):
            return call(name, *args, **kwargs)

        stand_in.__name__ = name
        self[name] = stand_in
        return stand_in


functions = Functions()
