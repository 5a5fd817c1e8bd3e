"""Measurers, which take requests to measure variants: what a search asks of each kind of them.

`Local` is a device of this machine, `Lane` the devices of an executor, `Replay` a table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from ._racing import Race
    from ._workload import CompileTimeWorkload


class Late(Exception):
    """The time to wait for a result is over."""


class Gone(Late):
    """No device answers any more that the result could come from."""


class Run(NamedTuple):
    """A round, and the place of a run-time workload among `CompileTimeWorkload.rts`.

    From round 1 on variant and base are opened afresh, and nothing is verified before the samples.
    """

    round: int
    place: int


Results = Iterator[tuple[Run, dict[str, Any]]]  # with fields of a store's row


class Request(NamedTuple):
    """A variant to verify and measure."""

    variant: str  # a label or "base"
    runs: list[Run]  # in order
    timing: dict[str, Any]  # options of Workload.measure
    race: Race | None = None  # scores that it has to beat
    limits: tuple[str, ...] = ()  # constraints on what the compiler made of it
    checks: int = 1  # launches that are compared after the samples
    until: float | None = None  # moment of the monotonic clock at which it is given up
    meter: float = 0.0  # seconds of runs that follow each other, for their power; 0: none
    not_on: tuple[str, ...] = ()  # devices, by uuid, that are not to do it


class Measurer(Protocol):
    """Takes the requests of one search and gives their results.

    Attributes
    ----------
    info : mapping
        The device, as of ``cubc.device_info``; one of several.
    several : bool
        True if several devices of this model measure. Then the fields of a result have the info of
        the one that measured as ``device``; and results of base, whose fields have ``variant``, may
        come with any request.
    """

    info: Mapping[str, Any]
    several: bool

    @property
    def answered(self) -> int:
        """Number of requests whose results are all here: `next` gives them at once."""

    @property
    def is_ready(self) -> bool:
        """True if `next` need not wait for others, who have something to do meanwhile."""

    @property
    def others(self) -> Collection[Mapping[str, Any]]:
        """Infos of all devices of this model that have measured by now, if several may."""

    def begin(self, workload: CompileTimeWorkload, base: Request) -> Results:
        """Drop what was asked for before, set up a compile-time workload, and measure base.

        Raises
        ------
        BaseFailed
            While its results are read, if base does not run.
        Late
            Here or while the results are read, past the moment at which base is given up.
        """

    def wants(self) -> bool:
        """True if another request should be submitted before the next results are read."""

    def submit(self, request: Request) -> None:
        """Ask for a variant; does not wait for anything."""

    def next(self, until: float | None = None) -> tuple[Request, Results]:
        """Give the request that is done next, and its results as they come, up to a failure.

        Raises
        ------
        Late
            Here or while the results are read, past the moment `until` of the monotonic clock.
        """

    def drop(self) -> None:
        """Forget the requests whose results were not asked for yet."""

    def end(self) -> None:
        """Take note that the search is over."""


class Source(Protocol):
    """All that measures in a search: gives each search of a workload its measurer."""

    info: Mapping[str, Any]

    @property
    def models(self) -> Sequence[Mapping[str, Any]]:
        """A device of each model that is known by now, the first one's first."""

    @property
    def compiling(self) -> int:
        """Number of variants that are being compiled, or wait for that. Any thread may ask."""

    def at_once(self, info: Mapping[str, Any]) -> int:
        """Number of compile-time workloads that a model's devices take at a time."""

    def measurer(self, info: Mapping[str, Any]) -> Measurer:
        """Measurer of one search on devices of a model."""

    def wait(self, until: float | None) -> None:
        """Wait until a measurer is ready, or for a while; not past the moment `until`."""

    def close(self) -> None:
        """End all that was started."""


class OneDevice:
    """Base of a source that is a single device, and the measurer of one search after another."""

    several = False
    answered = 0
    is_ready = True
    others: tuple[Mapping[str, Any], ...] = ()

    def __init__(self, info: Mapping[str, Any]):
        self.info = info

    @property
    def models(self) -> Sequence[Mapping[str, Any]]:
        """The device."""
        return [self.info]

    @property
    def compiling(self) -> int:
        """Nothing is compiled."""
        return 0

    def at_once(self, info: Mapping[str, Any]) -> int:
        """One."""
        return 1

    def measurer(self, info: Mapping[str, Any]) -> Any:
        """Return itself: it takes one search at a time."""
        return self

    def wait(self, until: float | None) -> None:
        """Nobody has anything else to do."""

    def end(self) -> None:
        """The search has dropped all, and the next one uses the rest."""
