"""Arrays that say they are larger than any memory: an error, whichever way they come."""

import ctypes
import re

import numpy as np
import pytest

import cubc

WIDE = np.dtype([(f"f{k}", "f8") for k in range(8)])  # 64 bytes
LARGE = [(2**60, WIDE), ((2**31, 2**31), WIDE), (2**58, np.dtype("f8"))]
HOLLOW = [(0, 2**62, 2**62), (2**62, 2**62, 0), (2**32, 2**32, 0, 2**32)]
TOO_LARGE = "larger than any memory"


class OfCuda:
    """An object with extents in __cuda_array_interface__; the memory is not looked at."""

    def __init__(self, shape, dtype, strides=None):
        self.dtype = dtype
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": dtype.str,
            "descr": dtype.descr,
            "data": (256, False),
            "strides": strides,
            "version": 3,
        }


class Tensor(ctypes.Structure):
    """DLManagedTensor of DLPack 0.8."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class OfDlpack:
    """A tensor of float64 in host memory; its strides are given too."""

    def __init__(self, shape, lanes=1, offset=0):
        extents = ctypes.c_int64 * len(shape)
        self.extents, self.strides = extents(*shape), extents(*[1] * len(shape))
        parts = len(shape), 2, 64, lanes, self.extents, self.strides, offset
        self.tensor = Tensor(256, 1, 0, *parts)

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = (
            ctypes.py_object,
            [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        )
        return new(ctypes.addressof(self.tensor), b"dltensor", None)


@pytest.mark.parametrize("shape", [s for s, _ in LARGE] + HOLLOW)
def test_empty(shape):
    with pytest.raises(ValueError, match=TOO_LARGE):
        cubc.empty(shape, dtype=WIDE, device="cpu")


@pytest.mark.parametrize(("shape", "dtype"), [*LARGE, *((s, np.dtype("f4")) for s in HOLLOW)])
def test_cuda_array_interface(shape, dtype):
    shape = shape if isinstance(shape, tuple) else (shape,)
    for strides in (None, tuple(8 for _ in shape)):
        with pytest.raises(ValueError, match=TOO_LARGE):
            cubc.sum(OfCuda(shape, dtype, strides))


@pytest.mark.parametrize("shape", [(2**58,), (2**62, 2**62), (-1, 2**62), *HOLLOW])
def test_dlpack(shape):
    with pytest.raises(ValueError, match=TOO_LARGE):
        cubc.sum(OfDlpack(shape))


def test_an_empty_dlpack_has_any_pointer():
    """A sanitized build watches the sum of pointer and offset."""
    for offset in (2**63, 2**64 - 1):
        assert cubc.asarray(OfDlpack((0,), offset=offset), device="cpu").shape == (0,)


def test_a_vector_type_of_dlpack_is_named():
    with pytest.raises(TypeError, match="has the dtype float64x2; supported are"):
        cubc.sum(OfDlpack((1,), lanes=2))


@pytest.fixture(scope="module")
def c():
    """CFFI's handle, and a device of it."""
    ffi, lib = cubc.ffi()
    opened = ffi.new("cubc_device **")
    assert lib.cubc_device_open(b"cpu", opened) == 0
    yield ffi, lib, opened
    lib.cubc_device_close(opened[0])


def test_the_c_interface(c):
    ffi, lib, device = c
    one = ffi.new("double[2]")
    for n in (2**58, 2**60, 2**63, 2**64 - 1):
        types = {"type": lib.CUBC_F64, "acc_type": lib.CUBC_F64, "out_type": lib.CUBC_F64}
        wanted = {"in": one, "out": one + 1, "n": n, "op": ffi.new("char[]", b"sum"), **types}
        params = ffi.new("cubc_reduce_params *", wanted)
        assert lib.cubc_reduce(device[0], params, ffi.NULL, 0, ffi.NULL) != 0
        message = ffi.string(lib.cubc_error_message()).decode()
        assert re.search("too many items", message)


ONE_SEGMENT_TOO_MANY = {"segments": 2**64 - 1, "offsets": "array", "offset_type": "I64"}
ONE_LONG_ROW = {"n": 2**61, "length": 2**61, "columns": 1}
TO_SORT = {"keys_in": "array", "keys_out": "array", "type": "I32"}
TO_FIND = {"in": "array", "keys_out": "array", "indices_out": "array", "type": "I32"}
IN_AND_OUT = {"in": "array", "out": "array"}
TO_ADD = {**IN_AND_OUT, "op": "sum"}
NUMBERS = {"type": "F64", "acc_type": "F64", "out_type": "F64"}


