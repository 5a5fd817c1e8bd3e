"""Variants a minute of a search on one GPU and on several, by the executor that users give.

    python benchmarks/search_gpus.py [--gpus N] [--seconds S] [--json]

Searches reduce.sum and the Wilson Dslash on one GPU and then on N, each from an empty store and an
empty cache of kernels, by processes of a pool, of which each takes a GPU of its own. The figure is
the variants that were measured, or until they had lost, a minute, and their ratio.
"""

import argparse
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import cells

import cubc
from cubc import tuner

SEARCHES = (
    ("reduce.sum", {"T": "F32"}),
    ("dslash.wilson.r12", {"T{ct}": "F32"}),
)


def rate(benchmark, axes, gpus, options):
    """Variants a minute, and how many they were."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CUBC_CACHE"] = str(Path(folder, "cache"))  # the pool's processes inherit it
        # Its processes have ended, and given their GPUs back, when the next search begins.
        with ProcessPoolExecutor(gpus, mp_context=get_context("spawn")) as executor:
            begin = time.perf_counter()
            result = tuner.search(
                benchmark,
                axes,
                db=Path(folder, "gpus.db"),
                executor=executor,
                seconds=options.seconds,
                confirm=0,
                progress=False,
            )
            wall = time.perf_counter() - begin
    done = sum(
        group.status(variant) in ("ok", "lost")
        for group in result.groups
        for variant in group.cells
        if variant != "base"
    )
    return 60 * done / wall, done


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=45.0)
    cells.add_option(parser)
    options = parser.parse_args()
    info = cubc.device_info("cuda:0")
    rows = []
    for benchmark, axes in SEARCHES:
        (one, few), (all_, many) = (rate(benchmark, axes, n, options) for n in (1, options.gpus))
        print(
            f"{benchmark}: {one:.0f} variants a minute on one {info['model']} ({few}), {all_:.0f} "
            f"on {options.gpus} ({many}), {all_ / one:.2f} times"
        )
        cell = {"benchmark": "search_gpus", "type": "F32", "size": benchmark}
        cell |= {"case": f"{options.gpus} GPUs", "cubc": round(all_), "peer_name": "one GPU"}
        cell |= {"peer": round(one), "ratio": round(all_ / one, 2), "unit": "variants a minute"}
        rows.append(cell)
    cells.put_asked(rows, info, options)


if __name__ == "__main__":
    main()
