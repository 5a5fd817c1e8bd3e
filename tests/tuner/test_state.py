"""Arrays that a benchmark's function makes by its state, and what is right in them."""

import ml_dtypes
import numpy as np
import pytest

import cubc
from cubc import tuner

INTEGERS = ["I8", "I16", "I32", "I64", "U8", "U16", "U32", "U64"]
FLOATS = ["F16", "BF16", "F32", "F64"]
COMPLEX = ["C64", "C128"]
STRUCT = np.dtype([("a", "i4", (3,)), ("b", [("c", "u1"), ("d", "f4")])])
BF16 = ml_dtypes.bfloat16


def state(device="cpu", **rt):
    return tuner.State({"T{ct}": "U32"}, {"Elements[pow2]": 16, **rt}, device)


def bit_entropy(words):
    bits = np.unpackbits(words.view(np.uint8))
    share = bits.mean()
    return 0.0 if share in (0, 1) else -share * np.log2(share) - (1 - share) * np.log2(1 - share)


@pytest.mark.parametrize("entropy", [1.0, 0.811, 0.544, 0.337, 0.201, 0])
def test_entropy(device, entropy):
    words = state(device).random(entropy=entropy).numpy()
    assert words.shape == (2**16,) and words.dtype == np.uint32
    assert abs(bit_entropy(words) - entropy) < 0.005


def test_distributions(device):
    s = state(device)
    x = s.random((100, 1000), "F64", low=-2, high=6).numpy()
    assert x.shape == (100, 1000) and -2 <= x.min() < -1.99 and 5.99 < x.max() < 6
    assert abs(x.mean() - 2) < 0.02 and abs(x.std() - 8 / 12**0.5) < 0.02
    y = s.random(10**5, "F32", distribution="normal").numpy()
    assert abs(y.mean()) < 0.02 and abs(y.std() - 1) < 0.02 and abs((y > 1).mean() - 0.1587) < 0.005
    i = s.random(10**5, "I8", low=-3, high=3).numpy()
    counts = np.bincount(i.astype(int) + 3)
    assert len(counts) == 7 and abs(counts - 10**5 / 7).max() < 600
    assert abs(np.corrcoef(x.ravel(), y)[0, 1]) < 0.02
    again = state(device)
    np.testing.assert_array_equal(again.random((100, 1000), "F64", low=-2, high=6).numpy(), x)
    for wrong in ({"low": 1}, {"low": 2, "high": 1}, {"entropy": 0.5}, {"distribution": "cauchy"}):
        with pytest.raises(ValueError):
            s.random(10, **wrong)


def test_the_state_knows_its_workload(device):
    s = state(device, Rows=3)
    assert s["Elements"] == 2**16 and s["Rows"] == 3 and s.ct == {"T": "U32"}
    with pytest.raises(LookupError, match="did you mean Rows"):
        s["Row"]
    with pytest.raises(ValueError, match="no array that this state made"):
        s.writes(cubc.empty(3, "f4", device=device))
    s.zeros(3)
    with pytest.raises(ValueError, match="before the first array"):
        s.skip("late")


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX, "BOOL", STRUCT])
def test_arrays_of_every_type(device, dtype):
    s = state(device)
    assert s.zeros(3, dtype).numpy().tobytes().strip(b"\0") == b""
    nothing = s.empty(3, dtype).numpy()
    if dtype in [*FLOATS, *COMPLEX]:
        assert np.isnan(nothing).all()
    elif dtype != "BOOL":
        assert set(nothing.tobytes()) == {0xA5}
    assert len(np.unique(s.random(64, dtype).numpy())) > 1


def test_random_numbers_of_every_type(device):
    s = state(device)
    for dtype in FLOATS:
        x = s.random(4000, dtype, low=-1, high=1).numpy().astype("f8")
        assert -1 <= x.min() < -0.99 and 0.99 < x.max() <= 1 and abs(x.mean()) < 0.05
        assert len(np.unique(x)) > 200 and abs(x.std() - 3**-0.5) < 0.02
    for dtype in COMPLEX:
        z = s.random(4000, dtype).numpy()
        for part in (z.real, z.imag):
            assert 0 <= part.min() < 0.01 and 0.99 < part.max() <= 1
        assert abs(np.corrcoef(z.real, z.imag)[0, 1]) < 0.05
    assert abs(s.random(4000, "BOOL").numpy().mean() - 0.5) < 0.05
    struct = s.random(4000, STRUCT, low=0, high=3).numpy()
    assert set(struct["a"].ravel()) == set(struct["b"]["c"]) == {0, 1, 2, 3}
    assert 1.4 < struct["b"]["d"].mean() < 1.6
    assert abs(np.corrcoef([*struct["a"].T, struct["b"]["c"]]) - np.eye(4)).max() < 0.05


@pytest.mark.parametrize(
    "dtype, low, high", [("U64", 0, 2**64 - 1), ("I64", -(2**63), 2**63 - 1), ("F32", -3e38, 3e38)]
)
def test_the_widest_bounds(device, dtype, low, high):
    x = state(device).random(1000, dtype, low=low, high=high).numpy()
    eighth = high / 8 - low / 8
    assert low <= x.min() < low + eighth and high - eighth < x.max() <= high


