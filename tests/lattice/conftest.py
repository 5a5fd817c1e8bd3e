"""Optimised kernels, and links and numbers for the tests that have no others of these names."""

import numpy as np
import pytest
from gauge_fields import EXTENT
from lattice_reference import random_links


@pytest.fixture(scope="module", autouse=True)
def optimised_kernels(optimised):
    """The files here share kernels, and solvers run theirs for longer than they compile."""


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(5)


@pytest.fixture(scope="module")
def links(rng):
    return random_links(rng, EXTENT)
