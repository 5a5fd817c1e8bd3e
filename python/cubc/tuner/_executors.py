"""Executors that a user gives: anything like ``concurrent.futures.Executor``, or what makes one.

A pool of processes (Python's), Dask's ``Client.get_executor(pure=False)`` and mpi4py's are. A
callable that makes one is called again where a process's death has broken the last.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from contextlib import suppress
from typing import Any

PROCESSES = 4  # taken to be there where an executor does not tell

Executors = Executor | Callable[[], Executor]


class Processes:
    """Processes of an executor.

    Parameters
    ----------
    source
        An executor, which is left open, or a callable that makes one: then a pool that broke
        because a process died is replaced, and the last one is shut down.
    name
        Name of the argument, for messages.
    """

    def __init__(self, source: Executors, name: str):
        self._make: Callable[[], Executor] | None = None
        self._name = name
        executor: Any = source
        if callable(source) and not _is_executor(source):
            self._make, executor = source, source()
        if not _is_executor(executor):
            raise TypeError(
                f"{name} is {executor!r:.80}, must be an executor, as of concurrent.futures or "
                "Dask's client.get_executor(pure=False), or a callable that makes one, as "
                "lambda: ProcessPoolExecutor(4)"
            )
        self.executor: Executor = executor

    def submit(self, task: Callable[..., Any], *arguments: Any) -> Future:
        """Have a task done, by a new executor if this one is broken.

        Raises
        ------
        RuntimeError
            If it is broken and cannot be replaced, or is shut down.
        """
        try:
            return self.executor.submit(task, *arguments)
        except Exception:
            try:
                # An executor that has just broken may say so at the second attempt alone.
                return self.executor.submit(task, *arguments)
            except BrokenExecutor:
                self.renew()
                return self.executor.submit(task, *arguments)
            except RuntimeError as error:
                if "after shutdown" not in str(error):  # of Python, Dask and mpi4py
                    raise
                raise RuntimeError(
                    "the executor is shut down: search within its with statement, or give "
                    f"{self._name}= a function that makes one, as lambda: ProcessPoolExecutor(4)"
                ) from None

    def renew(self) -> None:
        """Make another executor in place of a broken one; RuntimeError if that cannot be."""
        if self._make is None:
            raise RuntimeError(
                "the executor is broken, since one of its processes died; what was measured is in "
                "the store. Run the search again with a new executor; or give it a function that "
                f"makes one, as {self._name}=lambda: ProcessPoolExecutor(4), which survives that"
            ) from None
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._make()

    def width(self) -> int:
        """Number of processes; PROCESSES if the executor does not tell."""
        known = getattr(self.executor, "_max_workers", None)
        client = getattr(self.executor, "_client", None)  # Dask's
        if client is not None:
            with suppress(Exception):  # of a scheduler that does not answer just now
                known = _threads(client, getattr(self.executor, "_kwargs", {}))
        return known if isinstance(known, int) and known > 0 else PROCESSES

    def end(self) -> None:
        """Leave the user's executor as it is; end one of our own."""
        if self._make is not None:
            self.executor.shutdown(wait=False, cancel_futures=True)


def is_death(error: BaseException) -> bool:
    """True if an error means that an executor lost a process, and not that its task failed."""
    lost = isinstance(error, BrokenExecutor | CancelledError)
    return lost or type(error).__name__ == "KilledWorker"  # Dask's


def _is_executor(given: Any) -> bool:
    """True if it takes tasks; False for a class of executors, and for a client of Dask's."""
    known = isinstance(given, type) or hasattr(given, "get_executor")
    return not known and hasattr(given, "submit")


def _threads(client: Any, options: dict[str, Any]) -> int:
    """Tasks that the workers of a Dask cluster run at a time; at least one, for it may grow.

    Of an executor with ``workers=`` or ``resources=`` those count that may have its tasks.
    """
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # of an earlier version
        workers = client.scheduler_info()["workers"]
    given = options.get("workers")
    only = {given} if isinstance(given, str) else {*map(str, given)} if given else set()
    wanted = options.get("resources") or {}
    count = 0
    for address, worker in workers.items():
        if only and only.isdisjoint({address, str(worker.get("name")), worker.get("host")}):
            continue
        has = worker.get("resources") or {}
        each = [int(has.get(one, 0) // least) for one, least in wanted.items() if least]
        count += min([worker.get("nthreads", 1), *each])
    return max(1, count)
