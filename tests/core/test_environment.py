"""Missing or broken surroundings of cubc: compilers, CUDA, the cache, kernel files.

Each is read once a process, so what is broken has a Python of its own, for one test or for all of
a kind.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import isolated
import pytest
from nvrtc import why_no_nvrtc

from cubc import _device

ROOT = Path(__file__).resolve().parents[2]
REDUCE = "import cubc, numpy as np; print(cubc.reduce(np.arange(100.0), {!r}, device='cpu'))"
SUM = REDUCE.format("sum")


def last_line(result):
    assert result.returncode != 0
    return result.stderr.strip().splitlines()[-1]


# ---- compilers -----------------------------------------------------------------------------------
def test_no_compiler(tmp_path):
    result = isolated.run(SUM, PATH="", CUBC_CXX=None, CXX=None, CUBC_CACHE=tmp_path / "c")
    assert "CompileError: no C++ compiler on PATH" in last_line(result)
    assert "apt install g++" in last_line(result)


def test_a_compiler_that_is_not_there(tmp_path):
    result = isolated.run(SUM, PATH="", CUBC_CXX="/nonexistent", CUBC_CACHE=tmp_path / "c")
    assert 'CompileError: CUBC_CXX names the C++ compiler "/nonexistent"' in last_line(result)


@pytest.mark.parametrize("name", ["CUBC_TRACE", "CUBC_RECORD_KEYS"])
def test_a_switch_is_0_or_1(name, tmp_path):
    changes = {"CUBC_RECORD": tmp_path / "w.db", name: "off"}
    result = isolated.run("import cubc", **changes)
    assert f'ignored: {name} is "off", must be a number from 0 to 1' in result.stderr


def test_a_compiler_in_a_folder_with_a_space(tmp_path):
    folder = tmp_path / "my programs"
    folder.mkdir()
    compiler = folder / "c++"
    compiler.symlink_to(shutil.which("c++") or shutil.which("g++") or shutil.which("clang++"))
    assert isolated.output(SUM, CUBC_CXX=compiler, CUBC_CACHE=tmp_path / "c")


def test_a_compiler_that_fails(tmp_path):
    compiler = tmp_path / "cxx"
    compiler.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo "cxx 1.0"\nexit 3\n')
    compiler.chmod(0o755)
    result = isolated.run(SUM, CUBC_CXX=compiler, CUBC_CACHE=tmp_path / "c")
    assert "CompileError" in result.stderr


def test_the_first_error_of_a_compiler_is_said_once(tmp_path):
    """Whatever else has the word in it; the rest is in the log."""
    compiler = tmp_path / "cxx"
    said = "errors.h: note: no error\\nk:1: error: first\\nk:2: error: second"
    compiler.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec echo "cxx 1.0"\nprintf "{said}" >&2\nexit 1\n'
    )
    compiler.chmod(0o755)
    code = (
        "import cubc, numpy as np\n"
        "try: cubc.transform('x + 1', x=np.ones(4), device='cpu')\n"
        "except cubc.CompileError as error: print(error, error.log, sep='\\n')\n"
    )
    lines = isolated.output(code, CUBC_CXX=compiler, CUBC_CACHE=tmp_path / "c").splitlines()
    expected = "transform(): the expression 'x + 1' does not compile: k:1: error: first"
    assert lines[0] == expected + " (the whole output is in .log)"
    assert lines[-3:] == said.split("\\n")
    assert sum("first" in line for line in lines) == 2  # in the message and in the log


def test_what_needs_no_compiler_works_without_one():
    code = "import cubc, numpy as np; print(cubc.devices(), cubc.empty(3, device='cpu').size)"
    assert "'cpu'] 3" in isolated.output(code, PATH="", CUBC_CXX=None, CXX=None)


# ---- CUDA ----------------------------------------------------------------------------------------
OPEN_CUDA = "import cubc; cubc.device_info('cuda:0')"


def fake_library(path, table, functions=""):
    """A library with every function of a table of cuda_api.h; those not given return an error."""
    header = (ROOT / "csrc/device/cuda/cuda_api.h").read_text()
    text = re.search(rf"#define {table}\(.*?\)((?:.*\\\n)+.*)", header)[1]
    names = re.findall(r"(?:required|optional)\([^,]+,\s*(\w+),", text)
    assert names
    missing = [name for name in names if f"{name}(" not in functions]
    source = functions + "".join(f"\nint {name}(void) {{ return 999; }}" for name in missing)
    command = ["cc", "-shared", "-fPIC", "-w", "-x", "c", "-", "-o", path]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def fake_driver(folder, version):
    get = f"int cuDriverGetVersion(int *v) {{ *v = {version}; return 0; }}"
    fake_library(folder / "libcuda.so.1", "CUDA_DRIVER_TABLE", get)


@pytest.fixture
def fakes(tmp_path):
    """A driver for CUDA 12 and nothing else: builds libraries of any version beside it."""
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    for name in ("libcudart.so.12", "libnvrtc.so.12"):
        for path in (name, f"/usr/local/cuda/lib64/{name}"):
            if isolated.run(code, path).returncode == 0:
                pytest.skip(f"{path} is there and would be taken instead")
    fake_driver(tmp_path, 12000)

    def build(name, version):
        if name == "cudart":
            get = f"int cudaRuntimeGetVersion(int *v) {{ *v = {version}; return 0; }}"
            return fake_library(tmp_path / "cudart.so", "CUDA_RUNTIME_TABLE", get)
        major, minor = version // 1000, version % 1000 // 10
        get = f"int nvrtcVersion(int *a, int *b) {{ *a = {major}; *b = {minor}; return 0; }}"
        return fake_library(tmp_path / "nvrtc.so", "CUDA_NVRTC_TABLE", get)

    return build


def test_no_driver():
    result = isolated.run(OPEN_CUDA, CUDA_VISIBLE_DEVICES="")
    assert (
        'NoDeviceError: device_info(): no device "cuda:0"; there is: cpu (no cuda: '
        in last_line(result)
    )


needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="makes libraries with cc")


@needs_cc
def test_an_old_driver(tmp_path):
    fake_driver(tmp_path, 11080)
    result = isolated.run(OPEN_CUDA, LD_LIBRARY_PATH=tmp_path)
    assert "driver supports CUDA 11.8, cubc needs one for 12.0 or newer" in last_line(result)


@needs_cc
def test_a_stub_of_a_driver(tmp_path):
    stub = ["cc", "-shared", "-x", "c", "/dev/null", "-o", tmp_path / "libcuda.so.1"]
    subprocess.run(stub, check=True)
    result = isolated.run(OPEN_CUDA, LD_LIBRARY_PATH=tmp_path)
    assert "is a stub or too old" in last_line(result)


@needs_cc
@pytest.mark.parametrize(("version", "shown"), [(11020, "11.2"), (99000, "99.0")])
def test_a_cuda_runtime_of_the_wrong_version(tmp_path, fakes, version, shown):
    runtime = fakes("cudart", version)
    places = {"LD_LIBRARY_PATH": tmp_path, "CUBC_CUDART": runtime}
    line = last_line(isolated.run(OPEN_CUDA, **places))
    assert "NoDeviceError" in line
    assert "both 12.x for this driver" in line
    assert f"CUDA runtime {shown} was found ({runtime})" in line
    assert "pip install cubc[cuda12]" in line
    assert isolated.output(SUM, **places) == "4950.0"


@needs_cc
@pytest.mark.parametrize("library", ["cudart", "nvrtc"])
def test_a_named_library_that_is_not_there(tmp_path, fakes, library):
    """No other copy is taken in its place."""
    places = {"CUBC_CUDART": fakes("cudart", 12060), "CUBC_NVRTC": fakes("nvrtc", 12060)}
    shutil.copy(places[f"CUBC_{library.upper()}"], tmp_path / f"lib{library}.so.12")
    places[f"CUBC_{library.upper()}"] = tmp_path / "gone.so"
    line = last_line(isolated.run(OPEN_CUDA, LD_LIBRARY_PATH=tmp_path, **places))
    assert f"CUBC_{library.upper()}={tmp_path / 'gone.so'} cannot be loaded" in line
    assert "No such file" in line
    # Nor is the cpu taken without a word; a library that is no CUDA's is as bad.
    by_default = SUM.replace("device='cpu'", "device=None")
    result = isolated.run(by_default, LD_LIBRARY_PATH=tmp_path, CUBC_DEVICE="", **places)
    assert last_line(result) == "OSError: " + line[line.index("cubc needs") : -1]
    places[f"CUBC_{library.upper()}"] = tmp_path / "libcuda.so.1"
    line = last_line(isolated.run(by_default, LD_LIBRARY_PATH=tmp_path, CUBC_DEVICE="", **places))
    title = {"cudart": "CUDA runtime", "nvrtc": "NVRTC"}[library]
    assert f"CUBC_{library.upper()}={tmp_path / 'libcuda.so.1'} is no {title}" in line


@needs_cc
def test_an_nvrtc_of_the_wrong_version(tmp_path, fakes):
    nvrtc = fakes("nvrtc", 11040)
    places = {"CUBC_CUDART": fakes("cudart", 12060), "CUBC_NVRTC": nvrtc}
    line = last_line(isolated.run(OPEN_CUDA, LD_LIBRARY_PATH=tmp_path, **places))
    assert f"NVRTC 11.4 was found ({nvrtc})" in line
    # Where code comes in bundles the runtime is enough, and what lacks is something else.
    line = last_line(isolated.run(OPEN_CUDA, LD_LIBRARY_PATH=tmp_path, CUBC_BUNDLE="b", **places))
    assert "NVRTC" not in line


def test_the_wheel_of_nccl(tmp_path, monkeypatch):
    """Its file is named to the core, which loads it when GPUs send messages."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "nvidia", raising=False)
    library = tmp_path / "nvidia/nccl/lib/libnccl.so.2"
    library.parent.mkdir(parents=True)
    assert _device.nccl_of_wheel() != str(library)
    library.touch()
    assert _device.nccl_of_wheel() == str(library)


