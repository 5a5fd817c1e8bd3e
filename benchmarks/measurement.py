"""Measurements repeated: the stopping rules side by side, and one variant against itself.

    python benchmarks/measurement.py [--device cuda:0] [--json]

For each size of reduce.sum F32: samples, time and noise under each stopping rule, the clock of the
multiprocessors, the time of runs without pause or flush; then how far the medians of base, loaded
twice, are apart in measurements of their own.
"""

import argparse
import time

import cells
import numpy as np

import cubc
from cubc import _core

RULES = ("median", "stdrel", "entropy")


def numbers(measured, name):
    return np.frombuffer(measured[name], "f4").astype(float)


def cell(exponent, case, **figures):
    return {
        "benchmark": "stopping",
        "type": "F32",
        "size": f"2^{exponent}",
        "case": case,
        **figures,
    }


def rules(work, variant, exponent):
    """Prints a line a rule; gives their cells."""
    found = []
    for rule in RULES:
        start = time.perf_counter()
        measured = work.measure(variant, stopping=rule, max_samples=100_000, timeout=15.0)
        took = time.perf_counter() - start
        us, mhz = numbers(measured, "samples") * 1e6, numbers(measured, "clocks") * 1e-6
        clock = f"clock {mhz.min():.0f} to {mhz.max():.0f} MHz" if mhz.size else "no clock"
        print(
            f"2^{exponent} {rule:8}{us.size:6} samples in {took:5.2f} s"
            f"  median {np.median(us):8.2f} us"
            f"  noise {us.std() / us.mean():6.2%}  {clock}, {measured['discarded']} discarded",
            flush=True,
        )
        figures = {
            "cubc": round(np.median(us), 3),
            "unit": "us",
            "samples": us.size,
            "seconds": round(took, 2),
            "noise_percent": round(100 * us.std() / us.mean(), 2),
            "discarded": measured["discarded"],
        }
        if mhz.size:
            figures["mhz"] = [round(f(mhz)) for f in (np.min, np.median, np.max)]
        found.append(cell(exponent, rule, **figures))
    mean, runs, _ = work.measure_hot(variant, 0.2)
    print(f"2^{exponent} hot     {runs:6} runs, mean {mean * 1e6:.2f} us")
    hot = cell(exponent, "hot", cubc=round(mean * 1e6, 2), unit="us", samples=runs)
    return [*found, hot]


def against_itself(work, trials):
    one, other = work.variant("base"), work.variant("base")
    ratios = []
    for _ in range(trials):
        measured = work.measure(one, other)
        ratios.append(
            np.median(numbers(measured, "base_samples")) / np.median(numbers(measured, "samples"))
        )
    return np.array(ratios)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cuda:0, cpu (the default device)")
    parser.add_argument("--trials", type=int, default=100, help="of base against itself")
    cells.add_option(parser)
    given = parser.parse_args()
    device = cubc.device_info(given.device)
    print(device["model"], device["compiler"])
    sizes = (16, 20) if device["kind"] == "cpu" else (16, 20, 24, 28)
    found = []
    for exponent in sizes:
        ct, rt = {"T{ct}": "F32"}, {"Elements{io}[pow2]": exponent}
        work = _core.Workload("reduce.sum", ct, rt, device["name"])
        found += rules(work, work.variant("base"), exponent)
        ratios = against_itself(work, given.trials)
        worst = abs(ratios - 1).max()
        print(f"2^{exponent} base against itself: deviation {ratios.std():.3%}, worst {worst:.3%}")
        both = {"deviation_percent": ratios.std(), "worst_percent": worst}
        both = {name: round(100 * value, 3) for name, value in both.items()}
        found.append(cell(exponent, "base against itself", **both, trials=given.trials))
    cells.put_asked(found, device, given)


if __name__ == "__main__":
    main()
