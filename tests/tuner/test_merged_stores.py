"""Stores merged into one: nothing lost, nothing twice, nothing believed of a stranger's file."""

import contextlib
import os
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest
import stores
from stores import confirmed, row, write

import cubc
from cubc import _core, tuner
from cubc.tuner import _cli as cli
from cubc.tuner import _merge, _recording

A, B, C = stores.variants()


@pytest.fixture
def two(tmp_path):
    """Stores of two devices and drivers, and rows that both have."""
    one = write(tmp_path / "a.db", [row("base", 16), *confirmed(A, 16, 5e-4), row(B, 16)])
    other = write(tmp_path / "b.db", [row("base", 16), row(B, 16, 7e-4)], uuid="another")
    write(other, [row("base", 16), row(B, 16, 9e-4), row(C, 16, status="fault", message="x")])
    write(other, [row(C, 16)], driver="another")
    return one, other


def told(path):
    """Rows without their numbers, in an order of their own."""
    found = stores.read(path)
    for one in found:
        del one["id"]
    return sorted(found, key=repr)


def test_nothing_is_lost_and_nothing_is_twice(two, tmp_path):
    merged = tuner.merge(two, tmp_path / "all.db")
    first, second, every = map(told, (*two, tmp_path / "all.db"))
    key = ("device_uuid", "driver", "variant", "rt", "round")
    there = [[one[name] for name in key] for one in first]
    new = [one for one in second if [one[name] for name in key] not in there]
    assert every == sorted(first + new, key=repr)
    assert merged == (len(every), len(first) + len(second) - len(every)) and merged.repeated == 2
    assert {one.device_uuid for one in tuner.analyze(tmp_path / "all.db").groups} == {
        "another",
        _core.device_info("cpu")["uuid"],
    }
    assert sorted(os.listdir(tmp_path)) == ["a.db", "all.db", "b.db"]


def test_the_first_counts(two, tmp_path):
    for paths, center in ((two, 1e-3), (two[::-1], 9e-4)):
        tuner.merge(paths, tmp_path / "all.db", replace=True)
        (b,) = [
            one
            for one in stores.read(tmp_path / "all.db")
            if one["variant"] == B and one["device_uuid"] != "another"
        ]
        assert b["samples"] == stores.samples(center)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("round", [0, 3])
@pytest.mark.parametrize(
    ("more", "less"), [("wrong", "ok"), ("fault", "ok"), ("wrong", "fault"), ("ok", "lost")]
)
def test_what_weighs_more_counts_in_any_order(tmp_path, more, less, round, first):
    """A variant that is wrong now and then is wrong, whoever saw it."""
    order = [more, less] if first else [less, more]
    paths = [
        write(tmp_path / f"{name}.db", [row("base", 16), row(A, 16, status=name, round=round)])
        for name in order
    ]
    assert tuner.merge(paths, tmp_path / "all.db") == ((2, 2) if first else (3, 1))
    for where in (paths, tmp_path / "all.db"):
        (group,) = tuner.analyze(where).groups
        assert [cell.status for cell in group.measurements_of(A)] == [more]


def test_calls_of_recordings_add_up(tmp_path):
    """And those of one recording count once, however often they are merged."""
    paths = []
    for name, calls in (("a", 5), ("b", 3)):
        paths.append(tmp_path / f"{name}.db")
        with tuner.record(paths[-1]):
            for _ in range(calls):
                cubc.reduce(np.ones(100, "f4"), device="cpu")
    out = tmp_path / "all.db"
    assert tuner.merge(paths, out).repeated == 0
    assert list(tuner.recorded(out).calls) == [8] == list(tuner.recorded(paths).calls)
    assert tuner.merge([out, *paths], out, replace=True).repeated == 2
    assert list(tuner.recorded(out).calls) == [8]


def recordings(path, *names, **more):
    return write(
        path,
        [
            row("base", 16, status="recorded", round=k, message=name, calls=5.0, **more)
            for k, name in enumerate(names)
        ],
    )


