"""A GPU that is shared, and processes on it that end badly: an error, never a wrong number."""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import inputs
import isolated
import pytest

import cubc

pytestmark = pytest.mark.gpu
GPU = "cuda:0"


def start(code, **changes):
    """Start code in a Python of its own that is talked to by lines."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=isolated.environment(**changes),
        cwd=Path(isolated.__file__).parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def check_gpu():
    x = inputs.random("I32", 300_001)
    assert cubc.sum(cubc.asarray(x, device=GPU)).item() == x.sum()


CAPTURING = """
import numpy as np, cubc
from cudart import Stream
stream = Stream()
d = cubc.asarray(np.ones(100_000, "i4"), device="cuda:0")
out = cubc.empty(d.size, "i4", device="cuda:0")
cubc.scan(d, out=out, stream=stream)
stream.wait()
def queue():
    cubc.scan(d, out=out, stream=stream)
    print("captured", flush=True)
    input()
stream.capture(queue)
"""


def test_a_process_killed_while_it_captures():
    with start(CAPTURING) as process:
        assert process.stdout.readline() == "captured\n"
        process.send_signal(signal.SIGKILL)
        process.wait(30)
    check_gpu()


EXHAUSTING = """
import numpy as np, cubc
x = np.arange(1000)
cubc.sum(x, device="cuda:0")  # the context is there
print("ready", flush=True)
input()
chunk = cubc.device_info("cuda:0")["memory_bytes"] // 64
for again in range(3):
    kept = []
    try:
        while True:
            kept.append(cubc.empty(chunk, "u1", device="cuda:0"))
    except cubc.DeviceMemoryError as error:
        assert "memory" in str(error)
    kept = kept[: len(kept) // 2]
    d = cubc.asarray(x, device="cuda:0")
    assert cubc.sum(d).item() == x.sum()
print("right", flush=True)
"""


def test_two_processes_run_out_of_memory():
    with start(EXHAUSTING) as first, start(EXHAUSTING) as second:
        for process in (first, second):
            assert process.stdout.readline() == "ready\n"
        for process in (first, second):
            process.stdin.write("\n")
            process.stdin.flush()
        for process in (first, second):
            assert process.stdout.readline() == "right\n"
            assert process.wait(60) == 0
    check_gpu()


# ---- machine code ------------------------------------------------------------------------------
SUM = """
import numpy as np, cubc
x = np.arange(100_000)
try:
    print(cubc.sum(x, device="cuda:0") == x.sum())
except RuntimeError as error:
    print("refused:", error)
"""
DAMAGE = {
    "truncated": lambda code: code[: len(code) // 2],
    "sections": lambda code: code[:64] + b"\xff" * 448 + code[512:],
    "middle": lambda code: code[: len(code) // 3] + bytes(1024) + code[len(code) // 3 + 1024 :],
    "table": lambda code: code[:40] + b"\xff\xff\xff\x7f" + code[44:],
    "text": lambda code: b"x" * len(code),
    "nothing": lambda code: b"",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_machine_code_behind_a_valid_hash(tmp_path, damage):
    """The file's header vouches for the damage: magic, version, key, length, SHA-256, payload."""
    folder = tmp_path / "cache"
    assert isolated.output(SUM, CUBC_CACHE=folder) == "True"
    files = [path for path in folder.glob("*/*") if path.is_file() and len(path.name) == 64]
    assert files
    for path in files:
        whole = path.read_bytes()
        code = DAMAGE[damage](whole[120:])
        length = len(code).to_bytes(8, "little")
        path.write_bytes(whole[:80] + length + hashlib.sha256(code).digest() + code)
    result = isolated.run(SUM, CUBC_CACHE=folder)
    assert result.returncode == 0, f"{damage}: {result.returncode} {result.stderr}"
    assert result.stdout.strip() == "True" or result.stdout.startswith("refused:")
    check_gpu()
    assert os.listdir(folder)
