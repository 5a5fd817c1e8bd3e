"""Measures how good the strategies are, replayed on measured spaces: a table against random search.

    python benchmarks/strategies.py TABLE... [--synthetic N] [--seeds N] [--ahead N]
        [--strategies NAME...] [--informed] [--warm] [--json]

A TABLE is a CSV file as cubc.tuner._replay reads it. Each strategy visits 5 % of a space with each
seed, failures counted. The speed of a run is the best time of the table over the best time found;
the figures are the shares of runs with at least 99 % and 95 % of the best speed, and the mean
speed, after 1, 2 and 5 % of the space; and the milliseconds of processor time a visit took.

The first asks are made before there is an outcome, --ahead of them. With --informed the shares of
a space are counted from there.

With --synthetic the made-up spaces of synthetic.py come after the tables, so many draws of each.

With --warm, a search also has the outcomes of the other TABLEs of the same kernel, whose names
agree up to the first "_", as if they were stores of other GPUs.
"""

import argparse
import math
import time
from pathlib import Path

import cells
import numpy as np
import synthetic

from cubc.tuner._replay import read_table, replay
from cubc.tuner._strategy import STRATEGIES, warmed

SHARES = (0.01, 0.02, 0.05)
HEAD = "| strategy | space | runs |" + "".join(
    f" {share:.0%}: >=99 % | >=95 % | mean |" for share in SHARES
)


def speeds(factory, table, seeds, ahead, blind=0):
    """Speed after each share of the space (columns) for each seed (rows), and ms a visit.

    `seeds` are the seeds, or their number; `blind` asks come before the shares.
    """
    seeds = range(seeds) if isinstance(seeds, int) else seeds
    stops = [blind + max(1, int(share * table.count())) for share in SHARES]
    begin = time.process_time()
    curves = [replay(factory, table, stops[-1], seed, ahead) for seed in seeds]
    cost = (time.process_time() - begin) / (len(seeds) * stops[-1])
    found = [[table.best / curve[min(stop, len(curve)) - 1] for stop in stops] for curve in curves]
    return np.array(found), 1e3 * cost


def elsewhere(space, tables):
    """Scores in the other tables of the same kernel."""
    kernel = space.partition("_")[0]
    others = [
        table for name, table in tables.items() if name != space and name.startswith(f"{kernel}_")
    ]
    return [
        {label: table.score(label) for label, time in table.times.items() if time is not None}
        for table in others
    ]


def line(name, space, found, cost):
    """Format a row of the table."""
    cells = []
    for column in found.T:
        shares = [f"{100 * np.mean(column >= limit):.0f} %" for limit in (0.99, 0.95)]
        cells += [*shares, f"{column.mean():.3f}"]
    ms = "" if math.isnan(cost) else f"{cost:.1f}"
    return f"| {name} | {space} | {len(found)} | " + " | ".join(cells) + f" | {ms} |"


def cell(name, space, found, cost, options):
    start = "warm" if options.warm else "cold"
    one = {"benchmark": "strategies", "type": name, "size": space.strip("*")}
    case = f"{start}, {options.ahead} ahead{' of these shares' * options.informed}"
    one |= {"case": case, "runs": len(found)}
    for share, column in zip(SHARES, found.T, strict=True):
        for within in (1, 5):
            hits = 100 * np.mean(column >= 1 - within / 100)
            one[f"within_{within}_percent_after_{100 * share:.0f}_percent"] = round(hits)
        one[f"mean_after_{100 * share:.0f}_percent"] = round(column.mean(), 3)
    if not math.isnan(cost):
        one["ms_a_visit"] = round(cost, 1)
    return one | cells.origin(None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", type=Path)
    parser.add_argument("--synthetic", type=int, default=0, metavar="N", help="draws of each")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--ahead", type=int, default=4, help="asks before the first tell")
    parser.add_argument("--strategies", nargs="+", choices=sorted(STRATEGIES))
    parser.add_argument("--informed", action="store_true", help="shares from the first outcome on")
    parser.add_argument("--warm", action="store_true", help="start from the other tables")
    cells.add_option(parser)
    options = parser.parse_args()
    names = options.strategies or [name for name in STRATEGIES if name != "exhaustive"]
    tables = {path.name.partition(".")[0]: read_table(path) for path in options.tables}
    tables |= synthetic.tables(options.synthetic)
    print(HEAD + " ms a visit |")
    print("|" + "---|" * (HEAD.count("|")))
    rows = []
    for name in names:
        everything = []
        for space, table in tables.items():
            others = elsewhere(space, tables) if options.warm else []
            factory = warmed(STRATEGIES[name], others) if others else STRATEGIES[name]
            blind = options.ahead if options.informed else 0
            found, cost = speeds(factory, table, options.seeds, options.ahead, blind)
            everything.append(found)
            print(line(name, space, found, cost), flush=True)
            rows.append(cell(name, space, found, cost, options))
        total = name, "**all**", np.concatenate(everything), math.nan
        print(line(*total), flush=True)
        rows.append(cell(*total, options))
    if options.json:
        cells.put(rows, "any-machine", options.json)


if __name__ == "__main__":
    main()
