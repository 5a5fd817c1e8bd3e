"""Every algorithm once at small sizes on the default device: something for a checker to watch.

compute-sanitizer --tool memcheck python tools/exercise.py  (or racecheck, synccheck, initcheck)
python tools/exercise.py int8 float32.sorts lattice         these parts alone, of the table PARTS
python tools/exercise.py --list                             their names

Parts share no work, so several processes compile and check them side by side. `int8` stands for all
parts that begin with `int8.`.
"""

import functools
import sys

import numpy as np

import cubc
import cubc.lattice


def even_parts(x):
    """Offsets of parts of many lengths, some empty, and the parts as NumPy has them."""
    offsets = np.unique(np.arange(0, x.size, 9) ** 2 % x.size)
    return offsets, np.split(x, offsets)


def total_type(x):
    """The type in which NumPy adds items of x's type without loss."""
    return "int64" if x.dtype == "int8" else "float64"


def reductions(x):
    """Reductions of all, of axes and of segments; finding; histograms."""
    n, d = x.size, cubc.asarray(x)
    assert cubc.reduce(d).item() == x.sum(dtype=total_type(x))
    assert cubc.argmax(d).item() == x.argmax()
    for columns in (3, 8):
        rows = n // columns
        table = x[: rows * columns].reshape(rows, columns)
        for deterministic in (False, True):
            sums = cubc.sum(cubc.asarray(table), axis=0, deterministic=deterministic).numpy()
            assert (sums == table.sum(axis=0, dtype=sums.dtype)).all()
    offsets, _ = even_parts(x)
    before = np.concatenate([[0], np.cumsum(x, dtype="int64")])
    for deterministic in (False, True):
        sums = cubc.segmented_reduce(d, cubc.asarray(offsets), deterministic=deterministic).numpy()
        assert (sums == np.diff(before[offsets])).all()
    assert (
        cubc.reduce(d, "a + b", init=0, deterministic=True).item()
        == cubc.reduce(d, "a + b", init=0).item()
    )
    assert cubc.find_if(d, "x == 6").item() == (6 if n > 6 else -1)
    assert (cubc.histogram(d, 9, (0, 9))[0].numpy() == np.histogram(x, 9, (0, 9))[0]).all()
    assert (cubc.histogram(d, [0, 2, 7])[0].numpy() == np.histogram(x, [0, 2, 7])[0]).all()


def scans(x):
    """Scans of all and of segments."""
    d = cubc.asarray(x)
    assert (cubc.scan(d).numpy() == np.cumsum(x, dtype=x.dtype)).all()
    assert (cubc.scan(d, deterministic=True).numpy() == cubc.scan(d).numpy()).all()
    offsets, parts = even_parts(x)
    parts = [np.cumsum(part, dtype=x.dtype) for part in parts]
    assert (cubc.segmented_scan(d, cubc.asarray(offsets)).numpy() == np.concatenate(parts)).all()
    whole = cubc.segmented_scan(d, segment_size=x.size).numpy()
    assert (whole == np.cumsum(x, dtype=x.dtype)).all()


