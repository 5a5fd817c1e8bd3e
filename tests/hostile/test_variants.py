"""Variants that attack the process they run in, and the search through it.

None of them may hang the search, run anything in it, outlive it, or win.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest
import stores

from cubc import tuner
from cubc.tuner import _deadlines as deadlines
from cubc.tuner import _limits as limits

TIMING = {"min_samples": 3, "max_samples": 3, "timeout": 0.5}
PICKLED = pathlib.Path("/tmp/cubc-pickle")  # what a variant's pickle makes


@tuner.benchmark(
    pathlib.Path(__file__).with_name("variants.cu"),
    {"T{ct}": "F32", "Elements{io}[pow2]": [6]},
)
def adding(state):
    x, y = state.random(), state.empty()
    state.reads(x)
    state.verify(y, x.numpy() + 1)
    state.exec(lambda launch: launch.kernel("k", x, y, y.size, grid=1, block=64))


def marked(mark):
    """Processes that were started by a search whose environment has a mark."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes() and folder.name != str(os.getpid()):
                found.append((folder / "cmdline").read_bytes())
        except OSError:
            pass
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Rows of a search over all modes by variant, and processes that are left after it."""
    db = str(tmp_path_factory.mktemp("variants") / "store.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deadlines, "RUN_FLOOR", 3.0)
        patch.setattr(deadlines, "RUN_FACTOR", 0.0)
        patch.setattr(limits, "memory", lambda: 600 << 20)
        patch.setenv("CUBC_TEST_MARK", mark := f"marked-{os.getpid()}-{time.time()}")
        tuner.search(
            adding,
            db=db,
            device="cpu",
            strategy="exhaustive",
            timing=TIMING,
            racing=False,
            confirm=0,
        )
        left = marked(mark.encode())
    rows = {row["variant"]: row for row in stores.read(db)}
    return rows, left


@pytest.mark.parametrize(
    ("mode", "status", "message"),
    [
        (1, "timeout", "ran for over"),
        (2, "fault", "sent what is no reply"),
        (3, "fault", "sent what is no reply .a frame of 4294967295 bytes"),
        (4, "fault", "sent what is no reply"),
        (5, "fault", "sent a reply that was not asked for"),
        (6, "fault", "left processes behind"),
        (16, "fault", "left processes behind"),
        (7, "fault", "died of SIGSEGV"),
        (8, "resources", r"held .* GiB of memory, over 0\.59 GiB"),
        (9, "resources", "printed over 1 MiB"),
        (10, "resources", r"had \d+ files open, over 512"),
        (11, "ok", ""),
        (12, "fault", "lost its supervisor"),
        (13, "wrong", "1 of 64 items differ"),
        (14, "ok", ""),
        (15, "ok", ""),  # the one before has written over its input
    ],
)
def test_a_variant_is_recorded_for_what_it_does(found, mode, status, message):
    row = found[0][f"mode_{mode}"]
    assert row["status"] == status
    assert re.search(message, row["message"])


def test_nothing_was_unpickled(found):
    assert not PICKLED.exists()


def test_nothing_that_variants_started_is_left(found):
    """Not even what has left its session, or lost the supervisor that would have ended it."""
    assert found[1] == []


STRANGER = "open({marker!r}, 'w').close(); raise ImportError('this is of the current folder')"
SEARCH = (
    "search -R reduce.sum$ -a T=F32 -a Elements=16 --variants 1 --confirm 0 --quiet --device cpu"
)
CUBC = [shutil.which("cubc", path=pathlib.Path(sys.executable).parent)]


@pytest.fixture
def folder(tmp_path):
    """A folder with files whose names are those of modules that are imported."""
    for module in ("numpy", "json", "uuid", "sqlite3", "argparse", "multiprocessing", "pickle"):
        (tmp_path / f"{module}.py").write_text(STRANGER.format(marker=str(tmp_path / "ran")))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "arguments"), [(CUBC, SEARCH), ([sys.executable, "-m", "cubc"], "search -l")]
)
def test_nothing_of_the_current_folder_is_run(folder, command, arguments):
    done = subprocess.run(
        [*command, *arguments.split()], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, (folder / "ran").exists()) == (0, False), done.stderr
    assert "reduce.sum" in done.stdout


def test_what_a_user_runs_in_his_folder_finds_his_modules(tmp_path):
    """The path of the search is that of a benchmark's function, too."""
    (tmp_path / "mine.py").write_text("ONE = 1\n")
    (tmp_path / "script.py").write_text(OWN)
    subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True)


OWN = """
from cubc import tuner
import mine

SOURCE = '''
// %RANGE% TUNE_MODE mode 0:1:1
__global__ void k(const T* x, T* y, int n)
{
    for (int i = 0; i < n; i++) y[i] = x[i] + 1;
}
'''

@tuner.benchmark(SOURCE, {"T{ct}": "F32", "Elements{io}[pow2]": [6]})
def adding(state):
    from mine import ONE
    x, y = state.random(), state.empty()
    state.verify(y, x.numpy() + ONE)
    state.exec(lambda launch: launch.kernel("k", x, y, y.size, grid=1, block=1))

found = tuner.search(adding, db="own.db", device="cpu", confirm=0, timing={"max_samples": 3})
assert len(found.scores()) == 2
"""
