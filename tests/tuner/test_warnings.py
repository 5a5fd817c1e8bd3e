"""Warnings name the line of the user."""

import pytest
import stores

import cubc
from cubc import tuner

A, *_ = stores.variants()
ROWS = [stores.row("base", 16), stores.row(A, 16, 5e-4)]  # nothing is confirmed
CALLS = {
    "policies": lambda path: tuner.analyze(path).policies(),
    "header": lambda path: tuner.analyze(path).header(),
    "save_policies": lambda path: tuner.analyze(path).save_policies(path.with_suffix(".policies")),
    "use_policies": cubc.use_policies,
    "search": lambda path: nothing_left(tuner.search, path),
    "Search": lambda path: nothing_left(tuner.Search, path).run(),
}


def nothing_left(search, path):
    axes = {"T": "F32", "Elements": 10}
    more = {"constraints": "tpb == 7", "confirm": 0, "progress": False}
    return search("reduce.sum", axes, db=path, device="cpu", **more)


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_is_at_the_line_that_called_cubc(tmp_path, name):
    path = stores.write(tmp_path / "s.db", ROWS)
    with pytest.warns(RuntimeWarning) as caught:
        CALLS[name](path)
    assert [warning.filename for warning in caught] == [__file__]
