"""The command ``cubc``, with the flags that users of CUB's scripts know."""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from cubc import _core
from cubc._outputs import check as check_output

from . import _axes as ax
from ._analyze import Analysis, analyze
from ._arguments import TOP, make_parser
from ._compare import compare
from ._live import compare_live
from ._machine_code import (
    MANIFEST,
    Manifest,
    changed,
    listable,
    manifest,
    read_manifest,
    write_manifest,
)
from ._merge import merge
from ._pack import make_bundle
from ._policies import passed, passed_over
from ._policy_text import FILE
from ._profile import profile
from ._recorded_calls import recorded
from ._remote_bench import BaseFailed
from ._report import PAGE, states
from ._report import write as write_report
from ._search import search
from ._space import Space
from ._stores import expand, store_path
from ._verdict import DRIFT, MOST_ROUNDS
from ._verify import verify, verify_winners
from ._winners import no_winner, winners
from ._words import listed
from ._workload import declared_axes, matching

# Errors that a user can put right; anything else is a bug and keeps its traceback.
ERRORS = (
    ValueError,
    LookupError,
    OSError,
    MemoryError,
    BaseFailed,
    _core.NoDeviceError,
    _core.DeviceError,
    _core.CompileError,
    _core.StoreError,
    ModuleNotFoundError,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 2 after an error and 130 after Ctrl-C."""
    given = sys.argv[1:] if arguments is None else arguments
    if not given:
        make_parser(RUNS).print_help(sys.stderr)
        return 2
    options = make_parser(RUNS).parse_args(given)
    if "run" not in options:
        make_parser(RUNS).error("a command is needed")
    name = options.parser.prog
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _say(name, message)
            status = options.run(options) or 0
            if sys.stdout is not None:  # None where the process has no output
                sys.stdout.flush()  # which may fail for want of a reader, too
            return status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ERRORS as error:
        _say(name, _text(error))
        return 2
    return 0  # the reader had what it wanted


def _say(command: str, message: object) -> None:
    print(f"{command}: {message}", file=sys.stderr)


def _text(error: Exception) -> str:
    """Return an error's text without the function of Python that it names: a command was called."""
    if isinstance(error, OSError) and error.filename:
        return _of_file(error)
    function = error.__dict__.get("cubc_function")
    return str(error).removeprefix(f"{function}(): ")


def _of_file(error: OSError) -> str:
    """Return what is wrong with a file, and where its folder is not there, that."""
    folder = os.path.dirname(os.path.abspath(os.fsdecode(error.filename)))
    missing = "" if os.path.isdir(folder) else f"; there is no folder {folder}"
    return f"{os.fsdecode(error.filename)}: {error.strerror}{missing}"


def _refuse(options: argparse.Namespace, why: str, *names: str) -> None:
    """Raise ValueError for options that this form of a command does not use."""
    for name in names:
        if getattr(options, name) is not None:
            raise ValueError(f"--{name} {why}")


def _search(options: argparse.Namespace) -> None:
    if options.list_benches:
        return _list(options)
    if options.recording and (options.R or options.a):
        raise ValueError("a recording is searched at its own shapes: leave -R and -a out")
    if options.recording in _core.benchmarks():
        raise ValueError(f"a benchmark follows -R: cubc search -R {options.recording}")
    bounds = options.R, options.recording, options.seconds, options.variants, options.target
    if all(one is None for one in bounds):
        raise ValueError(
            "this would search all benchmarks: name some with -R ('.*' is all), a recording, or "
            "--seconds; cubc search -l lists them"
        )
    result = search(
        Path(options.recording) if options.recording else options.R or ".*",
        ax.parse_arguments(options.a),
        db=options.db,
        device=options.device,
        strategy=options.strategy,
        variants=options.variants,
        seconds=options.seconds,
        seed=options.seed,
        warm=options.warm,
        constraints=options.constraint,
        racing=not options.full,
        confirm=options.confirm,
        target=options.target,
        patience=options.patience,
        objective=options.objective or "time",
        progress=False if options.quiet else None,
    )
    left = [name for name, why in result.ended.items() if not why and name not in result.failed]
    if left:
        _say(options.parser.prog, f"no time was left for {listed(left)}: search longer")
    return _show_top(result, 5)


def _list(options: argparse.Namespace) -> None:
    device = _core.device_info(options.device)
    wanted = ax.parse_arguments(options.a)
    for name, axes in declared_axes(matching(options.R or ".*"), wanted).items():
        ct = {axis.name: str(axis.values[0]) for axis in axes if axis.compile_time}
        print(f"{name}: {Space(name, ct, device['arch']).size} variants on {device['name']}")
        for axis in axes:
            print(f"    {axis.name} = [{','.join(map(str, axis.values))}]")


def _analyze(options: argparse.Namespace) -> None:
    axes, objective = ax.parse_arguments(options.a), options.objective or "time"
    analysis = analyze(options.files, options.R, axes, objective)
    if options.json or options.csv:
        _data(analysis, options)
        return
    if options.coverage:
        print(analysis.coverage())
    if options.policies:
        if rows := analysis.policies():
            print(rows)
        else:
            _say(options.parser.prog, no_winner(expand(options.files), analysis.groups))
    if options.top is not None or not (options.coverage or options.policies):
        _show_top(analysis, TOP if options.top is None else options.top)


def _data(analysis: Analysis, options: argparse.Namespace) -> None:
    """Print tables for a program; by default that of all scores."""
    if options.policies:
        raise ValueError("--policies is text of its own: leave --json and --csv out")
    tables = {}
    if options.coverage:
        tables["coverage"] = analysis.coverage()
    if options.top is not None:
        tables["top"] = analysis.top(options.top)
    tables = tables or {"measurements": analysis.to_frame()}
    if options.csv:
        if len(tables) > 1:
            raise ValueError("CSV is one table: --top or --coverage")
        (table,) = tables.values()
        print(table.to_csv(index=False), end="")
    else:
        records = {name: json.loads(t.to_json(orient="records")) for name, t in tables.items()}
        print(json.dumps(records, indent=1))


def _report(options: argparse.Namespace) -> None:
    axes, again = ax.parse_arguments(options.a), options.watch or 0.0
    if options.watch is not None and not again >= 1:
        raise ValueError(f"--watch {again:g}: once a second at most")
    check_output(options.o, PAGE)
    before: object = None
    while True:
        files = expand(options.files)
        if (now := states(files)) != before:
            count = write_report(analyze(files, options.R, axes), options.o, files, again)
            print(f"{options.o}: {count} bytes", flush=True)
        before = now
        if not again:
            return
        time.sleep(again)


def _merge(options: argparse.Namespace) -> None:
    try:
        merged = merge(options.files, options.o, replace=options.replace)
    except FileExistsError as error:
        raise FileExistsError(str(error).replace("replace=True", "--replace")) from None
    print(f"{options.o}: {merged}")


def _compare(options: argparse.Namespace) -> int:
    axes = ax.parse_arguments(options.a)
    sides = (options.before, options.after, options.R, axes)
    if not options.live:
        _refuse(options, "is for --live: stores have what was measured", "rounds", "device")
        drift = DRIFT if options.drift is None else options.drift
        found = compare(*sides, variant=options.variant, drift=drift)
    elif not options.R:
        raise ValueError("--live needs -R, a benchmark such as -R reduce.sum")
    else:
        _refuse(options, "is of stores: --live measures both by turns, without a drift", "drift")
        what = {"variant": options.variant, "device": options.device}
        rounds = MOST_ROUNDS if options.rounds is None else options.rounds
        found = compare_live(*sides, **what, rounds=rounds)
    print(found.markdown())
    return 1 if options.fail_on_slower and found.slower else 0


def _policy(options: argparse.Namespace) -> None:
    if options.header and options.o:
        raise ValueError("-o writes policies: leave it out, or --header, which is printed")
    if options.o:
        check_output(options.o, FILE)
    analysis = analyze(options.files, options.R, ax.parse_arguments(options.a))
    text = analysis.header() if options.header else analysis.policies()
    if not winners(analysis.groups, by_workload=not options.header):
        raise ValueError(no_winner(expand(options.files), analysis.groups))
    current = [group for group in analysis.groups if group.current]
    if options.o and not winners(current, by_workload=True):
        left = " ".join(passed_over(*passed(analysis.groups)))
        raise ValueError(f"{left}; {options.o} is not written")
    if options.o:
        print(f"{analysis.save_policies(options.o)} policies in {options.o}")
    else:
        print(text)


def _verify(options: argparse.Namespace) -> int:
    pattern, axes, device = options.R or ".*", ax.parse_arguments(options.a), options.device
    if options.variant or options.db:
        why = "is of machine code: --variant and --db measure instead"
        _refuse(options, why, "write", "against", "listings", "arch")
        if options.variant:
            found = verify(pattern, options.variant, axes, device=device)
        else:
            found = verify_winners(options.db, options.R, axes, device=device)
        print(found.markdown())
        return 1 if found.slower else 0
    if not (options.write or options.against or options.listings):
        raise ValueError("--variant, --db, --write, --against or --listings is needed")
    _refuse(options, "is for --variant and --db: machine code needs --arch alone", "device")
    if options.write:
        check_output(options.write, MANIFEST)
    before = _manifest(options.against) if options.against else None
    archs = options.arch
    if options.listings and not (archs or options.write or before is not None):
        archs = listable()  # the others need not be compiled
    hashes = manifest(archs, pattern, axes, listings=options.listings, progress=not options.quiet)
    if options.write:
        write_manifest(options.write, hashes)
    if before and (options.R or axes or archs):
        before = {name: digest for name, digest in before.items() if name in hashes}
    different = [] if before is None else changed(before, hashes)
    for name in different:
        missing = options.against if name not in (before or {}) else "this cubc"
        both = name in (before or {}) and name in hashes
        print(name if both else f"{name} (not in {missing})")
    print(f"{len(hashes)} policies, {len(different)} changed")
    return 1 if different else 0


def _manifest(path: str) -> Manifest:
    try:
        return read_manifest(path)
    except FileNotFoundError:
        raise FileNotFoundError(
            f"there is no manifest {path}: before the change, cubc verify --write {path} makes it"
        ) from None


def _profile(options: argparse.Namespace) -> None:
    axes = ax.parse_arguments(options.a)
    if not options.R:
        raise ValueError("-R is needed, a benchmark such as -R reduce.sum")
    for line in profile(options.R, axes, options.variant, device=options.device):
        print(line)


def _show_top(analysis: Analysis, n: int) -> None:
    print(analysis.top(n))


def _record(options: argparse.Namespace) -> None:
    path = os.path.abspath(store_path(options.db))
    _find_program(options.command)
    _core.Store(path, True).close()
    variables = {"CUBC_RECORD": path, "CUBC_RECORD_KEYS": str(int(options.keys))}
    os.execvpe(options.command[0], options.command, os.environ | variables)


def _recorded(options: argparse.Namespace) -> None:
    table = recorded(options.files)
    if table.empty:
        raise LookupError("no calls were recorded: a program that is killed at once leaves none")
    print(table)


def _find_program(command: Sequence[str]) -> None:
    program = command[0]
    if shutil.which(program) is not None:
        return
    if os.path.dirname(program) and os.path.isfile(program):
        raise PermissionError(
            f"'{program}' is not executable: chmod +x makes it so; or name what runs it, as python "
            f"{program}"
        )
    raise LookupError(f"there is no program '{program}': what follows -- is a command")


def _bundle(options: argparse.Namespace) -> int:
    _find_program(options.command)
    return make_bundle(options.o, options.command, options.device, options.portable)


def _devices(options: argparse.Namespace) -> None:
    for name in _core.devices():
        info = _core.device_info(name)
        compiler = info["compiler"]
        if name == "cpu" and compiler == "none":
            compiler = "no C++ compiler: nothing is computed here without g++ or clang++"
            if _core.has_shipped_kernels():
                compiler = "no C++ compiler: the kernels that came with cubc run, for sums, scans, "
                compiler += "sorts of common types; others need g++ or clang++"
        print(f"{name:8} {info['model']} ({info['arch']}, {compiler})")
    if not any(name.startswith("cuda") for name in _core.devices()):
        print(f"cuda     none: {_why_no_cuda()}")


def _why_no_cuda() -> str:
    """Reason for which there is no GPU, from the error of asking for one."""
    try:
        _core.device_info("cuda:0")
    except _core.NoDeviceError as error:
        return re.sub(r".*\(no cuda: (.*)\)", r"\1", str(error))
    return ""


# The function of each command.
RUNS = {
    "search": _search,
    "analyze": _analyze,
    "report": _report,
    "merge": _merge,
    "compare": _compare,
    "policy": _policy,
    "verify": _verify,
    "profile": _profile,
    "record": _record,
    "recorded": _recorded,
    "bundle": _bundle,
    "devices": _devices,
}
