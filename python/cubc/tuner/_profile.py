"""One run of a variant, for a profiler to look at: ``ncu cubc profile -R reduce.sum``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cubc
from cubc import _core

from . import _axes as ax
from ._workload import compile_time_workloads


def profile(
    benchmark: str,
    axes: Mapping[str, Any] | None = None,
    variant: str = "base",
    *,
    device: str | None = None,
) -> list[str]:
    """Run a variant once at each workload, without warming up and without measuring.

    The kernel that is looked at is the last one of each workload: what comes before fills the
    inputs. ``ncu -k regex:reduce`` and the like pick it by its name.

    Parameters
    ----------
    benchmark, axes, device
        As in `search`.
    variant
        A label, or ``"base"``.

    Returns
    -------
    list of str
        Variant that was run: benchmark, workload and label.

    Raises
    ------
    LookupError, ValueError, NoDeviceError
        As `search`; ValueError also for a label that is no variant of the benchmark.

    Examples
    --------
    >>> tuner.profile("reduce.sum", {"T": "F32", "Elements": 20})  # doctest: +SKIP
    """
    name = _core.device_info(device)["name"]
    done = []
    for workload in compile_time_workloads(benchmark, axes, _core.device_info(device)["arch"]):
        for rt in workload.rts:
            inputs = _core.Workload(workload.benchmark, workload.ct, rt, name)
            opened = inputs.variant(variant)
            opened.run()
            cubc.synchronize(name)
            done.append(f"{workload} {ax.workload_text(rt)} {opened.label}")
    return done
