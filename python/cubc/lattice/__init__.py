"""Lattice QCD: gauge configurations and propagators.

>>> import numpy as np, cubc.lattice, pathlib, tempfile
>>> links = np.zeros((4, 2, 2, 2, 4, 3, 3), complex)  # T, Z, Y, X, direction, row, column
>>> links[...] = np.eye(3)
>>> path = pathlib.Path(tempfile.mkdtemp(), "unit.lime")
>>> cubc.lattice.write_links(path, links)
>>> again, info = cubc.lattice.read_links(path)
>>> np.array_equal(links, again), info.format, info.extent
(True, 'ildg', (2, 2, 2, 4))
"""

from ._io import FileInfo, read_links, read_propagator, write_links, write_propagator

__all__ = ["FileInfo", "read_links", "read_propagator", "write_links", "write_propagator"]
