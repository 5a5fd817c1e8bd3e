"""cubc.Array: making one, what it tells, and the way to and from other libraries."""

import copy
import ctypes
import gc
import operator
import pickle
import weakref
from pathlib import Path

import inputs
import ml_dtypes
import numpy as np
import pytest
from inputs import TYPES, same

import cubc
from cubc import _core


@pytest.mark.parametrize("type", [*TYPES, "BOOL"])
def test_there_and_back(device, type):
    x = inputs.random(type, 5000) if type in TYPES else inputs.random("U8", 5000) > 9
    a = cubc.asarray(x, device=device)
    assert a.dtype == x.dtype
    same(a.numpy(), x)
    same(np.asarray(a), x)


def test_properties(device):
    a = cubc.asarray(np.zeros((3, 4), np.float32), device=device)
    assert (a.shape, a.size, a.ndim, a.itemsize, a.nbytes) == ((3, 4), 12, 2, 4, 48)
    assert a.dtype == np.float32
    assert a.device == device
    assert isinstance(a.ptr, int)
    assert len(a) == 3
    with pytest.raises(AttributeError):
        a.shape = (12,)
    with pytest.raises(AttributeError):
        a.colour = "blue"


def test_a_large_array_is_in_large_pages():
    """The system is asked for them; it may have none."""
    if not Path("/sys/kernel/mm/transparent_hugepage").exists():
        pytest.skip("this system has none")
    a = cubc.empty(16 << 20, "I8", device="cpu")
    for line in Path("/proc/self/smaps").read_text().splitlines():
        name, *rest = line.split()
        if not name.endswith(":"):
            begin, end = (int(address, 16) for address in name.split("-"))
        elif name == "VmFlags:" and begin <= a.ptr + a.nbytes // 2 < end:
            assert "hg" in rest
            return
    pytest.fail("its memory is not among the mappings")


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 3), (0, 7), (1,) * 32])
def test_shapes(device, shape):
    a = cubc.empty(shape, np.int16, device=device)
    assert a.shape == shape
    assert a.numpy().shape == shape
    assert a.size == np.prod(shape)
    b = cubc.asarray(np.ones(shape, np.int16), device=device)
    assert b.numpy().shape == shape


def test_empty(device):
    assert cubc.empty(7, device=device).dtype == np.float64
    assert cubc.empty([2, np.int64(3)], "F16", device=device).shape == (2, 3)
    assert cubc.empty(3, ml_dtypes.bfloat16, device=device).dtype == ml_dtypes.bfloat16
    assert cubc.empty(1000, device=device).ptr % 256 == 0


@pytest.mark.parametrize("shape", [-1, (2, -3), (2**40, 2**40), (1,) * 33])
def test_shapes_that_cannot_be(shape):
    with pytest.raises(ValueError, match=r"extents|dimensions"):
        cubc.empty(shape, device="cpu")


@pytest.mark.parametrize("shape", [2.5, "abc", (2, 1.5), object()])
def test_what_is_no_shape(shape):
    with pytest.raises(TypeError, match="a shape is an int or a sequence of int, not "):
        cubc.empty(shape, device="cpu")


def test_more_than_there_is(device):
    with pytest.raises(cubc.DeviceMemoryError, match=r"[0-9]{15}"):
        cubc.empty(2**55, np.int8, device=device)
    assert issubclass(cubc.DeviceMemoryError, MemoryError)
    assert cubc.sum(cubc.asarray(np.ones(10), device=device)).item() == 10


def test_conversion(device):
    a = cubc.asarray([1, 2, 3], dtype=np.float32, device=device)
    same(a.numpy(), np.array([1, 2, 3], np.float32))
    b = cubc.asarray(a, "I8")
    same(b.numpy(), np.array([1, 2, 3], np.int8))
    assert cubc.asarray(a, np.float32) is a
    assert cubc.asarray(a) is a


