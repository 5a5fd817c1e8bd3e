"""The table of DLPack's C exchange, called as an extension in C calls it."""

import ctypes
import sys
from ctypes import POINTER, byref, c_void_p

import numpy as np
import pytest
from dlpack_tensors import Managed, Tell, table

import cubc


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
