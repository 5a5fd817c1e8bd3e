"""Counts the variants that a search of reduce.sum for F32 evaluates a minute, at four sizes.

    python benchmarks/search_rate.py [--seconds S] [--device NAME] [--json]

A variant counts when it was compiled, its result verified and its time measured, at every size or
until it had lost its race; with --full there are no races. The store is new and temporary; with
--cold-cache so is the cache of compiled variants, so that nothing of an earlier search is reused.
Wall time is all of it: starting the measuring process, base, every compilation, every failure, and
measuring the best again. How busy the GPU was is what NVML says: the share of time in which a
kernel ran.
"""

import argparse
import ctypes
import os
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import cells

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


class Busy:
    """Reads the utilisation of a GPU in the background, where NVML is there."""

    def __init__(self, uuid):
        self._shares, self._done = [], threading.Event()
        try:
            self._nvml = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            self._nvml = None
            return
        self._gpu = ctypes.c_void_p()
        self._nvml.nvmlInit_v2()
        self._nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(self._gpu))
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        rates = (ctypes.c_uint * 2)()  # of the multiprocessors and of the memory, per cent
        while not self._done.wait(0.2):
            if self._nvml.nvmlDeviceGetUtilizationRates(self._gpu, ctypes.byref(rates)) == 0:
                self._shares.append(rates[0] / 100)

    def mean(self):
        """Ends the reading; the mean share, None where there is no NVML."""
        self._done.set()
        return sum(self._shares) / len(self._shares) if self._shares else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--device", help="cuda:0, cpu, ... (default: the default device)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cold-cache", action="store_true")
    parser.add_argument("--full", action="store_true", help="no races")
    cells.add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.cold_cache:  # read when the first variant is compiled; workers inherit it
            os.environ["CUBC_CACHE"] = str(Path(folder, "cache"))
        info = cubc.device_info(options.device)
        store = Path(folder, "rate.db")
        busy = Busy(info["uuid"])
        begin = time.perf_counter()
        result = tuner.search(
            "reduce.sum",
            {"T": "F32"},
            db=store,
            device=info["name"],
            seconds=options.seconds,
            seed=options.seed,
            racing=not options.full,
        )
        wall = time.perf_counter() - begin
        share = timed_work(store) / wall
    used = busy.mean()
    (group,) = result.groups
    outcomes = Counter(group.status(variant) for variant in group.cells if variant != "base")
    done, lost = outcomes.pop("ok", 0), outcomes.pop("lost", 0)
    failures = ", ".join(f"{count} {status}" for status, count in outcomes.items()) or "none"
    best = result.best()
    sizes = ", ".join("2^" + rt.partition("=")[2] for rt in group.rts)
    print(f"{info['model']}, {info['compiler']}, reduce.sum F32 at {sizes}")
    print(
        f"{done} variants verified and measured at every size, {lost} until they had lost, in "
        f"{wall:.1f} s; failed: {failures}"
    )
    print(
        f"{(done + lost) / wall * 60:.0f} variants a minute; the timed work itself took "
        f"{share:.0%} of it, "
        + ("how busy it was is not known" if used is None else f"the GPU was busy {used:.0%}")
    )
    print(f"best: {best.label}, score {best.score:.3f}, {best.verdict}")
    cell = {"benchmark": "search_rate", "type": "F32", "size": sizes}
    cell["case"] = "no races" if options.full else "races"
    cell |= {"cubc": round((done + lost) / wall * 60), "unit": "variants a minute"}
    cell |= {"measured": done, "lost": lost, "seconds": round(wall, 1), "failed": failures}
    cell["timed_work_percent"] = round(100 * share)
    if used is not None:
        cell["busy_percent"] = round(100 * used)
    cell |= {"best": best.label, "score": round(best.score, 3), "cores_of_host": os.cpu_count()}
    cells.put_asked([cell], info, options)


if __name__ == "__main__":
    main()
