"""Parts of domain-wall operators on device-resident fields, beside QUDA's recorded times.

    python benchmarks/lattice_domain_wall.py [--volumes 24 ...] [--policies x.db ...] [--json]

hop       the hopping term of one parity on all s
inverse   the matrix along s and its inverse, without hops
normal    M_e^+ M_e of the Moebius operator, five launches

A time is that of a call among many in one CUDA graph. QUDA's are microseconds of its develop branch
at 9521952c, built for sm_90, on an H200 of another machine; "normal" is that of its fused kernels.
"""

import argparse

import cells
from lattice_dslash import QUDA_ORIGIN, extent_of, fields_of, random_gauge, seconds_of

import cubc
from cubc._core import call

QUDA = {  # (volume, part): microseconds in double, single and half
    ("24x24x24x24", "hop"): (546, 258, 232),
    ("24x24x24x24", "inverse"): (None, 117, None),
    ("24x24x24x24", "normal"): (3219, 1523, 1352),
    ("32x32x32x64", "normal"): (18911, 8918, None),
}
PRECISIONS = ["double", "single", "half"]
B5, C5, M5, MASS = 1.5, 0.5, 1.8, 0.04
SAME, NEXT = B5 * (4 - M5) + 1, C5 * (4 - M5) - 1


def field_of(given, name):
    return {name: given["out"][2], f"{name}_norms": (given["out_norms"] or (0, 0, None))[2]}


class Operator:
    """Calls of the parts, on fields of their own."""

    def __init__(self, gauge, precision, ls):
        self.made = [fields_of(gauge, precision, 12, ls) for _ in range(3)]
        self.of_k = {
            "inner": ls,
            "a": B5 / SAME,
            "next": C5 / SAME,
            "step": -NEXT / SAME,
            "mass": MASS,
        }

    def launch(self, kernel, to, at, stream, **given):
        """A kernel from field `at` (that given, or an output) to output `to`."""
        fields = dict(self.made[to])
        if at is not None:
            fields |= field_of(self.made[at], "in")
        call(kernel, fields | given, stream=stream)

    def along(self, to, at, stream, **given):
        self.launch("dslash_domain_wall", to, at, stream, **self.of_k, **given)

    def hop(self, stream):
        self.launch("dslash_wilson", 0, None, stream)

    def inverse(self, stream):
        self.along(0, None, stream, hops=False)

    def normal(self, stream):
        x = {name: self.made[0][of] for name, of in (("x", "in"), ("x_norms", "in_norms"))}
        self.along(0, None, stream, hops=False)
        self.along(1, 0, stream, hops=True, parity=1)
        self.launch("dslash_wilson", 2, 1, stream, a=-0.25, **x)
        self.along(1, 2, stream, hops=True, parity=1, dagger=True)
        last = field_of(self.made[2], "x")
        self.along(0, 1, stream, hops=True, dagger=True, **last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--volumes", nargs="*", default=["24", "32x32x32x64"])
    parser.add_argument("--precisions", nargs="*", default=PRECISIONS)
    parser.add_argument("--ls", type=int, default=12)
    parser.add_argument("--parts", nargs="*", default=["hop", "inverse", "normal"])
    parser.add_argument("--policies", nargs="*", default=[])
    cells.add_option(parser)
    options = parser.parse_args()
    found = []
    for store in options.policies:
        cubc.use_policies(store)
    print("volume         Ls precision part      us a call  of QUDA")
    for text in options.volumes:
        extent = extent_of(text)
        gauge, name = random_gauge(extent), "x".join(map(str, extent))
        for precision in options.precisions:
            operator = Operator(gauge, precision, options.ls)
            for part in options.parts:
                us = seconds_of(getattr(operator, part)) * 1e6
                times = QUDA.get((name, part)) if options.ls == 12 else None
                peer = times and times[PRECISIONS.index(precision)]
                ratio = f"x{peer / us:.2f}" if peer else "-"
                print(
                    f"{name:14} {options.ls:2} {precision:9} {part:8} {us:10.1f}  {ratio}",
                    flush=True,
                )
                cell = {
                    "benchmark": "domain_wall",
                    "type": precision,
                    "size": f"{name}x{options.ls}",
                    "case": part,
                    "cubc": round(us, 1),
                    "unit": "us",
                }
                if peer:
                    cell |= {"peer": peer, "ratio": round(peer / us, 2)} | QUDA_ORIGIN
                found.append(cell)
            del operator
        del gauge
    cells.put_asked(found, cubc.device_info(), options)


if __name__ == "__main__":
    main()
