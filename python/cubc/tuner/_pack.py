"""Writes a bundle: runs a program and puts the kernels that it loaded into one file."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cubc import _outputs as outputs

# Nobody else may write to a bundle that use_bundle is to believe.
BUNDLE = outputs.Kind("bundle", outputs.begins(b"cubcbun\0"), 0o644)


def make_bundle(
    path: str, command: Sequence[str], device: str | None = None, portable: bool = False
) -> int:
    """Run a command and write the kernels that it loads into a bundle; its exit status.

    `portable` has kernels of the cpu compiled for all processors of this kind, which makes them
    slower. After a status other than 0 nothing is written.
    """
    outputs.check(path, BUNDLE)  # before the command has run for hours
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
    outputs.write(path, BUNDLE, (one.read_bytes() for one in records))
    return len(records)
