"""Lattice operators beside QUDA's recorded times, with several sources too, and whole solves.

    python benchmarks/lattice_operators.py [--rows NAME ...] [--policies x.db ...] [--json]

improved, naive       the hopping term of one parity of staggered fermions, long links of 13
                      numbers, naive ones of 12
wilson                the Wilson Dslash of one parity, links of 12 numbers
hop, inverse, normal  parts of the Moebius operator (lattice_domain_wall.py), Ls = 12
solve                 an iteration of conjugate gradients, half inside double

A time is microseconds of a call among many in one CUDA graph, for a solve those of all over the
iterations. QUDA's are those of its develop branch at 9521952c on an H200 of another machine; a
bound is the bytes of the arrays, or for a solve of two applications and its sums, at 4270 GB/s.
"""

import argparse
import functools
from concurrent.futures import ThreadPoolExecutor

import cells
import numpy as np
import torch
from lattice_domain_wall import Operator
from lattice_dslash import (
    QUDA_ORIGIN,
    extent_of,
    fields_of,
    made_fields,
    random_gauge,
    random_reals,
    seconds_of,
)

import cubc
from cubc import _core, lattice
from cubc.lattice._fields import precision_type

BANDWIDTH = 4270e9
BYTES = {"double": 8, "single": 4, "half": 2}
LS = 12
D, S, H = "double", "single", "half"
ROWS = [  # name, volume, sources, {precision: QUDA's microseconds}
    ("improved", "48x48x48x64", 1, {D: 2081, S: 1064, H: 627}),
    ("improved", "32x32x32x32", 1, {D: 311, S: 165, H: 105}),
    ("improved", "32x32x32x32", 4, {S: 261}),
    ("improved", "32x32x32x32", 8, {S: 440}),
    ("improved", "32x32x32x32", 16, {S: 835}),
    ("naive", "48x48x48x64", 1, {S: 456, H: 260}),
    ("wilson", "32x32x32x32", 4, {S: 262}),
    ("wilson", "32x32x32x32", 8, {S: 469}),
    ("wilson", "32x32x32x32", 12, {S: 718, H: 679}),
    ("wilson", "32x32x32x32", 16, {S: 916}),
    ("hop", "24x24x24x24", 1, {D: 546, S: 258, H: 232}),
    ("inverse", "24x24x24x24", 1, {S: 117}),
    ("normal", "24x24x24x24", 1, {D: 3219, S: 1523, H: 1352}),
    ("normal", "32x32x32x64", 1, {D: 18911, S: 8918}),
    ("solve HISQ", "32x32x32x32", 1, {H: None}),
    ("solve Moebius", "24x24x24x24", 1, {H: None}),
]


def spinor_bytes(precision, reals):
    return reals * BYTES[precision] + 4 * (precision == "half")


def link_bytes(precision, reals):
    return 8 * BYTES[precision] * (reals + reals % 2 * (precision == "half"))


# ---- rows -------------------------------------------------------------------------------------
# Each gives a function that queues a call on a stream, and the bytes of a call.
def staggered(name, extent, sources, precision):
    sites = int(np.prod(extent)) // 2
    long = name == "improved"
    links = {"links": 18 if long else 12, **({"long_links": 13} if long else {})}
    given = made_fields(extent, precision, sources, 6) | {
        "reconstruct": links["links"],
        "signs": 1 << 20 | 0x2D28,
        "a": 1.0,
        "scale": 1.0,
    }
    if long:
        given |= {"long_reconstruct": 13, "long_scale": 1.0}
    bytes_ = 2 * sources * sites * spinor_bytes(precision, 6)
    for field, reals in links.items():
        stored = link_bytes(precision, reals) // BYTES[precision]
        given[field] = random_reals(stored * sites, precision_type(precision))
        bytes_ += sites * link_bytes(precision, reals)
    return functools.partial(launch, "dslash_staggered", given), bytes_


def wilson(name, extent, sources, precision):
    sites = int(np.prod(extent)) // 2
    given = fields_of(random_gauge(extent), precision, 12, sources)
    each = link_bytes(precision, 12) + 2 * sources * spinor_bytes(precision, 24)
    return functools.partial(launch, "dslash_wilson", given), sites * each


