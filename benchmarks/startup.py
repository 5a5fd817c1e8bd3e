"""A process's first call, its kernel taken from the cache that an earlier process filled.

    python benchmarks/startup.py [--processes N] [--json]

Each process imports cubc, starts CUDA through the driver alone (cuInit and the primary context, as
any CUDA program must), and then times its first cubc.reduce of a host array: the opening of the
device, the kernel's way from the cache, the copies and the result. On the cpu there is nothing to
start first.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import cells

ELEMENTS = 1 << 16


def start_cuda(index):
    """Start CUDA itself: the driver and the device's primary context."""
    import ctypes

    driver, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
    for code in (
        driver.cuInit(0),
        driver.cuDeviceGet(ctypes.byref(device), index),
        driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device),
    ):
        if code:
            sys.exit(f"startup.py: the CUDA driver reports error {code}")


def child(device):
    """One process: print what each step took, in seconds."""
    begin = time.perf_counter()
    import numpy as np

    numpy = time.perf_counter()
    import cubc

    imported = time.perf_counter()
    if device.startswith("cuda:"):
        start_cuda(int(device.removeprefix("cuda:")))
    x = np.ones(ELEMENTS, np.float32)
    started = time.perf_counter()
    first = cubc.reduce(x, device=device)
    done = time.perf_counter()
    second = cubc.reduce(x, device=device)
    end = time.perf_counter()
    if not first == second == ELEMENTS:
        sys.exit(f"startup.py: wrong sums, {first} and {second}")
    steps = {
        "import numpy": numpy - begin,
        "import cubc": imported - numpy,
        "the device's own start-up": started - imported,
        "first call": done - started,
        "second call": end - done,
    }
    print(json.dumps(steps))


def measure(device):
    command = [sys.executable, __file__, "--child", device]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=7)
    parser.add_argument("--child", metavar="DEVICE", help=argparse.SUPPRESS)
    cells.add_option(parser)
    options = parser.parse_args()
    if options.child:
        child(options.child)
        return

    import cubc

    info = cubc.device_info()
    measure(info["name"])  # fills the cache
    runs = [measure(info["name"]) for _ in range(options.processes)]
    print(f"{info['model']}, reduce.sum of {ELEMENTS} F32 in host memory, medians of {len(runs)}")
    found = []
    for step in runs[0]:
        ms = round(statistics.median(run[step] for run in runs) * 1e3, 2)
        print(f"{step:28}{ms:9.2f} ms")
        cell = {"benchmark": "startup", "type": "F32", "size": "2^16", "case": step}
        found.append(cell | {"cubc": ms, "unit": "ms"})
    cells.put_asked(found, info, options)


if __name__ == "__main__":
    main()
