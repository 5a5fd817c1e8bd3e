"""Removal of the current folder from the path of ``python -m cubc``; imported first.

Python puts the current folder first on the path of a module that ``-m`` runs. A ``numpy.py`` in a
folder of downloaded stores would be run then. The command ``cubc`` has no such path.
"""

import os
import sys


def _is_run() -> bool:
    """True if Python runs ``-m cubc`` and searches the current folder by default."""
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
