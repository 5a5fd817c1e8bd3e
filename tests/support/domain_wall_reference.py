"""Domain-wall operators in NumPy as dense matrices, from their definition alone.

Fields are arrays [s][t][z][y][x][spin][colour].
"""

import numpy as np
from lattice_reference import GAMMA5, dslash

PLUS, MINUS = (np.eye(4) + GAMMA5) / 2, (np.eye(4) - GAMMA5) / 2


class Along:
    """Matrices of s and spin, of Ls * 4 rows: 1 and the shift H of that mass."""

    def __init__(self, ls, mass):
        shift = np.zeros((ls, ls))
        for s in range(ls):
            shift[s, (s + 1) % ls] += -mass if s == ls - 1 else 1
        self.ls = ls
        self.one = np.eye(4 * ls)
        self.H = np.kron(shift, MINUS) + np.kron(shift.T, PLUS)

    def apply(self, matrix, psi):
        """A matrix of s and spin times fields [...][s][t][z][y][x][spin][colour]."""
        m = matrix.reshape(self.ls, 4, self.ls, 4)
        return np.einsum("aibj,...btzyxjc->...atzyxic", m, psi)


def wilson_matrix(links, m5, **options):
    """D_W = 4 - M5 - D / 2 as a matrix of all sites, spins and colours."""
    shape = (*links.shape[:4], 4, 3)
    n = int(np.prod(shape))
    columns = [dslash(links, e.reshape(shape), **options).reshape(n) for e in np.eye(n) + 0j]
    return (4 - m5) * np.eye(n) - 0.5 * np.array(columns).T


def on_sites(matrix, sites):
    """A matrix of spin as one of all sites, spins and colours."""
    return np.kron(np.kron(np.eye(sites), matrix), np.eye(3))


def mobius_matrix(wilson, mass, ls, b, c):
    """The operator of five dimensions for a matrix D_W, block by block as it is defined."""
    n = len(wilson)
    plus, minus = on_sites(PLUS, n // 12), on_sites(MINUS, n // 12)
    one = np.eye(n)
    out = np.zeros((ls, n, ls, n), complex)
    for s in range(ls):
        out[s, :, s] += b * wilson + one
        factor = -mass if s == ls - 1 else 1
        out[s, :, (s + 1) % ls] -= factor * (one - c * wilson) @ minus
        factor = -mass if s == 0 else 1
        out[s, :, (s - 1) % ls] -= factor * (one - c * wilson) @ plus
    return out.reshape(ls * n, ls * n)


def overlap_matrix(wilson, mass, ls, b, c):
    """(1 + m) / 2 + (1 - m) / 2 gamma_5 epsilon(H), H = gamma_5 (b + c) D_W / (2 + (b - c) D_W)."""
    n = len(wilson)
    one, gamma5 = np.eye(n), on_sites(GAMMA5, n // 12)
    kernel = (b + c) * gamma5 @ wilson
    kernel = kernel @ np.linalg.inv(2 * one + (b - c) * wilson)
    above = np.linalg.matrix_power(one + kernel, ls)
    below = np.linalg.matrix_power(one - kernel, ls)
    sign = (above - below) @ np.linalg.inv(above + below)
    return (1 + mass) / 2 * one + (1 - mass) / 2 * gamma5 @ sign
