"""The command ``cubc``, with the flags that users of CUB's scripts know."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from cubc import _core

from . import _axes as ax
from ._analyze import Analysis, analyze
from ._compare import compare
from ._goal import parse as parse_target
from ._live import compare_live
from ._machine_code import Manifest, changed, manifest, read_manifest, write_manifest
from ._merge import merge
from ._pack import make_bundle
from ._profile import profile
from ._recorded import recorded
from ._remote_bench import BaseFailed
from ._report import write as write_report
from ._search import CONFIRM, DB, search
from ._space import Space
from ._stores import expand, store_path
from ._strategy import DEFAULT, STRATEGIES
from ._verdict import DRIFT, MOST
from ._verify import verify, verify_winners
from ._winners import no_winner, winners
from ._words import Parser
from ._workload import declared_axes, matching

TOP = 7  # variants that an analysis shows

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
        _parser().print_help(sys.stderr)
        return 2
    options = _parser().parse_args(given)
    if "run" not in options:
        _parser().error("a command is needed")
    name = options.parser.prog
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: _say(name, message)
            return options.run(options) or 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ERRORS as error:
        _say(name, _of_file(error) if isinstance(error, OSError) and error.filename else error)
        return 2
    return 0  # the reader had what it wanted


def _say(command: str, message: object) -> None:
    print(f"{command}: {message}", file=sys.stderr)


def _of_file(error: OSError) -> str:
    """Return what is wrong with a file, and where its folder is not there, that."""
    folder = os.path.dirname(os.path.abspath(os.fsdecode(error.filename)))
    missing = "" if os.path.isdir(folder) else f"; there is no folder {folder}"
    return f"{os.fsdecode(error.filename)}: {error.strerror}{missing}"


def _parser() -> Parser:
    parser = Parser(
        "cubc",
        description="Tune cubc's kernels for a device.",
        epilog="Exit status: 0; 1 if verify or --fail-on-slower found something; 2 after an error, "
        "and if policy has nothing to write; 130 after Ctrl-C.",
    )
    parser.add_argument("--version", action="version", version=f"cubc {_core.__version__}")
    commands = parser.add_subparsers(metavar="command")

    common = Parser(add_help=False)
    common.add_argument(
        "-R", metavar="REGEX", help="benchmarks whose name the expression matches from its start"
    )
    common.add_argument(
        "-a",
        action="append",
        default=[],
        metavar="AXIS",
        help="only these values of an axis: 'T{ct}=[F32,I64]', 'Elements{io}[pow2]=[16:28:4]'",
    )

    find = commands.add_parser("search", parents=[common], help="measure variants into a store")
    find.add_argument(
        "recording", nargs="?", help="a store of `cubc record`: each of its calls, at its own shape"
    )
    find.add_argument("-l", "--list-benches", action="store_true", help="list benchmarks and axes")
    find.add_argument("--db", help=f"the store (default: {DB}, or the recording)")
    find.add_argument("--device", help="cuda:0, cpu, ... (default: the default device)")
    find.add_argument("--strategy", choices=list(STRATEGIES), default=DEFAULT)
    find.add_argument("--variants", type=int, help="most variants of each compile-time workload")
    find.add_argument("--seconds", type=float, help="stop after this time")
    find.add_argument(
        "--target", type=parse_target, help="stop at a score, as 1.3, or a time, as 350us"
    )
    find.add_argument(
        "--patience", type=int, metavar="N", help="stop after N variants without a better one"
    )
    find.add_argument(
        "--objective", action="append", metavar="FIGURE", help="time (default), energy, ...; or two"
    )
    find.add_argument(
        "--warm", nargs="+", default=[], metavar="STORE", help="begin with the best of these"
    )
    find.add_argument(
        "--constraint",
        action="append",
        default=[],
        metavar="EXPRESSION",
        help="only variants that fulfil it: 'tpb * ipt <= 4096', 'local_bytes == 0'",
    )
    find.add_argument(
        "--full", action="store_true", help="measure variants in full that cannot win any more"
    )
    find.add_argument(
        "--confirm",
        "--again",
        type=int,
        default=CONFIRM,
        metavar="N",
        help="measure the best N again",
    )
    find.add_argument("--seed", type=int, default=0, help="seed of the order")
    find.add_argument("--quiet", action="store_true", help="show no progress")
    find.set_defaults(run=_search)

    look = commands.add_parser("analyze", parents=[common], help="tables of what stores hold")
    look.add_argument("files", nargs="+", help="stores or glob patterns")
    look.add_argument("--top", type=int, metavar="N", help=f"best N variants (default: {TOP})")
    look.add_argument(
        "--objective", action="append", metavar="FIGURE", help="time (default), energy, ...; or two"
    )
    look.add_argument("--coverage", action="store_true", help="share of the space measured")
    look.add_argument("--policies", action="store_true", help="rows for policies.def")
    form = look.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="tables as JSON, a record a row")
    form.add_argument("--csv", action="store_true", help="the table as CSV")
    look.set_defaults(run=_analyze)

    shown = commands.add_parser(
        "report", parents=[common], help="one page of HTML with tables and plots of stores"
    )
    shown.add_argument("files", nargs="+", help="stores or glob patterns")
    shown.add_argument(
        "-o", metavar="FILE", default="report.html", help="the page (default: %(default)s)"
    )
    shown.add_argument(
        "--watch",
        nargs="?",
        type=float,
        const=10.0,
        metavar="SECONDS",
        help="read the stores again every SECONDS (10) until Ctrl-C; the page follows",
    )
    shown.set_defaults(run=_report)

    joined = commands.add_parser(
        "merge", help="one store of several: cubc merge a.db b.db -o all.db"
    )
    joined.add_argument("files", nargs="+", help="stores or glob patterns")
    joined.add_argument("-o", required=True, metavar="FILE", help="the store to make")
    joined.add_argument("--replace", action="store_true", help="overwrite FILE if it is there")
    joined.set_defaults(run=_merge)

    both = commands.add_parser(
        "compare", parents=[common], help="verdicts on each workload, after against before"
    )
    side = (
        "store or glob pattern; with --live a Python with cubc, or a variable as CUBC_CXX=clang++"
    )
    both.add_argument("before", help=side)
    both.add_argument("after", help=side)
    both.add_argument("--variant", default="base", help="a label (default: %(default)s)")
    both.add_argument(
        "--live",
        action="store_true",
        help="measure both by turns, so that a drift of the machine cancels; needs -R",
    )
    both.add_argument("--device", help="for --live: cuda:0, cpu, ... (default: the default device)")
    both.add_argument(
        "--rounds",
        type=int,
        default=MOST,
        metavar="N",
        help="for --live: most rounds, each a process of either side (default: %(default)s)",
    )
    both.add_argument(
        "--drift",
        type=float,
        default=DRIFT,
        metavar="SHARE",
        help="of stores: relative drift of the machine between them (default: %(default)s)",
    )
    both.add_argument(
        "--fail-on-slower", action="store_true", help="exit status 1 if a workload is SLOWER"
    )
    both.set_defaults(run=_compare)

    rows = commands.add_parser(
        "policy", parents=[common], help="what stores found, for policies.def or a C header"
    )
    rows.add_argument("files", nargs="+", help="stores or glob patterns")
    rows.add_argument("--header", action="store_true", help="a C header with the constants")
    rows.add_argument(
        "-o", metavar="FILE", help="write them as text that use_policies and CUBC_POLICIES take"
    )
    rows.set_defaults(run=_policy)

    check = commands.add_parser(
        "verify",
        parents=[common],
        help="measure policies beside base, or compare their machine code",
    )
    measured = check.add_mutually_exclusive_group()
    measured.add_argument("--variant", help="measure this label as the policy")
    measured.add_argument(
        "--db", nargs="+", metavar="STORE", help="measure the winners of these stores"
    )
    check.add_argument("--device", help="cuda:0, cpu, ... (default: the default device)")
    check.add_argument("--arch", nargs="+", help="for the manifests (default: all with policies)")
    check.add_argument("--write", metavar="FILE", help="write a manifest of the machine code")
    check.add_argument(
        "--against", metavar="FILE", help="compare with a manifest, or with its chosen benchmarks"
    )
    check.add_argument(
        "--listings", metavar="FOLDER", help="write the instructions there, a file a policy"
    )
    check.set_defaults(run=_verify)

    once = commands.add_parser(
        "profile", parents=[common], help="run a variant once, for ncu and the like"
    )
    once.add_argument("--variant", default="base", help="a label (default: %(default)s)")
    once.add_argument("--device", help="cuda:0, cpu, ... (default: the default device)")
    once.set_defaults(run=_profile)

    listen = commands.add_parser(
        "record", help="run a program and record what it calls: cubc record -o FILE -- COMMAND"
    )
    listen.add_argument("-o", "--db", required=True, metavar="FILE", help="the store")
    listen.add_argument(
        "--keys", action="store_true", help="sketch the keys of sorts, of runs and of histograms"
    )
    listen.add_argument("command", nargs="+", help="the program and its arguments")
    listen.set_defaults(run=_record)

    calls = commands.add_parser("recorded", help="table of what programs called")
    calls.add_argument("files", nargs="+", help="stores or glob patterns")
    calls.set_defaults(run=_recorded)

    packed = commands.add_parser(
        "bundle",
        help="run a program and put the kernels that it loads into a file: "
        "cubc bundle -o FILE -- COMMAND",
    )
    packed.add_argument("-o", metavar="FILE", default="kernels.cubc", help="default: %(default)s")
    packed.add_argument("--device", help="the program's default device, as CUBC_DEVICE")
    packed.add_argument(
        "--portable", action="store_true", help="kernels of the cpu for all processors of its kind"
    )
    packed.add_argument("command", nargs="+", help="the program and its arguments")
    packed.set_defaults(run=_bundle)

    devices = commands.add_parser("devices", help="list the devices that can be used")
    devices.set_defaults(run=_devices)
    for command in commands.choices.values():
        command.set_defaults(parser=command)
    return parser


def _search(options: argparse.Namespace) -> None:
    if options.list_benches:
        return _list(options)
    if options.recording and (options.R or options.a):
        raise ValueError("a recording is searched at its own shapes: leave -R and -a out")
    if options.recording in _core.benchmarks():
        raise ValueError(f"a benchmark follows -R: cubc search -R {options.recording}")
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
        print(analysis.coverage().to_string(index=False, float_format="{:.1%}".format))
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
    while True:
        analysis = analyze(options.files, options.R, axes)
        count = write_report(analysis, options.o, expand(options.files), again)
        print(f"{options.o}: {count} bytes", flush=True)
        if not again:
            return
        time.sleep(again)


def _merge(options: argparse.Namespace) -> None:
    print(f"{options.o}: {merge(options.files, options.o, replace=options.replace)}")


def _compare(options: argparse.Namespace) -> int:
    axes = ax.parse_arguments(options.a)
    sides = (options.before, options.after, options.R, axes)
    if not options.live:
        found = compare(*sides, variant=options.variant, drift=options.drift)
    elif not options.R:
        raise ValueError("--live needs -R, a benchmark such as -R reduce.sum")
    else:
        what = {"variant": options.variant, "device": options.device}
        found = compare_live(*sides, **what, rounds=options.rounds)
    print(found.markdown())
    return 1 if options.fail_on_slower and found.slower else 0


def _policy(options: argparse.Namespace) -> None:
    analysis = analyze(options.files, options.R, ax.parse_arguments(options.a))
    text = analysis.header() if options.header else analysis.policies()
    if not winners(analysis.groups, by_workload=not options.header):
        raise ValueError(no_winner(expand(options.files), analysis.groups))
    if options.o:
        print(f"{analysis.save_policies(options.o)} policies in {options.o}")
    else:
        print(text)


def _verify(options: argparse.Namespace) -> int:
    pattern, axes, device = options.R or ".*", ax.parse_arguments(options.a), options.device
    if options.variant or options.db:
        if options.variant:
            found = verify(pattern, options.variant, axes, device=device)
        else:
            found = verify_winners(options.db, options.R, axes, device=device)
        print(found.markdown())
        return 1 if found.slower else 0
    if not (options.write or options.against or options.listings):
        raise ValueError("--variant, --db, --write, --against or --listings is needed")
    before = _manifest(options.against) if options.against else None
    hashes = manifest(options.arch, pattern, axes, listings=options.listings)
    if options.write:
        write_manifest(options.write, hashes)
    if before and (options.R or axes or options.arch):
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
    if shutil.which(command[0]) is None:
        raise LookupError(f"there is no program '{command[0]}': what follows -- is a command")


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
