"""Bundles: the compiled kernels of a program in one file, for machines without a compiler.

They are written by `cubc.tuner._pack`.
"""

import os

from . import _core
from ._calls import named


@named
def use_bundle(*paths):
    """Run the compiled kernels of bundles, files that ``cubc bundle`` wrote.

    A kernel that a bundle has is taken from there, before the cache and before a compiler: a
    machine without NVRTC, or without a C++ compiler, runs what the bundle has. In the environment
    ``CUBC_BUNDLE=kernels.cubc`` does the same. The files are never written.

    Parameters
    ----------
    *paths : str or os.PathLike
        Bundles, of this version of cubc. Nobody but you and root may be able to write to them.

    Returns
    -------
    int
        Number of kernels in them for this kind of machine.

    Raises
    ------
    OSError
        If a file is not there, is no bundle, can be written by others, is of another version of
        cubc, or has nothing for this machine.

    Examples
    --------
    >>> cubc.use_bundle("kernels.cubc")  # doctest: +SKIP
    12
    """
    return sum(_core.use_bundle(os.fspath(path)) for path in paths)
