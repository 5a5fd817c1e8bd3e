"""Outputs of commands and functions: what is there is replaced by its like alone."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import stores

from cubc import _outputs as outputs
from cubc import lattice, tuner
from cubc.tuner import _machine_code as machine_code
from cubc.tuner import _policy_text as policy_text
from cubc.tuner._cli import main
from cubc.tuner._pack import BUNDLE
from cubc.tuner._report import PAGE

EXAMPLE = tuner.example_db()
A, *_ = stores.variants()
KINDS = (PAGE, BUNDLE, policy_text.FILE, machine_code.MANIFEST)


@pytest.fixture
def db(tmp_path):
    return stores.write(tmp_path / "b.db", [stores.row("base", 16), *stores.confirmed(A, 16, 5e-4)])


def commands(out, mark, store=EXAMPLE):
    """Commands with an output; the program of the bundle leaves a mark."""
    program = ["--", sys.executable, "-c", f"open({str(mark)!r}, 'w')"]
    return {
        "report": ["report", EXAMPLE, "-o", out],
        "policy": ["policy", str(store), "-o", out],
        "bundle": ["bundle", "-o", out, *program],
        "verify": ["verify", "--write", out],
    }


@pytest.mark.some
@pytest.mark.parametrize("command", ["report", "policy", "bundle", "verify"])
@pytest.mark.parametrize("there", ["a store", "a field", "a configuration"])
def test_a_file_of_another_kind_stays(command, there, db, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(machine_code._core, "archs", lambda: pytest.fail("before the work"))
    if there != "a store":
        Path(db).write_bytes(
            {"a field": b"\x45\x67\x89\xab" * 9, "a configuration": b'{"a": 1}'}[there]
        )
    before, mark = Path(db).read_bytes(), tmp_path / "mark"
    winner = stores.write(tmp_path / "w.db", stores.confirmed(A, 16, 5e-4))
    assert main(commands(str(db), mark, winner)[command]) == 2
    told = capsys.readouterr().err
    assert f"{db} is there and is no " in told and "give another name, or remove it" in told
    assert Path(db).read_bytes() == before and not mark.exists()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["b.db", "w.db"]


@pytest.mark.parametrize("command", ["report", "policy", "bundle", "verify"])
def test_a_folder_that_is_not_there_is_named_before_the_work(
    command, db, tmp_path, capsys, monkeypatch
):
    """The program of a bundle runs for hours, and a manifest takes as long."""
    monkeypatch.setattr(machine_code._core, "archs", lambda: pytest.fail("before the work"))
    mark = tmp_path / "mark"
    out = str(tmp_path / "none" / "file")
    assert main(commands(out, mark, db)[command]) == 2
    assert f"there is no folder {tmp_path}/none" in capsys.readouterr().err
    assert not mark.exists()


def test_a_report_does_not_replace_its_own_store(db, capsys):
    before = Path(db).read_bytes()
    assert main(["report", str(db), "-o", str(db)]) == 2
    assert Path(db).read_bytes() == before
    found = tuner.analyze(db)
    for write in (found.report, found.save_policies):
        with pytest.raises(FileExistsError, match="is there and is no"):
            write(db)
    assert Path(db).read_bytes() == before


def test_outputs_replace_their_like(db, tmp_path):
    page, text = tmp_path / "r.html", tmp_path / "p.txt"
    manifest = tmp_path / "m.json"
    for _ in range(2):
        tuner.analyze(db).report(page)
        assert tuner.analyze(db).save_policies(text) == 1
        machine_code.write_manifest(manifest, {"cpu x": {"code": "1"}})
    files = page, text, manifest
    known = [[kind.known(one) for kind in KINDS] for one in files]
    assert known == [[True, False, False, False], [False, False, True, False], [False] * 3 + [True]]
    empty = tmp_path / "empty"
    empty.touch()
    assert tuner.analyze(db).report(empty) == empty.stat().st_size > 0


def test_a_link_stays_one_and_a_device_is_written_to(db, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "p.txt")
    tuner.analyze(db).save_policies(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "p.txt").is_file()
    tuner.analyze(db).save_policies(os.devnull)
    assert not Path(os.devnull).is_file()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        tuner.analyze(db).report(tmp_path)


def test_a_pipe_that_a_descriptor_names_is_written_to(db):
    command = [sys.executable, "-m", "cubc", "policy", "-o", "/dev/stdout", str(db)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert "\tipt_" in result.stdout and "not written" not in result.stderr


def test_what_fails_leaves_what_was_there(tmp_path):
    def pieces():
        yield b"cubcbun\0"
        raise KeyboardInterrupt

    one = tmp_path / "k.cubc"
    one.write_bytes(b"cubcbun\0before")
    with pytest.raises(KeyboardInterrupt):
        outputs.write(one, BUNDLE, pieces())
    assert one.read_bytes() == b"cubcbun\0before" and [*tmp_path.iterdir()] == [one]
    outputs.write(one, BUNDLE, [b"cubcbun\0", b"after"])
    assert one.read_bytes() == b"cubcbun\0after" and not one.stat().st_mode & 0o022


def test_a_file_of_another_process_stays(tmp_path):
    """A container gives its processes the numbers that those of another had."""
    one = tmp_path / "k.cubc"
    other = Path(f"{one}.{os.getpid()}.new")
    other.touch()
    outputs.write(one, BUNDLE, [b"cubcbun\0"])
    assert sorted(tmp_path.iterdir()) == [one, other]


WRITERS = {
    "links": lambda path: lattice.Gauge.unit((2, 2, 2, 2), device="cpu").write(path, "nersc"),
    "milc": lambda path: lattice.Gauge.unit((2, 2, 2, 2), device="cpu").write(path, "milc"),
    "spinor": lambda path: lattice.write_spinor(path, np.ones((2, 2, 2, 2, 4, 3), complex)),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_fields_replace_fields_alone(db, tmp_path, writer):
    write, before = WRITERS[writer], Path(db).read_bytes()
    with pytest.raises(FileExistsError, match="is there and is no file of fields"):
        write(db)
    assert Path(db).read_bytes() == before
    one = tmp_path / "field"
    for other in WRITERS.values():
        other(one)
        write(one)
    one.write_bytes(one.read_bytes()[:100])  # damaged
    write(one)
    assert lattice.read_info(one)
    one.write_bytes(b"")
    write(one)
    for foreign in (b"BEGIN:VCARD\nEND:VCARD\n", b"abc", b"\x00" * 40):
        one.write_bytes(foreign)
        with pytest.raises(FileExistsError, match="is no file of fields"):
            write(one)
