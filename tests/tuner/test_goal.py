"""Ends of a search before its budget: at a target, or without a better variant."""

import pytest
import stores
from searches import search as search_cpu

from cubc import tuner
from cubc.tuner._cli import main
from cubc.tuner._goal import Goal, goal

ORDER = [5, 4, 4, 6, 3, 7, 8, 9, 2, 1, 5]  # times in ms; the median is base, which ran before


@pytest.fixture
def table(tmp_path):
    rows = [f"{number},{time}\n" for number, time in enumerate(ORDER)]
    (tmp_path / "mine.csv").write_text("n,time_s\n" + "".join(rows))
    return f"replay:{tmp_path}/mine.csv"


def search(table, db, **options):
    return tuner.search("mine", device=table, db=db, strategy="exhaustive", confirm=0, **options)


def tried(db):
    return [row["variant"] for row in stores.read(db) if row["variant"] != "base"]


def until(number):
    """Variants in order up to one; base is n_0, which is not measured twice."""
    return [f"n_{k}" for k in range(number + 1) if f"n_{k}" != "n_0"]


@pytest.mark.parametrize(
    ("options", "last", "why"),
    [
        ({}, 10, "space"),
        ({"variants": 4}, 4, "variants"),
        ({"target": 1.25}, 1, "target"),
        ({"target": 1.3}, 4, "target"),
        ({"target": "3s"}, 4, "target"),
        ({"target": "2500 ms"}, 8, "target"),
        ({"target": 100}, 10, "space"),
        ({"patience": 1}, 2, "patience"),
        ({"patience": 3}, 7, "patience"),
        ({"patience": 4}, 10, "space"),
        ({"target": "2500 ms", "patience": 3}, 7, "patience"),
        ({"target": "9s"}, 0, "target"),  # what base takes
    ],
)
def test_the_end(table, tmp_path, options, last, why):
    db = tmp_path / "store.db"
    result = search(table, db, **options)
    assert tried(db) == until(last)
    assert result.ended == {"mine": why}
    if last:
        assert result.best().score == pytest.approx(5 / min(ORDER[: last + 1]))


def test_what_the_store_holds_is_enough(table, tmp_path):
    db = tmp_path / "store.db"
    search(table, db, target=1.3)
    search(table, db, target=1.3)
    assert tried(db) == until(4)
    search(table, db, patience=3)
    assert tried(db) == until(7)
    search(table, db, patience=3)
    assert tried(db) == until(7)


def test_each_compile_time_workload_has_an_end_of_its_own(tmp_path):
    db = tmp_path / "store.db"
    search_cpu(db, {"T": ["F32", "F64"], "Elements": 16}, target="100s", variants=3)
    assert {(row["variant"], row["ct"]) for row in stores.read(db)} == {
        ("base", "T{ct}=F32"),
        ("base", "T{ct}=F64"),
    }


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": 1}, ValueError, "a score above 1"),
        ({"target": 0.0003}, ValueError, "a time in a text"),
        ({"target": float("inf")}, ValueError, "a score above 1"),
        ({"target": True}, TypeError, "a score above 1"),
        ({"target": [2]}, TypeError, "a score above 1"),
        ({"target": "350"}, ValueError, "a number and one of s, ms"),
        ({"target": "1.2.3us"}, ValueError, "a number and one of s, ms"),
        ({"target": "0us"}, ValueError, "a number and one of s, ms"),
        ({"target": "fast"}, ValueError, "a number and one of s, ms"),
        ({"patience": 0}, ValueError, "patience is 0"),
        ({"patience": 1.5}, TypeError, "patience is 1.5"),
    ],
)
def test_what_is_no_goal(table, tmp_path, options, error, message):
    with pytest.raises(error, match=message):
        search(table, tmp_path / "store.db", **options)
    assert not (tmp_path / "store.db").exists()


def test_units():
    for text in ("350us", "350 µs", "0.35ms", "350000ns", "3.5e-4s", " 0.35 MS "):
        assert goal(text, None).seconds == pytest.approx(3.5e-4)
    assert Goal().is_met(1e9, [1e-9]) is False


def test_the_command_line(table, tmp_path):
    db = tmp_path / "store.db"
    common = ["search", "-R", "mine", "--device", table, "--db", str(db), "--quiet"]
    common += ["--strategy", "exhaustive", "--confirm", "0"]
    main([*common, "--target", "1.25"])
    assert tried(db) == until(1)
    main([*common, "--target", "3s"])
    assert tried(db) == until(4)
    main([*common, "--patience", "3"])
    assert tried(db) == until(7)