@pytest.mark.parametrize(
    "dtype, options, message",
    [
        ("I8", {"low": -200, "high": 0}, "low is -200: int8 has numbers from -128 to 127"),
        ("F32", {"low": 0, "high": 1e39}, r"high is 1e\+39: float32 has numbers from -3.4"),
        ("BOOL", {"low": 0, "high": 2}, "high is 2: bool has numbers from 0 to 1"),
        ("I32", {"low": 0.5, "high": 2}, "low is 0.5: int32 has whole numbers"),
        ("C64", {"low": 0, "high": np.inf}, "high is inf: float32 has numbers from -3.4"),
        ("BOOL", {"distribution": "normal"}, "bool has no normal distribution"),
        ([("a", "f4"), ("b", "?")], {"distribution": "normal"}, "bool has no normal distribution"),
    ],
)
def test_numbers_that_a_type_has_not(dtype, options, message):
    with pytest.raises(ValueError, match=message):
        state().random(4, dtype, **options)


def test_bounds_that_are_no_numbers():
    with pytest.raises(TypeError, match="low is 'a': expected a number"):
        state().random(4, low="a", high=1)


def wrong(device, items, expected, **options):
    s = state(device)
    y = s.array(np.atleast_1d(items))
    s.verify(y, expected, **options)
    return s.wrong({})


@pytest.mark.parametrize(
    "item, expected, options",
    [
        (np.int32(2), 3, {"atol": 1}),
        (np.int32(-2), -3, {"rtol": 0.5}),
        (np.int32(2), 2.7, {"atol": 1}),
        (np.uint64(2**64 - 1), np.uint64(2**64 - 1), {}),
        (np.float32(0.1), 0.1, {"rtol": 0}),
        (np.float32(2), 2, {}),
        (np.complex64(2 + 1j), 2.001 + 1j, {"rtol": 1e-3}),
        (np.complex64(2 + 1j), 2.000001 + 1j, {}),
        (BF16(2), 2.05, {}),
        (BF16(2), 2.5, {"atol": 0.5}),
        (BF16(np.nan), np.nan, {}),
        (np.bool(True), 1, {}),
    ],
)
def test_items_that_are_close_are_right(device, item, expected, options):
    assert wrong(device, item, np.atleast_1d(expected), **options) == ""


@pytest.mark.parametrize(
    "item, expected",
    [
        (np.int32(2), 3),
        (np.uint8(2), 258),
        (np.int32(2), 2**32 + 2),
        (np.int32(2), 2.7),
        (np.uint64(2**64 - 1), -1),
        (np.int64(2**60 + 1), 2**60),
        (np.complex64(2), 2.001),
        (BF16(2), 2.5),
        (np.bool(True), 2),
    ],
)
def test_items_that_no_conversion_makes_right(device, item, expected):
    for right in (np.atleast_1d(expected), cubc.asarray(np.atleast_1d(expected), device=device)):
        assert "1 of 1 items differ" in wrong(device, item, right)


@pytest.mark.parametrize(
    "expected, message",
    [
        (2 + 5j, "of a real output are complex: take their real parts"),
        ("two", "of the type <U3 are no numbers"),
        (None, "is no array of numbers"),
    ],
)
def test_contents_that_no_output_has(expected, message):
    with pytest.raises(TypeError, match=message):
        wrong("cpu", np.float32(2), np.atleast_1d(expected) if expected else None)


def test_expected_structs(device):
    s = state(device)
    items = np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f8")])
    y = s.array(items)
    s.verify(y, [(1, 2), (3, 4)])
    s.verify(y, items)
    assert s.wrong({}) == ""
    s.verify(y, items["a"])
    with pytest.raises(TypeError, match=r"the output has items of .*, expected are int32"):
        s.wrong({})


def test_structs_are_compared_field_by_field(device):
    s = state(device)
    items = np.zeros(3, STRUCT)
    items["b"]["d"] = [np.nan, 1, 2]
    y = s.array(items)
    s.verify(y, items)
    assert s.wrong({}) == ""
    items["b"]["d"][1] += 1e-3
    s.verify(y, items, rtol=1e-2)
    assert s.wrong({}) == ""
    s.verify(y, items)
    assert "1 of 3 items differ, the first at [1]" in s.wrong({})


def test_what_a_state_was_given_may_change_after(device):
    s = state(device)
    given, right = np.ones(2, "f4"), np.ones(2, "f4")
    y = s.array(given)
    s.writes(y)
    s.verify(y, right)
    given[:] = right[:] = 5
    s.renew()
    assert y.tolist() == [1, 1] and s.wrong({}) == ""
    s.verify(y, y)
    y[:] = 5
    assert "2 of 2 items differ" in s.wrong({})


@pytest.mark.parametrize(
    ("of", "error"), [("x", TypeError), (-1, ValueError), (np.nan, ValueError)]
)
def test_tolerances_that_are_none(of, error):
    s = state()
    for name in ("rtol", "atol"):
        with pytest.raises(error, match=name):
            s.verify(s.zeros(2), [0, 0], **{name: of})
