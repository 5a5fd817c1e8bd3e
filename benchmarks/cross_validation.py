"""Constants of the default strategy, chosen on some kernels' spaces and judged on another's.

    python benchmarks/cross_validation.py TABLE... [--settings NAME...] [--seeds N] [--ahead N]
        [--json]

A TABLE is a CSV file as for strategies.py; its kernel is its name up to the first "_". For each
kernel the constants are chosen that find 99 % of the best speed most often in the spaces of all
other kernels, after 2 and 5 % of a space; then they search this kernel's spaces, with other seeds.
So no figure is of a space that its constants were chosen on. Beside them are the constants as they
are in the code: where these are much better they were fitted to the spaces.
"""

import argparse
import contextlib
from pathlib import Path
from unittest import mock

import cells
import numpy as np
import strategies

from cubc.tuner._replay import read_table
from cubc.tuner._strategy import STRATEGIES, model, process

# Variations of the constants in the code, one at a time.
SETTINGS = {
    "as it is": {},
    "begins soon": {"START": 6},
    "begins late": {"START": 16},
    "few leaders": {"ELITE": 5},
    "many leaders": {"ELITE": 20},
    "few drawn": {"RANDOM": 50},
    "many drawn": {"RANDOM": 500},
    "rough": {"WEIGHT": 4.0},
    "flat": {"WEIGHT": 0.6},
    "noisy": {"NOISE": -2.0},
}
TUNING = 10_000  # the first of the seeds that constants are chosen with
COLUMNS = [strategies.SHARES.index(share) for share in (0.02, 0.05)]


def hits(table, setting, first, options):
    """Tell which runs (rows) were within 1 % after 2 and after 5 % of the space."""
    with contextlib.ExitStack() as changed:
        for name, value in SETTINGS[setting].items():
            module = next(one for one in (model, process) if hasattr(one, name))
            changed.enter_context(mock.patch.object(module, name, value))
        seeds = range(first, first + options.seeds)
        found, _ = strategies.speeds(STRATEGIES["model"], table, seeds, options.ahead)
    return found[:, COLUMNS] >= 0.99


def kernel(name):
    return name.partition("_")[0]


def text(found):
    return " | ".join(f"{100 * share:.0f} %" for share in found.mean(axis=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--ahead", type=int, default=4, help="asks before the first tell")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=[*SETTINGS])
    cells.add_option(parser)
    options = parser.parse_args()
    tables = {path.name.partition(".")[0]: read_table(path) for path in options.tables}
    if len({kernel(name) for name in tables}) < 2:
        parser.error("give tables of two kernels at least")
    tried = {}
    for setting in options.settings:
        for name, table in tables.items():
            tried[setting, name] = hits(table, setting, TUNING, options).mean()
        mean = np.mean([tried[setting, name] for name in tables])
        print(f"{setting}: {100 * mean:.1f} % of the runs, at 2 and 5 % together", flush=True)
    print("| space | chosen elsewhere | 2 % | 5 % | in the code 2 % | 5 % |\n|" + "---|" * 6)
    rows, chosen_runs, code_runs = [], [], []
    for name, table in tables.items():
        others = [other for other in tables if kernel(other) != kernel(name)]
        means = {one: np.mean([tried[one, other] for other in others]) for one in options.settings}
        chosen = max(means, key=means.__getitem__)
        runs, code = (hits(table, one, 0, options) for one in (chosen, "as it is"))
        chosen_runs.append(runs)
        code_runs.append(code)
        print(f"| {name} | {chosen} | {text(runs)} | {text(code)} |", flush=True)
        rows.append(cell(name, runs, code, options) | {"chosen": chosen})
    runs, code = np.concatenate(chosen_runs), np.concatenate(code_runs)
    print(f"| all | | {text(runs)} | {text(code)} |")
    rows.append(cell("all", runs, code, options))
    if options.json:
        cells.put(rows, "any-machine", options.json)


def cell(name, runs, code, options):
    one = {"benchmark": "cross_validation", "type": "model", "size": name}
    one |= {"case": f"{options.ahead} ahead", "runs": len(runs)}
    for which, found in (("", runs), ("code_", code)):
        for percent, share in zip((2, 5), found.mean(axis=0), strict=True):
            one[f"{which}within_1_percent_after_{percent}_percent"] = round(100 * share)
    return one | cells.origin(None)


if __name__ == "__main__":
    main()
