"""Cells that changed beyond noise since a commit: what is in results/ beside what was there.

    python benchmarks/changed.py COMMIT [--device nvidia-h200] [--noise 3] [NAME ...]

A cell is printed if its time differs by more than the noise in percent, and also relative to its
peer's where both were measured beside the same version of it: machines of a kind differ by 2 % and
more, and what differs with the machine the peer shares.
"""

import argparse
import math
import subprocess
from pathlib import Path

import cells


def then(commit, device):
    """Cells of a device as a commit has them, a list for each benchmark."""

    def git(*words):
        command = ["git", "-C", str(Path(__file__).parent), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    folder = f"results/{device}/"
    files = git("ls-tree", "--name-only", commit, folder).split()
    return {
        Path(name).stem: cells.parse(git("show", f"{commit}:./{name}"))
        for name in files
        if name.endswith(".jsonl")
    }


def faster(now, before):
    """Speed of a cell over the one before, and the same relative to the peer (None without)."""
    speed = now["cubc"] / before["cubc"]
    if now.get("unit") == "us":
        speed = 1 / speed
    shared = "ratio" in now and "ratio" in before
    if not shared or now.get("peer_version") != before.get("peer_version"):
        return speed, None
    if now.get("peer") == before.get("peer"):  # a recorded figure says nothing of the machine
        return speed, None
    return speed, now["ratio"] / before["ratio"]


def beyond(ratio, percent):
    return ratio is None or abs(math.log(ratio)) > math.log(1 + percent / 100)


def compared(now, before, percent):
    """Pairs of cells that are in both, and whether they differ beyond noise."""
    there = {cells.key(cell): cell for cell in before}
    for cell in now:
        old = there.get(cells.key(cell))
        if old and cell.get("cubc") and old.get("cubc") and cell != old:
            speed, relative = faster(cell, old)
            yield cell, old, speed, beyond(speed, percent) and beyond(relative, percent)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit")
    parser.add_argument("names", nargs="*", help="benchmarks (all)")
    parser.add_argument("--device", default="nvidia-h200")
    parser.add_argument("--noise", type=float, default=3.0, help="percent (default: %(default)s)")
    options = parser.parse_args()
    old, count, logs = then(options.commit, options.device), 0, []
    for name, now in cells.load(options.device).items():
        if options.names and name not in options.names:
            continue
        for cell, before, speed, differs in compared(now, old.get(name, []), options.noise):
            logs.append(math.log(speed))
            count += differs
            if differs:
                what = " ".join(str(cell[k]) for k in ("type", "size", "case") if k in cell)
                print(
                    f"{name:25} {what:24} {before['cubc']:>10} to {cell['cubc']:>10}"
                    f" {cell['unit']}  x{speed:.3f}  ({before['commit']} to {cell['commit']})"
                )
    if not logs:
        print("no cell was measured again")
        return
    mean = math.exp(sum(logs) / len(logs))
    print(f"{count} of {len(logs)} cells beyond noise; geometric mean of speeds x{mean:.3f}")


if __name__ == "__main__":
    main()
