"""Shows where the time of a primitive's kernels goes: counters of Nsight Compute, few a kernel.

    python benchmarks/counters.py [--names NAME ...] [--types TYPE ...] [--size 28] [--json]

Without names it takes those cells of results/ that are below 85 % of their bound at that size. A
line has a kernel's time, how busy memory, the L2 cache and the issue slots are, the warps on a
multiprocessor, and the three reasons for which warps wait most. Clocks are left as they are.
"""

import argparse
import csv
import itertools
import shutil
import subprocess
import sys
import tempfile

import cells
import cub
import note_tables

import cubc

ENOUGH = 85  # percent of the bound
TIME = "gpu__time_duration.sum"
SHARES = {
    "memory": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "warps": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
REASONS = (
    *("barrier", "branch_resolve", "dispatch_stall", "drain", "imc_miss", "lg_throttle"),
    *("long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "no_instruction"),
    *("not_selected", "selected", "short_scoreboard", "sleeping", "wait"),
)
METRICS = (TIME, *SHARES.values(), *(STALL.format(reason) for reason in REASONS))


def number(text):
    return float(text.replace(",", "") or "nan")


def rows_of(text):
    """Kernels in the raw page that ncu prints as CSV: a line of names, one of units, then data."""
    lines = text.splitlines()
    start = next((k for k, line in enumerate(lines) if line.startswith('"ID"')), None)
    return list(csv.DictReader(lines[start:]))[1:] if start is not None else []


def figures(row):
    """A kernel's time in us, its shares in percent, and the stalls that most warps wait in."""
    stalls = {  # versions of ncu differ in which reasons they tell apart
        reason: number(row[STALL.format(reason)])
        for reason in REASONS
        if STALL.format(reason) in row
    }
    total = sum(stalls.values()) or 1
    most = sorted(stalls, key=stalls.get, reverse=True)[:3]
    return {
        "cubc": round(number(row[TIME]) * 1e-3, 2),
        "unit": "us",
        **{f"{name}_percent": round(number(row[metric])) for name, metric in SHARES.items()},
        "stalls": ", ".join(f"{reason} {100 * stalls[reason] / total:.0f} %" for reason in most),
    }


def profiled(ncu, name, dtype, size):
    """Cells of the kernels that a call of a name of cub.py launches."""
    benchmark, axes = cub.split_name(name)
    algorithm = benchmark.partition(".")[0]
    rt = cub.elements(size) | cub.further_axes(benchmark, axes)
    asked = [f"-a={key}={value}" for key, value in {"T": dtype, **rt}.items()]
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as log:
        command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--log-file", log.name]
        command += ["--clock-control", "none", "--metrics", ",".join(METRICS)]
        command += ["-k", f"regex:^{algorithm}_", sys.executable, "-m", "cubc", "profile"]
        done = subprocess.run(
            [*command, "-R", f"^{benchmark}$", *asked], capture_output=True, text=True
        )
        found = rows_of(log.read())
    if not found:
        print(f"{name} {dtype}: nothing profiled; {(done.stderr or done.stdout)[-300:].strip()}")
    if algorithm == "transform":
        found = found[-1:]  # those before it fill the inputs
    where = {"benchmark": "counters", "type": dtype, "size": cub.size_name(size)}
    return [
        where | {"case": f"{name}: {k} {row['Kernel Name']}"} | figures(row)
        for k, row in enumerate(found, 1)
    ]


def below_bound(size, types):
    """Names and types of measured cells that are below 85 % of their bound."""
    results = cells.load(note_tables.DEVICE)
    for name, dtype in itertools.product(cub.NAMES, types):
        for cell in results.get(name, []):
            if (cell["type"], cell["size"]) == (dtype, cub.size_name(size)):
                bound = note_tables.bound_of(name, dtype, size, results["bounds"])
                if 100 * cell.get("bound", bound) < ENOUGH * cell["cubc"]:
                    yield name, dtype


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--names", nargs="+", choices=cub.NAMES, default=())
    parser.add_argument("--types", nargs="+", choices=cub.TYPE_CODES, default=("I32", "F64"))
    parser.add_argument("--size", type=int, default=28, help="as in cub.py")
    cells.add_option(parser)
    options = parser.parse_args()
    ncu = shutil.which("ncu", path=None) or shutil.which("ncu", path="/usr/local/cuda/bin")
    if cubc.devices()[0] == "cpu" or not ncu:
        print("counters.py: needs a CUDA device and Nsight Compute (ncu)")
        return
    wanted = itertools.product(options.names, options.types)
    for name, dtype in wanted if options.names else below_bound(options.size, options.types):
        found = profiled(ncu, name, dtype, options.size)
        for cell in found:
            shares = " ".join(f"{share} {cell[f'{share}_percent']} %" for share in SHARES)
            print(f"{cell['case']} {dtype}: {cell['cubc']} us, {shares}; {cell['stalls']}")
        sys.stdout.flush()
        cells.put_asked(found, cubc.device_info(), options)


if __name__ == "__main__":
    main()
