"""An error names the function that was called, not one that it calls, nor an algorithm inside."""

import re

import numpy as np
import pytest

import cubc
import cubc.lattice
import cubc.tuner
from cubc._calls import name_function

X = np.arange(12, dtype="i4")


def unit_field():
    return cubc.lattice.Gauge.unit((2, 2, 2, 2), device="cpu")


FOREIGN = np.zeros(12, "M8[s]")
STRIDED = np.zeros(40)[::2]  # no place for results
CPU = {"device": "cpu"}
EXAMPLE = cubc.tuner.example_db()
SCAN = cubc.tuner.analyze(EXAMPLE, "scan")

SHARES = [name for name in cubc.__all__ if name.endswith(("quantile", "percentile"))]
STATISTICS = ["mean", "var", "std", "count_nonzero", "median"]
STATISTICS += [name for name in cubc.__all__ if name.startswith("nan") and name not in SHARES]

SETS = ["isin", "intersect1d", "union1d", "setdiff1d", "setxor1d", "array_equal", "mismatch"]

# Each function with `x` as its array, and its options.
CALLS = {
    **{name: getattr(cubc, name) for name in ("sum", "prod", "min", "max", "argmin", "argmax")},
    **{name: getattr(cubc, name) for name in ("any", "all", "reduce", "scan", "cumsum", "cumprod")},
    **{name: getattr(cubc, name) for name in ("diff", "sort", "argsort", "merge_sort")},
    "adjacent_difference": cubc.adjacent_difference,
    **{name: getattr(cubc, name) for name in ("bincount", "flatnonzero", "unique_consecutive")},
    "unique": cubc.unique,
    **{name: getattr(cubc, name) for name in STATISTICS},
    **{name: lambda x, n=name, **o: getattr(cubc, n)(x, 0.5, **o) for name in SHARES},
    "digitize": lambda x, **o: cubc.digitize(x, X, **o),
    "histogram": cubc.histogram,
    "histogram_channels": lambda x, **o: cubc.histogram_channels(
        x.reshape(-1, 2), [4, 4], [(0, 9), (0, 9)], **o
    ),
    "transform": lambda x, **o: cubc.transform("2 * x", x=x, **o),
    "select": lambda x, **o: cubc.select(x, "x > 3", **o),
    "partition_if": lambda x, **o: cubc.partition_if(x, "x > 3", **o),
    "find_if": lambda x, **o: cubc.find_if(x, "x > 3", **o),
    "topk": lambda x, **o: cubc.topk(x, 3, **o),
    "searchsorted": lambda x, **o: cubc.searchsorted(x, X, **o),
    "merge": lambda x, **o: cubc.merge(x, x, **o),
    "sort_pairs": lambda x, **o: cubc.sort_pairs(x, X, **o),
    "reduce_by_key": lambda x, **o: cubc.reduce_by_key(x, X, **o),
    "scan_by_key": lambda x, **o: cubc.scan_by_key(x, X, **o),
    "unique_by_key": lambda x, **o: cubc.unique_by_key(x, X, **o),
    "run_length_encode": cubc.run_length_encode,
    "nontrivial_runs": cubc.nontrivial_runs,
    "repeat": lambda x, **o: cubc.repeat(x, np.full(12, 2), **o),
    "segmented_reduce": lambda x, **o: cubc.segmented_reduce(x, segment_size=3, **o),
    "segmented_scan": lambda x, **o: cubc.segmented_scan(x, segment_size=3, **o),
    "segmented_sort": lambda x, **o: cubc.segmented_sort(x, segment_size=3, **o),
    "segmented_argsort": lambda x, **o: cubc.segmented_argsort(x, segment_size=3, **o),
    "segmented_sort_pairs": lambda x, **o: cubc.segmented_sort_pairs(x, X, segment_size=3, **o),
    "segmented_topk": lambda x, **o: cubc.segmented_topk(x, 2, segment_size=3, **o),
    "take": lambda x, **o: cubc.take(x, X, **o),
    "take_along_axis": lambda x, **o: cubc.take_along_axis(x, X, **o),
    "scatter": lambda x, **o: cubc.scatter(x, X, 0, **o),
    "put": lambda x, **o: cubc.put(x, X, 0, **o),
    "put_along_axis": lambda x, **o: cubc.put_along_axis(x, X, 0, 0, **o),
    "where": lambda x, **o: cubc.where(X > 3, x, x, **o),
    "nonzero": cubc.nonzero,
    "lexsort": lambda x, **o: cubc.lexsort([x, x], **o),
    "partition": lambda x, **o: cubc.partition(x, 3, **o),
    "argpartition": lambda x, **o: cubc.argpartition(x, 3, **o),
    "lazy": lambda x, **o: cubc.lazy("2 * x", x=x),
    **{name: lambda x, n=name, **o: getattr(cubc, n)(x, x, **o) for name in SETS},
    "permutation": cubc.permutation,
    "shuffle": cubc.shuffle,
    "is_sorted": cubc.is_sorted,
    "count_if": lambda x, **o: cubc.count_if(x, "x > 3", **o),
    "histogram2d": lambda x, **o: cubc.histogram2d(x, x, **o),
    "histogramdd": lambda x, **o: cubc.histogramdd([x, x], **o),
}
PAIRS = {"topk", "sort_pairs", "reduce_by_key", "unique_by_key", "run_length_encode"} | {
    "nontrivial_runs",
    "segmented_sort_pairs",
    "segmented_topk",
}
NO_OUT = {
    "digitize",
    "lazy",
    "unique",
    "partition_if",
    "take_along_axis",
    "put",
    "put_along_axis",
    "where",
    "nonzero",
    "lexsort",
    "count_nonzero",
    *SETS,
    "permutation",
    "shuffle",
    "is_sorted",
    "count_if",
    "histogram2d",
    "histogramdd",
}
# No array goes in, or they have tests of their own.
OTHERS = {
    "asarray",
    "autotune",
    "bind",
    "clear_policies",
    "concatenate",
    "copy_batch",
    "device",
    "device_info",
    "devices",
}
OTHERS |= {"empty", "ffi", "for_each", "get_include", "get_library", "synchronize", "trace"}
OTHERS |= {"use_bundle", "use_policies"}


