"""The primitives beside CUB, cold, interleaved in one process.

    make bench-cub          every cell into results/, or
    python benchmarks/cub.py [--names NAME ...] [--types TYPE ...] [--sizes N ...] [--json]

The peer is the newest CUB that was built: build/libcub_newest.so, else build/libcub_reference.so of
the toolkit. Sizes up to 40 are exponents of two, and greater ones numbers of items. Each cell
samples cubc's current policy and CUB alternately on the same arrays and stream, by cubc's own
measurement (csrc/measure/timing.h): L2 flushed, stream held, device time of events, medians.

The bound of a cell is a launch of nothing and its bytes at the rate of a device copy, both measured
in the same run.
"""

import argparse
import concurrent.futures
import contextlib
import ctypes
import difflib
import itertools
import multiprocessing
import sys
from pathlib import Path

import cells
import numpy as np

import cubc
from cubc import _core

BUILT = Path(__file__).parent.parent / "build"
LIBRARIES = (BUILT / "libcub_newest.so", BUILT / "libcub_reference.so")
TYPE_CODES = {"I8": 1, "I32": 3, "I64": 4, "U8": 5, "F32": 11, "F64": 12}  # cubc_type in cubc.h
# Falling: a call must not run what a greater one before it was given.
SIZES = (300_000_007, 28, 20_000_003, 24, 3_000_017, 20, 700_001, 16, 50_000)
EXPONENTS = 40  # sizes up to this one are exponents
LARGE = 1 << 26  # items from which a third of the samples is enough
# Items and k of each row.
ROWS = (
    *((64, 8), (128, 8), (256, 8), (256, 100)),
    *((1000, 100), (2000, 100), (8192, 100), (131072, 1000)),
)
NAMES = (
    *(f"copy_batch.buffers.{size}" for size in (64, 65536)),
    *(f"histogram.even.{bins}" for bins in (256, 2048, 2097152)),
    "histogram.range.256",
    "find.if",
    "reduce.argmin",
    "reduce.max",
    "reduce.sum",
    "merge.keys",
    "merge.pairs",
    "merge_sort.keys",
    "merge_sort.pairs",
    "row_reduce.sum.1000",
    "runs.encode",
    "runs.nontrivial",
    "runs.reduce",
    "scan.by_key",
    "scan.exclusive.sum",
    *(f"scan.segmented.{size}" for size in (16, 256, 4096)),
    "searchsorted.lower",
    *(f"segmented_reduce.sum.{size}" for size in (8, 30, 100, 256, 1000, 5000, 65536)),
    *(f"segmented_sort.keys.{size}" for size in (8, 256, 65536)),
    "segmented_sort.pairs.256",
    *(f"segmented_topk.rows.unordered.{size}.{k}" for size, k in ROWS),
    "select.flagged",
    "select.if",
    "select.three_way",
    "select.unique",
    "sort.keys",
    "sort.pairs",
    "topk.pairs.1000",
    "transform.triad",
)
AXES = {  # those behind the elements, whose values end a name
    "copy_batch": ["BufferSize"],
    "histogram": ["Bins"],
    "row_reduce": ["SegmentSize"],
    "scan": ["SegmentSize"],
    "segmented_reduce": ["SegmentSize"],
    "segmented_sort": ["SegmentSize"],
    "segmented_topk": ["SegmentSize", "K"],
    "topk": ["K"],
}

# Bounds that calls of 2^16 items hardly go below.
FLOORS = (
    ("launch", "reduce.sum", "F32", "a launch of nothing"),
    ("add", "reduce.sum", "F32", "2^16 F32 read and added in blocks, and no further"),
    ("add", "reduce.sum", "F64", "2^16 F64 read and added in blocks, and no further"),
    ("write", "scan.exclusive.sum", "F32", "2^16 F32 read and written"),
    ("write", "scan.exclusive.sum", "F64", "2^16 F64 read and written"),
)
MOST_ARRAYS, MOST_AXES, UNSUPPORTED = 4, 2, -1  # as in cub_reference.cu


