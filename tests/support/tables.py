"""Tables of made-up times, each with a structure that a search may meet."""

import itertools
import math
import random

from cubc.tuner._replay import TableSpace

RANGES = {
    "tpb": range(32, 1025, 32),
    "ipt": (1, 2, 4, 8, 16, 32),
    "vec": (1, 2, 4, 8),
    "ld": range(3),
    "ord": range(2),
    "pad": range(2),
}


def table(time, ranges=None, keep=lambda point: True):
    """Table of the times that a function of the values gives; None is a failure."""
    ranges = RANGES if ranges is None else ranges
    times = {}
    for values in itertools.product(*ranges.values()):
        point = dict(zip(ranges, values, strict=True))
        if keep(point):
            label = ".".join(f"{name}_{value}" for name, value in point.items())
            times[label] = time(point)
    return TableSpace(times)


def additive(p):
    """Each parameter costs by itself."""
    bend = abs(math.log2(p["tpb"] / 224)) + abs(math.log2(p["ipt"] / 8))
    return (
        1 + 0.3 * bend + 0.2 * abs(p["vec"] - 4) + 0.3 * p["ld"] + 0.1 * p["ord"] * (1 + p["pad"])
    )


def interacting(p):
    """Products decide, and one parameter turns another's meaning round."""
    work = math.log2(p["tpb"] * p["ipt"])
    goal = 11 if p["ld"] == 2 else 13
    turned = p["vec"] if p["ord"] else 8 / p["vec"]
    return 1 + 0.4 * abs(work - goal) + 0.2 * turned + 0.5 * (p["ld"] == 1) + 0.1 * p["pad"]


def rare(p):
    """A plateau, and a twentieth of a per cent that is twice as fast."""
    good = p["ld"] == 1 and p["ord"] == 1 and p["ipt"] == 8
    return 1.0 - 0.2 * good - 0.3 * (good and p["tpb"] in (128, 256) and p["vec"] == 4)


def noisy(p):
    """Interaction under noise of 3 %, the same in every replay."""
    return interacting(p) * math.exp(random.Random(str(p)).gauss(0, 0.03))


def failing(p):
    """Nine tenths fail, those of large blocks with much work above all."""
    lost = p["tpb"] * p["ipt"] > 2048 or p["vec"] > p["ipt"] or (p["ld"], p["pad"]) == (2, 1)
    return None if lost or p["tpb"] % 64 else additive(p)


STRUCTURES = (additive, interacting, rare, noisy, failing)
