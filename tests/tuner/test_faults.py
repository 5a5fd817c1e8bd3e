"""Whatever happens to a search, nothing measured is lost, nothing stays behind, and it resumes.

Searches are commands of their own here, which kills, signals and a failing disk meet in a given
phase. test_worker.py has what happens to the measuring process alone, test_faulty_kernels.py what
variants do, and tests/c has damaged stores.
"""

import errno
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import isolated
import pytest
import stores
from commands import Command, search_here
from searches import search

from cubc import _core
from cubc.tuner import _process as process
from cubc.tuner._status import OF_MACHINE

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"),
    reason="reads /proc, and builds with cc what stands between SQLite and the disk",
)

COMPILER = """#!/bin/sh
mv "{folder}/hold" "{folder}/reached" 2>/dev/null && exec sleep 20
exec {compiler} "$@"
"""


@pytest.fixture(scope="session")
def disk(tmp_path_factory):
    """Environment with the disk that fails when it is told to."""
    library = tmp_path_factory.mktemp("disk") / "disk.so"
    options = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", library]
    subprocess.run(["cc", *options, Path(__file__).parents[1] / "support/disk.c"], check=True)
    return {"LD_PRELOAD": " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(library)]))}


def keys(db):
    names = ("benchmark", "ct", "variant", "rt", "round")
    return [tuple(r[name] for name in names) for r in stores.read(db)]


def check_whole(db):
    """The file is sound, and has every key once."""
    connection = sqlite3.connect(db)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    found = keys(db)
    assert len(set(found)) == len(found)
    return found


def check_resumes(folder, kept, env=None, confirm=0):
    """The same search again keeps what there was and adds what is missing."""
    if env:
        code, _, err = Command(folder, env=env, confirm=confirm).end()
    else:
        code, err = search_here(folder / "s.db", confirm=confirm)
    assert (code, err) == (0, "")
    rows = stores.read(folder / "s.db")
    assert rows[: len(kept)] == kept
    assert len({r["variant"] for r in rows}) == 5
    check_whole(folder / "s.db")


# ---- stopped ------------------------------------------------------------------------------------
KEPT = {"compile": 1, "base": 0, "variant": 2, "confirm": 5, "write": 2}  # rows before the phase


def slow_compiler(folder):
    """Environment whose compiler sleeps over the variant that it is told to hold."""
    path = folder / "compiler.sh"
    compiler = shutil.which("c++") or shutil.which("g++")
    path.write_text(COMPILER.format(folder=folder, compiler=compiler))
    path.chmod(0o755)
    (folder / "tmp").mkdir()
    return {"CUBC_CXX": path, "CUBC_CACHE": folder / "cache", "TMPDIR": folder / "tmp"}


@pytest.mark.some(6)
@pytest.mark.parametrize(
    ("phase", "number"),
    [
        *((phase, number) for phase in KEPT for number in (signal.SIGKILL, signal.SIGINT)),
        ("variant", signal.SIGTERM),  # ends it as SIGKILL does
    ],
)
def test_a_search_that_is_stopped(phase, number, tmp_path, disk):
    env = slow_compiler(tmp_path) if phase == "compile" else disk
    confirm = 1 if phase == "confirm" else 0
    stopped = Command(tmp_path, phase, number, env=env, confirm=confirm)
    if phase != "write":
        stopped.reach(lambda: stopped.db.exists() and len(keys(stopped.db)) == KEPT[phase])
        stopped.kill(number)
    code, out, err = stopped.end()
    if number == signal.SIGINT:
        said = f"cubc: stopped: {stopped.db} holds what was measured; the same search resumes there"
        assert (code, out, err) == (130, "", f"{said}\n")
        assert phase != "compile" or not os.listdir(env["TMPDIR"])
    else:
        assert (code, out, err) == (-number, "", "")
    kept = stores.read(stopped.db)
    finished = phase == "write" and number == signal.SIGINT  # Python waits for the row
    assert len(kept) == KEPT[phase] + finished
    check_resumes(tmp_path, kept, env if phase == "compile" else None, confirm)
    assert confirm == (len(stores.read(stopped.db)) > 5)


def test_the_log_that_a_kill_leaves(tmp_path, disk):
    """A copy without it is an earlier state of the store, and a search goes on from there."""
    Command(tmp_path, "write", signal.SIGKILL, env=disk).end()
    if not (tmp_path / "s.db-wal").exists():
        pytest.skip("this file system cannot have a log")
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(tmp_path / "s.db", copy)
    early, whole = stores.read(copy / "s.db"), stores.read(tmp_path / "s.db")
    assert early == whole[: len(early)]
    check_resumes(copy, early)
    check_resumes(tmp_path, whole)


# ---- a disk that fails --------------------------------------------------------------------------
@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (errno.ENOSPC, "the disk is full; what was stored before is safe: free some space"),
        (errno.EDQUOT, "your quota is full, .* what was stored before is safe: make room"),
        (errno.EIO, "or the disk fails; "),
    ],
)
def test_a_disk_that_is_full_in_the_middle(tmp_path, disk, error, said):
    code, out, err = Command(tmp_path, "full", error, env=disk).end()
    assert (code, out) == (2, "")
    assert re.fullmatch(f"cubc search: {tmp_path}/s.db: .*{said}.*\n", err)
    kept = stores.read(tmp_path / "s.db")
    assert len(kept) == 2
    check_resumes(tmp_path, kept)


