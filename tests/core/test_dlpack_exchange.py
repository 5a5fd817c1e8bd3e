"""The table of DLPack's C exchange, called as an extension in C calls it."""

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_uint8, c_uint16, c_uint32, c_void_p

import numpy as np
import pytest

import cubc

NAME = "__dlpack_c_exchange_api__"


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int),
        ("device_id", c_int),
        ("ndim", c_int),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", ctypes.PYFUNCTYPE(None, c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


Tell = ctypes.PYFUNCTYPE(None, c_void_p, c_char_p, c_char_p)


class Table(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("older", c_void_p),
        (
            "allocate",
            ctypes.PYFUNCTYPE(c_int, POINTER(Tensor), POINTER(POINTER(Managed)), c_void_p, Tell),
        ),
        (
            "from_object",
            ctypes.PYFUNCTYPE(c_int, ctypes.py_object, POINTER(POINTER(Managed))),
        ),
        ("to_object", ctypes.PYFUNCTYPE(c_int, POINTER(Managed), POINTER(ctypes.py_object))),
        ("view_of_object", c_void_p),
        ("current_stream", ctypes.PYFUNCTYPE(c_int, c_int, c_int, POINTER(c_void_p))),
    ]


def table():
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = c_void_p, [ctypes.py_object, c_char_p]
    pointer = pointer_of(getattr(cubc.Array, NAME), b"dlpack_exchange_api")
    return ctypes.cast(pointer, POINTER(Table)).contents


def tensor_of(array):
    managed = POINTER(Managed)()
    assert table().from_object(array, byref(managed)) == 0
    return managed


def array_of(managed):
    out = ctypes.py_object()
    assert table().to_object(managed, byref(out)) == 0
    array = out.value
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(array))  # `out` had a reference of its own
    return array


def delete(managed):
    managed.contents.deleter(ctypes.cast(managed, c_void_p))


def test_the_table():
    found = table()
    assert (found.major, found.older, found.view_of_object) == (1, None, None)
    stream = c_void_p(1)
    assert found.current_stream(1, 0, byref(stream)) == 0
    assert stream.value is None


def test_a_tensor_keeps_the_array(device):
    x = cubc.asarray(np.arange(6, dtype="i2").reshape(2, 3), device=device)
    before = sys.getrefcount(x)
    managed = tensor_of(x)
    tensor = managed.contents.tensor
    assert (tensor.data, tensor.ndim, tensor.code, tensor.bits) == (x.ptr, 2, 0, 16)
    assert (tensor.shape[:2], tensor.strides[:2]) == ([2, 3], [3, 1])
    assert sys.getrefcount(x) == before + 1
    delete(managed)
    assert sys.getrefcount(x) == before


def test_an_array_of_a_tensor_shares_its_memory(device):
    x = cubc.asarray(np.arange(4.0), device=device)
    y = array_of(tensor_of(x))
    assert (y.ptr, y.dtype, y.device) == (x.ptr, x.dtype, x.device)
    before = sys.getrefcount(x)
    y[0] = 7
    assert x.tolist() == [7, 1, 2, 3]
    del y
    assert sys.getrefcount(x) == before - 1


def test_a_new_array(device):
    like = tensor_of(cubc.empty((3, 5), "f4", device=device))
    managed = POINTER(Managed)()
    assert table().allocate(byref(like.contents.tensor), byref(managed), None, Tell()) == 0
    delete(like)
    y = array_of(managed)
    assert (y.shape, y.dtype, y.device) == ((3, 5), np.float32, device)


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [("device_type", 12, b"type 12 is none"), ("lanes", 4, b"no items"), ("ndim", 99, b"99 dim")],
)
def test_an_array_that_cannot_be_made(member, value, words):
    like = tensor_of(cubc.empty((3, 5), "f4", device="cpu"))
    setattr(like.contents.tensor, member, value)
    managed, told = POINTER(Managed)(), []
    tell = Tell(lambda context, kind, message: told.append((kind, message)))
    assert table().allocate(byref(like.contents.tensor), byref(managed), None, tell) == -1
    assert not managed
    assert told[0][0] == b"RuntimeError" and words in told[0][1]
    like.contents.tensor.ndim = 2
    delete(like)


@pytest.mark.parametrize(
    ("x", "error"),
    [
        (cubc.asarray(np.zeros(2, "f4,i4"), device="cpu"), BufferError),
        (np.zeros(2), TypeError),
    ],
)
def test_what_is_no_tensor(x, error):
    with pytest.raises(error):
        table().from_object(x, byref(POINTER(Managed)()))


def test_a_tensor_with_steps_is_refused_and_given_up():
    x = cubc.asarray(np.arange(6.0).reshape(2, 3), device="cpu")
    before = sys.getrefcount(x)
    managed = tensor_of(x)
    managed.contents.tensor.strides[1] = 2
    with pytest.raises(ValueError, match="contiguous"):
        table().to_object(managed, byref(ctypes.py_object()))
    assert sys.getrefcount(x) == before
