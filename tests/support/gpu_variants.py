"""Runs GPU variants of algorithms on the cpu, under the scheduler seed of CUBC_SIMT_SEED.

    python gpu_variants.py reduce scan

Blocks have up to 1024 threads, whose order the seed draws: a missing barrier or a wrong mask shows
as a wrong result or as a fault. A block's rank is its ticket (ord_0): with ord_1 it is its index,
which is right only where blocks start in order, as without a seed.

One of an algorithm's labels runs, of lattices one for each benchmark; CUBC_TESTS=all runs all.
"""

import re
import sys
from itertools import product

import inputs
import numpy as np
from every_case import EVERY_CASE
from gpu_calls import CALLS, LAZY

import cubc
from cubc import _core
from cubc.tuner._space import parse_label

SITES = [f"tpb_{threads}.spt_1" for threads in (32, 96, 256, 512)]
SITES_AND_BLOCKS = [f"tpb_{t}.mb_{mb}.spt_1" for t, mb in ((32, 1), (96, 2), (256, 1), (512, 1))]
DSLASH = [
    "tpb_32.mb_1.spt_1.sg_1.sf_0.kl_0.bx_1.by_1.bz_1.bt_1.sz_7.ld_0.ll_0.cv_0",
    "tpb_96.mb_2.spt_2.sg_3.sf_1.kl_1.bx_0.by_1.bz_0.bt_2.sz_1.ld_1.ll_1.cv_0",
    "tpb_256.mb_1.spt_4.sg_2.sf_0.kl_1.bx_6.by_6.bz_6.bt_6.sz_0.ld_0.ll_2.cv_0",
    "tpb_1024.mb_1.spt_3.sg_1.sf_1.kl_0.bx_2.by_0.bz_3.bt_0.sz_2.ld_1.ll_0.cv_0",
]


def one_group(label):
    return re.sub(r"sg_\d", "sg_1", label)


