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
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import IO, Any, NamedTuple

from cubc import _core

from ._deadlines import BASE_SECONDS, base_deadline, build_deadline, run_deadline
from ._heartbeat import Pulse, beating
from ._limits import cores
from ._measurer import Late, Request, Run
from ._remote_bench import BaseFailed, RemoteBench, check_base
from ._status import FAILURES, failure
from ._supervisor import stat
from ._workload import CompileTimeWorkload

Found = list[tuple[Run, dict[str, Any]]]

BEGAN = 22  # field of /proc/<pid>/stat: when the process began
LOOK = 1.0  # seconds between two looks at a search
PAUSE = 0.1  # seconds before a device gives a task back that has nothing for it


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


def model_of(info: Mapping[str, Any]) -> tuple:
    """All that devices have in common whose times are of one search."""
    return tuple(info[name] for name in ("model", "arch", "sm_count", "ecc", "driver", "compiler"))


class Offer(NamedTuple):
    """Requests of one search, for the devices of one model."""

    model: tuple
    workload_id: str
    workload: CompileTimeWorkload
    requests: Sequence[Request]
    left: float | None = None  # seconds of the search
    bundle: bytes = b""  # kernels that others compiled, of its variants and of base

    def is_for(self, info: Mapping[str, Any]) -> bool:
        """True if a device may take it. One that not all may do is a request by itself."""
        return self.model == model_of(info) and info["uuid"] not in self.requests[0].not_on


class Reply(NamedTuple):
    """Results of the offer that was taken, and the device; `base` where it was measured for it."""

    info: dict[str, Any]
    taken: int | None = None  # place of the offer; None if none was for this device
    base: Found = []  # noqa: RUF012 - a reply is only read
    results: Sequence[Found] = ()  # of its requests, in order; fewer where the search ended
    seconds: float = 0.0  # that the requests took, without base
    error: BaseFailed | Late | None = None  # base does not run here; or there was no time for any
    compiled: Sequence[str] = ()  # variants that this process has compiled itself


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
        self._build_seconds = BASE_SECONDS
        self._base_seconds = 0.0  # that base ran
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

    def choose(self, offers: Sequence[Offer]) -> int | None:
        """Place of the offer to take: one of the workload that is open, else the first that fits.

        None if none is for this device.
        """
        fitting = [at for at, offer in enumerate(offers) if offer.is_for(self.info)]
        is_open = (at for at in fitting if offers[at].workload_id == self._workload_id)
        return next(is_open, next(iter(fitting), None))

    def work(self, offer: Offer, taken: int = 0) -> Reply:
        """Do what is offered, after base if it is the first of its workload."""
        base: Found = []
        try:
            if offer.workload_id != self._workload_id:
                base = self._open(offer)
            begin = time.monotonic()
            if offer.requests[0].variant == "base":
                return Reply(self.info, taken, base)
            results, compiled = self._compile_and_measure(offer)
        except (BaseFailed, Late) as error:
            return Reply(self.info, taken, base, error=error)
        seconds = time.monotonic() - begin
        return Reply(self.info, taken, base, results, seconds, compiled=compiled)

    def _compile_and_measure(self, offer: Offer) -> tuple[list[Found], list[str]]:
        """Results of the requests that there is time for, and which of them were compiled here.

        Raises
        ------
        Late
            If there is time for none.
        """
        builds = [
            self._compilers.submit(
                offer.workload.compile, request.variant, self._build_seconds, b"", offer.bundle
            )
            for request in offer.requests
        ]
        if self.info["kind"] == "cpu":  # compilers would take the cores that are being measured
            wait(builds)
        results: list[Found] = []
        compiled: list[str] = []
        try:
            for request, build in zip(offer.requests, builds, strict=True):
                results.append(self._measure(request, build))
                if build.exception() is None and build.result() > 0:
                    compiled.append(request.variant)
        except Late:
            if not results:
                raise
        finally:
            for build in builds:
                build.cancel()
        return results, compiled

    def _measure(self, request: Request, build: Future) -> Found:
        try:
            build.result()
        except FAILURES as error:
            return [(request.runs[0], failure(error))]
        self._bench.put(request)
        return list(self._bench.take(run_deadline(self._base_seconds, request)))

    def _open(self, offer: Offer) -> Found:
        workload, request = offer.workload, offer.requests[0]
        self._workload_id = ""
        every = [Run(0, place) for place in range(len(workload.rts))]
        try:
            built = workload.compile("base", BASE_SECONDS, b"", offer.bundle)
        except FAILURES as error:
            raise BaseFailed(failure(error)["message"]) from error
        self._bench.open(workload.opening)
        until, meter = request.until, request.meter
        measured = Request("base", every, request.timing, until=until, meter=meter)
        self._bench.put(measured)
        begin = time.monotonic()
        found = list(self._bench.take(base_deadline(measured)))
        check_base(found[-1][1])
        self._build_seconds = build_deadline(built)
        self._base_seconds = time.monotonic() - begin
        self._workload_id = offer.workload_id
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
    offers: Sequence[Offer],
    device: str | None,
    searcher: Searcher | None = None,
    pulse: Pulse | None = None,
) -> Reply:
    """Do one task: one of its offers, variants one after another, in the seconds that are left.

    A device that none is for waits a moment before it says so, for the task may come back to it.
    """
    begun = time.monotonic()  # the search's clock may be another machine's
    with beating(pulse):
        claimed = _claimed(device)
        if searcher is not None:
            claimed.serve(searcher)
        taken = claimed.choose(offers)
        if taken is None:
            time.sleep(PAUSE)
            return Reply(claimed.info)
        left = offers[taken].left
        until = None if left is None else begun + left
        wanted = [request._replace(until=until) for request in offers[taken].requests]
        return claimed.work(offers[taken]._replace(requests=wanted), taken)


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
    file = open(path, "ab", opener=_no_link)  # noqa: SIM115
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file
    file.close()
    return None


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)
