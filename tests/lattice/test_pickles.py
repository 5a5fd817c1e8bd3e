"""Operators that are copied and pickled: they have the same numbers, and caches of their own."""

import copy
import pickle

import numpy as np
import pytest
from lattice_system import LINKS, B

from cubc import lattice

WAYS = [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy]
OPERATORS = [
    (lattice.Wilson, (0.1,), {}),
    (lattice.WilsonClover, (0.1,), {"csw": (1.0, 1.2)}),
    (lattice.TwistedMass, (0.1, 0.2), {}),
    (lattice.Mobius, (0.1, 1.8, 2), {}),
    (lattice.Staggered, (0.1,), {}),
    (lattice.Asqtad, (0.1, 0.9), {}),
    (lattice.HISQ, (0.1,), {}),
]


@pytest.mark.parametrize("way", WAYS, ids=["pickle", "copy", "deepcopy"])
@pytest.mark.parametrize(("kind", "numbers", "options"), OPERATORS)
def test_copies_of_operators(device, way, kind, numbers, options):
    operator = kind(lattice.Gauge(LINKS, device=device), *numbers, **options)
    unused = way(operator)
    psi = B[..., 0, :] if kind in (lattice.Staggered, lattice.Asqtad, lattice.HISQ) else B
    psi = np.stack([psi, psi]) if kind is lattice.Mobius else psi
    expected = operator(psi)
    for made in (unused, way(operator)):
        assert repr(made) == repr(operator)
        np.testing.assert_array_equal(made(psi), expected)


def test_fields_over_ranks_are_of_their_process(device):
    gauge = lattice.Gauge(LINKS, grid=(1, 1, 2, 1), devices=[device, device])
    with pytest.raises(TypeError, match="pickle the links"):
        pickle.dumps(gauge)
