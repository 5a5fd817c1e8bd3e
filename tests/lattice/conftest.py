"""Fixtures of the tests of gauge fields; other tests of lattices have their own of these names."""

import numpy as np
import pytest
from gauge_fields import EXTENT
from lattice_reference import random_links


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(5)


@pytest.fixture(scope="module")
def links(rng):
    return random_links(rng, EXTENT)
