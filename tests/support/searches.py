"""Short searches on the cpu, and what they left in the store."""

import zlib
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
    assert [(r["variant"], r["status"], r["message"]) for r in rows if r["status"] != "ok"] == []
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


class Timed(Devices):
    """Such devices that measure nothing: a function of device, variant and run gives the time."""

    def __init__(self, seconds, *infos):
        super().__init__(*infos)
        self._seconds = seconds

    def _become(self):
        super()._become()
        claimed = remote._here.claimed
        claimed._bench = Bench(self._seconds, claimed.info["uuid"])


class Bench:
    """Measuring end of a `Timed` device. Base takes a millisecond."""

    def __init__(self, seconds, device):
        self.seconds, self.device, self.request = seconds, device, None

    def open(self, opening):
        pass

    def put(self, request):
        self.request = request

    def take(self, seconds):
        variant = self.request.variant
        for run in self.request.runs:
            if variant == "base":
                yield run, {"status": "ok", "samples": stores.samples(1e-3)}
            else:
                took = stores.samples(self.seconds(self.device, variant, run))
                yield run, {"status": "ok", "samples": took, "base_samples": stores.samples(1e-3)}


def speed(variant):
    """Speed over base that is made up: 0.8 to 1.3."""
    return 0.8 + 0.5 * (zlib.crc32(variant.encode()) % 1000) / 1000
