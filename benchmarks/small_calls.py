"""Host time of calls of 64 items on the cpu device, where next to all of it is the host's.

    python benchmarks/small_calls.py [NAME ...]

Microseconds a call: the least mean of five rounds of 200. A call on a GPU has the same part in
Python, and its launches besides.
"""

import argparse
import timeit

import numpy as np

import cubc

N, CALLS, ROUNDS = 64, 200, 5


def cases():
    def on_cpu(x):
        return cubc.asarray(x, device="cpu")

    x, y = (on_cpu(np.arange(N, dtype="f4")[::step].copy()) for step in (1, -1))
    i, mask = on_cpu(np.arange(N)), on_cpu(np.arange(N) % 2 == 0)
    few = on_cpu((np.arange(N) % 7).astype("i4"))
    rows = x.reshape(8, 8)
    return {
        "sum": lambda: cubc.sum(x),
        "transform": lambda: cubc.transform("x + y", x=x, y=y),
        "take": lambda: cubc.take(x, i),
        "take clip": lambda: cubc.take(x, i, mode="clip"),
        "take axis=1": lambda: cubc.take(rows, i[:4], axis=1),
        "take_along_axis": lambda: cubc.take_along_axis(rows, few.reshape(8, 8), 1),
        "put": lambda: cubc.put(x.copy(), i, y),
        "x[i]": lambda: x[i],
        "x[::2]": lambda: x[::2],
        "x[::2].copy": lambda: x[::2].copy(),
        "x[::-1].copy": lambda: x[::-1].copy(),
        "x.copy": lambda: x.copy(),
        "T.copy": lambda: rows.T.copy(),
        "x * x + 1": lambda: (x * x + 1).array(),
        "mean": lambda: cubc.mean(x),
        "mean axis=1": lambda: cubc.mean(rows, axis=1),
        "var": lambda: cubc.var(x),
        "std": lambda: cubc.std(x),
        "nanmean": lambda: cubc.nanmean(x),
        "nansum": lambda: cubc.nansum(x),
        "nanargmax": lambda: cubc.nanargmax(x),
        "count_nonzero": lambda: cubc.count_nonzero(few),
        "array_equal": lambda: cubc.array_equal(x, y),
        "is_sorted": lambda: cubc.is_sorted(x),
        "diff": lambda: cubc.diff(x),
        "adjacent_difference": lambda: cubc.adjacent_difference(x),
        "where": lambda: cubc.where(mask, x, y),
        "concatenate": lambda: cubc.concatenate([x, y]),
        "repeat": lambda: cubc.repeat(x, 3),
        "searchsorted": lambda: cubc.searchsorted(x, y),
        "permutation": lambda: cubc.permutation(N, device="cpu"),
        "histogram": lambda: cubc.histogram(x, 10),
        "unique": lambda: cubc.unique(few),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = cases()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    names = parser.parse_args().names
    for name in names or known:
        known[name]()  # compiles
        seconds = min(timeit.repeat(known[name], number=CALLS, repeat=ROUNDS)) / CALLS
        print(f"{name:20} {1e6 * seconds:7.1f} us", flush=True)


if __name__ == "__main__":
    main()