def refused(name, x, **options):
    with pytest.raises((TypeError, ValueError)) as caught:
        CALLS[name](x, **options, **CPU)
    text = str(caught.value)
    stem = name.removesuffix("_channels")  # histograms share checks
    assert re.search(rf"\b{name}\b|\ba {stem}\b", text), text
    # Another function may be advice ("cubc.asarray(x)"), but not the one that complains.
    others = {other for other in (*CALLS, "runs", "axis_reduce") if other != name}
    wrong = rf"(?<!cubc\.)\b({'|'.join(others)})\(\)|\bof ({'|'.join(others - {'all'})})\b"
    assert not re.search(wrong, text), text


def test_every_function_is_here():
    functions = {name for name in cubc.__all__ if name.islower()} - {"__version__"}
    assert functions - OTHERS == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_an_array_of_another_dtype(name):
    refused(name, FOREIGN)


@pytest.mark.parametrize("name", sorted(CALLS.keys() - NO_OUT))
@pytest.mark.parametrize("out", [STRIDED, np.zeros((2, 3, 2, 7)), np.zeros(97, "c16")])
def test_an_output_that_does_not_fit(name, out):
    refused(name, X, out=(out, out) if name in PAIRS else out)


@pytest.mark.parametrize(
    ("name", "call", "words"),
    [
        ("reduce_by_key", lambda: cubc.reduce_by_key(X, X[:3], **CPU), "values of reduce_by_key"),
        ("sort_pairs", lambda: cubc.sort_pairs(X, X[:3], **CPU), "values of .* and keys 12"),
        ("scan_by_key", lambda: cubc.scan_by_key(X, X, op="argmax", **CPU), "does not take argmax"),
        ("scan_by_key", lambda: cubc.scan_by_key(X, X[:3], **CPU), "of scan_by_key has"),
        ("argsort", lambda: cubc.argsort(X * 1j, end_bit=3, **CPU), "complex numbers"),
        ("argsort", lambda: cubc.argsort(X.reshape(3, 4), end_bit=3, **CPU), "one dimension"),
        ("cumsum", lambda: cubc.cumsum(X, out=np.zeros(3), **CPU), r"cumsum\(\): out has"),
        ("sum", lambda: cubc.sum(X, op="max", **CPU), r"sum\(\) got 'op' twice"),
        ("sum", lambda: cubc.sum(X, axis=3, **CPU), r"sum\(\): axis 3 is"),
        ("bincount", lambda: cubc.bincount(X, out=np.zeros(2, "i8"), **CPU), "bincount"),
        ("reduce", lambda: cubc.reduce(X, ["sum", 3], **CPU), r"^reduce\(\): an operator"),
    ],
)
def test_algorithms_that_functions_share(name, call, words):
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        call()
    assert re.search(rf"\b{name}\b", str(caught.value))


