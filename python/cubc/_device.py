"""Where CUDA's libraries are, and which device is the default."""

import contextlib
import os

from . import _core


def find_cuda():
    """Tell the core where cudart and NVRTC are, if cuda-pathfinder knows.

    Files named by ``CUBC_CUDART`` and ``CUBC_NVRTC`` come first. What is found nowhere is looked
    for again by the core, under the loader's usual names, when a CUDA device is first asked for.
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
    """Make a device the default inside a ``with`` block.

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
    before = os.environ.get("CUBC_DEVICE")
    os.environ["CUBC_DEVICE"] = name
    try:
        yield
    finally:
        if before is None:
            del os.environ["CUBC_DEVICE"]
        else:
            os.environ["CUBC_DEVICE"] = before
