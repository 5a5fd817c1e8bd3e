"""A user's own kernels as a benchmark: a source, axes, and a function that sets up a workload."""

from __future__ import annotations

import copy
import hashlib
import inspect
import operator
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from cubc import _core
from cubc._extras import need

from . import _axes as ax
from ._constraints import Constraint, check_names, parse
from ._identity import identity
from ._source import Source
from ._space import Space, Value, named, parse_label
from ._state import Skipped, State
from ._user_benchmark import PickledWorkload
from ._workload import Compilation, CompileTimeWorkload

Function = Callable[[State], Any]


class SourceSpace(Space):
    """The parameter space that a source declares.

    All combinations of its ranges that fulfil the constraints are variants. Those that cannot work
    fail to compile or to launch.
    """

    def __init__(self, source: Source, arch: str, constraints: Iterable[Constraint]):
        self._declare(source.parameters(arch), constraints)

    def valid(self, label: str) -> bool:
        """True if a variant is declared and fulfils the constraints."""
        values = parse_label(label)
        known = values.keys() == self.ranges.keys()
        inside = known and all(values[name] in self.ranges[name] for name in values)
        return inside and all(holds(values) for holds in self._constraints)


class Benchmark:
    """Benchmark that `benchmark` makes of a function. Calling it calls the function.

    Attributes
    ----------
    name : str
        ``file.function``, as a store has it.
    source : Source
        Text that is compiled.
    axes : tuple of Axis
        Those declared.
    given_base : dict of str to int or str
        Values of base that were given.

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
    >>> twice.name, twice.base("cpu")
    ('twice.twice', 'tpb_32')
    """

    def __init__(
        self,
        function: Function,
        source: str | os.PathLike,
        axes: Mapping[str, Any] | None,
        base: Mapping[str, Value] | None,
        constraints: str | Iterable[str],
    ):
        if not inspect.isfunction(function):
            raise TypeError(f"a benchmark is made of a function, as of def, not {function!r:.80}")
        if not re.fullmatch(r"[A-Za-z_]\w*", function.__name__, re.ASCII):
            raise ValueError(
                f"a benchmark is stored under its function's name, and {function.__name__!r} is no "
                "name: define the function with def and ASCII letters"
            )
        self.function: Function = function
        self._functions: list[Function] = [function]
        self.source = Source(_located(source, function), function.__name__)
        self.name = f"{self.source.name}.{function.__name__}"
        self.axes = _declared(self.name, {} if axes is None else axes)
        self.source.check_macros(self.axes)
        if base is not None and not isinstance(base, Mapping):
            raise TypeError(f"base is {base!r:.80}, must be a dict, as {{'tpb': 128}}")
        self.given_base = dict(base or {})
        self.constraints = parse(constraints)
        ranges = SourceSpace(self.source, "cpu", ()).ranges
        check_names(self.name, self.constraints, ranges)
        for label in self.given_base.keys() - ranges.keys():
            raise ax.unknown(self.name, "parameter", label, ranges)
        self.given_base = {
            name: self._value(name, value) for name, value in self.given_base.items()
        }

    def _value(self, label: str, value: Any) -> Value:
        """A given value of base as an int or a name; a range looks up other types item by item."""
        spaces = [SourceSpace(self.source, arch, ()) for arch in ("cpu", "sm_90")]
        if isinstance(value, str) and any(named(space.ranges[label]) for space in spaces):
            return value
        try:
            return operator.index(value)
        except TypeError:
            raise TypeError(
                f"{self.name}: base has {label}={value!r:.80}, must be a whole number"
            ) from None

    def __call__(self, state: State) -> Any:
        """Call the function."""
        return self.function(state)

    def __repr__(self) -> str:
        return f"<benchmark {self.name}>"

    @property
    def _identity(self) -> str:
        """Text of the function and of the values that it uses now, for the hash of measurements."""
        return "".join(map(identity, self._functions))

    def __reduce__(self) -> tuple:
        # The function's name is this benchmark's by now, so that no pickle can go by it.
        return _unpickled, (need("cloudpickle").dumps(self.__dict__),)

    def base(self, arch: str) -> str:
        """Label of base: the first value of each parameter for which none was given.

        Raises
        ------
        ValueError
            If a value of base that was given is not declared for the architecture.

        Examples
        --------
        >>> source = '''
        ... // %RANGE% THREADS tpb 32:128:32
        ... __global__ void twice(float* x) {}'''
        >>> @tuner.benchmark(source, {"Elements": [10]}, base={"tpb": 64})
        ... def twice(state):
        ...     state.exec(lambda launch: launch.kernel("twice", state.random(dtype="F32")))
        >>> twice.base("cpu")
        'tpb_64'
        """
        parts = []
        for label, values in SourceSpace(self.source, arch, ()).ranges.items():
            value = self.given_base.get(label, values[0])
            if value not in values:
                known = ",".join(map(str, values))
                if isinstance(values, range):
                    known = f"{values[0]}:{values[-1]}:{values.step}"
                raise ValueError(f"{self.name}: base has {label}={value}, declared is {known}")
            parts.append(f"{label}_{value}")
        return ".".join(parts)

    def workloads(
        self, axes: Mapping[str, Any] | None, arch: str, constraints: tuple[Constraint, ...]
    ) -> list[CompileTimeWorkload]:
        """Compile-time workloads that are wanted, for a search.

        Parameters
        ----------
        axes
            Axis name to one declared value or several, as in `search`; all by default.
        arch
            Architecture that variants are compiled for, as ``"sm_90"`` or ``"cpu"``.
        constraints
            Conditions on variants, beside those of the benchmark.

        Returns
        -------
        list of object
            Compile-time workloads: `ct` by axis name, and `rts`, those at run time not skipped.

        Raises
        ------
        LookupError
            If an axis or a parameter is unknown.
        ValueError
            If a value is none of the axis, or the function skips all workloads.

        Examples
        --------
        >>> source = '''
        ... // %RANGE% THREADS tpb 32:128:32
        ... __global__ void twice(float* x) {}'''
        >>> @tuner.benchmark(source, {"T{ct}": ["F32", "F64"], "Elements": [10, 20]})
        ... def twice(state):
        ...     state.exec(lambda launch: launch.kernel("twice", state.random()))
        >>> [one] = twice.workloads({"T": "F64"}, "cpu", ())
        >>> one.ct, one.rts
        ({'T{ct}': 'F64'}, [{'Elements': 10}, {'Elements': 20}])
        """
        chosen = ax.choose(self.name, self.axes, ax.given(axes))
        limits = (*self.constraints, *constraints)
        check_names(self.name, limits, SourceSpace(self.source, arch, ()).ranges)
        at_run = tuple(axis for axis in self.axes if not axis.compile_time)
        cts = ax.combinations([axis for axis in self.axes if axis.compile_time], chosen)
        every = ax.combinations(at_run, chosen)
        found: list[CompileTimeWorkload] = []
        for ct in cts:
            skips = [self._skips(ct, rt) for rt in every]
            rts = [rt for rt, reason in zip(every, skips, strict=True) if not reason]
            if rts:
                found.append(
                    UserCompileTimeWorkload(self.name, at_run, ct, rts, arch, limits, self)
                )
        if not found:
            raise ValueError(f"{self.name} skips all workloads: {skips[0]}")
        return found

    def _skips(self, ct: Mapping[str, str], rt: Mapping[str, int]) -> str:
        """Reason why the function skips a workload, told before it makes an array; else ""."""
        try:
            self.function(_Probe(ct, rt, ""))
        except Skipped as skipped:
            return str(skipped) or "no reason is given"
        except Exception:
            pass
        return ""