WRONG = cubc.lazy("t[do]", do=X, t=X)  # a word of C++ cannot be an operand


@pytest.mark.parametrize("name", ["segmented_sort", "repeat", "merge_sort", "diff", "take"])
def test_an_error_of_a_call_within_another_names_the_outer_one_alone(name):
    """Their lazy input is evaluated by a call of its own."""
    with pytest.raises(ValueError, match=rf"^{name}\(\): 'do' cannot name an operand"):
        CALLS[name](WRONG, **CPU)


def test_an_expression_is_quoted_as_it_is():
    """It may have an operand with the name of a function."""
    with pytest.raises(
        cubc.CompileError, match=r"^merge_sort\(\): the expression 'transform \+ y'"
    ):
        cubc.merge_sort(cubc.lazy("transform + y", transform=X), **CPU)


def test_a_verb_is_no_function():
    """A message of `take`, which `repeat` calls, may say what to take."""
    error = ValueError("an axis, not None: take another")
    error.cubc_function = "take"
    name_function(error, "repeat")
    assert error.args == ("repeat(): an axis, not None: take another",)
    error = ValueError("the indices of take are F32")
    error.cubc_function = "take"
    name_function(error, "repeat")
    assert error.args == ("the indices of repeat are F32",)


# Refused in Python, before the core is called; also by NumPy, where it does the work.
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("sort", lambda: cubc.sort(X, axis=5, **CPU)),
        ("transform", lambda: cubc.transform("x + y", X, X, **CPU)),
        ("select", lambda: cubc.select(X, [True], axis=0, **CPU)),
        ("sort", lambda: cubc.sort(X, begin_bit=9, end_bit=3, **CPU)),
        ("histogram", lambda: cubc.histogram(X, bins=-1, **CPU)),
        ("histogram", lambda: cubc.histogram(X, bins=[3.0, 1.0], **CPU)),
        ("histogram", lambda: cubc.histogram(X, bins=3, range=(3,), **CPU)),
        ("bincount", lambda: cubc.bincount(X, minlength=-1, **CPU)),
        ("searchsorted", lambda: cubc.searchsorted(X, X, side="up", **CPU)),
        ("flatnonzero", lambda: cubc.flatnonzero("x > 2", **CPU)),
        ("partition_if", lambda: cubc.partition_if(X, X > 3, "x > 9", **CPU)),
        ("cumsum", lambda: cubc.cumsum(X, axis=3, **CPU)),
        ("asarray", lambda: cubc.asarray([object()], **CPU)),
        ("empty", lambda: cubc.empty(-3, **CPU)),
        ("autotune", lambda: cubc.autotune(seconds=-1)),
        ("Gauge", lambda: cubc.lattice.Gauge(np.ones(3))),
        ("random", lambda: cubc.lattice.Gauge.random((1, 2, 3))),
        ("quenched", lambda: cubc.lattice.quenched((4, 4, 4), 6.0)),
        ("point_source", lambda: cubc.lattice.point_source((2, 2, 2, 2), (9, 9, 9, 9))),
        ("wall_source", lambda: cubc.lattice.wall_source((2, 2, 2, 2), 9)),
        ("random_wall_source", lambda: cubc.lattice.random_wall_source((2, 2, 2, 2), 0, -1)),
        ("write_links", lambda: cubc.lattice.write_links("unwritten", np.ones(3))),
        ("Wilson", lambda: cubc.lattice.Wilson(3, kappa=0.1)),
        ("TwistedClover", lambda: cubc.lattice.TwistedClover(3, kappa=0.1, csw=1.0, mu=0.1)),
        ("TwistedDoublet", lambda: cubc.lattice.TwistedDoublet(3, kappa=0.1, mu=0.1, epsilon=0.1)),
        ("WilsonClover", lambda: cubc.lattice.WilsonClover(3, kappa=0.1, csw=1.0)),
        ("quenched", lambda: cubc.lattice.quenched((4, 4, 4, 4), -6, device="cpu")),
        ("Wilson.__call__", lambda: cubc.lattice.Wilson(unit_field(), kappa=0.1)(X * 1j)),
        ("concatenate", lambda: cubc.concatenate([])),
        ("concatenate", lambda: cubc.concatenate([np.ones(1, "f4,f4"), np.ones(1, "f4,f4,f4")])),
        ("nonzero", lambda: cubc.nonzero(np.array(5), **CPU)),
        ("sum", lambda: cubc.sum(np.ones(1, "f4,f4"), **CPU)),
    ],
)
def test_what_python_refuses(name, call):
    with pytest.raises((TypeError, ValueError), match=rf"^{name}\(\)(?::| takes)"):
        call()