def test_an_unknown_architecture():
    code = "from cubc import _core; _core.compile('reduce.sum', {'T{ct}': 'F32'}, '%s', 'base')"
    assert "no policy for reduce.sum" in last_line(isolated.run(code % "gfx90a"))
    if why := why_no_nvrtc():
        pytest.skip(why)
    assert "oldest architecture is sm_75" in last_line(isolated.run(code % "sm_70"))


# ---- the cache -----------------------------------------------------------------------------------
WARNED = "import warnings; warnings.simplefilter('always'); " + SUM


def test_a_cache_that_cannot_be_written(tmp_path):
    """Everything works, and a warning says why the next process will be as slow."""
    (tmp_path / "file").touch()
    result = isolated.run(WARNED, CUBC_CACHE=tmp_path / "file/cache")
    assert result.stdout == "4950.0\n"
    assert f"compiled kernels cannot be kept in {tmp_path / 'file/cache'}" in result.stderr
    assert result.stderr.count("UserWarning") == 1


@pytest.mark.skipif(not Path("/sys").is_dir(), reason="needs a folder that nobody can write")
def test_a_cache_that_cannot_be_made():
    """The reason is the first folder's, not that the last one has no parent."""
    result = isolated.run(WARNED, CUBC_CACHE="/sys/cubc/deeper/cache")
    assert result.stdout == "4950.0\n"
    assert "compiled kernels cannot be kept in /sys/cubc/deeper/cache: " in result.stderr
    assert "No such file" not in result.stderr
    assert "set CUBC_CACHE to a folder that can be written" in result.stderr


