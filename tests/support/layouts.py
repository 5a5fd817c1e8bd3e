"""Copies of lattice fields in other orders, and the native order by NumPy."""

import numpy as np
from inputs import on
from lattice_terms import EXTENTS

import cubc
from cubc._core import call


def chunks(sites, size):
    """Numbers of sites, the last two axes: chunk k of all sites before chunk k + 1 of any."""
    width = 16 // size
    cut = sites.reshape(*sites.shape[:-1], -1, width)
    return np.swapaxes(cut, -2, -3).reshape(-1)


def copied(kind, field, device, orders, like=None, **more):
    """A copy in another order: all are reals of double precision but for a native output."""
    given = {"from": on(device, field), "from_order": orders[0], "to_order": orders[1]}
    given |= {"to": ("float64", field.shape if like is None else like, None)}
    return cubc.asarray(call(kind, given | EXTENTS | more)[0]).numpy()
