"""Result of a search: the analysis of what it measured, and the winner as a kernel."""

from __future__ import annotations

from cubc._calls import named

from ._analyze import Analysis
from ._benchmark import Benchmark, SourceSpace
from ._groups import Group
from ._space import Space
from ._tuned import TunedKernel, tuned


class Result(Analysis):
    """Analysis of the workloads that a search was asked for.

    Attributes
    ----------
    failed : dict of str to str
        Why a compile-time workload could not be searched, by its name.
    ended : dict of str to str
        What ended the search of a compile-time workload, by its name: one of the arguments
        ``"seconds"``, ``"variants"``, ``"target"`` and ``"patience"``; ``"space"``, which had no
        variant left; or ``"devices"``, of which none answered any more. It is ``""`` of those that
        were not begun, or whose base took all the time.

    Examples
    --------
    >>> r = tuner.search("reduce.sum", axes={"T": "F32"}, seconds=60)  # doctest: +SKIP
    >>> r.failed, r.ended  # doctest: +SKIP
    ({}, {'T{ct}=F32': 'seconds'})
    """

    def __init__(
        self,
        groups: list[Group],
        failed: dict[str, str],
        ended: dict[str, str],
        benchmark: Benchmark | None = None,
    ):
        super().__init__(groups)
        self.failed, self.ended = failed, ended
        self._benchmark = benchmark

    def __getitem__(self, place: int | slice) -> Result:
        groups = super().__getitem__(place).groups
        return Result(groups, self.failed, self.ended, self._benchmark)

    def _space(self, group: Group) -> Space | None:
        mine = self._benchmark
        if mine is None or group.benchmark != mine.name:
            return super()._space(group)
        return SourceSpace(mine.source, group.arch, mine.constraints)

    @named
    def kernel(
        self, name: str | None = None, *, variant: str | None = None, device: str | None = None
    ) -> TunedKernel:
        """Kernel of your own as the winner, to be called with arrays.

        Parameters
        ----------
        name
            Name of the kernel; needed if the source has several.
        variant
            Label of another variant that was measured, or ``"base"``; by default the winner, or
            base if nothing was found FASTER.
        device
            Name of the device; by default one of the architecture that was searched.

        Returns
        -------
        cubc.Kernel
            With `label` and `values` of the variant. Called as ``f(x, y, 2.0, n)``, its `grid`,
            `block` and `shared` are those of the benchmark, whose function runs once more for
            them, at its smallest workload: a function of the arguments is called with these; a
            grid that the benchmark leaves out is counted from the arguments that had as many
            elements as the axis ``Elements``, or else from the largest array; and numbers for a
            grid hold for arguments of the sizes of a workload that was measured. With others
            ``f`` raises ValueError without ``grid=``.

        Raises
        ------
        LookupError
            If there is no such kernel or variant.
        ValueError
            If the search was of a function of cubc, which runs winners after `use_policies`; of
            several compile-time workloads, of which ``r[0].kernel()`` takes one; or of a device
            that is not here.
        CompileError
            If the kernel does not compile for `device`.

        Examples
        --------
        >>> f = tuner.search(twice, seconds=60).kernel()  # of `benchmark`  # doctest: +SKIP
        >>> f(x, x.size)  # doctest: +SKIP
        """
        return tuned(self._benchmark, self.groups, name, variant, device)
