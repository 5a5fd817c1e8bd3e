"""Stores made to harm whoever reads them, or writes to them: what they must not achieve."""

import contextlib
import dataclasses
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import textwrap
import time

import isolated
import pytest
import stores

import cubc
from cubc import _core, tuner
from cubc import _outputs as outputs
from cubc.tuner import _axes as ax
from cubc.tuner import _policy_text as policy_text
from cubc.tuner import _stores
from cubc.tuner._machine_code import read_manifest
from cubc.tuner._replay_device import replay_info
from cubc.tuner._stores import MOST_SAMPLES, read

A, B, C = stores.variants()
MAGIC = bytes.fromhex("d9d505f920a163d7")  # of a journal, and of a name at its end


@pytest.fixture
def db(tmp_path):
    rows = [stores.row("base", 16), stores.row(A, 16, 2e-3), stores.row(B, 16, 1e-4)]
    return stores.write(tmp_path / "s.db", rows)


@contextlib.contextmanager
def behind(path):
    """SQL on a store by somebody else."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.commit()


def files(folder):
    """Contents of a folder, byte by byte."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("look", ["policies", "output", "replay"])
def test_looking_at_a_store_keeps_the_locks_of_its_writer(db, look):
    """Closing any descriptor of a file takes away the locks that the process has of it."""
    rows = [stores.row(C, 16, round=n) for n in range(4)]
    writer = _core.Store(str(db), True)
    writer.set_device(_core.device_info("cpu"))
    writer.add(rows[0])
    if look == "policies":
        assert not policy_text.is_text(str(db))
    elif look == "replay":
        replay_info(f"replay:{db}")
    else:
        with pytest.raises(FileExistsError, match="is no bundle"):
            outputs.check(db, outputs.Kind("bundle", outputs.begins(b"cubcbun")))
    # Another process that takes itself for the last one removes the log.
    isolated.output(
        "import sqlite3, sys\n"
        "store = sqlite3.connect(sys.argv[1])\n"
        "assert store.execute('SELECT count(*) FROM measurement').fetchone() == (4,)\n"
        "store.close()",
        str(db),
    )
    for row in rows[1:]:
        writer.add(row)
    assert len(stores.read(db)) == 7
    writer.close()


def opening(path, reason):
    """Every way to open a store must refuse this one, and change nothing."""
    before = files(path.parent)
    for way in (tuner.analyze, cubc.use_policies, _core.Store, lambda p: _core.Store(p, True)):
        with pytest.raises(cubc.StoreError, match=reason):
            way(str(path))
        assert files(path.parent) == before


