"""Collectives in kernels of a user's own, on every device: see collectives.py."""

import subprocess
import sys
from pathlib import Path

import collectives
import isolated
import pytest
from every_case import EVERY_CASE
from nvrtc import why_no_nvrtc

from cubc import _core, _source


@pytest.mark.parametrize(("family", "threads"), collectives.TURNS)
def test_against_numpy(family, threads, device):
    collectives.FAMILIES[family](collectives.Case(device, threads))


@pytest.mark.parametrize("seed", [2])
def test_under_a_random_scheduler(seed):
    result = subprocess.run(
        [sys.executable, "-W", "error", Path(collectives.__file__)],
        env=isolated.environment(CUBC_SIMT_SEED=seed, CUBC_CPU_THREADS=2),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == list(collectives.FAMILIES)


MACROS = {"T": "float", "N": 4, "M": 3, "HOW": 2, "BINS": 64}


ARCHS = ("sm_75", "sm_90", "sm_100")


@pytest.mark.parametrize(
    ("path", "arch"),
    [
        pytest.param(path, arch, id=f"{path.stem}-{arch}")
        for k, path in enumerate(sorted(collectives.FOLDER.iterdir()))
        for arch in (ARCHS if EVERY_CASE else [ARCHS[k % 3]])
    ],
)
def test_cuda_takes_them(path, arch):
    if why := why_no_nvrtc(arch):
        pytest.skip(why)
    text = _source.Source(path, "").compiled(arch, MACROS, 1024)
    assert _core.source_compile(text, arch, path.name) >= 0


def test_every_header_for_kernels_is_tried():
    included = {line for p in collectives.FOLDER.iterdir() for line in p.read_text().splitlines()}
    headers = Path(_core.source_folder(), "block").glob("block*.h")
    missing = [h.name for h in headers if f'#include "{h.name}"' not in included]
    assert missing == ["block_radix.h"]  # block_sort.h is built on it
