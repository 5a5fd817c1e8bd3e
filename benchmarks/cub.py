"""The primitives beside CUB, cold, interleaved in one process.

    make bench              or
    python benchmarks/cub.py [--names NAME ...] [--types TYPE ...] [--sizes N ...] [--json]

The peer is the newest CUB that was built: build/libcub_newest.so, else build/libcub_reference.so of
the toolkit. Sizes up to 40 are exponents of two, and greater ones numbers of items. Each cell
samples cubc's current policy and CUB alternately on the same arrays and stream, by cubc's own
measurement (csrc/measure/timing.h): L2 flushed, stream held, device time of events, medians.
"""

import argparse
import ctypes
import itertools
import sys
from pathlib import Path

import cells
import numpy as np

import cubc
from cubc import _core

BUILT = Path(__file__).parent.parent / "build"
LIBRARIES = (BUILT / "libcub_newest.so", BUILT / "libcub_reference.so")
TYPE_CODES = {"I8": 1, "I32": 3, "I64": 4, "U8": 5, "F32": 11, "F64": 12}  # cubc_type in cubc.h
SIZES = (16, 20, 24, 28, 50_000, 700_001, 3_000_017, 300_000_007)
EXPONENTS = 40  # sizes up to this one are exponents
NAMES = (
    *(f"histogram.even.{bins}" for bins in (256, 2048, 2097152)),
    "histogram.range.256",
    "reduce.max",
    "reduce.sum",
    "merge_sort.keys",
    "merge_sort.pairs",
    "runs.encode",
    "scan.exclusive.sum",
    *(f"segmented_reduce.sum.{size}" for size in (8, 256, 65536)),
    *(f"segmented_sort.keys.{size}" for size in (8, 256, 65536)),
    "select.if",
    "select.unique",
    "sort.keys",
    "sort.pairs",
)
AXES = {"histogram": "Bins", "segmented_reduce": "SegmentSize", "segmented_sort": "SegmentSize"}


def workload_of(name):
    """Benchmark of cubc's and its run-time axes but for the elements, of a name here."""
    benchmark, _, value = name.rpartition(".")
    if not value.isdigit():
        return name, {}
    return benchmark, {AXES[benchmark.partition(".")[0]]: int(value)}


# What calls of 2^16 items hardly go below.
FLOORS = (
    ("launch", "reduce.sum", "F32", "a launch of nothing"),
    ("add", "reduce.sum", "F32", "2^16 F32 read and added in blocks, and no further"),
    ("add", "reduce.sum", "F64", "2^16 F64 read and added in blocks, and no further"),
    ("write", "scan.exclusive.sum", "F32", "2^16 F32 read and written"),
    ("write", "scan.exclusive.sum", "F64", "2^16 F64 read and written"),
)


