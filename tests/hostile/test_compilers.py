"""Host compilers that deliver broken files, hang, or leave children behind."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import isolated
import pytest

from cubc import _core

CXX = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
SUM = "import cubc, numpy as np; print(cubc.sum(np.arange(100.0), device='cpu'))"
VARIANT = ("transform.mul", {"T{ct}": "F32"}, "cpu", "base")


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Makes a wrapper of the real compiler; the folder of its own is $HERE."""

    def make(body):
        path = tmp_path / "cxx"
        head = f'#!/bin/sh\nHERE={tmp_path}\nreal() {{ {CXX} "$@"; }}\n'
        version = 'case "$*" in *--version) real --version; exit;; esac\n'
        path.write_text(head + version + 'echo run >>"$HERE/runs"\n' + textwrap.dedent(body))
        path.chmod(0o755)
        monkeypatch.setenv("CUBC_CXX", str(path))
        return lambda: (tmp_path / "runs").read_text().count("run")

    return make


TRUNCATED = """
    real "$@" || exit
    [ -e "$HERE/spoilt" ] && exit
    : >"$HERE/spoilt"
    for word; do [ "$last" = -o ] && file=$word; last=$word; done
    truncate -s -2000 "$file"
"""


def test_what_is_delivered_broken_once_is_compiled_once_more(compiler, tmp_path):
    runs = compiler(TRUNCATED)
    for _ in range(2):
        assert isolated.output(SUM, CUBC_CACHE=tmp_path / "cache") == "4950.0"
        assert runs() == 2


def test_what_is_delivered_broken_is_not_kept(compiler, tmp_path):
    """Variants compiled ahead are for other processes, too."""
    runs = compiler(TRUNCATED.replace("truncate", "rm -f $HERE/spoilt; truncate"))
    code = f"""
        import cubc, numpy as np
        for call in (lambda: cubc._core.compile(*{VARIANT!r}),
                     lambda: cubc.sum(np.ones(4), device='cpu')):
            try:
                call()
            except cubc.DeviceError as error:
                print(error)
    """
    said = isolated.output(textwrap.dedent(code), CUBC_CACHE=tmp_path / "cache").splitlines()
    assert ["it is truncated" in line for line in said] == [True, True]
    assert runs() == 4
    assert not [path for path in (tmp_path / "cache").glob("*/*") if path.is_file()]


def test_a_cached_file_that_does_not_load_is_compiled_again(compiler, tmp_path):
    """Whole and with the right hash, as an older cubc may have left it."""
    runs = compiler('real "$@"')
    cache = tmp_path / "cache"
    assert isolated.output(SUM, CUBC_CACHE=cache) == "4950.0"
    [file] = [path for path in cache.glob("*/*") if path.is_file()]
    whole = file.read_bytes()
    code = whole[120:-2000]
    file.write_bytes(
        whole[:80] + len(code).to_bytes(8, "little") + hashlib.sha256(code).digest() + code
    )
    for _ in range(2):
        assert isolated.output(SUM, CUBC_CACHE=cache) == "4950.0"
        assert runs() == 2
    assert len(file.read_bytes()) == len(whole)


# ---- several processes that want the same kernel -----------------------------------------------
SAYING = """
import cubc, numpy as np
cubc.device_info("cpu")
print("ready", flush=True)
try:
    print(cubc.sum(np.arange(100.0), device="cpu"))
except cubc.CompileError:
    print("CompileError")
"""


def start(cache, count):
    """Starts processes that are about to sum."""
    command, env = [sys.executable, "-c", SAYING], isolated.environment(CUBC_CACHE=cache)
    processes = [
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * count
    time.sleep(0.5)  # for the call itself
    return processes


def wait_for(path):
    deadline = time.monotonic() + 500
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_one_of_several_processes_compiles(compiler, tmp_path):
    runs = compiler('while [ ! -e "$HERE/go" ]; do sleep 0.01; done\nreal "$@"')
    processes = start(tmp_path / "cache", 4)
    wait_for(tmp_path / "runs")
    (tmp_path / "go").touch()
    assert [process.communicate()[0] for process in processes] == ["4950.0\n"] * 4
    assert runs() == 1


def test_all_compile_once_one_was_killed(compiler, tmp_path):
    runs = compiler(': >"$HERE/begun"\nwhile [ ! -e "$HERE/go" ]; do sleep 0.01; done\nreal "$@"')
    (first,) = start(tmp_path / "cache", 1)
    wait_for(tmp_path / "begun")
    others = start(tmp_path / "cache", 2)
    assert runs() == 1
    first.kill()
    (tmp_path / "go").touch()
    assert [process.communicate()[0] for process in others] == ["4950.0\n"] * 2
    first.communicate()


def test_a_compiler_that_refuses_is_asked_at_once_by_all(compiler, tmp_path):
    """Those who waited for the first one are in their compilers together."""
    body = """
        mine=$(wc -l <"$HERE/runs")
        while [ ! -e "$HERE/go" ]; do sleep 0.01; done
        while [ $mine != 1 ] && [ $(wc -l <"$HERE/runs") -lt 4 ]; do sleep 0.01; done
        exit 1
    """
    runs = compiler(body)
    processes = start(tmp_path / "cache", 4)
    wait_for(tmp_path / "runs")
    (tmp_path / "go").touch()
    assert [p.communicate()[0] for p in processes] == ["CompileError\n"] * 4
    assert runs() == 4


def test_one_that_closes_its_output_and_hangs(compiler):
    compiler("exec >&- 2>&-\nexec sleep 1000")
    with pytest.raises(TimeoutError, match=r"compiling .* took longer than 0\.3 s"):
        _core.compile(*VARIANT, 0.3)


def test_ctrl_c_while_one_hangs_without_output(compiler, tmp_path):
    compiler('exec >&- 2>&-\n: >"$HERE/hangs"\nexec sleep 1000')
    code = """
        import os, signal, sys, threading, time
        from cubc import _core

        def press():
            while not os.path.exists(sys.argv[1]):
                time.sleep(0.01)
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=press, daemon=True).start()
        try:
            _core.compile("transform.mul", {"T{ct}": "F32"}, "cpu", "base")
        except KeyboardInterrupt:
            print("ended")
    """
    assert isolated.output(textwrap.dedent(code), tmp_path / "hangs") == "ended"


def test_one_that_leaves_a_server_in_a_measuring_process(compiler, tmp_path):
    """No variant is taken for the one that left it."""
    compiler('setsid sleep 60 >/dev/null 2>&1 </dev/null &\nreal "$@"')
    code = """
        import sys
        from cubc import tuner

        found = tuner.search(
            "reduce.sum", {"T": "F32", "Elements": 16}, db=sys.argv[1], device="cpu", variants=2,
            timing={"max_samples": 3}, confirm=0, racing=False, progress=False,
        )
        print(*found.scores().status)
    """
    cache = tmp_path / "cache"
    said = isolated.output(textwrap.dedent(code), tmp_path / "store.db", CUBC_CACHE=cache)
    assert said == "ok ok ok"


def test_one_that_leaves_a_child_with_its_output(compiler, tmp_path):
    compiler('setsid sleep 1000 &\necho $! >"$HERE/child"\nreal "$@"')
    try:
        assert _core.compile(*VARIANT) > 0
    finally:
        os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)