def selections(x):
    """Algorithms that keep some items: by a predicate, by runs, by key."""
    n, d = x.size, cubc.asarray(x)
    assert (cubc.select(d, "x > 3").numpy() == x[x > 3]).all()
    assert cubc.partition_if(d, "x > 3")[1].size == (x <= 3).sum()
    assert cubc.partition_if(d, "x > 3", "x > 1")[1].size == ((x > 1) & (x <= 3)).sum()
    assert (cubc.unique_consecutive(d).numpy() == x).all()
    assert (cubc.flatnonzero(d).numpy() == np.flatnonzero(x)).all()
    y = cubc.asarray((np.arange(n) // 7 % 5).astype(x.dtype))
    assert cubc.reduce_by_key(y, d)[1].numpy()[:1] == x[:7].sum()
    f = cubc.asarray(x.astype("f4"))
    assert cubc.reduce_by_key(y, f, deterministic=True)[1].numpy()[:1] == x[:7].sum()
    assert cubc.scan_by_key(y, d, dtype="int64").numpy()[:7].max() == x[:7].sum()
    assert cubc.run_length_encode(y)[1].numpy().sum() == n
    assert (cubc.repeat(*cubc.run_length_encode(y)).numpy() == y.numpy()).all()
    assert cubc.nontrivial_runs(y)[0].size == (n + 5) // 7
    assert cubc.unique_by_key(y, d)[1].size == (n + 6) // 7
    for equal in ({"equal": "a == b"}, {"equal": "a * 2 == b * 2", "deterministic": True}):
        assert cubc.reduce_by_key(y, f, **equal)[1].numpy()[:1] == x[:7].sum()
        assert cubc.scan_by_key(y, d, dtype="int64", **equal).numpy()[:7].max() == x[:7].sum()
    assert cubc.run_length_encode(y, equal="a == b")[1].numpy().sum() == n
    assert cubc.nontrivial_runs(y, equal="a == b")[0].size == (n + 5) // 7
    assert cubc.unique_consecutive(y, equal="a == b").size == (n + 6) // 7


def sorts(x):
    """Radix sorts of all, of axes and of segments."""
    n, d = x.size, cubc.asarray(x)
    ordered = cubc.sort(d)
    assert (ordered.numpy() == np.sort(x)).all()
    assert (cubc.argsort(d).numpy() == np.argsort(x, kind="stable")).all()
    for columns in (3, 8):
        table = x[: n // columns * columns].reshape(-1, columns)
        assert (cubc.sort(cubc.asarray(table), axis=0).numpy() == np.sort(table, axis=0)).all()
    offsets, parts = even_parts(x)
    result = cubc.segmented_sort(d, cubc.asarray(offsets)).numpy()
    assert (result == np.concatenate([np.sort(part) for part in parts])).all()
    assert (cubc.segmented_sort(d, segment_size=n).numpy() == np.sort(x)).all()
    assert (cubc.segmented_argsort(d, segment_size=1).numpy() == np.arange(n)).all()
    begins, ends = (cubc.asarray(np.array(places)) for places in ([n // 2, 0], [n, n // 3]))
    result = cubc.segmented_sort(d, begins, ends=ends).numpy()
    assert (result[n // 2 :] == np.sort(x[n // 2 :])).all()
    assert (result[n // 3 : n // 2] == x[n // 3 : n // 2]).all()
    rows = np.stack([x, x, x], 1)
    assert (cubc.sort_pairs(d, cubc.asarray(rows))[1].numpy() == np.sort(rows, axis=0)).all()


def merges(x):
    """Merge sort and merges."""
    d, ordered = cubc.asarray(x), cubc.asarray(np.sort(x))
    assert (cubc.merge_sort(d, "a > b").numpy() == np.sort(x)[::-1]).all()
    assert (cubc.merge_sort(d, values=d)[1].numpy() == np.sort(x)).all()
    assert (cubc.merge(ordered, ordered).numpy() == np.sort(np.tile(x, 2))).all()


def searches(x):
    """Searches in sorted items, and the largest items."""
    n, d = x.size, cubc.asarray(x)
    ordered = cubc.asarray(np.sort(x))
    assert (cubc.searchsorted(ordered, d).numpy() == np.searchsorted(np.sort(x), x)).all()
    assert (cubc.topk(d, n // 2)[0].numpy() == np.sort(x)[::-1][: n // 2]).all()
    matrix = x[: n // 9 * 9].reshape(9, -1)
    found = cubc.topk(cubc.asarray(matrix), min(n // 9, 50))[0].numpy()
    assert (found == np.sort(matrix)[:, ::-1][:, :50]).all()
    offsets, parts = even_parts(x)
    found = cubc.segmented_topk(d, 1, cubc.asarray(offsets))[0].numpy().ravel()
    assert (found == [part.max() if part.size else 0 for part in parts][1:-1]).all()


def indices(x):
    """Items taken, scattered and put by their places."""
    n, d = x.size, cubc.asarray(x)
    k = (np.arange(n) * 7 % 5).astype("int64")
    sums = np.zeros(5, total_type(x))
    np.add.at(sums, k, x)
    for deterministic in (False, True):
        none, values = np.zeros(5, sums.dtype), cubc.asarray(x.astype(sums.dtype))
        found = cubc.scatter(
            cubc.asarray(none), cubc.asarray(k), values, "sum", deterministic=deterministic
        )
        assert np.allclose(found.numpy(), sums)
    turned = cubc.asarray(np.zeros_like(x))
    cubc.put(turned, cubc.asarray(np.arange(n)[::-1].copy()), d)
    assert (turned.numpy() == x[::-1]).all()
    assert (cubc.take(d, cubc.asarray(k)).numpy() == x[k]).all()


def transforms(x):
    """Transforms, batches of copies and outer products."""
    n, d = x.size, cubc.asarray(x)
    assert (cubc.transform("2 * v", v=d).numpy() == (2 * x).astype(x.dtype)).all()
    copy = cubc.empty(n, x.dtype)
    cubc.copy_batch([d[: n // 3], d[n // 3 :]], [copy[: n // 3], copy[n // 3 :]])
    assert (copy.numpy() == x).all()
    rows = cubc.transform("v - w", v=cubc.asarray(x.reshape(n, 1)), w=cubc.asarray(x[:3]))
    assert (rows.numpy() == x.reshape(n, 1) - x[:3]).all()
    twice, above = cubc.transform(["2 * v", "v > 3"], v=d)
    assert (twice.numpy() == (2 * x).astype(x.dtype)).all()
    assert (above.numpy() == (x > 3)).all()
    turned = cubc.empty(n, x.dtype)
    cubc.for_each("y[n - 1 - i] = v[i]", n, v=d, y=turned, n=n, check=True)
    assert (turned.numpy() == x[::-1]).all()
    larger = np.append(x[:1], np.maximum(x[1:], x[:-1]))
    assert (cubc.adjacent_difference(d, "b > a ? b : a").numpy() == larger).all()
    cubc.shuffle(turned, seed=1)
    assert (np.sort(turned.numpy()) == np.sort(x)).all()


def lazy_inputs(x):
    """Algorithms that read an expression in place of an array."""
    n, d = x.size, cubc.asarray(x)
    lazy, items = cubc.lazy("v * c", v=d, c=cubc.asarray(x[-1:])), x * x[-1]
    assert cubc.reduce(lazy).item() == items.sum(dtype=total_type(x))
    assert (cubc.histogram(lazy, 9, (0, 9))[0].numpy() == np.histogram(items, 9, (0, 9))[0]).all()
    assert cubc.find_if(lazy, "x < 0").item() == -1
    assert (cubc.topk(lazy, n // 2)[0].numpy() == np.sort(items)[::-1][: n // 2]).all()
    y = cubc.asarray((np.arange(n) // 7 % 5).astype(x.dtype))
    assert cubc.reduce_by_key(y, lazy)[1].numpy()[:1] == items[:7].sum()
    offsets, parts = even_parts(items)
    sums = cubc.segmented_reduce(lazy, cubc.asarray(offsets)).numpy()
    assert (sums == [part.sum(dtype=total_type(x)) for part in parts[1:-1]]).all()
    assert (cubc.sort(lazy).numpy() == np.sort(items)).all()
    assert (cubc.select(lazy, "x > 3").numpy() == items[items > 3]).all()


GROUPS = (reductions, scans, selections, sorts, merges, searches, indices, transforms, lazy_inputs)


def on_items(group, name):
    """One group of primitives on items of one type; `name` is NumPy's name of it."""
    for n in (1, 1000, 100003):
        group((np.arange(n) % 7).astype(name))


def structs():
    """Items that no vector load holds: complex numbers and a struct of 12 bytes."""
    z = (np.arange(100003) % 7 + 1j).astype("complex128")
    assert cubc.reduce(cubc.asarray(z)).item() == z.sum()
    assert (cubc.scan(cubc.asarray(z)).numpy() == z.cumsum()).all()
    p = np.zeros(100003, [("x", "f4"), ("m", "f4"), ("k", "i4")])  # no vector, and not of 16 bytes
    p["x"] = p["k"] = np.arange(p.size) % 7
    d = cubc.asarray(p)
    add = "value_t{a.x + b.x, a.m + b.m, a.k + b.k}"
    assert cubc.reduce(d, add).item()[2] == p["k"].sum()
    assert (cubc.scan(d, add).numpy()["k"] == p["k"].cumsum()).all()
    assert (cubc.select(d, "x.k > 3").numpy() == p[p["k"] > 3]).all()
    assert (cubc.transform("p.x", p=d, dtype="f4").numpy() == p["x"]).all()


def bools():
    """Bools of other bytes than 0 and 1."""
    raw = np.array([0, 0, 1, 2, 128, 255, 0], np.uint8)
    for n in (1, 1000, 100003):
        b, x = np.resize(raw, n).view(bool), np.arange(n, dtype="i4")
        true = b.view("u1") != 0
        d, v = cubc.asarray(b), cubc.asarray(x)
        every = cubc.asarray(np.resize(raw[2:6], n).view(bool))
        assert cubc.sum(d).item() == true.sum() and cubc.any(d).item() == true.any()
        assert cubc.all(every).item() and cubc.min(every).item() and cubc.prod(every).item() == 1
        assert cubc.reduce(d, "a != b", init=False).item() == true.sum() % 2
        assert cubc.argmax(d).item() == true.argmax()
        assert (cubc.scan(d).numpy() == true.cumsum()).all()
        assert (cubc.scan(d, "max").numpy() == np.maximum.accumulate(true)).all()
        assert (cubc.scan(d, "a != b", deterministic=True).numpy() == true.cumsum() % 2).all()
        sums = cubc.segmented_reduce(d, segment_size=n).numpy()
        assert (sums == true.sum()).all()
        assert (cubc.select(v, d).numpy() == x[true]).all()
        assert (cubc.select(v[1:], d[1:]).numpy() == x[1:][true[1:]]).all()
        assert cubc.select(d, "x == 1").size == true.sum()
        assert (cubc.flatnonzero(d).numpy() == np.flatnonzero(true)).all()
        assert (cubc.partition_if(v, d)[1].numpy() == x[~true]).all()
        assert cubc.find_if(d, "x == 1").item() == (2 if n > 2 else -1)
        firsts = cubc.unique_by_key(d, v)[1].numpy()
        assert (firsts == np.flatnonzero(np.r_[True, true[1:] != true[:-1]])).all()
        assert cubc.unique_consecutive(d).size == cubc.run_length_encode(d)[0].size == firsts.size
        assert cubc.reduce_by_key(d, v, dtype="i8")[1].numpy().sum() == x.sum(dtype="i8")
        assert cubc.scan_by_key(v, d, "max").numpy().sum() == true.sum()
        assert (cubc.bincount(d).numpy() == np.bincount(true)).all()
        assert (
            cubc.histogram(d, 2, (0, 1))[0].numpy() == np.histogram(true * 1, 2, (0, 1))[0]
        ).all()
        counts = cubc.histogram(v, 4, (0, n), weights=d)[0].numpy()
        assert (counts == np.histogram(x, 4, (0, n), weights=true * 1)[0]).all()
        assert (cubc.sort(d).numpy().view("u1") == np.sort(true).view("u1")).all()
        assert (cubc.argsort(d).numpy() == np.argsort(true, kind="stable")).all()
        assert (
            cubc.segmented_argsort(d, segment_size=n).numpy() == np.argsort(true, kind="stable")
        ).all()
        assert (cubc.merge_sort(d, values=v)[1].numpy() == np.argsort(true, kind="stable")).all()
        assert (cubc.topk(d, n // 2)[1].numpy() == np.argsort(~true, kind="stable")[: n // 2]).all()
        places = cubc.searchsorted(cubc.sort(d), d).numpy()
        assert (places == np.searchsorted(np.sort(true), true)).all()
        assert (cubc.transform("b ? v : -1", b=d, v=v).numpy() == np.where(true, x, -1)).all()
        assert (cubc.transform("b", b=d, dtype=bool).numpy().view("u1") == true).all()
        assert cubc.sum(cubc.lazy("b * v", b=d, v=v)).item() == (true * x).sum(dtype="i8")
        p = np.zeros(n, [("k", "i4"), ("f", "?")])
        p["k"], p["f"] = x, b
        d = cubc.asarray(p)
        assert (cubc.select(d, "x.f").numpy()["k"] == x[true]).all()
        assert cubc.reduce(d, "value_t{a.k + b.k, a.f && b.f}").item()[1] == true.all()


def lattice():
    """Gauge fields and solves of Wilson-like operators."""
    u = cubc.lattice.quenched((4, 6, 2, 4), 6.0, 2, start="hot", over_relaxation=1)
    g = cubc.lattice.Rotation.random(u.extent)
    fixed, _ = u.transform(g).temporal_gauge()
    assert abs(fixed.plaquette()[0] - u.plaquette()[0]) < 1e-13
    assert abs(fixed.polyakov() - u.polyakov()) < 1e-13
    u.project(nearest=True)
    assert max(u.unitarity()) < 1e-14
    assert abs(g(np.ones((4, 2, 6, 4, 4, 3), complex))).max() > 0
    x = np.ones((4, 2, 6, 4, 4, 3), complex)
    for D in (cubc.lattice.TwistedMass(u, 0.1, 0.2), cubc.lattice.WilsonClover(u, 0.1, 1.0)):
        assert abs(np.vdot(x, D(x)) - np.vdot(D.dagger(x), x)) < 1e-3
        assert D.solve(x, precision="single", tol=1e-4)[1].converged
    assert np.isfinite(D.trace_log())
    W = cubc.lattice.Wilson(u, 0.1)
    for solver in ("cg", "ca_cg", "bicgstab", "gcr"):
        assert W.solve(x, solver=solver, sloppy="half")[1].converged
    assert W.solve(x, solver="multishift", shifts=[0.1, 1.0])[1].converged


def staggered():
    """Fat and long links, and solves of staggered operators."""
    u = cubc.lattice.quenched((4, 6, 2, 4), 6.0, 2, start="hot", over_relaxation=1)
    b = np.ones((4, 2, 6, 4, 3), complex)
    for D in (cubc.lattice.Staggered(u, 0.1), cubc.lattice.HISQ(u, 0.1)):
        assert abs(np.vdot(b, D(b)) - np.vdot(D.dagger(b), b)) < 1e-3
        for sloppy in ("single", "half"):
            assert D.solve(b, sloppy=sloppy)[1].converged


def faces():
    """A lattice that is its own neighbour: faces are packed, sent and taken in one device."""
    u = cubc.lattice.quenched((4, 6, 4, 8), 6.0, 2, start="hot", over_relaxation=1)
    links = u.links()
    sites = (8, 4, 6, 4)
    grid = cubc.lattice.Grid(cut="zt")
    cut = cubc.lattice.Gauge(links, grid=grid)
    x = np.ones((*sites, 4, 3), complex)
    b = np.ones((*sites, 3), complex)
    for precision in ("double", "half"):
        for Operator, field in ((cubc.lattice.Wilson, x), (cubc.lattice.HISQ, b)):
            found, expected = (Operator(g, 0.1, precision=precision)(field) for g in (cut, u))
            assert np.allclose(found, expected, atol=1e-2)
    assert cubc.lattice.Wilson(cut, 0.1).solve(x, sloppy="single")[1].converged
    grid.check()


def domain_wall():
    """Operators with a fifth dimension."""
    u = cubc.lattice.quenched((4, 6, 2, 4), 6.0, 2, start="hot", over_relaxation=1)
    b = np.ones((4, 4, 2, 6, 4, 4, 3), complex)
    for D, sloppy in (
        (cubc.lattice.DomainWall(u, 0.5, 1.8, 4), "single"),
        (cubc.lattice.Mobius(u, 0.5, 1.8, 4, b5=1.5, c5=0.5), "half"),
    ):
        assert abs(np.vdot(b, D(b)) - np.vdot(D.dagger(b), b)) < 1e-3
        assert D.solve(b, sloppy=sloppy, tol=1e-5)[1].converged


def sources():
    """Twisted clover and its doublet, and many sources of one operator."""
    u = cubc.lattice.quenched((4, 6, 2, 4), 6.0, 2, start="hot", over_relaxation=1)
    one = np.random.default_rng(3).standard_normal((6, 4, 2, 6, 4, 4, 3)) + 0j
    D = cubc.lattice.TwistedClover(u, 0.1, 0.2, 1.0)
    for solver in ("cg", "block_cg", "bicgstab"):
        assert D.solve(one, solver=solver, sloppy="single")[1].converged
    D = cubc.lattice.TwistedDoublet(u, 0.1, 0.2, 0.1)
    two = one[:2]
    assert abs(np.vdot(two, D(two)) - np.vdot(D.dagger(two), two)) < 1e-3
    assert D.solve(two)[1].converged


PARTS = {
    f"{name}.{group.__name__}": functools.partial(on_items, group, name)
    for name in ("int8", "float32", "float64")
    for group in GROUPS
} | {
    part.__name__: part
    for part in (structs, bools, lattice, staggered, faces, domain_wall, sources)
}

if sys.argv[1:] == ["--list"]:
    print(*PARTS)
    sys.exit()
asked = sys.argv[1:] or PARTS
names = {*PARTS, *(part.split(".")[0] for part in PARTS)}
if not names.issuperset(asked):
    sys.exit(f"{sys.argv[1:]} has a part that is not there. Parts: {' '.join(PARTS)}")
for part in (p for p in PARTS if p in asked or p.split(".")[0] in asked):
    PARTS[part]()
    print(part, "ok on", cubc.device_info()["name"], flush=True)
