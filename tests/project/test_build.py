"""Building and installing: what a wheel holds, and what a machine lacking something is told."""

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import isolated
import pytest
import stores

from cubc import _core

ROOT = Path(__file__).resolve().parents[2]


def build(command, tmp_path, **environment):
    """Run setup.py with everything it writes kept under tmp_path."""
    config = tmp_path / "config"
    config.mkdir()
    return subprocess.run(
        [
            *[sys.executable, "setup.py", "egg_info", "--egg-base", str(config)],
            *["build", "--build-base", str(tmp_path), "--build-lib", str(tmp_path / "lib")],
            *command,
        ],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


def compiler_without(word, tmp_path):
    """Make a C compiler that works, except that it knows nothing of any file naming `word`."""
    path = tmp_path / "cc"
    path.write_text(f'#!/bin/sh\nfor last; do :; done\ngrep -q {word} "$last" && exit 1\nexit 0\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("word", "packages"),
    [
        ("probe", ["gcc"]),
        ("stdlib.h", ["libc6-dev"]),
        ("Python.h", ["python3-dev"]),
        ("sqlite3.h", ["libsqlite3-dev", "sqlite-devel"]),
    ],
)
def test_what_is_missing_is_one_sentence(word, packages, tmp_path):
    result = build([], tmp_path, CC=compiler_without(word, tmp_path))
    assert result.returncode == 1
    sentence = result.stderr.strip().splitlines()[-1]
    assert sentence.startswith("cubc needs ")
    assert all(package in sentence for package in packages)
    assert "Traceback" not in result.stderr


def test_no_compiler_at_all(tmp_path):
    result = build([], tmp_path, CC=str(tmp_path / "none"))
    assert result.returncode == 1
    assert "cubc needs a C compiler" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_wheel_has_core_kernels_and_header(tmp_path):
    """The core is the one that is tested: whoever runs this has compiled it."""
    wheels, package = tmp_path / "wheels", tmp_path / "lib/cubc"
    package.mkdir(parents=True)
    shutil.copy(_core.__file__, package)
    result = build(["bdist_wheel", "--dist-dir", str(wheels)], tmp_path)
    assert result.returncode == 0, result.stderr
    (wheel,) = wheels.iterdir()
    assert "-cp311-abi3-" in wheel.name
    names = set(zipfile.ZipFile(wheel).namelist())
    kernels = [p for p in (ROOT / "kernels").rglob("*.*") if p.suffix in (".cu", ".h")]
    assert {f"cubc/{p.relative_to(ROOT).as_posix()}" for p in kernels} <= names
    assert kernels
    include = ROOT / "csrc/include"
    headers = {p.relative_to(include).as_posix() for p in include.rglob("*.h")}
    assert {"cubc.h", "cubc/core.h"} <= headers
    assert {f"cubc/include/{name}" for name in headers} <= names
    assert {"cubc/_core.abi3.so", "cubc/__init__.py"} <= names


def test_only_what_calls_need_is_installed_with_it():
    """The tuner's packages are extras."""
    needed = [one for one in metadata.requires("cubc") or [] if "extra ==" not in one]
    assert sorted(re.match(r"[\w-]+", one)[0] for one in needed) == ["cuda-pathfinder", "numpy"]


WITHOUT = """
import sys
for name in ("cffi", "cloudpickle", "matplotlib", "pandas", "scipy", "sklearn", "tqdm"):
    sys.modules[name] = None
import numpy as np, cubc
print(cubc.sum(np.ones(1 << 16, "f4")), cubc.use_policies(sys.argv[1]))
for call in (
    cubc.ffi,
    lambda: cubc.tuner.analyze(sys.argv[1]).top(),
    lambda: cubc.tuner.search("reduce.sum", db="/nowhere/s.db"),  # before anything else
):
    try:
        call()
    except ModuleNotFoundError as error:
        print(error)
"""


def test_calls_and_policies_need_no_extra(tmp_path):
    label = stores.variants()[0]
    rows = [stores.row("base", 16), *stores.confirmed(label, 16, 5e-4)]
    db = stores.write(tmp_path / "p.db", rows)
    lines = isolated.output(WITHOUT, db, CUBC_POLICIES=db).splitlines()
    assert lines[0] == "65536.0 1"
    assert re.fullmatch(r'this needs cffi.*: pip install "cubc\[ffi\]"', lines[1])
    assert re.fullmatch(r'this needs pandas.*: pip install "cubc\[tune\]"', lines[2])
    assert re.fullmatch(r'this needs scipy.*: pip install "cubc\[tune\]"', lines[3])


def test_sqlite_is_not_there_twice():
    """Python's and cubc's are one: of two copies in a process each drops the other's locks."""
    code = "import sqlite3, cubc; print(open('/proc/self/maps').read())"
    maps = isolated.output(code).splitlines()
    assert len({line.split()[-1] for line in maps if "libsqlite3" in line}) <= 1


IMPORT = """
import time
begin = time.process_time()
import numpy
between = time.process_time()
import cubc
print((time.process_time() - between) / (between - begin))
"""


def test_an_import_takes_at_most_half_the_time_of_numpys():
    """A third of it, of the processor's time in one process, whatever the machine.

    The first writes the compiled modules, wherever Python was told not to.
    """
    ratios = [float(isolated.output(IMPORT, PYTHONDONTWRITEBYTECODE="")) for _ in range(7)]
    assert min(ratios) < 0.5


def test_a_release_runs_what_is_there():
    """The workflow and cibuildwheel's settings run where the tests do not."""
    workflow = (ROOT / ".github/workflows/release.yml").read_text()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    commands = [workflow, settings["before-all"], settings["test-command"]]
    commands = "\n".join([*commands, *settings["repair-wheel-command"]])
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"\bmake ([\w-]+)", commands)
    files = re.findall(r"\b(?:ba)?(?:sh|python) (?:{project}/)?((?:tools|\.ci)/[\w.]+)", commands)
    assert {"docs", "test-oldest"} <= {*targets}
    assert {"tools/manylinux.sh", "tools/release_notes.py", ".ci/run"} <= {*files}
    assert [name for name in targets if f"\n{name}:" not in makefile] == []
    assert [name for name in files if not (ROOT / name).exists()] == []


