"""From a store to the next call: the winners become the policies that run."""

from __future__ import annotations

import warnings

from cubc import _core

from ._analyze import Winner, warn_unconfirmed, winners
from ._axes import items
from ._records import Group
from ._stores import StorePaths, expand, read


def use_policies(paths: StorePaths) -> int:
    """Run the winners of some stores from the next call on, in this process.

    For each architecture, benchmark and compile-time workload the best variant with the verdict
    FASTER is taken. Benchmarks that have policies by the number of items (up to 2^16, 2^20, 2^25,
    and more) get one for each of these sizes that the store has workloads of; calls of other sizes
    run what they did. A search at all sizes looks for variants that are good on average, and each
    size gets the best of these: for the best variant of one size, search at that size alone.

    Variants that look faster and were not measured again, as by a search with ``confirm=0``, are no
    policies; a warning says how to confirm them. Measurements of another version of the kernel
    source are skipped with a warning.

    Parameters
    ----------
    paths
        One store or glob pattern, or several; the last one wins where several know a workload.

    Returns
    -------
    int
        Number of policies that came into force.

    Raises
    ------
    FileNotFoundError
        If a path names no store.
    StoreError
        If a file is no store, or of a newer version; if a row is malformed or its variant lies
        outside the declared ranges (the message has its number and store). Then nothing changes.
    """
    chosen: dict[tuple, Winner] = {}
    stale: set[str] = set()
    users: set[str] = set()
    current: list[Group] = []
    for path in expand(paths):
        groups = read(path, bad="raise")
        passed = {group.benchmark for group in groups if not group.current}
        users |= passed.difference(_core.benchmarks())
        stale |= passed.intersection(_core.benchmarks())
        current += (fresh := [group for group in groups if group.current])
        for one in winners(fresh, by_size=True):
            chosen[one.group.arch, one.name, one.group.workload] = one
    if stale:
        warnings.warn(
            f"{', '.join(sorted(stale))}: some measurements were skipped because they were taken "
            "with another version of the kernel; search again to renew them",
            RuntimeWarning,
            stacklevel=2,
        )
    if users:
        warnings.warn(
            f"{', '.join(sorted(users))}: kernels of one's own have no policy that cubc would use; "
            "cubc policy --header writes their constants",
            RuntimeWarning,
            stacklevel=2,
        )
    warn_unconfirmed(current, by_size=True)
    for one in chosen.values():  # every row was checked before the first is used
        where = (one.group.benchmark, one.group.ct, one.group.arch)
        _core.use_policy(*where, one.label, items(one.group.workloads[0]))
    return len(chosen)
