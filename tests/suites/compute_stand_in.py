"""A module that stands in for cuda.compute in its own tests, over cubc: its algorithms.

Arrays are in host memory (compute_arrays), and the device is the cpu; compute_iterators has the
rest.
"""

import functools
import sys
import types

import numpy as np

import cubc

from . import numpy_routes
from .compute_iterators import (
    CacheModifiedInputIterator,
    ConstantIterator,
    CountingIterator,
    Determinism,
    DiscardIterator,
    DoubleBuffer,
    OpKind,
    PermutationIterator,
    ReverseIterator,
    SortOrder,
    TransformIterator,
    TransformOutputIterator,
    ZipIterator,
    alone,
    computed,
    copied,
    first_of,
    gpu_struct,
    items,
    operator,
    stored,
)


# ---- algorithms ----------------------------------------------------------------------------------
def reduce_into(d_in, d_out, op, num_items, h_init=None, stream=None, determinism=None, **more):
    x, first = items(d_in, num_items), first_of(h_init)
    of = None if first is None else first.dtype
    exact = determinism is Determinism.GPU_TO_GPU

    def call(out):
        made = cubc.reduce(x, operator(op), init=first, dtype=of, deterministic=exact)
        made = np.asarray(made).reshape(1)
        return made if out is None else computed("x", out, x=made)

    stored(d_out, call, 1)


def scan(inclusive, d_in, d_out, op, init_value, num_items, stream=None):
    x, first = items(d_in, num_items), first_of(init_value)

    def call(out):
        dtype = None if out is not None or first is None else first.dtype
        return cubc.scan(x, operator(op), inclusive=inclusive, init=first, out=out, dtype=dtype)

    stored(d_out, call, num_items)


def inclusive_scan(d_in, d_out, op, init_value, num_items, stream=None):
    scan(True, d_in, d_out, op, init_value, num_items)


def exclusive_scan(d_in, d_out, op, init_value, num_items, stream=None):
    scan(False, d_in, d_out, op, init_value, num_items)


def unary_transform(d_in, d_out, op, num_items, stream=None):
    text = alone(op)
    name = "a" if isinstance(text, str) else text.__code__.co_varnames[0]
    x = items(d_in, num_items)
    stored(d_out, lambda out: computed(text, out, **{name: x}), num_items)


def binary_transform(d_in1, d_in2, d_out, op, num_items, stream=None):
    text = alone(op)
    names = ("a", "b") if isinstance(text, str) else text.__code__.co_varnames[:2]
    given = dict(zip(names, (items(one, num_items) for one in (d_in1, d_in2)), strict=True))
    stored(d_out, lambda out: computed(text, out, **given), num_items)


def select(d_in, d_out, d_num_selected_out, cond, num_items, stream=None):
    made = cubc.select(items(d_in, num_items), cond)
    copied(d_out, made)
    d_num_selected_out[0] = len(made)


def three_way_partition(
    d_in,
    d_first_part_out,
    d_second_part_out,
    d_unselected_out,
    d_num_selected_out,
    select_first_part_op,
    select_second_part_op,
    num_items,
    stream=None,
):
    x = items(d_in, num_items)
    made = cubc.partition_if(x, select_first_part_op, select_second_part_op)
    for to, part in zip((d_first_part_out, d_second_part_out, d_unselected_out), made, strict=True):
        copied(to, part)
    d_num_selected_out[:2] = [len(part) for part in made[:2]]


def unique_by_key(
    d_in_keys, d_in_items, d_out_keys, d_out_items, d_out_num_selected, op, num_items, stream=None
):
    keys, equal = items(d_in_keys, num_items), operator(op)
    if isinstance(d_in_items, DiscardIterator):
        made = (cubc.unique_consecutive(keys, equal=equal),)
    else:
        made = cubc.unique_by_key(keys, items(d_in_items, num_items), equal=equal)
    for to, one in zip((d_out_keys, d_out_items), made, strict=False):
        copied(to, one)
    d_out_num_selected[0] = len(made[0])


def merge_sort(d_in_keys, d_in_items, d_out_keys, d_out_items, op, num_items, stream=None):
    values = None if d_in_items is None else items(d_in_items, num_items)
    made = cubc.merge_sort(items(d_in_keys, num_items), operator(op), values=values)
    for to, one in zip(
        (d_out_keys, d_out_items), (made,) if values is None else made, strict=False
    ):
        copied(to, one)


def buffers(given, to):
    """Array that is read and the one that is written, of a pair or of a double buffer."""
    if not isinstance(given, DoubleBuffer):
        return given, to
    read, written = given.current(), given.alternate()
    given.selector = 1 - given.selector
    return read, written


