"""Where CUDA's libraries are, and which device is the default."""

import contextlib
import os

from . import _core


def find_cuda():
    """Tell the core where cudart and NVRTC are, if cuda-pathfinder knows.

    The core calls this when CUDA is first asked for and nothing is there under the loader's usual
    names: then NVIDIA's wheels may have it. Files named by ``CUBC_CUDART`` and ``CUBC_NVRTC`` come
    first.
    """
    found = []
    for variable, library in (("CUBC_CUDART", "cudart"), ("CUBC_NVRTC", "nvrtc")):
        path = os.environ.get(variable)
        if not path:
            # An absent library is no error here: most machines have no CUDA.
            with contextlib.suppress(Exception):
                from cuda.pathfinder import load_nvidia_dynamic_lib

                path = load_nvidia_dynamic_lib(library).abs_path
        found.append(path)
    _core.set_cuda_paths(*found)


@contextlib.contextmanager
def device(name):
    """Make a device the default inside a ``with`` block, in the thread that runs it.

    Parameters
    ----------
    name : str
        As in ``cubc.devices()``: ``"cuda:0"`` or ``"cpu"``.

    Raises
    ------
    NoDeviceError
        There is no such device; the message says which there are.
    """
    _core.device_info(name)  # an unknown name fails here, not at the first call
    before = _core._set_default_device(name)
    try:
        yield
    finally:
        _core._set_default_device(before)
