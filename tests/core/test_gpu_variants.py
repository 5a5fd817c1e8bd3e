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
ROOT = Path(__file__).resolve().parents[2]


# Several algorithms a process, as starting one costs as much as ten kernels. Each has another seed.
ALGORITHMS = list(gpu_variants.LABELS)
PROCESSES = 5


@pytest.mark.parametrize("seed", range(1, PROCESSES + 1))
def test_under_a_random_scheduler(seed):
    algorithms = ALGORITHMS[seed - 1 :: PROCESSES]
    result = subprocess.run(
        [sys.executable, "-W", "error", PROGRAM, *algorithms],
        env=isolated.environment(CUBC_SIMT_SEED=seed, CUBC_CPU_THREADS=2),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    found = re.findall(r"^(\w+) (against_\w+) (\d+)$", result.stdout, re.MULTILINE)
    counts = {(algorithm, case): int(count) for algorithm, case, count in found}
    assert len(result.stdout.splitlines()) == len(counts) == 2 * len(algorithms), result.stdout
    for algorithm in algorithms:
        launches = 2 * len(list(gpu_variants.running(algorithm)))
        assert counts[algorithm, "against_base"] == launches
        assert counts[algorithm, "against_numpy"] > 10 or algorithm not in gpu_variants.CALLS


def test_every_primitive_is_here():
    listed = (ROOT / "csrc/run/list.def").read_text()
    names = re.findall(r"^(?:ALGORITHM|WITHOUT_CALL)\((\w+)\)", listed, re.MULTILINE)
    primitives = {name for name in names if (ROOT / f"csrc/primitives/{name}.c").exists()}
    assert "reduce" in primitives
    assert primitives <= set(gpu_variants.LABELS)
    assert primitives <= set(gpu_variants.CALLS)


@pytest.mark.parametrize("algorithm", gpu_variants.LABELS)
def test_pairs_that_are_among_the_combinations(algorithm):
    alike = {"I8": "byte", "BOOL": "byte"}
    every = list(enumerate(gpu_variants.LABELS[algorithm]))
    taken = [
        (name, alike.get(type, type), label)
        for name, type, _, label in gpu_variants.combinations(algorithm, every)
    ]
    names, labels = gpu_variants.BENCHMARKS[algorithm], gpu_variants.LABELS[algorithm]
    lattices = gpu_variants.is_of_lattices(algorithm)
    own = gpu_variants.types_of(algorithm, 0)
    types = ("F32", "F64") if lattices else [alike.get(type, type) for type in own]
    assert {(name, type) for name, type, _ in taken} == set(product(names, types))
    assert {label for _, _, label in taken} == set(labels)
    assert lattices or {(type, label) for _, type, label in taken} == set(product(types, labels))


SHIPPED = (
    "histogram.even",
    "histogram.even Bins=2097152",
    "histogram.range",
    "merge.keys",
    "merge_sort.keys",
    "merge_sort.pairs",
    "reduce.sum",
    "reduce.argmin",
    "scan.exclusive.sum",
    "searchsorted.lower",
    "find.if",
    "axis_reduce.sum",
    "axis_reduce.argmax",
    "axis_reduce.several",
    "segmented_reduce.sum SegmentSize=256",
    "row_reduce.sum SegmentSize=1000",
    "row_reduce.argmin SegmentSize=37",
    "row_reduce.several SegmentSize=37",
    "select.flagged",
    "select.three_way",
    "transform.triad",
    "sort.keys",
    "sort.pairs",
    "topk.pairs",
)
POLICIES = ("I8", "sm_75"), ("F32", "sm_75"), ("F16", "sm_90"), ("I64", "sm_90")


@pytest.mark.some(15)
@pytest.mark.parametrize(
    ("name", "type", "arch"),
    [
        (name, *policy)
        for k, name in enumerate(SHIPPED)
        for policy in POLICIES[k % 2 :: 2]  # one for each GPU
    ],
)
def test_shipped_policies(name, type, arch):
    """Blocks in order, as GPUs start them."""
    name, *more = name.split()
    rt = {axis: int(value) for axis, value in (text.split("=") for text in more)}
    label = _core.base(name, {"T{ct}": type}, arch, {"Elements": 1 << 28, **rt})
    workload = _core.Workload(name, {"T{ct}": type}, {"Elements": 1 << 14, **rt}, "cpu")
    assert workload.verify(workload.variant(label)) == 0


@pytest.mark.some
@pytest.mark.parametrize("type", ["I8", "U8"])
@pytest.mark.parametrize("name", ["reduce.sum", "reduce.min", "reduce.max"])
def test_bytes_four_at_a_time(name, type):
    """Few items, so that an extreme is in one place."""
    label = "ipt_32.tpb_128.ipv_4.ld_0.sm_1.wav_1.ms_1.ord_0"
    for seed in range(8):
        rt = {"Elements{io}[pow2]": 6}
        workload = _core.Workload(name, {"T{ct}": type}, rt, "cpu", seed=seed)
        assert workload.verify(workload.variant(label)) == 0


def test_limits_of_a_gpu_hold_for_its_variants():
    """A variant that no GPU could hold in its registers is refused on the cpu too."""
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