LABELS = {
    "axis_reduce": [
        "ipt_4.tpb_64.ipv_0.ld_0.wav_8",
        "ipt_8.tpb_192.ipv_1.ld_1.wav_4",
        "ipt_16.tpb_256.ipv_0.ld_1.wav_2",
        "ipt_4.tpb_1024.ipv_1.ld_0.wav_1",
    ],
    "axis_scan": [
        "ipt_4.tpb_64.ipv_0.rb_5.ld_0.lb_1.ns_0",
        "ipt_8.tpb_192.ipv_1.rb_8.ld_1.lb_2.ns_50",
        "ipt_16.tpb_256.ipv_0.rb_7.ld_1.lb_4.ns_0",
        "ipt_4.tpb_1024.ipv_1.rb_6.ld_0.lb_1.ns_0",
    ],
    "axis_sort": [
        "ipt_33.tpb_64.mb_1",
        "ipt_16.tpb_192.mb_2",
        "ipt_9.tpb_256.mb_1",
        "ipt_4.tpb_1024.mb_1",
    ],
    "block_update": ["tpb_32.mb_1.wpt_1", "tpb_96.mb_1.wpt_1"],
    "copy_batch": ["ipt_1.tpb_64", "ipt_3.tpb_192", "ipt_2.tpb_256", "ipt_1.tpb_1024"],
    "clover_apply": SITES,
    "clover_term": ["tpb_32", "tpb_64", "tpb_96"],
    "dslash_clover": DSLASH,
    "dslash_domain_wall": [
        f"cl_{k + 2}.{one_group(DSLASH[k]).replace('sf_1', 'sf_0')}" for k in range(4)
    ],
    "dslash_doublet": [DSLASH[0].replace("spt_1", "spt_2"), *map(one_group, DSLASH[1:3])],
    "dslash_staggered": [one_group(label).replace("kl_1", "kl_0") for label in DSLASH],
    "dslash_twisted": DSLASH,
    "dslash_twisted_clover": DSLASH[:2],
    "find": [
        "ipt_4.tpb_64.mb_1.ipv_0.ld_0.wav_1",
        "ipt_12.tpb_96.mb_1.ipv_2.ld_1.wav_1",
        "ipt_8.tpb_256.mb_4.ipv_1.ld_0.wav_1",
        "ipt_4.tpb_1024.mb_1.ipv_2.ld_1.wav_1",
    ],
    "fat_links": SITES_AND_BLOCKS,
    "field_update": [
        "tpb_32.mb_1.spt_1",
        "tpb_96.mb_2.spt_3",
        "tpb_256.mb_1.spt_2",
        "tpb_512.mb_1.spt_8",
    ],
    "deterministic_reduce": [
        "ipt_4.tpb_64.ld_0.wav_1",
        "ipt_8.tpb_96.ld_1.wav_3",
        "ipt_32.tpb_256.ld_1.wav_2",
        "ipt_16.tpb_1024.ld_0.wav_1",
    ],
    "deterministic_scan": [
        "tpb_128.ld_0",
        "tpb_128.ld_1",
        "tpb_256.ld_1",
        "tpb_256.ld_0",
    ],
    "gauge_measure": [
        "tpb_32.mb_1.wav_1",
        "tpb_96.mb_2.wav_3",
        "tpb_256.mb_1.wav_2",
        "tpb_512.mb_1.wav_1",
        "tpb_64.mb_4.wav_1",
        "tpb_160.mb_1.wav_4",
    ],
    "gauge_project": [*SITES, "tpb_64.spt_1", "tpb_160.spt_1"],
    "gauge_random": SITES,
    "gauge_rotate": SITES,
    "gauge_temporal": SITES,
    "gauge_update": SITES_AND_BLOCKS,
    "part_copy": SITES,
    "histogram": [
        "ipt_4.tpb_128.mb_1.ipv_0.ld_0.pc_0.sb_12.cmb_0.wav_1",
        "ipt_8.tpb_192.mb_2.ipv_2.ld_1.pc_5.sb_15.cmb_1.wav_2",
        "ipt_16.tpb_256.mb_1.ipv_1.ld_1.pc_3.sb_13.cmb_2.wav_1",
        "ipt_4.tpb_1024.mb_1.ipv_2.ld_0.pc_2.sb_12.cmb_2.wav_4",
    ],
    "long_links": SITES,
    "merge": [
        "ipt_5.tpb_64.mb_1",
        "ipt_4.tpb_192.mb_2",
        "ipt_8.tpb_256.mb_3",
        "ipt_7.tpb_1024.mb_1",
    ],
    "merge_sort": [
        "ipt_5.tpb_64.mb_1",
        "ipt_4.tpb_192.mb_2",
        "ipt_9.tpb_256.mb_3",
        "ipt_4.tpb_1024.mb_1",
    ],
    "reduce": [
        "ipt_4.tpb_128.ipv_0.ld_0.sm_0.wav_6.ms_1.ord_0",
        "ipt_16.tpb_256.ipv_2.ld_1.sm_1.wav_1.ms_1.ord_0",
        "ipt_8.tpb_416.ipv_1.ld_1.sm_0.wav_2.ms_1.ord_0",
        "ipt_4.tpb_1024.ipv_2.ld_0.sm_1.wav_3.ms_1.ord_0",
    ],
    "repeat": [
        "ipt_4.tpb_64.mb_1.ipv_0",
        "ipt_12.tpb_96.mb_1.ipv_2",
        "ipt_16.tpb_256.mb_1.ipv_1",
        "ipt_4.tpb_1024.mb_1.ipv_2",
    ],
    "row_reduce": [
        "lpt_1.tpb_64.mb_1.ipv_0.ld_0.wav_1",
        "lpt_3.tpb_96.mb_2.ipv_1.ld_1.wav_3",
        "lpt_8.tpb_256.mb_1.ipv_1.ld_0.wav_2",
        "lpt_2.tpb_1024.mb_1.ipv_0.ld_1.wav_16",
    ],
    "runs": [
        "ipt_4.tpb_64.mb_1.ipv_0.ld_0.la_0.ord_0.ns_0.l2w_0",
        "ipt_12.tpb_96.mb_1.ipv_2.ld_1.la_0.ord_0.ns_50.l2w_100",
        "ipt_14.tpb_256.mb_1.ipv_1.ld_1.la_0.ord_0.ns_0.l2w_0",
        "ipt_4.tpb_1024.mb_1.ipv_2.ld_0.la_0.ord_0.ns_0.l2w_0",
    ],
    "scan": [
        "ipt_4.tpb_64.mb_1.pk_0.ipv_0.ld_0.la_0.ord_0.lb_1.ns_0.l2w_0",
        "ipt_8.tpb_96.mb_1.pk_1.ipv_2.ld_1.la_0.ord_0.lb_3.ns_50.l2w_100",
        "ipt_16.tpb_256.mb_1.pk_5.ipv_1.ld_1.la_0.ord_0.lb_4.ns_0.l2w_0",
        "ipt_4.tpb_1024.mb_1.pk_0.ipv_2.ld_0.la_0.ord_0.lb_2.ns_0.l2w_0",
    ],
    "searchsorted": [
        "ipt_1.tpb_64.mb_1.ipv_0.lev_0",
        "ipt_6.tpb_192.mb_2.ipv_1.lev_5",
        "ipt_4.tpb_256.mb_1.ipv_2.lev_9",
        "ipt_2.tpb_1024.mb_1.ipv_1.lev_13",
    ],
    "segment_ids": [
        "ipt_4.tpb_64.ipv_0",
        "ipt_32.tpb_192.ipv_1",
        "ipt_24.tpb_256.ipv_0",
        "ipt_16.tpb_1024.ipv_2",
    ],
    "segmented_reduce": [
        "ipt_4.tpb_64.mb_1.ipv_0.ld_0.ept_1.wav_4.lb_1",
        "ipt_16.tpb_96.mb_1.ipv_2.ld_1.ept_4.wav_1.lb_3",
        "ipt_28.tpb_256.mb_1.ipv_1.ld_1.ept_2.wav_2.lb_2",
        "ipt_8.tpb_1024.mb_1.ipv_2.ld_0.ept_1.wav_1.lb_4",
    ],
    "segmented_sort": [
        "ipt_4.tpb_64.mb_1",
        "ipt_5.tpb_192.mb_2",
        "ipt_9.tpb_256.mb_1",
        "ipt_8.tpb_1024.mb_1",
    ],
    "segmented_topk": [
        "ipt_2.tpb_64.mb_1",
        "ipt_6.tpb_192.mb_2",
        "ipt_16.tpb_256.mb_1",
        "ipt_4.tpb_1024.mb_1",
    ],
    "select": [
        "ipt_4.tpb_64.mb_1.ipv_0.ld_0.la_0.ord_0.ns_0.l2w_0",
        "ipt_12.tpb_96.mb_1.ipv_2.ld_1.la_0.ord_0.ns_50.l2w_100",
        "ipt_14.tpb_256.mb_1.ipv_1.ld_1.la_0.ord_0.ns_0.l2w_0",
        "ipt_8.tpb_1024.mb_1.ipv_2.ld_0.la_0.ord_0.ns_0.l2w_0",
    ],
    "sort": [
        # By bins, which are 256 blocks for however few items: with few threads.
        "ipt_4.tpb_128.mb_1.lb_1.hc_0.la_0.ord_0.shr_1.bin_5",
        "ipt_5.tpb_160.mb_2.lb_3.hc_2.la_0.ord_0.shr_4.bin_20",
        # By passes.
        "ipt_9.tpb_256.mb_1.lb_2.hc_3.la_0.ord_0.shr_4.bin_0",
        "ipt_4.tpb_1024.mb_1.lb_8.hc_1.la_0.ord_0.shr_4.bin_0",
    ],
    "spinor_twist": SITES,
    "topk": [
        "ipt_4.tpb_128.mb_1.ipv_0.ld_0.hc_0",
        "ipt_8.tpb_224.mb_1.ipv_1.ld_1.hc_1",
        "ipt_12.tpb_256.mb_2.ipv_2.ld_1.hc_2",
        "ipt_4.tpb_1024.mb_1.ipv_2.ld_0.hc_0",
    ],
    "transform": [
        "ipt_3.tpb_64.ipv_0.ld_0",
        "ipt_4.tpb_224.ipv_1.ld_1",
        "ipt_8.tpb_256.ipv_2.ld_1",
        "ipt_2.tpb_1024.ipv_1.ld_0",
    ],
    "take": [
        "ipt_1.tpb_64",
        "ipt_3.tpb_96",
        "ipt_16.tpb_256",
        "ipt_2.tpb_1024",
    ],
    "scatter": [
        "ipt_1.tpb_64",
        "ipt_3.tpb_96",
        "ipt_16.tpb_256",
        "ipt_2.tpb_1024",
    ],
    "transpose": [
        "ipt_2.tpb_64.mb_1",
        "ipt_6.tpb_192.mb_2",
        "ipt_16.tpb_256.mb_4",
        "ipt_4.tpb_1024.mb_1",
    ],
}
BENCHMARKS = {
    "axis_reduce": ["axis_reduce.sum", "axis_reduce.argmax", "axis_reduce.several"],
    "axis_scan": ["axis_scan.inclusive.sum"],
    "axis_sort": ["axis_sort.keys", "axis_sort.indices", "axis_sort.rows"],
    "block_update": ["block_update.direction"],
    "copy_batch": ["copy_batch.buffers"],
    "clover_apply": ["clover_apply.site"],
    "clover_term": ["clover_term.field"],
    "dslash_clover": ["dslash.clover.r12"],
    "dslash_domain_wall": ["dslash.domain_wall.r12"],
    "dslash_doublet": ["dslash.doublet.r12"],
    "dslash_staggered": ["dslash.naive.r12", "dslash.improved.r13"],
    "dslash_twisted": ["dslash.twisted.r18", "dslash.twisted.r12"],
    "dslash_twisted_clover": ["dslash.twisted_clover.r12"],
    "fat_links": ["fat_links.field"],
    "field_update": ["field_update.cg"],
    "find": ["find.if"],
    "deterministic_reduce": ["deterministic_reduce.sum", "deterministic_reduce.segments"],
    "deterministic_scan": [
        "deterministic_scan.sum",
        "deterministic_scan.by_key",
        "deterministic_scan.segmented",
        "deterministic_scan.runs",
    ],
    "gauge_measure": [
        "gauge_measure.plaquettes",
        "gauge_measure.unitarity",
        "gauge_measure.temporal",
    ],
    "gauge_project": ["gauge_project.rows", "gauge_project.nearest", "gauge_project.unitary"],
    "gauge_random": ["gauge_random.links"],
    "gauge_rotate": ["gauge_rotate.links", "gauge_rotate.spinors"],
    "gauge_temporal": ["gauge_temporal.rotation"],
    "gauge_update": ["gauge_update.heat_bath", "gauge_update.over_relax"],
    "part_copy": ["part_copy.surround", "part_copy.crop"],
    "histogram": ["histogram.even", "histogram.range"],
    "long_links": ["long_links.field"],
    "merge": ["merge.keys", "merge.pairs"],
    "merge_sort": ["merge_sort.keys", "merge_sort.pairs"],
    "reduce": ["reduce.dot", "reduce.sum", "reduce.argmax", "reduce.min"],
    "repeat": ["repeat.runs"],
    "runs": ["runs.reduce", "runs.encode", "runs.nontrivial", "runs.unique"],
    "scan": ["scan.exclusive.sum", "scan.inclusive.max", "scan.by_key", "scan.segmented"],
    "searchsorted": ["searchsorted.lower", "searchsorted.upper"],
    "segment_ids": ["segment_ids.offsets"],
    "row_reduce": ["row_reduce.sum", "row_reduce.argmin", "row_reduce.several"],
    "segmented_reduce": ["segmented_reduce.sum", "segmented_reduce.argmin"],
    "segmented_sort": ["segmented_sort.keys", "segmented_sort.pairs"],
    "segmented_topk": ["segmented_topk.segments", "segmented_topk.rows.unordered"],
    "select": ["select.unique", "select.three_way"],
    "sort": ["sort.keys", "sort.pairs"],
    "spinor_twist": ["spinor_twist.apply"],
    "take": ["take.items", "take.rows"],
    "scatter": ["scatter.set", "scatter.sum"],
    "topk": ["topk.pairs"],
    "transform": ["transform.mul", "transform.nstream", "transform.table", "transform.split"],
    "transpose": ["transpose.matrix"],
}
TYPES = ("F32", "I64", "I8"), ("F32", "I64", "BOOL")  # one of each size
VOLUMES = {"X": 4, "Y": 4, "Z": 8, "T": 8}, {"X": 12, "Y": 6, "Z": 10, "T": 2}


