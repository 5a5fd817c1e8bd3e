"""Processes that stand for those of another host: a cache of their own, and no GPU to compilers.

The processes import this module, which is why it is apart from the tests: pytest takes as long to
import as cubc.
"""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

from cubc import _core

SPAWN = multiprocessing.get_context("spawn")
PLACES = ("measuring", "compiling")  # folders of caches


def become(cache):
    """Give a process a cache of its own, as one of another host has, and no GPU to compilers."""
    os.environ["CUBC_CACHE"] = cache
    if cache.endswith("compiling"):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def host(folder, processes=1):
    """Processes of a host that shares no cache with others."""
    return ProcessPoolExecutor(
        processes, mp_context=SPAWN, initializer=become, initargs=(str(folder),)
    )


def started(processes):
    """Compilers that the one process of a pool has started: one to ask for its version."""
    return processes.submit(_core.compilers_started).result()
