"""Hops and solves over several GPUs of a host, beside one GPU that has as large a part.

    python benchmarks/lattice_ranks.py [--ranks 2] [--cut z] [--volumes 32 ...] [--json]
        [--solves 16x16x16x16 ...] [--solvers cg gcr schwarz ...] [--steps 8]
        [--transport memory messages]

A rank is a process with a GPU of its own; T is cut. Volumes are those of a rank's part.

wilson   the Wilson Dslash of one parity, links of 12 numbers, and improved, the hop of staggered
         fermions, long links of 13: microseconds of a call among many in one CUDA graph, which all
         ranks launch at once; that of the slowest rank. `alone` is the same part on one GPU that
         has no neighbours. QUDA's are those of its develop branch at 9521952c on two H200s.
solve    an iteration of a solver, half inside double, and milliseconds of the solve; `alone` is all
         of the lattice on one GPU (lattice_cg.py has the links). `schwarz` is gcr preconditioned by
         so many steps in half precision.

--transport messages has NCCL carry faces and sums, as between hosts, instead of shared memory. Then
`apart` is what a hop would take if its messages came before the sites off the faces: their own time
is what faces add to a part of the same faces that has no other sites.

With --ranks 1 a GPU is its own neighbour: what faces cost without a link to another.
"""

import argparse
import itertools
import multiprocessing
import os
import statistics
import time

import cells
import numpy as np
import torch
from lattice_dslash import QUDA_ORIGIN, extent_of, fields_of, random_gauge
from lattice_operators import staggered

import cubc
from cubc import lattice
from cubc._core import call

QUDA = {  # of two GPUs: hop, local volume: microseconds in double, single, half, where known
    ("wilson", "8x8x8x8"): (None, None, None),
    ("wilson", "16x16x16x16"): (33, 34, 35),
    ("wilson", "24x24x24x24"): (None, None, None),
    ("wilson", "32x32x32x16"): (125, 73, 58),
    ("wilson", "32x32x32x32"): (221, 116, 85),
    ("wilson", "48x48x48x32"): (737, 355, 228),
    ("improved", "24x24x24x24"): (None, 75, 57),
    ("improved", "32x32x32x32"): (320, 174, 114),
}
PRECISIONS = ("double", "single", "half")
SOLVES = ["16x16x16x16", "32x32x32x16", "32x32x32x32"]
LAUNCHES = 15
SLICES = {"wilson": 2, "improved": 4}  # of a part without sites off the faces


class Comm:
    """The part of a communicator that a Grid asks for, between processes of multiprocessing."""

    def __init__(self, rank, size, values, barrier):
        self.rank, self.size, self.values, self.barrier, self.calls = rank, size, values, barrier, 0

    def Get_rank(self):
        return self.rank

    def Get_size(self):
        return self.size

    def allgather(self, value):
        self.calls += 1
        self.values[self.calls, self.rank] = value
        self.barrier.wait()
        return [self.values[self.calls, rank] for rank in range(self.size)]


def seconds_of(launch, comm):
    """Seconds of a call, of the slowest rank; all have the same number of calls in a graph."""
    stream = torch.cuda.Stream()
    for _ in range(3):
        launch(stream.cuda_stream)
    torch.cuda.synchronize()
    comm.allgather(None)
    start = time.perf_counter()
    for _ in range(20):
        launch(stream.cuda_stream)
    torch.cuda.synchronize()
    each = max(comm.allgather((time.perf_counter() - start) / 20))
    count = max(20, min(500, int(0.01 / each)))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(count):
            launch(stream.cuda_stream)
    times = []
    for _ in range(LAUNCHES):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        comm.allgather(None)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1e-3 / count)
    return max(comm.allgather(statistics.median(times[3:])))


def fields(name, extent, precision):
    if name == "wilson":
        return fields_of(random_gauge(extent), precision, 12, 1)
    return staggered(name, extent, 1, precision)[0].args[1]


def hop(name, extent, precision, grid, comm):
    """Seconds of a hop over the ranks, and of a GPU alone."""
    kernel = "dslash_wilson" if name == "wilson" else "dslash_staggered"
    given = fields(name, extent, precision)
    found = []
    for ranks in ({"ranks": grid._ranks}, {}):
        found.append(
            seconds_of(lambda stream, r=ranks: call(kernel, given | r, stream=stream), comm)
        )
        grid.check()
    return found


def method_of(name, steps):
    """Options of a solve; block_cg has no fixed point."""
    if name == "schwarz":
        return {"solver": "gcr", "schwarz": steps, "sloppy": "half"}
    return {"solver": name, "sloppy": "single" if name == "block_cg" else "half"}


