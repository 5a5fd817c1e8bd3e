"""Paths of the C interface cubc.h, for C programs, and its declarations for CFFI."""

import functools
import os

from . import _core
from ._extras import need


def get_include():
    """Return the folder of ``cubc.h`` and ``cubc/*.h``, for a C compiler's ``-I``.

    Examples
    --------
    >>> os.path.exists(os.path.join(cubc.get_include(), "cubc.h"))
    True
    """
    return os.path.join(os.path.dirname(__file__), "include")


def get_library():
    """Return the path of the shared object that exports the functions of ``cubc.h``.

    A C program links it without libpython. Functions of Python stay unresolved, and are never
    called::

        cc main.c -I $(include) $(library) -Wl,--unresolved-symbols=ignore-in-shared-libs

    Examples
    --------
    >>> os.path.basename(cubc.get_library())
    '_core.abi3.so'
    """
    return _core.__file__


@functools.cache
def ffi():
    """Open the functions of ``cubc.h`` by CFFI.

    Returns
    -------
    ffi : cffi.FFI
        Object with all declarations of the headers.
    lib
        Open library, with functions as ``lib.cubc_reduce(...)``.

    Raises
    ------
    ModuleNotFoundError
        If CFFI is not there: ``pip install "cubc[ffi]"``.

    Examples
    --------
    >>> ffi, lib = cubc.ffi()
    >>> ffi.string(lib.cubc_version()).decode() == cubc.__version__
    True
    """
    interface = need("cffi").FFI()
    lattice = [f"lattice/{part}.h" for part in ("ranks", "copy", "operators", "solve", "gauge")]
    for name in ("core.h", "primitives.h", *lattice, "fields.h"):
        with open(os.path.join(get_include(), "cubc", name), encoding="utf-8") as file:
            header = file.read()
        interface.cdef(header.split("// cffi: begin", 1)[1].split("// cffi: end", 1)[0])
    return interface, interface.dlopen(get_library())
