"""Short searches on the cpu, and what they left in the store."""

from concurrent.futures import ThreadPoolExecutor

import stores

from cubc import tuner
from cubc.tuner import _remote as remote

AXES = {"T": "F32", "Elements": 16}
TIMING = {"min_samples": 3, "max_samples": 3, "timeout": 1.0}


def search(db, axes=AXES, **options):
    options = {
        "device": "cpu",
        "timing": TIMING,
        "variants": 4,
        "racing": False,
        "confirm": 0,
    } | options
    return tuner.search("reduce.sum", axes, db=db, **options)


def keys(db):
    return [(r["ct"], r["variant"], r["rt"]) for r in stores.read(db)]


def variant_rows(db):
    return [r for r in stores.read(db) if r["variant"] != "base"]


def complete(db, variants):
    """Every variant once, with base, and nothing failed."""
    found = keys(db)
    assert len(found) == len(set(found)) == variants + 1
    rows = stores.read(db)
    assert {row["status"] for row in rows} == {"ok"}
    # Base is told from the variants, though every process measures it with its first one.
    assert all(bool(row["base_samples"]) == (row["variant"] != "base") for row in rows)
    assert all(bool(row["message"]) == (row["variant"] == "base") for row in rows)


class Devices(ThreadPoolExecutor):
    """Threads that measure on the cpu, each as a device of its own: with what is given as info."""

    def __init__(self, *infos):
        super().__init__(len(infos), initializer=self._become)
        self._infos = [*infos]

    def _become(self):
        claimed = remote._claimed("cpu")
        claimed.info = claimed.info | self._infos.pop()
