"""Double sources whose numbers single precision does not hold."""

import numpy as np
import pytest
from lattice_system import KAPPA, LINKS, B

import cubc
from cubc import lattice


@pytest.fixture(scope="module")
def operator(device):
    return lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="single")


def left(operator, x, b):
    """The residual by double products of numbers near 1."""
    scale = abs(b).max()
    double = lattice.Wilson(operator.gauge, KAPPA)
    return np.linalg.norm(b / scale - double(x / scale)) / np.linalg.norm(b / scale)


@pytest.mark.parametrize("factor", [1e-300, 1e-50, 1e-44, 1e-40, 1.0, 1e60, 1e150])
def test_a_source_of_any_size(operator, factor):
    x, info = operator.solve(B * factor)
    assert info.converged and info.residual < 1e-5
    assert left(operator, x, B * factor) < 1e-5


@pytest.mark.parametrize("in_place", [False, True])
def test_several_sources_of_their_own_sizes(operator, device, in_place):
    b = np.stack([B, B * 1e-50, B * 0, B * 1e80])
    given = cubc.asarray(b, device=device)
    x, info = operator.solve(given, out=given if in_place else None)
    assert info.converged and (x is given) == in_place
    x = x.numpy()
    assert max(left(operator, x[k], b[k]) for k in (0, 1, 3)) < 1e-5
    assert not x[2].any() and info.sources[2].reason.endswith("so is the solution")


def test_shifts_and_a_guess(operator):
    b = np.stack([B, B * 1e-45])
    x, info = operator.solve(b, solver="multishift", shifts=[0.1, 0.5])
    assert info.converged and x.shape == (2, *b.shape)
    np.testing.assert_allclose(x[:, 1] * 1e45, x[:, 0], rtol=1e-3, atol=1e-5)
    x, info = operator.solve(b[1], x0=operator.solve(b[1])[0])
    assert info.converged and info.iterations < 3
    assert left(operator, x, b[1]) < 1e-5
