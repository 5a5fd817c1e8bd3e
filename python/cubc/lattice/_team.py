"""Ranks of one process: a thread and a device for each. A user has the whole fields."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from ._fields import device_output, integer, is_on_host, on_host
from ._grid import Grid

LONGEST = 600  # seconds for which a rank may compile what the others have compiled
# Ranks wait for each other in kernels: of two grids on the same devices, each could have one.
_turns: dict[str, threading.Lock] = {}


class _Work(threading.local):
    """Mark of a thread that has work for ranks, before which its signal handlers have none.

    The ranks are busy, and of turns that are taken out of order two threads could each wait for
    the other's.
    """

    under_way = False


_work = _Work()


def _forget() -> None:
    """Take a forked child for what it is: it has no ranks."""
    _turns.clear()
    _work.under_way = False


os.register_at_fork(after_in_child=_forget)


class _Comm:
    """Communicator of a rank among the threads of its team.

    It does not keep its team, whose ranks keep it in the core, where no collector looks.
    """

    def __init__(self, team: Team, rank: int):
        self._team, self.rank, self.size, self.calls = weakref.ref(team), rank, team.size, 0

    def Get_rank(self) -> int:
        return self.rank

    def Get_size(self) -> int:
        return self.size

    def allgather(self, value: Any) -> list[Any]:
        team, call = self._team(), self.calls
        if team is None:
            raise TimeoutError("the grid of this rank is closed")
        self.calls += 1
        with team._given:
            values = team._values.setdefault(call, {})
            if not team._failed:  # else the others may have given up before this value
                values[self.rank] = value
            team._given.notify_all()
            team._given.wait_for(lambda: len(values) == team.size or team._failed, LONGEST)
        if len(values) < team.size:
            if team._failed:
                raise KeyboardInterrupt
            raise TimeoutError("another rank of this process does not come")
        return [values[rank] for rank in range(team.size)]


def _devices_of(devices: Sequence[str] | None, size: int) -> list[str]:
    """Return the names of the ranks' devices: those given, or all that there are."""
    if devices is not None:
        if isinstance(devices, str) or len(devices) != size:
            raise ValueError(f"devices={devices!r:.80}: expected the names of {size} devices")
        return [_core.device_info(name)["name"] for name in devices]
    if _core.device_info(None)["name"].startswith("cuda"):
        gpus = [name for name in _core.devices() if name.startswith("cuda")]
        if len(gpus) < size:
            raise ValueError(f"a grid of {size} ranks has {len(gpus)} GPUs: give devices=")
        return gpus[:size]
    return ["cpu", *(f"cpu:{n}" for n in range(1, size))]


class _End(NamedTuple):
    """How the work of a rank has ended."""

    made: Any = None
    error: BaseException | None = None


def _first_of(errors: dict[int, BaseException]) -> BaseException:
    """Return the error that is the cause, with those of the other ranks as its notes.

    An OSError comes last: a rank may get one because another rank has failed. An interrupt comes
    after it: a rank gets one for no other reason, as Ctrl-C is of the thread that waits for them.
    """
    kinds = (KeyboardInterrupt, OSError)
    first = max(errors.values(), key=lambda e: (not isinstance(e, kinds), isinstance(e, OSError)))
    for rank, error in errors.items():
        if error is not first:
            first.add_note(f"rank {rank}: {type(error).__name__}: {error}")
    return first


def _serve(tasks: SimpleQueue[Callable[[], None] | None]) -> None:
    """Run the tasks of a rank in its thread, and drop each when it is done."""
    while (task := tasks.get()) is not None:
        task()
        del task


def _dismiss(every: list[SimpleQueue[Callable[[], None] | None]]) -> None:
    """End the threads of ranks."""
    for tasks in every:
        tasks.put(None)


def checked_grid(grid: Any, devices: Any) -> tuple[Sequence[int] | None, Grid | None]:
    """Return the ranks of this process along x, y, z, t, or the grid of which it is a rank.

    One of the two is None, or both.

    Raises
    ------
    TypeError
        If `grid` is nothing of these, or `devices` are given without ranks of this process.
    """
    if isinstance(grid, Sequence) and not isinstance(grid, str):
        return grid, None
    if grid is not None and not isinstance(grid, Grid):
        raise TypeError(
            f"grid is a {type(grid).__name__}: expected a Grid, or the ranks along x, y, z, t"
        )
    if devices is not None:
        raise TypeError("devices are those of the ranks of this process: give grid=(1, 1, 1, 2)")
    return None, grid


