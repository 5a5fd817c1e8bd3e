"""A user's benchmark in the measuring process, with the interface of the core's own workloads."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import cubc
from cubc import _core
from cubc._extras import need

from ._difference import difference
from ._metrics import to_text
from ._space import Value, parse_label
from ._state import State
from ._status import FAILURES

if TYPE_CHECKING:
    from ._benchmark import UserCompileTimeWorkload

_CUBC = Path(__file__).parents[1]
_PICKLED = "<dynamic-code>"  # file of all functions that cloudpickle has pickled


class UserRunTimeWorkload:
    """One run-time workload of a user's benchmark, with the methods of `_core.Workload`."""

    def __init__(self, workload: UserCompileTimeWorkload, rt: dict[str, int], device: str):
        self._workload, self._device = workload, device
        self._state = State(workload.ct, rt, device)
        # Outputs of base by place, after each of the two first contents: what it does not write
        # need not be written.
        self._right: list[dict[int, cubc.Array]] = [{}, {}]
        self._checked = False
        with _reported():
            workload.user_benchmark.function(self._state)
        self.measure, self.measure_hot = _core.measure, _core.measure_hot

    @property
    def bytes(self) -> int:
        """Bytes that the work has to read and write."""
        return self._state.bytes

    @property
    def flops(self) -> float:
        """Floating-point operations of the work; 0.0 if they were not declared."""
        return self._state.operations

    def variant(self, label: str) -> _core.Program:
        """Load a variant and record what it launches; base has to be right."""
        workload = self._workload
        title = f"{workload.benchmark} {label}"
        program = _core.Program(workload.text(label), title, self._device, workload.threads(label))
        with _reported():
            self._state.record(program, workload.user_benchmark.source.kernels, self._values(label))
            if label == "base" and not self._checked:
                self._check(program)
        return program

    def _check(self, base: _core.Program) -> None:
        state = self._state
        kept: dict[int, cubc.Array] = {}
        for _ in self._right:
            state.renew()
            base.run()
            if wrong := state.wrong({}):
                raise ValueError(f"base is wrong: {wrong}")
            for output in state.unverified:
                before = kept.get(id(output))
                if before is None or difference(output, before, 0.0, 0.0):
                    kept[id(output)] = cubc.transform("x", x=output)
            self._right[state.turn % 2] = dict(kept)
        self._checked = True

    def _values(self, label: str) -> dict[str, Value]:
        return parse_label(self._workload.base if label == "base" else label)

    def metrics(self, label: str) -> str:
        """Metrics of a variant, whose outputs are there, as a store has them."""
        with _reported():
            return to_text(self._state.metrics(self._values(label)))

    def verify(self, program: _core.Program) -> str:
        """Run once and say what is wrong, "" if nothing is.

        Unwritten items may be right by chance. They are wrong when outputs are compared again, as
        they are after the samples, for `poison` gives them others then.
        """
        self.poison()
        with _reported():
            program.run()
        return self.wrong()

    def poison(self) -> None:
        """Give the outputs their first contents."""
        with _reported():
            self._state.renew()

    def wrong(self) -> str:
        """Say what is wrong with the outputs as they are, "" if nothing is."""
        with _reported():
            return self._state.wrong(self._right[self._state.turn % 2])


class PickledWorkload(NamedTuple):
    """A pickled compile-time workload, and where the modules of its function are found.

    The function is pickled with it, because the measuring process cannot import what a notebook or
    a script defines.
    """

    path: list[str]
    workload: bytes

    def load(self) -> Callable[[dict[str, int], str], UserRunTimeWorkload]:
        """Return the function that opens a run-time workload on a device."""
        sys.path += [place for place in self.path if place not in sys.path]
        return partial(UserRunTimeWorkload, need("cloudpickle").loads(self.workload))


@contextmanager
def _reported() -> Iterator[None]:
    """Report an error of a user's function, with its traceback, as a failure of the variant.

    The traceback has the lines of the user, each in the file that its function is of.
    """
    try:
        yield
    except FAILURES:
        raise
    except Exception as error:
        report = traceback.TracebackException.from_exception(error)
        walked = zip(report.stack, traceback.walk_tb(error.__traceback__), strict=True)
        users = ((f, of) for f, (of, _) in walked if _CUBC not in Path(f.filename).parents)
        frames: list[Any] = [_located(f, of) for f, of in users]
        report.stack = traceback.StackSummary.from_list(frames)
        raise _core.ResourceError("".join(report.format()).strip()) from None


def _located(summary: traceback.FrameSummary, frame: FrameType) -> traceback.FrameSummary:
    file = frame.f_globals.get("__file__", "")  # which a pickle keeps; a notebook has none
    if summary.filename != _PICKLED or not Path(file).is_file():
        return summary
    return traceback.FrameSummary(file, summary.lineno, summary.name)