def test_scalars(device):
    one = cubc.asarray(np.array([42], np.int32), device=device)
    assert (int(one), float(one), bool(one), one.item()) == (42, 42, True, 42)
    assert operator.index(one.reshape(())) == 42
    assert not cubc.asarray(np.array(0.0), device=device)
    half = cubc.asarray(np.array(2.5, ml_dtypes.bfloat16), device=device)
    assert float(half) == 2.5
    with pytest.raises(TypeError):
        operator.index(half)
    for many in (cubc.empty(2, device=device), cubc.empty(0, device=device)):
        with pytest.raises(ValueError, match=f"^{many.size} items are neither true nor false"):
            bool(many)
        for one, write in ((many, r"a\.numpy"), (many + 0, r"x\.array")):
            told = rf"one item .* has {many.size}: {write}"
            for convert in (int, float, complex):  # by NumPy's classes
                with pytest.raises(TypeError, match=told):
                    convert(one)
            with pytest.raises(ValueError, match=told):
                one.item()
    with pytest.raises(TypeError, match="without dimensions"):
        len(cubc.empty((), device=device))


def test_an_index_has_no_dimension(device):
    """NumPy takes what has an index for a number: an array of one item would lose its dimension."""
    x = np.arange(5.0)
    for shape in ((1,), (1, 1), (2,), (0,)):
        places = np.full(shape, 2)
        there = cubc.asarray(places, device=device)
        for one in (there, cubc.lazy("k", k=there)):
            with pytest.raises(TypeError, match="without dimensions can become an index"):
                operator.index(one)
            same(x[one], x[places])
    assert x[cubc.asarray(np.array(3), device=device)] == 3


def test_repr(device):
    a = cubc.asarray(np.arange(3, dtype=np.int32), device=device)
    assert repr(a) == f"cubc.Array([0 1 2], dtype=int32, device='{device}')"


def test_slices_share_the_memory(device):
    x = np.arange(24, dtype=np.int16).reshape(6, 4)
    a = cubc.asarray(x, device=device)
    for cut in (slice(2), slice(1, 5), slice(-2, None), slice(4, 2), slice(None), slice(9, 12)):
        part = a[cut]
        assert part.shape == x[cut].shape
        np.testing.assert_array_equal(part.numpy(), x[cut])
    part = a[1:]
    assert part.ptr == a.ptr + 8
    cubc.transform("x + 1", x=part, out=part)
    address = a.ptr
    del a
    assert part.ptr == address + 8
    np.testing.assert_array_equal(part.numpy(), x[1:] + 1)
    with pytest.raises(IndexError, match="too many indices"):
        cubc.asarray(np.float32(1), device=device)[:1]


def test_array_protocol(device):
    a = cubc.asarray(np.arange(4), device=device)
    assert np.asarray(a, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="without a copy"):
        a.__array__(copy=False)


def test_numpy_is_a_copy(device):
    a = cubc.asarray(np.zeros(4), device=device)
    a.numpy()[:] = 1
    assert not a.numpy().any()


def test_numbers_and_buffers(device):
    assert cubc.asarray(3, device=device).shape == ()
    assert cubc.asarray([[1.5], [2]], device=device).shape == (2, 1)
    assert cubc.asarray(b"abc", device=device).numpy().tolist() == [97, 98, 99]
    assert cubc.asarray(np.arange(6).reshape(2, 3).T, device=device).numpy().tolist() == [
        [0, 3],
        [1, 4],
        [2, 5],
    ]


# ---- other libraries -----------------------------------------------------------------------------
@pytest.mark.parametrize("type", ["BOOL", "I8", "U64", "F16", "F32"])
def test_dlpack_to_numpy(type):
    x = inputs.random(type, 24).reshape(2, 3, 4) if type != "BOOL" else np.eye(3, dtype=bool)
    a = cubc.asarray(x, device="cpu")
    view = np.from_dlpack(a)
    same(view, x)
    assert view.ctypes.data == a.ptr
    assert a.__dlpack_device__() == (1, 0)


def test_dlpack_of_the_second_cpu():
    a = cubc.asarray(np.arange(3), device="cpu:1")
    assert a.__dlpack_device__() == (1, 0)
    same(np.from_dlpack(a), np.arange(3))


class DLPackOnly:
    """An object that speaks DLPack and nothing else, as a tensor of another library does."""

    def __init__(self, x):
        self.x = x

    def __dlpack__(self, **keywords):
        return self.x.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()


