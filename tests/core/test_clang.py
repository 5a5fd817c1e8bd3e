"""Kernels of the cpu device with clang++, where c++ is another compiler: every header of theirs."""

import re
import shutil
from pathlib import Path

import isolated
import pytest
from gpu_variants import LABELS

from cubc import _core

# Files that together include every header, and a workload of each. Where the cpu has a kernel of
# its own, the others are for variants of GPUs.
WORKLOADS = {
    "block_update.cu": ("block_update.direction", "F32"),
    "cpu_axis_reduce.cu": ("axis_reduce.sum", "F32"),
    "cpu_axis_scan.cu": ("axis_scan.inclusive.sum", "F32"),
    "cpu_merge_sort.cu": ("merge_sort.keys", "F32"),
    "cpu_row_reduce.cu": ("row_reduce.argmin", "F32"),
    "cpu_segmented_sort.cu": ("segmented_sort.keys", "F32"),
    "cpu_sort.cu": ("sort.keys", "I64"),
    "deterministic_scan.cu": ("deterministic_scan.sum", "F64"),
    "dslash_staggered.cu": ("dslash.improved.r13", "F32"),
    "dslash_twisted_clover.cu": ("dslash.twisted_clover.r12", "I16"),
    "gauge_update.cu": ("gauge_update.heat_bath", "F32"),
    "histogram.cu": ("histogram.even", "I16"),
    "merge_sort.cu": ("merge_sort.keys", "I32"),
    "reduce.cu": ("reduce.sum", "I8"),
    "scan.cu": ("scan.segmented", "F32"),
    "scatter.cu": ("scatter.sum", "F32"),
    "segmented_reduce.cu": ("segmented_reduce.sum", "F16"),
    "segmented_topk.cu": ("segmented_topk.rows", "F32"),
    "sort.cu": ("sort.keys", "F32"),
    "topk.cu": ("topk.pairs", "F32"),
}
OF_USERS = """
#include "block_adjacent.h"
#include "block_histogram.h"
#include "block_load.h"
#include "block_run_length.h"
#include "block_sort.h"

__global__ void __launch_bounds__(SIMT_THREADS) places(int* p)
{
    __shared__ block_scan_storage<int> storage;
    p[threadIdx.x] = block_exclusive_scan(1, 0, plus(), storage);
}
"""
ADDED = {"cuda.h", "entry.h", "plain_math.h"}  # to users' kernels
CODE = """
import sys
import numpy as np
import cubc
from cubc import _core

sys.path.append("../core")
import test_cuda_math
from test_clang import OF_USERS, workloads

for name, type, label in workloads():
    _core.compile(name, {"T{ct}": type}, "cpu", label)
p = cubc.asarray(np.zeros(64, "i4"), device="cpu")
cubc.Kernel(OF_USERS, "places", block=64, device="cpu")(p, grid=1)
assert p.numpy().tolist() == list(range(64))
test_cuda_math.test_every_function("cpu")
steps = cubc.lazy("x", x=np.arange(3))
for _ in range(150):  # of two brackets each
    steps = steps + 1
assert steps.array().tolist() == [150, 151, 152]
"""
SOURCES = {path.name: path for path in Path(_core.source_folder()).rglob("*.[ch]*")}


def workloads():
    """Benchmarks, types and labels."""
    for file, workload in WORKLOADS.items():
        yield *workload, LABELS[file[:-3]][0] if f"cpu_{file}" in SOURCES else "base"


def test_all_that_kernels_include():
    clang = shutil.which("clang++")
    if not clang:
        pytest.skip("clang++ is not installed")
    isolated.output(CODE, CUBC_CXX=clang)


def included(text, seen):
    for name in re.findall(r'#include "([\w.]+)"', text):
        if name not in seen:
            seen.add(name)
            included(SOURCES[name].read_text(encoding="utf-8"), seen)
    return seen


def test_every_header_is_tried():
    text = "".join(f'#include "{name}"\n' for name in (*WORKLOADS, *ADDED)) + OF_USERS
    headers = {name for name in SOURCES if name.endswith(".h")}
    assert headers <= included(text, set())
