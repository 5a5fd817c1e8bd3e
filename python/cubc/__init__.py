"""GPU primitives that tune themselves, on NumPy, CuPy, PyTorch and cubc arrays.

>>> import numpy as np, cubc
>>> cubc.reduce(np.arange(10.0))
np.float64(45.0)

Calls with NumPy arrays run on the default device: the first CUDA device, else the CPU.
``device=``, ``cubc.device`` and the environment variable ``CUBC_DEVICE`` choose another.
``cubc.tuner`` searches for the fastest variant of a call, and ``use_policies`` applies it.
"""

from . import _command  # noqa: F401 - it mends the path that all others are found on

# isort: split
import importlib as _importlib
import os as _os
import typing as _typing
import warnings as _warnings

from . import _core
from ._autotune import autotune
from ._autotune import from_variable as _tune_by_variable
from ._bind import bind
from ._bundle import use_bundle
from ._calls import named as _named
from ._comparing import array_equal, count_if, is_sorted, mismatch
from ._concatenate import concatenate
from ._copies import copy_batch
from ._core import (
    Array,
    CompileError,
    DeviceError,
    DeviceMemoryError,
    KernelFault,
    Lazy,
    NoDeviceError,
    ResourceError,
    StoreError,
    __version__,
    asarray,
    devices,
    empty,
    reduce,
    transform,
)
from ._device import device, device_info, synchronize
from ._environment import is_on as _is_on
from ._find import find_if
from ._first_call import drop as _drop_late
from ._for_each import for_each
from ._histogramdd import histogram2d, histogramdd
from ._histograms import bincount, histogram, histogram_channels
from ._indexing import nonzero, where
from ._interface import ffi, get_include, get_library
from ._kernel import Kernel
from ._lazy import lazy
from ._methods import install as _install_methods
from ._nanfunctions import (
    nanargmax,
    nanargmin,
    nancumprod,
    nancumsum,
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
)
from ._numpy import adjacent_difference, cumprod, cumsum, diff
from ._ordered import digitize, merge, merge_sort, searchsorted
from ._partitions import argpartition, partition
from ._quantiles import (
    median,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    quantile,
)
from ._reductions import all, any, argmax, argmin, max, min, prod, sum
from ._runs import (
    nontrivial_runs,
    reduce_by_key,
    repeat,
    run_length_encode,
    scan_by_key,
    unique_by_key,
)
from ._scans import scan
from ._scatter import put, put_along_axis, scatter
from ._segmented_sorts import (
    segmented_argsort,
    segmented_sort,
    segmented_sort_pairs,
    segmented_topk,
)
from ._segments import segmented_reduce, segmented_scan
from ._selections import flatnonzero, partition_if, select, unique_consecutive
from ._sets import (
    intersect1d,
    isin,
    setdiff1d,
    setxor1d,
    union1d,
)
from ._shuffle import permutation, shuffle
from ._sorting import argsort, lexsort, sort, sort_pairs
from ._statistics import count_nonzero, mean, std, var
from ._take import take, take_along_axis
from ._topk import topk
from ._trace import trace
from ._unique import unique

__all__ = [
    "Array",
    "CompileError",
    "DeviceError",
    "DeviceMemoryError",
    "Kernel",
    "KernelFault",
    "Lazy",
    "NoDeviceError",
    "ResourceError",
    "StoreError",
    "__version__",
    "adjacent_difference",
    "all",
    "any",
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "array_equal",
    "asarray",
    "autotune",
    "bincount",
    "bind",
    "clear_policies",
    "concatenate",
    "copy_batch",
    "count_if",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "device",
    "device_info",
    "devices",
    "diff",
    "digitize",
    "empty",
    "ffi",
    "find_if",
    "flatnonzero",
    "for_each",
    "get_include",
    "get_library",
    "histogram",
    "histogram2d",
    "histogram_channels",
    "histogramdd",
    "intersect1d",
    "is_sorted",
    "isin",
    "lazy",
    "lexsort",
    "max",
    "mean",
    "median",
    "merge",
    "merge_sort",
    "min",
    "mismatch",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
    "nontrivial_runs",
    "nonzero",
    "partition",
    "partition_if",
    "percentile",
    "permutation",
    "prod",
    "put",
    "put_along_axis",
    "quantile",
    "reduce",
    "reduce_by_key",
    "repeat",
    "run_length_encode",
    "scan",
    "scan_by_key",
    "scatter",
    "searchsorted",
    "segmented_argsort",
    "segmented_reduce",
    "segmented_scan",
    "segmented_sort",
    "segmented_sort_pairs",
    "segmented_topk",
    "select",
    "setdiff1d",
    "setxor1d",
    "shuffle",
    "sort",
    "sort_pairs",
    "std",
    "sum",
    "synchronize",
    "take",
    "take_along_axis",
    "topk",
    "trace",
    "transform",
    "union1d",
    "unique",
    "unique_by_key",
    "unique_consecutive",
    "use_bundle",
    "use_policies",
    "var",
    "where",
]

