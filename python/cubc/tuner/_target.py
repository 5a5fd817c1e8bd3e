"""Interface of the targets that measure variants: a device of this machine, others, a replay."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from ._racing import Race
    from ._workload import CompileTimeWorkload


class Late(Exception):
    """The time to wait for a result is over."""


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


class Target(Protocol):
    """Takes requests and gives their results.

    Attributes
    ----------
    info : mapping
        The device, as of ``cubc.device_info``.
    several : bool
        True if several devices measure. Then the fields of a result have the info of the one that
        measured as ``device``; and results of base, whose fields have ``variant``, may come with
        any request.
    """

    info: Mapping[str, Any]
    several: bool

    @property
    def answered(self) -> int:
        """Number of requests whose results are all here: `next` gives them at once."""

    @property
    def compiling(self) -> int:
        """Number of variants that are being compiled, or wait for that. Any thread may ask."""

    @property
    def others(self) -> Collection[Mapping[str, Any]]:
        """Infos of other devices that have measured by now."""

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

    def close(self) -> None:
        """End all that was started."""
