"""A model of the time that a lattice over several GPUs or nodes takes, of a few measured numbers.

    python benchmarks/lattice_model.py [48x48x48x96 ...] [--gpus 1 2 4 8] [--nodes 2 4 8]
        [--network GB_S --latency US] [--check | --write]

prints a hop and an iteration of lattices that are cut over so many GPUs of a node, or over so many
nodes of eight. --check compares the model with the runs on two GPUs that it was not made from;
--write puts both tables into notes/ranks.md, and a test compares them.

A hop on a part of the lattice
    hop    = longer(alone, way + late) + bytes / stores
    alone  = the time of one GPU for the part: measured, or between those of parts that were
    way    = of a face: first + bytes * each, its loads and stores, and the link
    late   = of the sites that wait for it, their share of alone
    bytes  = of half spinors, or of colour vectors, on all faces, each way, with their tags
    longer(a, b) = (a^3 + b^3)^(1/3): sites off the faces are computed on the way of the face
Between nodes a face has the network's latency instead of the link's, and its bytes / network.

An iteration of conjugate gradients, half precision inside double
    cg     = alone + 4 (hop - alone of the hop + end) + 2 sums
    end    = what the end of a hop with sums adds, where no hop follows to begin ahead of
    sum    = a message to all ranks of a node, then log2(nodes) between nodes
An iteration of GCR with eight Schwarz steps has 16 hops without faces, two with them, three sums:
    schwarz = steps + 2 (hop - alone of the hop + end) + 3 sums
A solve takes its iterations, of which Schwarz needs fewer: it pays where messages take long.
"""

import argparse
import itertools
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

import cells
import numpy as np

# ---- measured numbers ---------------------------------------------------------------------------
DEVICE = "nvidia-h200"
LAUNCHES = 20.0  # microseconds of the five launches of an iteration (notes/solvers.md)
LINK = 1.5  # microseconds of a message from GPU to GPU of a host (notes/ranks.md)
L2 = 50e6  # bytes
# Microseconds of an iteration with eight Schwarz steps on parts of 16^4, and iterations for one of
# conjugate gradients (notes/ranks.md).
SCHWARZ, SCHWARZ_STEPS, FEWER = 248.7, 8, 78 / 192
# The parts whose runs the model is made from: Wilson hops on two, an iteration on one of SMALL. Of
# LARGE, of MIDDLE for Wilson, and of an iteration it takes the time of one GPU, too.
TINY, SMALL, MIDDLE, LARGE = (f"{n}x{n}x{n}x{n}" for n in (8, 16, 24, 32))

# ---- assumed numbers ----------------------------------------------------------------------------
# GB/s of a GPU with 400 Gb/s, and microseconds of a message between GPUs of two hosts. Neither was
# measured, and cubc sends none between hosts.
NETWORK, LATENCY = 45.0, 15.0
GPUS_A_NODE = 8

# ---- the fields ---------------------------------------------------------------------------------
PRECISIONS = ("double", "single", "half")
REAL = {"double": 8, "single": 4, "half": 2}
# Reals a site of one parity of links and of the fields that a hop reads and writes.
REALS = {"wilson": 8 * 12 + 2 * 24, "improved": 8 * 18 + 8 * 13 + 2 * 6}
# Slices that a direction's faces send, reals a site there, which are f32 in half precision, with a
# norm, and slices at each end whose sites wait.
FACE_REALS = {"wilson": (2, 12), "improved": (7, 6)}
WAITING = {"wilson": 1, "improved": 3}
TAGGED = 2  # a word of 32 bits has another with it
MARK = re.compile(r"(<!-- lattice_model\.py (\w+) -->\n).*?(<!-- to here -->\n)", re.S)
NOTE = Path(__file__).parent / "notes" / "ranks.md"


def longer(a, b):
    return (a**3 + b**3) ** (1 / 3)


def sites_of(part):
    """Sites of one parity."""
    return math.prod(part) // 2


def bytes_of_sites(operator, precision, sites):
    return REALS[operator] * REAL[precision] * sites