def is_of_lattices(algorithm):
    """Tell if its items are sites: their types are floats, and what runs is alike for all."""
    return "X" in _core.benchmarks()[BENCHMARKS[algorithm][0]]


def types_of(algorithm, k):
    """Types of the k-th label; all that there are where arrays are of integers alone."""
    known = _core.benchmarks()[BENCHMARKS[algorithm][0]]["T{ct}"]
    return TYPES[k % 2] if "F32" in known else tuple(known)


def labels_of(algorithm):
    """(number, label) of those that run: one, in turns, but of lattices every second."""
    all_ = list(enumerate(LABELS[algorithm]))
    if EVERY_CASE:
        return all_
    turn = list(LABELS).index(algorithm)
    step = 2 if is_of_lattices(algorithm) else len(all_)
    return all_[turn % step :: step]


def combinations(algorithm, labels):
    """Benchmark, type, run-time workload, and label: pairs of them, in few triples.

    They have every label with each size of items, and every benchmark with each size. Those of
    lattices have every label, on a volume that bricks divide or on one that they do not. Where
    sums are rounded to fixed point the compilers' last digits differ: I16 is not among the types.
    """
    names = BENCHMARKS[algorithm]
    for k, label in labels:
        if is_of_lattices(algorithm):
            benchmark = names[k // 2 % len(names)]
            types = [type for type in _core.benchmarks()[benchmark]["T{ct}"] if type != "I16"]
            rt = VOLUMES[k % 2]
            if "Sources" in _core.benchmarks()[benchmark]:
                rt = rt | {"Sources": 3 if k else 1}
            yield benchmark, types[k % len(types)], rt, label
        else:
            for t, type in enumerate(types_of(algorithm, k)):
                yield names[(t + k) % len(names)], type, {"Elements": 1 << (13 + t)}, label


def running(algorithm):
    """The combinations that run: of lattices every benchmark, else every type."""
    labels = labels_of(algorithm)
    if is_of_lattices(algorithm) and not EVERY_CASE:
        labels = labels[-len(BENCHMARKS[algorithm]) :]
    return combinations(algorithm, labels)


def against_base(algorithm):
    """(what, items that differ from those of the cpu's own variant) of the combinations."""
    for benchmark, type, rt, label in running(algorithm):
        workload = _core.Workload(benchmark, {"T{ct}": type}, rt, "cpu")
        variant = workload.variant(label)
        assert variant.label == label
        for _ in range(2):  # the second launch finds the messages of the first
            yield f"{benchmark} {type} {label}", workload.verify(variant)


def against_numpy(algorithm):
    """The same of whole calls, at every boundary of the variant; then of lazy inputs.

    Calls on lattices have tests of their own.
    """
    if algorithm not in CALLS:
        return
    benchmark, call, reference = CALLS[algorithm]
    x = inputs.random("I64", 100_000)
    for k, label in labels_of(algorithm):
        _core.use_policy(benchmark, {"T{ct}": "I64"}, "cpu", label)
        for n in inputs.sizes_of(parse_label(label), blocks=(1,), further=((2, 0), (3, 1))):
            yield f"{benchmark} I64 {label} n={n}", differences(call(x[:n]), reference(x[:n]))
        if algorithm not in LAZY:
            continue
        _core.use_policy(LAZY[algorithm], {"T{ct}": "I64"}, "cpu", label)
        columns = (48, 31)[k % 2]  # each is a kernel of its own
        matrix = x[: 97 * columns].reshape(97, columns)
        lazy = cubc.lazy("x ^ c", x=matrix, c=matrix[:, :1].copy())
        items = matrix ^ matrix[:, :1]
        if algorithm in ("sort", "topk"):  # which take one dimension
            lazy = cubc.lazy("x ^ i", x=matrix.ravel())
            items = matrix.ravel() ^ np.arange(matrix.size)
        if algorithm != "transform":
            items = items.ravel()
        wrong = differences(call(lazy), reference(items))
        yield f"{benchmark} {label} {columns} columns", wrong


def differences(result, expected):
    """Number of items that are not as expected."""
    alike = np.shape(result) == np.shape(expected)
    return np.count_nonzero(result != expected) if alike else np.size(expected)


if __name__ == "__main__":
    for algorithm, case in product(sys.argv[1:], (against_base, against_numpy)):
        cubc.clear_policies()
        count = 0
        for what, wrong in case(algorithm):
            count += 1
            if wrong:
                print(f"{what}: {wrong} items are wrong")
        print(algorithm, case.__name__, count)
