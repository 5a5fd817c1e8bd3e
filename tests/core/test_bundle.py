"""Bundles: what a program loads, in one file that a machine without a compiler runs."""

import os
import shutil
import sys
from pathlib import Path

import isolated
import pytest

from cubc import _core
from cubc.tuner._cli import main

ROOT = Path(__file__).resolve().parents[2]
SUM = "import cubc, numpy as np; print(cubc.reduce(np.arange(100.0), 'sum', device='cpu'))"
PROD = SUM.replace("sum", "max")
NO_COMPILER = {"PATH": "", "CUBC_CXX": None, "CXX": None}
HEAD = 344  # bytes of a record's header
CUBC, TARGET = slice(24, 48), slice(168, 240)  # there


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """A bundle of one kernel."""
    path = tmp_path_factory.mktemp("bundle") / "kernels.cubc"
    assert main(["bundle", "-o", str(path), "--", sys.executable, "-c", SUM]) == 0
    return path


def test_a_machine_without_a_compiler(bundle, tmp_path):
    code = f"{SUM}\ntry: {PROD.partition('; ')[2]}\nexcept cubc.CompileError as e: print(e)"
    lines = isolated.output(code, CUBC_BUNDLE=bundle, CUBC_CACHE=tmp_path, **NO_COMPILER)
    result, error = lines.splitlines()
    assert result == "4950.0"
    assert error.startswith("reduce.max ") and "is in no bundle: no C++ compiler on PATH" in error
    assert list(tmp_path.iterdir()) == []  # the bundle is the only place


def changed(bundle, path, place, new):
    data = bytearray(bundle.read_bytes())
    data[place] = new.ljust(len(data[place]), b"\0")
    path.write_bytes(data)
    return path


def test_what_is_no_bundle_is_refused(bundle, tmp_path):
    one, whole = tmp_path / "one", bundle.read_bytes()

    def refused(data, why):
        one.write_bytes(data)
        with pytest.raises(OSError, match=why):
            _core.use_bundle(str(one))

    refused(b"", "empty")
    refused(b"no bundle" * 100, "no bundle")
    for length in (1, HEAD - 1, HEAD, len(whole) - 1):
        refused(whole[:length], "not all of one")
    refused(whole + whole[:100], "not all of one")
    refused(whole[:16] + b"\xff" * 8 + whole[24:], "not all of one")  # its length
    refused(changed(bundle, one, CUBC, b"0.0.1").read_bytes(), "of cubc 0.0.1, this is cubc")
    refused(changed(bundle, one, TARGET, b"ab12").read_bytes(), "for another processor")
    with pytest.raises(OSError, match="No such file"):
        _core.use_bundle(str(tmp_path / "none"))
    with pytest.raises(OSError, match="it is no file"):
        _core.use_bundle(str(tmp_path))


def test_a_file_that_others_can_write_is_refused(bundle, tmp_path):
    one = Path(shutil.copy(bundle, tmp_path))
    for mode in (0o620, 0o602):
        one.chmod(mode)
        with pytest.raises(OSError, match="other users can write to it"):
            _core.use_bundle(str(one))


def test_damaged_code_is_passed_over(bundle, tmp_path):
    """So is code that is not what its key says; a file of a program in use has both intact."""
    code = changed(bundle, tmp_path / "code", slice(HEAD + 5000, HEAD + 5001), b"\x5a")
    key = changed(bundle, tmp_path / "key", slice(240, 241), b"g")
    both = os.pathsep.join(map(str, (code, key)))
    where = {"CUBC_BUNDLE": both, "CUBC_CACHE": tmp_path / "c"}
    listening = f"import logging; logging.basicConfig()\n{SUM}"
    result = isolated.run(listening, **where, **NO_COMPILER)
    assert "WARNING:cubc.compile:a kernel in the bundle" in result.stderr
    assert "is in no bundle: no C++ compiler" in result.stderr
    assert isolated.output(SUM, CUBC_BUNDLE=both) == "4950.0"  # from the cache or a compiler


def test_kernels_that_came_with_cubc(tmp_path):
    """They are the last resort: in the folder of kernels, and said by `cubc devices`."""
    folder = shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
    shipped = folder / "cpu.cubc"
    command = ["bundle", "--portable", "-o", str(shipped), "--", sys.executable, "-c", SUM]
    assert main(command) == 0
    assert shipped.read_bytes()[TARGET].startswith(b"portable")  # and not this processor
    shipped.chmod(0o666)  # trusted as the kernels are
    code = f"{SUM}\ntry: {PROD.partition('; ')[2]}\nexcept cubc.CompileError as e: print(e)"
    code += "\nfrom cubc.tuner._cli import main; main(['devices'])"
    lines = isolated.output(
        code, CUBC_KERNELS=folder, CUBC_CACHE=tmp_path / "c", **NO_COMPILER
    ).splitlines()
    assert lines[0] == "4950.0"
    assert "did not come compiled with cubc: no C++ compiler on PATH" in lines[1]
    assert "no C++ compiler: the kernels that came with cubc run" in lines[-1]


def test_a_program_that_fails_leaves_no_bundle(tmp_path, capsys):
    path = tmp_path / "kernels.cubc"
    assert main(["bundle", "-o", str(path), "--", sys.executable, "-c", "raise SystemExit(3)"]) == 3
    assert main(["bundle", "-o", str(path), "--", sys.executable, "-c", ""]) == 2
    assert "no kernel of cubc" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
