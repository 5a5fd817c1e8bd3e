"""Random orders of arrays: those of random keys that are sorted."""

from typing import Any

import numpy as np

from ._arrays import changeable, computed, is_cpu
from ._calls import named
from ._core import asarray, device_info, is_binding, transform
from ._lazy import lazy
from ._sorting import argsort
from ._take import take


@named
def permutation(x, /, seed=None, *, stream=None, device=None) -> Any:
    """Shuffle a copy of an array along its first axis, or the numbers below an int.

    Parameters
    ----------
    x : int or array_like
        An int n stands for 0, 1, ..., n - 1, int64.
    seed : int, optional
        From 0 to 2^64 - 1; equal seeds give equal orders, on every device. By default one is
        drawn.
    stream, device
        As for `sort`.

    Returns
    -------
    array
        Array of the shape of `x`. The order is that of random 64-bit keys, which are sorted.

    Raises
    ------
    TypeError, ValueError
        As `take`; for an array without dimensions.

    Examples
    --------
    >>> print(cubc.sort(cubc.permutation(np.array([3, 1, 2]), seed=1)))
    [1 2 3]
    """
    number = isinstance(x, int | np.integer)
    x = x if number else computed(x, stream)
    if not number and not len(x.shape):
        raise ValueError("permutation() takes an int or an array with a first axis")
    n = int(x) if number else x.shape[0]
    on_host = number or isinstance(x, np.ndarray)
    seed = np.random.default_rng().integers(2**63) if seed is None else seed
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed is {seed!r:.80}: expected an int")
    if not 0 <= seed < 2**64:
        raise ValueError(f"seed is {seed}: expected one from 0 to 2^64 - 1")
    keys = lazy("random_u64(seed, i)", seed=int(seed), size=n, dtype="uint64")
    place = device_info(device)["name"] if on_host else asarray(x).device
    # With keys in a GPU's memory the order alone crosses the bus; a bound call reads no array.
    there = not on_host or (not is_cpu(place) and not is_binding())
    keys = transform(keys, stream=stream, device=place) if there else keys
    order = argsort(keys, stream=stream, device=device)
    order = order.numpy() if on_host and there else order
    return order if number else take(x, order, 0, mode="clip", stream=stream, device=device)


@named
def shuffle(x, /, seed=None, *, stream=None, device=None) -> None:
    """Shuffle an array along its first axis in place, as numpy.random.shuffle does.

    Parameters
    ----------
    x : array
        Array of one dimension or more, of a device or of NumPy.
    seed : int, optional
        As for `permutation`, whose order it has.
    stream, device
        As for `sort`.

    Raises
    ------
    TypeError
        If `x` is no array, which would be lost.
    ValueError
        As `permutation`; for a read-only array.

    Examples
    --------
    >>> x = np.arange(5)
    >>> cubc.shuffle(x, seed=1)
    >>> print(np.sort(x))
    [0 1 2 3 4]
    """
    x = changeable(x, "; permutation() makes a copy")
    made = permutation(x, seed, stream=stream, device=device)
    transform("x", x=made, out=x, dtype=made.dtype, stream=stream, device=device)
