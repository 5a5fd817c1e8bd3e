"""Limits of a search on this machine: its cores, and those of a measuring process.

The search watches the latter while it waits for results. Memory is watched and not limited by the
system: CUDA reserves more addresses than a machine has memory, so a limit on addresses (RLIMIT_AS)
would keep it from starting. A device's memory needs no watch, because its driver refuses to
allocate more than there is.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from ._supervisor import MOST_FILES, children, stat

OUTPUT = 1 << 20  # bytes printed over one request
FILES = MOST_FILES // 2  # open: what is beyond it is seen before the system refuses more
PROCESSES = 64  # the process and those that it has started
SHARE = 0.75  # part of the memory that is available when the process starts
PAGE = os.sysconf("SC_PAGE_SIZE")
RESIDENT = 24  # field of /proc/<pid>/stat: pages held
CGROUP = Path("/sys/fs/cgroup")


def cores() -> int:
    """Number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def memory() -> float:
    """Bytes that a measuring process may hold; infinite where the system does not tell."""
    available = [float("inf")]
    with contextlib.suppress(OSError, ValueError, IndexError):
        known = Path("/proc/meminfo").read_bytes()
        available.append(1024 * int(known.partition(b"MemAvailable:")[2].split()[0]))
    with contextlib.suppress(OSError, ValueError):  # a container's
        most = int((CGROUP / "memory.max").read_bytes())
        available.append(most - int((CGROUP / "memory.current").read_bytes()))
    return SHARE * min(available)


def descendants(supervisor: int) -> list[int]:
    """Processes under a supervisor, zombies included; at most a few more than the limit.

    Processes whose parents have ended are the supervisor's children.
    """
    family = [*children(supervisor)]
    for one in family:  # it grows
        if len(family) > PROCESSES:
            break
        family += children(one).difference(family)
    return family


def exceeded(pid: int, supervisor: int, most: float) -> str:
    """Describe the limit that a process and its relatives exceed; "" if there is none."""
    family = descendants(supervisor)
    if len(family) > PROCESSES:
        return f"started {len(family) - 1} processes, over {PROCESSES - 1}"
    held = sum(PAGE * stat(one, RESIDENT) for one in family)
    if held > most:
        return f"held {held / 2**30:.2f} GiB of memory, over {most / 2**30:.2f} GiB"
    with contextlib.suppress(OSError):
        if (files := len(os.listdir(f"/proc/{pid}/fd"))) > FILES:
            return f"had {files} files open, over {FILES}"
    return ""
