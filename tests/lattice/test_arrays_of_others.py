"""Fields that are known by DLPack alone, wherever one is taken."""

import numpy as np
import pytest
from lattice_system import LINKS, B, random_spinors
from of_dlpack import OfDlpack

import cubc
from cubc import lattice

CPU = {"device": "cpu"}
EXTENT = LINKS.shape[3::-1]
ROTATION = lattice.Rotation.random(EXTENT, seed=1, **CPU)
ONES = np.broadcast_to(np.eye(3, dtype=complex), (*LINKS.shape[:4], 3, 3)).copy()
VECTORS = np.ascontiguousarray(B[..., 0, :])


@pytest.fixture(scope="module")
def wilson():
    return lattice.Wilson(lattice.Gauge(LINKS, **CPU), 0.1)


@pytest.fixture(scope="module")
def propagator():
    columns = [random_spinors(LINKS.shape[:4], seed) for seed in range(12)]
    return np.moveaxis(np.reshape(columns, (4, 3, *B.shape)), (0, 1), (-3, -1))


TAKEN = {
    "links": (LINKS, lambda x, m: lattice.Gauge(x, **CPU).links().numpy()),
    "links of several ranks": (
        LINKS,
        lambda x, m: lattice.Gauge(x, grid=(1, 1, 1, 1), devices=["cpu"]).plaquette(),
    ),
    "an operator": (B, lambda x, m: m(x)),
    "its adjoint": (B, lambda x, m: m.dagger(x)),
    "hops": (B, lambda x, m: m.dslash(x)),
    "matrices of a rotation": (ONES, lambda x, m: lattice.Rotation(x, **CPU).numpy()),
    "a spinor that is rotated": (B, lambda x, m: ROTATION(x)),
    "a solve": (B, lambda x, m: m.solve(B, x0=x, tol=1e-3)[0]),
    "a source": (B, lambda x, m: m.solve(x, tol=1e-3)[0]),
    "vectors": (
        VECTORS,
        lambda x, m: lattice.Staggered(m.gauge, mass=0.2)(x),
    ),
    "an effective mass": (np.cosh(np.arange(-3.0, 4)), lambda x, m: lattice.effective_mass(x)),
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_call(wilson, name):
    given, call = TAKEN[name]
    found = call(OfDlpack(given), wilson)
    assert type(found) is type(call(given, wilson))
    np.testing.assert_array_equal(found, call(given, wilson))


def test_an_array_of_a_device_stays_there(wilson):
    """The host's memory is read as NumPy's is, and gives NumPy's."""
    there = wilson(OfDlpack(cubc.asarray(B, **CPU)))
    np.testing.assert_array_equal(there, wilson(B))


def test_propagators(wilson, propagator, tmp_path):
    for call in (lattice.pion_correlator, wilson.pion_correlator):
        np.testing.assert_array_equal(call(OfDlpack(propagator)), call(propagator))
    source = np.ascontiguousarray(lattice.point_source(EXTENT, (0, 0, 0, 0)))
    given = wilson.propagator(source=OfDlpack(source), tol=1e-3)
    np.testing.assert_array_equal(given, wilson.propagator((0, 0, 0, 0), tol=1e-3))
    for name, field in {"propagator": propagator, "spinor": B, "colour_vector": VECTORS}.items():
        path = tmp_path / name
        getattr(lattice, f"write_{name}")(path, OfDlpack(field))
        np.testing.assert_array_equal(getattr(lattice, f"read_{name}")(path)[0], field)
    lattice.write_gauge(tmp_path / "links", OfDlpack(LINKS))
    np.testing.assert_array_equal(lattice.read_links(tmp_path / "links")[0], LINKS)
