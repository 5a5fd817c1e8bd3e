"""Devices: their properties, the default one of a thread, and paths of CUDA's libraries."""

import contextlib
import importlib.util
import os

from . import _core
from ._calls import named

device_info = named(_core.device_info)
synchronize = named(_core.synchronize)


def find_cuda():
    """Tell the core where cudart and NVRTC are, if cuda-pathfinder knows.

    The core calls this when CUDA is first needed and the loader finds no library under its usual
    name. NVIDIA's wheels may have it then. Files named by ``CUBC_CUDART`` and ``CUBC_NVRTC`` have
    precedence.
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


def nccl_of_wheel():
    """Return the file of NVIDIA's wheel of NCCL, or None. It is not loaded."""
    spec = importlib.util.find_spec("nvidia")  # of which each wheel has a part
    folders = [] if spec is None else spec.submodule_search_locations or []
    files = (os.path.join(folder, "nccl", "lib", "libnccl.so.2") for folder in folders)
    return next(filter(os.path.exists, files), None)


@contextlib.contextmanager
def device(name):
    """Make a device the default inside a ``with`` block, in the thread that runs it.

    Parameters
    ----------
    name : str
        Name of a device, as ``cubc.devices()`` lists them: ``"cuda:0"`` or ``"cpu"``. ``"cpu:1"``
        and so on are not listed: the same machine, with other threads and memory.

    Raises
    ------
    NoDeviceError
        If there is no such device. The message lists those that there are.

    Examples
    --------
    >>> with cubc.device("cpu"):
    ...     print(cubc.sum(np.arange(4.0)))
    6.0
    """
    _core.device_info(name)  # an unknown name fails here, not at the first call
    before = _core._set_default_device(name)
    try:
        yield
    finally:
        _core._set_default_device(before)
