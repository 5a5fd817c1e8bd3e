"""Bundles: what a program loads, in one file that a machine without a compiler runs."""

import os
import shutil
import sys
from pathlib import Path

import isolated
import pytest
from nvrtc import why_no_nvrtc

from cubc import _core
from cubc.tuner._cli import main
from cubc.tuner._source import Source

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


def test_a_file_of_another_process_stays(tmp_path):
    """A container gives its processes the numbers that those of another had."""
    other = f"import os; open(f'{tmp_path}/.put-{{os.getpid()}}-0', 'x').close(); "
    isolated.output(other + SUM, CUBC_BUNDLE_TO=tmp_path)
    names = sorted(one.name for one in tmp_path.iterdir())
    assert names[0].endswith("-0") and len(names) == 2 and len(names[1]) == 64


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
    environment = {"CUBC_BUNDLE": both, "CUBC_CACHE": tmp_path / "c"}
    listening = f"import logging; logging.basicConfig()\n{SUM}"
    result = isolated.run(listening, **environment, **NO_COMPILER)
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
    assert "no C++ compiler: the kernels that came with cubc run" in lines[2]


def test_a_program_that_fails_leaves_no_bundle(tmp_path, capsys):
    path = tmp_path / "kernels.cubc"
    assert main(["bundle", "-o", str(path), "--", sys.executable, "-c", "raise SystemExit(3)"]) == 3
    assert main(["bundle", "-o", str(path), "--", sys.executable, "-c", ""]) == 2
    assert "no kernel of cubc" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


# ---- bundles in memory --------------------------------------------------------------------------
WHERE = ("reduce.sum", {"T{ct}": "F32"}, "cpu", "base", 0.0, b"", None)
COMPILED = """
import sys
from cubc import _core
with open(sys.argv[1], "rb") as file:
    given = file.read()
print(_core.compile("reduce.sum", {"T{ct}": "F32"}, "cpu", "base", 0.0, b"", None, given) > 0)
"""


@pytest.fixture(scope="module")
def records():
    found = bytearray()
    _core.compile(*WHERE, found)
    return bytes(found)


def of_another_type():
    found = bytearray()
    _core.compile("reduce.sum", {"T{ct}": "F64"}, *WHERE[2:], found)
    return bytes(found)


def test_records_are_those_of_a_file(records, tmp_path):
    path = tmp_path / "kernels.cubc"
    path.write_bytes(records + of_another_type())
    path.chmod(0o600)
    code = "import sys; from cubc import _core; print(_core.use_bundle(sys.argv[1]))"
    assert isolated.output(code, path) == "2"


def test_a_bundle_in_memory_has_each_kernel_once(records):
    found = bytearray(records)
    assert _core.compile(*WHERE, found) == 0 and found == records
    _core.compile("reduce.sum", {"T{ct}": "F64"}, *WHERE[2:], found)
    assert found == records + of_another_type()


def test_records_are_taken_if_they_are_whole(records, tmp_path):
    """Then nothing is compiled, by a process whose cache has nothing; and else it is."""
    cases = {
        "whole": (records, False),
        "second": (of_another_type() + records, False),
        "other": (of_another_type(), True),
        "cut": (records[:-1], True),
        "header": (records[:HEAD], True),
        "short": (records[: HEAD - 1], True),
        "behind noise": (records[:HEAD][::-1] + records, True),
        "length": (records[:16] + b"\xff" * 8 + records[24:], True),
        "key": (records.replace(records[240:304], b"0" * 64), True),
        "code": (records[:2000] + bytes([records[2000] ^ 1]) + records[2001:], True),
    }
    for name, (given, is_compiled) in cases.items():
        (tmp_path / "given").write_bytes(given)
        cache = tmp_path / f"cache {name}"
        found = isolated.output(COMPILED, tmp_path / "given", CUBC_CACHE=cache)
        assert found == str(is_compiled), name


def test_a_source_of_a_user_is_taken_from_records(tmp_path):
    text = Source("__global__ void one(float* x) { x[0] = 1; }", "one").complete("cpu", {})
    found = bytearray()
    _core.source_compile(text, "cpu", "one", 0.0, b"", found)
    again = bytearray(found)
    _core.source_compile(text, "cpu", "one", 0.0, b"", again)
    assert len(found) > HEAD and again == found


def test_what_is_no_bundle_in_memory():
    for bad in ("text", 3):
        with pytest.raises(TypeError):
            _core.compile(*WHERE, bad)
        with pytest.raises(TypeError):
            _core.source_compile("", "cpu", "none", 0.0, b"", bad)


def test_the_compiler_of_an_architecture():
    # Another test of this process may have opened the device with other CUBC_CXXFLAGS.
    code = "from cubc._core import compiler, device_info"
    code += "; print(compiler('cpu') == device_info('cpu')['compiler'])"
    assert isolated.output(code) == "True"
    with pytest.raises(TypeError):
        _core.compiler(3)


def test_the_compiler_of_a_gpu_needs_none():
    if why := why_no_nvrtc():
        pytest.skip(why)
    assert _core.compiler("sm_90").startswith("NVRTC ")
