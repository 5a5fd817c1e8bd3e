"""Measured cells: reads, replaces and prints what results/<device>/<benchmark>.jsonl holds.

    python benchmarks/cells.py [DEVICE [BENCHMARK ...]]

A cell is one JSON object a line. It has a benchmark, a type, a size, perhaps a case; the figure of
cubc and that of its peer in one unit, and their ratio, above 1 where cubc is faster; and what they
were measured with: device, driver, CUDA, the peer's version, date, commit, command. A file holds
what is true now: a new figure takes the place of the one before. History is git's.
"""

import functools
import itertools
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent / "results"
# Not in a printed table: the same in all cells of a device, or long.
COMMON = ("benchmark", "peer_version", "device", "driver", "cuda", "cores", "compiler")
LONG = ("variant", "best", "command")
KEY = ("benchmark", "type", "size", "case", "peer_name")


def key(cell):
    return tuple(cell.get(name) for name in KEY)


def parse(text):
    return [json.loads(line) for line in text.splitlines()]


def read(path):
    return parse(path.read_text())


def load(device, folder=FOLDER):
    """All cells of a device, a list for each benchmark."""
    return {path.stem: read(path) for path in sorted((folder / device).glob("*.jsonl"))}


def write(path, cells):
    path.write_text("".join(json.dumps(cell) + "\n" for cell in cells))


def put(cells, device, folder=FOLDER):
    """Writes cells of a device, each in the place of the one with its key, or behind the others."""
    (folder / device).mkdir(parents=True, exist_ok=True)
    for benchmark in dict.fromkeys(cell["benchmark"] for cell in cells):
        path = folder / device / f"{benchmark}.jsonl"
        there = {key(cell): cell for cell in (read(path) if path.exists() else [])}
        there.update((key(cell), cell) for cell in cells if cell["benchmark"] == benchmark)
        write(path, there.values())


def folder_name(info):
    """Name of a device's folder: the model, and the cores of a CPU."""
    model = re.sub(r"\((R|TM)\)|\bProcessor\b|\bCPU\b|@.*", " ", info["model"])
    cores = f"-{info['sm_count']}-cores" if info["kind"] == "cpu" else ""
    return re.sub(r"[^a-z0-9]+", "-", model.lower()).strip("-") + cores


@functools.cache
def commit():
    """The commit that is checked out, with a plus where files differ from it."""

    def git(*words):
        command = ["git", "-C", str(Path(__file__).parent), *words]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    if not shutil.which("git") or not (head := git("rev-parse", "--short", "HEAD")):
        return "unknown"
    return head + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")


def origin(info, **peer):
    """Return the origin of a cell; `info` is cubc.device_info(), None where no device matters."""
    where = {"device": info["model"]} if info else {}
    if info and info["kind"] == "cuda":
        where |= {"driver": info["driver"].split()[0], "cuda": info["runtime"]}
    elif info:
        where |= {"cores": info["sm_count"], "compiler": info["compiler"]}
    command = shlex.join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    command = re.sub(r" --json( [^-]\S*)?", "", command)
    when = {"date": time.strftime("%Y-%m-%d"), "commit": commit(), "command": command}
    return peer | where | when


def add_option(parser):
    """Adds --json to a benchmark's options."""
    parser.add_argument(
        "--json",
        nargs="?",
        const=FOLDER,
        type=Path,
        metavar="FOLDER",
        help="put the cells into FOLDER/<device>/<benchmark>.jsonl (beside this script)",
    )


def put_asked(cells, info, options):
    """Writes the cells of a device, with their origin, where --json asks for it."""
    if options.json:
        put([cell | origin(info) for cell in cells], folder_name(info), options.json)


def table(cells):
    """Lines of a table of one benchmark's cells; what all have in common is not in it."""
    columns = [name for name in dict.fromkeys(itertools.chain(*cells)) if name not in COMMON + LONG]
    yield "| " + " | ".join(columns) + " |"
    yield "|---" * len(columns) + "|"
    for cell in cells:
        yield "| " + " | ".join(str(cell.get(name, "")) for name in columns) + " |"


def main():
    devices = sys.argv[1:2] or sorted(path.name for path in FOLDER.iterdir())
    for device in devices:
        for benchmark, cells in load(device).items():
            if not sys.argv[2:] or benchmark in sys.argv[2:]:
                print(f"\n{benchmark}, {device}: {cells[0]['command']}\n", *table(cells), sep="\n")


if __name__ == "__main__":
    main()
