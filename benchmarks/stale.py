"""Names the cells beside CUB whose variant is not the one that calls take now.

    python benchmarks/stale.py [DEVICE ...] [--drop]

Needs no GPU: the shipped policies say what a call takes. `--drop` removes these from results/,
which holds what is true now; `make bench-cub` measures them again.
"""

import argparse

import cub
from cells import FOLDER, load, write

from cubc import _core

ARCHITECTURES = {"nvidia-h200": "sm_90", "nvidia-h100-80gb-hbm3": "sm_90"}


def is_stale(cell, arch):
    """Tell if a call of a cell's type and size takes another variant."""
    benchmark, axes = cub.split_name(cell["benchmark"])
    rt = cub.elements(cub.size_of(cell["size"])) | cub.further_axes(benchmark, axes)
    return cell["variant"] != _core.policy(benchmark, {"T{ct}": cell["type"]}, arch, rt)


def name_stale(device, name, drop):
    """Print the stale cells of a benchmark, and remove them if asked to."""
    found = load(device)[name]
    stale = [cell for cell in found if is_stale(cell, ARCHITECTURES[device])]
    for cell in stale:
        print(device, name, cell["type"], cell["size"], cell["commit"])
    path = FOLDER / device / f"{name}.jsonl"
    if drop and len(stale) == len(found):
        path.unlink()
    elif drop and stale:
        write(path, [cell for cell in found if cell not in stale])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("devices", nargs="*", default=list(ARCHITECTURES))
    parser.add_argument("--drop", action="store_true")
    options = parser.parse_args()
    for device in options.devices:
        if device not in ARCHITECTURES:
            parser.error(f"{device}: known are {', '.join(ARCHITECTURES)}")
        for name in set(cub.NAMES) & load(device).keys():
            name_stale(device, name, options.drop)


if __name__ == "__main__":
    main()
