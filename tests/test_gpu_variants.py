"""The variants of GPUs on the cpu, thread for thread: see gpu_variants.py."""

import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import gpu_variants
import isolated
import pytest

from cubc import _core

PROGRAM = Path(gpu_variants.__file__)


# A seed each: there are as many more orders of threads as there are algorithms.
@pytest.mark.parametrize(("seed", "algorithm"), list(enumerate(gpu_variants.LABELS, start=1)))
def test_under_a_random_scheduler(algorithm, seed):
    result = subprocess.run(
        [sys.executable, "-W", "error", PROGRAM, algorithm],
        env=isolated.environment(CUBC_SIMT_SEED=seed, CUBC_CPU_THREADS=2),
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert result.returncode == 0, result.stderr
    counts = dict(re.findall(r"^(against_\w+) (\d+)$", result.stdout, re.MULTILINE))
    assert len(result.stdout.splitlines()) == 2, result.stdout
    assert int(counts["against_base"]) == 2 * len(list(gpu_variants.combinations(algorithm)))
    assert int(counts["against_numpy"]) > 30 or algorithm not in gpu_variants.CALLS


@pytest.mark.parametrize("algorithm", gpu_variants.LABELS)
def test_every_pair_is_among_the_combinations(algorithm):
    taken = [(name, type, label) for name, type, _, label in gpu_variants.combinations(algorithm)]
    names, labels = gpu_variants.BENCHMARKS[algorithm], gpu_variants.LABELS[algorithm]
    types = {name: [type for type, _ in gpu_variants.cases_of(name)] for name in names}
    assert {(name, type) for name, type, _ in taken} == {(n, t) for n in names for t in types[n]}
    assert {(name, label) for name, _, label in taken} == set(product(names, labels))
    assert {(type, label) for _, type, label in taken} == set(product(types[names[0]], labels))


@pytest.mark.parametrize(
    ("arch", "type"), [("sm_75", "I8"), ("sm_75", "F32"), ("sm_90", "F16"), ("sm_90", "I64")]
)
@pytest.mark.parametrize(
    "name",
    [
        "histogram.even.256",
        "histogram.even.2097152",
        "histogram.range.256",
        "merge.keys",
        "merge_sort.keys",
        "merge_sort.pairs",
        "reduce.sum",
        "reduce.argmin",
        "scan.exclusive.sum",
        "searchsorted.lower",
        "find.if",
        "axis_reduce.sum.tall",
        "axis_reduce.argmax.middle",
        "segmented_reduce.sum.medium",
        "segmented_reduce.sum.rows",
        "select.flagged",
        "select.three_way",
        "transform.triad",
        "sort.keys",
        "sort.pairs",
        "topk.pairs",
    ],
)
def test_shipped_policies(name, type, arch):
    """Blocks in order, as GPUs start them."""
    label = _core.base(name, {"T{ct}": type}, arch)
    workload = _core.Workload(name, {"T{ct}": type}, {"Elements{io}[pow2]": 14}, "cpu")
    assert workload.verify(workload.variant(label)) == 0


@pytest.mark.parametrize("type", ["I8", "U8"])
@pytest.mark.parametrize("name", ["reduce.sum", "reduce.min", "reduce.max"])
def test_bytes_four_at_a_time(name, type):
    """Of few items, so that an extreme is in one place."""
    label = "ipt_32.tpb_128.ipv_4.ld_0.sm_1.wav_1.ms_1.ord_0"
    for seed in range(8):
        rt = {"Elements{io}[pow2]": 6}
        workload = _core.Workload(name, {"T{ct}": type}, rt, "cpu", seed=seed)
        assert workload.verify(workload.variant(label)) == 0


def test_limits_of_a_gpu_hold_for_its_variants():
    """What no GPU could hold in its registers is refused on the cpu too."""
    label = "ipt_32.tpb_1024.ipv_1.ld_1.sm_1.wav_1.ms_1.ord_0"
    why = _core.variant_invalid("reduce.sum", {"T{ct}": "I64"}, "cpu", label)
    assert "do not fit the registers" in why


@pytest.mark.parametrize("label", ["ipt_512.tpb_256", "ipt_16.tpb_1", "ipt_256.tpb_64"])
def test_a_variant_is_of_one_device(label):
    """Values of the cpu's ranges and of cuda's do not mix."""
    label += ".ipv_2.ld_1.sm_1.wav_1.ms_1.ord_0"
    with pytest.raises(ValueError, match="declared"):
        _core.variant_invalid("reduce.sum", {"T{ct}": "F32"}, "cpu", label)


def test_a_gpu_runs_no_variant_of_the_cpu():
    label = _core.base("reduce.sum", {"T{ct}": "F32"}, "cpu")
    with pytest.raises(ValueError, match="declared as 4:32:4"):
        _core.variant_invalid("reduce.sum", {"T{ct}": "F32"}, "sm_90", label)
