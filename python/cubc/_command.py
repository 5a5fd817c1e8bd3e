"""Beginning of the command ``cubc`` and of ``python -m cubc``; imported before all that takes time.

Python puts the current folder first on the path of a module that ``-m`` runs. A ``numpy.py`` in a
folder of downloaded stores would be run then. The command ``cubc`` has no such path.

Ctrl-C ends both with the status 130 and no traceback, also while modules are imported.
"""

import os
import sys


def _is_module() -> bool:
    """True if Python runs ``-m cubc``."""
    if sys.argv[:1] != ["-m"]:
        return False
    return sys.orig_argv[-len(sys.argv)].removeprefix("-m").partition(".")[0] == "cubc"


def _current() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _quiet(kind, error, trace, show=sys.excepthook):
    """Exit after Ctrl-C, and show all other errors as before."""
    if issubclass(kind, KeyboardInterrupt):
        sys.exit(130)
    show(kind, error, trace)


if _is_module() and not sys.flags.safe_path and sys.path[:1] == [_current()]:
    del sys.path[0]
if _is_module() or os.path.basename("".join(sys.argv[:1])) == "cubc":
    sys.excepthook = _quiet
