"""Argument of a benchmark's function: the workload, its arrays, and what is to be measured.

The function runs once for each run-time workload, in the measuring process. The function that it
passes to `exec` runs once for each variant and records launches; measuring repeats these without
Python.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import cubc
from cubc import _core
from cubc._calls import named

from . import _axes as ax
from . import _metrics as mt
from . import _state_arrays, _state_outputs
from ._launch import Launch
from ._objective import FIGURES
from ._state_arrays import Kept


class Skipped(Exception):
    """A run-time workload that the benchmark does not want to be measured."""


class State:
    """One run-time workload of a benchmark.

    Attributes
    ----------
    ct : dict of str to str
        The compile-time workload by plain axis name: ``{"T": "F32"}``.
    rt : dict of str to int
        The run-time workload by plain axis name; of a ``[pow2]`` axis the number itself and not the
        exponent. ``state["Elements"]`` is short for it.
    exponents : dict of str to int
        The same as declared: the exponents of ``[pow2]`` axes.
    device : str
        Name of the device.

    Examples
    --------
    >>> source = '''
    ... // %RANGE% THREADS tpb 32:128:32
    ... __global__ void twice(float* x, int n)
    ... {
    ...     int i = blockIdx.x * THREADS + threadIdx.x;
    ...     if (i < n) x[i] *= 2;
    ... }'''
    >>> @tuner.benchmark(source, {"Elements{io}[pow2]": [10]})
    ... def twice(state):
    ...     x = state.array(np.ones(state["Elements"], "f4"))
    ...     state.writes(x)
    ...     state.verify(x, np.full(x.size, 2, "f4"))
    ...     state.exec(lambda launch: launch.kernel("twice", x, x.size))
    >>> r = tuner.search(twice, seconds=10)  # doctest: +SKIP
    """

    def __init__(self, ct: Mapping[str, str], rt: Mapping[str, int], device: str):
        self.ct = {ax.split_name(name)[0]: value for name, value in ct.items()}
        self.exponents = {ax.split_name(name)[0]: value for name, value in rt.items()}
        self.rt = {
            ax.split_name(name)[0]: 2**value if "[pow2]" in name else value
            for name, value in rt.items()
        }
        self.device = device
        self.work: Callable[[Launch], Any] | None = None
        self.operations = 0.0  # of floats; 0: not declared
        self.turn = 0  # which first contents the outputs get next
        self.checks: list[tuple[cubc.Array, Any, float | None, float]] = []
        self._metrics: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self._kept: list[Kept] = []
        self._read: list[cubc.Array] = []
        self._written: list[cubc.Array] = []

    def __getitem__(self, axis: str) -> int | str:
        plain = ax.split_name(axis)[0]
        if plain in self.rt:
            return self.rt[plain]
        if plain in self.ct:
            return self.ct[plain]
        raise ax.unknown("the workload", "axis", axis, [*self.rt, *self.ct])

    random = _state_arrays.random
    zeros = _state_arrays.zeros
    empty = _state_arrays.empty
    array = _state_arrays.array
    verify = _state_outputs.verify
    renew = _state_outputs.renew
    wrong = _state_outputs.wrong

    # ---- what is measured -----------------------------------------------------------------------
    @named
    def reads(self, *arrays: cubc.Array) -> None:
        """Declare the arrays that the work has to read; the throughput counts them and `writes`.

        Raises
        ------
        ValueError
            If one is no array of this state.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> x, y = state.random(), state.empty()
        >>> state.reads(x), state.writes(y)
        (None, None)
        """
        self._read += map(self._known, arrays)

    @named
    def writes(self, *arrays: cubc.Array) -> None:
        """Declare the arrays that the work writes.

        They get their first contents again before a variant is verified. A variant is right if it
        leaves in them what base leaves, or what `verify` expects.

        Raises
        ------
        ValueError
            If one is no array of this state.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> y = state.empty()
        >>> state.writes(y)
        """
        self._written += map(self._known, arrays)

    @named
    def flops(self, operations: float) -> None:
        """Declare the floating-point operations of the work, which `Analysis.plot_roofline` needs.

        Parameters
        ----------
        operations
            How many the result takes, whatever a variant does: a number of 0 or more.

        Raises
        ------
        TypeError
            If it is no number.
        ValueError
            If it is negative or not finite.

        Examples
        --------
        >>> state.flops(2 * x.size)  # of ``y += a * x``  # doctest: +SKIP
        """
        if isinstance(operations, bool) or not isinstance(operations, numbers.Real):
            raise TypeError(f"flops takes a number of operations, not {operations!r:.60}")
        if not 0 <= operations < math.inf:
            raise ValueError(f"flops takes a number of operations from 0 on, not {operations:g}")
        self.operations = float(operations)

    @named
    def exec(self, work: Callable[[Launch], Any]) -> None:
        """Give the work: a function of a `Launch`, which launches one kernel or several.

        Raises
        ------
        TypeError
            If it is no function.
        ValueError
            If it is the second.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> x = state.random()
        >>> state.exec(lambda launch: launch.kernel("twice", x, x.size))
        """
        if self.work is not None:
            raise ValueError("exec was called twice: launch all kernels in one function")
        if not callable(work):
            raise TypeError(f"exec takes a function of the launch, not {work!r:.60}")
        self.work = work

    @named
    def metric(self, name: str, measure: Callable[[dict[str, Any]], Any]) -> None:
        """Declare a number that is measured of each variant, beside its time.

        It is stored, is a column of ``to_frame()`` and may be in an objective of a search:
        ``"error"`` looks for the least one, ``"1 / quality"`` for the greatest, and ``("time",
        "error")`` for the least of both. An objective has to be positive: of a metric that may be 0
        take ``"error + 1e-9"``.

        Parameters
        ----------
        name
            Letters, digits and underscores.
        measure
            Function of a dict, the variant's values by label. It is called when a variant has been
            verified and timed, and the outputs are those of its last launch; and gives a number.

        Raises
        ------
        TypeError
            If `measure` is no function, or `name` no text.
        ValueError
            If the name is taken, or there are more than 16.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> y = state.random()
        >>> state.metric("error", lambda values: float(abs(y.numpy() - 0.5).max()))
        """
        if not callable(measure):
            raise TypeError(f"metric takes a function of the variant's values, not {measure!r:.60}")
        mt.check_name(name, (*FIGURES, *self._metrics))
        if len(self._metrics) == mt.MOST:
            raise ValueError(f"a benchmark has up to {mt.MOST} metrics")
        self._metrics[name] = measure

    @named
    def skip(self, reason: str) -> NoReturn:
        """Leave this run-time workload out. Has to come before the first array is made.

        Parameters
        ----------
        reason
            Text that says why. The error has it if all workloads are left out.

        Raises
        ------
        ValueError
            If an array has been made.

        Examples
        --------
        >>> if state["Elements"] < 1 << 10:  # doctest: +SKIP
        ...     state.skip("too small for a block")
        """
        if self._kept:
            raise ValueError("skip has to be called before the first array is made")
        raise Skipped(str(reason))

    def _known(self, array: cubc.Array) -> cubc.Array:
        if not any(kept.array is array for kept in self._kept):
            raise ValueError(f"{array!r:.60} is no array that this state made")
        return array

    # ---- for the measuring process --------------------------------------------------------------
    @property
    def bytes(self) -> int:
        """Bytes that have to be read and written."""
        return sum(array.nbytes for array in [*self._read, *self._written])

    @property
    def outputs(self) -> list[cubc.Array]:
        """Arrays that the work writes, each once."""
        several = [*self._written, *(check[0] for check in self.checks)]
        return [a for i, a in enumerate(several) if not any(a is b for b in several[:i])]

    def record(self, program: _core.Program, kernels: list[str], values: Mapping[str, Any]) -> None:
        """Have the work's launches recorded in a program, as the measuring process does.

        Parameters
        ----------
        program
            Compiled source.
        kernels
            Names of its kernels.
        values
            Values of the variant by label.

        Raises
        ------
        ValueError
            If `exec` was not called, or its function launches nothing.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> state.record(None, [], {})
        Traceback (most recent call last):
        ValueError: the benchmark did not call state.exec(...)
        """
        if self.work is None:
            raise ValueError("the benchmark did not call state.exec(...)")
        self.work(Launch(program, kernels, values, self.rt.get("Elements", 0)))
        if not program.info:
            raise ValueError("the function given to state.exec(...) launched nothing")

    def metrics(self, values: Mapping[str, Any]) -> dict[str, float]:
        """Metrics of the variant that was launched last, by name.

        Raises
        ------
        TypeError, ValueError
            If a function that `metric` was given gives no finite number.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> state.metric("threads", lambda values: values["tpb"])
        >>> state.metrics({"tpb": 64})
        {'threads': 64.0}
        """
        found = ((name, measure(dict(values))) for name, measure in self._metrics.items())
        return {name: mt.number(name, value) for name, value in found}

    @property
    def unverified(self) -> list[cubc.Array]:
        """Outputs without expected contents."""
        return [a for a in self.outputs if not any(a is check[0] for check in self.checks)]
