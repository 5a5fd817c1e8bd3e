"""Copies of many arrays at once."""

from typing import Any

import numpy as np

from ._arrays import described, is_cpu, is_read_only, whole_name
from ._calls import primitive
from ._core import Array, asarray, bind_keep, call


@primitive(workspace=None)
def copy_batch(sources, destinations, /, *, stream=None, device=None) -> None:
    """Copy many arrays to as many others, in one launch.

    Parameters
    ----------
    sources, destinations : sequence of arrays
        Arrays of one device, as many destinations as sources; on the cpu NumPy arrays too. Each
        destination is contiguous, writable and has as many bytes as its source. It overlaps no
        other array. Bytes are copied as they are, whatever types both have.
    stream, device : optional
        As for `reduce`.

    Raises
    ------
    TypeError
        If an item of `sources` or `destinations` is no array of the device.
    ValueError
        If an array is not contiguous, or not as large as the other of its pair; if a destination
        overlaps another array.
    NoDeviceError, DeviceMemoryError, DeviceError
        As for `reduce`.

    Notes
    -----
    Blocks copy equal shares of all bytes, whatever the sizes of the arrays are, as CUB's
    DeviceMemcpy::Batched does. Addresses and sizes are copied to the device before the launch; the
    C interface, cubc_copy_batch, takes them from the device's memory.

    Examples
    --------
    >>> out = [np.zeros(2), np.zeros(3)]
    >>> _ = cubc.copy_batch([np.ones(2), np.arange(3.0)], out)
    >>> print(*out)
    [1. 1.] [0. 1. 2.]
    """
    sources, destinations = list(sources), list(destinations)
    if len(sources) != len(destinations):
        raise ValueError(
            f"copy_batch(): {len(sources)} sources and {len(destinations)} destinations: "
            "as many are needed"
        )
    ends, places, used = 0, [], whole_name(device)
    for k, (source, destination) in enumerate(zip(sources, destinations, strict=True)):
        (begin, size, here), (to, room, there) = _place(source, False), _place(destination, True)
        if size != room:
            raise ValueError(
                f"copy_batch(): source {k} has {size} bytes and destination {k} {room}"
            )
        used = used or here
        if {here, there} != {used}:
            raise ValueError(
                f"copy_batch(): source and destination {k} are on {here} and {there}, the others "
                f"on {used}: bring all to one device by cubc.asarray"
            )
        ends += size
        places.append((begin, to, ends))
    if ends == 0:
        return
    _check_apart(np.array(places, np.int64))
    count, table = len(places), np.array(places, np.int64).T.ravel()
    on_device = table if is_cpu(used) else asarray(table, device=used, stream=stream)
    fields = {
        "from": on_device[:count],
        "to": on_device[count : 2 * count],
        "ends": on_device[2 * count :],
        "bytes": ends,
    }
    bind_keep((sources, destinations))
    call("copy_batch", fields, stream=stream, device=used)


def _check_apart(places: Any) -> None:
    """Refuse a destination that overlaps another one or a source.

    A place is the address of a source, that of its destination, and the sum of all sizes so far.
    """
    sizes = np.diff(places[:, 2], prepend=0)
    sources, destinations = places[sizes > 0, 0], places[sizes > 0, 1]
    sizes = sizes[sizes > 0]
    order = np.argsort(destinations)
    begins, ends = destinations[order], (destinations + sizes)[order]
    clash = np.flatnonzero(ends[:-1] > begins[1:])
    if clash.size == 0:
        # The last destination that begins before a source's end: destinations are apart.
        last = np.searchsorted(begins, sources + sizes) - 1
        clash = np.flatnonzero((last >= 0) & (ends[last] > sources))
    if clash.size:
        raise ValueError(
            "copy_batch(): a destination overlaps another destination or a source: the copies are "
            "made at once, so they must be apart"
        )


def _place(x: Any, written: bool) -> tuple[int, int, str]:
    """Address, bytes and device of a contiguous array."""
    x = described(x)
    on_host = isinstance(x, np.ndarray)
    if (on_host and not x.flags.c_contiguous) or (written and is_read_only(x)):
        raise ValueError("copy_batch(): an array is not contiguous, or may not be written to")
    if on_host:
        return x.ctypes.data, x.nbytes, "cpu"
    if not isinstance(x, Array) and not hasattr(x, "__cuda_array_interface__"):
        raise TypeError(
            f"copy_batch(): {type(x).__name__} is no array of a device, nor NumPy's: bring it "
            "there by cubc.asarray"
        )
    view = asarray(x)
    return view.ptr, view.nbytes, view.device
