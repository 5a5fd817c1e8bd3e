"""Lattice QCD: gauge fields, Dirac operators, configurations and propagators in files.

>>> import numpy as np
>>> from cubc import lattice
>>> links = np.zeros((4, 4, 4, 4, 4, 3, 3), complex)  # T, Z, Y, X, direction, row, column
>>> links[...] = np.eye(3)
>>> D = lattice.Wilson(lattice.Gauge(links), kappa=0.1, antiperiodic_t=False, precision="double")
>>> x = np.ones((4, 4, 4, 4, 4, 3), complex)
>>> float(abs(D(x) - (1 - 8 * 0.1) * x).max()) < 1e-14  # a constant has momentum 0
True
"""

from ._clover import TwistedClover, WilsonClover
from ._domain_wall import DomainWall, Mobius
from ._fat_links import fat_links
from ._gauge import Gauge
from ._gauge_files import read_gauge, write_gauge
from ._grid import Grid
from ._io import (
    FileInfo,
    read_colour_vector,
    read_info,
    read_links,
    read_propagator,
    read_spinor,
    read_staggered_propagator,
)
from ._io_write import (
    write_colour_vector,
    write_links,
    write_propagator,
    write_spinor,
    write_staggered_propagator,
)
from ._precompile import precompile
from ._propagator import effective_mass, pion_correlator, propagator
from ._quenched import quenched
from ._rotations import Rotation
from ._solve import SolveInfo, solve
from ._sources import point_source, random_wall_source, wall_source
from ._staggered import HISQ, Asqtad, Staggered
from ._twisted import TwistedDoublet, TwistedMass
from ._wilson import Wilson

__all__ = [
    "HISQ",
    "Asqtad",
    "DomainWall",
    "FileInfo",
    "Gauge",
    "Grid",
    "Mobius",
    "Rotation",
    "SolveInfo",
    "Staggered",
    "TwistedClover",
    "TwistedDoublet",
    "TwistedMass",
    "Wilson",
    "WilsonClover",
    "effective_mass",
    "fat_links",
    "pion_correlator",
    "point_source",
    "precompile",
    "propagator",
    "quenched",
    "random_wall_source",
    "read_colour_vector",
    "read_gauge",
    "read_info",
    "read_links",
    "read_propagator",
    "read_spinor",
    "read_staggered_propagator",
    "solve",
    "wall_source",
    "write_colour_vector",
    "write_gauge",
    "write_links",
    "write_propagator",
    "write_spinor",
    "write_staggered_propagator",
]
