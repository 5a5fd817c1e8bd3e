"""From a store to the next call: the best measured variants become the policies that run."""

from __future__ import annotations

import warnings

from cubc import _core

from .analyze import winners
from .records import Group
from .stores import StorePaths, expand, read


def use_policies(paths: StorePaths) -> int:
    """Run the best variants of some stores from the next call on, in this process.

    For each architecture, benchmark and compile-time workload the best variant is taken that was
    measured at all run-time workloads and beats base. It then runs for any number of items, few of
    them included: search at the sizes that will be called.
    Measurements of another version of the kernel source are skipped with a warning.

    Parameters
    ----------
    paths
        One store or glob pattern, or several; the last one wins where several know a workload.

    Returns
    -------
    int
        How many policies came into force: one an architecture, benchmark and compile-time workload.

    Raises
    ------
    FileNotFoundError
        If a path names no store.
    StoreError
        If a file is no store, or of a newer version; if a row is malformed or its variant lies
        outside the declared ranges (the message has its number and store). Then nothing changes.
    """
    chosen: dict[tuple, tuple[Group, str]] = {}
    stale: set[str] = set()
    own: set[str] = set()
    for path in expand(paths):
        groups = read(path, bad="raise")
        passed = {group.benchmark for group in groups if not group.current}
        own |= passed.difference(_core.benchmarks())
        stale |= passed.intersection(_core.benchmarks())
        for group, label, _ in winners([group for group in groups if group.current]):
            chosen[group.arch, group.benchmark, group.workload] = (group, label)
    if stale:
        warnings.warn(
            f"{', '.join(sorted(stale))}: some measurements were skipped because they were taken "
            "with another version of the kernel; search again to renew them",
            RuntimeWarning,
            stacklevel=2,
        )
    if own:
        warnings.warn(
            f"{', '.join(sorted(own))}: kernels of one's own have no policy that cubc would use; "
            "cubc policy --header writes their constants",
            RuntimeWarning,
            stacklevel=2,
        )
    for group, label in chosen.values():  # every row was checked before the first is used
        _core.use_policy(group.benchmark, group.ct, group.arch, label)
    return len(chosen)
