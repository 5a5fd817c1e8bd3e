"""`search`: checks the arguments, runs the searches of all workloads and makes the result.

The way of a call: `Search` chooses what measures (`_local`, `_pool` or `_replay_device`); `Course`
runs a `WorkloadSearch` for each compile-time workload; that asks its measurer for variants and
stores their results, from which `Result` is made.
"""

from __future__ import annotations

import os
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import Any

from cubc import _core
from cubc._calls import truth

from ._benchmark import Benchmark, joined
from ._checks import count, integer, positive, takes_arguments_of
from ._constraints import Constraint, parse
from ._course import Course
from ._executors import Executors
from ._goal import goal
from ._groups import Group
from ._local import local
from ._measurer import Source
from ._objective import objective as checked_objective
from ._pool import Pool
from ._recorded_calls import device_of, workloads
from ._recorded_calls import read as read_calls
from ._remote import model_of
from ._remote_bench import BaseFailed
from ._replay_device import Replay, is_replay, replay_info, replay_workloads
from ._result import Result
from ._session import Session
from ._stores import StorePaths, expand, read, store_path
from ._strategy import DEFAULT, STRATEGIES, Exhaustive, Factory, make, warmed
from ._timing import checked_timing
from ._warning import warn
from ._winners import warn_without_score
from ._workload import CompileTimeWorkload, compile_time_workloads
from ._workload_results import WorkloadResults
from ._workload_search import WorkloadSearch

CONFIRM = 5  # variants that are confirmed, unless said otherwise
DB = "cubc_meta_bench.db"  # the store, unless said otherwise