def test_a_cache_that_others_can_write(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)
    result = isolated.run(WARNED, CUBC_CACHE=tmp_path / "cache")
    assert result.stdout == "4950.0\n"
    assert "other users can write to it" in result.stderr
    assert not list((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("limit", ["", "many", "-1", "1e3", "99999999999999999999"])
def test_a_limit_of_the_cache(tmp_path, limit):
    result = isolated.run(WARNED, CUBC_CACHE=tmp_path / "cache", CUBC_CACHE_MAX_MB=limit)
    assert result.stdout == "4950.0\n"
    said = f'CUBC_CACHE_MAX_MB is "{limit}", must be a whole number of megabytes'
    assert (said in result.stderr) == bool(limit)


def test_a_temporary_folder_that_is_not_there(tmp_path):
    gone = tmp_path / "gone"
    result = isolated.run(SUM, TMPDIR=gone, CUBC_CACHE=tmp_path / "cache", CUBC_DEVICE="cpu")
    line = last_line(result)
    assert f"cannot make a folder in {gone}: " in line
    assert "set TMPDIR to a folder that can be written" in line


def test_no_place_for_a_cache():
    result = isolated.run(WARNED, CUBC_CACHE=None, XDG_CACHE_HOME=None, HOME=None)
    assert result.stdout == "4950.0\n"
    assert "HOME and CUBC_CACHE are not set" in result.stderr


def test_a_refused_warning_is_an_error(tmp_path):
    (tmp_path / "file").touch()
    result = isolated.run(SUM, CUBC_CACHE=tmp_path / "file/cache")
    assert "UserWarning: compiled kernels cannot be kept" in last_line(result)


@pytest.fixture
def cache(tmp_path):
    """A cache with one kernel, and that kernel's file."""
    folder = tmp_path / "cache"
    assert isolated.output(SUM, CUBC_CACHE=folder) == "4950.0"
    [file] = [path for path in folder.glob("*/*") if path.is_file()]
    return folder, file


SPOIL = {
    "half": lambda old: old[: len(old) // 2],
    "short": lambda old: old[:-1],
    "empty": lambda old: b"",
    "foreign": lambda old: b"\x7fELF" + bytes(5000),
    "bit": lambda old: old[:200] + bytes([old[200] ^ 1]) + old[201:],
    "long": lambda old: old + b"more",
}
SUMS = """
import sys, cubc, numpy as np
from pathlib import Path
known = set()
for type in sys.argv[2:]:
    assert cubc.reduce(np.arange(100, dtype=type), "sum", device="cpu") == 4950
    files = {str(path) for path in Path(sys.argv[1]).glob("*/*") if path.is_file()}
    print(*files - known)
    known |= files
"""
TYPES = (
    "i2",
    "u2",
    "i4",
    "u8",
    "f4",
    "f8",
)  # of the kernels, of which each is spoilt in another way


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory):
    """For each way to spoil a kernel's file: its content before, content and inode after the miss,
    and inode after the hit."""
    folder = tmp_path_factory.mktemp("spoilt")

    def call():
        return isolated.output(SUMS, folder, *TYPES, CUBC_CACHE=folder).splitlines()

    files = [Path(line) for line in call()]
    whole = [file.read_bytes() for file in files]
    for file, spoil in zip(files, SPOIL.values(), strict=True):
        file.write_bytes(spoil(file.read_bytes()))
    call()
    again = [(file.read_bytes(), file.stat().st_ino) for file in files]
    call()
    hit = [file.stat().st_ino for file in files]
    return dict(zip(SPOIL, zip(whole, again, hit, strict=True), strict=True))


@pytest.mark.parametrize("how", SPOIL)
def test_a_spoilt_file_is_a_miss(spoilt, how):
    whole, (again, written), hit = spoilt[how]
    assert SPOIL[how](whole) != again
    assert len(again) >= 0.9 * len(whole)
    assert hit == written


def test_a_file_of_another_kernel_is_a_miss(cache):
    """Under the name of the sum lies the product, whole and with a right hash."""
    folder, file = cache
    sum_bytes = file.read_bytes()
    file.unlink()
    product = REDUCE.format("max")
    assert isolated.output(product, CUBC_CACHE=folder) == "99.0"
    [other] = [path for path in folder.glob("*/*") if path.is_file()]
    assert other.name != file.name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(other.read_bytes())
    assert isolated.output(SUM, CUBC_CACHE=folder) == "4950.0"
    assert file.read_bytes()[:100] == sum_bytes[:100]


# ---- kernel files --------------------------------------------------------------------------------
MALFORMED = {  # a line for the kernel of each
    "find.if": ("// %RANGE% TUNE_X", "expected: MACRO label start:end:step"),
    "merge.keys": ("// %RANGE% TUNE_X x 5:1:1", "start <= end and step > 0"),
    "merge_sort.keys": ("// %RANGE% TUNE_X x 1:5:0", "start <= end and step > 0"),
    "reduce.sum": ("// %RANGE% TUNE_X x 1:5", "start:end:step"),
    "repeat.runs": ("// %RANGE% TUNE-X x 1:5:1", "macro is not an identifier"),
    "runs.unique": ("// %RANGE% TUNE_X x_y 1:5:1", "label must be letters and digits"),
    "scan.inclusive.sum": ("// %RANGE% TUNE_X ipt 1:5:1", "used before"),
    "select.if": ("// %RANGE% TUNE_X x 1:5:1 cpu", "only kind=values may follow"),
    "transform.mul": ("// %RANGE% TUNE_X x " + "1" * 300, "longer than 255"),
}
PARAMETERS = """
import sys
import time
from cubc import _core
for name in sys.argv[1:]:
    try:
        _core.parameters(name, "sm_90")
    except ValueError as error:
        print(error)
"""


@pytest.fixture(scope="module")
def malformed(tmp_path_factory):
    """Numbers of the lines, and what is said of them, by benchmark."""
    kernels = tmp_path_factory.mktemp("malformed") / "kernels"
    shutil.copytree(ROOT / "kernels", kernels)
    numbers = []
    for name, (line, _) in MALFORMED.items():
        (file,) = kernels.rglob(f"{name.split('.')[0]}.cu")
        source = file.read_text()
        first = source.index("// %RANGE% TUNE_THREADS")
        file.write_text(source[:first] + line + "\n" + source[first:])
        numbers.append(source[:first].count("\n") + 1)
    said = isolated.output(PARAMETERS, *MALFORMED, CUBC_KERNELS=kernels).splitlines()
    return dict(zip(MALFORMED, zip(numbers, said, strict=True), strict=True))


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_range(malformed, name):
    number, said = malformed[name]
    assert said.startswith(f"{name.split('.')[0]}.cu: line {number}: malformed %RANGE%: ")
    assert MALFORMED[name][1] in said


HASHES = """
from cubc import _core
for arch in ("cpu", "sm_90"):
    print(_core.source_hash("merge.keys", {"T{ct}": "F32"}, arch))
"""


@pytest.mark.parametrize("changed", ["merge.cu", "cpu_merge.cu"])
def test_a_hash_is_of_the_kernels_that_a_device_runs(tmp_path, changed):
    """The cpu runs its own kernel, and that of GPUs for their variants."""
    kernels = tmp_path / "kernels"
    shutil.copytree(ROOT / "kernels", kernels)
    (file,) = kernels.rglob(changed)
    file.write_text(file.read_text() + "// changed\n")
    before, after = isolated.output(HASHES), isolated.output(HASHES, CUBC_KERNELS=kernels)
    same = [a == b for a, b in zip(before.split(), after.split(), strict=True)]
    assert same == [False, changed != "merge.cu"]


def test_no_kernels(tmp_path):
    result = isolated.run(SUM, CUBC_KERNELS=tmp_path)
    assert f'OSError: CUBC_KERNELS is "{tmp_path}", where there is no simt.h' in last_line(result)


def test_a_compilation_is_abandoned_from_another_thread(tmp_path):
    """Without waiting for the compiler, which is ended."""
    compiler = tmp_path / "compiler"
    compiler.write_text("#!/bin/sh\nexec sleep 1000\n")
    compiler.chmod(0o755)
    code = (
        "import threading, time\n"
        "from cubc import _core\n"
        "abandon, ended = bytearray(1), []\n"
        "def compile():\n"
        "    try:\n"
        "        _core.compile('reduce.sum', {'T{ct}': 'F32'}, 'cpu', 'base', 1000.0, abandon)\n"
        "    except KeyboardInterrupt:\n"
        "        ended.append(True)\n"
        "thread = threading.Thread(target=compile)\n"
        "thread.start()\n"
        "time.sleep(0.5)\n"
        "assert thread.is_alive()\n"
        "abandon[0] = 1\n"
        "thread.join(500)\n"
        "assert ended\n"
    )
    env = os.environ | {"CUBC_CXX": f"{compiler}", "CUBC_CACHE": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", code], env=env, check=True)


def test_what_killed_compilations_left(tmp_path):
    """Folders of a day ago are removed, others stay."""
    root = tmp_path / "tmp"
    names = ["cubc-compile-gone01", "cubc-compile-now001", "cubc-other"]
    for name in names:
        (root / name).mkdir(parents=True)
        (root / name / "kernel.cu").write_text("")
        if name != names[1]:
            os.utime(root / name, (0, time.time() - 2 * 24 * 3600))
    result = isolated.run(SUM, TMPDIR=root, CUBC_CACHE=tmp_path / "cache", CUBC_DEVICE="cpu")
    assert result.returncode == 0, result.stderr
    assert sorted(os.listdir(root)) == sorted(names[1:])