@pytest.mark.parametrize("name", ["sort", "reduce", "sum", "cumsum", "asarray", "transform"])
def test_an_error_of_the_callers_own_stays_as_it_is(name):
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise ValueError(f"no {name} of data")

    call = cubc.asarray if name == "asarray" else CALLS[name]
    with pytest.raises(ValueError, match=rf"^no {name} of data$"):
        call(Broken(), **CPU)


@pytest.mark.parametrize("name", ["size", "dtype", "out", "stream", "device"])
@pytest.mark.parametrize("value", [X, X[:1], np.zeros(12), 3])
def test_an_operand_with_the_name_of_an_option(name, value):
    text = (
        f"'{name}' is an option of transform.*rename .*transform.'{name}_ . 2 . x.{name}', {name}_="
    )
    with pytest.raises(TypeError, match=text):
        cubc.transform(f"{name} * 2 + x.{name}", x=X, **{name: value})
    if name in ("size", "dtype"):
        with pytest.raises(TypeError, match=text.replace("transform", "lazy")):
            cubc.lazy(f"{name} * 2 + x.{name}", x=X, **{name: value})
    else:  # no options of lazy
        result = cubc.lazy(f"{name} * 2", **{name: X}).array(**CPU)
        np.testing.assert_array_equal(result, 2 * X)


def test_an_operand_of_a_function_with_the_name_of_an_option():
    text = r"'size' is an option of (transform|lazy)\(\).*rename .*\('?lambda x, size_: ..., size_="
    for call in (cubc.transform, cubc.lazy):
        with pytest.raises(TypeError, match=text):
            call(lambda x, size: x * size, x=X, size=X)
        with pytest.raises(TypeError, match=text):
            call(lambda x, size: x * size, x=X, size=3)
    for given in (X, 3):
        text = r"option of transform\(\).*transform\('size_ [*] 2', size_=...\)"
        with pytest.raises(TypeError, match=text):
            cubc.transform(["x", "size * 2"], x=X, size=given)


