"""A small system M x = b for the tests of solvers, and how well what they found solves it."""

import numpy as np

KAPPA = 0.12
SOLVERS = ["cg", "bicgstab", "gcr", "multishift"]


def random_links(shape, width=0.15, seed=0):
    """Links near 1: rows of 1 + width G made orthonormal, one after the other."""
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(2, *shape, 4, 3, 3))
    a = np.eye(3) + width * (g[0] + 1j * g[1])
    first = a[..., 0, :] / np.linalg.norm(a[..., 0, :], axis=-1, keepdims=True)
    second = a[..., 1, :]
    second = second - (first.conj() * second).sum(-1, keepdims=True) * first
    second = second / np.linalg.norm(second, axis=-1, keepdims=True)
    return np.stack([first, second, np.cross(first, second).conj()], -2)


def random_spinors(shape, seed=1):
    g = np.random.default_rng(seed).normal(size=(2, *shape, 4, 3))
    return g[0] + 1j * g[1]


SHAPE = (6, 4, 2, 4)
LINKS = random_links(SHAPE)
B = random_spinors(SHAPE)


def flat_links():
    """Links in time alone, which undo the boundary's sign for the first two colours."""
    links = np.zeros_like(LINKS)
    links[...] = np.eye(3)
    links[..., 3, :, :] = np.diag(np.exp(1j * np.pi / SHAPE[0] * np.array([1, -1, 0])))
    return links


def wave():
    """A field of the first colour that hops on flat links leave as it is, eight times."""
    b = np.zeros_like(B)
    b[..., 0] = np.exp(-1j * np.pi / SHAPE[0] * np.arange(SHAPE[0]))[:, None, None, None, None]
    return b


def options_of(solver):
    return {"solver": solver} | ({"shifts": [0.0]} if solver == "multishift" else {})


def residual(operator, x, b):
    return np.linalg.norm(b - operator(x)) / np.linalg.norm(b)


def left_by(solver, operator, x):
    """The residual of what that solver found of B: of the normal equations, or of M itself."""
    if solver != "multishift":
        return residual(operator, x, B)
    return np.linalg.norm(B - operator.dagger(operator(x[0]))) / np.linalg.norm(B)
