"""Manifests and listings of machine code: what a change leaves alone."""

import hashlib
import json
import shutil
import threading
import time

import pytest
from nvrtc import why_no_nvrtc

from cubc import _core
from cubc import _progress as progress
from cubc.tuner import _machine_code as machine_code
from cubc.tuner._cli import main
from cubc.tuner._machine_code import changed, manifest

AXES = {"T": "F32"}


def entry(code, instructions=None):
    """A manifest's entry of a policy."""
    return {"code": code} | ({"instructions": instructions} if instructions else {})


def test_architectures_with_policies():
    assert {"cpu", "sm_75", "sm_90"} <= set(_core.archs())
    assert len(set(_core.archs())) == len(_core.archs())


@pytest.mark.parametrize("arch", ["foo", "SM_90", "cuda:0"])
def test_an_architecture_is_no_device(arch, tmp_path, capsys):
    assert main(["verify", "-R", "reduce.sum", "--arch", arch, "--write", str(tmp_path / "m")]) == 2
    assert capsys.readouterr().err == f"cubc verify: {arch!r} is no architecture, as sm_90 or cpu\n"


def test_a_manifest_is_read_before_it_is_replaced(tmp_path, capsys):
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps({"cpu reduce.prod F32": {"code": "0" * 64}}))
    arguments = ["verify", "-R", "reduce.prod", "-a", "T=F32", "--arch", "cpu"]
    arguments += ["--write", str(path), "--against", str(path)]
    assert main(arguments) == 1
    assert capsys.readouterr().out == "cpu reduce.prod F32\n1 policies, 1 changed\n"
    assert main(arguments) == 0


def test_an_interrupted_manifest_gives_up_what_is_compiled(monkeypatch):
    """The others would take as long as a compilation may."""
    begun, waited = threading.Event(), []

    def code(name, ct, arch, label, deadline, abandon):
        if ct["T{ct}"] == "F32":
            begun.wait(60)
            raise KeyboardInterrupt
        begun.set()
        until = time.monotonic() + 500
        while not abandon[0] and time.monotonic() < until:
            time.sleep(0.01)
        waited.append(abandon[0])
        return b""

    monkeypatch.setattr(machine_code, "cores", lambda: 2)
    monkeypatch.setattr(_core, "code", code)
    monkeypatch.setattr(machine_code, "disassembled", lambda code, arch: None)
    with pytest.raises(KeyboardInterrupt):
        manifest(["cpu"], "reduce.prod", {"T": ["F32", "F64"]})
    assert set(waited) == {1}


def test_a_policy_that_a_manifest_lacks_is_told(tmp_path, capsys):
    path = tmp_path / "manifest.json"
    arguments = ["verify", "-R", "reduce.prod", "-a", "T=F32", "--arch", "cpu"]
    arguments += ["--against", str(path)]
    assert main(arguments) == 2
    assert "before the change, cubc verify --write" in capsys.readouterr().err
    path.write_text("{}")
    assert main(arguments) == 1
    assert capsys.readouterr().out.startswith(f"cpu reduce.prod F32 (not in {path})\n")


def test_a_part_of_a_manifest(tmp_path, capsys):
    """Policies that were not asked for are not reported as gone."""
    path = tmp_path / "manifest.json"
    part = ["verify", "-R", "reduce.prod", "-a", "T=F32", "--arch", "cpu"]
    assert main([*part, "--write", str(path)]) == 0
    hashes = json.loads(path.read_text()) | {"cpu reduce.sum F32": {"code": "1" * 64}}
    path.write_text(json.dumps(hashes))
    assert main([*part, "--against", str(path)]) == 0
    assert capsys.readouterr().out.endswith("1 policies, 0 changed\n")
    assert changed({"a": entry("1")}, {"b": entry("1")}) == ["a", "b"]


def test_policies_for_some_sizes_are_there():
    if why := why_no_nvrtc():
        pytest.skip(why)
    names = set(manifest(["sm_90"], "reduce.sum", {"T": "F32"}))
    ranges = ("", " Elements=0:65536", " Elements=0:2121325", " Elements=1048577:33554432")
    assert names == {f"sm_90 reduce.sum F32{calls}" for calls in ranges}


def test_instructions_decide_where_they_are_known():
    """The same instructions in another file are no change; nor is a missing disassembler."""
    before = {"a": entry("1", "x"), "b": entry("1", "x"), "c": entry("1", "x"), "d": entry("1")}
    after = {"a": entry("2", "x"), "b": entry("2", "y"), "c": entry("2"), "d": entry("1", "x")}
    assert changed(before, after) == ["b", "c"]