class _Probe(State):
    """A state that goes no further than to the first array."""

    def _keep(self, *_: Any) -> Any:
        raise RuntimeError


class _Either:
    """Function of several benchmarks in one: which of them is on the axis ``Benchmark``."""

    def __init__(self, several: Sequence[Benchmark]):
        self._several = list(several)

    def __call__(self, state: State) -> Any:
        one = self._several[state.rt["Benchmark"]]
        for axis in one.axes:
            if not axis.compile_time and state.exponents[axis.plain] not in axis.values:
                state.skip(f"{one.name} does not declare it")
        return one(state)


def joined(several: Sequence[Benchmark]) -> Benchmark:
    """Make benchmarks of one source into one, whose variants are scored over all of them.

    Raises
    ------
    TypeError
        If one is no benchmark of a user's own kernels.
    ValueError
        If they do not share the source, base, constraints, and names of axes.
    """
    if (
        not isinstance(several, Sequence)
        or not several
        or not all(isinstance(one, Benchmark) for one in several)
    ):
        raise TypeError(f"{several!r:.80}: only benchmarks made by tuner.benchmark can be joined")
    first = several[0]
    found = copy.copy(first)
    for other in several[1:]:
        for what, mine, theirs in zip(SHARED, _shared(first), _shared(other), strict=True):
            if mine != theirs:
                raise ValueError(
                    f"{first.name} and {other.name} differ in their {what}, so they cannot be "
                    "searched together: search one after the other"
                )
    found.function = _Either(several)
    found._functions = [one.function for one in several]
    found.name = f"{first.source.name}.{'_'.join(one.name.rpartition('.')[2] for one in several)}"
    which = ax.Axis("Benchmark", tuple(range(len(several))))
    found.axes = (
        which,
        *(_union([one.axes[k] for one in several]) for k in range(len(first.axes))),
    )
    return found


