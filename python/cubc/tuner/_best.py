"""The best variant of a group: a line in a terminal, a table in a notebook."""

from __future__ import annotations

from dataclasses import dataclass

from cubc._html import table

from ._verdict import Verdict


@dataclass(frozen=True, repr=False)
class Best:
    """The best complete variant of a benchmark and compile-time workload on a device.

    It prints as a line, and in a notebook as a table of its speedups.

    Attributes
    ----------
    benchmark, ct, arch, device
        Workload that it is best for; `ct` by full axis name.
    label : str
        The winner if there is one; else the variant of the best score, which may be ``"base"``.
    score : float
        CUB's score, 1.0 for base.
    speedups : dict of str to float
        Speed over base's, by run-time workload.
    verdict : Verdict or None
        Verdict of measuring it again, with the score's interval; None if that was not done.
    wins : bool
        True if the verdict is FASTER: only then do policies follow from it, and base stays
        otherwise. `Analysis.policies` has them for each run-time workload.

    Examples
    --------
    >>> a = tuner.analyze(tuner.example_db(), "scan.exclusive.sum")
    >>> best = a.best()
    >>> best.wins, best.score > 1
    (True, True)
    """

    benchmark: str
    ct: dict[str, str]
    arch: str
    device: str
    label: str
    score: float
    speedups: dict[str, float]
    verdict: Verdict | None
    wins: bool

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self}>"

    def __str__(self) -> str:
        where = " ".join(filter(None, [self.benchmark, *self.ct.values(), "on", self.device]))
        if self.label == "base":
            return f"{where}: base, nothing is faster"
        found = f"{where}: {self.label}, score {self.score:.3f}"
        if self.verdict is None:
            return f"{found}, measured once"
        return f"{found}, {self.verdict.word} ({self.verdict.low:.3f} to {self.verdict.high:.3f})"

    def _repr_html_(self) -> str:
        return table(["workload", "speedup"], self.speedups.items(), str(self))
