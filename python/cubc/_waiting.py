"""A line of progress while kernels are compiled, which may take seconds before a first result."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from . import _core

SECONDS = 1.0  # without a word


def watched() -> bool:
    """True in a terminal or a notebook, where somebody can read a line of progress."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return sys.stderr.isatty() or getattr(shell, "kernel", None) is not None


@contextmanager
def compilation_said(what: str) -> Iterator[None]:
    """Say what is compiled meanwhile, if that takes a second and somebody is there to read it."""
    if not watched():
        yield
        return
    done = threading.Event()
    threading.Thread(target=_say, args=(what, done), daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _say(what: str, done: threading.Event) -> None:
    while not done.wait(SECONDS):
        if _core.compiling():
            print(f"cubc: compiling {what}, which are cached", file=sys.stderr, flush=True)
            return