SHARED = ("source", "base", "constraints", "axes")


def _shared(one: Benchmark) -> tuple:
    axes = [(axis.name, axis.values if axis.compile_time else ()) for axis in one.axes]
    return one.source.given, one.given_base, [c.text for c in one.constraints], axes


def _union(axes: Sequence[ax.Axis]) -> ax.Axis:
    if axes[0].compile_time:
        return axes[0]
    return ax.Axis(axes[0].name, tuple(sorted({value for axis in axes for value in axis.values})))


def _unpickled(state: bytes) -> Benchmark:
    found = Benchmark.__new__(Benchmark)
    found.__dict__.update(need("cloudpickle").loads(state))
    return found


def _located(source: str | os.PathLike, function: Function) -> str | os.PathLike:
    """Path of a source; one that is relative is looked for beside the function's file first."""
    if isinstance(source, str) and "\n" in source:
        return source
    try:
        beside = Path(inspect.getfile(function)).parent / source
    except TypeError:
        return source
    return beside if beside.exists() else source


def _declared(owner: str, axes: Mapping[str, Any]) -> tuple[ax.Axis, ...]:
    """Axes that a benchmark declares; ValueError if a value can stand for no workload."""
    found: list[ax.Axis] = []
    for name, given in ax.given(axes).items():
        several = _several(given)
        values = tuple(map(str, several)) if "{ct}" in name else tuple(several)
        axis = ax.Axis(name, values)
        if wrong := sorted(ax.split_name(name)[1].difference(ax.FLAGS)):
            raise ValueError(
                f"{owner}: axis {name} has a flag {wrong[0]}; one is {', '.join(ax.FLAGS)}"
            )
        if any(one.plain == axis.plain and one.compile_time == axis.compile_time for one in found):
            raise ValueError(f"{owner}: axis {axis.plain} is declared twice")
        if not axis.compile_time and not all(map(ax.is_int64, values)):
            raise ValueError(
                f"{owner}: the values of axis {name} must be integers of 64 bits, not {given!r:.80}"
            )
        if not 1 <= len(set(values)) == len(values) <= ax.MOST_VALUES:
            raise ValueError(f"{owner}: axis {name} needs values, each once")
        if "[pow2]" in name and any(int(value) < 0 for value in values):
            raise ValueError(f"{owner}: axis {name} has exponents of two, of 0 and more")
        for value in values if axis.compile_time else ():
            ax.parse_workload(ax.workload_text({name: value}))
        found.append(axis)
    return tuple(found)


def _several(given: Any) -> Sequence[Any]:
    """Values of an axis in their order, those of NumPy as Python's."""
    if isinstance(given, np.ndarray | np.generic):
        given = given.tolist()
    if not isinstance(given, Sequence) or isinstance(given, str):
        return [given]
    return [value.item() if isinstance(value, np.generic) else value for value in given]


