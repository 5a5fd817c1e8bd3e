"""The parent of a measuring process, run as a script: whatever a variant starts ends with it.

``python -I -S _supervisor.py <socket> <command>...`` starts the command, whose output goes to this
process's standard error. Standard output gets "p" with the command's process id, once it has its
session, and "s" with its status. When the command ends, or when standard input is closed, all its
descendants are killed. Those that have left its group and session are too, because orphans below a
subreaper, which this process is, become its children.

Nothing is imported that does not come with Python's core, and no package of the user's: it starts
within 20 ms and cannot be the cause of anything.
"""

import contextlib
import os
import resource
import select
import signal
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # in <linux/prctl.h>
MOST_FILES = 1024  # descriptors that the system lets the measuring process have
SURVIVING = 3.0  # seconds until what cannot be killed is left alone


def prctl(option: int, value: int) -> None:
    """Set a property of this process, where the system is Linux."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
    except (ImportError, AttributeError, OSError):  # an orphan is then found by its group alone
        pass


def become(command: list[str], supervisor: int) -> None:
    """Turn this process into the command, with a session, limits and an output of its own."""
    os.setsid()
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != supervisor:  # it ended before this
        os._exit(1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = MOST_FILES if most == resource.RLIM_INFINITY else min(MOST_FILES, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    try:
        with open("/proc/self/oom_score_adj", "wb") as file:  # the first to go if memory is short
            file.write(b"1000")
    except OSError:
        pass
    os.write(1, b"p%d\n" % os.getpid())
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.execv(command[0], command)


def children(pid: int) -> set[int]:
    """Process ids of a process's children, zombies among them; none where there is no /proc."""
    try:
        return _listed(pid)
    except (OSError, ValueError):  # a kernel without these files, or a thread that has just ended
        processes = map(int, filter(str.isdigit, _entries("/proc")))
        return {other for other in processes if _parent(other) == pid}


def _listed(pid: int) -> set[int]:
    """Children as a kernel with CONFIG_PROC_CHILDREN lists them: those of each thread."""
    found: set[int] = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
            found.update(map(int, file.read().split()))
    return found


def _entries(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _parent(pid: int) -> int:
    return stat(pid, 4)


def stat(pid: int, field: int) -> int:
    """Field of a process's line of /proc/<pid>/stat, counted from 1; 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[field - 3])
    except (OSError, IndexError, ValueError):
        return 0


def reap(worker: int, status: int | None) -> tuple[int | None, bool]:
    """Collect the children that have ended; the worker's status, and whether any are left."""
    while True:
        try:
            pid, found = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status, False
        if pid == 0:
            return status, True
        if pid == worker:
            status = os.waitstatus_to_exitcode(found)


def end(worker: int, status: int | None) -> int | None:
    """Kill all descendants; each that dies makes its own children this process's."""
    until = time.monotonic() + SURVIVING
    while time.monotonic() < until:
        kill(os.killpg, worker)
        for pid in children(os.getpid()):
            kill(os.kill, pid)
        status, are_left = reap(worker, status)
        if not are_left:
            break
        time.sleep(0.002)
    return status


def kill(how, pid: int) -> None:  # type: ignore[no-untyped-def] # os.kill or os.killpg
    """Kill a process or a group, if it is still there."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        how(pid, signal.SIGKILL)


def main() -> None:
    """Start the command and stay until it ends or is not wanted any more."""
    ended, bell = os.pipe()  # a byte is written when a child has ended
    os.set_blocking(bell, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(bell)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    me, worker = os.getpid(), os.fork()
    if worker == 0:
        become(sys.argv[2:], me)
    os.close(int(sys.argv[1]))
    poll = select.poll()
    poll.register(0, select.POLLIN)  # nothing is sent: it becomes readable when it is closed
    poll.register(ended, select.POLLIN)
    status: int | None = None
    while status is None:
        ready = dict(poll.poll())
        if 0 in ready:
            break
        os.read(ended, 4096)
        status, _ = reap(worker, status)
    status = end(worker, status)
    os.write(1, b"s%d\n" % (-signal.SIGKILL if status is None else status))


if __name__ == "__main__":
    main()
