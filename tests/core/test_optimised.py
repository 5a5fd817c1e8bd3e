"""Kernels as users run them: the cpu's, compiled with optimisation, unlike in other tests."""

import isolated
import pytest

CODE = {
    "primitives": """
from primitives import PRIMITIVES, values

ALIKE = {"argsort", "partition in three", "unique_consecutive, own equality"}  # as others are
for n in (1, 10_001, 300_001):
    x = values(n)
    for primitive in (p for name, p in PRIMITIVES.items() if name not in ALIKE):
        primitive.check(primitive.call(x, device="cpu"), x)
""",
    "floats": """
import numpy as np
import cubc

for dtype in ("float32", "float64"):
    x = (np.arange(300_001) % 7 - 3).astype(dtype)
    for got, expected in [
        (cubc.reduce(x, device="cpu"), x.sum()),
        (cubc.argmin(x, device="cpu"), x.argmin()),
        (cubc.scan(x, device="cpu"), x.cumsum()),
        (cubc.transform("2 * x + 1", x=x, device="cpu"), 2 * x + 1),
    ]:
        np.testing.assert_array_equal(got, expected)
""",
    "lattice": """
import numpy as np
from lattice_reference import dslash, random_links, random_spinors

from cubc import lattice

rng, extent = np.random.default_rng(7), (8, 4, 6, 2)
links, psi = random_links(rng, extent), random_spinors(rng, extent)
expected = psi - 0.12 * dslash(links, psi, False, True)
gauge = lattice.Gauge(links, device="cpu")
for precision, reconstruct, error in (("double", 18, 1e-14), ("half", 12, 3e-4)):
    operator = lattice.Wilson(gauge, 0.12, precision=precision, reconstruct=reconstruct)
    assert np.linalg.norm(operator(psi) - expected) < error * np.linalg.norm(expected)
""",
}


@pytest.mark.parametrize("kind", CODE)
def test_against_numpy(kind):
    isolated.output(CODE[kind], CUBC_CXXFLAGS=None)