@dataclass(frozen=True)
class UserCompileTimeWorkload(CompileTimeWorkload):
    """A user's benchmark at one compile-time workload."""

    user_benchmark: Benchmark = None  # type: ignore[assignment] # required; a field before it has a default

    @cached_property
    def space(self) -> Space:
        """The parameter space."""
        return SourceSpace(self.user_benchmark.source, self.arch, self.constraints)

    @cached_property
    def base(self) -> str:
        """Label of base."""
        return self.user_benchmark.base(self.arch)

    @property
    def bases(self) -> list[str]:  # type: ignore[override]
        """Label of base at each of `rts`, the same at all."""
        return [self.base] * len(self.rts)

    @property
    def shipped(self) -> list[str]:  # type: ignore[override]
        """Nothing is shipped for it."""
        return []

    @cached_property
    def source_hash(self) -> str:
        """Hash of the source with this workload, and of the function, which says what is right."""
        complete = self.user_benchmark.source.complete(self.arch, self.ct)
        digest = hashlib.sha256(complete.encode())
        digest.update(self.user_benchmark._identity.encode())
        return digest.hexdigest()

    def text(self, variant: str) -> str:
        """Program that is compiled for a variant."""
        return self.user_benchmark.source.complete(self.arch, self.ct, self._label(variant))

    def threads(self, variant: str) -> int:
        """Threads of a block, where the source is compiled for them; else 0."""
        if not self.user_benchmark.source.collective:
            return 0
        return int(parse_label(self._label(variant))["tpb"])

    def _label(self, variant: str) -> str:
        return self.base if variant == "base" else variant

    def _compilations(self, variant: str) -> Iterator[Compilation]:
        """The single compilation of a variant: its code is the same at all run-time workloads."""
        title = f"{self.benchmark} {variant}"
        yield partial(_core.source_compile, self.text(variant), self.arch, title)

    @property
    def opening(self) -> tuple:
        """Arguments that the measuring process is sent to open it."""
        _ = self.source_hash  # is kept from here on: a pickled function has other globals
        return PickledWorkload(list(sys.path), need("cloudpickle").dumps(self)), self.ct, self.rts


def benchmark(
    source: str | os.PathLike,
    axes: Mapping[str, Any] | None = None,
    *,
    base: Mapping[str, Value] | None = None,
    constraints: str | Iterable[str] = (),
) -> Callable[[Function], Benchmark]:
    """Make a function a benchmark of kernels of one's own.

    Parameters
    ----------
    source
        Path of a CUDA C file, looked for beside the function's own file and then in the current
        folder; or the source itself. Its comments declare the parameters, each with a label of
        letters and digits: ``// %RANGE% MACRO label start:end:step``, or with a list of numbers,
        ``32,64,256``, or of names, ``float,double``. In place of the macro an option of the
        compiler may stand, which is left out at 0: ``--maxrregcount= regs 0,32,64`` takes the
        value, ``--use_fast_math fast 0:1:1 cpu=0`` is there at 1. Behind the values ``cpu=`` and
        ``cuda=`` have others for one kind of device. Its ``__global__`` functions, which stand in
        the global namespace and are neither templates nor static, can be launched. Files included
        by quotes are read, others only by CUDA's own names. If cubc's collectives are among them,
        see `cubc.Kernel`, a block has as many threads as the parameter ``tpb`` says.
    axes
        Values by axis name, as ``{"T{ct}": ["F32", "F64"], "Elements{io}[pow2]": [16, 20]}``.
        Those of ``{ct}`` axes are macros of the source: of the axis above ``T`` and ``TUNE_T`` are
        ``float`` and then ``double``. Those of the others are integers.
    base
        Values by label of base, the variant that all others are compared with; the first value of a
        parameter that is left out.
    constraints
        As for `search`.

    Returns
    -------
    callable
        Decorator of a function of a `State`, which makes the arrays of a workload and says what is
        measured. It runs in the measuring process; and up to its first array in yours, to
        learn which workloads it skips. A store's measurements count for it while the source, the
        function's code and the values that it uses are the same. These are its defaults and what it
        finds in enclosing functions and in its module: numbers, texts, arrays, buffers, containers
        and dataclasses of these, and functions of the module, also cached or vectorized. Of other
        objects only the type counts.

    Raises
    ------
    FileNotFoundError
        If there is no source of this name.
    LookupError
        If base or a constraint names a parameter that the source does not declare.
    TypeError
        If what is decorated is no function, as a class or a partial function is none.
    ValueError
        If the source has no kernel or a malformed range; for axes that are malformed, or whose
        macro is that of a parameter or of another axis.

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
    >>> twice.base("cpu"), [axis.name for axis in twice.axes]
    ('tpb_32', ['Elements{io}[pow2]'])
    """
    return lambda function: Benchmark(function, source, axes, base, constraints)
