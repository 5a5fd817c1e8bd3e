"""Reductions of rows and of segments of one size (row_reduce), against NumPy's."""

import inputs
import numpy as np
import pytest
from inputs import on, same
from segment_sums import reference

import cubc


@pytest.mark.parametrize("type", ["I32", "F64", "I8"])
def test_rows_that_begin_anywhere(device, type):
    """Rows whose length is no multiple of a vector, in an array that begins at none."""
    x = inputs.random(type, 300_007)
    for size in (3, 37, 999, 1000, 99_999):
        for first in (0, 1, 3):
            part = x[first : first + (x.size - 3) // size * size]
            given = on(device, x)[first : first + part.size]
            rows = inputs.exact(part).reshape(-1, size)
            for op, expected in (("sum", rows.sum(axis=1)), ("argmin", rows.argmin(axis=1))):
                result = cubc.segmented_reduce(given, op=op, segment_size=size)
                same(result, expected)


@pytest.mark.parametrize("rows", [1, 3, 40, 3000])
def test_rows_of_every_length(device, rows):
    """A lane, a warp, a block, and several blocks a row."""
    for size in (1, 2, 9, 70, 500, 5000, 60_000, 600_000):
        if rows * size > 2_000_000:
            continue
        x = inputs.random("F32", rows * size)
        result = cubc.segmented_reduce(on(device, x), segment_size=size)
        same(result, reference(x, np.arange(0, x.size + 1, size), "sum"))


@pytest.mark.parametrize("size", [1, 2, 3, 25, 64, 1000, 40_000, 120_000])
@pytest.mark.parametrize("type", ["F32", "I8"])
def test_segments_of_one_size(device, type, size):
    x = inputs.random(type, 120_000)
    rows = inputs.exact(x).reshape(-1, size)
    sums = rows.sum(axis=1).astype("f4" if type == "F32" else "i8")
    for op, expected in (("sum", sums), ("argmax", rows.argmax(axis=1))):
        same(cubc.segmented_reduce(on(device, x), op=op, segment_size=size), expected)
