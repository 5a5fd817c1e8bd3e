"""``%RANGE%`` lines of a stranger's source: their numbers, their count and the size they span."""

import resource

import numpy as np
import pytest

from cubc import _core
from cubc.tuner import _strategy as strategy
from cubc.tuner._benchmark import Benchmark, SourceSpace
from cubc.tuner._source import Source
from cubc.tuner._strategy.points import place

KERNEL = "__global__ void f() {}\n"


def lines(*ranges):
    """A source with a parameter for each range."""
    declared = (f"// %RANGE% TUNE_{k} p{k} {one}\n" for k, one in enumerate(ranges))
    return "".join(declared) + KERNEL


@pytest.mark.parametrize(
    "one",
    [
        "64:4294967360:1",
        "4294967360:4294967360:1",
        "0:8:4294967297",
        "0:100000000:1",
        "0:99999999999999999999999:1",
        "+1:8:1",
        "1: 8:1",
        "1:8:1x",
        "1:8:-1",
    ],
)
def test_numbers_are_taken_as_they_are_written(one):
    with pytest.raises(ValueError, match="line 1: malformed %RANGE%"):
        _core.source_parameters(lines(one), "cpu")
    with pytest.raises(ValueError, match="line 1: malformed %RANGE%"):
        _core.source_parameters(lines(f"1:8:1 cpu={one}"), "cpu")


@pytest.mark.parametrize("number", ["-2147483648", "-1", "4294967295", "9" * 40, "x"])
def test_a_line_number_that_is_none(number):
    source = f"#line {number}\n" + "\n" * 3 + "// %RANGE% A\n"
    with pytest.raises(ValueError, match="line 5: malformed"):
        _core.source_parameters(source, "cpu")


def test_a_large_line_number():
    with pytest.raises(ValueError, match="line 2147483648: malformed"):
        _core.source_parameters("#line 2147483647\n\n// %RANGE% A\n", "cpu")


def test_the_message_has_the_limit():
    assert len(_core.source_parameters(lines(*["1:2:1"] * 16), "cpu")) == 16
    with pytest.raises(ValueError, match="there are more than 16 parameters"):
        _core.source_parameters(lines(*["1:2:1"] * 17), "cpu")


def test_more_variants_than_can_be_counted():
    ranges = ["0:99999999:1"] * 2
    assert len(_core.source_parameters(lines(*ranges), "cpu")) == 2
    with pytest.raises(ValueError, match=r"line 3: .* more than 2\^63 variants"):
        _core.source_parameters(lines(*ranges, "0:99999999:1"), "cpu")


def test_the_longest_label():
    """All of its letters are there, or it would name another variant."""
    names = [f"longlabel{k:02}" for k in range(16)]
    text = "".join(f"// %RANGE% M{k} {name} 10000000:10000007:7\n" for k, name in enumerate(names))
    space = SourceSpace(Source(text + KERNEL, "long"), "cpu", ())
    assert space.label(space.size - 1) == ".".join(f"{name}_10000007" for name in names)
    assert space.valid(space.label(space.size - 1))


@pytest.fixture
def wide():
    """A space of two parameters with 10^8 values each, and one with three."""
    ranges = ("0:99999999:1", "1:99999999:1", "8:24:8")
    return SourceSpace(Source(lines(*ranges), "wide"), "cpu", ())


@pytest.mark.parametrize("name", ["model", "genetic", "annealing", "random", "exhaustive"])
def test_a_strategy_lists_no_range(wide, name):
    """Thirty proposals, which is past the point where each begins to learn."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    chosen = strategy.make(name)(wide, 1)
    for k in range(30):
        label = chosen.ask()
        assert wide.valid(label)
        chosen.tell(label, 1.0 + k % 7)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KiB


def test_a_place_in_a_wide_range(wide):
    assert place(wide, "p0_99999999.p1_1.p2_24") == (99999999, 0, 2)
    for other in ("p0_099.p1_1.p2_24", "p0_1.p1_0.p2_24", "p0_1.p1_1.p2_9", "p0_1.p1_1"):
        assert place(wide, other) is None


@pytest.mark.parametrize("base", [np.int64(128), np.uint8(128)])
def test_a_base_of_numpy(base):
    def wide(state):
        pass

    one = Benchmark(wide, lines("0:99999999:1"), None, {"p0": base}, ())
    assert one.base("cpu") == "p0_128"


@pytest.mark.parametrize("base", [0.5, "8", None])
def test_a_base_that_is_no_whole_number(base):
    def wide(state):
        pass

    with pytest.raises(TypeError, match=r"base has p0=.*, must be a whole number"):
        Benchmark(wide, lines("0:99999999:1"), None, {"p0": base}, ())
