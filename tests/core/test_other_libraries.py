"""Arrays of JAX, PyTorch and Numba in the host's memory, where these are installed.

Those of a GPU, of CuPy and PyTorch, are tested in test_gpu.py.
"""

import inputs
import ml_dtypes
import numpy as np
import pytest
from inputs import same

import cubc

X = inputs.random("F32", 60).reshape(4, 15)
I = np.arange(12).reshape(4, 3) % 5  # noqa: E741 - the letter of its type


@pytest.fixture
def on_the_cpu(device):
    if device != "cpu":
        pytest.skip("arrays of a GPU are tested in test_gpu.py")
    return device


def check(array, half, back, device):
    """Calls on an array of X and on one of bfloat16, and the way back without a copy."""
    assert cubc.sum(array) == X.sum()
    same(cubc.sort(array, axis=0), np.sort(X, 0))
    same(cubc.transform("2 * x", x=array), 2 * X)
    same(cubc.cumsum(array, 1), np.cumsum(X, 1))
    d = cubc.asarray(array, device=device)
    assert cubc.array_equal(d, cubc.asarray(X, device=device))
    assert cubc.sum(half).dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(np.asarray(back(d)), X)


def test_jax(on_the_cpu, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jnp = jax.numpy
    check(jnp.asarray(X), jnp.ones(5, jnp.bfloat16), jax.dlpack.from_dlpack, on_the_cpu)
    with pytest.raises(ValueError, match="read-only"):
        cubc.sum(jnp.asarray(X), 0, out=jnp.zeros(15, jnp.float32))


def test_torch(on_the_cpu):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    half = torch.ones(5, dtype=torch.bfloat16)
    check(torch.from_numpy(X), half, torch.from_dlpack, on_the_cpu)
    same(cubc.sum(torch.from_numpy(X).T, 1), X.sum(0))


class Foreign:
    """An array whose dtype is not NumPy's, as PyTorch's are."""

    def __init__(self, x):
        self._x = x
        self.dtype, self.shape, self.ndim = Name(f"torch.{x.dtype}"), x.shape, x.ndim

    def __dlpack__(self, **options):
        return self._x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._x.__dlpack_device__()

    def reshape(self, *shape):
        return Foreign(self._x.reshape(*shape))


class Name(str):
    """A name that np.dtype refuses."""


FUNCTIONS = {
    "sum": lambda m, f: m.sum(f(X), dtype="f8"),
    "cumsum": lambda m, f: m.cumsum(f(X), 1, dtype="f8"),
    "mean": lambda m, f: m.mean(f(X), 1),
    "std": lambda m, f: m.std(f(I), 0),
    "max": lambda m, f: m.max(f(I), initial=np.float32(2), where=f(I > 0)),
    "nanmax": lambda m, f: m.nanmax(f(X)),
    "isin": lambda m, f: m.isin(f(I), f(I[0])),
    "intersect1d": lambda m, f: m.intersect1d(f(I), f(I[0])),
    "concatenate": lambda m, f: m.concatenate([f(I), f(I)], 1, dtype="f4"),
    "take": lambda m, f: m.take(f(X), f(I[0] % 4), 0),
    "take_along_axis": lambda m, f: m.take_along_axis(f(X), f(I % 4), 1),
    "unique": lambda m, f: m.unique(f(I)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_dtype_that_is_not_of_numpy(name):
    call = FUNCTIONS[name]
    made = np.asarray(call(cubc, Foreign))
    np.testing.assert_allclose(made, call(np, np.asarray), rtol=1e-6)


def test_numba(on_the_cpu):
    numba = pytest.importorskip("numba", reason="Numba is not installed")
    twice = numba.njit(lambda x: x * 2)
    same(cubc.sum(twice(X), 0), 2 * X.sum(0))
    same(twice(cubc.asarray(X, device=on_the_cpu).numpy()), 2 * X)
