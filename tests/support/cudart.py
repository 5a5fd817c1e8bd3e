"""A little of the CUDA runtime through ctypes, so that tests of streams need no other package."""

import contextlib
import ctypes
import os
import threading
from ctypes import byref, c_uint, c_void_p

NON_BLOCKING = 1
RELAXED = 2
HOST_FUNCTION = ctypes.CFUNCTYPE(None, c_void_p)


def library():
    """The runtime that cubc uses: it is loaded already."""
    names = [os.environ.get("CUBC_CUDART"), "libcudart.so.13", "libcudart.so.12"]
    for name in filter(None, names):
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    from cuda.pathfinder import load_nvidia_dynamic_lib

    return ctypes.CDLL(load_nvidia_dynamic_lib("cudart").abs_path)


def call(name, *arguments):
    code = getattr(library(), name)(*arguments)
    assert code == 0, f"{name}: error {code}"


class Stream:
    """A stream that does not wait for the default stream; as cubc takes it: it has a handle.

    It lives as long as the process: memory that was used on it is given back on it.
    """

    def __init__(self):
        handle = c_void_p()
        call("cudaStreamCreateWithFlags", byref(handle), c_uint(NON_BLOCKING))
        self.handle = handle.value

    def done(self):
        return library().cudaStreamQuery(c_void_p(self.handle)) == 0

    def wait(self):
        call("cudaStreamSynchronize", c_void_p(self.handle))

    @contextlib.contextmanager
    def held(self):
        """Hold work that is queued inside the block until its end."""
        event = threading.Event()
        function = HOST_FUNCTION(lambda _: event.wait(30) and None)
        call("cudaLaunchHostFunc", c_void_p(self.handle), function, None)
        try:
            yield
        finally:
            event.set()
            self.wait()

    def capture(self, queue):
        """The work that `queue` queues as a graph, which a call of the result replays."""
        graph, executable = c_void_p(), c_void_p()
        call("cudaStreamBeginCapture", c_void_p(self.handle), RELAXED)
        try:
            queue()
        finally:
            call("cudaStreamEndCapture", c_void_p(self.handle), byref(graph))
        call("cudaGraphInstantiate", byref(executable), graph, ctypes.c_ulonglong(0))
        return lambda: call("cudaGraphLaunch", executable, c_void_p(self.handle))
