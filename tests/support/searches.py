"""Short searches on the cpu, and what they left in the store."""

import stores

from cubc import tuner

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
