"""Calls by NumPy's names with arguments that few use: result, type, shape and error are NumPy's."""

import numpy as np
import pytest

import cubc

F = np.array([[1.75, -2.5, np.nan], [0.0, 4.25, -1.5]])
I = np.array([[3, 1, 2], [1, 3, 0]])  # noqa: E741 - the letter of its type
B = np.array([True, False, True])
Z = np.array([1 + 2j, 3 - 1j, 2])
NONE = np.zeros((4, 0, 0, 2))
ONE = np.array(5)

# Calls of a module, and of a function that makes its arrays.
ALIKE = {
    "sums of converted items": lambda m, a: m.sum(a(F[1]), dtype=int),
    "products of truth": lambda m, a: m.prod(a(I), 0, dtype=bool),
    "scans of converted items": lambda m, a: m.cumsum(a(F[1]), dtype="i8"),
    "scans of truth": lambda m, a: m.cumprod(a(I), 1, dtype=bool),
    "means of converted items": lambda m, a: m.mean(a(F[1]), dtype="i2"),
    "a mean of no items in integers": lambda m, a: m.mean(a(F[:0]), 0, dtype="f4"),
    "a complex variance": lambda m, a: m.var(a(Z.astype("c8")), dtype="c16"),
    "a variance in complex numbers": lambda m, a: m.nanvar(a(I), 1, dtype="c16"),
    "an initial value of a float": lambda m, a: m.max(
        a(I.astype("u8") + np.uint64(2**63 + 1)), initial=np.float32(2), where=a(I > 0)
    ),
    "NaN that are equal": lambda m, a: m.array_equal(a(F), a(F), equal_nan=True),
    "NaN that are not": lambda m, a: m.array_equal(a(F), a(F)),
    "complex numbers of two types": lambda m, a: m.array_equal(a(Z), a(Z.astype("c8"))),
    "signed beside unsigned": lambda m, a: m.array_equal(
        a(np.array([-1])), a(np.array([2**64 - 1], "u8"))
    ),
    "one index of no dimension": lambda m, a: m.argsort(a(ONE), 0),
    "one place of no dimension": lambda m, a: m.argpartition(a(ONE), -1),
    "the place of one item": lambda m, a: m.nanargmin(a(ONE), axis=-1),
    "a joined type": lambda m, a: m.concatenate([a(I), a(I)], 1, dtype="f4"),
    "any joined type": lambda m, a: m.concatenate([a(F), a(F)], dtype="f2", casting="unsafe"),
    "a set that is one": lambda m, a: m.isin(a(I), a(I[0]), True, True),
    "indices of what is shared": lambda m, a: m.intersect1d(
        a(I), a(np.array([2, 9, 2, 1])), return_indices=True
    ),
    "a number in a set": lambda m, a: m.union1d(a(F[0].astype("f2")), 3),
    "no bins": lambda m, a: m.histogram(a(I), [1]),
    "no items with weights": lambda m, a: m.bincount(a(I[0, :0]), [], 3),
    "two types of coordinates": lambda m, a: m.histogram2d(
        a(I[0].astype("u1")), a(I[1].astype("f4")), 3, density=True
    ),
    "points of one dimension": lambda m, a: m.histogramdd([1.0, 2.0, 4.0], 2),
    "no index": lambda m, a: m.take(a(I), []),
    "none of an empty axis": lambda m, a: m.take(a(NONE), [0], 1, mode="clip"),
    "unsigned indices": lambda m, a: m.take(a(F), a(I[0].astype("u8"))),
    "lines for all": lambda m, a: m.take_along_axis(a(F), a(I[:1, :2] % 2), 1),
    "no repeats": lambda m, a: m.repeat(a(F[:0]), [], 0),
    "a list of repeats": lambda m, a: m.repeat(a(F), [1, 0, 2], 1),
    "one number of repeats": lambda m, a: m.repeat(a(F), a(np.array(2))),
    "numbers of two kinds": lambda m, a: m.where(a(Z), 1, 2.5),
    "numbers of NumPy's": lambda m, a: m.where(a(I), np.int8(3), 30),
    "no differences": lambda m, a: m.diff(a(NONE), np.int8(1), 0),
    "indices by their name": lambda m, a: m.take(a(F), indices=a(I[0] - 1), axis=1),
    "lines by their name": lambda m, a: m.take_along_axis(a(F), indices=a(I[:1, :2] % 2), axis=1),
    "repeats by their name": lambda m, a: m.repeat(a(F), repeats=a(I[0]), axis=1),
    "a place by its name": lambda m, a: m.partition(a(I), kth=2),
    "places of no items": lambda m, a: m.partition(a(NONE), 7),
    "indices of places of no items": lambda m, a: m.argpartition(a(NONE[..., 0]), [0, 3], 1),
    "a value by its name": lambda m, a: m.searchsorted(a(np.arange(5.0)), v=a(F[1]), side="right"),
    "no differences of two types": lambda m, a: m.diff(a(NONE > 0), axis=0, prepend=a(NONE[:1])),
}