@pytest.mark.parametrize(
    ("name", "members", "words"),
    [
        ("segmented_topk", {**TO_FIND, **ONE_SEGMENT_TOO_MANY, "k": 0}, "too many items"),
        ("segmented_topk", {**TO_FIND, "segments": 2**53, "k": 2048}, "are too many"),
        ("segmented_sort", {**TO_SORT, **ONE_SEGMENT_TOO_MANY}, "too many items"),
        ("segmented_reduce", {**TO_ADD, **NUMBERS, **ONE_SEGMENT_TOO_MANY}, "too many items"),
        ("scan", {**TO_ADD, **NUMBERS, **ONE_SEGMENT_TOO_MANY}, "too many items"),
        ("segment_ids", {**ONE_SEGMENT_TOO_MANY, "out_type": "I64"}, "too many items"),
        ("take", {"n": 2, "total": 1, "length": 2**63 + 1, "columns": 2}, "no multiple of"),
        ("scatter", {"n": 2, "total": 1, "length": 2**63 + 1, "columns": 2}, "no multiple of"),
        ("take", {"n": 2**61, "total": 1, "length": 2**61, "columns": 1}, "too many items"),
        ("scatter", {"n": 2**61, "total": 1, "length": 2**61, "columns": 1}, "too many items"),
        ("axis_scan", {**TO_ADD, **NUMBERS, **ONE_LONG_ROW}, "too many items"),
        ("axis_sort", {**IN_AND_OUT, "type": "I32", **ONE_LONG_ROW}, "too many items"),
    ],
)
def test_products_and_sums_of_the_c_interface(c, name, members, words):
    """Those beyond 64 bits are refused, not taken for the rest."""
    ffi, lib, device = c
    params = ffi.new(f"cubc_{name}_params *")
    room, op = ffi.new("double[4]"), ffi.new("char[]", b"sum")
    given = {"array": ffi.cast("void *", room), "sum": op}
    for member, value in members.items():
        if isinstance(value, str) and value not in given:
            value = getattr(lib, f"CUBC_{value}")
        setattr(params, member, given.get(value, value))
    wanted = ffi.new("size_t *", 9)
    status = getattr(lib, f"cubc_{name}_temp_bytes")(device[0], params, wanted)
    assert status == lib.CUBC_INVALID_ARGUMENT and wanted[0] == 0
    assert words in ffi.string(lib.cubc_error_message()).decode()


def test_steps_of_a_histogram_that_float32_has_not(c):
    ffi, lib, device = c
    types = dict.fromkeys(("type", "edge_type", "step_type"), lib.CUBC_F32)
    level = {"bins": 3, "lower": -3e38, "upper": 3e38}
    memory = ffi.new("float[4]")
    wanted = {"in": memory, "out": memory, "out_type": lib.CUBC_I64, "levels": [level], **types}
    params = ffi.new("cubc_histogram_params *", wanted)
    status = lib.cubc_histogram_temp_bytes(device[0], params, ffi.new("size_t *"))
    assert status == lib.CUBC_INVALID_ARGUMENT
    assert "too wide for steps of F32" in ffi.string(lib.cubc_error_message()).decode()


def test_the_room_of_a_call_that_fails(c):
    ffi, lib, device = c
    room = ffi.new("size_t *", 9)
    for of in (device[0], ffi.NULL):
        assert lib.cubc_reduce_temp_bytes(of, ffi.NULL, room) == lib.CUBC_INVALID_ARGUMENT
        assert room[0] == 0


def test_null_arguments_of_the_c_interface(c):
    ffi, lib, _ = c
    assert lib.cubc_topk_in_order(ffi.NULL) == 0


def test_without_dimensions():
    """The extents of such a buffer are a null pointer, which a sanitized build watches."""
    assert cubc.sum(np.array(3.0)) == 3
    assert cubc.sum(memoryview(np.array(3.0))) == 3
    assert cubc.asarray(np.array(3.0), device="cpu").shape == ()