# ---- journals -----------------------------------------------------------------------------------
def journal(path, name=b""):
    """A journal of a transaction that nobody finished, which played back deletes a file."""
    pages = path.stat().st_size // 4096
    header = MAGIC + struct.pack(">IIIII", 0, 0x1234, pages, 512, 4096)
    end = struct.pack(">I", (1 << 30) // 4096 + 1) + name
    end += struct.pack(">II", len(name), sum(name)) + MAGIC
    beside = path.with_name(path.name + "-journal")
    beside.write_bytes(header.ljust(512, b"\0") + (end if name else b""))


@pytest.fixture
def rollback_db(db):
    """A store without a log, as one on a network file system."""
    with behind(db) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    return db


def test_a_journal_that_names_a_file_deletes_nothing(rollback_db, tmp_path):
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    journal(rollback_db, os.fsencode(victim))
    opening(rollback_db, r"s.db-journal names another file to delete, .*: move it away")
    with pytest.raises(cubc.StoreError, match="names another file to delete"):
        tuner.search("reduce.sum", {"T": "F32", "Elements": 16}, db=rollback_db, device="cpu")
    result = isolated.run("import cubc", CUBC_POLICIES=rollback_db, PYTHONWARNINGS="default")
    assert "UserWarning: CUBC_POLICIES is ignored: " in result.stderr
    assert victim.read_text() == "precious"


def test_a_killed_writers_journal_is_played_back_by_writers_only(rollback_db):
    journal(rollback_db)
    before = files(rollback_db.parent)
    with pytest.raises(
        cubc.StoreError, match=r"half written: .* waits to be played back, .*a search"
    ):
        tuner.analyze(rollback_db)
    assert files(rollback_db.parent) == before
    _core.Store(str(rollback_db), True).close()
    assert len(stores.read(rollback_db)) == 3


@pytest.mark.parametrize("end", ["-journal", "-wal"])
def test_a_pipe_beside_a_store_is_not_waited_for(db, end):
    """A writer would be at it for ever, and beyond Ctrl-C; a reader passes it over."""
    os.mkfifo(f"{db}{end}")
    assert len(stores.read(db)) == 3
    code = "import sys; from cubc import _core; _core.Store(sys.argv[1], True)"
    result = isolated.run(code, db, CUBC_DEVICE="cpu")
    assert f"{end} is no plain file" in result.stderr


# ---- schemas ------------------------------------------------------------------------------------
def rewrite(path, table, old, new):
    """Change the text of a table in the schema, without SQLite's looking at it."""
    with behind(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        [[sql]] = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", [table])
        assert old in sql
        connection.execute("PRAGMA writable_schema = ON")
        changed = (sql.replace(old, new), table)
        connection.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", changed)


COMPUTING = {
    "hangs": ("measurement", "round INTEGER NOT NULL", "round GENERATED ALWAYS AS "
              "(instr(hex(zeroblob(30000000)), hex(zeroblob(15000000)) || '1'))"),
    "swells": ("measurement", "message TEXT NOT NULL",
               "message GENERATED ALWAYS AS (hex(zeroblob(33000000)))"),
    "is slow": ("measurement", "id INTEGER PRIMARY KEY", "id INTEGER"),
    "checks": ("device", "uuid TEXT NOT NULL", "uuid TEXT NOT NULL CHECK (zeroblob(1e9) IS NULL)"),
    "has defaults": ("environment", "driver TEXT NOT NULL", "driver TEXT DEFAULT (random())"),
    "collates": ("benchmark", "name TEXT NOT NULL", "name TEXT NOT NULL COLLATE NOCASE"),
}  # fmt: skip


@pytest.mark.parametrize("change", COMPUTING.values(), ids=COMPUTING)
def test_a_schema_that_computes(db, change):
    start = time.process_time()
    rewrite(db, *change)
    opening(db, "its schema is not that of a store")
    assert time.process_time() - start < 20


@pytest.mark.parametrize("version", [1, 2])
def test_an_older_store_that_computes_is_not_upgraded(db, version):
    """Its version is believed, and its schema is not that of the version."""
    with behind(db) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute(f"PRAGMA user_version = {version}")
    opening(db, "its schema is not that of a store")


def test_a_schema_in_the_log(db, tmp_path):
    """The log counts: the file is in order, and its log brings the schema."""
    (tmp_path / "sent").mkdir()
    sent = tmp_path / "sent" / "s.db"
    with behind(db) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("CREATE TRIGGER t AFTER INSERT ON device BEGIN SELECT 1; END")
        connection.commit()
        for end in ("", "-wal"):
            shutil.copy(f"{db}{end}", f"{sent}{end}")
    os.unlink(db)
    for way in (tuner.analyze, _core.Store):
        before = files(sent.parent)
        with pytest.raises(cubc.StoreError, match="its schema is not that of a store"):
            way(str(sent))
        assert files(sent.parent) == before
    with pytest.raises(cubc.StoreError, match="its schema is not that of a store"):
        _core.Store(str(sent), True)
    os.unlink(f"{sent}-wal")  # the writer did not move it into the file
    assert len(stores.read(sent)) == 3


def test_a_schema_without_end(db):
    """SQLite reads a whole schema before anything else: it is given up, not waited for."""
    with behind(db) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA writable_schema = ON")
        entries = (
            {"name": f"t{k}", "sql": f"CREATE TABLE t{k} (a CHECK (a > '{'x' * 900}'))"}
            for k in range(60000)
        )
        into = "INSERT INTO sqlite_master VALUES ('table', :name, :name, 2, :sql)"
        connection.executemany(into, entries)
    for write in (False, True):
        start = time.process_time()
        with pytest.raises(cubc.StoreError, match=r"schema without end|schema is not that"):
            _core.Store(str(db), write)
        assert time.process_time() - start < 5


# ---- values -------------------------------------------------------------------------------------
def values(path):
    """Rows read of a store, by their keys, without a word about those that are not."""
    return {
        (group.key, cell.variant, str(cell.rt), cell.round): dataclasses.replace(cell, id=0)
        for group in read(path, bad="pass")
        for cell in group.measurements()
    }


def test_a_flipped_bit_changes_nothing_unnoticed(tmp_path):
    rows = [
        stores.row(v, e, 1e-3 + k * 1e-5) for e in (16, 20) for k, v in enumerate(("base", A, B))
    ]
    db = stores.write(tmp_path / "s.db", rows)
    good, whole = values(db), db.read_bytes()
    used = [k for k, byte in enumerate(whole) if byte]  # most of the file is empty
    changed = refused = 0
    for k in range(0, len(used), 7):
        flipped = bytearray(whole)
        flipped[used[k]] ^= 1 << k % 8
        db.write_bytes(flipped)
        try:
            found = values(db)
        except cubc.StoreError:
            refused += 1
            continue
        changed += any(good.get(key) != value for key, value in found.items())
    assert changed == 0
    assert refused > 50


def test_a_value_that_is_too_large_costs_one_row(db):
    with behind(db) as connection:
        connection.execute("UPDATE measurement SET message = hex(zeroblob(10000000)) WHERE id = 2")
    with pytest.warns(RuntimeWarning, match=r"1 of its rows left out; .* row 2 .* too large"):
        assert set(values_of(tuner.analyze(db))) == {"base", B}


def values_of(analysis):
    return analysis.scores().variant


def test_axes_are_parsed_once(tmp_path, monkeypatch):
    many = json.dumps([[stores.ELEMENTS, list(range(ax.MOST_VALUES))]])
    rows = [stores.row(v, e, axes=many) for v in ("base", A, B) for e in range(100)]
    db = stores.write(tmp_path / "s.db", rows)
    parsed, parse = [], ax.parse_axes
    monkeypatch.setattr(ax, "parse_axes", lambda text: parsed.append(len(text)) or parse(text))
    [group] = read(db)
    assert sum(len(cells) for cells in group.cells.values()) == 300
    assert parsed == [len(many)]


@pytest.mark.parametrize(
    "axes",
    [
        json.dumps([[f"A{k}", [1]] for k in range(40)]),
        json.dumps([["A", list(range(ax.MOST_VALUES + 1))]]),
        '[["A", [' + "9" * 400 + "]]]",
        '[["A", [true]]]',
        "[" * 100000 + "]" * 100000,
    ],
    ids=["many axes", "many values", "large", "bool", "deep"],
)
def test_axes_that_are_none(tmp_path, axes):
    rows = [stores.row("base", 16), stores.row(A, 16)]
    db = stores.write(tmp_path / "s.db", [*rows, stores.row(B, 16, axes=axes)])
    with pytest.warns(RuntimeWarning, match=r"1 of its rows left out; .* declares no axes"):
        tuner.analyze(db)


def test_axes_longer_than_a_store_takes(db):
    """As somebody else may write them: 300 000 axes in each row's declaration."""
    text = json.dumps([[f"A{k}", [1]] for k in range(300000)])
    with behind(db) as connection:
        connection.execute("UPDATE benchmark SET axes = ?", [text])
    start = time.process_time()
    with pytest.raises(cubc.StoreError, match=r"3 were refused; .* too long text"):
        tuner.analyze(db)
    assert time.process_time() - start < 5


def first_page(path):
    """Where the first page of the measurements begins."""
    with behind(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'measurement'"
        [[root]] = connection.execute(query)
    return (root - 1) * 4096


def test_rows_that_a_page_hides_are_told_of(db):
    """One bit of a page's header says how many rows it has: 3, or 2."""
    at = first_page(db) + 4
    content = bytearray(db.read_bytes())
    assert content[at - 4] == 13 and content[at] == 3
    content[at] ^= 1
    db.write_bytes(content)
    with pytest.warns(
        RuntimeWarning, match=r"it has more than 2 measurements, of which 2 are found; restore"
    ):
        assert set(values_of(tuner.analyze(db))) == {"base", A}


def repeat_page(path, name, levels=12, times=600):
    """Put pages above the only one of a table or an index, each of which names one many times.

    So that a few pages have more leaves than anybody can read.
    """
    with behind(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        [[root]] = connection.execute(query, [name])
    content = bytearray(path.read_bytes())
    pages = [content[(root - 1) * 4096 : root * 4096]]
    kind, key = {10: (2, b"\3\2\1\1"), 13: (5, b"\0")}[pages[0][0]]  # of an index, of a table
    for child in range(len(content) // 4096 + 1, len(content) // 4096 + 1 + levels):
        page = bytearray(4096)
        at = 4096 - 16
        struct.pack_into(">BHHHBI", page, 0, kind, 0, times, at, 0, child)
        struct.pack_into(f">{times}H", page, 12, *[at] * times)
        struct.pack_into(">I", page, at, child)
        page[at + 4 : at + 4 + len(key)] = key
        pages.append(page)
    content += b"".join(pages[:-1])
    content[(root - 1) * 4096 : root * 4096] = pages[-1]
    struct.pack_into(">I", content, 28, len(content) // 4096)
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["measurement", "sqlite_autoindex_measurement_1"])
def test_pages_that_repeat_a_page_are_not_counted_for_ever(db, name):
    """And beyond Ctrl-C, as SQLite's own count of a table is."""
    repeat_page(db, name)
    code = """
import sys
from cubc import _core
try:
    for row in _core.Store(sys.argv[1]).rows():
        print(row["id"])
except _core.StoreError as error:
    print(error)
"""
    *rows, error = isolated.output(code, db, timeout=120, CUBC_DEVICE="cpu").splitlines()
    assert rows == ["1", "2", "3"]
    assert "it has more than 3 measurements, of which 3 are found; restore a copy" in error


def test_pages_that_repeat_a_device_are_not_taken_for_ever(db, tmp_path):
    """Each of whose devices a merge keeps."""
    repeat_page(db, "device")
    code = """
import resource, sys
from cubc import _core, tuner
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
try:
    tuner.merge([sys.argv[1]], sys.argv[2])
except _core.StoreError as error:
    print(error)
"""
    error = isolated.output(code, db, tmp_path / "all.db", timeout=120, CUBC_DEVICE="cpu")
    assert re.fullmatch(
        r".*s\.db is damaged: its devices are out of order; restore a copy.*", error
    )


def repeat_first_cell(path, times):
    """Let the first page of the measurements hold its only row several times, each another id."""
    begin = first_page(path)
    end = begin + 4096
    content = bytearray(path.read_bytes())
    kind, cells, [first] = (
        content[begin],
        content[begin + 4],
        struct.unpack_from(">H", content, begin + 8),
    )
    assert (kind, cells) == (13, 1)
    cell = content[begin + first : end]
    number = next(k for k, byte in enumerate(cell) if byte < 128) + 1  # behind its length
    for k in range(1, times):
        cell[number] += 1
        at = first - k * len(cell)
        content[begin + at : begin + at + len(cell)] = cell
        struct.pack_into(">H", content, begin + 8 + 2 * k, at)
    struct.pack_into(">HH", content, begin + 3, times, at)
    path.write_bytes(content)


def test_rows_that_share_their_bytes(tmp_path):
    """A small file is not to be read as a large one."""
    for length in range(12000, 16000, 200):  # until little of the row lies in the page itself
        db = stores.write(tmp_path / f"{length}.db", [stores.row(A, 16, message="m" * length)])
        with contextlib.suppress(struct.error, AssertionError):
            repeat_first_cell(db, 6)
            break
    reasons = []
    found = [len(row["message"]) for row in _stores.rows(str(db), reasons)]
    assert 2 <= len(found) < 6
    assert sum(found) <= db.stat().st_size
    assert re.search("row 5 .* has bytes of other rows", reasons[-1])


def test_texts_that_steer_a_terminal(tmp_path):
    message = "\x1b[2Jipt_1\n\0which ends here"
    db = stores.write(tmp_path / "s.db", [stores.row("base", 16, message=message)])
    [group] = read(db)
    [cell] = group.measurements()
    assert cell.message == "\N{REPLACEMENT CHARACTER}[2Jipt_1\n"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"round": 2**32 + 1}, "round is 4294967297, must be from 0"),
        ({"registers": -1}, "registers is -1"),
        ({"variant": "ipt_1\0.x"}, "variant holds a NUL"),
        (
            {"samples": bytes(4 * MOST_SAMPLES + 4)},
            "samples of .* has 1048580 bytes, a store takes 1048576",
        ),
        ({"variant": "v" * 5000}, "variant of .* has 5000 bytes"),
    ],
)
def test_rows_that_no_store_takes(tmp_path, bad, reason):
    store = _core.Store(str(tmp_path / "s.db"), True)
    store.set_device(_core.device_info("cpu"))
    with pytest.raises(ValueError, match=reason):
        store.add(stores.row("base", 16) | bad)
    store.close()


# ---- what reading leaves behind -----------------------------------------------------------------
def test_reading_writes_nothing(db):
    """Not even beside a store with a log, whose files of shared memory SQLite makes."""
    before = files(db.parent)
    assert set(before) == {"s.db"}
    assert len(stores.read(db)) == 3
    assert files(db.parent) == before


def test_a_store_of_a_killed_process(tmp_path):
    """The file alone is a store, with all but the last rows; with its log it has all."""
    code = """
        import os, signal, sys
        sys.path.insert(0, ".")
        import stores
        from cubc import _core
        store = _core.Store(sys.argv[1], True)
        store.set_device(_core.device_info("cpu"))
        for k in range(250):
            store.add(stores.row(f"ipt_{k}", 16))
        os.kill(os.getpid(), signal.SIGKILL)
    """
    db = tmp_path / "my.db"
    assert isolated.run(textwrap.dedent(code), db, CUBC_DEVICE="cpu").returncode == -signal.SIGKILL
    alone = shutil.copy(db, tmp_path / "alone.db")
    assert 150 < len(stores.read(alone)) <= 250
    assert len(stores.read(db)) == 250


@pytest.mark.skipif(not os.path.isdir("/sys/kernel"), reason="this system has no /sys")
def test_a_folder_that_takes_no_files():
    """The error is not that there is no such file, which is so for every new store."""
    with pytest.raises(OSError, match=r"make store|no file can be made") as caught:
        _core.Store("/sys/kernel/x.db", True)
    assert "No such file" not in str(caught.value)


# ---- other files --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a":' * 100000, "nested too deeply"),
        ("[" * 100000, "nested too deeply"),
        ('{"a": ' + "9" * 10000 + "}", "is no manifest"),
        ("{", "is no manifest"),
    ],
)
def test_manifests_that_are_none(tmp_path, text, reason):
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))} is no manifest: .*") as caught:
        read_manifest(path)
    assert reason in str(caught.value)
