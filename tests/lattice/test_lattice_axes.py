"""Extents and right-hand sides as run-time axes: of benchmarks, searches and policies."""

import warnings

import numpy as np
import pytest
import stores
from every_case import EVERY_CASE
from lattice_reference import random_links, random_spinors

import cubc
from cubc import _core, lattice, tuner
from cubc.tuner import _workload

TYPE = {"T{ct}": "F32"}
AT_24 = dict.fromkeys("XYZT", 24)
SMALL = {"X": 4, "Y": 6, "Z": 2, "T": 10}
SEVERAL = "tpb_64.mb_1.spt_2.sg_1.sf_0.kl_0.bx_6.by_6.bz_0.bt_0.sz_7.ld_0.ll_0.cv_0"
WARPS = "tpb_64.mb_1.spt_1.sg_1.sf_0.kl_0.bx_6.by_6.bz_0.bt_0.sz_7.ld_0.ll_0.cv_0"
LATTICES = [name for name, axes in _core.benchmarks().items() if "X" in axes]
OF_SOURCES = [name for name in LATTICES if "Sources" in _core.benchmarks()[name]]
if not EVERY_CASE:  # one of each kernel
    OF_SOURCES = list({name.rpartition(".r")[0] or name: name for name in OF_SOURCES}.values())


@pytest.fixture(autouse=True)
def nothing_overlaid():
    _core.clear_policies()
    yield
    cubc.autotune(False)
    _core.clear_policies()


def running(benchmark="dslash.wilson.r12", **place):
    return _core.policy(benchmark, TYPE, "cpu", place)


@pytest.mark.some(8)
@pytest.mark.parametrize("benchmark", LATTICES)
def test_any_volume_is_a_workload(benchmark):
    one = _core.Workload(benchmark, TYPE, SMALL, "cpu")
    other = _core.Workload(benchmark, TYPE, SMALL | {"T": 20}, "cpu")
    assert one.verify(one.variant("base")) == 0
    # Nothing else is as large as fields but sums and states.
    assert other.bytes == pytest.approx(2 * one.bytes, rel=0.2)


@pytest.mark.parametrize("benchmark", OF_SOURCES)
def test_right_hand_sides_are_an_axis(benchmark):
    works = [_core.Workload(benchmark, TYPE, SMALL | {"Sources": n}, "cpu") for n in (1, 2, 3)]
    sizes = [work.bytes for work in works]
    # Nothing else is as large as fields but the matrices of a block, which have a row a source.
    assert sizes[1] > sizes[0]
    assert sizes[2] - sizes[1] == pytest.approx(sizes[1] - sizes[0], rel=0.01)
    assert works[2].verify(works[2].variant("base")) == 0


def test_the_place_of_a_call(tmp_path):
    """Three sources: fields of one parity count in pairs where a kernel only goes through sites."""
    gauge = lattice.Gauge.random((4, 2, 4, 6), noise=0.3, device="cpu")
    rotation = lattice.Rotation.random((4, 2, 4, 6), device="cpu")
    b = random_spinors(np.random.default_rng(1), (4, 2, 4, 6), 3)
    with tuner.record(tmp_path / "calls.db"):
        lattice.WilsonClover(gauge, 0.12, csw=1.0).solve(b, tol=0.1)
        lattice.TwistedMass(gauge, 0.12, mu=0.1).solve(b, tol=0.1)
        rotation(b)
        lattice.DomainWall(gauge, 0.1, 1.8, 2).dagger(np.stack([b, b], 1))
    table = tuner.recorded(tmp_path / "calls.db")
    place, sources = "X=4,Y=2,Z=4,T=6", {}
    for name, shape in zip(table.benchmark, table["shape"], strict=True):
        assert shape.startswith(place)
        sources.setdefault(name, set()).add(shape.removeprefix(place))
    for name in (
        "dslash.clover.r12",
        "dslash.twisted.r12",
        "field_update.cg",
        "gauge_rotate.spinors",
    ):
        assert sources[name] == {",Sources=3"}, name
    for name in ("clover_apply.site", "spinor_twist.apply"):
        assert sources[name] == {",Sources=2"}
    for name in ("dslash.domain_wall.r12", "domain_wall.inverse"):
        assert sources[name] == {",Sources=3,Ls=2"}
    assert sources["clover_invert.field"] == {""}
    assert set(table.searchable) == {"yes"}