def refuse_of_one_device(*, device: Any = None, stream: Any = None) -> None:
    """Refuse options of one device, for ranks of this process."""
    if device is not None:
        raise ValueError("device= is for one device: give devices=, those of the ranks")
    if stream is not None:
        raise ValueError("stream= is for one device: leave it out, ranks have their own streams")


class Team:
    """Ranks of this process, over which the fields that a user sees as wholes are cut.

    Parameters
    ----------
    grid : tuple of int
        Ranks along X, Y, Z, T.
    devices : sequence of str, optional
        Device of each rank.
    """

    def __init__(self, grid: Sequence[int], devices: Sequence[str] | None):
        grid = [integer("grid", ranks) for ranks in grid]
        if len(grid) != 4 or min(grid) < 1:
            raise ValueError(f"grid={tuple(grid)!r:.80}: expected the ranks along x, y, z, t")
        self.size: int = math.prod(grid)
        self.devices: list[str] = _devices_of(devices, self.size)
        self._given = threading.Condition()  # of values and failures that allgather waits for
        self._values: dict[int, dict[int, Any]] = {}  # of calls of allgather, by rank
        self._failed = False
        self._stop = bytearray(1)  # set to interrupt the ranks
        self.ranks: list[Grid] = []
        self._comms = [_Comm(self, rank) for rank in range(self.size)]
        self._process = os.getpid()  # a forked child has none of the threads
        self._tasks: list[SimpleQueue[Callable[[], None] | None]] = []
        weakref.finalize(self, _dismiss, self._tasks)  # also of the first, if another cannot start
        for rank in range(self.size):
            tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
            self._tasks.append(tasks)
            name = f"cubc rank {rank}"
            threading.Thread(target=_serve, args=(tasks,), name=name, daemon=True).start()
        self.ranks = self.run(lambda rank: Grid(grid, self._comms[rank], device=self.devices[rank]))

    def __getstate__(self) -> Any:
        raise TypeError("ranks are of this process: pickle the links of the field, and its grid=")

    def run(self, work: Callable[[int], Any]) -> list[Any]:
        """Return `work` of each rank's number; all ranks work at once, each in its thread.

        Ctrl-C ends the work of all, and so does the failure of one. The ranks then begin anew.
        """
        self._refuse_child()
        if _work.under_way:
            raise ValueError(
                "a call on ranks of this process was made from within another, as by a signal "
                "handler"
            )
        try:
            _work.under_way = True
            ends = self._in_turn(work)
        finally:
            _work.under_way = False
        if errors := {rank: end.error for rank, end in enumerate(ends) if end and end.error}:
            raise _first_of(errors)
        return [end.made for end in ends if end]

    def _refuse_child(self) -> None:
        """Refuse the use in a forked child, which has none of the threads."""
        if os.getpid() != self._process:
            raise RuntimeError(
                "the ranks are threads of the process that this one was forked from: make the "
                "Gauge after the fork"
            )

    def _in_turn(self, work: Callable[[int], Any]) -> list[_End | None]:
        """Return how the work of each rank has ended, done while no other has their devices."""
        with contextlib.ExitStack() as turn:
            for name in sorted(set(self.devices)):
                turn.enter_context(_turns.setdefault(name, threading.Lock()))
            if self._failed:  # a second Ctrl-C came before the ranks had begun anew
                self._begin_anew()
            self._values.clear()
            for comm in self._comms:
                comm.calls = 0
            try:
                ends = self._do(lambda rank: _core.ranks_work(lambda: work(rank), self._stop))
                failed = any(end is None or end.error for end in ends)
            except BaseException:
                if os.getpid() == self._process:
                    self._failed = True
                    self._begin_anew()
                raise
            if failed:
                self._begin_anew()
        return ends

    def _do(
        self, work: Callable[[int], Any], meanwhile: Callable[[], None] = lambda: None
    ) -> list[_End | None]:
        """Return how the work of each rank has ended, once all have or one has failed.

        Ctrl-C may raise anywhere here: no lock of Python's own is held.
        """
        ends: list[_End | None] = [None] * self.size
        ended: SimpleQueue[int] = SimpleQueue()

        def one(rank: int) -> None:
            try:
                end = _End(made=work(rank))
            except BaseException as error:
                end = _End(error=error)
            ends[rank] = end
            ended.put(rank)

        for rank, tasks in enumerate(self._tasks):
            tasks.put(functools.partial(one, rank))
        while None in ends and not any(end and end.error for end in ends):
            meanwhile()
            self._refuse_child()  # a handler of a signal may have forked
            with contextlib.suppress(Empty):
                ended.get(timeout=0.1)
        return ends

    def _begin_anew(self) -> None:
        """Interrupt what the ranks do, and have them begin anew, since not all are at one place.

        The user gets the error that began this: those of a lost device here are no news.
        """

        def stop() -> None:  # again and again: a rank may have made memory meanwhile
            for grid in self.ranks:
                with contextlib.suppress(Exception):  # a lost device stops none of the others
                    _core.ranks_stop(grid._ranks)

        def settle(rank: int) -> None:  # behind what the rank did
            with contextlib.suppress(Exception):
                if self.ranks:  # else the team is being made
                    self.ranks[rank].check()

        def renew(rank: int) -> None:
            if self.ranks:
                _core.ranks_renew(self.ranks[rank]._ranks)

        with self._given:
            self._failed, self._stop[0] = True, 1
            self._given.notify_all()
        for step, meanwhile in ((settle, stop), (renew, lambda: None)):
            ends: list[_End | None] = [None]
            while None in ends:
                with contextlib.suppress(KeyboardInterrupt):
                    ends = self._do(step, meanwhile)
        self._stop[0] = 0
        self._failed = False  # last: until here the next call begins with this again

    def parts(self, field: Any, axis: int) -> list[Any]:
        """Return the ranks' parts of an array; its axes from `axis` on are the lattice's."""
        return [grid.part(field, axis) for grid in self.ranks]

    def whole(self, parts: list[Any], axis: int) -> np.ndarray:
        """Return the array of the whole lattice."""
        return self.ranks[0]._joined([np.asarray(part) for part in parts], axis)

    def joined(self, parts: Sequence[Any]) -> Any:
        """Return the array of the whole lattice, on the first rank's device, by the host."""
        whole = self.whole([part.numpy() for part in parts], 0)
        return _core.asarray(whole, device=self.devices[0])

    @staticmethod
    def operator_of(operator: Any, rank: int) -> Any:
        """Return the operator on a rank's part."""
        # Not copy.copy, which would give each call empty caches.
        mine = object.__new__(type(operator))
        mine.__dict__ |= operator.__dict__
        mine.gauge = operator.gauge.parts[rank]
        return mine

    def apply(
        self,
        operator: Any,
        fields: Sequence[Any],
        out: Any,
        stream: Any,
        work: Callable[..., Any],
        before: tuple[int, ...] = (),
    ) -> Any:
        """Return what operators of the ranks make of their parts of fields.

        Parameters
        ----------
        operator : Operator
            Operator on the whole lattice.
        fields : sequence
            Arrays of the whole lattice, or None. The result is where the first one is.
        out : array, optional
            Array on the host for the result.
        stream : object, optional
            None: the ranks have streams of their own.
        work : callable
            Makes a rank's field, of its operator and its parts of `fields`.
        before : tuple of int
            Axes of the result before those of the first field.
        """
        refuse_of_one_device(stream=stream)
        if out is not None and not is_on_host(out):
            raise ValueError("out is on a device: fields of ranks of one process go by the host")
        axes = 4 + len(operator._site)
        given = [None if f is None else on_host(f) for f in fields]
        for f in given:
            if f is not None:
                operator._is_half(f)  # a part has other extents than those that a user knows
        first: Any = given[0]
        device_output(out, (*before, *first.shape), first.dtype)
        cuts = [
            self.parts(f, f.ndim - axes) if f is not None else [None] * self.size for f in given
        ]

        parts = self.run(
            lambda rank: work(self.operator_of(operator, rank), *(cut[rank] for cut in cuts))
        )
        whole = self.whole(parts, parts[0].ndim - axes)
        if out is not None:
            out[...] = whole
            return out
        return whole if is_on_host(fields[0]) else _core.asarray(whole, device=fields[0].device)
