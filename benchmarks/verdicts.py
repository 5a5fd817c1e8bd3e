"""Verdicts on one variant against itself, and against itself with a planted difference.

    python benchmarks/verdicts.py [--device NAME] [--trials N] [--elements 16 20] [--json]
        [--planted 1.02]

A trial takes rounds as a search does when it measures its best variants again: base is opened twice
afresh and sampled by turns, and after the first rounds, and every few more, a verdict is asked for
until it is decided. A variant against itself must be called SAME or UNDECIDED; with all times of
one of the two divided by the planted factor it must be called FASTER. Nothing is drawn: every trial
is measured. `verdict_errors.py` draws.
"""

import argparse
import time
from collections import Counter

import cells
import numpy as np

import cubc
from cubc import _core
from cubc.tuner._verdict import (
    FASTER,
    LEAST_ROUNDS,
    MORE_ROUNDS,
    MOST_ROUNDS,
    SAME,
    SLOWER,
    judge,
    round_ratio,
)

SAMPLES = 20  # pairs in a round, as in a search


def take_round(workload):
    """Speed of one opening of base over that of another."""
    one, other = workload.variant("base"), workload.variant("base")
    measured = workload.measure(one, other, min_samples=SAMPLES, max_samples=SAMPLES, timeout=0.5)
    return round_ratio(
        *(np.frombuffer(measured[name], np.float32) for name in ("samples", "base_samples"))
    )


def trial(workload, factors):
    """Word and rounds for each factor, all on the same rounds."""
    ratios, found = [], {}
    while len(found) < len(factors):
        more = MORE_ROUNDS if ratios else LEAST_ROUNDS
        ratios += [take_round(workload) for _ in range(more)]
        for factor in factors:
            if factor not in found:
                verdict = judge(factor * np.array(ratios))
                if verdict.decided or len(ratios) >= MOST_ROUNDS:
                    found[factor] = (verdict.word, len(ratios))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", help="cuda:0, cpu, ... (default: the default device)")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--elements", type=int, nargs="+", help="16 20 24 28; on the cpu 16")
    parser.add_argument("--planted", type=float, default=1.02)
    cells.add_option(parser)
    options = parser.parse_args()
    info = cubc.device_info(options.device)
    sizes = options.elements or ([16] if info["kind"] == "cpu" else [16, 20, 24, 28])
    print(f"{info['model']}, reduce.sum F32, {options.trials} trials at each size")
    head = f"rounds | {options.planted} called faster | called the same | rounds | s |"
    print(f"| | same called different | called the same | {head}")
    print("|---|---|---|---|---|---|---|---|")
    found = []
    for elements in sizes:
        workload = _core.Workload(
            "reduce.sum", {"T{ct}": "F32"}, {"Elements{io}[pow2]": elements}, info["name"]
        )
        words, rounds = Counter(), Counter()
        begin = time.perf_counter()
        for _ in range(options.trials):
            for factor, (word, taken) in trial(workload, (1.0, options.planted)).items():
                words[factor, word] += 1
                rounds[factor] += taken
        n, plant = options.trials, options.planted
        false = words[1.0, FASTER] + words[1.0, SLOWER]
        print(
            f"| 2^{elements} | {false / n:.1%} | {words[1.0, SAME] / n:.1%} "
            f"| {rounds[1.0] / n:.1f} | {words[plant, FASTER] / n:.1%} "
            f"| {words[plant, SAME] / n:.1%} | {rounds[plant] / n:.1f} "
            f"| {time.perf_counter() - begin:.0f} |",
            flush=True,
        )
        cell = {"benchmark": "verdicts", "type": "F32", "size": f"2^{elements}", "trials": n}
        cell |= {
            "false_percent": round(100 * false / n, 1),
            "called_same_percent": round(100 * words[1.0, SAME] / n, 1),
            "rounds": round(rounds[1.0] / n, 1),
            "planted": plant,
            "found_percent": round(100 * words[plant, FASTER] / n, 1),
            "planted_called_same_percent": round(100 * words[plant, SAME] / n, 1),
            "planted_rounds": round(rounds[plant] / n, 1),
            "seconds": round(time.perf_counter() - begin),
        }
        found.append(cell)
    cells.put_asked(found, info, options)


if __name__ == "__main__":
    main()