@pytest.mark.parametrize(
    ("rt", "message"),
    [
        ({"X": 7}, "7 sites along x: extents are even numbers"),
        ({"T": 1 << 40}, "along t: extents are even numbers"),
        ({"Y": 0}, "Y is 0; expected 1 to 2"),
        ({"Sources": 70_000}, "a benchmark has up to 65535"),
        ({"Elements": 1 << 16}, "has no run-time axis Elements"),
    ],
)
def test_places_that_there_are_not(rt, message):
    with pytest.raises(ValueError, match=message):
        _core.Workload("dslash.wilson.r12", TYPE, rt, "cpu")


def test_a_fifth_dimension_is_an_axis():
    for wrong in (0, 65):
        with pytest.raises(ValueError, match=f"Ls=?.*{wrong}"):
            _core.Workload("domain_wall.inverse", TYPE, SMALL | {"Ls": wrong}, "cpu")
    one, other = (
        _core.Workload("dslash.domain_wall.r12", TYPE, SMALL | {"Ls": ls}, "cpu") for ls in (4, 8)
    )
    links = 4 * 12 * 4 * 480
    assert other.bytes - links == 2 * (one.bytes - links)
    assert other.verify(other.variant("base")) == 0


def test_a_search_at_a_volume(tmp_path):
    db = tmp_path / "s.db"
    axes = {"T": ["F32", 10], "X": 4, "Y": 6, "Z": 2}
    result = tuner.search(
        "dslash.wilson.r12", axes, db=db, device="cpu", variants=2, confirm=0, progress=False
    )
    (group,) = result.groups
    assert group.ct == TYPE and set(group.rts) == {"X=4,Y=6,Z=2,T=10,Sources=1"}
    assert {cell.status for cell in group.measurements()} == {"ok"}
    frame = tuner.analyze(db, axes={"T": [10, "F32"]}).to_frame()
    assert set(frame["T"]) == {10} and set(frame["T{ct}"]) == {"F32"}
    with pytest.raises(ValueError, match=r"does not declare 12 on axis T; it declares 10"):
        tuner.analyze(db, axes={"T": 12})


def test_a_search_with_several_right_hand_sides(tmp_path):
    """Variants that take several at a time are valid there, and only there."""
    [one] = _workload.compile_time_workloads("dslash.wilson.r12", {"T": "F32"}, "cpu")
    axes = {"T": "F32", "Sources": 4}
    [four] = _workload.compile_time_workloads("dslash.wilson.r12", axes, "cpu")
    label = "tpb_1.mb_1.spt_4.sg_1.sf_0.kl_0.bx_6.by_6.bz_0.bt_0.sz_7.ld_0.ll_0.cv_0"
    assert four.space.valid(label) and not one.space.valid(label)


def test_variants_are_compiled_for_the_volume(monkeypatch):
    asked = []
    monkeypatch.setattr(_core, "compile", lambda *given: asked.append(given[6]) or 1.5)
    axes = {"T{ct}": "F32", "X": [24, 40]}
    [workload] = _workload.compile_time_workloads("dslash.wilson.r12", axes, "cpu")
    assert workload.compile("base", 10.0) == 3.0
    assert [rt["X"] for rt in asked] == [24, 40]


def test_policies_hold_near_a_volume():
    """Two octaves along each extent, and the nearest of several."""
    shipped = running(**AT_24)
    near = SMALL | {"X": 24, "Y": 24}
    _core.use_policy("dslash.wilson.r12", TYPE, "cpu", WARPS, AT_24)
    assert running(**AT_24) == running(**dict.fromkeys("XYZT", 40)) == WARPS
    assert running(**near) == shipped  # Z is too small
    other = WARPS.replace("tpb_64", "tpb_128")
    _core.use_policy("dslash.wilson.r12", TYPE, "cpu", other, dict.fromkeys("XYZT", 48))
    assert running(**dict.fromkeys("XYZT", 28)) == WARPS
    assert running(**dict.fromkeys("XYZT", 40)) == other


