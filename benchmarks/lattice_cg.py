"""Conjugate gradients on one GPU: microseconds an iteration, and iterations.

Links are rows of 1 + 0.25 G made orthonormal, of G uniform in [-1, 1) (plaquette 0.798), kappa
0.132, antiperiodic in time, even-odd, to 1e-10 in double precision; the second call, when all
kernels are there.

    python benchmarks/lattice_cg.py [extent ...] [--solvers NAME ...] [--delta D] [--json]
        [--maxiter N] [--schwarz STEPS]
"""

import argparse
import itertools

import cells
import numpy as np

import cubc
from cubc import lattice

KAPPA = 0.132
# QUDA's recorded microseconds an iteration of conjugate gradients, and its iterations, on another
# H200 and another field of the same kind.
QUDA = {
    (16, "single"): (83.1, 105),
    (16, "half"): (84.3, 105),
    (32, "single"): (664, 177),
    (32, "half"): (486, 177),
}
QUDA_ORIGIN = {"peer_name": "QUDA", "peer_version": "9521952c, recorded"}


def links(extent, seed=7):
    rng = np.random.default_rng(seed)
    shape = (extent,) * 4 + (4, 3, 3)
    a = rng.uniform(-0.25, 0.25, shape) + 1j * rng.uniform(-0.25, 0.25, shape)
    a += np.eye(3)
    for row in range(2):
        v = a[..., row, :]
        for before in range(row):
            u = a[..., before, :]
            v -= (u.conj() * v).sum(-1, keepdims=True) * u
        v /= np.linalg.norm(v, axis=-1, keepdims=True)
    a[..., 2, :] = np.cross(a[..., 0, :], a[..., 1, :]).conj()
    return a


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("extents", nargs="*", type=int, default=[16, 32])
    parser.add_argument("--solvers", nargs="+", default=["cg", "bicgstab"])
    parser.add_argument(
        "--delta", type=float, default=0.2, help="an update after so much of a drop"
    )
    parser.add_argument("--maxiter", type=int, default=2000)
    parser.add_argument("--schwarz", type=int, default=0, help="steps of the preconditioner of gcr")
    cells.add_option(parser)
    options = parser.parse_args()
    found = []
    for extent in options.extents:
        gauge = lattice.Gauge(links(extent))
        print(f"{extent}^4 on {gauge.device}, plaquette {gauge.plaquette()[0]:.4f}")
        D = lattice.Wilson(gauge, KAPPA, precision="double")
        g = np.random.default_rng(1).normal(size=(2, *[extent] * 4, 4, 3))
        b = g[0] + 1j * g[1]
        how = {"maxiter": options.maxiter, "delta": options.delta}
        for sloppy, solver in itertools.product(("double", "single", "half"), options.solvers):
            for _ in range(2):
                more = {"schwarz": options.schwarz} if solver == "gcr" else {}
                _, info = D.solve(b, solver=solver, sloppy=sloppy, **how, **more)
            each = 1e6 * info.seconds / max(info.iterations, 1)
            print(
                f"{extent:3d}^4 {solver:9s} {sloppy:7s} {info.iterations:5d} iterations "
                f"{each:9.2f} us each {info.gflops:9.1f} GFLOPS {info.reason}, "
                f"residual {info.residual:.2e}, {info.updates} updates",
                flush=True,
            )
            cell = {
                "benchmark": "solve",
                "type": "double" if sloppy == "double" else f"double, {sloppy} inside",
                "size": f"{extent}^4",
                "case": f"{solver}, schwarz {options.schwarz}" if any(more.values()) else solver,
                "cubc": round(each, 2),
                "unit": "us an iteration",
                "iterations": info.iterations,
                "gflops": round(info.gflops, 1),
                "end": info.reason,
                "residual": info.residual,
                "updates": info.updates,
            }
            if solver == "cg" and (extent, sloppy) in QUDA:
                peer, iterations = QUDA[extent, sloppy]
                cell |= {"peer": peer, "ratio": round(peer / each, 3)} | QUDA_ORIGIN
                cell["peer_iterations"] = iterations
            found.append(cell)
    cells.put_asked(found, cubc.device_info(), options)


if __name__ == "__main__":
    main()
