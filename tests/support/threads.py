"""Calls from several threads that begin together."""

import threading
from concurrent.futures import ThreadPoolExecutor


def at_once(function, threads=8):
    """Results of function(k) of threads that begin together."""
    barrier = threading.Barrier(threads)

    def run(k):
        barrier.wait()
        return function(k)

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(run, range(threads)))
