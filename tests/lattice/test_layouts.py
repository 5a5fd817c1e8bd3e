"""Orders of lattice fields: where each number lands, and that all of them come back."""

import lattice_terms as terms
import numpy as np
import pytest
from inputs import on
from lattice_terms import EVEN_ODD, EXTENTS, NATIVE, PLAIN, T, X, Y, Z

import cubc
from cubc import lattice
from cubc._core import call

ERRORS = {"double": 1e-14, "single": 2e-6, "half": 1.01}  # the last in steps of fixed point


def chunks(sites, size):
    """Numbers of sites, the last two axes: chunk k of all sites before chunk k + 1 of any."""
    width = 16 // size
    cut = sites.reshape(*sites.shape[:-1], -1, width)
    return np.swapaxes(cut, -2, -3).reshape(-1)


def native_spinors(psi):
    """All reals of spinors as they are stored, but for the chunks: source, parity, site, real."""
    upper, lower = psi[..., :2, :], psi[..., 2:, :]
    turned = np.concatenate([upper + lower, upper - lower], -2) * np.sqrt(0.5)
    sites = terms.sites_of(turned, 2)
    return terms.reals(sites).reshape(len(psi), 2, -1, 24)


def links_by_parity(links):
    """Links as direction, parity, site, row, column."""
    turned = np.moveaxis(links, 4, 0)
    return np.stack([turned[:, parity == terms.PARITY] for parity in (0, 1)], 1)


def copied(kind, field, device, orders, like=None, **more):
    """A copy in another order: all are reals of double precision but for a native output."""
    given = {"from": on(device, field), "from_order": orders[0], "to_order": orders[1]}
    given |= {"to": ("float64", field.shape if like is None else like, None)}
    return cubc.asarray(call(kind, given | EXTENTS | more)[0]).numpy()


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
    with pytest.raises(ValueError, match="192 real numbers: 24 a site of a lattice of 4x2x6x4"):
        copied("spinor_copy", np.zeros(192), device, (PLAIN, NATIVE))
    vectors = cubc.asarray(np.zeros((*terms.SHAPE, 4), complex), device=device)
    with pytest.raises(ValueError, match=r"colour vectors of shape .*4, 6, 2, 4, 3\)"):
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


def test_links(device):
    links = terms.random_links()
    plain, parted = terms.reals(links), terms.reals(links_by_parity(links))
    whole = {"from_reals": 18, "to_reals": 18}
    found = copied("link_copy", plain, device, (PLAIN, EVEN_ODD), **whole)
    np.testing.assert_array_equal(found, parted)
    np.testing.assert_array_equal(
        copied("link_copy", parted, device, (EVEN_ODD, PLAIN), **whole), plain
    )
    by_site = np.swapaxes(parted.reshape(4, 2, -1, 18), 0, 1)  # parity, direction, site
    native = copied("link_copy", parted, device, (EVEN_ODD, NATIVE), **whole)
    np.testing.assert_array_equal(native, chunks(by_site, 8))
    np.testing.assert_array_equal(
        copied("link_copy", native, device, (NATIVE, EVEN_ODD), **whole), parted
    )
    rows = copied(
        "link_copy", plain, device, (PLAIN, NATIVE), (48 * terms.SITES,), from_reals=18, to_reals=12
    )
    np.testing.assert_array_equal(rows, chunks(by_site[..., :12], 8))
