"""How many variants a search of reduce.sum for F32 evaluates a minute, at all four sizes.

    python benchmarks/search_rate.py [--seconds S] [--device NAME]

A variant counts when it was compiled, its result verified and its time measured at every size. The
store is new and temporary; with --cold-cache so is the cache of compiled variants, so that nothing
of an earlier search is reused. Wall time is all of it: starting the measuring process, base, every
compilation and every failure.
"""

import argparse
import os
import tempfile
import time
from collections import Counter
from pathlib import Path

import cubc
from cubc import _core, tuner


def timed_work(store):
    """Seconds that the timed work itself took: all samples of the variants and of base."""
    samples = 0.0
    opened = _core.Store(str(store))
    for row in opened.rows():
        for name in ("samples", "base_samples"):
            samples += sum(memoryview(row[name]).cast("f"))
    opened.close()
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--device", help="cuda:0, cpu, ... (default: the default device)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cold-cache", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.cold_cache:  # read when the first variant is compiled; workers inherit it
            os.environ["CUBC_CACHE"] = str(Path(folder, "cache"))
        info = cubc.device_info(options.device)
        store = Path(folder, "rate.db")
        begin = time.perf_counter()
        result = tuner.search(
            "reduce.sum",
            {"T": "F32"},
            db=store,
            device=info["name"],
            seconds=options.seconds,
            seed=options.seed,
        )
        wall = time.perf_counter() - begin
        share = timed_work(store) / wall
    (group,) = result.groups
    outcomes = Counter(group.status(variant) for variant in group.cells if variant != "base")
    done = outcomes.pop("ok", 0)
    failures = ", ".join(f"{count} {status}" for status, count in outcomes.items()) or "none"
    best = result.best()
    sizes = ", ".join("2^" + rt.partition("=")[2] for rt in group.rts)
    print(f"{info['model']}, {info['compiler']}, reduce.sum F32 at {sizes}")
    print(
        f"{done} variants verified and measured at every size in {wall:.1f} s; failed: {failures}"
    )
    print(f"{done / wall * 60:.0f} variants a minute; the timed work itself took {share:.0%} of it")
    print(f"best: {best.label}, score {best.score:.3f}")


if __name__ == "__main__":
    main()
