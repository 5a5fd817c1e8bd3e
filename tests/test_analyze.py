"""Analyses of stores written by hand."""

import pytest
import stores
from stores import row, write

from cubc import _core, tuner

A, B, C = stores.variants()


@pytest.fixture
def db(tmp_path):
    """B is 2 and 3 times as fast as base, A half as fast; C is missing one workload."""
    return write(
        tmp_path / "one.db",
        [
            row("base", 16, 1e-4),
            row("base", 20, 1e-3),
            row(A, 16, 2e-4, 1e-4),
            row(A, 20, 2e-3, 1e-3),
            row(B, 16, 1e-4, 2e-4),
            row(B, 20, 1e-3, 3e-3),
            row(C, 20, 1e-4, 1e-3),
        ],
    )


def test_top(db):
    top = tuner.analyze(db).top(2)
    assert list(top.variant) == [B, "base"]
    declared = dict(_core.benchmarks()["reduce.sum"].items())[stores.ELEMENTS]
    n, places = len(declared), (declared.index(16), declared.index(20))
    w = [1 - 0.4 * 400 ** (-k / n) for k in places]
    score = (2 * w[0] + 3 * w[1]) / sum(w)
    assert top.loc[0, ["score", "mins", "means", "maxs"]].tolist() == pytest.approx(
        [score, 2, 2.5, 3], rel=1e-5
    )


def test_incomplete_variants_do_not_enter(db):
    assert C not in set(tuner.analyze(db).top(10).variant)
    assert tuner.analyze(db).scores().set_index("variant").status[C] == "partial"


def test_best(db):
    best = tuner.analyze(db).best()
    assert (best.label, best.ct, best.arch) == (B, {"T{ct}": "F32"}, "cpu")
    assert list(best.speedups.values()) == pytest.approx([2, 3])


def test_restriction_to_an_axis_value(db):
    analysis = tuner.analyze(db, R="reduce", axes={"Elements": 20})
    assert analysis.best().label == C
    assert set(analysis.to_frame().Elements) == {20}


def test_frame(db):
    frame = tuner.analyze(db).to_frame()
    assert len(frame) == 7
    labels = [p[1] for p in _core.parameters("reduce.sum", "cpu")]
    b = frame[(frame.variant == B) & (frame.Elements == 20)].iloc[0]
    assert {label: b[label] for label in labels} == tuner.space.parse_label(B)
    assert (b.center_us, b.base_us, b.speedup) == pytest.approx((1000, 3000, 3))
    assert b.gbps == pytest.approx((4 << 20) / 1e-3 / 1e9)
    assert (b.samples, b.status, b.benchmark) == (9, "ok", "reduce.sum")
    assert b["T"] == "F32"
    assert frame.Elements.dtype.kind == "i"
    assert all(frame[label].dtype.kind == "i" for label in labels)


def test_html(db):
    assert f"<td>{B}</td>" in tuner.analyze(db)._repr_html_()


def test_failures_have_a_status_and_no_score(tmp_path):
    db = write(
        tmp_path / "f.db",
        [row("base", 16), row(A, 16, status="fault", message="<b>SIGSEGV"), row(B, 16, 1e-4)],
    )
    analysis = tuner.analyze(db)
    scores = analysis.scores().set_index("variant")
    assert scores.status[A] == "fault"
    assert scores.score.isna()[A]
    assert analysis.best().label == B
    frame = analysis.to_frame().set_index("variant")
    assert frame.center_us.isna()[A]
    assert frame.speedup.isna()[A]
    assert analysis.coverage().failed.tolist() == [1]


def test_coverage(db):
    coverage = tuner.analyze(db).coverage().iloc[0]
    valid = tuner.space.Space("reduce.sum", {"T{ct}": "F32"}, "cpu").count()
    assert (coverage.valid, coverage.failed) == (valid, 0)
    assert coverage.coverage == pytest.approx(coverage.measured / valid)


