"""One line of progress, in a terminal and in a notebook."""

from __future__ import annotations

import importlib.util
import math
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._calls import truth
from ._extras import need
from ._waiting import watched

WIDTH = 79  # of the line: a terminal of 80 columns breaks a line that fills it
NAME = 28  # characters of the name in front of it, at most
BAR = 8
FORMAT = f"{{desc}}|{{bar:{BAR}}}| {{n_fmt}}/{{total_fmt}}{{postfix}}"
TIMED = f"{FORMAT}, {{remaining}} left"  # of a bar without a text of its own
PERIOD = 30.0  # seconds between two lines of a log
TICK = 1.0  # seconds between two lines while nothing else changes them


@contextmanager
def bar(total: int, show: bool | None, what: str) -> Iterator[Callable[[], object]]:
    """Show a bar of `total` steps; call what it yields after each step.

    Where nobody would see a bar, in a file or a pipe, `show` has lines printed, far apart.
    """
    show = None if show is None else truth("progress", show)
    if show and not watched():
        yield _Lines(total, what).step
        return
    drawn = _tqdm(total, what, TIMED) if (watched() if show is None else show) else None
    try:
        yield drawn.update if drawn is not None else lambda: None
    finally:
        if drawn is not None:
            drawn.close()


class _Lines:
    """Lines of progress for a log."""

    def __init__(self, total: int, what: str):
        self._total, self._what, self._done = total, what, 0
        self._begin = self._told = time.monotonic()

    def step(self) -> None:
        """Count a step, and say so at the end or if nothing was said for a while."""
        self._done += 1
        now = time.monotonic()
        if now - self._told >= PERIOD or self._done == self._total:
            self._told = now
            left = _minutes((now - self._begin) / self._done * (self._total - self._done))
            text = f"{self._what}: {self._done} of {self._total}, {left} left"
            print(text, file=sys.stderr, flush=True)


def _tqdm(total: int, what: str = "", form: str = FORMAT) -> Any:
    # Notebooks get a widget where ipywidgets are installed, else the same line as text.
    make = need("tqdm.auto" if importlib.util.find_spec("ipywidgets") else "tqdm").tqdm
    is_text = all(base.__module__ != "tqdm.notebook" for base in make.__mro__)
    wide = {"ncols": min(WIDTH, shutil.get_terminal_size().columns - 1)} if is_text else {}
    return make(total=total, desc=what or None, bar_format=form, file=sys.stderr, **wide)


class Progress:
    """A bar with what is being done, variants a minute, time left, best score, count of failures.

    It is drawn anew each second, so that one sees that a search lives while a batch compiles.

    Parameters
    ----------
    show
        True to draw it; None draws it where somebody is there to read it.
    compiling
        Gives the number of variants that are being compiled.
    """

    def __init__(self, show: bool | None, compiling: Callable[[], int] = int):
        self._bar = None
        self._total = self._done = self._fresh = self._failed = 0
        self._begin, self._until = time.monotonic(), math.inf
        self._name, self._best, self._variant = "", "", ""
        self._doing, self._compiling = "reading what is known", compiling
        self._closed = threading.Event()
        self._ticker: threading.Thread | None = None
        if watched() if show is None else show:
            self._bar = _tqdm(0)
            self._draw()
            self._ticker = threading.Thread(target=self._tick, name="cubc-progress", daemon=True)
            self._ticker.start()

    def plan(self, total: int, until: float | None) -> None:
        """Plan `total` more variants, and set the moment of the clock at which all ends."""
        if not self._total:
            self._begin, self._doing = time.monotonic(), ""
        self._until = math.inf if until is None else until
        self._add(total)

    def _add(self, planned: int) -> None:
        self._total += planned
        if self._bar is not None:
            self._bar.total = self._total
        self._draw()

    def close(self) -> None:
        """Leave the line as it is."""
        self._closed.set()
        if self._ticker is not None:
            self._ticker.join()
        if self._bar is not None:
            self._bar.close()

    def begin(self, name: str) -> None:
        """Begin a compile-time workload."""
        self._best, self._variant = "", ""
        self._name = name if len(name) <= NAME else f"{name[: NAME - 3]}..."
        if self._bar is not None:
            self._bar.set_description(self._name, refresh=False)
        self._draw()

    def best(self, score: float, variant: str) -> None:
        """Note a new best variant."""
        self._best, self._variant = f"best {score:.3f}", variant

    def doing(self, what: str) -> None:
        """Say what is being done; "" for what is done most of the time."""
        self._doing = what
        self._draw()

    def step(self, *, fresh: bool, failed: bool) -> None:
        """Count a variant; `fresh` if it was measured just now and not found in the store."""
        self._done += 1
        self._fresh += fresh
        self._failed += failed
        if self._bar is not None:
            self._bar.set_postfix_str(self.text(), refresh=False)
            self._bar.update()

    def end(self, left: int) -> None:
        """Take planned variants that were not tried off the total."""
        self._add(-left)

    def _tick(self) -> None:
        while not self._closed.wait(TICK):
            self._draw()

    def _draw(self) -> None:
        if self._bar is not None:
            self._bar.set_postfix_str(self.text(), refresh=True)

    def text(self) -> str:
        """Text behind the counts, as far as the line has room for it."""
        now, compiling = time.monotonic(), self._compiling()
        rate = self._fresh / max(now - self._begin, 1e-9)
        parts, ends = [], [self._until - now]
        if rate:
            parts.append(f"{60 * rate:.0f}/min")
            ends.append((self._total - self._done) / rate)
        if min(ends) < math.inf:
            parts.append(f"{_minutes(min(ends))} left")
        else:
            parts.append(_minutes(now - self._begin))
        parts += [self._doing, self._best]
        parts.append(f"compiling {compiling}" if compiling else "")
        parts.append(f"{self._failed} failed" if self._failed else "")
        parts.append(self._variant)
        room = WIDTH - len(f"{self._name}: || {self._total}/{self._total}, ") - BAR
        kept: list[str] = []
        for part in filter(None, parts):
            if sum(map(len, kept)) + 2 * len(kept) + len(part) <= room:
                kept.append(part)
        return ", ".join(kept)


def _minutes(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"
