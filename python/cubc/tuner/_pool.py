"""Other processes and machines as the source of a search, through any executor.

A task is as many variants as a device measures in half a second. The process that gets it compiles
them, on its host's cores, verifies and measures them on its own device, in a measuring process of
its own, and sends back the results. So the search has little to do for each variant: it proposes,
sends and stores them in batches, and hears of a task through a queue. Each process measures base
itself, so a variant is only compared with base on the same device. The search keeps the store, and
decides which tasks to repeat.

An executor does not let one choose who does a task. So a task has an offer of each search that has
variants ready (see ``_lane.py``), and the process takes one: of its device's model, and if possible
of the workload that it has open. What the others offered is sent again. A device that has not been
heard of before tells its model by its reply.

If the processes run on this machine and measure GPUs, or others compile for them, variants are
compiled in advance, so that a process only has to measure (see ``_compilers.py``).

A node may be lost without a message. So a task whose process falls silent (see ``_heartbeat.py``),
or that takes far longer than any before, is given to other processes, once, a variant at a time; a
late answer to it is ignored.

When a process dies, an executor may not say which task it had: a pool of processes fails all of
them. So each is run once more, alone, and only a task whose process dies then is at fault. A pool
that breaks while it is given a task may raise anything (Python's starts a process whose pipes its
other thread has just closed), or lose the task.

The other process calls ``_remote.py``.
"""

from __future__ import annotations

import random
import socket
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from . import _heartbeat as heartbeat
from . import _remote as remote
from ._compilers import Elsewhere, Here
from ._deadlines import run_deadline
from ._executors import Executors, Processes, is_death
from ._lane import Lane
from ._measurer import Request

AHEAD = 2  # tasks for each process, so that none waits for the search
MOST_AT_ONCE = 4  # workloads that the devices of a model share: a task has an offer of each
LOOK = 2.0  # seconds between two looks at how many processes there are
# Seconds until tasks that came to devices which they are not for are sent again, as one: two that
# are each other's could meet the same devices time after time. They are drawn, up to twice as many.
HOLD = 2 * remote.PAUSE
ATTEMPTS = 2  # at a task whose process died or is lost
UNHEARD = 1200.0  # seconds until the first task of a workload, which has base, counts as lost
PATIENCE, FACTOR = 60.0, 10.0  # seconds until another is, and times as long as the longest yet


class Part(NamedTuple):
    """Requests of a lane in a task."""

    lane: Lane
    requests: list[Request]
    turn: int  # of the lane
    moves: bool = False  # it is to bring a device from another lane

    @property
    def is_awaited(self) -> bool:
        """True unless the lane has dropped it."""
        return self.turn == self.lane.turn


class Task(NamedTuple):
    """Task that an executor was asked for."""

    parts: list[Part]
    attempt: int  # from 1
    alone: bool  # with nothing beside it
    executor: Executor
    sent: float  # moment of the monotonic clock
    number: bytes  # of its pulse