def radix_sort(
    d_in_keys,
    d_out_keys,
    d_in_values,
    d_out_values,
    order,
    num_items,
    begin_bit=None,
    end_bit=None,
    stream=None,
):
    d_in_keys, d_out_keys = buffers(d_in_keys, d_out_keys)
    d_in_values, d_out_values = buffers(d_in_values, d_out_values)
    options = {"descending": order is SortOrder.DESCENDING, "begin_bit": begin_bit or 0}
    options["end_bit"] = end_bit
    keys = items(d_in_keys, num_items)
    if d_in_values is None:
        copied(d_out_keys, cubc.sort(keys, **options))
        return
    for to, one in zip(
        (d_out_keys, d_out_values),
        cubc.sort_pairs(keys, items(d_in_values, num_items), **options),
        strict=True,
    ):
        copied(to, one)


def segmented_reduce(
    d_in,
    d_out,
    start_offsets_in,
    end_offsets_in,
    op,
    h_init,
    num_segments,
    stream=None,
    max_segment_size=None,
):
    begin, end = (offsets(one, num_segments) for one in (start_offsets_in, end_offsets_in))
    x = items(d_in, int(end.max(initial=0)))

    def call(out):
        options = {"ends": end, "init": first_of(h_init), "out": out}
        return cubc.segmented_reduce(x, begin, operator(op), **options)

    stored(d_out, call, num_segments)


def offsets(given, count):
    """Offsets as an array of int64."""
    return np.asarray(cubc.transform("convert<i64>(o)", o=items(given, count), dtype="i8"))


def number(x):
    return np.asarray(x).reshape(-1)[0]


def histogram_even(
    d_samples, d_histogram, num_output_levels, lower_level, upper_level, num_samples, stream=None
):
    """One more bin takes what is at the upper level, which is the last bin's for cubc."""
    bins = int(number(num_output_levels)) - 1
    low, high = (float(number(x)) for x in (lower_level, upper_level))
    span = (low, high + (high - low) / bins)
    counts, _ = cubc.histogram(items(d_samples, num_samples), bins + 1, span)
    copied(d_histogram, counts[:bins])


def bound(side, d_data, d_values, d_out, num_items, num_values, comp=None, stream=None):
    less = None if comp is None else operator(comp)
    found = cubc.searchsorted(
        items(d_data, num_items), items(d_values, num_values), side, less=less
    )
    copied(d_out, found)


def lower_bound(d_data, d_values, d_out, num_items, num_values, comp=None, stream=None):
    bound("left", d_data, d_values, d_out, num_items, num_values, comp)


def upper_bound(d_data, d_values, d_out, num_items, num_values, comp=None, stream=None):
    bound("right", d_data, d_values, d_out, num_items, num_values, comp)


# ---- the module ----------------------------------------------------------------------------------
ALGORITHMS = (
    *(reduce_into, inclusive_scan, exclusive_scan, unary_transform, binary_transform, select),
    *(three_way_partition, unique_by_key, merge_sort, radix_sort, segmented_reduce),
    *(histogram_even, lower_bound, upper_bound),
)
OTHERS = (
    *(OpKind, Determinism, SortOrder, gpu_struct, DoubleBuffer, CountingIterator),
    *(ConstantIterator, CacheModifiedInputIterator, ReverseIterator, PermutationIterator),
    *(TransformIterator, ZipIterator, TransformOutputIterator, DiscardIterator),
)


def noted(function):
    """A function that says that it was reached."""

    @functools.wraps(function)
    def call(*args, **options):
        numpy_routes.reached.append(function.__name__)
        return function(*args, **options)

    return call


def maker(function):
    """The object of an algorithm: called without temporary storage it tells how much it needs."""

    def call(temp_storage, *args, **options):
        return 1 if temp_storage is None else function(*args, **options)

    return lambda *args, **options: call


def install():
    """Make `import cuda.compute` find the stand-in."""
    cuda, compute = types.ModuleType("cuda"), types.ModuleType("cuda.compute")
    interop = types.ModuleType("cuda.compute._cccl_interop")
    interop._check_sass = False
    cuda.__path__ = compute.__path__ = []
    cuda.compute, compute._cccl_interop = compute, interop
    for function in map(noted, ALGORITHMS):
        setattr(compute, function.__name__, function)
        setattr(compute, f"make_{function.__name__}", maker(function))
    for one in OTHERS:
        setattr(compute, one.__name__, one)
    compute.clear_all_caches = lambda: None
    iterators = types.ModuleType("cuda.compute.iterators")
    vars(iterators).update({one.__name__: one for one in OTHERS})
    for module in (cuda, compute, interop, iterators):
        sys.modules[module.__name__] = module
