"""The Wilson Dslash at many volumes, beside the best of them: what shipped policies reach.

    python benchmarks/lattice_volumes.py [--device cuda:0] [--sample 16] [--json]

Volumes are some that people use and a sample with extents from 8 to 96 in steps of 4, of at most
14 million sites. A time is the mean of calls that follow each other, of one parity, antiperiodic in
time, at the policy of the volume. GFLOPS are at 1320 flop a site. Where a call takes t0 beside its
rate (8^4 takes little else), 90 % of the best volume needs nine times t0: small ones have less.
"""

import argparse
import math
import random
from concurrent.futures import ThreadPoolExecutor

import cells

import cubc
from cubc import _core

FIXED = [(n,) * 4 for n in (8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 64)]
FIXED += [(24, 24, 24, 48), (36, 36, 36, 48), (48, 48, 48, 64), (32, 32, 32, 96), (40, 40, 40, 96)]
WORK = {
    "double 18": ("dslash.wilson.r18", "F64"),
    "single 12": ("dslash.wilson.r12", "F32"),
    "half 12": ("dslash.wilson.r12", "I16"),
}
LEAST, MOST, SECONDS = 60_000, 14_000_000, 0.03
FLOP = 1320


def sampled(count):
    """Volumes drawn at random, always the same ones."""
    rng, found = random.Random(20), []
    while len(found) < count:
        volume = tuple(rng.randrange(8, 97, 4) for _ in range(4))
        if LEAST <= math.prod(volume) <= MOST:
            found.append(volume)
    return found


def place_of(volume):
    return dict(zip("XYZT", volume, strict=True))


def compile_all(volumes, arch):
    """Compiles in advance: each volume has code of its own."""

    def build(job):
        (benchmark, type), volume = job
        rt = place_of(volume)
        _core.compile(benchmark, {"T{ct}": type}, arch, "base", 0.0, b"", rt)

    with ThreadPoolExecutor() as pool:
        list(pool.map(build, [(work, v) for work in WORK.values() for v in volumes]))


def gflops_at(benchmark, type, volume, device):
    work = _core.Workload(benchmark, {"T{ct}": type}, place_of(volume), device)
    variant = work.variant("base")
    seconds = work.measure_hot(variant, SECONDS)[0]
    return FLOP * math.prod(volume) / 2 / seconds * 1e-9, seconds, variant.label


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--sample", type=int, default=16)
    cells.add_option(parser)
    options = parser.parse_args()
    info = cubc.device_info(options.device)
    volumes = sorted(FIXED + sampled(options.sample), key=math.prod)
    compile_all(volumes, info["arch"])
    found = []
    for name, (benchmark, type) in WORK.items():
        rows = {v: gflops_at(benchmark, type, v, options.device) for v in volumes}
        best = max(gflops for gflops, _, _ in rows.values())
        print(f"{name}: best volume {best:.0f} GFLOPS\n{'volume':>16} us a call  GFLOPS of best")
        for volume, (gflops, seconds, label) in rows.items():
            size = "x".join(map(str, volume))
            print(
                f"{size:>16} {seconds * 1e6:9.2f} {gflops:7.0f}   {gflops / best:.3f}", flush=True
            )
            cell = {"benchmark": "dslash_volumes", "type": name, "size": size}
            cell |= {"cubc": round(gflops), "unit": "GFLOPS", "of_best": round(gflops / best, 3)}
            cell |= {"us_a_call": round(seconds * 1e6, 2), "variant": label}
            found.append(cell)
    cells.put_asked(found, info, options)


if __name__ == "__main__":
    main()