def test_a_recording_counts_once_under_any_round(tmp_path):
    """Its row has the first round in its own store, and a later one in a merge behind another's."""
    one, other, both, out = (tmp_path / f"{name}.db" for name in ("one", "other", "both", "all"))
    recordings(one, "one")
    recordings(other, "other")
    tuner.merge([other, one], both)
    assert tuner.merge([one, both, other], out) == (2, 2)
    assert [*tuner.recorded(out).calls] == [10]


def test_recordings_that_others_add_between_two_merges_count_once(tmp_path):
    """A connection notes the rounds of recordings, and hears of those of others."""
    paths = [recordings(tmp_path / f"{name}.db", name) for name in ("one", "other", "third")]
    with contextlib.closing(_core.Store(str(tmp_path / "all.db"), True)) as new:

        def merge(path):
            with contextlib.closing(_core.Store(str(path))) as store:
                return new.merge(store)

        assert merge(paths[0]) == (1, 1)
        with contextlib.closing(sqlite3.connect(tmp_path / "all.db")) as db, db:
            db.execute("UPDATE measurement SET message = 'third', round = 5")
        assert [merge(path) for path in paths] == [(1, 1), (1, 1), (0, 1)]
        new.set_device(_core.device_info("cpu"))
        fields = row("base", 16, status="recorded", message="late", calls=5.0, round=9)
        new.add(fields)
        recordings(tmp_path / "late.db", "late")
        assert merge(tmp_path / "late.db") == (0, 1)


def test_calls_of_a_recording_that_goes_on_count_once(tmp_path, monkeypatch):
    """With those of two others, which a store had before it and between."""
    monkeypatch.setattr(_recording, "EVERY", 0.05)
    now, before, between, out = (tmp_path / f"{name}.db" for name in ("now", "a", "b", "all"))

    def call(times):
        for _ in range(times):
            cubc.reduce(np.ones(100, "f4"), device="cpu")

    for path in (before, between):
        with tuner.record(path):
            call(1)
    with tuner.record(now):
        for parts, calls in (([before], 10), ([out, between], 20)):
            call(10)
            while [row["calls"] for row in stores.read(now)] != [calls]:
                time.sleep(0.02)
            tuner.merge([*parts, now], out, replace=True)
            assert tuner.recorded(out).calls.sum() == calls + len(parts)
        call(10)
    tuner.merge([out, now], out, replace=True)
    tuner.merge([out, before, now], out, replace=True)
    for paths in (out, [before, now, out], [now, between, before]):
        assert [*tuner.recorded(paths).calls] == [32]


def test_what_is_there_stays(two, tmp_path):
    out = tmp_path / "all.db"
    out.write_text("mine")
    with pytest.raises(FileExistsError, match="replace=True"):
        tuner.merge(two, out)
    assert out.read_text() == "mine"
    out.unlink()
    tuner.merge(two, out, replace=True)
    before = told(out)
    tuner.merge([out, two[1]], out, replace=True)  # into one of them
    assert told(out) == before
    (tmp_path / "all.db-wal").touch()  # as a program that was killed may leave it
    tuner.merge(two, out, replace=True)
    store = _core.Store(str(out), True)
    with pytest.raises(FileExistsError, match="a program may be writing"):
        tuner.merge(two, out, replace=True)
    store.close()
    with pytest.raises(IsADirectoryError):
        tuner.merge(two, tmp_path, replace=True)


def test_a_file_of_another_process_stays(two, tmp_path):
    """A container gives its processes the numbers that those of another had."""
    out = tmp_path / "all.db"
    other = Path(f"{out}.{os.getpid()}.new")
    other.touch()
    tuner.merge(two, out, replace=True)
    assert sorted(tmp_path.glob("all.db*")) == [out, other]


def test_rounds_of_recordings_come_to_an_end(tmp_path):
    for name, size in (("a.db", 8.0), ("b.db", 9.0)):
        write(tmp_path / name, [row("base", 16, status="recorded", round=2**31 - 1, bytes=size)])
    with pytest.raises(_core.StoreError, match=r"row 1 of .*b\.db has round 2147483647, .*delete"):
        tuner.merge([tmp_path / "a.db", tmp_path / "b.db"], tmp_path / "all.db")
    assert not (tmp_path / "all.db").exists()


