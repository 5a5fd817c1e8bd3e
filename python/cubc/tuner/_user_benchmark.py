"""A user's benchmark in the measuring process: a workload like the core's own, over a `State`."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import cubc
from cubc import _core

from ._checks import need
from ._space import parse_label
from ._state import State
from ._status import FAILURES

if TYPE_CHECKING:
    from ._benchmark import OwnUnit

_HERE = Path(__file__).parent


class OwnWorkload:
    """One run-time workload of a user's benchmark; it has what `_core.Workload` has."""

    def __init__(self, unit: OwnUnit, rt: dict[str, int], device: str):
        self._unit, self._device = unit, device
        self._state = State(unit.ct, rt, device)
        self._right: dict[int, cubc.Array] | None = None  # outputs of base, by place
        with _told():
            unit.of.function(self._state)
        self.measure, self.measure_hot = _core.measure, _core.measure_hot

    @property
    def bytes(self) -> int:
        """Bytes that the work has to read and write."""
        return self._state.bytes

    def variant(self, label: str) -> _core.Program:
        """Load a variant and record what it launches; base has to be right."""
        unit = self._unit
        title = f"{unit.benchmark} {label}"
        program = _core.Program(unit.text(label), title, self._device, unit.threads(label))
        with _told():
            values = parse_label(unit.base if label == "base" else label)
            self._state.record(program, unit.of.source.kernels, values)
            if label == "base" and self._right is None:
                self._check(program)
        return program

    def _check(self, base: _core.Program) -> None:
        self._state.renew()
        base.run()
        if wrong := self._state.wrong({}):
            raise ValueError(f"base is wrong: {wrong}")
        copy = partial(cubc.transform, "x")
        self._right = {id(output): copy(x=output) for output in self._state.unverified}

    def verify(self, program: _core.Program) -> str:
        """Run once and say what is wrong, "" if nothing is."""
        self.poison()
        with _told():
            program.run()
        return self.wrong()

    def poison(self) -> None:
        """Give the outputs what they have before the work."""
        with _told():
            self._state.renew()

    def wrong(self) -> str:
        """Say what is wrong with the outputs as they are, "" if nothing is."""
        with _told():
            return self._state.wrong(self._right or {})


class Shipped(NamedTuple):
    """A unit on its way to the measuring process, and where its function's modules are found.

    It is pickled apart, with its function, because what a notebook or a script defines cannot be
    imported there.
    """

    path: list[str]
    unit: bytes

    def load(self) -> Callable[[dict[str, int], str], OwnWorkload]:
        """Give what makes the workloads of a unit."""
        sys.path += [place for place in self.path if place not in sys.path]
        return partial(OwnWorkload, need("cloudpickle").loads(self.unit))


@contextmanager
def _told() -> Iterator[None]:
    """Let what a user's function raises be told with its traceback, as a variant's failure."""
    try:
        yield
    except FAILURES:
        raise
    except Exception as error:
        told = traceback.TracebackException.from_exception(error)
        frames: list[Any] = [f for f in told.stack if Path(f.filename).parent != _HERE]
        told.stack = traceback.StackSummary.from_list(frames)
        raise _core.ResourceError("".join(told.format()).strip()) from None
