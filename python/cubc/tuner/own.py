"""A user's benchmark in the measuring process: its states, verified and measured variants."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import cubc
from cubc import _core

from .checks import need
from .constraints import broken
from .space import parse_label
from .state import State
from .status import FAILURES, OK, PRUNED, WRONG

if TYPE_CHECKING:
    from .benchmark import OwnUnit
    from .target import Request, Run

FIGURES = ("registers", "local_bytes", "shared_bytes", "blocks_per_unit")


class Opening(NamedTuple):
    """A unit on its way, with the places where its function's modules are found.

    It is pickled for itself, with its function, because a function of a notebook or a script
    cannot be imported here.
    """

    path: list[str]
    unit: bytes

    def open(self, device: str) -> OwnBench:
        """Set the unit up on a device."""
        sys.path += [place for place in self.path if place not in sys.path]
        return OwnBench(need("cloudpickle").loads(self.unit), device)


@contextmanager
def _told() -> Iterator[None]:
    """Give what a user's function raises, if it is not about the variant, its traceback."""
    try:
        yield
    except FAILURES:
        raise
    except Exception as error:
        own = traceback.TracebackException.from_exception(error)
        own.stack = traceback.StackSummary.from_list(
            [frame for frame in own.stack if not frame.filename.startswith(_HERE)]
        )
        raise RuntimeError("".join(own.format()).strip()) from None


_HERE = __file__.rpartition("own.py")[0]


class OwnBench:
    """A user's benchmark at one compile-time workload, with the arrays of all its workloads.

    Raises
    ------
    RuntimeError
        With the traceback, if the user's function fails.
    ValueError
        If base is wrong.
    """

    def __init__(self, unit: OwnUnit, device: str):
        assert unit.of is not None
        self._unit, self._device = unit, device
        self._kernels = unit.of.source.kernels
        self._threads_per_unit = _core.device_info(device)["threads_per_unit"]
        self._states: dict[int, State] = {}
        self._right: dict[int, dict[int, cubc.Array]] = {}  # what base leaves, by place and output
        self._bases: dict[int, _core.Program] = {}
        # The largest first: if memory does not suffice, that shows before anything is measured.
        for place in sorted(range(len(unit.rts)), key=lambda i: -sum(unit.rts[i].values())):
            state = self._states[place] = State(unit.ct, unit.rts[place], device)
            with _told():
                unit.of.function(state)
                self._bases[place] = self._program(place, "base")
            self._run_base(state, place)

    def _run_base(self, state: State, place: int) -> None:
        state.run(self._bases[place])
        with _told():
            if wrong := state.wrong({}):
                raise ValueError(f"base is wrong: {wrong}")
        self._right[place] = {
            id(output): cubc.transform("x", x=output) for output in state.unverified
        }

    def _program(self, place: int, variant: str) -> _core.Program:
        """Load a variant and record what it launches at a workload."""
        title = f"{self._unit.benchmark} {variant}"
        program = _core.Program(self._unit.text(variant), title, self._device)
        values = parse_label(self._unit.base if variant == "base" else variant)
        self._states[place].record(program, self._kernels, values)
        return program

    def evaluate(self, request: Request, run: Run, beat: float) -> dict[str, Any]:
        """Verify and measure a variant at one run-time workload."""
        state, base = self._states[run.place], self._bases[run.place]
        try:
            with _told():
                if run.round:
                    base = self._program(run.place, "base")
                program = base
                if request.variant != "base":
                    program = self._program(run.place, request.variant)
        except RuntimeError as error:
            if isinstance(error, FAILURES):
                raise
            raise _core.ResourceError(str(error)) from None
        row = {"status": OK, "bytes": state.bytes} | {n: program.info[n] for n in FIGURES}
        if text := broken(request.limits, program.info, self._threads_per_unit):
            return row | {"status": PRUNED, "message": f"{text} does not hold"}
        if request.variant == "base":
            return row | _core.measure(program, **request.timing)
        if not run.round:
            state.run(program)
            if wrong := state.wrong(self._right[run.place]):
                return row | {"status": WRONG, "message": wrong}
        return row | _core.measure(program, base, beat=beat, **request.timing)
