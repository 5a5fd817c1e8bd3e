"""Scans whose sums are wider than their items, on a GPU.

    python benchmarks/widened_scans.py [--sizes N ...]

Device time with a cold L2 cache and the stream held while a call is queued, medians: `cumsum`, and
`scan_by_key` of runs of 50.
"""

import argparse
import functools

import cupy
import numpy as np
from several import FLUSHED_BYTES, HOLD, median_us

import cubc

TYPES = [(of, None) for of in ("bool", "int8", "uint8", "int16", "int32")] + [("f4", "f8")]
SIZES = [50_000, 700_001, 3_000_017, 60_000_013]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    options = parser.parse_args()
    stream, hold = cupy.cuda.Stream.null, cupy.RawKernel(HOLD, "hold")
    flushed = cupy.empty(FLUSHED_BYTES, "u1")
    for n in options.sizes:
        keys = cupy.arange(n, dtype="i4") // 50
        for of, to in TYPES:
            x = cupy.asarray((np.arange(n) % 3 == 0).astype(of))
            calls = {
                "cumsum": functools.partial(cubc.cumsum, x, dtype=to),
                "scan_by_key": functools.partial(cubc.scan_by_key, keys, x, dtype=to or "int64"),
            }
            for name, call in calls.items():
                us = median_us([call], stream, flushed, hold)
                print(f"{name:12} {of:6} {n:>9} {us:9.1f} us", flush=True)


if __name__ == "__main__":
    main()
