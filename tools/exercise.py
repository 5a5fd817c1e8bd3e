"""Every algorithm once at small sizes on the default device: something for a checker to watch.

compute-sanitizer --tool memcheck python tools/exercise.py     (or racecheck, synccheck, initcheck)
"""

import numpy as np

import cubc

for name in ("int8", "float32", "float64"):
    for n in (1, 1000, 100003):
        x = (np.arange(n) % 7).astype(name)
        d = cubc.asarray(x)
        assert cubc.reduce(d).item() == x.sum(dtype="int64" if name == "int8" else "float64")
        assert cubc.argmax(d).item() == x.argmax()
        for columns in (3, 8):
            rows = n // columns
            table = x[: rows * columns].reshape(rows, columns)
            sums = cubc.sum(cubc.asarray(table), axis=0).numpy()
            assert (sums == table.sum(axis=0, dtype=sums.dtype)).all()
        assert (cubc.scan(d).numpy() == np.cumsum(x, dtype=name)).all()
        offsets = np.unique(np.arange(0, n, 9) ** 2 % n)
        sums = cubc.segmented_reduce(d, cubc.asarray(offsets)).numpy()
        before = np.concatenate([[0], np.cumsum(x, dtype="int64")])
        assert (sums == np.diff(before[offsets])).all()
        assert (cubc.select(d, "x > 3").numpy() == x[x > 3]).all()
        assert cubc.partition(d, "x > 3")[1].size == (x <= 3).sum()
        assert (cubc.unique_consecutive(d).numpy() == x).all()
        assert (cubc.flatnonzero(d).numpy() == np.flatnonzero(x)).all()
        assert (cubc.sort(d).numpy() == np.sort(x)).all()
        assert (cubc.argsort(d).numpy() == np.argsort(x, kind="stable")).all()
        parts = [np.sort(part) for part in np.split(x, offsets)]
        result = cubc.segmented_sort(d, cubc.asarray(offsets)).numpy()
        assert (result == np.concatenate(parts)).all()
        assert (cubc.transform("2 * v", v=d).numpy() == (2 * x).astype(name)).all()
print("ok on", cubc.device_info()["name"])
