"""One line of progress, in a terminal and in a notebook."""

from __future__ import annotations

import importlib.util
import sys
import time

FORMAT = "{desc}{percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt}{postfix}"


def watched() -> bool:
    """Whether somebody is there to read it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return sys.stderr.isatty() or getattr(shell, "kernel", None) is not None


class Progress:
    """A bar with variants a minute, time left, best score and count of failures."""

    def __init__(self, total: int, show: bool | None):
        self._bar = None
        if watched() if show is None else show:
            # Notebooks get a widget where ipywidgets are installed, else the same line as text.
            if importlib.util.find_spec("ipywidgets"):
                from tqdm.auto import tqdm
            else:
                from tqdm import tqdm

            self._bar = tqdm(total=total, bar_format=FORMAT, file=sys.stderr)
        self._total, self._done, self._fresh, self._failed = total, 0, 0, 0
        self._begin = time.monotonic()
        self._best, self._planned = "", 0

    def close(self) -> None:
        """Leave the line as it is."""
        if self._bar is not None:
            self._bar.close()

    def begin(self, name: str, planned: int) -> None:
        """Begin a compile-time workload with so many variants to visit."""
        self._best, self._planned = "", planned
        if self._bar is not None:
            self._bar.set_description(name)

    def best(self, score: float, variant: str) -> None:
        """Note a new best variant."""
        self._best = f"best {score:.3f} {variant}"

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
        """Take what was planned and not visited off the total."""
        self._total -= self._planned
        if self._bar is not None:
            self._bar.total = self._total
            self._bar.refresh()

    def _text(self) -> str:
        rate = self._fresh / max(time.monotonic() - self._begin, 1e-9)
        parts = []
        if rate:
            left = max(0, round((self._total - self._done) / rate))
            parts += [f"{60 * rate:.0f}/min", f"{left // 60}:{left % 60:02d} left"]
        if self._best:
            parts.append(self._best)
        if self._failed:
            parts.append(f"{self._failed} failed")
        return ", ".join(parts)
