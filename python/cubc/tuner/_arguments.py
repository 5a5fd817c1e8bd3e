"""Arguments of the command ``cubc``: a function for each of its commands."""

from __future__ import annotations

from argparse import _SubParsersAction
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from cubc import _core

from ._goal import parse as parse_target
from ._search import CONFIRM, DB
from ._strategy import DEFAULT, STRATEGIES
from ._verdict import DRIFT, MOST_ROUNDS
from ._words import Parser

TOP = 7  # variants that an analysis shows

Commands: TypeAlias = "_SubParsersAction[Parser]"


def make_parser(runs: Mapping[str, Callable[[Any], Any]]) -> Parser:
    """Make the parser; what it returns has the function of its command as ``run``."""
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

    _add_search(commands, common)
    _add_analyze(commands, common)
    _add_report(commands, common)
    _add_merge(commands)
    _add_compare(commands, common)
    _add_policy(commands, common)
    _add_verify(commands, common)
    _add_profile(commands, common)
    _add_record(commands)
    _add_recorded(commands)
    _add_bundle(commands)
    _add_devices(commands)
    for name, command in commands.choices.items():
        command.set_defaults(parser=command, run=runs[name])
    return parser


def _add_search(commands: Commands, common: Parser) -> None:
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


def _add_analyze(commands: Commands, common: Parser) -> None:
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


def _add_report(commands: Commands, common: Parser) -> None:
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


def _add_merge(commands: Commands) -> None:
    joined = commands.add_parser(
        "merge", help="one store of several: cubc merge a.db b.db -o all.db"
    )
    joined.add_argument("files", nargs="+", help="stores or glob patterns")
    joined.add_argument("-o", required=True, metavar="FILE", help="the store to make")
    joined.add_argument("--replace", action="store_true", help="overwrite FILE if it is there")


def _add_compare(commands: Commands, common: Parser) -> None:
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
        metavar="N",
        help=f"for --live: most rounds, each a process of either side (default: {MOST_ROUNDS})",
    )
    both.add_argument(
        "--drift",
        type=float,
        metavar="SHARE",
        help=f"of stores: relative drift of the machine between them (default: {DRIFT})",
    )
    both.add_argument(
        "--fail-on-slower", action="store_true", help="exit status 1 if a workload is SLOWER"
    )


def _add_policy(commands: Commands, common: Parser) -> None:
    rows = commands.add_parser(
        "policy", parents=[common], help="what stores found, for policies.def or a C header"
    )
    rows.add_argument("files", nargs="+", help="stores or glob patterns")
    rows.add_argument("--header", action="store_true", help="a C header with the constants")
    rows.add_argument(
        "-o", metavar="FILE", help="write them as text that use_policies and CUBC_POLICIES take"
    )


def _add_verify(commands: Commands, common: Parser) -> None:
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
    check.add_argument("--quiet", action="store_true", help="show no progress of manifests")


def _add_profile(commands: Commands, common: Parser) -> None:
    once = commands.add_parser(
        "profile", parents=[common], help="run a variant once, for ncu and the like"
    )
    once.add_argument("--variant", default="base", help="a label (default: %(default)s)")
    once.add_argument("--device", help="cuda:0, cpu, ... (default: the default device)")


def _add_record(commands: Commands) -> None:
    listen = commands.add_parser(
        "record", help="run a program and record what it calls: cubc record -o FILE -- COMMAND"
    )
    listen.add_argument("-o", "--db", required=True, metavar="FILE", help="the store")
    listen.add_argument(
        "--keys", action="store_true", help="sketch the keys of sorts, of runs and of histograms"
    )
    listen.add_argument("command", nargs="+", help="the program and its arguments")


def _add_recorded(commands: Commands) -> None:
    calls = commands.add_parser("recorded", help="table of what programs called")
    calls.add_argument("files", nargs="+", help="stores or glob patterns")


def _add_bundle(commands: Commands) -> None:
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


def _add_devices(commands: Commands) -> None:
    commands.add_parser("devices", help="list the devices that can be used")
