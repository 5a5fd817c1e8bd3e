"""Reading and writing a gauge configuration: GB/s of the file, beside NumPy's fromfile and astype.

    python benchmarks/lattice_io.py [--extent N] [--folder PATH]

The lattice has N^4 sites. Files are in the page cache when they are read, so that what is counted
is our own work: copy, checksum, byte order and, in single precision, projection to SU(3). Given are
wall time and the CPU time of all threads.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from cubc import lattice

CASES = [
    ("ildg", "double", 3),
    ("ildg", "single", 3),
    ("nersc", "double", 3),
    ("nersc", "single", 2),
]


def best(call, trials=5):
    """Least wall time, and least CPU time, in seconds."""
    wall = cpu = float("inf")
    for _ in range(trials):
        begin = time.perf_counter(), time.process_time()
        call()
        wall = min(wall, time.perf_counter() - begin[0])
        cpu = min(cpu, time.process_time() - begin[1])
    return wall, cpu


def rates(size, seconds):
    return "  ".join(f"{size / s / 1e9:7.2f}" for s in seconds)


def measure(path, links, case):
    lattice.write_links(path, links, *case)
    size = path.stat().st_size
    print(f"{' '.join(map(str, case)):<16} {size / 1e6:7.0f} MB")
    for name, call in {
        "read": lambda: lattice.read_links(path),
        "read, project=True": lambda: lattice.read_links(path, project=True),
        "read, unverified": lambda: lattice.read_links(path, verify=False),
        "write": lambda: lattice.write_links(path, links, *case),
    }.items():
        print(f"    {name:<20} {rates(size, best(call))}")
    if case[:2] == ("ildg", "double"):
        plain = best(lambda: np.fromfile(path, ">c16").astype("c16"))
        print(f"    {'numpy':<20} {rates(size, plain)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extent", type=int, default=24)
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    links = np.zeros((options.extent,) * 4 + (4, 3, 3), complex)
    links[...] = np.eye(3)
    print("GB/s of the file       wall      CPU")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for case in CASES:
            measure(Path(folder, "links"), links, case)


if __name__ == "__main__":
    main()
