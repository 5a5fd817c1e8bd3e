"""A store as a search on a GPU leaves it: two run-time axes, failures, and a coarse clock."""

import numpy as np
import stores

from cubc.tuner import _axes as ax

BENCHMARK = "select.demo"  # no benchmark of cubc's: its axes are the store's
AXES = (ax.Axis("Elements{io}[pow2]", (16, 20, 24)), ax.Axis("Entropy", (0, 1)))
TICK = 32e-9  # seconds, of the clock
IPT, TPB = (4, 8, 12, 16), (128, 256, 384, 512, 640)
BASE = "ipt_8.tpb_256.ld_0"
SAMPLES = 60


def _times(rng, center, drift):
    noise = rng.gamma(2, 0.004, SAMPLES) + 0.01 * drift
    seconds = np.round(center * (1 + noise) / TICK) * TICK
    return seconds.astype("<f4").tobytes()


def speed(ipt, tpb, ld, elements):
    """Speedup over base: best at ipt 12 and tpb 384, more so for many elements; None: fails."""
    if ipt * tpb > 8192:
        return None
    hill = np.exp(-((ipt - 12) ** 2) / 80 - ((tpb - 384) ** 2) / 2e5)
    return float(0.9 + 0.3 * hill * (elements / 24) - 0.02 * ld)


def rows(seed=0):
    """Rows of base and of all variants, in random order."""
    rng = np.random.default_rng(seed)
    labels = [(i, t, ld) for i in IPT for t in TPB for ld in (0, 1)]
    found = [row for rt in _workloads() for row in _row("base", rt, 1.0, rng)]
    for place in rng.permutation(len(labels)):
        ipt, tpb, ld = labels[place]
        label = f"ipt_{ipt}.tpb_{tpb}.ld_{ld}"
        for rt in _workloads():
            if label != BASE:
                found += _row(label, rt, speed(ipt, tpb, ld, rt["Elements{io}[pow2]"]), rng)
    return found


def _workloads():
    return [{AXES[0].name: e, AXES[1].name: n} for e in AXES[0].values for n in AXES[1].values]


def _row(label, rt, speedup, rng):
    elements = rt[AXES[0].name]
    base = 4e-6 + (1 << elements) * 1e-12 * (1 + rt["Entropy"])
    drift = rng.normal() + np.cumsum(rng.normal(0, 0.1, SAMPLES))
    fields = stores.row(label, 16) | {
        "benchmark": BENCHMARK,
        "axes": ax.axes_text(AXES),
        "source_hash": "0" * 64,
        "rt": ax.workload_text(rt),
        "bytes": 8 << elements,
        "message": BASE if label == "base" else "",
    }
    if speedup is None:
        return [fields | {"status": "resources", "samples": b"", "base_samples": b""}]
    fields["samples"] = _times(rng, base / speedup, drift)
    fields["base_samples"] = b"" if label == "base" else _times(rng, base, drift)
    return [fields]


def write(path, **changes):
    """Write them all to a new store."""
    device = {"uuid": "GPU-0", "model": "Synthetic GPU", "arch": "sm_90"}
    return stores.write(path, rows(**changes), **device)