def test_a_disk_that_is_full_from_the_start(tmp_path, disk):
    search = Command(tmp_path, "new", errno.ENOSPC, env=disk)
    code, _, err = search.end()
    assert code == 2
    assert "the disk is full" in err
    assert not search.workers
    check_resumes(tmp_path, [])
    whole = stores.read(tmp_path / "s.db")
    code, _, err = Command(tmp_path, "new", errno.ENOSPC, env=disk).end()
    assert code == 2
    assert stores.read(tmp_path / "s.db") == whole


MERGING = """
import ctypes, sys
from types import SimpleNamespace
from cubc import _core, tuner
from cubc.tuner import _merge
full = ctypes.c_int.in_dll(ctypes.CDLL(None), "disk_full")
made = []
def opened(path, write=False):
    made.append(write)
    full.value = not write and any(made)  # once the new store is there
    return _core.Store(path, write)
_merge._core = SimpleNamespace(Store=opened, StoreError=_core.StoreError)
tuner.merge([sys.argv[1]], sys.argv[2], replace=True)
"""


@pytest.mark.parametrize("there", [False, True])
def test_a_disk_that_is_full_at_the_end_of_a_merge(tmp_path, disk, there):
    """The log took all rows, and the file of the new store takes none."""
    one, out = tmp_path / "one.db", tmp_path / "all.db"
    stores.write(one, stores.confirmed("base", 16))
    if there:
        stores.write(out, [stores.row("base", 16)])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    result = isolated.run(MERGING, one, out, **disk)
    assert result.returncode == 1 and "the disk is full" in result.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_store_that_vanishes(tmp_path):
    """A file that has no name any more would take every further row with it."""
    search = Command(tmp_path, "gone")
    code, out, err = search.end()
    assert (code, out) == (2, "")
    assert f"{tmp_path}/s.db was removed or replaced while it was open" in err
    assert err.count("\n") == 1
    check_resumes(tmp_path, [])


@pytest.fixture
def unprivileged():
    """A folder, and a process that has no more rights in it than the file modes give."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)
        os.seteuid(os.getuid())
        os.chmod(folder, 0o755)


def give_up_rights():
    if os.geteuid() == 0:
        os.seteuid(65534)


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_store_where_nothing_may_be_written(unprivileged, what, monkeypatch):
    db = unprivileged / "s.db"
    _core.compile("transform.fill", {"T{ct}": "F32"}, "cpu", "base")
    if what == "file":
        stores.write(db, [stores.row("base", 16)])
        db.chmod(0o444)
    else:
        unprivileged.chmod(0o555)
    monkeypatch.setattr(process, "Process", None)  # nothing is to be measured
    before = sorted(os.listdir(unprivileged))
    give_up_rights()
    with pytest.raises(
        (_core.StoreError, OSError), match=f"{db}.*(be yours to write in|is read-only)"
    ):
        search(str(db))
    assert sorted(os.listdir(unprivileged)) == before


# ---- two searches -------------------------------------------------------------------------------
@pytest.mark.some(1)
@pytest.mark.parametrize("other", ["transform.fill", "transform.mul"])
def test_two_searches_on_one_store(tmp_path, other):
    folders = tmp_path / "a", tmp_path / "b"
    for folder in folders:
        folder.mkdir()
    pair = [
        Command(folder, benchmark=benchmark, db=tmp_path / "both.db")
        for folder, benchmark in zip(folders, ("transform.fill", other), strict=True)
    ]
    for one in pair:
        code, _, err = one.end()
        assert (code, err) == (0, "")
    found = check_whole(tmp_path / "both.db")
    assert len(found) == 5 * len({"transform.fill", other})


def test_a_store_of_another_version(tmp_path):
    db = tmp_path / "s.db"
    check_resumes(tmp_path, [])
    connection = sqlite3.connect(db)
    connection.execute("PRAGMA user_version = 99")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    before = db.read_bytes()
    search = Command(tmp_path)
    code, _, err = search.end()
    assert code == 2
    assert err.startswith(f"cubc search: {db} was written by a newer cubc (store version 99")
    assert not search.workers
    assert db.read_bytes() == before


KILLED = """
import collections, sys
from cubc import tuner
result = tuner.search(
    "reduce.sum", {"T": "F32", "Elements": 16}, db=sys.argv[1], device="cpu", variants=9, confirm=0,
    progress=False, seed=1,
)
group, = result.groups
print(sorted(group.status(v) for v in group.cells))
"""


def test_compilers_that_the_system_kills(tmp_path):
    """Their variants are compiled again by the next search."""
    compiler, flag = tmp_path / "c++", tmp_path / "kill"
    compiler.write_text(
        f"""#!/bin/sh
case "$*" in *--version*|*-dumpmachine*) exec c++ "$@";; esac
[ -f {flag} ] || exec c++ "$@"
for k in 1 2 3 4 5 6; do mkdir {tmp_path}/$k 2>/dev/null && exec c++ "$@"; done
kill -9 $$
"""
    )
    compiler.chmod(0o755)
    flag.touch()
    where = {"CUBC_CXX": compiler, "CUBC_CACHE": tmp_path / "cache"}
    first = isolated.output(KILLED, tmp_path / "s.db", **where)
    assert "compile_error" in first and "'ok'" in first
    flag.unlink()
    again = isolated.output(KILLED, tmp_path / "s.db", **where)
    assert "compile_error" not in again and again.count("'ok'") > first.count("'ok'")


def test_the_store_knows_the_errors_of_the_machine():
    """Rows that a search measures again are those that the store renews."""
    schema = Path(__file__).parents[2] / "csrc/store/store_schema.c"
    renewed = re.findall(r"instr\(message, '(.*?)'\)", schema.read_text(encoding="utf-8"))
    assert renewed == [*OF_MACHINE]
