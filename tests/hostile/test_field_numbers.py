"""Fields with a number that is none, or larger than a precision holds: the result has it too.

In fixed point a site has one norm, and what is no number must not become a zero there.
"""

import numpy as np
import pytest
from inputs import on, value
from lattice_reference import random_links, random_spinors

from cubc import lattice

pytestmark = pytest.mark.usefixtures("optimised")
EXTENT = (4, 2, 4, 6)  # as in lattice_system: they share kernels
OPERATORS = {
    "wilson": lambda u, precision: lattice.Wilson(u, 0.11, precision=precision),
    "clover": lambda u, precision: lattice.WilsonClover(u, 0.11, 1.0, precision=precision),
    "twisted": lambda u, precision: lattice.TwistedMass(u, 0.11, 0.2, precision=precision),
    "staggered": lambda u, precision: lattice.Staggered(u, 0.1, precision=precision),
}


def neighbourhood(t, z, y, x):
    """A site and its eight neighbours, which are what an operator carries a number to."""
    one = np.zeros(EXTENT[::-1], bool)
    one[t, z, y, x] = True
    return np.any([one, *(np.roll(one, s, axis) for axis in range(4) for s in (1, -1))], axis=0)


@pytest.mark.some
@pytest.mark.parametrize("number", [np.nan, np.inf, 1e300])
@pytest.mark.parametrize("precision", ["single", "half"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_what_is_no_number_stays_none(device, operator, precision, number):
    rng = np.random.default_rng(3)
    d = OPERATORS[operator](lattice.Gauge(random_links(rng, EXTENT), device=device), precision)
    x = random_spinors(rng, EXTENT)
    x = x[..., 0, :].copy() if operator == "staggered" else x
    clean = value(d(on(device, x)))
    x[1, 2, 1, 0].flat[1] = number
    y = value(d(on(device, x)))
    lost = ~np.isfinite(y).reshape(*EXTENT[::-1], -1).all(axis=-1)
    touched = neighbourhood(1, 2, 1, 0)
    assert (lost == touched).all()
    np.testing.assert_array_equal(y[~touched], clean[~touched])