def test_the_notes_of_a_release(monkeypatch, capsys):
    spec = importlib.util.spec_from_file_location("notes", ROOT / "tools/release_notes.py")
    notes = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(notes)
    version = metadata.version("cubc")
    notes.main(version)
    section = capsys.readouterr().out
    assert "### " in section and not re.search("^## ", section, re.MULTILINE)
    with pytest.raises(SystemExit, match=f"pyproject.toml has version {version}, the tag has 9.9"):
        notes.main("9.9")


def test_every_public_function_is_exported():
    headers = (path.read_text() for path in (ROOT / "csrc/include").rglob("*.h"))
    # Functions that a header defines itself, as for MPI, are in no library.
    declarations = re.sub(r"//.*|^static inline .*", "", "".join(headers), flags=re.MULTILINE)
    names = re.findall(r"\b(cubc_\w+)\(", declarations)
    library = ctypes.CDLL(_core.__file__)
    assert names
    assert [name for name in names if not hasattr(library, name)] == []


def test_the_image_of_wheels_gets_a_sqlite_that_is_new_enough():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["cibuildwheel"]
    script = ROOT / settings["before-all"].removeprefix("sh {project}/")
    (built,) = re.findall(r"sqlite-autoconf-(\d+)", script.read_text())  # 3XXYY00
    source = (ROOT / "csrc/store/store_connect.c").read_text()
    (least,) = re.findall(r"SQLITE_VERSION_NUMBER < (\d+)", source)  # 3XXX0YY
    major, minor, patch = int(built[0]), int(built[1:3]), int(built[3:5])
    assert major * 1_000_000 + minor * 1000 + patch >= int(least)
