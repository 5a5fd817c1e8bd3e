"""The Dslash of domain-wall fermions against NumPy."""

import lattice_terms as terms
import numpy as np
import pytest
from domain_wall_reference import Along
from inputs import pairs_of
from lattice_terms import BOUNDS, EXTENTS

from cubc._core import call

LINKS = terms.random_links()


def run(psi, precision, device, *, reconstruct=18, parity=2, hops=1, x=None, **numbers):
    """The kernel's result: fields [source][s] of NumPy in, sites of a parity out."""
    sources, ls = psi.shape[:2]
    of = 1 - parity if hops and parity != 2 else parity
    flat = psi.reshape(sources * ls, *psi.shape[2:])
    field, norms = terms.pack(flat, precision, of, device)
    fields = {
        "links": terms.pack_links(LINKS, precision, reconstruct, device),
        "in": field,
        "in_norms": norms,
        "reconstruct": reconstruct,
        "parity": parity,
        "inner": ls,
        "hops": hops,
        "anisotropy": 1.0,
    }
    if x is not None:
        fields["x"], fields["x_norms"] = terms.pack(
            x.reshape(flat.shape), precision, parity, device
        )
    fields |= terms.output(precision, field.size // 24) | EXTENTS | numbers
    return terms.unpack(call("dslash_domain_wall", fields), sources * ls)


def fields(ls, sources=1, seed=2):
    psi = terms.random_spinors(sources * ls, seed)
    return psi.reshape(sources, ls, *psi.shape[1:])


def flat_sites(psi, parity):
    return terms.sites_of(psi.reshape(-1, *psi.shape[2:]), parity)


@pytest.mark.parametrize(
    ("precision", "ls", "parity", "dagger", "hops"),
    pairs_of(BOUNDS, [1, 2, 5, 12], [0, 1, 2], [0, 1], [0, 1]),
)
def test_against_numpy(device, precision, ls, parity, dagger, hops):
    psi, x = fields(ls, 2), fields(ls, 2, seed=3)
    numbers = {"a": 0.7, "next": -0.4, "step": 0.35, "mass": 0.2}
    along = Along(ls, 0.2)
    operator = (0.7 * along.one - 0.4 * along.H) @ np.linalg.inv(along.one - 0.35 * along.H)
    if dagger:
        operator = operator.conj().T
    hopped = psi
    if hops:
        hopped = np.stack([terms.hopping(LINKS, p, dagger, antiperiodic=True) for p in psi])
    expected = x + along.apply(operator, hopped)
    options = {"parity": parity, "dagger": dagger, "hops": hops, "antiperiodic": 1}
    got = run(psi, precision, device, x=x, **options, **numbers)
    assert terms.error(got, flat_sites(expected, parity)) < 2 * BOUNDS[precision]
