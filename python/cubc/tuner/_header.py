"""The best variants as a C header, for people who paste constants into code of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cubc import _core

if TYPE_CHECKING:
    from ._winners import Winner

HEAD = """\
// Variants that cubc {version} measured as fastest. Made by "cubc policy --header".
#ifndef CUBC_TUNED_H
#define CUBC_TUNED_H
"""
TAIL = """
#endif
"""


def header(winners: Sequence[Winner]) -> str:
    """Text of the header: a macro for each parameter of each group, label and score.

    The macros are named by architecture, benchmark, type and the parameter's macro in the kernel
    without ``TUNE_``: ``CUBC_SM_90_REDUCE_SUM_F32_ITEMS_PER_THREAD``. A store does not have the
    macros of a user's own kernel, so its names end with the parameter's label.
    """
    return HEAD.format(version=_core.__version__) + "".join(map(_block, winners)) + TAIL


def _block(winner: Winner) -> str:
    group, label, score = winner
    shipped = group.benchmark in _core.benchmarks()
    archs = ("cpu", "sm_90") if shipped else ()  # the cpu's kernel may have fewer parameters
    every = [row for arch in archs for row in _core.parameters(group.benchmark, arch)]
    macros = {name: macro for macro, name, *_ in every}
    what = [part for part in (group.benchmark, group.workload) if part]
    prefix = _identifier("cubc", group.arch, *what)
    about = f"{' '.join(what)} on {group.device} ({group.arch})"
    source = "" if shipped else f", source {group.source_hash[:12]}"
    source = ", of another version of the kernel" if group.stale else source
    lines = ["", f"// {about}: {label}, score {score:.3f}{source}"]
    for name, value in group.parameters(label).items():
        macro = macros.get(name, name).removeprefix("TUNE_")
        lines.append(f"#define {prefix}_{_identifier(macro)} {value}")
    return "\n".join(lines) + "\n"


def _identifier(*parts: str) -> str:
    return re.sub(r"\W+", "_", "_".join(parts)).upper()
