"""DLPack's structs, the table of its C exchange, and a producer that may say what is not so."""

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_int64, c_uint8, c_uint16, c_uint32, c_void_p

import cubc


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


Deleter = ctypes.PYFUNCTYPE(None, c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class Plain(ctypes.Structure):
    """The struct of DLPack 0.8."""

    _fields_ = [("tensor", Tensor), ("context", c_void_p), ("deleter", Deleter)]


NAME = "__dlpack_c_exchange_api__"


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


class Producer:
    """A producer of a tensor of four float64, but for the fields of it that are given.

    `deleted` counts the calls of its deleter, which enters Python.
    """

    def __init__(self, *, versioned=True, name=None, **fields):
        self.deleted = 0
        self.name = name or (b"dltensor_versioned" if versioned else b"dltensor")
        self.items = (ctypes.c_double * 4)(4, 3, 2, 1)
        self.managed = Managed(major=1) if versioned else Plain()
        self.managed.deleter = Deleter(self.delete)
        tensor = self.managed.tensor
        tensor.data = ctypes.addressof(self.items)
        tensor.device_type, tensor.ndim, tensor.code, tensor.bits, tensor.lanes = 1, 1, 2, 64, 1
        tensor.shape = ctypes.pointer(c_int64(4))
        for field, value in fields.items():
            setattr(tensor, field, value)

    def delete(self, managed):
        self.deleted += 1

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [c_void_p, ctypes.c_char_p, c_void_p]
        return new(ctypes.addressof(self.managed), self.name, None)
