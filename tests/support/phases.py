"""The command ``cubc`` with a search that a test can stop in any of its phases.

    python phases.py <phase> <folder> <number> <arguments of cubc>...

In "compile", "base", "variant" and "confirm" the file `reached` appears in the folder, and the
search stays in that phase: in a compiler that sleeps once it finds the file `hold`, or in the
measuring process, which is asked to measure for a minute. In "write" the signal of that number
comes from within, when half of a row is written. In "full" all writes fail with that number from
that row on, in "new" from the start; these three want disk.c to be loaded. In "gone" the store's
files are removed before that row. In "hurry" a variant may run for 1.5 s. The file `workers` has
the numbers of the measuring processes.
"""

import ctypes
import functools
import sys
from pathlib import Path

from cubc.tuner import _cli as cli
from cubc.tuner import _deadlines as deadlines
from cubc.tuner import _local as local
from cubc.tuner import _process as process
from cubc.tuner import _workload_search

TIMING = {"min_samples": 3, "max_samples": 3, "timeout": 1.0}
LONG = {"min_samples": 1 << 30, "max_samples": 1 << 30, "timeout": 60.0}
ROWS = 2  # of base and the first variant: what comes next is disturbed


def disk(**settings):
    """Set variables of disk.c."""
    for name, value in settings.items():
        ctypes.c_int.in_dll(ctypes.CDLL(None), f"disk_{name}").value = value


def list_workers(folder):
    """Write down the number of every measuring process."""
    begin = process.Process.__init__

    def noted(self):
        begin(self)
        with (folder / "workers").open("a") as workers:
            print(self.pid, file=workers)

    process.Process.__init__ = noted


def hold_compiler(folder):
    """Have the compiler of the first variant sleep."""
    submit = local.Local.submit

    def held(self, request):
        if not (folder / "reached").exists():
            (folder / "hold").touch()
        submit(self, request)

    local.Local.submit = held


def hold_measurement(folder, phase):
    """Have one request take a minute: of base, of the second variant, or of a later round."""
    send = process.Process.send
    variants = []

    def held(self, kind, *arguments):
        if kind == "evaluate":
            [request] = arguments
            if request.variant != "base" and not request.runs[0].round:
                variants.append(request.variant)
            now = {
                "base": request.variant == "base",
                "variant": len(variants) == 2,
                "confirm": request.runs[0].round == 1,
            }
            if now[phase]:
                arguments = [request._replace(timing=LONG)]
                send(self, kind, *arguments)
                (folder / "reached").touch()
                return
        send(self, kind, *arguments)

    process.Process.send = held


def before_third_row(action):
    """Do something just before the row after the first `ROWS` is written."""
    record, rows = _workload_search.WorkloadSearch._record, 0

    def recorded(self, *arguments):
        nonlocal rows
        rows += 1
        if rows == ROWS + 1:
            action()
        record(self, *arguments)

    _workload_search.WorkloadSearch._record = recorded


def remove_store(folder):
    """Take away the store's files."""
    for path in folder.glob("s.db*"):
        path.unlink()


def hurry():
    """Let a variant run for 1.5 s at most."""
    deadlines.RUN_FLOOR, deadlines.RUN_FACTOR = 1.5, 0.0


def main(phase, folder, number, arguments):
    """Prepare the phase and run the command."""
    folder = Path(folder)
    list_workers(folder)
    cli.search = functools.partial(cli.search, timing=TIMING)
    prepare = {
        "compile": lambda: hold_compiler(folder),
        "base": lambda: hold_measurement(folder, "base"),
        "variant": lambda: hold_measurement(folder, "variant"),
        "confirm": lambda: hold_measurement(folder, "confirm"),
        "write": lambda: before_third_row(lambda: disk(signal=int(number), writes=1)),
        "full": lambda: before_third_row(lambda: disk(error=int(number))),
        "new": lambda: disk(error=int(number)),
        "gone": lambda: before_third_row(lambda: remove_store(folder)),
        "hurry": hurry,
        "none": lambda: None,
    }
    prepare[phase]()
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