@pytest.mark.parametrize("type", ["I16", "F16", "F64"])
def test_dlpack_from_numpy(type):
    x = inputs.random(type, 60).reshape(3, 4, 5)
    same(cubc.transform("x", x=DLPackOnly(x), device="cpu"), x)
    same(cubc.asarray(DLPackOnly(x), device="cpu").numpy(), x)
    same(cubc.transform("x", x=DLPackOnly(x.T), device="cpu"), x.T)
    assert cubc.sum(DLPackOnly(np.full(3, 1j)), device="cpu") == 3j


@pytest.mark.parametrize("version", [None, (1, 0), (1, 1), (2, 3)])
def test_versions_of_dlpack(version):
    """From 1.0 on it says that memory is read-only; who does not ask gets 0.8."""
    a = cubc.asarray(np.arange(6), device="cpu")
    assert ("versioned" in repr(a.__dlpack__(max_version=version))) == (version is not None)
    if version == (1, 0):
        x = np.arange(5.0)
        x.flags.writeable = False
        # NumPy before 2.1 does not know 1.0, and refuses by itself.
        with pytest.raises((ValueError, BufferError), match=r"read-?only"):
            cubc.transform("2 * x", x=x, out=DLPackOnly(x), device="cpu")
        with pytest.raises(BufferError, match="on its own device"):
            a.__dlpack__(dl_device=(2, 0), max_version=version)


class OldDLPack(DLPackOnly):
    """The same, from before versions."""

    def __dlpack__(self, *, stream=None):
        return self.x.__dlpack__()


def test_dlpack_without_versions():
    x = np.arange(7.0)
    same(cubc.asarray(OldDLPack(x), device="cpu").numpy(), x)


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_nobody_takes(device, version):
    gc.collect()
    before = _core._outstanding()
    a = cubc.empty(10, device=device)
    capsule = a.__dlpack__(max_version=version)
    del a, capsule
    gc.collect()
    assert _core._outstanding() == before


def test_no_cuda_interface_on_the_cpu():
    a = cubc.empty(3, device="cpu")
    assert not hasattr(a, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="not in CUDA memory"):
        _ = a.__cuda_array_interface__


@pytest.mark.gpu
def test_cuda_interface():
    a = cubc.asarray(np.zeros((2, 3), np.float32), device="cuda:0")
    interface = a.__cuda_array_interface__
    assert interface["shape"] == (2, 3)
    assert interface["typestr"] == "<f4"
    assert interface["data"] == (a.ptr, False)
    assert interface["stream"] == 1
    assert a.__dlpack_device__() == (2, 0)


# ---- lifetime ------------------------------------------------------------------------------------
def test_memory_is_given_back(device):
    cubc.empty(10, device=device)
    before = _core._outstanding()
    arrays = [cubc.empty(1000, device=device) for _ in range(5)]
    if device == "cpu":
        assert _core._outstanding() == before + 5
    del arrays
    assert _core._outstanding() == before


def test_a_view_keeps_its_array_alive():
    gc.collect()
    before = _core._outstanding()
    view = np.from_dlpack(cubc.asarray(np.arange(1000), device="cpu"))
    gc.collect()
    assert view.sum() == 499_500
    assert _core._outstanding() > before
    del view
    gc.collect()
    assert _core._outstanding() == before


def test_parts_of_parts_keep_one_array(device):
    part = cubc.asarray(np.arange(5), device=device)
    for _ in range(1_000_000):
        part = part[:]
    same(part.numpy(), np.arange(5))
    del part


def test_operands_are_let_go():
    class Tracked(np.ndarray):
        pass

    x = np.zeros(1000).view(Tracked)
    gone = weakref.ref(x)
    cubc.sum(x, device="cpu")
    with pytest.raises(LookupError):
        cubc.reduce(x, "smu", device="cpu")
    cubc.transform("x", x=x, device="cpu")
    with pytest.raises(cubc.CompileError):
        cubc.transform("x + no_such_name", x=x, device="cpu")
    del x
    gc.collect()
    assert gone() is None


def test_a_plan_keeps_its_workload_alive():
    workload = _core.Workload("reduce.sum", {"T{ct}": "F32"}, {"Elements{io}[pow2]": 10}, "cpu")
    variant = workload.variant("base")
    del workload
    gc.collect()
    variant.run()
    other = _core.Workload("reduce.sum", {"T{ct}": "F32"}, {"Elements{io}[pow2]": 10}, "cpu")
    with pytest.raises(TypeError, match="variant of this workload"):
        other.verify(variant)