_install_methods()

_SUBPACKAGES = "array_api", "lattice", "tuner"

if _typing.TYPE_CHECKING:
    from . import array_api, lattice, tuner  # noqa: F401
else:  # an import of cubc alone does without them

    def __getattr__(name):
        if name not in _SUBPACKAGES:
            raise AttributeError(f"module 'cubc' has no attribute '{name}'")
        return _importlib.import_module(f"cubc.{name}")

    def __dir__():
        return sorted({*globals(), *_SUBPACKAGES})


@_named
def use_policies(*stores):
    """Apply the policies of stores: the next calls of this process run what was found FASTER.

    For each architecture, benchmark, compile-time and run-time workload the best variant with the
    verdict FASTER is taken. It runs in calls that are up to two octaves (a factor of 4) away on
    each run-time axis, such as the number of elements, and have the same shipped policy; of several
    the nearest. Axes of keys (``Distinct``, ...) are none of calls: a variant that was found with
    such keys runs whatever a call's keys are. All other calls run what they did, and so
    do those nearest to a workload where base stayed. A search at several workloads looks for
    variants that are good on average, and each workload gets the best of these: for the best
    variant of one workload, search there alone.

    Variants that look faster and were not measured again, as by a search with ``confirm=0``, are no
    policies; a warning says how to confirm them. Measurements of another version of the kernel
    source are skipped with a warning.

    Parameters
    ----------
    *stores : str or os.PathLike
        Stores of `tuner.search` or glob patterns of them, or files of policies, which
        `Analysis.save_policies` and ``cubc policy -o`` write; the last one wins where several know
        a workload.

    Returns
    -------
    int
        Number of policies that came into force.

    Raises
    ------
    FileNotFoundError
        If a path names no store.
    StoreError
        If a file is no store, or of a newer version; if a row is malformed or its variant lies
        outside the declared ranges (the message has its number and store). Then nothing changes.

    Examples
    --------
    >>> cubc.use_policies("my.db")  # of `tuner.search`  # doctest: +SKIP
    4
    >>> cubc.clear_policies()
    """
    from .tuner._policies import apply

    return apply(stores)


def clear_policies():
    """Drop all policies of `use_policies`: calls run the shipped ones again.

    Examples
    --------
    >>> cubc.clear_policies()
    """
    _drop_late()
    _core.clear_policies()


if _os.environ.get("CUBC_POLICIES", "").strip(_os.pathsep):
    try:
        from .tuner._policies import from_variable as _policies_by_variable

        _policies_by_variable(list(filter(None, _os.environ["CUBC_POLICIES"].split(_os.pathsep))))
    except (OSError, StoreError, ValueError) as error:
        # A program must not die of a stale variable in its environment.
        _warnings.warn(f"CUBC_POLICIES is ignored: {error}", stacklevel=2)

try:
    if _is_on("CUBC_TRACE"):
        trace()
except (ModuleNotFoundError, ValueError) as error:
    _warnings.warn(f"CUBC_TRACE is ignored: {error}", stacklevel=2)

if _os.environ.get("CUBC_TUNE"):
    try:
        _tune_by_variable(_os.environ["CUBC_TUNE"])
    except ValueError as error:
        _warnings.warn(f"CUBC_TUNE is ignored: {error}", stacklevel=2)

if _os.environ.get("CUBC_RECORD"):
    try:
        from .tuner._recording import from_variable as _record_by_variable

        _record_by_variable(_os.environ["CUBC_RECORD"])
    except (OSError, StoreError, ValueError) as error:
        _warnings.warn(f"CUBC_RECORD is ignored: {error}", stacklevel=2)
