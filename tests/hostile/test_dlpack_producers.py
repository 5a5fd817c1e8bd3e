"""Producers of DLPack that say what is not so, and interfaces of CUDA arrays that do."""

import ctypes
from ctypes import POINTER, byref

import numpy as np
import pytest
from dlpack_tensors import Managed, Producer, Tell, table

import cubc

NO_SHAPE = POINTER(ctypes.c_int64)()
EVERY_OTHER = (ctypes.c_int64 * 1)(2)
BFLOAT16 = {"code": 4, "bits": 16}


def test_what_a_producer_gives():
    producer = Producer()
    assert cubc.sum(producer) == 10
    assert producer.deleted == 1


@pytest.mark.parametrize("versioned", [True, False])
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bits": 24}, "float24"),
        ({"ndim": -1}, "dimensions"),
        ({"shape": NO_SHAPE}, "1 dimensions and no shape"),
        ({"data": None}, "4 items at no address"),
        ({"device_type": 9}, "DLPack type 9"),
        (BFLOAT16 | {"strides": EVERY_OTHER}, "not contiguous in C order; pass a contiguous copy"),
    ],
)
def test_a_refused_tensor_is_given_back(versioned, fields, message):
    """An exception that is set keeps its producer from entering Python."""
    for call in (cubc.sum, lambda x: cubc.asarray(x, device="cpu")):
        producer = Producer(versioned=versioned, **fields)
        with pytest.raises((TypeError, ValueError), match=message):
            call(producer)
        assert producer.deleted == 1


@pytest.mark.parametrize("fields", [{"data": None}, {"shape": NO_SHAPE}])
def test_a_refused_output_is_given_back(fields):
    producer = Producer(**fields)
    with pytest.raises(ValueError, match=r"no (shape|address)"):
        cubc.sort(cubc.asarray(np.arange(4.0), device="cpu"), out=producer)
    assert producer.deleted == 1


def test_a_refused_tensor_of_the_exchange_is_given_back():
    for fields in ({"bits": 24}, {"shape": NO_SHAPE}, {"data": None}):
        producer = Producer(**fields)
        with pytest.raises((TypeError, ValueError), match="the tensor"):
            table().to_object(ctypes.pointer(producer.managed), byref(ctypes.py_object()))
        assert producer.deleted == 1


def test_a_prototype_without_a_shape():
    told = []
    tell = Tell(lambda *said: told.append(said[2]))
    out = POINTER(Managed)()
    prototype = Producer(shape=NO_SHAPE).managed.tensor
    assert table().allocate(byref(prototype), byref(out), None, tell) < 0
    assert told and b"no shape" in told[0]


def test_what_is_no_tensor():
    class Nothing(Producer):
        def __dlpack__(self, **options):
            return None

    with pytest.raises(TypeError, match=r"'x' is no tensor: its __dlpack__ returned None"):
        cubc.transform("x", x=Nothing())
    with pytest.raises(TypeError, match=r"is no tensor: .*used_dltensor"):
        cubc.transform("x", x=Producer(name=b"used_dltensor"))


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"typestr": 3}, "typestr is 3"),
        ({"data": (None, False)}, r"data is \(None, False\)"),
        ({"data": None}, "data is None"),
        ({"strides": ("8",)}, "strides"),
    ],
)
def test_malformed_interfaces(entry, said):
    class Array:
        def __init__(self):
            whole = {"data": (8, False), "shape": (4,), "typestr": "<f8", "version": 3}
            self.__cuda_array_interface__ = {**whole, **entry}

    with pytest.raises(TypeError, match=f"'x' has a malformed .*: {said}"):
        cubc.transform("x", x=Array())
