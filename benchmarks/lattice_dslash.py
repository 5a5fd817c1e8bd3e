"""The Wilson Dslash of one parity on device-resident fields, beside QUDA's recorded speed.

    python benchmarks/lattice_dslash.py [--volumes 16 32 64] [--policies x.db ...] [--json]

A time is that of a call among many in one CUDA graph, the median of several launches: fields stay
in the L2 cache where they fit, as they do in a solver. GFLOPS are at 1320 flop a site. QUDA's are
those of its develop branch at 9521952c, built for sm_90 with CUDA 13.0 and tuned, measured on an
H200 of another machine: one parity, antiperiodic in time, many calls too.
"""

import argparse
import statistics
import time
from functools import partial

import cells
import numpy as np
import torch

import cubc
from cubc._core import call
from cubc.lattice import Gauge
from cubc.lattice._fields import extent_fields, outputs, precision_type

QUDA = {  # extent: {(precision, reconstruct): GFLOPS}
    "32x32x32x32": {
        ("double", 18): 2789.5,
        ("double", 12): 3449.8,
        ("double", 8): 3483.2,
        ("single", 18): 5746.0,
        ("single", 12): 7145.0,
        ("single", 8): 8043.1,
        ("half", 18): 9476.5,
        ("half", 12): 10344.2,
        ("half", 8): 9707.2,
    },
    "16x16x16x16": {
        ("double", 18): 2967.2,
        ("double", 12): 3555.6,
        ("double", 8): 2855.0,
        ("single", 18): 5147.5,
        ("single", 12): 5440.1,
        ("single", 8): 5316.3,
        ("half", 18): 5631.5,
        ("half", 12): 5711.9,
        ("half", 8): 5060.9,
    },
    "64x64x64x64": {
        ("double", 18): 2677.2,
        ("double", 12): 3308.8,
        ("double", 8): 3294.9,
        ("single", 18): 5693.3,
        ("single", 12): 7246.3,
        ("single", 8): 8063.0,
        ("half", 18): 9432.7,
        ("half", 12): 10594.0,
        ("half", 8): 9994.3,
    },
}
QUDA_ORIGIN = {"peer_name": "QUDA", "peer_version": "9521952c, recorded"}
CALLS, LAUNCHES = 20, 15


def extent_of(text):
    parts = [int(part) for part in text.split("x")]
    return tuple(parts * 4 if len(parts) == 1 else parts)


def random_gauge(extent):
    """SU(3) links, by Gram-Schmidt on the device."""
    x, y, z, t = extent
    a = torch.randn(t, z, y, x, 4, 3, 3, dtype=torch.complex64, device="cuda")
    first = a[..., 0, :] / a[..., 0, :].norm(dim=-1, keepdim=True)
    second = a[..., 1, :]
    second = second - first * (first.conj() * second).sum(-1, keepdim=True)
    second = second / second.norm(dim=-1, keepdim=True)
    third = torch.linalg.cross(first, second).conj()
    return Gauge(torch.stack([first, second, third], -2))


def random_reals(n, kind):
    if kind == "int16":
        data = torch.randint(-32767, 32767, (n,), dtype=torch.int16, device="cuda")
    else:
        data = (torch.rand(n, device="cuda") * 2 - 1).to(getattr(torch, kind))
    return cubc.asarray(data)


def made_fields(extent, precision, sources, reals):
    """Input and output of a hop to even sites, of so many reals a site."""
    sites = int(np.prod(extent)) // 2 * sources
    kind = precision_type(precision)
    n = reals * sites
    norms = None
    made = outputs(kind, sites)
    if kind == "int16":
        norms = cubc.asarray(torch.rand(sites, device="cuda"))
        made["out_norms"] = ("float32", (sites,), cubc.empty(sites, "float32"))
    made["out"] = (kind, (n,), cubc.empty(n, kind))
    fields = {"in": random_reals(n, kind), "in_norms": norms, "parity": 0}
    return fields | extent_fields(extent) | made


def fields_of(gauge, precision, reconstruct, sources):
    return {
        "links": gauge.native(reconstruct, precision),
        "reconstruct": reconstruct,
        "antiperiodic": True,
        "anisotropy": 1.0,
        **made_fields(gauge.extent, precision, sources, 24),
    }


def launch(given, stream):
    call("dslash_wilson", given, stream=stream)


def seconds_of(calls):
    """Seconds of what `calls` queues on a stream."""
    stream = torch.cuda.Stream()
    calls(stream.cuda_stream)
    torch.cuda.synchronize()
    start = time.perf_counter()
    calls(stream.cuda_stream)
    torch.cuda.synchronize()
    count = max(2, min(CALLS, int(0.02 / (time.perf_counter() - start))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(count):
            calls(stream.cuda_stream)
    times = []
    for _ in range(LAUNCHES):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) * 1e-3 / count)
    return statistics.median(times[3:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--volumes", nargs="*", default=["16", "24", "32", "48x48x48x64", "64"])
    parser.add_argument("--precisions", nargs="*", default=["double", "single", "half"])
    parser.add_argument("--reconstruct", nargs="*", type=int, default=[18, 12, 8])
    parser.add_argument("--sources", nargs="*", type=int, default=[1])
    parser.add_argument("--policies", nargs="*", default=[])
    cells.add_option(parser)
    options = parser.parse_args()
    found = []
    for store in options.policies:
        cubc.use_policies(store)
    print(f"{cubc.device_info()['model']}, driver {cubc.device_info()['driver']}")
    print("volume         precision reconstruct sources   us a call    GFLOPS  of QUDA")
    for text in options.volumes:
        extent = extent_of(text)
        gauge = random_gauge(extent)
        name = "x".join(map(str, extent))
        for precision in options.precisions:
            for reconstruct in options.reconstruct:
                for sources in options.sources:
                    given = fields_of(gauge, precision, reconstruct, sources)
                    seconds = seconds_of(partial(launch, given))
                    sites = int(np.prod(extent)) / 2 * sources
                    gflops = 1320 * sites / seconds * 1e-9
                    peer = QUDA.get(name, {}).get((precision, reconstruct))
                    ratio = f"x{gflops / peer:.2f}" if peer else "-"
                    print(
                        f"{name:14} {precision:9} {reconstruct:11} {sources:7} "
                        f"{seconds * 1e6:11.2f} {gflops:9.0f}  {ratio}",
                        flush=True,
                    )
                    cell = {
                        "benchmark": "dslash_wilson",
                        "type": f"{precision} {reconstruct}",
                        "size": name,
                        "case": f"{sources} source" + "s" * (sources > 1),
                        "cubc": round(gflops),
                        "unit": "GFLOPS",
                        "us_a_call": round(seconds * 1e6, 2),
                    }
                    if peer:
                        cell |= {"peer": peer, "ratio": round(gflops / peer, 2)} | QUDA_ORIGIN
                    found.append(cell)
                    del given
        del gauge
    cells.put_asked(found, cubc.device_info(), options)


if __name__ == "__main__":
    main()
