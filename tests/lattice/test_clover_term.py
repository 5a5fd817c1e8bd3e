"""The clover term: its matrices, applied to spinors (clover_apply) and inverted (clover_invert)."""

import lattice_terms as terms
import numpy as np
import pytest
from clover_terms import apply, expected_term, inverse_of, term_of
from lattice_reference import random_su3, transform_links
from lattice_terms import BOUNDS, EXTENTS

import cubc
from cubc._core import call

PAIRS = [("f8", "f8"), ("f4", "f4"), ("f8", "f4"), ("f8", "i2"), ("f4", "i2"), ("f4", "f8")]


def in_order(matrices):
    """Matrices of all sites, those of parity 0 first."""
    return terms.sites_of(matrices[None], 2)[0]


# ---- the term ------------------------------------------------------------------------------------
@pytest.mark.parametrize(("of", "precision"), PAIRS)
def test_the_term_against_numpy(device, of, precision):
    links = terms.random_links()
    got = terms.matrices_of(*term_of(links, precision, device, of))
    bound = max(BOUNDS[of], BOUNDS[precision])
    assert terms.error(got, in_order(expected_term(links))) < bound


@pytest.mark.parametrize("precision", BOUNDS)
def test_it_is_one_on_unit_links(device, precision):
    links = np.broadcast_to(np.eye(3, dtype=complex), (*terms.SHAPE, 4, 3, 3)).copy()
    got = terms.matrices_of(*term_of(links, precision, device))
    np.testing.assert_allclose(got, np.broadcast_to(np.eye(12), got.shape), rtol=1e-7)


def test_it_turns_with_the_gauge(device):
    links = terms.random_links()
    g = random_su3(np.random.default_rng(5), terms.SHAPE)
    turned = transform_links(links, g)
    of_sites = np.einsum("st,...ab->...satb", np.eye(4), g).reshape(*terms.SHAPE, 12, 12)
    of_sites = in_order(of_sites)
    before = terms.matrices_of(*term_of(links, "f8", device))
    after = terms.matrices_of(*term_of(turned, "f8", device))
    expected = of_sites @ before @ np.swapaxes(of_sites.conj(), -1, -2)
    assert terms.error(after, expected) < 1e-14


@pytest.mark.parametrize("precision", BOUNDS)
@pytest.mark.parametrize("parity", [0, 1, 2])
def test_applied_to_spinors(device, precision, parity):
    links, psi = terms.random_links(), terms.random_spinors(2)
    term = term_of(links, precision, device)
    expected = terms.sites_of(terms.apply_sites(expected_term(links), psi), parity)
    assert terms.error(apply(term, psi, precision, device, parity), expected) < BOUNDS[precision]


def test_it_is_hermitian(device):
    links = terms.random_links()
    x, y = terms.random_spinors(seed=7), terms.random_spinors(seed=8)
    term = term_of(links, "f8", device)
    of_x, of_y = apply(term, x, "f8", device), apply(term, y, "f8", device)
    x, y = terms.sites_of(x, 2), terms.sites_of(y, 2)
    assert abs(np.vdot(x, of_y) - np.vdot(of_x, y)) < 1e-12 * abs(np.vdot(x, x))


# ---- its inverse ---------------------------------------------------------------------------------
@pytest.mark.parametrize(("of", "precision"), PAIRS)
def test_the_inverse_against_numpy(device, of, precision):
    matrices = expected_term(terms.random_links())
    term = term_of(terms.random_links(), of, device)
    made = inverse_of(term, precision)
    bound = 10 * max(BOUNDS[of], BOUNDS[precision])
    assert terms.error(terms.matrices_of(*made[:2]), in_order(np.linalg.inv(matrices))) < bound
    log_det = np.linalg.slogdet(in_order(matrices))[1]
    np.testing.assert_allclose(cubc.asarray(made[2]).numpy(), log_det, atol=10 * bound)


@pytest.mark.parametrize("precision", BOUNDS)
def test_the_inverse_undoes_the_term(device, precision):
    psi = terms.random_spinors()
    term = term_of(terms.random_links(), precision, device)
    inverse = inverse_of(term, precision)
    field, norms = terms.pack(psi, precision, 2, device)
    fields = {"parity": 2} | EXTENTS
    for matrices in (term, inverse):
        fields |= {"clover": matrices[0], "clover_norms": matrices[1]}
        fields |= {"x": field, "x_norms": norms} | terms.output(precision, terms.SITES)
        field, norms = call("clover_apply", fields)
    got = terms.unpack((field, norms), 1)
    assert terms.error(got, terms.sites_of(psi, 2)) < 10 * BOUNDS[precision]


def test_in_place(device):
    term = term_of(terms.random_links(), "f8", device)
    fields = {
        "clover": term[0],
        "out": (term[0].dtype.name, term[0].shape, term[0]),
        "log_det": ("f8", (terms.SITES,), None),
    }
    expected = terms.matrices_of(*inverse_of(term, "f8")[:2])
    made = call("clover_invert", fields | EXTENTS)
    assert made[0] is term[0]
    np.testing.assert_array_equal(terms.matrices_of(made[0], None), expected)