def solve(extent, grid, comm, method):
    """Reports of a solve over the ranks, and on one GPU that has all of the lattice."""
    whole = tuple(e * n for e, n in zip(extent, grid.grid, strict=True))
    rng = np.random.default_rng(1)
    b = rng.normal(size=(*whole[::-1], 4, 3)) + 1j * rng.normal(size=(*whole[::-1], 4, 3))
    found = []
    for over in (grid, None):
        gauge = lattice.Gauge.random(whole, seed=7, noise=0.15, grid=over)
        D = lattice.Wilson(gauge, 0.132, precision="double")
        mine = grid.part(b) if over else b
        for _ in range(3):
            comm.allgather(None)
            _, info = D.solve(mine, tol=1e-10, maxiter=2000, **method)
        found.append((max(comm.allgather(info.seconds)), info.iterations))
    return found


def rank_of(rank, options, values, barrier):
    """One rank: measures what all measure at once; the first one prints and writes."""
    torch.cuda.set_device(rank)
    comm = Comm(rank, options.ranks, values, barrier)
    cut = "" if options.ranks > 1 and options.cut == "t" else options.cut
    grids = {
        ", by messages" if transport == "messages" else "": lattice.Grid(
            (1, 1, 1, options.ranks), comm, cut=cut, transport=transport
        )
        for transport in options.transport
    }
    found = []

    def note(cell, over, alone, *more):
        if rank:
            return
        cell |= {"cubc": round(over * 1e6, 2), "alone": round(alone * 1e6, 2)}
        cell["of_alone"] = round(alone / over, 3)
        print(*cell.values(), *more, sep="  ", flush=True)
        found.append({"benchmark": "lattice_ranks"} | cell)

    if rank == 0:
        print(f"{options.ranks} x {cubc.device_info()['model']}, cut {cut or 't'}")
    for name, volume in QUDA:
        if options.volumes and volume not in options.volumes:
            continue
        for (precision, peer), (by, grid) in itertools.product(
            zip(PRECISIONS, QUDA[name, volume], strict=True), grids.items()
        ):
            over, alone = hop(name, extent_of(volume), precision, grid, comm)
            cell = {
                "type": precision,
                "size": volume,
                "case": f"{name}, {options.ranks} ranks, cut {cut or 't'}{by}",
                "unit": "us",
            }
            if by and set(cut) <= {"t"}:
                short = (*extent_of(volume)[:3], SLICES[name])
                with_faces, without = hop(name, short, precision, grid, comm)
                cell["apart"] = round((alone + with_faces - without) * 1e6, 2)
            if peer and options.ranks == 2:
                cell |= {"peer": peer, "ratio": round(peer / over * 1e-6, 3)} | QUDA_ORIGIN
            note(cell, over, alone)
    several = options.ranks > 1
    solves = itertools.product(options.solves, options.solvers, grids.items()) if several else ()
    for volume, solver, (by, grid) in solves:
        extent, method = extent_of(volume), method_of(solver, options.steps)
        (over, iterations), (alone, of_alone) = solve(extent, grid, comm, method)
        cell = {
            "type": f"double, {method['sloppy']} inside",
            "size": "x".join(map(str, extent)),
            "case": f"solve {solver}, {options.ranks} ranks{by}",
            "unit": "us an iteration",
            "iterations": iterations,
            "ms": round(over * 1e3, 3),
        }
        if solver == "schwarz":
            cell["steps"] = options.steps
        note(cell, over / iterations, alone / of_alone, of_alone)
    if rank == 0:
        cells.put_asked(found, cubc.device_info(), options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--cut", default="t", help="directions with faces to an own neighbour")
    parser.add_argument("--volumes", nargs="*", default=[], help="some of them; all")
    parser.add_argument("--solves", nargs="*", default=SOLVES)
    parser.add_argument("--solvers", nargs="+", default=["cg"])
    parser.add_argument("--steps", type=int, default=8, help="of the preconditioner of schwarz")
    parser.add_argument(
        "--transport",
        nargs="+",
        default=["memory"],
        choices=["memory", "messages"],
        help="of faces and sums",
    )
    cells.add_option(parser)
    options = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager:
        values, barrier = manager.dict(), spawn.Barrier(options.ranks, timeout=300)
        ranks = []
        for rank in range(options.ranks):
            os.environ["CUBC_DEVICE"] = f"cuda:{rank}"  # of the process that begins
            ranks.append(spawn.Process(target=rank_of, args=(rank, options, values, barrier)))
            ranks[-1].start()
        for rank in ranks:
            rank.join()
    raise SystemExit(max(abs(rank.exitcode) for rank in ranks))


if __name__ == "__main__":
    main()
