"""Staggered operators as a whole: solutions, propagators, and the numbers of MILC."""

from pathlib import Path

import numpy as np
import pytest
from lattice_reference import random_links

from cubc import lattice

pytestmark = pytest.mark.usefixtures("optimised")

MILC = Path(__file__).resolve().parents[3] / "shared/data/fields"
EXTENT = (4, 4, 4, 4)


def field(name):
    if not (MILC / name).exists():
        pytest.skip(f"{name} of MILC is not in ../shared/data/fields")
    return MILC / name


def error(got, expected):
    return np.linalg.norm(got - expected) / np.linalg.norm(expected)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(8)


@pytest.fixture(scope="module")
def links(rng):
    return random_links(rng, EXTENT)


def sources(rng, *many):
    shape = (*many, *EXTENT[::-1], 3)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


# ---- solutions ----------------------------------------------------------------------------------
@pytest.mark.parametrize("even_odd", [True, False])
def test_solutions(device, rng, links, even_odd):
    operator = lattice.Staggered(lattice.Gauge(links, device=device), 0.2)
    b = sources(rng, 2)
    x, info = operator.solve(b, even_odd=even_odd)
    assert info.converged
    assert error(operator(x), b) < 1e-10


def test_solutions_in_mixed_precision(device, rng, links):
    operator = lattice.HISQ(lattice.Gauge(links, device=device), 0.2)
    b = sources(rng)
    x, info = operator.solve(b, sloppy="half")
    assert info.converged
    assert info.updates > 1
    assert error(operator(x), b) < 1e-10


def test_odd_sources(device, rng, links):
    """The odd part of the solution follows from the even one."""
    operator = lattice.Staggered(lattice.Gauge(links, device=device), 0.2)
    b = sources(rng)
    b[np.indices(EXTENT[::-1]).sum(0) % 2 == 0] = 0
    x, info = operator.solve(b)
    assert info.converged
    assert error(operator(x), b) < 1e-10


def test_mass_zero_is_refused(device, rng, links):
    operator = lattice.Staggered(lattice.Gauge(links, device=device), 0.0)
    assert "mass=0.0" in repr(operator)
    with pytest.raises(ValueError, match="a solve with a mass of 0: it is a positive number"):
        operator.solve(sources(rng))


# ---- the numbers of MILC ------------------------------------------------------------------------
def test_asqtad_of_milc(device):
    """(2 m + D) times MILC's answer is its source, in the precision of the files."""
    gauge = lattice.read_gauge(field("lat.sample.l8"), project=True, device=device)
    operator = lattice.Asqtad(gauge, 0.1, 0.502)
    source = lattice.read_colour_vector(field("ksvector.src.sample.l8"))[0]
    answer = lattice.read_colour_vector(field("ksvector.ans.Minv.sample.l8"))[0]
    source, answer = source.astype(complex), answer.astype(complex)
    assert error(operator(answer), source) < 2e-7
    assert (abs(source) ** 2).sum() == pytest.approx(6903550.72648, rel=1e-10)
    assert (abs(operator.dslash(source)) ** 2).sum() == pytest.approx(4.671268577e9, rel=1e-7)
    assert (abs(answer) ** 2).sum() == pytest.approx(12219.20941, rel=1e-8)
    x, info = operator.solve(source, tol=1e-8)
    assert info.converged
    assert error(x, answer) < 2e-6


@pytest.mark.parametrize("phases", ["milc", "chroma", "tifr"])
def test_hisq_of_milc(device, phases):
    """The pion of lat.sample.l4448.gf, m = 0.05, point source at 0, periodic in time."""
    gauge = lattice.read_gauge(field("lat.sample.l4448.gf"), project=True, device=device)
    operator = lattice.HISQ(gauge, 0.05, antiperiodic_t=False, phases=phases)
    b = np.zeros((3, 8, 4, 4, 4, 3), complex)
    b[:, 0, 0, 0, 0, :] = np.eye(3)
    if phases == "milc":
        assert (abs(operator.dslash(b)) ** 2).sum() == pytest.approx(31.78923566, abs=5e-7)
    x, info = operator.solve(b, tol=1e-12)
    assert info.converged
    pion = (abs(x) ** 2).sum((0, 2, 3, 4, 5)) / 4096
    expected = [
        *(9.715229e-5, 4.619954e-5, 4.720820e-5, 3.425617e-5),
        *(2.959002e-5, 2.138899e-5, 2.852638e-5, 3.737071e-5),
    ]
    # MILC's numbers are larger by 1.5e-6 at every t; a dense solution in NumPy has those here.
    np.testing.assert_allclose(pion, expected, rtol=2e-6, atol=0)