def test_coverage_of_another_kernel_is_not_known(tmp_path):
    db = write(tmp_path / "old.db", [row("base", 16, source_hash="0" * 64)])
    assert tuner.analyze(db).coverage().coverage.isna().all()


def test_policies(db):
    line = tuner.analyze(db).policies()
    assert line == f'POLICY("cpu", "reduce.sum", "F32", "{B}")'


def test_no_policy_where_nothing_beats_base(tmp_path):
    db = write(tmp_path / "slow.db", [row("base", 16), row(A, 16, 2e-3, 1e-3)])
    assert tuner.analyze(db).policies() == ""
    assert tuner.analyze(db).best().label == "base"


def test_devices_are_never_mixed(tmp_path):
    """A variant without base samples of its own needs a base of the same device."""
    db = tmp_path / "two.db"
    alone = row(A, 16, 1e-4) | {"base_samples": b""}
    write(db, [row("base", 16, 1e-3)], uuid="one")
    write(db, [alone], uuid="two")
    analysis = tuner.analyze(db)
    assert len(analysis.groups) == 2
    assert list(analysis.top(5).variant) == ["base"]
    write(db, [row("base", 16, 3e-4)], uuid="two")
    two = next(g for g in tuner.analyze(db).groups if g.device_uuid == "two")
    assert two.score(A) == pytest.approx(3)


@pytest.mark.parametrize("what", ["driver", "compiler"])
def test_environments_are_never_mixed(tmp_path, what):
    db = tmp_path / "two.db"
    write(db, [row("base", 16, 1e-3)])
    write(db, [row(A, 16, 1e-4) | {"base_samples": b""}], **{what: "another"})
    assert list(tuner.analyze(db).top(5).variant) == ["base"]


def test_several_stores_and_globs(tmp_path):
    write(tmp_path / "a.db", [row("base", 16), row(A, 16, 1e-4)])
    write(tmp_path / "b.db", [row(B, 16, 1e-5)])
    one = tuner.analyze(str(tmp_path / "*.db"))
    two = tuner.analyze([tmp_path / "a.db", tmp_path / "b.db"])
    assert one.best() == two.best()
    assert one.best().label == B


def test_nothing_to_analyse(tmp_path, db):
    with pytest.raises(FileNotFoundError, match="no store"):
        tuner.analyze(tmp_path / "*.nothing")
    with pytest.raises(LookupError, match=r"no benchmark 'scam'"):
        tuner.analyze(db, R="scam")
    with pytest.raises(LookupError, match="did you mean Elements"):
        tuner.analyze(db, axes={"Element": 16})
    with pytest.raises(ValueError, match="does not declare 17"):
        tuner.analyze(db, axes={"Elements": 17})
    with pytest.raises(ValueError, match="no regular expression"):
        tuner.analyze(db, R="(")
    with pytest.raises(ValueError, match="nothing was measured"):
        tuner.analyze(db, axes={"T": "I64"})
    with pytest.raises(ValueError, match="nothing was measured"):
        tuner.analyze(write(tmp_path / "empty.db", []))


def test_a_file_that_is_no_store(tmp_path):
    path = tmp_path / "text.db"
    path.write_text("Lorem ipsum dolor sit amet. " * 100)
    with pytest.raises(_core.StoreError):
        tuner.analyze(path)


@pytest.mark.parametrize(
    "hostile",
    [
        {"variant": "ipt_1;system"},
        {"variant": '"), evil("'},
        {"rt": "Elements{io}[pow2]=x"},
        {"rt": "Elements{io}[pow2]=17"},
        {"ct": 'T{ct}=F32"'},
        {"axes": "[["},
        {"benchmark": 'reduce.sum", "'},
    ],
)
def test_hostile_rows_are_left_out_with_a_warning(tmp_path, hostile):
    db = write(tmp_path / "h.db", [row("base", 16), row(A, 16, 1e-5) | hostile, row(B, 16, 1e-4)])
    with pytest.warns(RuntimeWarning, match=r"h\.db: row 2 was refused"):
        analysis = tuner.analyze(db)
    assert list(analysis.top(5).variant) == [B, "base"]