def test_a_store_of_gpus_and_of_an_earlier_kernel(two, tmp_path):
    merged = tuner.merge([tuner.example_db(), two[0]], tmp_path / "all.db")
    assert merged == (len(stores.read(tuner.example_db())) + len(stores.read(two[0])), 0)
    assert len(tuner.analyze(tmp_path / "all.db")) == 3


def change(path, *statements):
    with sqlite3.connect(path) as db:
        for statement in statements:
            db.execute(statement)
    db.close()


@pytest.mark.parametrize(
    ("what", "message"),
    [
        (["UPDATE measurement SET bytes = 5 WHERE id = 2"], "row 2 .*checksum"),
        (["CREATE TRIGGER t AFTER INSERT ON device BEGIN SELECT 1; END"], "its schema is not"),
        (["UPDATE device SET kind = hex(zeroblob(90))"], "a device of it"),
        (["DELETE FROM device WHERE uuid = 'another'"], "damaged"),
    ],
)
def test_a_strangers_store_is_refused_whole(two, tmp_path, what, message):
    change(two[1], "PRAGMA foreign_keys = OFF", *what)
    with pytest.raises(_core.StoreError, match=message):
        tuner.merge(two, tmp_path / "all.db")
    assert sorted(os.listdir(tmp_path)) == ["a.db", "b.db"]