class CubCall(ctypes.Structure):
    """struct cub_call of cub_reference.cu."""

    _fields_ = [
        ("algorithm", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("inputs", ctypes.c_void_p * MOST_ARRAYS),
        ("outputs", ctypes.c_void_p * MOST_ARRAYS),
        ("n", ctypes.c_longlong),
        ("axes", ctypes.c_longlong * MOST_AXES),
        ("temp", ctypes.c_void_p),
        ("temp_bytes", ctypes.c_size_t),
    ]


def split_name(name):
    """Benchmark of cubc's and the values of its further axes, of a name here."""
    words = name.split(".")
    values = [int(word) for word in words if word.isdigit()]
    return ".".join(words[: len(words) - len(values)]), values


def peers_name(benchmark):
    """Name of a benchmark in cub_reference.cu. CUB's top-k is always in no order."""
    return benchmark.removesuffix(".unordered")


def further_axes(benchmark, values):
    return dict(zip(AXES.get(benchmark.partition(".")[0], ()), values, strict=False))


def types_of(name):
    """Bytes are numbers to sort and add, and unsigned to count; a copy has bytes of any type."""
    if name.startswith("copy_batch"):
        return ["I32"]
    if name.startswith("segmented_topk"):
        return ["F32", "I64"]  # each with many sizes of CUB's, which take long to compile
    return set(TYPE_CODES) - {"I8" if name.startswith("histogram") else "U8"}


def items(size):
    return 1 << size if size <= EXPONENTS else size


def elements(size):
    """Run-time axis of a size."""
    return {"Elements{io}[pow2]" if size <= EXPONENTS else "Elements{io}": size}


def size_name(size):
    return f"2^{size}" if size <= EXPONENTS else str(size)


def size_of(name):
    """Size that has a name."""
    return int(name.removeprefix("2^"))


@contextlib.contextmanager
def cub_work(library, algorithm, dtype, n, axes, pointers, device):
    """CUB's call on a workload's arrays, as Workload.measure takes it; None if CUB has none."""
    arrays = [(ctypes.c_void_p * MOST_ARRAYS)(*addresses) for addresses in pointers]
    axes = (ctypes.c_longlong * MOST_AXES)(*axes)
    call = CubCall(peers_name(algorithm).encode(), TYPE_CODES[dtype], *arrays, n, axes, None, 0)
    status = library.cub_queue(ctypes.byref(call), None)
    if status == UNSUPPORTED:
        yield None
        return
    if status:
        raise RuntimeError(f"CUB's {algorithm} {dtype}: error {status}")
    temp = cubc.empty(max(call.temp_bytes, 1), "uint8", device=device)
    call.temp = temp.ptr
    yield ctypes.cast(library.cub_queue, ctypes.c_void_p).value, ctypes.addressof(call)


def microseconds(measured, name):
    return float(np.median(np.frombuffer(measured[name], "f4"))) * 1e6


def policy_of(benchmark, dtype, rt, device):
    return _core.policy(benchmark, {"T{ct}": dtype}, cubc.device_info(device)["arch"], rt)


# Benchmarks whose call of CUB waits for the device, which a held stream cannot time.
WAITING = {"segmented_sort"}


def measure(library, name, dtype, size, device, samples):
    benchmark, axes = split_name(name)
    rt = elements(size) | further_axes(benchmark, axes)
    work = _core.Workload(benchmark, {"T{ct}": dtype}, rt, device)
    variant = work.variant(policy_of(benchmark, dtype, rt, device))
    wrong, n = work.verify(variant), items(size)
    if n >= LARGE:
        samples = max(samples // 3, 5)
    with cub_work(library, benchmark, dtype, n, axes, work.pointers, device) as peer:
        held = {"min_samples": samples, "max_samples": samples, "timeout": 20.0}
        if benchmark.partition(".")[0] in WAITING:
            peer = None
        try:
            measured = work.measure(variant, peer, **held)
        except TimeoutError as error:
            if peer is None:
                raise
            print(f"{name}: CUB's call waits for the device, and is left out: {error}")
            WAITING.add(benchmark.partition(".")[0])
            peer = None
            measured = work.measure(variant, peer, **held)
    us = microseconds(measured, "samples")
    row = {"benchmark": name, "type": dtype, "size": size_name(size), "cubc": round(us, 2)}
    if peer:
        cub_us = microseconds(measured, "base_samples")
        row |= {"peer": round(cub_us, 2), "unit": "us", "ratio": round(cub_us / us, 3)}
    else:
        row["unit"] = "us"
    row |= {"gb_per_s": round(work.bytes / us * 1e-3, 1), "bytes": work.bytes}
    return row | {"variant": variant.label} | ({"wrong": wrong} if wrong else {})


# ---- bounds -------------------------------------------------------------------------------------
def seconds_of(library, algorithm, benchmark, dtype, exponent, device, samples):
    """Time of a bound on the arrays of a benchmark, and their bytes."""
    work = _core.Workload(benchmark, {"T{ct}": dtype}, {"Elements{io}[pow2]": exponent}, device)
    with cub_work(library, algorithm, dtype, 1 << exponent, (), work.pointers, device) as bound:
        measured = work.measure(
            work.variant("base"), bound, min_samples=samples, max_samples=samples
        )
    return microseconds(measured, "base_samples") * 1e-6, work.bytes


def bounds(library, device, samples):
    """Bounds, as cells: the first the rate of a copy, the second a launch's time."""
    seconds, size = seconds_of(library, "copy", "scan.exclusive.sum", "F32", 28, device, samples)
    found = [("device copy of 2^28 F32", round(size / seconds * 1e-9), "GB/s")]
    for name, benchmark, dtype, words in FLOORS:
        seconds, _ = seconds_of(library, name, benchmark, dtype, 16, device, samples)
        found.append((words, round(seconds * 1e6, 2), "us"))
    for words, value, unit in found:
        print(f"{words}: {value} {unit}", flush=True)
    return [
        {"benchmark": "bounds", "case": words, "cubc": value, "unit": unit}
        for words, value, unit in found
    ]


def with_bound(row, floors):
    """Cell with its bound in us, and the share of it that is reached, in percent."""
    bound = floors[1]["cubc"] + row["bytes"] / floors[0]["cubc"] * 1e-3
    return row | {"bound": round(bound, 2), "of_bound": round(100 * bound / row["cubc"])}


# ---- compiling ----------------------------------------------------------------------------------
def compile_one(name, dtype, sizes, device):
    """Compiles what cells of a name and a type run: each policy, and what fills and compares."""
    benchmark, axes = split_name(name)
    ct = {"T{ct}": dtype}
    for size in sizes:
        rt = elements(size) | further_axes(benchmark, axes)
        label = policy_of(benchmark, dtype, rt, device)
        _core.compile(benchmark, ct, cubc.device_info(device)["arch"], label, 0.0, b"", rt)
    small = _core.Workload(benchmark, ct, elements(12) | further_axes(benchmark, axes), device)
    small.verify(small.variant("base"))


def compile_all(compile_one, work, jobs):
    """Calls a function that compiles into the cache with the arguments of each, in processes."""
    start = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(jobs, start) as pool:
        waiting = [pool.submit(compile_one, *one) for one in work]
        for done in concurrent.futures.as_completed(waiting):
            done.result()


# ---- the table ----------------------------------------------------------------------------------
def line(row):
    peer = f"  CUB {row['peer']:9.2f} us  x{row['ratio']:.3f}" if "peer" in row else " " * 27
    return (
        f"{row['benchmark']:25} {row['type']:3} {row['size']:9}  cubc {row['cubc']:9.2f} us{peer}"
        f"  {row['gb_per_s']:7.1f} GB/s  {row['of_bound']:3} % of the bound  {row['variant']}"
        + (f"  {row['wrong']} WRONG ITEMS" if "wrong" in row else "")
    )


def summary(rows, what):
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    if ratios:
        behind = sum(ratio < 1 for ratio in ratios)
        mean = np.exp(np.mean(np.log(ratios)))
        print(
            f"{what}: geometric mean x{mean:.3f}, least x{min(ratios):.3f}, "
            f"{behind} of {len(ratios)} cells below 1"
        )


def version(library):
    """CUB's version, as its release is called: CUB_VERSION is 300000 for 3.0."""
    number = library.cub_version()
    return f"{number // 100000}.{number // 100 % 1000}"


def known(name):
    """The name, if one of NAMES differs in the values at its end alone."""
    here, values = split_name(name)
    if any(
        split_name(other)[0] == here and len(split_name(other)[1]) == len(values) for other in NAMES
    ):
        return name
    close = difflib.get_close_matches(name, NAMES, 1)
    raise argparse.ArgumentTypeError(f"no {name}" + (f"; nearest is {close[0]}" if close else ""))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--names", nargs="+", type=known, default=NAMES, help="with any sizes at their ends"
    )
    parser.add_argument("--but", nargs="+", choices=NAMES, default=(), help="all but these")
    parser.add_argument("--types", nargs="+", choices=TYPE_CODES, default=TYPE_CODES)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="in this order")
    parser.add_argument(
        "--samples", type=int, default=41, help="a third of them from 2^26 items on"
    )
    built = next((path for path in LIBRARIES if path.exists()), LIBRARIES[-1])
    parser.add_argument("--library", default=built)
    parser.add_argument("--policies", nargs="*", default=[], help="stores whose policies to use")
    parser.add_argument("--jobs", type=int, default=0, help="processes that compile first")
    cells.add_option(parser)
    return parser.parse_args()