def test_a_workload_tells_where_all_of_its_arrays_are():
    where = "sort.pairs", {"T{ct}": "I32"}, {"Elements{io}": 1000}
    workload = _core.Workload(*where, "cpu")
    assert workload.bytes == _core.traffic(*where) == 16 * 1000
    workload.variant("base").run()
    keys, values, sorted_keys, moved = (
        np.ctypeslib.as_array((ctypes.c_uint32 * 1000).from_address(address))
        for addresses in workload.pointers
        for address in addresses
    )
    order = np.argsort(keys.view("i4"), kind="stable")
    same(sorted_keys, keys[order])
    same(moved, values[order])


def test_no_array_from_nothing():
    with pytest.raises(TypeError):
        cubc.Array()


# ---- as another array ----------------------------------------------------------------------------
def test_reshape(device):
    x = np.arange(12, dtype=np.int32)
    a = cubc.asarray(x, device=device)
    for shape in [(3, 4), (2, -1), (-1,), (1, 12, 1), ([4, 3],), ((2, 3, -1),)]:
        b = a.reshape(*shape)
        np.testing.assert_array_equal(b.numpy(), x.reshape(*shape))
        assert b.ptr == a.ptr
    empty = cubc.asarray(x[:0], device=device)
    assert empty.reshape(3, -1).shape == x[:0].reshape(3, -1).shape
    for shape in [(5,), (-1, -1), (0, -1), (-2, 6), (2**62, 2**62)]:
        with pytest.raises(ValueError, match=r"^reshape\(\): cannot reshape array of size 12"):
            a.reshape(*shape)
    del a
    assert b.numpy().sum() == 66  # the memory lives as long as a part of it


def test_astype_copy_and_tolist(device):
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    a = cubc.asarray(x, device=device)
    assert a.tolist() == x.tolist()
    for dtype in ("f4", bool, np.int64):
        b = a.astype(dtype)
        assert b.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(b.numpy(), x.astype(dtype))
    b = a.copy()
    assert b.ptr != a.ptr
    np.testing.assert_array_equal(b.numpy(), x)
    p = np.zeros(3, [("n", "i4"), ("m", "f8")])
    assert cubc.asarray(p, device=device).copy().tolist() == p.tolist()


def test_methods_say_what_to_write_for_numpys_other_arguments(device):
    d = cubc.asarray(np.arange(4.0).reshape(2, 2), device=device)
    assert d.astype("f8", copy=False) is d
    assert d.astype("f8").ptr != d.ptr
    assert d.astype("f4", copy=False).dtype == np.float32
    for call, words in (
        (lambda: d.reshape(4, order="F"), "reshape d.T"),
        (lambda: d.item(3), "write d.k..item"),
        (lambda: d.astype("f4", order="F"), "'order' is an invalid keyword"),
        (lambda: d.astype("foo", copy=False), "dtype cannot be 'foo'"),
    ):
        with pytest.raises(TypeError, match=words):
            call()


def test_dlpack_copies_where_it_is_asked(device):
    d = cubc.asarray(np.arange(5.0), device=device)
    d.__dlpack__(max_version=(1, 0), copy=False)
    with pytest.raises(TypeError, match="copied"):
        d.__dlpack__(copied=True)
    if device != "cpu" or np.lib.NumpyVersion(np.__version__) < "2.1.0":  # which has no copy=
        return
    shared, copied = np.from_dlpack(d), np.from_dlpack(d, copy=True)
    d[0] = 9
    assert (shared[0], copied[0]) == (9, 0)
    assert copied.flags.writeable


@pytest.mark.parametrize("again", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_pickles_of_lazy_inputs(device, again):
    d = cubc.asarray(np.arange(6.0).reshape(2, 3), device=device)
    for lazy in (
        d * d + 1,
        cubc.lazy("i * 2", size=4),
        cubc.lazy("t[k]", t=d, k=cubc.asarray([5, 0], device=device)),
        cubc.lazy("t[i] + s", t=d, s=2, size=3),
    ):
        made = again(lazy)
        assert (made.shape, made.dtype) == (lazy.shape, lazy.dtype)
        assert np.asarray(made.array()).tolist() == np.asarray(lazy.array()).tolist()