def bytes_of_face(operator, precision, part, direction):
    """The bytes that a hop sends over both faces of a direction."""
    slices, reals = FACE_REALS[operator]
    site = reals * max(REAL[precision], 4) + (4 if precision == "half" else 0)
    return TAGGED * slices * site * sites_of(part) / part[direction]


@dataclass(frozen=True)
class Model:
    """Numbers of one kind of GPU and its link, in microseconds and bytes a microsecond."""

    alone_of: dict  # sites and times of one GPU, by operator and precision
    first: dict  # of a face's way, by precision
    each: dict  # of it a byte
    stores: dict  # bytes a microsecond of the blocks that send faces
    iteration_rates: dict  # of an iteration of conjugate gradients, by whether the L2 cache has it
    end: float
    network: float = NETWORK
    latency: float = LATENCY

    def alone(self, operator, precision, part):
        """A hop on one GPU that has no neighbours; above the largest part as that grows."""
        sites, times = self.alone_of[operator, precision]
        beyond = (times[-1] - times[0]) / (sites[-1] - sites[0])
        return np.interp(sites_of(part), sites, times) + beyond * max(0, sites_of(part) - sites[-1])

    def late(self, operator, precision, part, cut, alone):
        """The sites on faces, which begin when a face has come."""
        off = math.prod(max(0, 1 - 2 * WAITING[operator] / part[d]) for d in cut)
        return (1 - off) * (alone - self.alone_of["wilson", precision][1][0])

    def waits(self, operator, precision, part, cut, alone):
        """From the beginning of a hop to the end of the sites on faces, were there no others."""
        sent = sum(bytes_of_face(operator, precision, part, d) for d in cut)
        way = self.first[precision] + sent * self.each[precision]
        return way + self.late(operator, precision, part, cut, alone)

    def hop(self, operator, precision, part, cut, outside=(), alone=None):
        """A hop on a part that is cut in some directions; `outside` has a face on other nodes."""
        alone = alone or self.alone(operator, precision, part)
        if not cut:
            return alone
        sent = {d: bytes_of_face(operator, precision, part, d) for d in cut}
        waits = self.waits(operator, precision, part, cut, alone)
        if outside:
            waits += self.latency - LINK
            waits += sum(sent[d] * share for d, share in outside.items()) / (self.network * 1e3)
        return longer(alone, waits) + sum(sent.values()) / self.stores[precision]

    def message_to_all(self, nodes):
        return LINK + (self.latency * math.log2(nodes) if nodes > 1 else 0)

    def iteration_alone(self, part):
        sites = sites_of(part)
        cached = bytes_of_sites("wilson", "half", sites) <= L2
        return LAUNCHES + sites * self.iteration_rates[cached]

    def added(self, part, cut, outside):
        """The time that a hop in an iteration takes longer than on one GPU."""
        hop = self.hop("wilson", "half", part, cut, outside)
        return hop - self.alone("wilson", "half", part) + self.end

    def cg(self, part, cut, outside=(), nodes=1):
        if not cut:
            return self.iteration_alone(part)
        return (
            self.iteration_alone(part)
            + 4 * self.added(part, cut, outside)
            + 2 * self.message_to_all(nodes)
        )

    def schwarz(self, part, cut, outside=(), nodes=1):
        """An iteration with the steps of a block, whose hops and passes grow with its sites."""
        steps = SCHWARZ - 2 * self.added((16,) * 4, (3,), ()) - 3 * self.message_to_all(1)
        grown = self.iteration_alone(part) - self.iteration_alone((16,) * 4)
        # A step has half the hops of an iteration of conjugate gradients, and half its passes.
        steps += (SCHWARZ_STEPS + 1) / 2 * grown
        return steps + 2 * self.added(part, cut, outside) + 3 * self.message_to_all(nodes)


# ---- from the cells -----------------------------------------------------------------------------
def part_of(cell):
    return tuple(map(int, cell["size"].split("x")))


