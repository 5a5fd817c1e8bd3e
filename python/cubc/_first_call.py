"""Work before the first call of a workload: what waits for the device, then autotuning.

The core asks one callable. It asks none where nothing waits and nothing is tuned.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from . import _core

Asked = Callable[[str, str, str, dict[str, int]], bool]
Work = Callable[[Mapping[str, Any] | None], None]  # of a device's info, or of none

_tuner: Asked | None = None
_waiting: dict[str, Work] = {}  # by the architecture of the device
_lock = threading.RLock()


def tune_by(tuner: Asked | None) -> None:
    """Have a callable asked before the first call of each workload; None asks none."""
    global _tuner
    _tuner = tuner
    _tell()


def wait_for(arch: str, work: Work) -> None:
    """Do work before the first call on a device of an architecture."""
    _waiting[arch] = work
    _tell()


def drop() -> None:
    """Do nothing of what waits."""
    if _waiting:
        _waiting.clear()
        _tell()


def hasten() -> None:
    """Do all that waits now."""
    if not _waiting:
        return
    infos = {info["arch"]: info for info in map(_core.device_info, _core.devices())}
    for arch in list(_waiting):
        _do(arch, infos.get(arch))


def _do(arch: str, info: Mapping[str, Any] | None) -> None:
    with _lock:  # a second thread waits for what the first does
        if work := _waiting.get(arch):
            try:
                work(info)
            finally:
                _waiting.pop(arch, None)
                _tell()


def _tell() -> None:
    _core.set_tuner(_asked if _waiting else _tuner)


def _asked(device: str, benchmark: str, dtype: str, place: dict[str, int]) -> bool:
    info = _core.device_info(device)
    _do(info["arch"], info)
    return _tuner is None or _tuner(device, benchmark, dtype, place)


def _after_fork() -> None:
    """Switch autotuning off in a forked child, which has neither threads nor devices."""
    global _lock
    _lock = threading.RLock()
    tune_by(None)


os.register_at_fork(after_in_child=_after_fork)
