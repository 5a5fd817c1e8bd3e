"""Arguments that are no array, number or place for results are refused in words that help."""

import inspect

import numpy as np
import pytest

import cubc

X = np.arange(8, dtype="i4")
CPU = {"device": "cpu"}
STRUCTS = np.zeros(8, "i4,f4")
FOREIGN = np.zeros(8, "M8[s]")


def unaligned(array):
    """The same items an odd number of bytes into their memory."""
    memory = np.zeros(array.nbytes + 1, "u1")
    memory[1:] = array.view("u1")
    return memory[1:].view(array.dtype)


@pytest.mark.parametrize(
    "x",
    [None, {"a": 1}, {1, 2}, iter([1, 2]), object()],
    ids=["None", "dict", "set", "iterator", "object"],
)
def test_no_array(x):
    for call in (cubc.sum, cubc.scan, cubc.asarray, lambda x, **o: cubc.transform("x", x=x, **o)):
        with pytest.raises(TypeError, match="is no array of numbers: pass an array, a list or"):
            call(x, **CPU)


@pytest.mark.parametrize(
    "call",
    [
        cubc.sort,
        cubc.histogram,
        cubc.run_length_encode,
        lambda x, **o: cubc.find_if(x, "x > 1", **o),
        lambda x, **o: cubc.scan_by_key(x, X, **o),
        lambda x, **o: cubc.reduce_by_key(X, x, **o),
        lambda x, **o: cubc.searchsorted(X, x, **o),
        lambda x, **o: cubc.segmented_sort(x, segment_size=2, **o),
        lambda x, **o: cubc.sort(x, axis=0, **o),
    ],
)
def test_no_input(call):
    """To the core None stands for an input that there is not; a scan by no keys would be a scan."""
    with pytest.raises(TypeError, match=r"\w+\(\) needs \w+, which is None"):
        call(None, **CPU)
    for x in ({"a": 1}, {1, 2}, iter([1, 2])):
        with pytest.raises(TypeError, match=r"no array of numbers|the dtype object"):
            call(x, **CPU)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: cubc.topk(X, 2.5, **CPU), TypeError, r"topk\(\): k is 2.5: expected an int"),
        (lambda: cubc.topk(X, 2**70, **CPU), ValueError, "k is 1180591620717411303424, which is"),
        (lambda: cubc.bincount(X, minlength="2", **CPU), TypeError, "minlength is '2': expected"),
        (
            lambda: cubc.segmented_sort(X, segment_size=float("nan"), **CPU),
            TypeError,
            "segment_size is nan: expected an int",
        ),
        (lambda: cubc.histogram(X, 4, 5, **CPU), ValueError, "range is 5: expected"),
        (lambda: cubc.histogram(X, 4, (1, 2, 3), **CPU), ValueError, r"range is \(1, 2, 3\)"),
        (lambda: cubc.histogram(FOREIGN, 4, **CPU), TypeError, r"the dtype datetime64\[s\]"),
        (
            lambda: cubc.histogram_channels(X.reshape(4, 2), 4, [(0, 4)], **CPU),
            TypeError,
            "bins are 4: expected a list",
        ),
        (
            lambda: cubc.reduce_by_key(X, FOREIGN, **CPU),
            TypeError,
            "the array has the dtype datetime64.*convert it",
        ),
        (
            lambda: cubc.segmented_scan(X, segment_size=2, out=np.zeros(8, ">i4"), **CPU),
            TypeError,
            "out has the dtype big-endian int32.*convert it",
        ),
        (
            lambda: cubc.segmented_reduce(X, segment_size=2, out=[0] * 4, **CPU),
            TypeError,
            "out must be an array",
        ),
        (lambda: cubc.scan_by_key(X, X, out=3, **CPU), TypeError, "out must be an array"),
        (
            lambda: cubc.bind(cubc.sort, X, out=unaligned(X), **CPU),
            ValueError,
            "not aligned to 4 bytes, as its 4-byte items are: pass a copy",
        ),
        (
            lambda: cubc.merge(X, X.reshape(2, 4), **CPU),
            ValueError,
            r"takes arrays of one dimension, not of the shape \(2, 4\)",
        ),
        (lambda: cubc.sort(X, descending="yes", **CPU), TypeError, "descending is 'yes': expected"),
        (
            lambda: cubc.sort(X.reshape(2, 4), descending=2, **CPU),
            TypeError,
            "descending is 2: expected a bool",
        ),
        (lambda: cubc.permutation(5, seed=1.5, **CPU), TypeError, "seed is 1.5: expected an int"),
        (lambda: cubc.permutation(5, seed=-1, **CPU), ValueError, "seed is -1: expected one from"),
        (
            lambda: cubc.sort(X, out=X.astype("f8"), **CPU),
            TypeError,
            rf"^sort\(\): out has float64, expected {X.dtype}$",
        ),
        (lambda: cubc.nanmax(1j * X, **CPU), TypeError, "^nanmax needs an order, which complex"),
        (
            lambda: cubc.is_sorted(1j * X, **CPU),
            TypeError,
            "are complex numbers, which have n",
        ),
        (
            lambda: cubc.is_sorted(STRUCTS, **CPU),
            TypeError,
            "are structs, which have no order",
        ),
        (lambda: cubc.histogram2d(1j * X, X, **CPU), TypeError, "points are complex numbers, and"),
        (
            lambda: cubc.histogramdd([X, STRUCTS], **CPU),
            TypeError,
            "the points are structs, and",
        ),
        (
            lambda: cubc.diff(STRUCTS, **CPU),
            TypeError,
            "structs, which have no difference",
        ),
        (
            lambda: cubc.adjacent_difference(STRUCTS, **CPU),
            TypeError,
            "have no difference: give",
        ),
        (lambda: cubc.count_nonzero(STRUCTS, **CPU), TypeError, "neither 0 nor not: count_if"),
        (
            lambda: cubc.where(STRUCTS, X, X, **CPU),
            TypeError,
            "conditions are structs, which",
        ),
        (
            lambda: cubc.put(STRUCTS.copy(), [0], 1, **CPU),
            TypeError,
            "values of int64 do not go",
        ),
        (lambda: cubc.scatter(X, X, STRUCTS, **CPU), TypeError, r"values of .*do not go into"),
        (
            lambda: cubc.argsort(X, out=X.astype("u2"), **CPU),
            TypeError,
            r"^argsort\(\): out has uint16, expected int64$",
        ),
    ],
)
def test_words(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_what_is_not_aligned_is_copied(device):
    x = unaligned(X)
    assert not x.flags.aligned
    assert int(cubc.sum(x, device=device)) == 28
    np.testing.assert_array_equal(cubc.sort(x, device=device), X)
    np.testing.assert_array_equal(np.asarray(cubc.asarray(x, device=device)), X)
    assert cubc.sort(-X, out=x, device=device) is x
    np.testing.assert_array_equal(x, np.sort(-X))
    cubc.put(x, [0], [9], device=device)
    assert x[0] == 9
    cubc.shuffle(x, device=device)
    np.testing.assert_array_equal(np.sort(x), np.sort([9, *np.sort(-X)[1:]]))


def test_integers_of_numpy():
    sums = cubc.segmented_reduce(X, segment_size=np.int64(4), **CPU)
    np.testing.assert_array_equal(sums, [6, 22])
    assert cubc.topk(X, np.uint8(1), **CPU)[0] == 7


def flags():
    """Functions and their arguments that are bools."""
    for name in cubc.__all__:
        call = getattr(cubc, name)
        if isinstance(call, type) or not callable(call):
            continue
        for parameter in inspect.signature(call).parameters.values():
            is_flag = isinstance(parameter.default, bool) and parameter.name not in ("where", "on")
            if is_flag or parameter.name in ("keepdims", "density"):
                yield name, parameter.name


@pytest.mark.parametrize(("name", "flag"), list(flags()))
def test_a_text_is_no_truth(name, flag):
    """It would be True, whatever it says."""
    with pytest.raises(TypeError, match=rf"^{name}\(\): {flag} is 'no': expected a bool"):
        getattr(cubc, name)(X, **{flag: "no"})