class Search:
    """A search that is checked and ready to run; `search` describes the parameters.

    Examples
    --------
    >>> search = tuner.Search("reduce.sum", axes={"T": ["F32"]})  # doctest: +SKIP
    >>> r = search.run()  # doctest: +SKIP
    """

    def __init__(
        self,
        benchmark: str | os.PathLike | Benchmark | list[Benchmark] | tuple[Benchmark, ...],
        axes: Mapping[str, Any] | None = None,
        *,
        db: str | os.PathLike | None = None,
        device: str | None = None,
        executor: Executors | None = None,
        compilers: Executors | None = None,
        strategy: str | Factory | Any = DEFAULT,
        variants: int | None = None,
        seconds: float | None = None,
        seed: int = 0,
        timing: Mapping[str, Any] | None = None,
        warm: StorePaths = (),
        constraints: str | Iterable[str] = (),
        racing: bool = True,
        confirm: int | None = None,
        again: int | None = None,
        target: float | str | None = None,
        patience: int | None = None,
        objective: str | Iterable[str] = "time",
        progress: bool | None = None,
    ):
        recording = _recording(benchmark)
        self.variants = None if variants is None else count("variants", variants)
        self.seconds = None if seconds is None else positive("seconds", seconds)
        self.seed = integer("seed", seed)
        self.racing = truth("racing", racing)
        self.progress = None if progress is None else truth("progress", progress)
        if confirm is not None and again is not None:
            raise ValueError("confirm and again are two names of one number: give confirm")
        given = confirm if again is None else again
        self.confirm = CONFIRM if given is None else count("confirm", given, least=0)
        self.goal = goal(target, patience)
        self.timing = checked_timing({} if timing is None else timing)
        self.strategy = make(strategy)
        self.db = store_path(db if db is not None else DB if recording is None else recording)
        self.warm = expand(warm) if warm else []
        limits = parse(constraints)
        may_have_metrics = not isinstance(benchmark, str | os.PathLike)
        self.objective = checked_objective(objective, None if may_have_metrics else ())
        one: Any = joined(benchmark) if isinstance(benchmark, list | tuple) else benchmark
        self._benchmark = one if isinstance(one, Benchmark) else None
        self._workloads_on = partial(_workloads_of, one, axes, limits)  # takes an architecture
        self.weights: list[float] = []  # of the workloads: their shares of the time
        self.workloads: Sequence[CompileTimeWorkload]
        self._source: Callable[[], Source]
        if recording is not None:
            if axes or executor is not None or compilers is not None or is_replay(device):
                raise ValueError(
                    f"{recording} is a recording: it is searched at its own shapes, on a device of "
                    "this machine; leave axes, executor, compilers and a replay out"
                )
            self._take_recording(recording, device, limits)
        elif is_replay(device):
            if executor is not None or compilers is not None or timing:
                raise ValueError(
                    f"{device} measures nothing: leave executor, compilers and timing out"
                )
            name = one.name if isinstance(one, Benchmark) else one
            self._take_replay(device, name, axes, limits)
        elif executor is not None:
            self._take_executor(executor, device, compilers)
        elif compilers is not None:  # a thread of this process sees to the device
            one_device = _core.device_info(device)["name"]
            self._take_executor(partial(ThreadPoolExecutor, 1), one_device, compilers)
        else:
            info = _core.device_info(device)
            self.workloads = self._workloads_on(info["arch"])
            self._source = partial(local, info)

    def _take_recording(
        self, recording: str, device: str | None, limits: tuple[Constraint, ...]
    ) -> None:
        calls = read_calls(recording)
        info = _core.device_info(device or device_of(calls))
        found = list(workloads(calls, info["arch"], limits))
        self.workloads, self.weights = [one for one, _ in found], [time for _, time in found]
        self._source = partial(local, info)

    def _take_replay(
        self,
        device: Any,
        benchmark: str,
        axes: Mapping[str, Any] | None,
        limits: tuple[Constraint, ...],
    ) -> None:
        info = replay_info(device)
        if os.path.exists(self.db) and os.path.samefile(self.db, info["path"]):
            raise ValueError(f"{self.db} is what is replayed: name another store, as db='x.db'")
        replayed = replay_workloads(device, benchmark, axes, limits)
        if self.goal.seconds and not all(one.in_seconds for one in replayed):
            raise ValueError(
                f"{info['path']} does not say the unit of its times: name their column time_s, "
                "time_ms, time_us or time_ns, or give a score as the target"
            )
        self.workloads = replayed
        self._source = partial(Replay, info)

    def _take_executor(
        self, executor: Executors, device: str | None, compilers: Executors | None
    ) -> None:
        pool = Pool(executor, device, compilers)
        unused = weakref.finalize(self, pool.close)  # a search may never be run
        try:
            self.workloads = self._workloads_on(pool.info["arch"])
        except BaseException:
            unused()
            raise
        self._source = lambda: pool if unused.detach() else Pool(executor, device, compilers)

    def run(self) -> Result:
        """Search all compile-time workloads: on several devices some of them at a time.

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, after what was measured is safe.
        BaseFailed
            If base runs for none of the workloads.
        StoreError
            If the store cannot be read or written.

        Examples
        --------
        >>> r = tuner.Search("reduce.sum", axes={"T": ["F32"]}, seconds=60).run()  # doctest: +SKIP
        """
        try:
            with (
                closing(self._source()) as source,
                Session(
                    self.db,
                    source,
                    self.timing,
                    racing=self.racing,
                    confirm=self.confirm,
                    goal=self.goal,
                    objective=self.objective,
                    progress=self.progress,
                ) as session,
            ):
                course = Course(session, source, partial(self._searches, session, source))
                course.run(self.seconds)
                for one in course.searches:
                    one.include_others()
        except KeyboardInterrupt:
            kept = f"{self.db} holds what was measured; the same search resumes there"
            print(f"cubc: stopped: {kept}", file=sys.stderr)
            raise
        return self._result(course, source.info)

    def _searches(
        self, session: Session, source: Source, info: Mapping[str, Any]
    ) -> list[tuple[WorkloadSearch, float]]:
        """Searches of all workloads on devices of a model, with their weights."""
        stored = read(self.db)
        others = [*read(self.warm), *stored] if self.warm else stored
        is_first = info is source.info
        workloads = self.workloads if is_first else self._workloads_on(info["arch"])
        searches = []
        for workload in workloads:
            measurer = source.measurer(info)
            results = WorkloadResults(
                workload, info, stored, several=measurer.several, objective=self.objective
            )
            # Constraints may leave a parameter no value, which strategies need not know of.
            factory = self.strategy if workload.space.size else Exhaustive
            known = scores_of_others(results.groups, others)
            # One of a user's and an exhaustive one have an order of their own.
            if factory in STRATEGIES.values() and factory is not Exhaustive:
                known += [{label: 0.0} for label in workload.shipped]
            factory = warmed(factory, known)
            strategy = factory(workload.space, self.seed)
            searches.append(
                WorkloadSearch(session, measurer, workload, strategy, results, self.variants)
            )
        return [*zip(searches, self.weights or [1.0] * len(searches), strict=True)]

    def _result(self, course: Course, first: Mapping[str, Any]) -> Result:
        def name(one: WorkloadSearch) -> str:
            info = one.measurer.info
            alike = model_of(info) == model_of(first)
            return str(one.workload) if alike else f"{one.workload} on {info['model']}"

        failed = {name(one): reason for one, reason in course.failed}
        for text, reason in failed.items():
            message = f"{text}: base does not run: {reason}"
            if len(failed) == len(course.searches):
                raise BaseFailed(message)
            warn(message)
        for one in course.searches:
            if one.is_empty:
                limits = ", ".join(repr(limit.text) for limit in one.workload.constraints)
                message = f"no variant of {one.workload} was found that fulfils {limits}"
                warn(message)
        found = [
            group.among(one.results.admits)
            for one in course.searches
            for group in one.results.groups
            if group.cells
        ]
        warn_without_score(found)
        ended = {name(one): one.ended for one in course.searches}
        return Result(found, failed, ended, self._benchmark)


