"""Argument of a benchmark's function: the workload, its arrays, and what is to be measured.

The function runs once for each run-time workload, in the measuring process. The function that it
passes to `exec` runs once for each variant and records launches; measuring repeats these without
Python.
"""

from __future__ import annotations

import copy
import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

import cubc
from cubc import _core
from cubc._calls import named
from cubc._kernel import Extent

from . import _axes as ax
from . import _inputs as inputs
from . import _metrics as mt
from ._checks import tolerance
from ._difference import difference
from ._launch import Launch
from ._objective import FIGURES

DTYPES = {
    "I8": "int8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "F16": "float16",
    "BF16": "bfloat16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "C128": "complex128",
    "BOOL": "bool",
}
SEED = 42


class Skipped(Exception):
    """A run-time workload that the benchmark does not want to be measured."""


@dataclass
class Kept:
    """An array of the state, and the function that fills it before the work."""

    array: cubc.Array
    fill: Callable[[], Any]


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

    # ---- arrays ---------------------------------------------------------------------------------
    @named
    def random(
        self,
        shape: Extent | None = None,
        dtype: Any = None,
        *,
        low: float | None = None,
        high: float | None = None,
        entropy: float = 1.0,
        distribution: str = "uniform",
    ) -> cubc.Array:
        """Make an array of random numbers, which are the same whenever and wherever it is made.

        Parameters
        ----------
        shape
            By default the value of the axis ``Elements``.
        dtype
            A dtype or a name such as ``"F32"``; by default the type on the axis ``T``.
        low, high
            Bounds; of integers the upper one is included. By default 0 and 1 for floats, and all
            bits at random for integers. They are those of both parts of a complex number, and of
            each field of a struct.
        entropy
            Entropy of each random bit: 1.000, 0.811, 0.544, 0.337, 0.201 (it is the conjunction of
            1 to 5 draws, as in CUB's benchmarks) or 0.
        distribution
            ``"uniform"`` or ``"normal"``, of mean 0 and deviation 1.

        Raises
        ------
        LookupError
            If the workload has no axis that a default is taken from.
        ValueError
            If there is no such distribution or entropy, or `low` is above `high`, or one of them is
            no number of the type.
        TypeError
            If the type is none of cubc's, or a bound is no number.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> x = state.random(low=1, high=2)
        >>> x.shape, x.dtype, bool(cubc.all(x >= 1))
        ((16,), dtype('float32'), True)
        """
        entropy = inputs.check(low, high, entropy, distribution)
        seed = SEED + 2 * len(self._kept)
        draw = partial(
            inputs.draw, seed=seed, low=low, high=high, entropy=entropy, distribution=distribution
        )
        return self._keep(shape, dtype, draw)

    @named
    def zeros(self, shape: Extent | None = None, dtype: Any = None) -> cubc.Array:
        """Make an array of zeros; `random` has the defaults.

        Raises
        ------
        LookupError
            If the workload has no axis that a default is taken from.
        TypeError
            If the type is none of cubc's.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> state.zeros((2, 3), "I32").tolist()
        [[0, 0, 0], [0, 0, 0]]
        """
        return self._keep(shape, dtype, partial(_fill, byte=0))

    @named
    def empty(self, shape: Extent | None = None, dtype: Any = None) -> cubc.Array:
        """Make an array to be written; items that a variant does not write are wrong.

        Raises
        ------
        LookupError
            If the workload has no axis that a default is taken from.
        TypeError
            If the type is none of cubc's.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> state.empty().size
        16
        """
        return self._keep(shape, dtype, _poison)

    @named
    def array(self, values: Any, dtype: Any = None) -> cubc.Array:
        """Put an array of the host on the device.

        Raises
        ------
        TypeError
            If the values are no numbers, or the type is none of cubc's.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> state.array([1, 2], "F64")
        cubc.Array([1. 2.], dtype=float64, device='cpu')
        """
        given = np.ascontiguousarray(values, dtype if dtype is None else _dtype(dtype))
        host = given.copy()  # the caller may change its own

        def fill(out: cubc.Array) -> None:
            cubc.transform("x", x=cubc.asarray(host, device=self.device), out=out)

        return self._keep(host.shape, host.dtype, fill)

    def _keep(self, shape: Any, dtype: Any, fill: Callable[[cubc.Array], Any]) -> cubc.Array:
        if shape is None:
            shape = self["Elements"]
        out = cubc.empty(shape, _dtype(self["T"] if dtype is None else dtype), device=self.device)
        fill(out)
        self._kept.append(Kept(out, partial(fill, out)))
        return out

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
    def verify(
        self, output: cubc.Array, expected: Any, *, rtol: float | None = None, atol: float = 0.0
    ) -> None:
        """Declare the right contents of an output.

        Parameters
        ----------
        output
            An array that the work writes.
        expected
            The right contents; or a function of the output, a NumPy array, that gives the right
            contents or whether they are right.
        rtol, atol
            An item of a number may be off by ``atol + rtol * abs(expected)``. By default rtol is 0
            for integers, 0.05 for bfloat16, 0.01 for float16, 1e-5 for float32 and complex64, and
            1e-12 for float64 and complex128. NaN is right where NaN is expected. What is expected
            is rounded to the type of an output of floats. Of a struct each field is compared so.

        Raises
        ------
        TypeError
            If `rtol` or `atol` is no number.
        ValueError
            If `output` is no array of this state, or `rtol` or `atol` is negative.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 16}, "cpu")
        >>> y = state.zeros()
        >>> state.verify(y, np.full(16, 2, "f4"), rtol=1e-6)
        """
        relative = None if rtol is None else tolerance("rtol", rtol)
        right = expected if callable(expected) else copy.deepcopy(expected)
        self.checks.append((self._known(output), right, relative, tolerance("atol", atol)))

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

    def renew(self) -> None:
        """Give the outputs their first contents.

        Raises
        ------
        DeviceError, KernelFault
            If a variant has left the device unusable.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 2}, "cpu")
        >>> y = state.array([1, 2])
        >>> state.writes(y)
        >>> y[:] = 0
        >>> state.renew()
        >>> y.tolist()
        [1, 2]
        """
        for kept in self._kept:
            if any(kept.array is output for output in self.outputs):
                kept.fill()

    def wrong(self, base: Mapping[int, cubc.Array]) -> str:
        """Describe what is wrong with the outputs; "" if nothing is.

        Outputs without expected contents are compared with those of base, which are given by the
        ``id`` of the output.

        Raises
        ------
        TypeError, ValueError
            If contents that `verify` was given cannot be those of an array.

        Examples
        --------
        >>> state = tuner.State({"T": "F32"}, {"Elements": 2}, "cpu")
        >>> y = state.array([1, 2])
        >>> state.verify(y, [1, 3])
        >>> state.wrong({})
        'output 1: 1 of 2 items differ, the first at [1]: 2, not 3'
        """
        for output, expected, rtol, atol in self.checks:
            right = expected(output.numpy()) if callable(expected) else expected
            if isinstance(right, bool | np.bool_):
                message = "" if right else "the benchmark's function says that it is not right"
            else:
                message = difference(output, right, rtol, atol)
            if message:
                return f"output {self._place(output)}: {message}"
        for output in self.unverified:
            if id(output) in base and (message := difference(output, base[id(output)], None, 0.0)):
                return f"output {self._place(output)}: {message} (of base)"
        return ""

    @property
    def unverified(self) -> list[cubc.Array]:
        """Outputs without expected contents."""
        return [a for a in self.outputs if not any(a is check[0] for check in self.checks)]

    def _place(self, output: cubc.Array) -> int:
        return next(i for i, a in enumerate(self.outputs, 1) if a is output)


def _dtype(dtype: Any) -> Any:
    return DTYPES.get(dtype, dtype) if isinstance(dtype, str) else dtype


def _fill(out: cubc.Array, byte: int) -> None:
    out[...] = np.full(out.dtype.itemsize, byte, np.uint8).view(out.dtype)[0]


def _poison(out: cubc.Array) -> None:
    """Fill an array with NaN where there is one, and else with a number that is seldom right."""
    if out.dtype.kind in "fc" or out.dtype.name == "bfloat16":
        out[...] = math.nan
    else:
        _fill(out, 0xA5)