def runs():
    """The cells on two GPUs: hops by operator, precision and size, and solves by size."""
    found = cells.load(DEVICE)["lattice_ranks"]
    hops = {
        (cell["case"].split(",")[0], cell["type"], cell["size"]): cell
        for cell in found
        if cell["unit"] == "us" and cell["case"].endswith("2 ranks, cut t")
    }
    return hops, {cell["size"]: cell for cell in found if cell["case"] == "solve cg, 2 ranks"}


def fitted():
    """The model of the runs on TINY, SMALL and LARGE."""
    hops, solves = runs()
    alone_of = {}
    for precision in PRECISIONS:
        of = [hops["wilson", precision, size] for size in (TINY, SMALL, MIDDLE, LARGE)]
        alone_of["wilson", precision] = times_of(of)
        few, many = (times_of([run]) for run in (of[0], hops["improved", precision, LARGE]))
        alone_of["improved", precision] = tuple(map(np.append, few, many))
    model = Model(alone_of, *fitted_faces(alone_of, hops), {}, 0.0)
    return replace(model, **iterations(solves, model))


def times_of(found):
    return np.array([sites_of(part_of(c)) for c in found]), np.array([c["alone"] for c in found])


def fitted_faces(alone_of, hops):
    """The way of a face and the rate of stores, each given the other."""
    first, each = dict.fromkeys(PRECISIONS, 0.0), dict.fromkeys(PRECISIONS, 0.0)
    stores = dict.fromkeys(PRECISIONS, math.inf)
    for precision, _ in itertools.product(PRECISIONS, range(50)):
        tiny, small, large = (hops["wilson", precision, size] for size in (TINY, SMALL, LARGE))
        model, ways = Model(alone_of, first, each, stores, {}, 0.0), []
        for cell in (tiny, small):
            sent = bytes_of_face("wilson", precision, part_of(cell), 3)
            waits = (cell["cubc"] - sent / stores[precision]) ** 3 - cell["alone"] ** 3
            late = model.late("wilson", precision, part_of(cell), (3,), cell["alone"])
            ways.append((sent, waits ** (1 / 3) - late))
        (less, soon), (more, later) = ways
        each[precision] = (later - soon) / (more - less)
        first[precision] = soon - less * each[precision]
        waits = model.waits("wilson", precision, part_of(large), (3,), large["alone"])
        sent = bytes_of_face("wilson", precision, part_of(large), 3)
        stores[precision] = sent / (large["cubc"] - longer(large["alone"], waits))
    return first, each, stores


def iterations(solves, model):
    """Rates of an iteration on one GPU, and what the end of a hop adds on two."""
    # Whole lattices of 16^3 x 32, which the L2 cache has, and 32^4.
    of_size = {True: solves[SMALL], False: solves["32x32x32x16"]}
    rates = {
        cached: (cell["alone"] - LAUNCHES) / (2 * sites_of(part_of(cell)))
        for cached, cell in of_size.items()
    }
    without = replace(model, iteration_rates=rates).cg(part_of(solves[SMALL]), (3,))
    return {"iteration_rates": rates, "end": (solves[SMALL]["cubc"] - without) / 4}


def checks(model):
    """The runs that the model is not made from.

    Each has its case, the time, and the predictions from one GPU's time for the part and without.
    """
    hops, solves = runs()
    for (operator, precision, size), cell in hops.items():
        if operator == "wilson" and size in (TINY, SMALL, LARGE):
            continue
        part = part_of(cell)
        given = model.hop(operator, precision, part, (3,), alone=cell["alone"])
        yield (
            f"{operator}, {precision}, {size}",
            cell["cubc"],
            given,
            model.hop(operator, precision, part, (3,)),
        )
    for size, cell in solves.items():
        if size != SMALL:
            yield f"iteration of cg, {size}", cell["cubc"], None, model.cg(part_of(cell), (3,))


