"""Stores written by hand, for tests of what reads them."""

import numpy as np

from cubc import _core
from cubc.tuner import _axes as ax

ELEMENTS = "Elements{io}[pow2]"


def samples(seconds):
    return np.full(9, seconds, np.float32).tobytes()


def variants(benchmark="reduce.sum", ct="F32", count=3):
    """The first valid variants of the cpu's space, without base."""
    from cubc.tuner._space import Space

    space = Space(benchmark, {"T{ct}": ct}, "cpu")
    base = _core.base(benchmark, {"T{ct}": ct}, "cpu")
    labels = (space.label(index) for index in range(space.size))
    found = []
    for label in labels:
        if label != base and space.valid(label):
            found.append(label)
            if len(found) == count:
                return found
    raise AssertionError("the space is too small")


def row(variant, elements, center=1e-3, base=1e-3, *, ct="F32", benchmark="reduce.sum", **more):
    """A row of a store; `center` and `base` are seconds."""
    axes = ax.opened(ax.declared(benchmark), {"Elements": elements})
    axes = [axis for axis in axes if not axis.compile_time]
    workload = {"T{ct}": ct}
    fields = {
        "benchmark": benchmark,
        "axes": ax.axes_text(axes),
        "source_hash": _core.source_hash(benchmark, workload, "cpu"),
        "ct": ax.workload_text(workload),
        "variant": variant,
        "rt": f"{ELEMENTS}={elements}",
        "status": "ok",
        "message": "",
        "samples": samples(center),
        "base_samples": b"" if variant == "base" else samples(base),
        "bytes": 4 << elements,
    }
    if more.get("status", "ok") != "ok":
        fields |= {"samples": b"", "base_samples": b""}
    return fields | more


def confirmed(variant, elements, center=1e-3, base=1e-3, *, rounds=8, **more):
    """Rows of a variant in the search and in the rounds in which it was measured again."""
    return [row(variant, elements, center, base, round=n, **more) for n in range(rounds + 1)]


def write(path, rows, **device):
    """Add rows measured on a cpu device whose info is changed as given."""
    store = _core.Store(str(path), True)
    store.set_device(_core.device_info("cpu") | device)
    for fields in rows:
        assert store.find(fields) is None
        store.add(fields)
    store.close()
    return path


def read(path):
    """All rows without the medians, which may be NaN, so that equal rows compare equal."""
    store = _core.Store(str(path))
    try:
        rows = list(store.rows())
    finally:
        store.close()
    for fields in rows:
        del fields["center"], fields["base_center"]
    return rows
