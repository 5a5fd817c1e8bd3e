"""Lines of the core for Python's logging: what was compiled, found, chosen; loggers below "cubc".

The core puts lines where it loads a kernel, so a call whose kernels are loaded costs nothing. A
program that has not imported `logging` reads none, and does not import it for them.
"""

import sys
from typing import Any

_KINDS = (  # in the order of csrc/base/log.h: a logger, and a level of `logging`
    ("cubc.compile", 20),
    ("cubc.compile", 10),
    ("cubc.compile", 30),
    ("cubc.policy", 20),
)
POLICY = 3  # the last of them
_loggers: dict[str, Any] = {}


def say(kind: int, text: str) -> None:
    """Hand a line on, if anybody can read it."""
    logging = sys.modules.get("logging")
    if logging is None:
        return
    if not _loggers:
        logging.getLogger("cubc").addHandler(logging.NullHandler())
        _loggers.update({name: logging.getLogger(name) for name, _ in _KINDS})
    name, level = _KINDS[kind]
    _loggers[name].log(level, "%s", text)
