"""Arrays of JAX, PyTorch and Numba, where these are installed.

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
        pytest.skip("arrays of a GPU have tests of their own")
    return device


@pytest.fixture
def jax(monkeypatch):
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # else most of a GPU's memory
    return pytest.importorskip("jax", reason="JAX is not installed")


@pytest.fixture
def jax_on_a_gpu(jax):
    try:
        gpu = jax.devices("cuda")[0]
    except RuntimeError:
        pytest.skip("this JAX has no CUDA")
    with jax.default_device(gpu):
        yield jax


@pytest.fixture
def numba_cuda():
    pytest.importorskip("numba", reason="Numba is not installed")
    cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    if not cuda.is_available():
        pytest.skip("this Numba has no CUDA")
    return cuda


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


def test_jax(on_the_cpu, jax):
    jnp = jax.numpy
    with jax.default_device(jax.devices("cpu")[0]):
        check(jnp.asarray(X), jnp.ones(5, jnp.bfloat16), jax.dlpack.from_dlpack, on_the_cpu)
        with pytest.raises(ValueError, match="read-only"):
            cubc.sum(jnp.asarray(X), 0, out=jnp.zeros(15, jnp.float32))


@pytest.mark.gpu
def test_jax_on_a_gpu(jax_on_a_gpu):
    jax, jnp = jax_on_a_gpu, jax_on_a_gpu.numpy
    x = jnp.asarray(X)
    check(x, jnp.ones(5, jnp.bfloat16), jax.dlpack.from_dlpack, "cuda:0")
    d = cubc.asarray(x)
    assert d.ptr == x.unsafe_buffer_pointer() == x.__cuda_array_interface__["data"][0]
    assert jax.dlpack.from_dlpack(d).unsafe_buffer_pointer() == d.ptr
    with pytest.raises(ValueError, match="read-only"):
        cubc.sum(x, 0, out=jnp.zeros(15, jnp.float32))


@pytest.mark.gpu
def test_jax_is_waited_for(jax_on_a_gpu):
    """JAX computes behind its caller, on streams of its own, and so does what reads a result."""
    jax, jnp = jax_on_a_gpu, jax_on_a_gpu.numpy
    ones = jnp.ones((4096, 4096), jnp.float32)

    @jax.jit
    def late(x):
        return jax.lax.fori_loop(0, 40, lambda _, y: y @ x / 4096, x) + 1

    late(ones).block_until_ready()  # compiles
    for _ in range(3):
        assert float(cubc.sum(late(ones), dtype="f8")) == 2 * 4096**2
    half = cubc.transform("x / 2", x=late(ones))
    assert float(jnp.sum(jax.dlpack.from_dlpack(half)[::64])) == 4096 * 64


@pytest.mark.gpu
def test_numba_on_a_gpu(numba_cuda):
    cuda = numba_cuda

    @cuda.jit
    def twice(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = 2 * x[i]

    x = cuda.to_device(X)
    d = cubc.asarray(x)
    assert d.ptr == x.__cuda_array_interface__["data"][0]
    same(cubc.sort(x, axis=0), np.sort(X, 0))
    same(cubc.sum(x[:, ::2], 1), X[:, ::2].sum(1))  # with steps
    out = cuda.device_array(15, np.float32)
    assert cubc.sum(x, 0, out=out) is out
    cubc.synchronize("cuda:0")
    same(out.copy_to_host(), X.sum(0))

    flat, made = (cubc.asarray(a.reshape(-1), device="cuda:0") for a in (X, 0 * X))
    cubc.synchronize("cuda:0")
    try:
        twice[128, 64](flat, made)  # a kernel takes cubc's arrays; of fewer blocks Numba warns
    except AttributeError as error:
        if "module 'numpy'" not in str(error):
            raise
        pytest.skip(f"this Numba compiles nothing beside NumPy {np.__version__}: {error}")
    cuda.synchronize()
    same(made, 2 * X.reshape(-1))
    view = cuda.as_cuda_array(made)
    assert view.__cuda_array_interface__["data"][0] == made.ptr
    same(view.copy_to_host(), 2 * X.reshape(-1))


@pytest.mark.gpu
def test_numba_streams(numba_cuda):
    """A stream goes to a call, and is that of an array which says so."""
    cuda = numba_cuda
    stream = cuda.stream()
    x = cuda.to_device(np.ones(1_000_000, np.float32), stream=stream)
    out = cuda.device_array(1, np.float32, stream=stream)
    cubc.sum(x, 0, out=out, keepdims=True, stream=stream)
    stream.synchronize()
    assert out.copy_to_host()[0] == 1_000_000
    assert float(cubc.sum(x)) == 1_000_000


class Unordered:
    """An array as JAX's on CUDA: no stream, read-only, and DLPack too. It is of the host."""

    def __init__(self, x, read_only):
        self._x = x
        self.dtype, self.shape, self.ndim = x.dtype, x.shape, x.ndim
        data = (x.__array_interface__["data"][0], read_only)
        self.__cuda_array_interface__ = {
            "shape": x.shape,
            "typestr": x.dtype.str,
            "data": data,
            "version": 2,
        }

    def __dlpack__(self, **options):
        return self._x.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._x.__dlpack_device__()


