"""Imported first: the path of ``python -m cubc`` is that of the command ``cubc``.

Python puts the current folder first on the path of what ``-m`` runs. In a folder of downloaded
stores there may be a ``numpy.py``, which would be run.
"""

import os
import sys


def _is_run() -> bool:
    """Say whether Python looks for the module of ``-m cubc``, and where it does so by default."""
    if sys.argv[:1] != ["-m"] or sys.flags.safe_path:
        return False
    return sys.orig_argv[-len(sys.argv)].removeprefix("-m").partition(".")[0] == "cubc"


def _current() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


if _is_run() and sys.path[:1] == [_current()]:
    del sys.path[0]
