"""Synthetic spaces for strategies of searches: each has one structure that makes real ones hard.

They are drawn from a seed, so that a strategy cannot be fitted to them. Times are relative, 1 is
about what a good variant takes.

- smooth: each parameter has its best value, and the farther from it the slower.
- rugged: each pair of neighbouring parameters has a random factor for each pair of values.
- isolated: smooth, and a small corner of switches and names in which alone the best are.
- failing: smooth, but of nine tenths of the variants the launch fails, those beside the best too.
- named: parameters are names, in no order, whose effects depend on each other.
- plateaus: smooth in steps, so that many variants take the same time.
- noise-1, noise-3: pairs interact, and each measurement is off by 1 or 3 % (standard deviation).
"""

import math
import random

from cubc.tuner._replay import TableSpace

RANGES = {
    "tpb": range(32, 1025, 32),
    "ipt": (1, 2, 4, 8, 16, 32),
    "vec": (1, 2, 4, 8),
    "pad": range(3),
    "ord": range(2),
    "pre": range(2),
}
NAMES = {
    "layout": ("aos", "blocked", "coset", "soa", "tiled", "zorder"),
    "order": ("colmajor", "hilbert", "rowmajor", "snake"),
    "cache": ("ca", "cg", "cs", "lu", "nc"),
    "math": ("exact", "fast", "mixed"),
    "tpb": (64, 128, 192, 256, 384, 512),
    "ipt": (1, 2, 4, 8),
}


class NoisyTable(TableSpace):
    """A table whose measurements are off by a normal deviation; `times` are the true ones."""

    def __init__(self, times, deviation, seed):
        super().__init__(times)
        self._deviation, self._seed = deviation, seed

    def score(self, label):
        found = super().score(label)
        off = random.Random(f"{self._seed} {label}").gauss(0, self._deviation)
        return None if found is None else found * math.exp(off)


def points(ranges):
    """All combinations of values, as dicts."""
    found = [{}]
    for name, values in ranges.items():
        found = [{**point, name: value} for point in found for value in values]
    return found


def label(point):
    return ".".join(f"{name}_{value}" for name, value in point.items())


def tabled(time, ranges=RANGES):
    return {label(point): time(point) for point in points(ranges)}


def bowl(rng, ranges=RANGES):
    """Function that is 1 at a random point, and more the farther from it, by parameter."""
    best = {name: rng.choice(values) for name, values in ranges.items()}
    slope = {name: math.exp(rng.uniform(math.log(0.004), math.log(0.4))) for name in ranges}

    def time(point):
        logs = (
            slope[name] * abs(math.log2((value + 1) / (best[name] + 1)))
            for name, value in point.items()
        )
        return math.exp(sum(logs))

    return time


def pairs(rng, deviation, ranges=RANGES):
    """Function with a random factor for each pair of values of neighbouring parameters."""
    names = list(ranges)
    factors = {
        (one, other, a, b): rng.gauss(0, deviation)
        for one, other in zip(names, names[1:] + names[:1], strict=True)
        for a in ranges[one]
        for b in ranges[other]
    }
    along = list(zip(names, names[1:] + names[:1], strict=True))
    return lambda p: math.exp(sum(factors[one, other, p[one], p[other]] for one, other in along))


def smooth(seed):
    return TableSpace(tabled(bowl(random.Random(seed))))


def rugged(seed):
    rng = random.Random(seed)
    whole, rough = bowl(rng), pairs(rng, 0.06)
    return TableSpace(tabled(lambda point: whole(point) ** 0.5 * rough(point)))


def isolated(seed):
    rng = random.Random(seed)
    whole, corner = bowl(rng), bowl(rng)
    switches = {name: rng.choice(RANGES[name]) for name in ("vec", "pad", "ord", "pre")}

    def time(point):
        if all(point[name] == value for name, value in switches.items()):
            return corner(point)
        return 1.25 * whole(point)

    return TableSpace(tabled(time))


def failing(seed):
    rng = random.Random(seed)
    whole, rough = bowl(rng), pairs(rng, 0.015)
    most = rng.choice((1024, 2048, 4096))

    def time(point):
        fits = point["tpb"] * point["ipt"] <= most and point["tpb"] % (32 * point["vec"]) == 0
        return whole(point) * rough(point) if fits and point["vec"] <= point["ipt"] else None

    return TableSpace(tabled(time))


def named(seed):
    rng = random.Random(seed)
    single = {(n, v): rng.gauss(0, 0.1) for n, values in NAMES.items() for v in values}
    rough = pairs(rng, 0.06, NAMES)
    return TableSpace(
        tabled(lambda p: math.exp(sum(single[one] for one in p.items())) * rough(p), NAMES)
    )


def plateaus(seed):
    whole = bowl(random.Random(seed))
    return TableSpace(tabled(lambda point: 1.1 ** int(math.log(whole(point), 1.1))))


def noisy(seed, deviation):
    rng = random.Random(seed)
    whole, rough = bowl(rng), pairs(rng, 0.02)
    return NoisyTable(tabled(lambda point: whole(point) * rough(point)), deviation, seed)


SPACES = {
    "smooth": smooth,
    "rugged": rugged,
    "isolated": isolated,
    "failing": failing,
    "named": named,
    "plateaus": plateaus,
    "noise-1": lambda seed: noisy(seed, 0.01),
    "noise-3": lambda seed: noisy(seed, 0.03),
}


def tables(draws):
    """Each space, drawn from so many seeds; by name, as ``rugged_0``."""
    return {f"{name}_{seed}": make(seed) for name, make in SPACES.items() for seed in range(draws)}
