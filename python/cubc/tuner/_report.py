"""A report of stores: one page of HTML that needs no server, no network and no package.

The page (report.html) draws what stands in it as JSON. A store may be a stranger's, so the JSON has
no character that could end its element, and the page makes text of all of it.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cubc import _core
from cubc import _outputs as outputs

from ._analyze import Analysis
from ._axes import numbers, workload_text
from ._groups import PARTIAL, Group
from ._importance import varied
from ._progress_curve import measured_order
from ._status import LOST, OK
from ._winners import Winner, rows_of, winners

BEST = 10  # variants in a table
FAILURES = 500  # in a table, at most
MESSAGE = 2000  # characters of a message
PAGE = outputs.Kind(
    "page of cubc report", outputs.begins(b"<!doctype html>\n<!-- Page of `cubc report`")
)
PLACE = '<script type="application/json" id="data">{}</script>'


def page(analysis: Analysis, stores: Sequence[str], again: float = 0.0) -> str:
    """Text of the page; with `again` a browser reads it anew after `again` seconds."""
    names = ", ".join(os.path.basename(store) for store in stores)
    won = winners(analysis.groups, by_workload=True)
    found = {
        "about": f"{names}; cubc {_core.__version__}; {time.strftime('%Y-%m-%d %H:%M')}",
        "again": again,
        "winners": [_winner(one) for one in won],
        "groups": [
            _group(group, [one for one in won if one.group.key == group.key])
            for group in analysis.groups
        ],
    }
    text = json.dumps(_finite(found), separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    template = Path(__file__).with_name("report.html").read_text(encoding="utf-8")
    return template.replace(PLACE, PLACE.replace("{}", text), 1)


def write(analysis: Analysis, path: str, stores: Sequence[str], again: float = 0.0) -> int:
    """Write the page, whole or not at all, since a browser may read it meanwhile; its bytes."""
    outputs.check(path, PAGE)  # before the work
    return outputs.write(path, PAGE, [page(analysis, stores, again).encode()])


def states(stores: Sequence[str]) -> list[tuple[int, int] | None]:
    """Times and sizes that change when a store, or the log beside it, is written to."""
    found: list[tuple[int, int] | None] = []
    for path in (f"{store}{end}" for store in stores for end in ("", "-wal")):
        try:
            state = os.stat(path)
            found.append((state.st_mtime_ns, state.st_size))
        except FileNotFoundError:
            found.append(None)
    return found


def _finite(value: Any) -> Any:
    """The same with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _place(rt: dict[str, int]) -> str:
    parts = []
    for name, value in numbers(rt).items():
        power = value >= 1024 and value & (value - 1) == 0
        parts.append(f"{name}=2^{value.bit_length() - 1}" if power else f"{name}={value}")
    return ", ".join(parts) or "all"


def _winner(one: Winner) -> list[Any]:
    group, verdict = one.group, one.group.verdict(one.label)
    ends = (verdict.word, verdict.ratio, verdict.low, verdict.high)
    place = _place(group.workloads[0])
    return [group.benchmark, group.workload, group.device, place, *ends, one.label]


def _group(group: Group, won: Sequence[Winner]) -> dict[str, Any]:
    values = varied(group)
    complete = {label: score for score, label in group.ranked()}
    order = measured_order([group])
    failed = [label for label in order if group.status(label) not in (OK, PARTIAL, LOST)]
    return {
        "title": f"{group.benchmark} {group.workload}".strip(),
        "device": group.device,
        "about": _about(group),
        "places": [_place(rt) for rt in group.workloads],
        "top": [_line(group, label) for label in [*complete][:BEST]],
        "names": [*values],
        "values": [list(map(str, found)) for found in values.values()],
        "variants": [_variant(group, label, complete.get(label), values) for label in order],
        "failed": len(failed),
        "failures": [
            (label, group.status(label), group.message(label)[:MESSAGE])
            for label in failed[:FAILURES]
        ],
        "policies": rows_of(won),
    }


def _about(group: Group) -> list[tuple[str, str]]:
    units, ecc = group.device_state
    kernel = "that of this cubc" if group.current else "another version, or one's own"
    return [
        ("architecture", group.arch),
        ("cores" if group.arch == "cpu" else "multiprocessors", str(units)),
        ("ECC", {1: "on", 0: "off"}.get(ecc, "unknown")),
        ("driver", group.driver),
        ("compiler", group.compiler),
        ("kernel source", kernel),
    ]


def _line(group: Group, label: str) -> list[Any]:
    verdict, speedups = group.verdict(label), group.speedups(label)
    ends = [verdict.low, verdict.high, verdict.word] if verdict else [None, None, ""]
    return [
        label,
        group.score(label),
        *ends,
        *(speedups.get(rt) for rt in map(workload_text, group.workloads)),
    ]


def _variant(group: Group, label: str, score: float | None, values: dict) -> dict[str, Any]:
    mine = group.parameters(label)
    at = [found.index(mine[name]) if name in mine else None for name, found in values.items()]
    return {"label": label, "score": score, "status": group.status(label), "at": at}