@pytest.mark.skipif(not shutil.which("objdump"), reason="objdump is not installed")
def test_listings_of_the_cpu(tmp_path):
    hashes = manifest(["cpu"], "reduce.prod", AXES, listings=tmp_path / "new")
    listing = (tmp_path / "new/cpu_reduce.prod_F32.txt").read_bytes()
    assert b"<reduce_blocks" in listing
    instructions = hashes["cpu reduce.prod F32"]["instructions"]
    assert hashlib.sha256(listing).hexdigest() == instructions
    again = manifest(["cpu"], "reduce.prod", AXES)
    assert again == hashes  # whatever the file was called that the disassembler read


@pytest.mark.skipif(bool(why_no_nvrtc()), reason=why_no_nvrtc())
def test_listings_of_a_gpu(tmp_path):
    if machine_code._nvdisasm() is None:
        pytest.skip("nvdisasm is not installed")
    hashes = manifest(["sm_90"], "transform.fill", {"T": "U8"}, listings=tmp_path)
    assert "EXIT" in (tmp_path / "sm_90_transform.fill_U8.txt").read_text()
    assert set(hashes["sm_90 transform.fill U8"]) == {"code", "instructions"}


def test_without_a_disassembler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(machine_code, "_nvdisasm", lambda: None)
    assert machine_code.disassembled(b"code", "cpu") is None
    for arch, name in (("cpu", "objdump"), ("sm_90", "nvdisasm")):
        with pytest.raises(FileNotFoundError, match=f"listings of {arch} need {name}"):
            manifest([arch], "transform.fill", {"T": "U8"}, listings=tmp_path)


@pytest.mark.filterwarnings("default")
def test_listings_where_only_some_have_a_disassembler(tmp_path, monkeypatch, capsys):
    """The others are named and not compiled."""
    seen, code = [], _core.code

    def counted(name, ct, arch, *more):
        seen.append(arch)
        return code(name, ct, arch, *more)

    monkeypatch.setattr(_core, "code", counted)
    monkeypatch.setattr(_core, "archs", lambda: ["cpu", "sm_80", "sm_90"])
    monkeypatch.setattr(machine_code, "_nvdisasm", lambda: None)
    monkeypatch.setattr(machine_code, "disassembled", lambda code, arch: b"text")
    arguments = ["verify", "-R", "transform.fill", "-a", "T=U8", "--listings", str(tmp_path / "l")]
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert "cubc verify: left out: listings of sm_80, sm_90 need nvdisasm (pip" in told.err
    assert told.out == "1 policies, 0 changed\n" and set(seen) == {"cpu"}
    assert [one.name for one in (tmp_path / "l").iterdir()] == ["cpu_transform.fill_U8.txt"]
    assert main([*arguments, "--arch", "sm_90"]) == 2
    monkeypatch.setenv("PATH", "")
    assert main(arguments) == 2


def test_progress_in_a_log(monkeypatch, capsys):
    now = iter(range(0, 1000, 25))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    with progress.bar(10, True, "compiling") as shown:
        for _ in range(10):
            shown()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "compiling: 2 of 10, 3:20 left" and len(lines) == 5
    with progress.bar(10, None, "compiling") as shown:
        shown()
    assert capsys.readouterr().err == ""


def test_what_is_no_machine_code_has_no_listing():
    assert machine_code.disassembled(b"no code", "cpu") is None
    assert machine_code.disassembled(b"no code", "sm_90") is None


def test_manifests(tmp_path, capsys):
    path = tmp_path / "manifest.json"
    arguments = ["verify", "-R", "reduce.prod", "--arch", "cpu"]
    assert main([*arguments, "--write", str(path)]) == 0
    hashes = json.loads(path.read_text())
    assert "cpu reduce.prod F32" in hashes
    assert all(len(value["code"]) == 64 for value in hashes.values())
    assert main([*arguments, "--against", str(path)]) == 0
    assert f"{len(hashes)} policies, 0 changed" in capsys.readouterr().out
    hashes["cpu reduce.prod F32"] = {"code": "0" * 64}
    path.write_text(json.dumps(hashes))
    assert main([*arguments, "--against", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[0] == "cpu reduce.prod F32"
    for text in ("[1]", '{"a": "1"}', "{"):
        path.write_text(text)
        assert main([*arguments, "--against", str(path)]) == 2
        assert "is no manifest" in capsys.readouterr().err
    assert main(arguments) == 2


def test_code_is_what_was_compiled():
    one = _core.code("reduce.sum", {"T{ct}": "F32"}, "cpu", "base")
    assert one == _core.code("reduce.sum", {"T{ct}": "F32"}, "cpu", "base")
    assert one[:4] == b"\x7fELF"
    assert one != _core.code("reduce.sum", {"T{ct}": "F64"}, "cpu", "base")