def alike(made, wanted):
    if isinstance(wanted, tuple | list):
        assert len(made) == len(wanted)
        for one, other in zip(made, wanted, strict=True):
            alike(one, other)
        return
    if not isinstance(made, cubc.Array):
        assert isinstance(made, type(wanted))
    assert (np.asarray(made).dtype, np.shape(made)) == (np.asarray(wanted).dtype, np.shape(wanted))
    np.testing.assert_allclose(np.asarray(made), wanted, rtol=1e-12)


@pytest.mark.some
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value")
@pytest.mark.parametrize("call", ALIKE.values(), ids=[name.replace(" ", "_") for name in ALIKE])
@pytest.mark.parametrize("there", [False, True], ids=["host", "there"])
def test_a_call(device, call, there):
    if not there and device != "cpu":
        pytest.skip("arrays of the host are tested on the cpu")
    wanted = call(np, np.asarray)
    alike(call(cubc, lambda x: cubc.asarray(x, device=device) if there else x), wanted)


REFUSED = {
    "no largest of no items": lambda m: m.max(NONE, 1),
    "no place of no items": lambda m: m.argmin(NONE, 1, keepdims=True),
    "no sort of no dimension": lambda m: m.sort(ONE),
    "no places": lambda m: m.partition(I, []),
    "truth as a place": lambda m: m.argpartition(I, True),
    "a kind that is no text": lambda m: m.sort(I, kind=0),
    "a side that is no text": lambda m: m.searchsorted(I[0], 1, side=None),
    "no axis of keys": lambda m: m.lexsort(I, axis=None),
    "an output that is a list": lambda m: m.mean(I, out=[1]),
    "a wrong axis of indices": lambda m: m.take_along_axis(ONE, np.array([0]), 0),
    "a wrong axis to put": lambda m: m.put_along_axis(ONE.copy(), np.array([0]), 1, 0),
    "a wrong mode": lambda m: m.put(F[:0].copy(), [], 1, mode="none"),
    "a wrong kind of set": lambda m: m.isin(I, I, kind="hash"),
    "a joined type and output": lambda m: m.concatenate([I, I], 0, np.zeros((4, 3)), dtype="f8"),
    "a cast that is not safe": lambda m: m.concatenate([F, F], dtype="i4"),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=[n.replace(" ", "_") for n in REFUSED])
def test_a_refusal(call):
    with pytest.raises(Exception) as wanted:
        call(np)
    with pytest.raises(wanted.type):
        call(cubc)


@pytest.mark.parametrize("there", [False, True], ids=["host", "there"])
def test_an_output_of_another_type(device, there):
    """The result has the type of dtype=, and is then converted."""

    def place(x):
        return cubc.asarray(x, device=device) if there or device != "cpu" else x

    for function, out in [
        ("sum", np.zeros(3)),
        ("prod", np.zeros(3)),
        ("cumsum", np.zeros((2, 3))),
    ]:
        wanted, to = out.copy(), place(out)
        getattr(np, function)(F, 0, dtype="f4", out=wanted)
        assert getattr(cubc, function)(place(F), 0, dtype="f4", out=to) is to
        np.testing.assert_array_equal(np.asarray(to), wanted)
        with pytest.raises(TypeError, match=r"does not become|has float64"):
            getattr(cubc, function)(place(F), 0, dtype="c8", out=to)
    joined = place(np.zeros((2, 6), "f4"))
    assert cubc.concatenate([place(I), place(I)], 1, joined) is joined
    np.testing.assert_array_equal(np.asarray(joined), np.concatenate([I, I], 1))
    with pytest.raises((TypeError, ValueError)):
        cubc.concatenate([place(I), place(I)], 0, joined)


@pytest.mark.parametrize("there", [False, True], ids=["host", "there"])
def test_values_of_another_type_are_put(device, there):
    def place(x):
        return cubc.asarray(x, device=device) if there or device != "cpu" else x

    to = place(np.zeros(4, "i4"))
    cubc.put(to, [0, 2, 0], place(np.float32([3.5, -1.5, 7.75])), deterministic=True)
    cubc.put_along_axis(to, place(np.array([3])), np.float32(2.5), 0)
    np.testing.assert_array_equal(np.asarray(to), [7, 0, -1, 2])
    cubc.put_along_axis(to[:0], place(np.zeros(0, int)), np.float32(2.5), 0)
    made = cubc.scatter(to, [1], np.float32(2.5), "sum")
    np.testing.assert_array_equal(np.asarray(made), [7, 2, -1, 2])


def test_no_items_may_lie_anywhere():
    bytes_ = np.zeros(17, "u1")[1:].view("u8")
    assert cubc.diff(bytes_, 2).shape == (0,)
    assert cubc.transform("x + 1", x=bytes_[:0]).shape == (0,)


@pytest.mark.parametrize("op", ["min", "any"])
def test_an_initial_bool_in_memory(device, op):
    x, init = (cubc.asarray(y, device=device) for y in (B, np.array(False)))
    assert bool(cubc.reduce(x[:1], op, init=init)) == (op == "any")
    np.testing.assert_array_equal(np.asarray(cubc.scan(x, "any", init=init)), [True] * 3)
