"""Hops over ranks have the bits of one rank, compiled as users have them.

No product and sum of a hop is left to the compiler to fuse, which chooses otherwise in a kernel
with faces (multiply_add of kernels/dialect/simt.h).
"""

import itertools

import numpy as np
import pytest
from every_case import EVERY_CASE
from lattice_reference import random_spinors
from lattice_system import random_links as near_one

from cubc import lattice

EXTENT = (4, 4, 4, 8)  # X, Y, Z, T: sites off the faces, of three slices too
MASS = 0.12  # or kappa
PRECISIONS = ("double", "single", "half")
THETA = {"theta": (0.3, 0.2, 0.7, 1.1)}
OPERATORS = {
    "Wilson": (THETA, (18, 12, 8)),
    "TwistedMass": ({"mu": 0.3}, (18, 12, 8)),
    "TwistedDoublet": ({"mu": 0.3, "epsilon": 0.2}, (18, 12, 8)),
    "WilsonClover": ({"csw": 1.2}, (18, 12, 8)),
    "TwistedClover": ({"csw": 1.2, "mu": 0.3}, (18, 12, 8)),
    "Mobius": ({"M5": 1.4, "Ls": 4}, (18, 12, 8)),
    "Staggered": ({}, (18, 12, 8)),
    "Asqtad": ({"u0": 0.9}, (18, 13)),
    "HISQ": ({}, (18, 13)),
}
STAGGERED = ("Staggered", "Asqtad", "HISQ")
QUICK = [  # of an ordinary run, as each kernel is compiled with all optimisation
    ("Wilson", 8, "half"),
    ("TwistedDoublet", 12, "double"),
    ("Staggered", 8, "single"),
]
# Kernels compute their site terms or links, whose sums the compiler may fuse in either way. What is
# stored in single or half precision has the same bits all the same.
COMPUTED = ("WilsonClover", "TwistedClover", "Asqtad", "HISQ")
EVERY = [
    (kind, reals, precision)
    for kind, (_, reconstructions) in OPERATORS.items()
    for reals, precision in itertools.product(reconstructions, PRECISIONS)
    if not (kind in COMPUTED and precision == "double")
]
ALL = EVERY if EVERY_CASE else QUICK


def fields(kind):
    """Links, and a field that the operator acts on."""
    rng = np.random.default_rng(11)
    inner = {"TwistedDoublet": [2], "Mobius": [OPERATORS["Mobius"][0]["Ls"]]}.get(kind, [])
    psi = random_spinors(rng, EXTENT, *inner)
    return near_one(EXTENT[::-1]), psi[..., 0, :] if kind in STAGGERED else psi


def operator(kind, reals, precision, links, **how):
    options = {"reconstruct": reals, "precision": precision, **OPERATORS[kind][0]}
    return getattr(lattice, kind)(lattice.Gauge(links, **how), MASS, **options)


@pytest.mark.usefixtures("as_users_have")
@pytest.mark.parametrize(("kind", "reals", "precision"), ALL)
def test_a_hop_has_the_bits_of_one_rank(device, kind, reals, precision):
    links, psi = fields(kind)
    grid = lattice.Grid(cut="t" if kind in STAGGERED else "zt", device=device)
    whole = operator(kind, reals, precision, links, device=device)
    cut = operator(kind, reals, precision, links, grid=grid, device=device)
    np.testing.assert_array_equal(cut(psi), whole(psi))