class CubCall(ctypes.Structure):
    """struct cub_call of cub_reference.cu."""

    _fields_ = [
        ("algorithm", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("input", ctypes.c_void_p),
        ("output", ctypes.c_void_p),
        ("n", ctypes.c_longlong),
        ("temp", ctypes.c_void_p),
        ("temp_bytes", ctypes.c_size_t),
    ]


def elements(size):
    """Run-time axis of a size."""
    return {"Elements{io}[pow2]" if size <= EXPONENTS else "Elements{io}": size}


def size_name(size):
    return f"2^{size}" if size <= EXPONENTS else str(size)


def cub_call(library, name, dtype, size, pointers, device):
    """CUB's call on the workload's arrays, and the temporary storage that it needs."""
    source, target = pointers
    n = 1 << size if size <= EXPONENTS else size
    call = CubCall(name.encode(), TYPE_CODES[dtype], source, target, n, None, 0)
    if library.cub_queue(ctypes.byref(call), None):
        sys.exit("CUB does not say how much temporary storage it needs")
    temp = cubc.empty(call.temp_bytes, "uint8", device=device)
    call.temp = temp.ptr
    return call, temp


def measure(library, name, dtype, size, device, samples):
    ours, axes = workload_of(name)
    ct, rt = {"T{ct}": dtype}, elements(size) | axes
    work = _core.Workload(ours, ct, rt, device)
    variant = work.variant(_core.policy(ours, ct, cubc.device_info(device)["arch"], rt))
    if wrong := work.verify(variant):
        sys.exit(f"{name} {dtype} {size_name(size)}: {wrong} wrong items")
    call, temp = cub_call(library, name, dtype, size, work.pointers, device)
    function = ctypes.cast(library.cub_queue, ctypes.c_void_p).value
    measured = work.measure(
        variant,
        (function, ctypes.addressof(call)),
        min_samples=samples,
        max_samples=samples,
        timeout=20.0,
    )
    del temp
    cubc_us, cub_us = (
        float(np.median(np.frombuffer(measured[name], "f4"))) * 1e6
        for name in ("samples", "base_samples")
    )
    return {
        "benchmark": name,
        "type": dtype,
        "size": size_name(size),
        "cubc": round(cubc_us, 2),
        "peer": round(cub_us, 2),
        "unit": "us",
        "ratio": round(cub_us / cubc_us, 3),
        "gb_per_s": round(work.bytes / cubc_us * 1e-3, 1),
        "variant": variant.label,
    }


def seconds_of(library, name, benchmark, dtype, exponent, device, samples):
    """A bound of what can be reached, on the arrays of a benchmark, and their bytes."""
    work = _core.Workload(benchmark, {"T{ct}": dtype}, {"Elements{io}[pow2]": exponent}, device)
    call, temp = cub_call(library, name, dtype, exponent, work.pointers, device)
    function = ctypes.cast(library.cub_queue, ctypes.c_void_p).value
    measured = work.measure(
        work.variant("base"),
        (function, ctypes.addressof(call)),
        min_samples=samples,
        max_samples=samples,
    )
    del temp
    return float(np.median(np.frombuffer(measured["base_samples"], "f4"))), work.bytes


def bounds(library, device, samples):
    """What can be reached, as cells."""
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


def geometric_mean(rows):
    return np.exp(np.mean(np.log([row["ratio"] for row in rows])))


def version(library):
    """CUB's version, as its release is called: CUB_VERSION is 300000 for 3.0."""
    number = library.cub_version()
    return f"{number // 100000}.{number // 100 % 1000}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--types", nargs="+", choices=TYPE_CODES, default=TYPE_CODES)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, help="in this order")
    parser.add_argument("--samples", type=int, default=41)
    built = next((path for path in LIBRARIES if path.exists()), LIBRARIES[-1])
    parser.add_argument("--library", default=built)
    parser.add_argument("--policies", nargs="*", default=[], help="stores whose policies to use")
    cells.add_option(parser)
    options = parser.parse_args()
    if cubc.devices()[0] == "cpu" or not Path(options.library).exists():
        print(
            "cub.py: needs a CUDA device and", options.library, "(make bench builds it with nvcc)"
        )
        return
    library = ctypes.CDLL(str(options.library))
    if options.policies:
        cubc.use_policies(*options.policies)
    floors = bounds(library, "cuda:0", options.samples)
    rows = []
    for size, name, dtype in itertools.product(options.sizes, options.names, options.types):
        if dtype == ("I8" if name.startswith("histogram") else "U8"):
            continue  # bytes are numbers to sort and add, and unsigned to count
        row = measure(library, name, dtype, size, "cuda:0", options.samples)
        rows.append(row)
        print(
            f"{name:20} {dtype:3} {row['size']:9}  cubc {row['cubc']:9.2f} us"
            f"  CUB {row['peer']:9.2f} us  x{row['ratio']:.3f}"
            f"  {row['gb_per_s']:7.1f} GB/s  {row['variant']}",
            flush=True,
        )
    for name in options.names:
        of_name = [row for row in rows if row["benchmark"] == name]
        print(f"{name}: geometric mean x{geometric_mean(of_name):.3f}")
    print(f"all: geometric mean x{geometric_mean(rows):.3f}")
    if options.json:
        info, peer = cubc.device_info(), {"peer_name": "CUB", "peer_version": version(library)}
        found = [cell | cells.origin(info) for cell in floors]
        found += [row | cells.origin(info, **peer) for row in rows]
        cells.put(found, cells.folder_name(info), options.json)


if __name__ == "__main__":
    main()
