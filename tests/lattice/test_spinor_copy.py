"""Orders of spinors and colour vectors: where each number lands, and that all of them come back."""

import lattice_terms as terms
import numpy as np
import pytest
from lattice_terms import EVEN_ODD, NATIVE, PLAIN, T, X, Y, Z
from layouts import chunks, copied

import cubc
from cubc import lattice

ERRORS = {"double": 1e-14, "single": 2e-6, "half": 1.01}  # the last in steps of fixed point


def native_spinors(psi):
    """All reals of spinors as they are stored, but for the chunks: source, parity, site, real."""
    upper, lower = psi[..., :2, :], psi[..., 2:, :]
    turned = np.concatenate([upper + lower, upper - lower], -2) * np.sqrt(0.5)
    sites = terms.sites_of(turned, 2)
    return terms.reals(sites).reshape(len(psi), 2, -1, 24)


@pytest.mark.parametrize("precision", ERRORS)
def test_native_spinors(device, precision):
    psi = terms.random_spinors(2)
    expected = native_spinors(psi)
    field = lattice._fields.pack(cubc.asarray(psi, device=device), (X, Y, Z, T), precision)
    stored = field.data.numpy()
    if precision == "half":
        norms = abs(expected).max(-1, keepdims=True) / 32767
        np.testing.assert_allclose(field.norms.numpy(), norms.reshape(-1), rtol=1e-6)
        expected = expected / norms
    assert abs(stored - chunks(expected, stored.itemsize)).max() < ERRORS[precision]
    back = lattice._fields.unpack(field, cubc.asarray(psi, device=device)).numpy()
    assert terms.error(back, psi) < terms.BOUNDS[stored.dtype.str[1:]]


@pytest.mark.parametrize("precision", ERRORS)
def test_native_colour_vectors(device, precision):
    """Chunks of a site that is no multiple of 16 bytes: the last one is shorter."""
    rng = np.random.default_rng(3)
    psi = rng.normal(size=(2, 2, *terms.SHAPE, 3)) + 1j * rng.normal(size=(2, 2, *terms.SHAPE, 3))
    of = lattice._fields.COLOUR_VECTOR
    field = lattice._fields.pack(cubc.asarray(psi, device=device), (X, Y, Z, T), precision, site=of)
    assert field.fields == 8 and field.sites == 4 * terms.SITES
    sites = np.stack([psi[..., p == terms.PARITY, :] for p in (0, 1)], 2).reshape(8, -1, 3)
    expected = terms.reals(sites).reshape(8, -1, 6)  # of a field, a site, a real
    stored = field.data.numpy().reshape(8, -1)
    if precision == "half":
        norms = abs(expected).max(-1, keepdims=True) / 32767
        np.testing.assert_allclose(field.norms.numpy(), norms.reshape(-1), rtol=1e-6)
        expected = expected / norms
    width = 16 // stored.itemsize
    for one, found in zip(expected, stored, strict=True):
        cut = [one[:, k : k + width].reshape(-1) for k in range(0, 6, width)]
        assert abs(found - np.concatenate(cut)).max() < ERRORS[precision]
    back = lattice._fields.unpack(field, cubc.asarray(psi, device=device)).numpy()
    assert terms.error(back, psi) < terms.BOUNDS[field.data.numpy().dtype.str[1:]]


def test_sites_of_other_sizes(device):
    with pytest.raises(ValueError, match="8 reals a site: spinors have 24, colour vectors 6"):
        copied("spinor_copy", np.zeros((*terms.SHAPE, 8)), device, (PLAIN, NATIVE), reals=8)
    with pytest.raises(ValueError, match="192 real numbers: 24 a site of a lattice of 4x2x4x6"):
        copied("spinor_copy", np.zeros(192), device, (PLAIN, NATIVE))
    vectors = cubc.asarray(np.zeros((*terms.SHAPE, 4), complex), device=device)
    with pytest.raises(ValueError, match=r"colour vectors of shape .*6, 4, 2, 4, 3\)"):
        lattice._fields.pack(vectors, (X, Y, Z, T), "double", site=(3,))


def test_spinors_by_parity(device):
    psi = terms.random_spinors(2)
    sites = terms.reals(terms.sites_of(psi, 2))
    plain = terms.reals(psi)
    np.testing.assert_array_equal(copied("spinor_copy", plain, device, (PLAIN, EVEN_ODD)), sites)
    np.testing.assert_array_equal(copied("spinor_copy", sites, device, (EVEN_ODD, PLAIN)), plain)
    native = copied("spinor_copy", sites, device, (EVEN_ODD, NATIVE))
    assert abs(native - chunks(native_spinors(psi), 8)).max() < 1e-14
    back = copied("spinor_copy", native, device, (NATIVE, EVEN_ODD))
    assert abs(back - sites).max() < 1e-14