def scores_of_others(mine: Sequence[Group], groups: Iterable[Group]) -> list[dict[str, float]]:
    """Scores of the same benchmark and workload in other groups, the most similar devices first.

    The same device model comes first, then the same architecture, then another of the same kind.
    """
    found, here, known = [], mine[0], [group.key for group in mine]
    for group in groups:
        same = (group.benchmark, group.ct, group.arch == "cpu")
        if group.key not in known and same == (here.benchmark, here.ct, here.arch == "cpu"):
            ranked = [(score, label) for score, label in group.ranked() if label != "base"]
            now = partial(_core.current_label, here.benchmark, here.arch)
            scores = {now(label): score for score, label in ranked}
            unlike = (group.device != here.device, group.arch != here.arch)
            found.append((unlike, scores))
    return [scores for _, scores in sorted(found, key=lambda item: item[0]) if scores]


def _workloads_of(
    benchmark: str | Benchmark,
    axes: Mapping[str, Any] | None,
    constraints: tuple[Constraint, ...],
    arch: str,
) -> list[CompileTimeWorkload]:
    if isinstance(benchmark, Benchmark):
        return benchmark.workloads(axes, arch, constraints)
    return compile_time_workloads(benchmark, axes, arch, constraints)


def _recording(benchmark: Any) -> str | None:
    """Path of the store that `benchmark` names, if it is not a benchmark."""
    if isinstance(benchmark, os.PathLike):
        return store_path(benchmark)
    return benchmark if isinstance(benchmark, str) and benchmark.endswith(".db") else None