def main():
    options, device = parse(), "cuda:0"
    if cubc.devices()[0] == "cpu" or not Path(options.library).exists():
        print(
            "cub.py: needs a CUDA device and", options.library, "(make bench builds it with nvcc)"
        )
        return
    library = ctypes.CDLL(str(options.library))
    names = [name for name in options.names if name not in options.but]
    work = [
        (name, dtype)
        for name, dtype in itertools.product(names, options.types)
        if dtype in types_of(name)
    ]
    if options.jobs:
        compile_all(compile_one, [(*one, options.sizes, device) for one in work], options.jobs)
    if options.policies:
        cubc.use_policies(*options.policies)
    info, peer = cubc.device_info(), {"peer_name": "CUB", "peer_version": version(library)}
    floors = bounds(library, device, options.samples)

    def keep(found):
        if options.json:
            cells.put(found, cells.folder_name(info), options.json)

    keep([cell | cells.origin(info) for cell in floors])
    rows, failed = [], []
    for size, (name, dtype) in itertools.product(options.sizes, work):
        try:
            row = measure(library, name, dtype, size, device, options.samples)
        except (RuntimeError, TimeoutError, MemoryError) as error:
            failed.append(f"{name} {dtype} {size_name(size)}: {error}")
            print(failed[-1], flush=True)
            continue
        rows.append(with_bound(row, floors))
        print(line(rows[-1]), flush=True)
        if "wrong" not in row:  # a later cell that ends the program loses none before it
            keep([rows[-1] | cells.origin(info, **(peer if "peer" in row else {}))])
    for name in names:
        summary([row for row in rows if row["benchmark"] == name], name)
    summary(rows, "all")
    if failed:
        sys.exit(f"{len(failed)} cells were not measured, the first: {failed[0]}")
    if any("wrong" in row for row in rows):
        sys.exit("some results were wrong; their cells are not kept")


if __name__ == "__main__":
    main()
