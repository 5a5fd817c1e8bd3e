"""Clover terms of the kernels, their inverses and their products, and the term by NumPy."""

import lattice_terms as terms
from lattice_terms import EXTENTS

from cubc._core import call

MAGNETIC, ELECTRIC = 0.15, 0.23


def term_of(links, precision, device, of="f8", **coefficients):
    """The clover term of the kernel and its norms."""
    fields = {
        "links": terms.pack_links(links, of, 18, device),
        "magnetic": MAGNETIC,
        "electric": ELECTRIC,
    }
    return call("clover_term", fields | terms.clover_output(precision) | EXTENTS | coefficients)


def inverse_of(term, precision):
    """The inverse of a clover term, its norms, and log |det| of each site."""
    fields = {"clover": term[0], "clover_norms": term[1], "log_det": ("f8", (terms.SITES,), None)}
    return call("clover_invert", fields | terms.clover_output(precision) | EXTENTS)


def apply(term, psi, precision, device, parity=2):
    """Matrices of a site times spinors of NumPy."""
    field, norms = terms.pack(psi, precision, parity, device)
    fields = {"clover": term[0], "clover_norms": term[1], "x": field, "x_norms": norms}
    fields |= {"parity": parity} | terms.output(precision, field.size // 24) | EXTENTS
    return terms.unpack(call("clover_apply", fields), len(psi))


def expected_term(links):
    return terms.clover_term(links, MAGNETIC, ELECTRIC)