@takes_arguments_of(Search)
def search(*arguments: Any, **options: Any) -> Result:
    """Search the parameter space of a benchmark for variants that are faster than base.

    Base is the variant that cubc ships for calls of this size. Each variant is compiled, verified
    against base and timed alternately with it, in a process of its own, at all run-time workloads
    unless it loses before. The best are measured again. All results are kept in the store, and none
    that it has is measured again; so the same call resumes an interrupted search.

    Parameters
    ----------
    benchmark
        Name such as ``"reduce.sum"``, a regular expression that names match from their start, or
        a benchmark of your own kernels, made by `benchmark`. A list of such benchmarks of one
        source is searched for the variant that is best for all of them together: which one it is
        becomes the axis ``Benchmark``, with the values 0, 1, ... The path of a store that `record`
        wrote, as ``"work.db"``, stands for the calls in it: each is searched at its own shape, most
        time first, with a part of `seconds` that goes by its share of the time. Shapes that round
        to the same powers of two are searched at the one that took most time; each lattice is
        searched by itself.
    axes
        Axis name (``"T{ct}"`` or ``"T"``) to one declared value or several. All declared values of
        the axes that are left out are searched.
    db
        Path of the store, made if it is not there; ``cubc_meta_bench.db``, or the recording, if
        None.
    device
        ``"cuda:0"``, ``"cpu"``; if None the default device, or that of a recording.
        ``"replay:table.csv"`` answers from a measured table or a store instead of measuring. A
        table has a column for each parameter, and one of times, named by their unit: ``time_ms``.
    executor
        Place where variants are measured, if not in this machine's one measuring process: a
        ``concurrent.futures.Executor`` (a process pool, Dask's ``client.get_executor(pure=False)``,
        mpi4py's) or one like it, or a callable that makes one, which is called again if a process
        of it dies. Each process takes a GPU of its own, unless `device` names one. Each variant is
        compared with base of the device that measured it. Each model is searched for itself, with
        all `variants`; where the first process measures on a GPU, one on the cpu measures nothing.
        A task that is not answered is given to another process once.
    compilers
        The same, of processes that compile variants for those that measure, as on hosts without a
        GPU; each compiles one at a time. What they do not compile in time, or with another version
        of cubc or another compiler, is compiled where it is measured, and a warning says why.
    strategy
        ``"model"`` learns from what was measured; ``"annealing"``, ``"genetic"``, ``"random"``,
        ``"exhaustive"``; a sampler of Optuna; or a callable of (space, seed) that makes a strategy.
    variants
        Number of variants to try at each compile-time workload, those in the store included; the
        whole space if None.
    seconds
        Wall time after which no further variant is begun, shared by the compile-time workloads.
        A variant that is not done a second later is given up, and measured when the search is
        resumed. Base of the first workload is measured in any case.
    seed
        Decides the order. The same seed gives the same order.
    timing
        Dict of options that say when a measurement has enough samples. ``stopping`` is "median"
        (its relative standard error is below max_noise) or a rule of NVBench's: "stdrel"
        (max_noise, min_time in seconds), "entropy" (max_angle in degrees, min_r2) or "count"
        (samples). All rules keep to min_samples, max_samples and timeout in seconds; an option of
        another rule is refused. Samples at less than throttle_below (0 to 1) of the device's clock
        are taken again. Options that are left out have the device's defaults, or NVBench's.
    warm
        Stores or glob patterns whose best variants, of other devices or another version of the
        kernel, are tried early. Only the order changes: a warm search tries the variants of a cold
        one, and a few more. Measurements of other devices in `db` count as well. All strategies
        by name but "exhaustive" begin with the variants that cubc ships for other sizes, too.
    constraints
        Expressions that variants have to fulfil, as ``"tpb * ipt <= 4096"``. One over parameters is
        evaluated before compiling; one over a single parameter, as ``"tpb == 256"``, narrows the
        space itself. One over figures of the compiled variant is evaluated before running:
        registers, local_bytes (spills and stack of a thread), shared_bytes (of a block), threads,
        blocks_per_sm (resident on a multiprocessor), occupancy (0 to 1); a variant that fails it
        has the status ``"pruned"``. Variants in `db` that break constraints are not in the result.
        A store lacks threads and occupancy, and is not asked for them.
    racing
        Give a variant up as soon as it cannot come near the best any more; its status is then
        ``"lost"``. False measures every variant at all workloads.
    confirm
        Number of the best variants that are measured again in the end, 5 if None, in rounds that
        open variant and base afresh, so that none wins by luck. Each gets a verdict, and only what
        is found ``"FASTER"`` becomes a policy: with 0 nothing does. A tenth of `seconds` is kept
        for it, and three tenths where power is measured. Where several devices of a model measure,
        a second one has to find it FASTER, too.
    again
        Older name of `confirm`.
    target
        End the search of a compile-time workload at a variant that is good enough: a score, as 1.3,
        or a time that no run-time workload exceeds, as ``"350us"``. It is confirmed like the best.
    patience
        End the search of a compile-time workload when this number of variants, one after another,
        have not been better than the best before.
    objective
        Figure that is to be small: ``"time"``; ``"energy"``, joules of a run by the meter of the
        GPU; or an expression over time, hot (seconds of runs that follow each other), power,
        energy, registers, local_bytes, shared_bytes and blocks_per_sm, as ``"energy * time"``.
        Two of these, as ``("time", "energy")``, count alike, and ``top()`` of the result shows
        which variants no other beats in both. Scores are base's figure over the variant's.
        A benchmark of your own may measure more, see `State.metric`. The best are confirmed by the
        objective, and found ``"BETTER"`` or ``"WORSE"``; ``policies()`` of the result has those
        that are better, while `cubc.use_policies` goes by time.
    progress
        Show a line of progress; None shows it in terminals and notebooks.

    Returns
    -------
    Result
        With ``best()``, ``scores()``, ``to_frame()``, ``top()`` and ``coverage()``; and of a
        benchmark of your own ``kernel()``, the winner as a callable.

    Raises
    ------
    LookupError
        For an unknown benchmark, axis, strategy, option, parameter or figure, with the nearest
        name.
    TypeError
        For an argument of another type than the above.
    ValueError
        For an axis value that is not declared, with the declared ones; for a budget or an option of
        the timing that is not positive; for a target that is neither a score nor a time; for an
        expression that is no constraint; for an objective that the device does not tell, or that
        the store's measurements lack.
    FileNotFoundError
        If `warm` or a replay names no file.
    NoDeviceError
        If the device is not there. Nothing has been compiled or measured after any of these.
    BaseFailed
        If base runs for none of the workloads; the message has the compiler's log.
    StoreError
        If the store cannot be read or written, or no row of it can be used.
    KeyboardInterrupt
        On Ctrl-C; what was measured is in the store.

    Examples
    --------
    >>> r = tuner.search("reduce.sum", axes={"T": ["F32"]}, seconds=60)  # doctest: +SKIP
    >>> print(r.top(5))  # doctest: +SKIP
    """
    try:
        one = Search(*arguments, **options)
    except TypeError as error:  # Python names what it has called
        error.args = (str(error).replace("Search.__init__()", "search()"),)
        raise
    return one.run()