# ---- grids --------------------------------------------------------------------------------------
def grids(ranks, extent, least=4):
    """Ranks along X, Y, Z, T whose parts have even extents."""
    for y, z in itertools.product(range(1, ranks + 1), repeat=2):
        if ranks % (y * z) == 0:
            grid = (1, y, z, ranks // (y * z))
            part = tuple(e / n for e, n in zip(extent, grid, strict=True))
            if all(p % 2 == 0 and (n == 1 or p >= least) for p, n in zip(part, grid, strict=True)):
                yield grid, tuple(map(int, part))


def faces_outside(grid, nodes):
    """The share of a direction's two faces that leaves the node, of the rank with most of them."""
    inside, left = GPUS_A_NODE if nodes > 1 else math.prod(grid), {}
    for d in (1, 2, 3):
        within = math.gcd(inside, grid[d])
        inside //= within
        if within < grid[d]:
            left[d] = 1 if within == 1 else 0.5
    return left


def best(model, extent, ranks, nodes):
    """The grid whose iteration takes least: grid, part, cut, faces outside."""
    made = []
    for grid, part in grids(ranks, extent):
        cut, outside = [d for d in (1, 2, 3) if grid[d] > 1], faces_outside(grid, nodes)
        made.append((model.cg(part, cut, outside, nodes), grid, part, cut, outside))
    return min(made)[1:] if made else None


# ---- tables -------------------------------------------------------------------------------------
def by(numbers):
    return "x".join(map(str, numbers))


def check_table(model):
    yield "| run on two GPUs | measured | from one GPU's time | from the volume alone |"
    yield "|---|---|---|---|"
    for case, measured, *predicted in checks(model):
        shown = (f"{p:.4g} ({100 * (p / measured - 1):+.1f} %)" if p else "" for p in predicted)
        yield f"| {case} | {measured:.4g} | " + " | ".join(shown) + " |"


def scaling_table(model, extents, gpus, nodes):
    yield (
        "| lattice | GPUs | grid | part | hop: double, single, half | speed-up in half "
        "| iteration of `cg` | speed-up | Schwarz / cg |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for extent in extents:
        one = model.alone("wilson", "half", extent), model.cg(extent, ())
        for ranks, hosts in [(n, 1) for n in gpus] + [(GPUS_A_NODE * n, n) for n in nodes]:
            found = best(model, extent, ranks, hosts)
            if not found:
                continue
            grid, part, cut, outside = found
            hops = [model.hop("wilson", p, part, cut, outside) for p in PRECISIONS]
            cg = model.cg(part, cut, outside, hosts)
            schwarz = FEWER * model.schwarz(part, cut, outside, hosts) / cg if cut else None
            yield (
                f"| {by(extent)} | {ranks}{f' of {hosts} nodes' if hosts > 1 else ''} | {by(grid)} "
                f"| {by(part)} | {', '.join(f'{t:.0f}' for t in hops)} | {one[0] / hops[2]:.1f} "
                f"| {cg:.0f} | {one[1] / cg:.1f} | {f'{schwarz:.2f}' if schwarz else ''} |"
            )


SHOWN = [(32, 32, 32, 64), (48, 48, 48, 96), (64, 64, 64, 128)]


def tables(model):
    return {
        "check": check_table(model),
        "scaling": scaling_table(model, SHOWN, (1, 2, 4, 8), (2, 4, 8)),
    }


def rewritten(text):
    made = {name: "\n".join(lines) + "\n" for name, lines in tables(fitted()).items()}
    return MARK.sub(lambda found: found[1] + made[found[2]] + found[3], text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extents", nargs="*", default=list(map(by, SHOWN)))
    parser.add_argument("--gpus", nargs="*", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--nodes", nargs="*", type=int, default=[2, 4, 8])
    parser.add_argument(
        "--network", type=float, default=NETWORK, help="GB/s of a GPU between nodes"
    )
    parser.add_argument("--latency", type=float, default=LATENCY, help="us of a message there")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write:
        NOTE.write_text(rewritten(NOTE.read_text()))
        return
    model = fitted()
    model = replace(model, network=options.network, latency=options.latency)
    extents = [tuple(map(int, text.split("x"))) for text in options.extents]
    lines = (
        check_table(model)
        if options.check
        else scaling_table(model, extents, options.gpus, options.nodes)
    )
    print("\n".join(lines))


if __name__ == "__main__":
    main()
