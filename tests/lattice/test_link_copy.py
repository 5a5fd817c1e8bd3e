"""Orders of links: where each number lands, and that all of them come back."""

import lattice_terms as terms
import numpy as np
from lattice_terms import EVEN_ODD, NATIVE, PLAIN
from layouts import chunks, copied


def links_by_parity(links):
    """Links as direction, parity, site, row, column."""
    turned = np.moveaxis(links, 4, 0)
    return np.stack([turned[:, parity == terms.PARITY] for parity in (0, 1)], 1)


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
