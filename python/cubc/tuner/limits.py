"""Limits of a measuring process, which the search watches while it waits for results.

Memory is watched and not limited by the system: CUDA reserves more addresses than a machine has
memory, so a limit on addresses (RLIMIT_AS) would keep it from starting. Memory of a device needs no
watch: what a variant wants of it is asked of the driver, which refuses what is not there.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

OUTPUT = 1 << 20  # bytes printed over one request
FILES = 512  # descriptors open
PROCESSES = 64  # of the process and those that it has started
SHARE = 0.75  # of the memory that is available when the process starts
PAGE = os.sysconf("SC_PAGE_SIZE")
CGROUP = Path("/sys/fs/cgroup")


def memory() -> float:
    """Bytes that a measuring process may hold; infinite where the system does not tell."""
    available = [float("inf")]
    with contextlib.suppress(OSError, ValueError, IndexError):
        known = Path("/proc/meminfo").read_text()
        available.append(1024 * int(known.partition("MemAvailable:")[2].split()[0]))
    with contextlib.suppress(OSError, ValueError):  # of a container
        most = int((CGROUP / "memory.max").read_text())
        available.append(most - int((CGROUP / "memory.current").read_text()))
    return SHARE * min(available)


def children(pid: int) -> set[int]:
    """Processes that a process has started; none where the system does not tell."""
    found: set[int] = set()
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with (
                contextlib.suppress(FileNotFoundError),
                open(f"/proc/{pid}/task/{thread}/children") as file,
            ):
                found.update(map(int, file.read().split()))
    return found


def exceeded(pid: int, supervisor: int, most: float) -> str:
    """Limit that a process is beyond, itself or with its descendants; "" if none.

    Descendants whose parents have ended are children of the supervisor.
    """
    family = [*children(supervisor)]
    for one in family:  # it grows
        family += children(one)
        if len(family) > PROCESSES:
            return f"started {len(family) - 1} processes, over {PROCESSES - 1}"
    held = sum(map(_resident, family))
    if held > most:
        return f"held {held / 2**30:.2f} GiB of memory, over {most / 2**30:.2f} GiB"
    with contextlib.suppress(OSError):
        if (files := len(os.listdir(f"/proc/{pid}/fd"))) > FILES:
            return f"had {files} files open, over {FILES}"
    return ""


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as file:
            return PAGE * int(file.read().split()[1])
    except (OSError, ValueError, IndexError):  # it has ended
        return 0