def test_an_option_that_is_no_operand():
    result = cubc.transform("2 * i", size=4, dtype="int32", **CPU)
    np.testing.assert_array_equal(result, [0, 2, 4, 6])
    with pytest.raises((TypeError, ValueError), match="size"):
        cubc.transform("2 * i", size=X, **CPU)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("effective_mass", [3.0]),
        ("fat_links", [object()]),
        ("propagator", [object()]),
        ("solve", [object(), object()]),
    ],
)
def test_what_is_no_field_and_no_operator(name, arguments):
    with pytest.raises(TypeError, match=rf"^{name}\(\): "):
        getattr(cubc.lattice, name)(*arguments)


def test_a_search_without_a_benchmark():
    with pytest.raises(TypeError, match=r"^search\(\) missing 1 required"):
        cubc.tuner.search()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: cubc.lattice.Gauge.unit((4, 4, 4, 4), dvice="cpu"),
            r"unit\(\).*'dvice'.*'device'",
        ),
        (lambda: cubc.lattice.read_gauge("x", format="ildg"), r"read_gauge\(\) has no .*'format'"),
        (lambda: cubc.lattice.Wilson(None, kapa=0.1), r"Wilson\(\) .*'kapa'.*'kappa'"),
        (lambda: cubc.tuner.search("reduce.sum", secnds=3), r"search\(\).*'secnds'.*'seconds'"),
        (lambda: cubc.bind(cubc.sum, [1.0], nme=3), "has no argument 'nme'"),
    ],
)
def test_the_nearest_argument_is_named(call, sentence):
    with pytest.raises(TypeError, match=sentence):
        call()


D = cubc.lazy("x + 1", x=X)
UNIT = (2, 2, 2, 4)