def test_dlpack_orders_what_names_no_stream():
    assert cubc.sum(Unordered(X, True)) == X.sum()
    with pytest.raises(ValueError, match="read-only"):
        cubc.sum(X, 0, out=Unordered(X[0], True))
    with pytest.raises(
        (cubc.NoDeviceError, ValueError, TypeError)
    ):  # host memory is none of CUDA's
        cubc.sum(Unordered(X, False))


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


class Known(Foreign):
    """An array of the host that is none of NumPy's, but has its dtype, as JAX's have it."""

    def __init__(self, x):
        super().__init__(x)
        self.dtype = x.dtype


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[::2], lambda x: x[:, ::-1]])
def test_strides_of_the_host(view, on_the_cpu):
    x = np.arange(20.0).reshape(4, 5)
    same(cubc.sum(Foreign(view(x)), 1), view(x).sum(1))
    same(cubc.transform("2 * x", x=Foreign(view(x))), 2 * view(x))


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
    "take by a list": lambda m, f: m.take(f(X), [3, 1]),
    "where": lambda m, f: m.where(f(X > 0), f(X), f(I[:1, :1])),
    "where of a number": lambda m, f: m.where(f(X > 0), f(X), 1),
    "sorter": lambda m, f: m.searchsorted(f(X[0]), f(X[1]), sorter=f(np.argsort(X[0]))),
    "histogram": lambda m, f: m.histogram(f(X), f(np.arange(-3.0, 4)), weights=f(X))[0],
    "histogram2d": lambda m, f: m.histogram2d(f(X[0]), f(X[1]), 3)[0],
    "bincount": lambda m, f: m.bincount(f(I[0]), f(X[0, :3])),
    "a permutation": lambda m, f: (m if m is cubc else m.random).permutation(f(X[:1, :1])),
    "lexsort": lambda m, f: m.lexsort(f(I)),
    "prepended": lambda m, f: m.diff(f(I), prepend=f(I[:, :1])),
}


@pytest.mark.parametrize("kind", [Foreign, Known])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_array_of_the_host_that_is_not_of_numpy(name, kind):
    call = FUNCTIONS[name]
    made = np.asarray(call(cubc, kind))
    np.testing.assert_allclose(made, call(np, np.asarray), rtol=1e-6)


def test_numba(on_the_cpu):
    numba = pytest.importorskip("numba", reason="Numba is not installed")
    twice = numba.njit(lambda x: x * 2)
    same(cubc.sum(twice(X), 0), 2 * X.sum(0))
    same(twice(cubc.asarray(X, device=on_the_cpu).numpy()), 2 * X)
