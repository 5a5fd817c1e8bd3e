"""Operators of quarks in NumPy, and fields as the kernels take them."""

import numpy as np
from inputs import on
from lattice_reference import GAMMA, GAMMA5, dslash, random_su3

import cubc
from cubc import lattice
from cubc._core import call

X, Y, Z, T = 4, 2, 4, 6  # as in lattice_system: tests of one lattice share kernels
EXTENTS = {"lx": X, "ly": Y, "lz": Z, "lt": T}
SITES = X * Y * Z * T
SHAPE = (T, Z, Y, X)
PARITY = np.indices(SHAPE).sum(axis=0) % 2

# Relative errors of one application: rounding, and half a step of fixed point.
BOUNDS = {"f8": 2e-15, "f4": 1e-6, "i2": 2e-4}
PLAIN, EVEN_ODD, NATIVE = 0, 1, 2


def spin(matrix, psi):
    """A matrix of spin times spinors."""
    return np.einsum("st,...tc->...sc", matrix, psi)


def twist(psi, a, b):
    """(a + i b gamma_5) psi."""
    return spin(a * np.eye(4) + 1j * b * GAMMA5, psi)


# ---- fields --------------------------------------------------------------------------------------
def random_links(seed=1):
    """Links of all sites and directions."""
    return random_su3(np.random.default_rng(seed), (*SHAPE, 4))


def random_spinors(sources=1, seed=2):
    """Spinors of some sources."""
    rng = np.random.default_rng(seed)
    shape = (sources, *SHAPE, 4, 3)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def hopping(links, psi, *options, **more):
    """D psi of some sources."""
    return np.stack([dslash(links, source, *options, **more) for source in psi])


def strength(links, mu, nu):
    """H_munu of all sites, from the four plaquettes that begin there."""

    def at(mu, shift):
        """Links of a direction at sites some steps away."""
        moved = links[..., mu, :, :]
        for direction, steps in shift:
            moved = np.roll(moved, -steps, 3 - direction)
        return moved

    def dagger(u):
        return np.swapaxes(u.conj(), -1, -2)

    m, n = (mu, -1), (nu, -1)
    q = at(mu, []) @ at(nu, [(mu, 1)]) @ dagger(at(mu, [(nu, 1)])) @ dagger(at(nu, []))
    q += at(nu, []) @ dagger(at(mu, [m, (nu, 1)])) @ dagger(at(nu, [m])) @ at(mu, [m])
    q += dagger(at(mu, [m])) @ dagger(at(nu, [m, n])) @ at(mu, [m, n]) @ at(nu, [n])
    q += dagger(at(nu, [n])) @ at(mu, [n]) @ at(nu, [(mu, 1), n]) @ dagger(at(mu, []))
    return 0.125j * (q - dagger(q))


def clover_term(links, magnetic, electric):
    """The clover term as matrices of 12 rows, spin and colour."""
    term = np.zeros((*SHAPE, 4, 3, 4, 3), complex)
    for mu in range(4):
        for nu in range(mu + 1, 4):
            sigma = 0.5j * (GAMMA[mu] @ GAMMA[nu] - GAMMA[nu] @ GAMMA[mu])
            c = electric if nu == 3 else magnetic
            term += c * np.einsum("st,...ab->...satb", sigma, strength(links, mu, nu))
    return term.reshape(*SHAPE, 12, 12) + np.eye(12)


def apply_sites(matrices, psi):
    """Matrices of 12 rows at each site times spinors."""
    flat = psi.reshape(*psi.shape[:-2], 12)
    return np.einsum("...ij,...j->...i", matrices, flat).reshape(psi.shape)


def error(got, expected):
    """Error of a whole field, relative."""
    return np.linalg.norm(got - expected) / np.linalg.norm(expected)


def left_of_points(operator, propagator, place):
    """How far M S / 2 kappa is from the point at the place, by source spin and colour."""
    columns = np.moveaxis(propagator, (5, 7), (0, 1)) / (2 * operator.kappa)
    points = lattice.point_source((X, Y, Z, T), place)
    left = operator(columns) - points
    return np.sqrt((abs(left) ** 2).sum(axis=(2, 3, 4, 5, 6, 7)))


# ---- in native order -----------------------------------------------------------------------------
def reals(field):
    """The real numbers of a complex field."""
    return np.ascontiguousarray(field).view(np.float64).reshape(-1)


def output(precision, n):
    """Output of a call: n spinors."""
    norms = ("f4", (n,), None) if precision == "i2" else None
    return {"out": (precision, (n * 24,), None), "out_norms": norms}


def pack_links(links, precision, reconstruct, device):
    """Links in native order."""
    fields = {
        "from": on(device, reals(links)),
        "to": (precision, (4 * SITES * reconstruct,), None),
        "from_order": PLAIN,
        "to_order": NATIVE,
        "from_reals": 18,
        "to_reals": reconstruct,
    }
    return call("link_copy", fields | EXTENTS)[0]


def sites_of(psi, parity):
    """Spinors of the sites of a parity, in their order; 2: of both, parity 0 first."""
    if parity == 2:
        return np.concatenate([psi[:, PARITY == 0], psi[:, PARITY == 1]], axis=1)
    return psi[:, parity == PARITY]


def pack(psi, precision, parity, device):
    """Spinors of a parity, or of both (2), in native order, and their norms."""
    plain = sites_of(psi, parity)
    n = plain.size // 12
    fields = {
        "from": on(device, reals(plain)),
        "to": (precision, (n * 24,), None),
        "to_norms": ("f4", (n,), None) if precision == "i2" else None,
        "from_order": EVEN_ODD,
        "to_order": NATIVE,
    }
    return call("spinor_copy", fields | EXTENTS)


def unpack(native, sources):
    """Spinors out of native order, as sites_of gives them."""
    field, norms = native
    fields = {
        "from": field,
        "from_norms": norms,
        "to": ("f8", (field.size,), None),
        "from_order": NATIVE,
        "to_order": EVEN_ODD,
    }
    plain = cubc.asarray(call("spinor_copy", fields | EXTENTS)[0]).numpy()
    return plain.view(np.complex128).reshape(sources, -1, 4, 3)


# ---- clover terms in native order ----------------------------------------------------------------
def matrices_of(native, norms, lattice_sites=SITES):
    """Both chiral matrices of every site, parity 0 first, as matrices of 12 rows."""
    field = cubc.asarray(native).numpy()
    width = 16 // field.itemsize
    stored = field.reshape(2, 72 // width, lattice_sites // 2, width)
    stored = stored.transpose(0, 2, 1, 3).reshape(lattice_sites, 2, 36).astype(np.float64)
    if norms is not None:
        stored = stored * cubc.asarray(norms).numpy()[:, None, None]
    out = np.zeros((lattice_sites, 12, 12), complex)
    rows, columns = np.tril_indices(6, -1)
    for chirality in (0, 1):
        block, reals = out[:, 6 * chirality :, 6 * chirality :], stored[:, chirality]
        block[:, np.arange(6), np.arange(6)] = reals[:, :6]
        below = reals[:, 6::2] + 1j * reals[:, 7::2]
        block[:, rows, columns] = below
        block[:, columns, rows] = below.conj()
    return out


def clover_output(precision):
    """Output of a call: matrices of all sites."""
    norms = ("f4", (SITES,), None) if precision == "i2" else None
    return {"out": (precision, (72 * SITES,), None), "out_norms": norms}