def unit():
    return cubc.lattice.Gauge.unit(UNIT)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: cubc.reduce(X, "a + c", **CPU), cubc.CompileError, r"^reduce\(\): the expression"),
        (lambda: cubc.sum(X, device="gpu"), cubc.NoDeviceError, r"^sum\(\): no device"),
        (
            lambda: cubc.max([], **CPU),
            ValueError,
            r"^max of no items .*value \(initial=\)",
        ),
        (lambda: cubc.nanmax([], **CPU), ValueError, r"^nanmax of no items has .*initial="),
        (lambda: cubc.sum(X, initial="a"), TypeError, r"^sum\(\): initial is 'a'"),
        (lambda: cubc.sum(X, initial="3"), TypeError, r"^sum\(\): initial is '3': expected a num"),
        (lambda: cubc.scan(X, init=b"3"), TypeError, r"^scan\(\): init is b'3': expected a number"),
        (lambda: cubc.reduce(X, np.sin), TypeError, r"numpy.sin is of 1 item, an operator is of 2"),
        (lambda: cubc.lazy(3), TypeError, r"^lazy\(\): the expression is of int: expected a str"),
        (lambda: cubc.count_if(X, 3), ValueError, r"^count_if\(\): a condition is an expression"),
        (lambda: cubc.bind(3), TypeError, r"^bind\(\): 3 is no function"),
        (lambda: cubc.use_policies("no.db"), FileNotFoundError, r"^use_policies\(\): there is no"),
        (lambda: cubc.Kernel("no.cu"), FileNotFoundError, r"^Kernel\(\): there is no source no.cu"),
        (lambda: cubc.asarray(X).astype("foo"), TypeError, r"^astype\(\): dtype cannot be 'foo'"),
        (lambda: D.array(device="gpu"), cubc.NoDeviceError, r"^array\(\): no device"),
        (lambda: cubc.asarray(X) + cubc.asarray(X[:3]), ValueError, "^the operands' shapes"),
        (lambda: cubc.asarray(X).__setitem__(0, "a"), TypeError, "^operand 'value' has the dtype"),
        (
            lambda: cubc.asarray(X).to_device("gpu"),
            cubc.NoDeviceError,
            r"^to_device\(\): no device",
        ),
        (lambda: cubc.asarray(X).transpose(0, 0), ValueError, r"^transpose\(\): "),
        (lambda: cubc.asarray(X).squeeze(3), ValueError, r"^squeeze\(\): "),
        (lambda: float(cubc.lazy("x", x=X)), TypeError, "^only an array of one item"),
        (lambda: SCAN.plot_heatmap("ipt", "tbp"), LookupError, r"^plot_heatmap\(\): .*mean tpb"),
        (lambda: SCAN.samples("best"), LookupError, r"^samples\(\): .* no variant 'best'"),
        (
            lambda: cubc.tuner.State({}, {"X": 1}, "cpu").random(),
            LookupError,
            r"^random\(\): the workload has no axis",
        ),
        (
            lambda: cubc.tuner.analyze("no.db"),
            FileNotFoundError,
            r"^analyze\(\): there is no store",
        ),
        (lambda: cubc.tuner.search("reduce.smu"), LookupError, r"^search\(\): .*did you mean"),
        (lambda: cubc.tuner.verify("x.y", "ipt_1"), LookupError, r"^verify\(\): "),
        (
            lambda: cubc.tuner.analyze(EXAMPLE)[7],
            IndexError,
            r"no group \[7\], but \[0\] reduce.sum",
        ),
        (lambda: cubc.lattice.Wilson(unit(), kappa="a"), TypeError, r"^Wilson\(\): kappa is 'a'"),
        (
            lambda: cubc.lattice.Staggered(unit(), mass="a"),
            TypeError,
            r"^Staggered\(\): mass is 'a'",
        ),
        (lambda: cubc.lattice.point_source((2, 2), UNIT), ValueError, r"^point_source\(\): extent"),
    ],
)
def test_what_was_called_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_a_source_may_have_one_line():
    """A path has no __global__."""
    assert cubc.Kernel("__global__ void f(int* x) {}", block=1).name == "f"


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("device_info", lambda: cubc.device_info("nowhere")),
        ("device_info", lambda: cubc.device_info(3)),
        ("device_info", lambda: cubc.device_info(name="cpu")),
        ("record", lambda: cubc.tuner.record(3).__enter__()),
        ("synchronize", lambda: cubc.synchronize("nowhere")),
        ("synchronize", lambda: cubc.synchronize(stream="one")),
        ("synchronize", lambda: cubc.synchronize(steam=None)),
    ],
)
def test_functions_of_devices_and_recordings(name, call):
    with pytest.raises((TypeError, cubc.NoDeviceError), match=rf"^{name}\(\)"):
        call()


def test_a_recording_within_another(tmp_path):
    with (
        cubc.tuner.record(tmp_path / "one.db"),
        pytest.raises(ValueError, match=r"^record\(\): calls are recorded already"),
        cubc.tuner.record(tmp_path / "two.db"),
    ):
        pass


def test_a_file_that_is_none_of_its_kind(tmp_path):
    text = tmp_path / "text"
    text.write_text("no field, and no bundle")
    text.chmod(0o644)
    calls = {"use_bundle": cubc.use_bundle, "read_info": cubc.lattice.read_info}
    for name, call in (calls | {"read_gauge": cubc.lattice.read_gauge}).items():
        with pytest.raises(OSError, match=rf"^{name}\(\): .*text"):
            call(text)
    with pytest.raises(OSError, match=r"^record\(\): cannot write store"):
        cubc.tuner.record(tmp_path / "absent" / "work.db").__enter__()


def test_a_constructor_is_named_by_its_class():
    gauge = cubc.lattice.Gauge.unit((2, 2, 2, 2), device="cpu")
    with pytest.raises(TypeError, match=r"^HISQ\(\) missing 1 required positional argument"):
        cubc.lattice.HISQ(gauge)
