"""Bundles: the compiled kernels of a program in one file, for machines without a compiler."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from . import _core


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


def make_bundle(
    path: str, command: Sequence[str], device: str | None = None, portable: bool = False
) -> int:
    """Run a command and write the kernels that it loads into a bundle; its exit status.

    `portable` has kernels of the cpu compiled for all processors of this kind, which makes them
    slower. After a status other than 0 nothing is written.
    """
    with tempfile.TemporaryDirectory(prefix="cubc-bundle-") as folder:
        variables = {"CUBC_BUNDLE_TO": folder, "CUBC_CPU_PORTABLE": str(int(portable))}
        if device:
            variables["CUBC_DEVICE"] = device
        status = subprocess.run(command, env=os.environ | variables).returncode
        if status:
            print(f"cubc: the command ended with {status}, {path} is not written", file=sys.stderr)
            return status if status > 0 else 128 - status
        count = pack(Path(folder), Path(path))
    print(f"{path}: {count} kernels, {os.path.getsize(path) / 1e6:.1f} MB")
    return 0


def pack(folder: Path, path: Path) -> int:
    """Put the records of a folder into one file, which is there whole or not at all."""
    records = [one for one in sorted(folder.iterdir()) if not one.name.startswith(".")]
    if not records:
        raise LookupError("the command has loaded no kernel of cubc: there is nothing to bundle")
    written, temporary = tempfile.mkstemp(dir=path.parent, prefix=".cubc-")
    try:
        with open(written, "wb") as file:
            for one in records:
                with open(one, "rb") as record:
                    shutil.copyfileobj(record, file)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return len(records)
