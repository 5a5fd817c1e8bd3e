"""Variants of a GPU kernel that write where they must not: those after them find clean memory."""

import numpy as np
import pytest
import stores

import cubc
from cubc import tuner

pytestmark = pytest.mark.gpu
GPU = "cuda:0"
TIMING = {"min_samples": 3, "max_samples": 3, "timeout": 0.5}

# The even variants are right; each comes after one that is not.
KERNEL = """
// %RANGE% TUNE_WILD wild 0:10:1
__global__ void k(float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] + 1;
    if (TUNE_WILD == 1) x[i] = 7;                            // its input
    if (TUNE_WILD == 3) y[i + n] = 7;                        // behind its output
    if (TUNE_WILD == 5) y[i - n] = 7;                        // before it
    if (TUNE_WILD == 7) y[i + (1ll << 40)] = 7;              // where nothing is
    if (TUNE_WILD == 9) for (long long k = i; k < 1 << 28; k += n) y[k] = 7;  // all behind it
}
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wild")

    @tuner.benchmark(KERNEL, {"Elements{io}[pow2]": [16]}, base={"wild": 0})
    def wild(state):
        n = 1 << 16
        x, y = state.random(n, "F32"), state.empty(n, "F32")
        state.reads(x)
        state.verify(y, x.numpy() + 1)
        state.exec(lambda launch: launch.kernel("k", x, y, n, grid=n // 256, block=256))

    db = str(folder / "store.db")
    tuner.search(
        wild, db=db, device=GPU, strategy="exhaustive", timing=TIMING, racing=False, confirm=0
    )
    return {row["variant"]: row for row in stores.read(db)}


@pytest.mark.parametrize("wild", [2, 4, 6, 8, 10])
def test_the_next_variant_is_right(found, wild):
    row = found[f"wild_{wild}"]
    assert (row["status"], row["message"]) == ("ok", "")


def test_a_write_to_nowhere_is_a_fault(found):
    assert found["wild_7"]["status"] == "fault"


@pytest.mark.parametrize("wild", [1, 3, 5, 9])
def test_a_write_to_memory_of_others_is_never_a_wrong_number(found, wild):
    """It may go unseen where nothing that is looked at was hit, but no time is without a check."""
    row = found[f"wild_{wild}"]
    assert row["status"] in ("ok", "wrong", "fault")
    assert row["status"] != "ok" or row["checked"] > 0


def test_the_caller_goes_on(found):
    assert cubc.sum(cubc.asarray(np.ones(1000), device=GPU)).item() == 1000