def domain_wall(name, extent, sources, precision):
    sites = int(np.prod(extent)) // 2 * LS
    operator = Operator(random_gauge(extent), precision, LS)
    spinors, links = {"hop": (2, 1), "inverse": (2, 0), "normal": (12, 4)}[name]
    each = spinors * spinor_bytes(precision, 24) + links * link_bytes(precision, 12) / LS
    return getattr(operator, name), sites * each


def launch(kernel, given, stream):
    _core.call(kernel, given, stream=stream)


MAKERS = {"improved": staggered, "naive": staggered, "wilson": wilson}


def seconds_of_solve(name, extent, precision):
    """Seconds of an iteration, and the bytes of one."""
    sites = int(np.prod(extent)) // 2
    gauge = lattice.Gauge.random(extent, noise=0.3)
    shape = extent[::-1]
    if name == "solve HISQ":
        operator = lattice.HISQ(gauge, 0.01, precision="double")
        b = torch.randn(*shape, 3, dtype=torch.complex128, device="cuda")
        links = link_bytes(precision, 18) + link_bytes(precision, 13)
        each = 2 * links + (5 + 10) * spinor_bytes(precision, 6)
    else:
        operator = lattice.Mobius(gauge, 0.04, 1.8, LS, precision="double")
        b = torch.randn(LS, *shape, 4, 3, dtype=torch.complex128, device="cuda")
        sites *= LS
        each = (12 + 6) * spinor_bytes(precision, 24) + 4 * link_bytes(precision, 12) / LS
    for _ in range(2):
        _, info = operator.solve(b, sloppy=precision, tol=1e-10, maxiter=1000)
    return info.seconds / info.iterations, sites * each


# ---- cells ------------------------------------------------------------------------------------
def compile_all(rows):
    """Compiles the hops side by side, which is most of the time of a first run."""
    names = {"improved": "dslash.improved.r13", "naive": "dslash.naive.r12"}
    names |= {"wilson": "dslash.wilson.r12", "hop": "dslash.wilson.r12"}
    types = {"double": "F64", "single": "F32", "half": "I16"}
    arch = cubc.device_info()["arch"]

    def one(name, volume, sources, precision):
        axes = dict(zip("XYZT", extent_of(volume), strict=True))
        axes["Sources"] = LS if name == "hop" else sources
        kind = {"T{ct}": types[precision]}
        label = _core.base(names[name], kind, arch, axes)
        _core.compile(names[name], kind, arch, label, 0.0, b"", axes)

    with ThreadPoolExecutor(16) as pool:
        for name, volume, sources, times in rows:
            for precision in times if name in names else ():
                pool.submit(one, name, volume, sources, precision)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", nargs="*", default=[], help="names of rows; all")
    parser.add_argument("--policies", nargs="*", default=[])
    cells.add_option(parser)
    options = parser.parse_args()
    for store in options.policies:
        cubc.use_policies(store)
    rows = [row for row in ROWS if not options.rows or row[0] in options.rows]
    compile_all(rows)
    found = []
    print("row            volume       sources precision  us a call   bound  share  of QUDA")
    for name, volume, sources, times in rows:
        extent = extent_of(volume)
        for precision, peer in times.items():
            if name.startswith("solve"):
                seconds, bytes_ = seconds_of_solve(name, extent, precision)
            else:
                made = MAKERS.get(name, domain_wall)(name, extent, sources, precision)
                seconds, bytes_ = seconds_of(made[0]), made[1]
                del made
            us, bound = seconds * 1e6, bytes_ / BANDWIDTH * 1e6
            ratio = f"x{peer / us:.2f}" if peer else "-"
            print(
                f"{name:14} {volume:12} {sources:7} {precision:9} {us:10.1f} {bound:7.0f} "
                f"{bound / us:6.2f}  {ratio}",
                flush=True,
            )
            cell = {
                "benchmark": "lattice_operators",
                "type": precision,
                "size": volume,
                "case": f"{name}, {sources} source" + "s" * (sources > 1),
                "cubc": round(us, 1),
                "unit": "us",
                "bound": round(bound, 1),
            }
            if peer:
                cell |= {"peer": peer, "ratio": round(peer / us, 2)} | QUDA_ORIGIN
            found.append(cell | cells.origin(cubc.device_info()))
    if options.json:
        cells.put(found, cells.folder_name(cubc.device_info()), options.json)


if __name__ == "__main__":
    main()
