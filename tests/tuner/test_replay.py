"""Replayed searches: tables are read or refused, and a search gets what they hold."""

import gzip
import math
from types import SimpleNamespace

import pytest

from cubc.tuner._replay import TableSpace, read_table, replay, stored_table
from cubc.tuner._strategy import STRATEGIES

TEXT = "tpb,ipt,time_ms,samples_ms\n32,1,2.0,2.0 2.1\n64,1,,\n64,4,1.5,1.5\n"


def written(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_table_is_a_space(tmp_path, name):
    table = read_table(written(tmp_path, TEXT, name))
    assert table.times == {"tpb_32.ipt_1": 2.0, "tpb_64.ipt_1": None, "tpb_64.ipt_4": 1.5}
    assert table.ranges == {"tpb": [32, 64], "ipt": [1, 4]}
    assert (table.size, table.count(), table.best) == (4, 3, 1.5)
    labels = [table.label(index) for index in range(table.size)]
    assert labels == ["tpb_32.ipt_1", "tpb_32.ipt_4", "tpb_64.ipt_1", "tpb_64.ipt_4"]
    assert [label for label in labels if table.valid(label)] == list(table.times)


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_table_with_a_byte_order_mark(tmp_path, name):
    text = "\ufefftime_ms,tpb\n2.0,32\n"
    assert read_table(written(tmp_path, text, name)).times == {"tpb_32": 2.0}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_table_of_few_rows_in_a_large_space(strategy):
    rows = {f"a_{i}.b_{i}.c_{i}.d_{i}": 1.0 + i for i in range(60)}  # of 60**4
    space = TableSpace(rows)
    assert len(replay(STRATEGIES[strategy], space, 60, seed=1, ahead=2)) == 60
    assert sorted(map(space.label, space.numbers())) == sorted(rows)


def test_scores_are_against_the_median(tmp_path):
    table = read_table(written(tmp_path, TEXT))
    assert table.score("tpb_64.ipt_4") == 1.0
    assert table.score("tpb_32.ipt_1") == 0.75
    assert table.score("tpb_64.ipt_1") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "one of them must be time_"),
        ("tpb,ms\n1,2\n", "one of them must be time_"),
        ("tpb,time_ms,time_us\n1,2,3\n", "one only"),
        ("time_ms\n1\n", "at least one must be a parameter"),
        ("tpb,ipt,tpb,time_ms\n1,2,3,4\n", "table.csv has the column 'tpb' 2 times"),
        ("tpb,time_ms\n", "has no row"),
        ("tpb,time_ms\n1,2\nx,2\n", "line 3: tpb is 'x'"),
        ("tpb,time_ms\n-1,2\n", "line 2: tpb is '-1'; parameters are whole numbers"),
        ("tpb,time_ms\na,2\n", "line 2: tpb is 'a'; parameters are whole numbers from 0"),
        ("tpb,time_ms\n1.5,2\n", "line 2: tpb is '1.5'; parameters are whole numbers from 0"),
        ("tpb,time_ms\n1,x\n", "line 2: 'x' is no time"),
        ("tpb,time_ms\n1,2,3\n", "line 2: 3 columns, where the first line has 2"),
        ("tpb,time_ms\n1,0\n", "line 2: '0' is no time"),
        ("tpb,time_ms\n1,nan\n", "line 2: 'nan' is no time"),
        ("tpb,time_ms\n1\n", "line 2: 1 columns, where the first line has 2"),
        ("tpb,time_ms\n1,2\n1,2\n", "line 3: tpb_1 was on a line before"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(written(tmp_path, text))


def test_a_table_of_nothing_is_no_space():
    with pytest.raises(ValueError, match="without a row"):
        TableSpace({})


def test_the_curve_is_the_best_so_far_with_failures_counted():
    table = TableSpace({"a_1": None, "a_2": 3.0, "a_3": 4.0, "a_4": 1.0})
    assert replay(STRATEGIES["exhaustive"], table, 3) == [math.inf, 3.0, 3.0]
    assert replay(STRATEGIES["exhaustive"], table, 10) == [math.inf, 3.0, 3.0, 1.0]


def test_asks_run_ahead_of_tells():
    events = []

    class Spy(STRATEGIES["exhaustive"]):
        def ask(self):
            events.append("ask")
            return super().ask()

        def tell(self, variant, score):
            events.append("tell")

    table = TableSpace({f"a_{i}": 1.0 for i in range(9)})
    assert len(replay(Spy, table, 5, ahead=3)) == 5
    assert events == ["ask"] * 3 + ["tell", "ask"] * 2 + ["tell"] * 3


def test_a_group_of_a_store_is_a_table():
    scores = {"base": 1.0, "a_1": 2.0, "a_2": None}
    table = stored_table(SimpleNamespace(cells=scores, score=scores.get))
    assert table.times == {"a_1": 0.5, "a_2": None}