class Pool:
    """An executor; see `Source`.

    Parameters
    ----------
    source
        An executor, or a callable that makes one.
    device
        Device that each process measures on. None: a GPU of its own for each, or else the cpu.
    compilers
        The same as `source`, of processes that compile for them. None: they do so themselves.
    """

    def __init__(self, source: Executors, device: str | None, compilers: Executors | None = None):
        self._processes = Processes(source, "executor")
        self._device = device
        self._lanes: list[Lane] = []
        self._asked: dict[Future, Task] = {}
        self._ended: SimpleQueue[Future] = SimpleQueue()  # tasks and compilations, as they end
        self._alone = 0  # tasks in `_asked` that are
        self._held: list[Task] = []  # that no device took, up to a moment
        self._held_until = 0.0
        self._given_up = 0.0  # moment of the last look at what is overdue
        # Devices that have answered, by model and uuid.
        self._known: dict[tuple, dict[str, Mapping[str, Any]]] = {}
        self._heard: dict[tuple, float] = {}  # moment of a model's last answer
        self._gone: set[tuple] = set()  # models of which no device answers any more
        self._refused: set[tuple] = set()  # models of another kind
        self._listener = heartbeat.Listener()
        self._beats: dict[bytes, float] = {}  # moments of the last ones, by number of a task
        self._me = remote.this_process()
        self._compilers: Elsewhere | Here | None = None
        found: tuple[Mapping[str, Any], str]
        try:
            if compilers is not None:
                self._compilers = Elsewhere(compilers, self._ended, self._listener)
            future = self._processes.submit(remote.describe, device, self._me)
            if future not in wait([future], UNHEARD).done:
                raise TimeoutError(f"no process of the executor answered in {UNHEARD:.0f} s")
            found = future.result()
        except BaseException:
            self._end()
            raise
        self.info: Mapping[str, Any] = found[0]
        self._note(self.info)
        self.width, self._looked = self._processes.width(), time.monotonic()
        if isinstance(self._compilers, Elsewhere):
            self._compilers.begin()
        elif compiles_for(*found):
            self._compilers = Here(self._ended)

    @property
    def models(self) -> Sequence[Mapping[str, Any]]:
        """A device of each model that has answered."""
        return [next(iter(devices.values())) for devices in self._known.values()]

    def devices(self, model: tuple) -> dict[str, Mapping[str, Any]]:
        """Devices of a model that have answered, by uuid."""
        return self._known[model]

    @property
    def compiling(self) -> int:
        """Number of variants that are compiled for the processes."""
        return len(self._compilers) if self._compilers is not None else 0

    def at_once(self, info: Mapping[str, Any]) -> int:
        """Half as many workloads as there are devices of the model: each is opened by few."""
        return max(1, min(MOST_AT_ONCE, len(self._known[remote.model_of(info)]) // 2))

    def measurer(self, info: Mapping[str, Any]) -> Lane:
        """Lane for the search of a workload on devices of a model."""
        return Lane(self, info)

    def take_in(self, lane: Lane) -> None:
        """Serve a lane from here on."""
        self._lanes.append(lane)

    def release(self, lane: Lane) -> None:
        """Serve a lane no more."""
        if lane in self._lanes:
            self._lanes.remove(lane)

    def enough(self, lane: Lane) -> int:
        """Number of variants of a lane that keep its devices busy."""
        others = sum(map(len, self._known.values())) - len(self._known[lane.model])
        tasks = AHEAD * max(1, self.width - others)
        if self._has_several(lane.model):  # some more, for each task is to have an offer of each
            tasks += max(1, tasks // 2)
        more = self._compilers.ahead if self._compilers is not None else 0
        return tasks * lane.together + more

    def _has_several(self, model: tuple) -> bool:
        return sum(lane.model == model for lane in self._lanes) > 1

    def compile(self, lane: Lane, request: Request) -> bool:
        """Have a variant compiled, by which it is ready; False if the processes do that."""
        return self._compilers is not None and self._compilers.submit(lane, request)

    def refused(self, variant: str, model: str) -> None:
        """Note that what was compiled of a variant was not of use to the process that got it."""
        if isinstance(self._compilers, Elsewhere):
            self._compilers.refused(variant, model)

    def wait(self, until: float | None) -> None:
        """Send what is ready and take what has ended; return when something has, or in a while."""
        self.feed()
        for future in self._next_ended(until):
            if self._compilers is not None and self._compilers.take(future):
                continue
            if (task := self._forget(future)) is not None:
                self._take(future, task)
        self._count()
        self._give_up()
        self._end_gone()
        self.feed(early=True)

    def feed(self, *, early: bool = False) -> None:
        """Send what is ready; suspects one at a time, with nothing beside them.

        It is early before all searches have had their turn: then one that shares its devices may
        have nothing ready yet, and they would leave what they have open.
        """
        if early and any(map(self._has_several, self._known)):
            return
        if self._held and time.monotonic() >= self._held_until:
            for task in self._held:
                self._take_parts(task)
            self._held.clear()
        suspected = [lane for lane in self._lanes if lane.suspects]
        if suspected and not self._asked:
            request = suspected[0].suspects.popleft()
            self._send([_part(suspected[0], [request])], ATTEMPTS, alone=True)
        while not suspected and not self._alone and len(self._asked) < AHEAD * self.width:
            # A queue at the executor is in the way of what comes later, so it has no more.
            lost = next((lane for lane in self._lanes if lane.lost), None)
            if lost is not None:
                self._send([_part(lost, [lost.lost.popleft()])], ATTEMPTS)
            elif parts := self._parts():
                self._send(parts)
            else:
                return

    def _parts(self) -> list[Part]:
        """Parts of the next task: an offer of each lane, those first that few devices are at."""
        free = AHEAD * self.width - len(self._asked)
        found = []
        for model, devices in self._known.items():
            lanes = [lane for lane in self._lanes if lane.model == model]
            ready = sorted((lane for lane in lanes if lane.ready), key=lambda lane: lane.load)
            # A device stays at the workload that it has open, unless it is offered another alone.
            moves = len(lanes) > 1 and bool(ready) and ready[0].load < len(devices) // len(lanes)
            chosen = ready[:1] if moves else ready
            found += [_part(lane, lane.batch(free), moves=moves) for lane in chosen]
        return found

    def _send(self, parts: list[Part], attempt: int = 1, *, alone: bool = False) -> None:
        what = [part.lane.offer(part.requests) for part in parts]
        pulse = self._listener.pulse()
        task = partial(remote.work, what, self._device, self._me, pulse)
        future = self._processes.submit(task)
        now, executor = time.monotonic(), self._processes.executor
        self._asked[future] = Task(parts, attempt, alone, executor, now, pulse.number)
        self._alone += alone
        for part in parts:
            part.lane.moving += part.moves
        future.add_done_callback(self._ended.put)

    def _forget(self, future: Future) -> Task | None:
        """Task of a future that is not waited for any more; None if it was not."""
        task = self._asked.pop(future, None)
        if task is not None:
            self._alone -= task.alone
            self._beats.pop(task.number, None)
            for part in task.parts:
                part.lane.moving -= part.moves
        return task

    def _take(self, future: Future, task: Task) -> None:
        """Take the results of a task, or see to it that its requests are done again."""
        try:
            reply = future.result()
        except (Exception, CancelledError) as death:
            if not is_death(death):
                raise
            if isinstance(death, BrokenExecutor):
                self._suspect(task.executor)
            words = f"its process died {ATTEMPTS} times: {death or type(death).__name__}"
            for lane, requests in _awaited(task):
                lane.died(requests, words if task.attempt == ATTEMPTS else "")
            return
        self._note(reply.info)
        if reply.taken is None:
            if not self._held:
                self._held_until = time.monotonic() + random.uniform(HOLD, 2 * HOLD)
            self._held.append(task)
            return
        self._take_parts(task, reply)

    def _take_parts(self, task: Task, reply: remote.Reply | None = None) -> None:
        """Take the part that was done, and have the others offered again."""
        for at, part in enumerate(task.parts):
            if reply is not None and at == reply.taken:
                for other in self._lanes:
                    other.at.discard(reply.info["uuid"])
                if part.is_awaited:
                    part.lane.take(part.requests, reply, time.monotonic() - task.sent)
            elif part.is_awaited:
                part.lane.give_back(part.requests, task.attempt, alone=task.alone)

    def _next_ended(self, until: float | None) -> list[Future]:
        """Wait for what is done next, for a task that is overdue, or for a moment."""
        now = time.monotonic()
        end = now + LOOK if until is None else min(until, now + LOOK)
        end = min(end, self._held_until) if self._held else end
        found = []
        with suppress(Empty):
            found.append(self._ended.get(timeout=max(0.0, end - now)))
            while True:
                found.append(self._ended.get_nowait())
        return found

    def _count(self) -> None:
        """Look how many processes there are: those of Dask come and go."""
        if time.monotonic() - self._looked > LOOK:
            self.width, self._looked = self._processes.width(), time.monotonic()

    def _patience(self, task: Task) -> float:
        """Seconds in which a task is answered unless it is lost."""
        awaited = _awaited(task)
        if not all(lane.longest for lane, _ in awaited):
            return UNHEARD
        longest = (
            FACTOR * lane.longest + sum(run_deadline(0.0, request) for request in requests)
            for lane, requests in awaited
        )
        return max(PATIENCE, *longest)

    def _give_up(self) -> None:
        """Give tasks that are overdue, or silent, to others; one that is so twice has failed."""
        now = time.monotonic()
        if now - self._given_up < min(LOOK, PATIENCE):
            return
        self._given_up = now
        heard = self._listener.heard()
        if self._compilers is not None:
            self._compilers.look(heard)
        self._beats.update(dict.fromkeys(heard, now))
        asked = {task.number for task in self._asked.values()}
        self._beats = {one: at for one, at in self._beats.items() if one in asked}
        for future, task in list(self._asked.items()):
            waited = now - task.sent
            is_silent = now - self._beats.get(task.number, now) >= heartbeat.SILENT
            if waited < self._patience(task) and not is_silent:
                continue
            self._forget(future)
            future.cancel()
            words = f"no process answered, {ATTEMPTS} times; the last for {waited:.0f} s"
            for lane, requests in _awaited(task):
                lane.lose(requests, words if task.attempt == ATTEMPTS else "")

    def _end_gone(self) -> None:
        """End the searches on a model all of whose devices have gone."""
        now = time.monotonic()
        for lane in [*self._lanes]:
            since = max(self._heard[lane.model], lane.begun)
            if lane.model not in self._gone and now - since > max(UNHEARD, FACTOR * lane.longest):
                self._gone.add(lane.model)
                warnings.warn(
                    f"no {lane.info['model']} has answered for {now - since:.0f} s: what was to be "
                    "measured there is left out; what was measured is in the store",
                    RuntimeWarning,
                    stacklevel=2,
                )
            if lane.model in self._gone:
                lane.gone()

    def _suspect(self, broken: Executor) -> None:
        """Stop waiting for the tasks of a broken executor, which may never answer."""
        for future, task in list(self._asked.items()):
            if task.executor is broken and not future.done():
                self._forget(future)
                for lane, requests in _awaited(task):
                    lane.died(requests, "")

    def _note(self, info: Mapping[str, Any]) -> None:
        """Note a device; one of another kind than the first measures nothing."""
        model = remote.model_of(info)
        if info["kind"] == self.info["kind"]:
            self._known.setdefault(model, {}).setdefault(info["uuid"], info)
            self._heard[model] = time.monotonic()
            self._gone.discard(model)
        elif model not in self._refused:
            self._refused.add(model)
            warnings.warn(
                f"a process of the executor measures on {info['model']} ({info['arch']}), the "
                f"search is for {self.info['arch']}: it gets no tasks; name the device, or search "
                "on it alone",
                RuntimeWarning,
                stacklevel=2,
            )

    def drop(self, lane: Lane) -> None:
        """Forget what a lane asked for; tasks that run end unheard, compilations at once."""
        for future, task in list(self._asked.items()):
            if not _awaited(task):
                self._forget(future)
                future.cancel()
        if self._compilers is not None:
            self._compilers.drop(lane)

    def close(self) -> None:
        """Leave the user's executors as they are; end those of our own."""
        for lane in [*self._lanes]:
            lane.end()
        self._end()

    def _end(self) -> None:
        self._listener.close()
        if self._compilers is not None:
            self._compilers.close()
        self._processes.end()


def _part(lane: Lane, requests: list[Request], *, moves: bool = False) -> Part:
    return Part(lane, requests, lane.turn, moves)


def _awaited(task: Task) -> list[tuple[Lane, list[Request]]]:
    """Lanes that await a task, with what they asked for."""
    return [(part.lane, part.requests) for part in task.parts if part.is_awaited]


def compiles_for(info: Mapping[str, Any], host: str) -> bool:
    """True if compiling here neither disturbs the processes nor misses their cache."""
    return info["kind"] == "cuda" and host == socket.gethostname()
