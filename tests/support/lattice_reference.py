"""Lattice QCD in NumPy, in double precision and as plainly as can be: what the tests compare with.

Fields are arrays [t][z][y][x]...; gamma matrices are those of DeGrand and Rossi.
"""

import numpy as np

SIGMA = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])
ONE, NONE = np.eye(2), np.zeros((2, 2))


def _off_diagonal(upper, lower):
    return np.block([[NONE, upper], [lower, NONE]])


GAMMA = np.array(
    [
        _off_diagonal(1j * SIGMA[0], -1j * SIGMA[0]),
        _off_diagonal(-1j * SIGMA[1], 1j * SIGMA[1]),
        _off_diagonal(1j * SIGMA[2], -1j * SIGMA[2]),
        _off_diagonal(ONE, ONE),
    ]
)
GAMMA5 = GAMMA[0] @ GAMMA[1] @ GAMMA[2] @ GAMMA[3]


def random_su3(rng, shape):
    """SU(3) matrices of that shape, by Haar's measure."""
    a = rng.normal(size=(*shape, 3, 3)) + 1j * rng.normal(size=(*shape, 3, 3))
    q, r = np.linalg.qr(a)
    d = np.einsum("...ii->...i", r)
    q = q * (d / abs(d))[..., None, :]
    return q / (np.linalg.det(q) ** (1 / 3))[..., None, None]


def random_links(rng, extent):
    x, y, z, t = extent
    return random_su3(rng, (t, z, y, x, 4))


def unit_links(extent):
    x, y, z, t = extent
    links = np.zeros((t, z, y, x, 4, 3, 3), complex)
    links[...] = np.eye(3)
    return links


def random_spinors(rng, extent, *sources):
    x, y, z, t = extent
    shape = (*sources, t, z, y, x, 4, 3)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def shift(field, mu, by):
    """The field at x + by * mu, with the axes t, z, y, x first."""
    return np.roll(field, -by, axis=3 - mu)


def dslash(links, psi, dagger=False, antiperiodic=False, anisotropy=1.0):
    """The Wilson hopping term of both parities."""
    out = np.zeros_like(psi)
    sign = -1 if dagger else 1
    for mu in range(4):
        u = links[..., mu, :, :]
        forward = np.einsum("...ab,...sb->...sa", u, shift(psi, mu, 1))
        backward = np.einsum("...ba,...sb->...sa", u.conj(), psi)
        if antiperiodic and mu == 3:
            forward[-1] *= -1
            backward[-1] *= -1
        backward = shift(backward, mu, -1)
        hop = np.einsum("st,...ta->...sa", np.eye(4) - sign * GAMMA[mu], forward)
        hop += np.einsum("st,...ta->...sa", np.eye(4) + sign * GAMMA[mu], backward)
        out += hop if mu == 3 else hop / anisotropy
    return out


def parity(extent):
    """0 or 1 at each site."""
    x, y, z, t = extent
    return np.indices((t, z, y, x)).sum(0) % 2


def half(field, which):
    """The sites of a parity: [t][z][y][x / 2]..."""
    t, z, y, x = field.shape[:4]
    sites = parity((x, y, z, t)) == which
    return field[sites].reshape(t, z, y, x // 2, *field.shape[4:])


def gamma5(psi):
    return np.einsum("st,...ta->...sa", GAMMA5, psi)


def adjoint(u):
    return u.conj().swapaxes(-1, -2)


def transform_links(links, g):
    """g(x) U_mu(x) g(x + mu)^+."""
    out = np.empty_like(links)
    for mu in range(4):
        ahead = shift(g, mu, 1).conj().swapaxes(-1, -2)
        out[..., mu, :, :] = g @ links[..., mu, :, :] @ ahead
    return out


def transform_spinors(psi, g):
    return np.einsum("...ab,...sb->...sa", g, psi)
