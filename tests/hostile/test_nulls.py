"""Columns of tables: those with nulls are refused, those without work."""

import numpy as np
import pytest

import cubc

pd = pytest.importorskip("pandas", reason="pandas is not installed")

NULLS = {
    "Int64": lambda: pd.Series([1, None], dtype="Int64"),
    "Float64": lambda: pd.array([1.0, None], dtype="Float64"),
    "boolean": lambda: pd.Series([True, None], dtype="boolean"),
    "category": lambda: pd.Series([1, None], dtype="category"),
    "index": lambda: pd.Index([1, None], dtype="Int64"),
    "table": lambda: pd.DataFrame({"a": [1, 2], "b": pd.array([1, None], dtype="Int64")}),
    "polars": lambda: Polars([1, None]),
    "arrow": lambda: Arrow([1, None]),
}
WHOLE = {
    "float64": lambda: pd.Series([1.0, 2.0]),
    "Int64": lambda: pd.Series([1, 2], dtype="Int64"),
    "category": lambda: pd.Series([1, 2], dtype="category"),
    "sparse": lambda: pd.Series([1.0, 2.0], dtype="Sparse[float]"),
    "index": lambda: pd.Index([1, 2]),
    "table": lambda: pd.DataFrame({"a": [1.0, 2.0]}),
    "polars": lambda: Polars([1, 2]),
    "arrow": lambda: Arrow([1, 2]),
}


class Column:
    def __init__(self, items):
        self.items = items
        self.nulls = sum(item is None for item in items)

    def __array__(self, dtype=None, copy=None):
        return np.array(self.items, "f8" if self.nulls else "i8")


class Polars(Column):
    """The part of polars.Series that is looked at."""

    dtype = "Int64"

    def null_count(self):
        return self.nulls


class Arrow(Column):
    """The same of pyarrow.Array."""

    @property
    def null_count(self):
        return self.nulls


CALLS = {
    "reduce": cubc.sum,
    "asarray": lambda x: cubc.asarray(x, device="cpu"),
    "an operand": lambda x: cubc.transform("x + 1", x=x, dtype="f8"),
    "select": lambda x: cubc.select(x, "x > 0"),
    "a mask": lambda x: cubc.select(np.arange(2), x),
    "histogram": lambda x: cubc.histogram(x, 2, range=(0, 4)),
    "weights": lambda x: cubc.bincount(np.arange(2), weights=x),
    "segments": lambda x: cubc.segmented_reduce(x, segment_size=1),
    "keys": lambda x: cubc.reduce_by_key(x, np.arange(2)),
    "sort": cubc.sort,
    "searchsorted": lambda x: cubc.searchsorted(np.arange(2), x),
}


@pytest.mark.parametrize("name", NULLS)
def test_are_refused(name):
    for call in CALLS.values():
        with pytest.raises(TypeError, match="with nulls"):
            call(NULLS[name]())


@pytest.mark.parametrize("name", WHOLE)
def test_none_are_fine(name):
    assert cubc.sum(WHOLE[name]()) in (3, 3.0)
    for call in CALLS.values() if name != "table" else ():
        call(WHOLE[name]())


def test_nan_is_a_number():
    """As a float64 column has it."""
    assert np.isnan(cubc.sum(pd.Series([1.0, np.nan])))
    assert np.isnan(cubc.sum(pd.Series([1.0, np.nan], dtype="Sparse[float]")))