def test_a_journal_is_not_played_back(two, tmp_path):
    (tmp_path / "b.db-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(2000))
    with pytest.raises(_core.StoreError, match="journal"):
        tuner.merge(two, tmp_path / "all.db")
    assert (tmp_path / "b.db-journal").stat().st_size == 2008


def test_the_command_merge(two, tmp_path, capsys):
    out = str(tmp_path / "all.db")
    assert cli.main(["merge", *map(str, two), "-o", out]) == 0
    assert "2 were there already" in capsys.readouterr().out
    assert cli.main(["merge", *map(str, two), "-o", out]) == 2
    assert "give another name, or say --replace\n" in capsys.readouterr().err
    assert cli.main(["merge", *map(str, two), "-o", out, "--replace"]) == 0


def test_several_rows_are_added_at_once(tmp_path):
    store = _core.Store(str(tmp_path / "s.db"), True)
    store.set_device(_core.device_info("cpu"))
    first = store.add(row(A, 16))
    found = store.add_all([row(A, 16, 9e-4), row(B, 16), row(B, 16)])
    assert found == [first, store.find(row(B, 16)), store.find(row(B, 16))]
    with pytest.raises(ValueError, match="negative"):
        store.add_all([row(C, 16), row("base", 16, bytes=-1.0)])
    assert store.find(row(C, 16)) is None  # all or none
    assert store.has_log() and store.add_all([]) == []
    store.close()


def test_several_rows_of_several_devices_are_added_at_once(tmp_path):
    store = _core.Store(str(tmp_path / "s.db"), True)
    infos = [_core.device_info("cpu") | {"uuid": name} for name in ("one", "two")]
    rows = [row(A, 16), row(B, 16), row(A, 16), row("base", 16)]
    found = store.add_all(rows, [infos[0], infos[0], *infos[1:] * 2])
    assert [one["id"] for one in found] == [1, 2, 3, 4]
    assert [one["device_uuid"] for one in found] == ["one", "one", "two", "two"]
    store.add(row(C, 16))  # of the last device
    bad = [row(C, 16), row("base", 16, bytes=-1.0)]
    with pytest.raises(ValueError, match="negative"):
        store.add_all(bad, [infos[0] | {"uuid": "three"}] * 2)
    with pytest.raises(ValueError, match="not set"):
        store.add(row(B, 16))
    with pytest.raises(ValueError, match="as many devices"):
        store.add_all(rows, infos)
    store.set_device(infos[1])
    store.close()
    kept = [(one["device_uuid"], one["variant"]) for one in stores.read(tmp_path / "s.db")]
    assert kept == [("one", A), ("one", B), ("two", A), ("two", "base"), ("two", C)]


def test_no_row_is_added_to_a_store_that_is_closed(tmp_path):
    store = _core.Store(str(tmp_path / "s.db"), True)
    store.close()
    with pytest.raises(ValueError, match="closed"):
        store.add_all([])


def during(monkeypatch, action):
    """Do something when the new store is written and before it is put in its place."""
    written = _merge._written

    def then(paths, part):
        merged = written(paths, part)
        action(part)
        return merged

    monkeypatch.setattr(_merge, "_written", then)


@pytest.mark.parametrize("replace", [False, True])
def test_a_new_store_with_a_log_beside_it_is_not_moved(two, tmp_path, monkeypatch, replace):
    """The log would stay behind, and its rows with it."""
    out = tmp_path / "all.db"
    if replace:
        out.touch()
    before = sorted(os.listdir(tmp_path))
    during(monkeypatch, lambda part: Path(f"{part}-wal").touch())
    with pytest.raises(OSError, match=r"all\.db is not written: .* make room and merge again"):
        tuner.merge(two, out, replace=replace)
    assert sorted(os.listdir(tmp_path)) == before
    assert not replace or out.read_bytes() == b""


def sound(path):
    with contextlib.closing(sqlite3.connect(path)) as db:
        return db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_store_that_is_written_to_meanwhile_is_not_replaced(two, tmp_path, monkeypatch):
    """The merge has not read what came behind it, and a log is of the file that it was made for."""
    late = [row(variant, 20) for variant in ("base", A, B, C)]
    before = told(two[0])
    with contextlib.ExitStack() as stack:

        def add(part):
            store = stack.enter_context(contextlib.closing(_core.Store(str(two[0]), True)))
            store.set_device(_core.device_info("cpu"))
            assert all(store.add(one)["rt"] == one["rt"] for one in late)

        during(monkeypatch, add)
        with pytest.raises(_core.StoreError, match=r"a\.db is not replaced: another program wrote"):
            tuner.merge(two, two[0], replace=True)
        assert len(told(two[0])) == len(before) + len(late)
    assert len(told(two[0])) == len(before) + len(late)
    assert sound(two[0]) and sorted(os.listdir(tmp_path)) == ["a.db", "b.db"]


def test_who_has_a_replaced_store_open_goes_on(two, tmp_path, monkeypatch):
    """The file is the same one, and so are the numbers of devices that the program goes by."""
    out = write(tmp_path / "all.db", [row(C, 16)], uuid="first")
    write(out, [row(C, 16)])  # of the second device there, which is the first one of the merge
    inode = out.stat().st_ino
    with contextlib.ExitStack() as stack:
        held = []

        def hold(part):
            held.append(stack.enter_context(contextlib.closing(_core.Store(str(out), True))))
            held[0].set_device(_core.device_info("cpu"))

        during(monkeypatch, hold)
        merged = tuner.merge(two, out, replace=True)
        assert held[0].add(row(C, 20))["device_uuid"] == _core.device_info("cpu")["uuid"]
        assert len(told(out)) == merged.added + 1
    monkeypatch.undo()
    tuner.merge(two, tmp_path / "new.db")
    rows = told(out)
    assert [one for one in rows if one["rt"] != row(C, 20)["rt"]] == told(tmp_path / "new.db")
    assert sound(out) and out.stat().st_ino == inode and not Path(f"{out}-wal").exists()


@pytest.mark.parametrize("replace", [False, True])
def test_a_store_that_is_made_meanwhile_is_not_replaced(two, tmp_path, monkeypatch, replace):
    out = tmp_path / "all.db"
    if replace:
        out.touch()
    during(monkeypatch, lambda part: write(out, [row(C, 16)]))
    with pytest.raises(FileExistsError, match="another program has made a store of it meanwhile"):
        tuner.merge(two, out, replace=replace)
    assert [one["variant"] for one in stores.read(out)] == [C]


def test_files_that_are_no_stores_are_not_replaced(two, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("print(1)" * 999)
    with pytest.raises(ValueError, match=r"program\.py is no store, which alone is replaced"):
        tuner.merge(two, program, replace=True)
    assert program.read_text() == "print(1)" * 999
    empty = tmp_path / "empty.db"
    empty.touch()
    assert tuner.merge(two, empty, replace=True).added > 0
