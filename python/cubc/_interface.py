"""The plain C interface of cubc.h: for C programs and for CFFI."""

import functools
from pathlib import Path

from . import _core


def get_include():
    """Folder of ``cubc.h`` and of its parts ``cubc/*.h``, for a C compiler's ``-I``."""
    return str(Path(__file__).parent / "include")


def get_library():
    """The shared object that exports the functions of ``cubc.h``.

    A C program links it as it is; the half that needs Python stays unresolved and is never called::

        cc main.c -I $(include) $(library) -Wl,--unresolved-symbols=ignore-in-shared-libs
    """
    return _core.__file__


@functools.cache
def ffi():
    """CFFI's view of ``cubc.h``.

    Returns
    -------
    ffi : cffi.FFI
        With every declaration of the headers.
    lib
        The open library: ``lib.cubc_reduce(...)`` and so on.
    """
    from cffi import FFI

    interface = FFI()
    for name in ("core.h", "primitives.h", "lattice.h", "fields.h"):
        header = Path(get_include(), "cubc", name).read_text()
        interface.cdef(header.split("// cffi: begin", 1)[1].split("// cffi: end", 1)[0])
    return interface, interface.dlopen(get_library())
