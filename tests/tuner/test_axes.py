"""Axes: names with flags, what a user may write, and what is refused with which hint."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cubc.tuner import _axes as ax

T = ax.Axis("T{ct}", ("I8", "F32", "I64"))
ELEMENTS = ax.Axis("Elements{io}[pow2]", (16, 20, 24, 28))
AXES = (T, ELEMENTS)


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("T{ct}=F32", "T{ct}", ["F32"]),
        ("T{ct}=[F32,I64]", "T{ct}", ["F32", "I64"]),
        (" T = [ F32 , I64 ] ", "T", ["F32", "I64"]),
        ("Elements{io}[pow2]=28", "Elements{io}[pow2]", ["28"]),
        ("Elements{io}[pow2]=[16,28]", "Elements{io}[pow2]", ["16", "28"]),
        ("Elements[pow2]=(16,28,4)", "Elements[pow2]", [16, 20, 24, 28]),
        ("Elements[pow2]=[16:28:4]", "Elements[pow2]", [16, 20, 24, 28]),
        ("Elements=[16:18]", "Elements", [16, 17, 18]),
    ],
)
def test_arguments(text, name, values):
    found, listed = ax.parse_argument(text)
    assert (found, list(listed)) == (name, values)


@pytest.mark.parametrize(
    "text",
    ["", "T", "T=", "=F32", "T=[F32", "T=[]", "T=[F32,]", "T{ct=F32", "9=1", "E=(28,16,4)",
     "E=[1:2:0]", "T=F32;rm"],
)  # fmt: skip
def test_malformed_arguments(text):
    with pytest.raises(ValueError, match=r"form|value|axis name"):
        ax.parse_argument(text)


def test_repeated_arguments_add_up():
    assert ax.parse_arguments(["T=F32", "T=I64"]) == {"T": ["F32", "I64"]}


@pytest.mark.parametrize("name", ["Elements", "Elements{io}", "Elements[pow2]", ELEMENTS.name])
@pytest.mark.parametrize("values", [20, "20", [20], ("20",), range(20, 21), {20}])
def test_choice(name, values):
    assert ax.choose("b", AXES, {name: values}) == {T.name: T.values, ELEMENTS.name: (20,)}


def test_choice_keeps_declared_order_and_drops_repeats():
    axis = ax.Axis("Rank", (3, 1, 2))
    assert ax.choose("b", [axis], {"Rank": [1, 2, 3, 1]}) == {"Rank": (3, 1, 2)}


def test_unknown_axis_names_the_nearest():
    with pytest.raises(LookupError, match=r"did you mean Elements\{io\}\[pow2\]\?"):
        ax.choose("reduce.sum", AXES, {"Element": 16})


def test_flags_that_are_not_declared():
    with pytest.raises(LookupError, match="has no axis"):
        ax.choose("reduce.sum", AXES, {"T{io}": "F32"})


@pytest.mark.parametrize("value", [22, "22", 16.0, None, "F32"])
def test_undeclared_value_names_the_declared_ones(value):
    with pytest.raises(ValueError, match=r"does not declare .* it declares 16, 20, 24, 28"):
        ax.choose("reduce.sum", AXES, {"Elements": [16, value]})


def test_no_values():
    with pytest.raises(ValueError, match="no value"):
        ax.choose("reduce.sum", AXES, {"T": []})


def test_combinations():
    chosen = {T.name: ("F32",), ELEMENTS.name: (16, 28)}
    assert ax.combinations(AXES, chosen) == [
        {T.name: "F32", ELEMENTS.name: 16},
        {T.name: "F32", ELEMENTS.name: 28},
    ]
    assert ax.combinations((), chosen) == [{}]


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}(\{ct\}|\{io\})?(\[pow2\])?", fullmatch=True)
VALUES = st.one_of(st.integers(-(2**31), 2**31), st.from_regex(r"[A-Z][0-9]{1,3}", fullmatch=True))


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_workload_text_round_trip(workload):
    text = ax.workload_text(workload)
    assert ax.parse_workload(text) == {name: str(value) for name, value in workload.items()}


@given(st.text(max_size=40))
def test_workload_of_anything_is_parsed_or_refused(text):
    try:
        workload = ax.parse_workload(text)
    except ValueError:
        return
    assert all(ax.split_name(name) for name in workload)


@given(st.text(max_size=40))
def test_axes_of_anything_are_parsed_or_refused(text):
    try:
        axes = ax.parse_axes(text)
    except ValueError:
        return
    assert ax.parse_axes(ax.axes_text(axes)) == axes


@pytest.mark.parametrize(
    "text",
    ["{}x", "[[1, [2]]]", '[["T", []]]', '[["T", ["a"]]]', "[" * 10**5, '[["N", [1, 1]]]',
     '[["N", [1]], ["N{io}", [1]]]', '[["T{ct}", [1]]]', f'[["N", {[*range(10001)]}]]'],
)  # fmt: skip
def test_malformed_axes(text):
    with pytest.raises(ValueError, match="declares no axes"):
        ax.parse_axes(text)


def test_a_workload_names_an_axis_once():
    with pytest.raises(ValueError, match="names N twice"):
        ax.parse_workload("N=1,N=2")


def test_axes_round_trip():
    assert ax.parse_axes(ax.axes_text([ELEMENTS])) == (ELEMENTS,)


def test_a_range_is_bounded():
    with pytest.raises(ValueError, match="more than"):
        ax.parse_argument("Elements{io}[pow2]=[0:999999999999:1]")


@pytest.mark.parametrize(
    ("exponent", "items"), [(0, 1), (16, 65536), (62, 1 << 62), (63, 0), (10**12, 0), (-1, 0)]
)
def test_numbers_of_items(exponent, items):
    """A store may hold any exponent."""
    assert ax.items({"Elements{io}[pow2]": exponent}) == items
    assert ax.items({"Side[pow2]": 4}) == 0


SIZE = ax.Axis("SegmentSize", (8, 256))


@pytest.mark.parametrize(
    ("axis", "given", "name", "values"),
    [
        (ELEMENTS, 20, "Elements{io}[pow2]", (16, 20, 24, 28)),  # declared: all of them stay
        (ELEMENTS, [22, 17], "Elements{io}[pow2]", (17, 22)),
        (ELEMENTS, ["700001", 50_000], "Elements{io}", (50_000, 700_001)),
        (ELEMENTS, 0, "Elements{io}[pow2]", (0,)),
        (SIZE, 1000, "SegmentSize", (1000,)),
        (SIZE, [8, 9], "SegmentSize", (8, 9)),
        (T, "F99", "T{ct}", ("I8", "F32", "I64")),  # which is refused later
        (ELEMENTS, "many", "Elements{io}[pow2]", (16, 20, 24, 28)),
        (ELEMENTS, [], "Elements{io}[pow2]", (16, 20, 24, 28)),
    ],
)
def test_other_run_time_values_than_declared(axis, given, name, values):
    assert ax.opened([axis], {axis.plain: given}) == (ax.Axis(name, values),)


@pytest.mark.parametrize(
    ("axis", "given"), [(ELEMENTS, [20, 1000]), (ELEMENTS, -1), (SIZE, 0), (SIZE, [-5, 8])]
)
def test_run_time_values_that_there_are_not(axis, given):
    with pytest.raises(ValueError, match="expected"):
        ax.opened([axis], {axis.plain: given})


def test_calls_near_a_workload():
    assert ax.calls_near({"Elements{io}[pow2]": 20}) == "Elements=262144:4194304"
    assert (
        ax.calls_near({"SegmentSize": 10, "Elements{io}": 100})
        == "SegmentSize=2:40,Elements=25:400"
    )


@pytest.mark.parametrize(
    "function", [ax.choose, lambda owner, axes, wanted: ax.opened(axes, wanted)]
)
def test_an_axis_under_two_names(function):
    for wanted in ({"T{ct}": "F32", "T": "I64"}, {"Elements": 16, "Elements{io}": 20}):
        with pytest.raises(ValueError, match=r"is given twice, as .* and as"):
            function("reduce.sum", AXES, wanted)


def test_values_that_can_be_taken_once():
    wanted = ax.given({"A": (value for value in (1, 2)), "B": "F32", "C": [3]})
    assert wanted == {"A": [1, 2], "B": "F32", "C": [3]}
