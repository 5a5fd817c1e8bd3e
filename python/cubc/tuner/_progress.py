"""One line of progress, in a terminal and in a notebook."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._checks import need

FORMAT = "{desc}{percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt}{postfix}"


def watched() -> bool:
    """True in a terminal or a notebook, where somebody can read a line of progress."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return sys.stderr.isatty() or getattr(shell, "kernel", None) is not None


@contextmanager
def bar(total: int, show: bool | None, what: str) -> Iterator[Callable[[], object]]:
    """Show a bar of so many steps; call what it yields after each step."""
    drawn = _tqdm(total, what) if (watched() if show is None else show) else None
    try:
        yield drawn.update if drawn is not None else lambda: None
    finally:
        if drawn is not None:
            drawn.close()


def _tqdm(total: int, what: str = "") -> Any:
    # Notebooks get a widget where ipywidgets are installed, else the same line as text.
    tqdm = need("tqdm.auto" if importlib.util.find_spec("ipywidgets") else "tqdm").tqdm
    return tqdm(total=total, desc=what or None, bar_format=FORMAT, file=sys.stderr)


class Progress:
    """A bar with variants a minute, time left, best score and count of failures.

    Parameters
    ----------
    total
        Number of variants to try.
    show
        True to draw it; None draws it where somebody is there to read it.
    until
        Moment of the monotonic clock at which the search ends, whatever is left; None for none.
    """

    def __init__(self, total: int, show: bool | None, until: float | None = None):
        self._bar = None
        if watched() if show is None else show:
            self._bar = _tqdm(total)
        self._total, self._done, self._fresh, self._failed = total, 0, 0, 0
        self._begin, self._until = time.monotonic(), until
        self._best, self._planned = "", 0

    def close(self) -> None:
        """Leave the line as it is."""
        if self._bar is not None:
            self._bar.close()

    def begin(self, name: str, planned: int) -> None:
        """Begin a compile-time workload with so many variants to try."""
        self._best, self._planned = "", planned
        if self._bar is not None:
            self._bar.set_description(name)

    def best(self, score: float, variant: str) -> None:
        """Note a new best variant."""
        self._best = f"best {score:.3f} {variant}"

    def confirming(self, variants: int) -> None:
        """Say that so many variants are being measured again."""
        if self._bar is not None:
            self._bar.set_postfix_str(f"measuring the best {variants} again", refresh=True)

    def step(self, *, fresh: bool, failed: bool) -> None:
        """Count a variant; `fresh` if it was measured just now and not found in the store."""
        self._done += 1
        self._planned -= 1
        self._fresh += fresh
        self._failed += failed
        if self._bar is not None:
            self._bar.set_postfix_str(self._text(), refresh=False)
            self._bar.update()

    def end(self) -> None:
        """Take planned variants that were not tried off the total."""
        self._total -= self._planned
        self._planned = 0
        if self._bar is not None:
            self._bar.total = self._total
            self._bar.refresh()

    def _text(self) -> str:
        now = time.monotonic()
        rate = self._fresh / max(now - self._begin, 1e-9)
        parts, ends = [], []
        if rate:
            parts.append(f"{60 * rate:.0f}/min")
            ends.append((self._total - self._done) / rate)
        if self._until is not None:
            ends.append(self._until - now)
        if ends:
            left = max(0, round(min(ends)))
            parts.append(f"{left // 60}:{left % 60:02d} left")
        if self._best:
            parts.append(self._best)
        if self._failed:
            parts.append(f"{self._failed} failed")
        return ", ".join(parts)
