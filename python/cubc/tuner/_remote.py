"""Work that the processes of an executor do for a search: see ``_pool.py``.

A process keeps its measuring process, and the benchmark open there, from one task to the next.
Where tasks run in threads, each thread has its own. A pool's processes outlive a search that is
killed: so the device is given back as soon as the search is gone, where that can be seen.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import IO, Any, NamedTuple

from cubc import _core

from ._cores import cores
from ._deadlines import BASE_SECONDS, base_deadline, build_deadline, run_deadline
from ._remote_bench import BaseFailed, RemoteBench
from ._status import FAILURES, OK, TIMEOUT, failure
from ._supervisor import stat
from ._target import Late, Request, Run
from ._workload import CompileTimeWorkload

Found = list[tuple[Run, dict[str, Any]]]

BEGAN = 22  # field of /proc/<pid>/stat: when the process began
LOOK = 1.0  # seconds between two looks at a search


class Searcher(NamedTuple):
    """Process of a search, as others of its machine can see it."""

    host: str
    pid: int
    began: int  # 0: not known

    def is_seen(self) -> bool:
        """Say whether the process is there, and on this machine."""
        known = self.began and self.host == socket.gethostname()
        return bool(known) and stat(self.pid, BEGAN) == self.began


def this_process() -> Searcher:
    """Identity of the process that calls."""
    return Searcher(socket.gethostname(), os.getpid(), stat(os.getpid(), BEGAN))


class Reply(NamedTuple):
    """Results of a task, and the device; `base` where it was measured for this task."""

    info: dict[str, Any]
    base: Found
    results: list[Found]  # of its requests, in order; fewer where the search ended
    seconds: float  # that the requests took, without base


class ClaimedDevice:
    """A device that this process measures on, its measuring process, and what is open there."""

    def __init__(self, wanted: str | None, device: str, claim: IO | None):
        self.wanted = wanted
        self.info = dict(_core.device_info(device))
        self._bench = RemoteBench(device)
        # Called at the latest when the thread or the process ends that this is of.
        self.close = weakref.finalize(self, _close, self._bench, claim)
        self._watched = False
        self._searcher: list[Searcher] = []  # the last one, once it was seen
        self._workload_id = ""
        self._build, self._base = BASE_SECONDS, 0.0  # base: seconds that it ran
        # Each GPU of a host has its share of the cores.
        gpus = sum(name.startswith("cuda:") for name in _core.devices())
        threads = max(1, cores() // max(1, gpus)) if self.info["kind"] == "cuda" else cores()
        self._compilers = ThreadPoolExecutor(threads, "cubc-compile")

    def serve(self, searcher: Searcher) -> None:
        """Give the device back once this searcher, if it can be seen, is gone."""
        if not searcher.is_seen():
            self._searcher.clear()
            return
        self._searcher[:] = [searcher]
        if not self._watched:
            self._watched = True
            arguments = (self._searcher, self.close)
            threading.Thread(target=_watch, args=arguments, daemon=True).start()

    def work(
        self, workload_id: str, workload: CompileTimeWorkload, requests: Sequence[Request]
    ) -> Reply:
        """Do a task, after base if it is the first of its workload."""
        is_open = workload_id == self._workload_id
        base = [] if is_open else self._open(workload_id, workload, requests[0])
        begin = time.monotonic()
        if requests[0].variant == "base":
            return Reply(self.info, base, [], 0.0)
        builds = [
            self._compilers.submit(workload.compile, request.variant, self._build)
            for request in requests
        ]
        if self.info["kind"] == "cpu":  # compilers would take the cores that are being measured
            wait(builds)
        results: list[Found] = []
        try:
            for request, build in zip(requests, builds, strict=True):
                results.append(self._evaluate(request, build))
        except Late:
            if not results:
                raise
        finally:
            for build in builds:
                build.cancel()
        return Reply(self.info, base, results, time.monotonic() - begin)

    def _evaluate(self, request: Request, build: Future) -> Found:
        try:
            build.result()
        except FAILURES as error:
            return [(request.runs[0], failure(error))]
        self._bench.put(request)
        return list(self._bench.take(run_deadline(self._base, request)))

    def _open(self, workload_id: str, workload: CompileTimeWorkload, request: Request) -> Found:
        self._workload_id = ""
        every = [Run(0, place) for place in range(len(workload.rts))]
        try:
            built = sum(workload.compile(label, BASE_SECONDS) for label in set(workload.bases))
        except FAILURES as error:
            raise BaseFailed(failure(error)["message"]) from error
        self._bench.open(workload.opening)
        until, meter = request.until, request.meter
        measured = Request("base", every, request.timing, until=until, meter=meter)
        self._bench.put(measured)
        begin = time.monotonic()
        found = list(self._bench.take(base_deadline(measured)))
        status = found[-1][1]["status"]
        if status != OK:
            hangs = ": it hangs, or its workloads are too large" if status == TIMEOUT else ""
            raise BaseFailed(found[-1][1]["message"] + hangs)
        self._build = build_deadline(built)
        self._base = time.monotonic() - begin
        self._workload_id = workload_id
        return found


def _close(bench: RemoteBench, claim: IO | None) -> None:
    """End a measuring process and give its device back."""
    bench.close()
    if claim is not None:
        claim.close()


def _watch(searcher: list[Searcher], close: weakref.finalize) -> None:
    while close.alive:
        time.sleep(LOOK)
        if not all(one.is_seen() for one in [*searcher]):
            close()


_here = threading.local()


def _claimed(device: str | None) -> ClaimedDevice:
    claimed = getattr(_here, "claimed", None)
    if claimed is not None and claimed.wanted == device and claimed.close.alive:
        return claimed
    if claimed is not None:
        claimed.close()
    _here.claimed = ClaimedDevice(device, *_claim(device))
    return _here.claimed


def describe(device: str | None, searcher: Searcher | None = None) -> tuple[dict[str, Any], str]:
    """Info of the device that this process measures on, and the name of its machine."""
    claimed = _claimed(device)
    if searcher is not None:
        claimed.serve(searcher)
    return claimed.info, socket.gethostname()


def work(
    workload_id: str,
    workload: CompileTimeWorkload,
    requests: Sequence[Request],
    device: str | None,
    left: float | None = None,
    searcher: Searcher | None = None,
) -> Reply:
    """Do one task, variants one after another, within the seconds that are left of the search.

    Raises
    ------
    BaseFailed
        If base does not run here.
    Late
        If base or the first variant takes longer than what is left.
    """
    # The search's clock may be another machine's.
    until = None if left is None else time.monotonic() + left
    claimed = _claimed(device)
    if searcher is not None:
        claimed.serve(searcher)
    wanted = [request._replace(until=until) for request in requests]
    return claimed.work(workload_id, workload, wanted)


def _claim(device: str | None) -> tuple[str, IO | None]:
    """Name of the device to use; a GPU that nobody else has claimed, if none is named.

    A claim is a lock on a file, which the system gives up with the process, however it ends.
    """
    gpus = [name for name in _core.devices() if name.startswith("cuda:")]
    if device is not None or not gpus:
        return device or "cpu", None
    for name in gpus:
        file = _lock(_core.device_info(name)["uuid"])
        if file is not None:
            return name, file
    raise _core.NoDeviceError(
        f"all {len(gpus)} GPUs of this machine measure for other processes already: use as many "
        "processes as there are GPUs"
    )


def _lock(gpu: str) -> IO | None:
    path = Path(tempfile.gettempdir(), f"cubc-{os.getuid()}-{gpu}.lock")
    # All may write to that folder: a link is not followed, and nothing is emptied.
    file = open(path, "a", opener=_no_link)  # noqa: SIM115
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    file.close()
    return None


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