def test_policies_of_several_right_hand_sides():
    """One right-hand side runs what is valid for it."""
    shipped = running(**AT_24)
    _core.use_policy("dslash.wilson.r12", TYPE, "cpu", SEVERAL, AT_24 | {"Sources": 3})
    assert running(**AT_24, Sources=3) == running(**AT_24, Sources=12) == SEVERAL
    assert running(**AT_24, Sources=1) == shipped


@pytest.mark.parametrize("benchmark", ["dslash.wilson.r12", "dslash.naive.r12"])
def test_one_and_several_right_hand_sides_are_compiled_once(benchmark):
    label = _core.base(benchmark, TYPE, "cpu", SMALL)
    compiled = [
        _core.compile(benchmark, TYPE, "cpu", label, 0.0, b"", SMALL | {"Sources": n})
        for n in (1, 3)
    ]
    assert compiled[1] == 0


def test_shipped_policies_of_several_right_hand_sides():
    for operator in ("wilson", "clover", "twisted"):
        where = (f"dslash.{operator}.r12", TYPE, "sm_90")
        assert "kl_1" in _core.base(*where, {"Sources": 4})
        assert _core.base_range(*where, {"Sources": 4}) == "Sources=2:"
        assert "spt_1" in _core.base(*where, {"Sources": 1})


def test_shipped_policies_of_lattices_of_some_extents():
    """Their order of sites is for time slices that the L2 cache holds."""
    where = ("dslash.wilson.r8", {"T{ct}": "F64"}, "sm_90")
    at = {extent: _core.base(*where, dict.fromkeys("XYZT", extent)) for extent in (28, 48, 52)}
    assert at[28] == at[48] != at[52] == _core.base(*where, SMALL | {"X": 52})
    assert at[48] == _core.base(*where, dict.fromkeys("XYZ", 48) | {"T": 96})


def of_old_axes(benchmark, name):
    """Rows of a benchmark as they were when lattices had one axis, of sites."""
    fields = {"axes": '[["Elements{io}[pow2]", [16]]]', "rt": "Elements{io}[pow2]=16"}
    [label] = stores.variants(benchmark, "F32", 1)
    made = [stores.row("base", 16, ct="F32", benchmark=benchmark)]
    made += stores.confirmed(label, 16, 1e-4, ct="F32", benchmark=benchmark)
    return [row | fields | {"benchmark": name} for row in made]


@pytest.mark.parametrize(
    ("benchmark", "name"),
    [("gauge_measure.plaquettes",) * 2, ("dslash.wilson.r12", "dslash.wilson.r12.s4")],
)
def test_stores_of_the_old_axes(tmp_path, benchmark, name):
    """They are read, and hold no policies."""
    db = stores.write(tmp_path / "s.db", of_old_axes(benchmark, name))
    (group,) = tuner.analyze(db).groups
    assert (
        group.benchmark == name
        and not group.current
        and list(group.rts) == ["Elements{io}[pow2]=16"]
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert cubc.use_policies(db) == 0
    assert len(caught) == 1 and name in str(caught[0].message)


def test_autotune_takes_a_lattice_as_it_is(tmp_path, monkeypatch):
    """Its extents are not rounded to powers of two."""
    asked = []

    tuner_class = cubc._autotune.Tuner
    monkeypatch.setattr(tuner_class, "_search", lambda self, *given: asked.append(given) or "base")
    monkeypatch.setattr(_core, "cache_folder", lambda: str(tmp_path))
    gauge = lattice.Gauge(random_links(np.random.default_rng(1), (4, 6, 2, 10)), device="cpu")
    operator = lattice.Wilson(gauge, 0.12, precision="double")
    b = np.ones((3, 10, 2, 6, 4, 4, 3), complex)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nothing was found
        cubc.autotune(seconds=1)
        operator(b)
    place = {"X": 4, "Y": 6, "Z": 2, "T": 10, "Sources": 3}
    found = {benchmark: axes for _, benchmark, axes in asked}
    assert found["dslash.wilson.r12"] == {"T{ct}": "F64"} | place
