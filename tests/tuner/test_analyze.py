"""Analyses of stores written by hand."""

import contextlib
import os
import sqlite3
import sys
from dataclasses import replace

import pytest
import stores
from stores import row, write

from cubc import _core, tuner
from cubc.tuner import _space
from cubc.tuner._cli import main
from cubc.tuner._sample_tables import labels_of

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


def test_points_that_searches_of_their_own_declared(tmp_path):
    """17 and 18 are points of two searches of one store, and neither declares the other's."""
    db = write(tmp_path / "own.db", [row(A, n, 1e-3, 2e-3) for n in (17, 18)])
    for wanted in (17, 18, [17, 18]):
        frame = tuner.analyze(db, axes={"Elements": wanted}).to_frame()
        assert set(frame.Elements) == (set(wanted) if isinstance(wanted, list) else {wanted})
    with pytest.raises(ValueError, match="does not declare 19"):
        tuner.analyze(db, axes={"Elements": [17, 19]})
    with pytest.raises(ValueError, match="no value is given"):
        tuner.analyze(db, axes={"Elements": []})


def test_frame(db):
    frame = tuner.analyze(db).to_frame()
    assert len(frame) == 7
    labels = [p[1] for p in _core.parameters("reduce.sum", "cpu")]
    b = frame[(frame.variant == B) & (frame.Elements == 20)].iloc[0]
    assert {label: b[label] for label in labels} == _space.parse_label(B)
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


@pytest.mark.parametrize("confirmed", [False, True])
def test_the_best_is_a_line(db, confirmed):
    line = "measured once"
    if confirmed:
        write(db, [row(B, n, 1e-3, 2e-3, round=k) for k in range(1, 9) for n in (16, 20)])
        line = "FASTER (2.000 to 2.000)"
    best = tuner.analyze(db).best()
    line = f"reduce.sum F32 on {best.device}: {B}, score {best.score:.3f}, {line}"
    assert str(best) == line and repr(best) == f"<Best: {line}>"
    html = best._repr_html_()
    assert html.startswith("<table><caption>reduce.sum F32 on ")
    assert html.count("<tr>") == 1 + len(best.speedups)
    assert str(replace(best, label="base")).endswith(": base, nothing is faster")


def test_coverage(db):
    coverage = tuner.analyze(db).coverage().iloc[0]
    valid = _space.Space("reduce.sum", {"T{ct}": "F32"}, "cpu").count()
    assert (coverage.valid, coverage.failed) == (valid, 0)
    assert coverage.coverage == pytest.approx(coverage.measured / valid)


def test_coverage_of_another_kernel_is_not_known(tmp_path):
    db = write(tmp_path / "old.db", [row("base", 16, source_hash="0" * 64)])
    assert tuner.analyze(db).coverage().coverage.isna().all()


def test_policies(db):
    with pytest.warns(RuntimeWarning, match="and 1 more: measured once"):
        assert tuner.analyze(db).policies() == ""
    rounds = [stores.confirmed(B, 16, 1e-4, 2e-4)[1:], stores.confirmed(B, 20, 1e-3, 3e-3)[1:]]
    write(db, [one for some in rounds for one in some])
    lines = tuner.analyze(db).policies().splitlines()
    ranges = ("Elements=16384:262144", "Elements=262144:4194304")
    assert [line.split('"')[7] for line in lines] == [*ranges]
    assert lines[0] == f'POLICY("cpu", "reduce.sum", "F32", "{ranges[0]}", "{B}")'


def test_no_policy_where_nothing_beats_base(tmp_path):
    db = write(tmp_path / "slow.db", [row("base", 16), row(A, 16, 2e-3, 1e-3)])
    assert tuner.analyze(db).policies() == ""
    assert tuner.analyze(db).best().label == "base"


@pytest.mark.parametrize("options", [[], ["--header"]])
def test_the_command_says_that_nothing_wins(tmp_path, capsys, options):
    """So that no header without constants is taken for the result."""
    db = write(tmp_path / "a slow one.db", stores.confirmed(A, 16, 2e-3))
    assert main(["policy", *options, str(db)]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert "nothing there was found FASTER than base, so base stays" in said.err
    assert f"cubc search -R 'reduce\\.sum$' -a T=F32 -a Elements=16 --db '{db}'" in said.err
    assert main(["analyze", "--policies", str(db)]) == 0
    assert "so base stays" in capsys.readouterr().err


def test_devices_are_never_mixed(tmp_path):
    """A variant without base samples of its own needs a base of the same device."""
    db = tmp_path / "two.db"
    alone = row(A, 16, 1e-4) | {"base_samples": b""}
    write(db, [row("base", 16, 1e-3)], uuid="one")
    write(db, [alone], uuid="two")
    with pytest.warns(RuntimeWarning, match="no time of base is there"):
        analysis = tuner.analyze(db)
    assert len(analysis.groups) == 2
    assert list(analysis.top(5).variant) == ["base"]
    write(db, [row("base", 16, 3e-4)], uuid="two")
    two = next(g for g in tuner.analyze(db).groups if g.device_uuid == "two")
    assert two.score(A) == pytest.approx(3)


def test_what_is_left_out_is_said_before_its_figures(db):
    """The store may have a metric of another workload."""
    write(db, [row("base", 24, metrics="error=1.0")])
    assert tuner.analyze(db, objective="error", axes={"Elements": 24})
    with pytest.raises(ValueError, match="nothing was measured of this"):
        tuner.analyze(db, objective="error", axes={"Elements": 28})


@pytest.mark.parametrize("objective", ["time", ("time", "registers")])
def test_devices_of_a_model_are_told_apart(tmp_path, monkeypatch, objective):
    monkeypatch.setenv("COLUMNS", "80")
    rows = [row("base", 16, registers=8), row(A, 16, 5e-4, registers=8)]
    db = write(tmp_path / "two.db", rows, uuid="one", model="a GPU")
    write(db, rows, uuid="two", model="a GPU")
    write(db, rows, uuid="three", model="another")
    analysis = tuner.analyze(db, objective=objective)
    lines = str(analysis.top(1)).splitlines()
    assert [one for one in lines if one.startswith("reduce.sum")] == [
        f"reduce.sum F32 on {device}" for device in ("a GPU [0]", "a GPU [1]", "another")
    ]
    for table in (analysis.scores(), analysis.coverage()):
        assert set(table.device) == {"a GPU [0]", "a GPU [1]", "another"}
    assert set(analysis[1].top().device) == {"a GPU"}


@pytest.mark.parametrize("state", [{"sm_count": 1}, {"ecc": 1}])
def test_a_device_in_another_state_is_another_group(tmp_path, state):
    """One cpu with fewer cores granted, or one GPU with its ECC switched."""
    [label] = stores.variants(count=1)
    db = stores.write(tmp_path / "store.db", [stores.row("base", 16), stores.row(label, 16)])
    stores.write(db, [stores.row("base", 16), stores.row(label, 16)], sm_count=77, ecc=0)
    stores.write(db, [stores.row("base", 16)], **({"sm_count": 77, "ecc": 0} | state))
    assert [len(group.cells) for group in tuner.analyze(db).groups] == [2, 2, 1]


@pytest.mark.parametrize("what", ["driver", "compiler"])
def test_environments_are_never_mixed(tmp_path, what):
    db = tmp_path / "two.db"
    write(db, [row("base", 16, 1e-3)])
    write(db, [row(A, 16, 1e-4) | {"base_samples": b""}], **{what: "another"})
    with pytest.warns(RuntimeWarning, match="no time of base is there"):
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
    with pytest.raises(IsADirectoryError, match=r"is a folder; name the stores in it"):
        tuner.analyze(tmp_path)
    with pytest.raises(FileNotFoundError, match="no store was named"):
        tuner.analyze([])


@pytest.mark.parametrize("path", [3, None, b"one.db", [3]])
def test_what_is_no_path(path):
    with pytest.raises(TypeError, match="a store is named by a path"):
        tuner.analyze(path)


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_a_path_that_cannot_be(path):
    with pytest.raises(ValueError, match="is no path of a store"):
        tuner.analyze(path)


@pytest.mark.parametrize("options", [{"R": 3}, {"axes": ["T"]}, {"axes": {3: 4}}])
def test_arguments_of_the_wrong_type(db, options):
    with pytest.raises(TypeError, match=r"regular expression|must be a dict"):
        tuner.analyze(db, **options)


@pytest.mark.parametrize(("n", "error"), [(0, ValueError), (-3, ValueError), (1.5, TypeError)])
def test_a_count_that_is_none(db, n, error):
    with pytest.raises(error, match=f"number of variants to show is {n}, must be a whole number"):
        tuner.analyze(db).top(n)


def test_groups_are_taken_by_number():
    several = tuner.analyze(tuner.example_db())
    assert [g.benchmark for g in several[1].groups] == ["scan.exclusive.sum"]
    assert several[0:1].best() == several[0].best() and len(several[:]) == 2


def test_variants_are_named_by_texts(db):
    with pytest.raises(TypeError, match="variants is 5, must be a label or several"):
        tuner.analyze(db).plot_variant(5)


def test_the_labels_of_a_large_group_are_listed_once(db):
    """The time to find a variant is in proportion to the number of variants."""

    class Label(str):
        hashed = 0

        def __hash__(self):
            Label.hashed += 1
            return str.__hash__(self)

    [group] = tuner.analyze(db).groups
    group.cells = {Label(label): cells for label, cells in group.cells.items()}
    group.cells |= {Label(f"{C}{n}"): group.cells[A] for n in range(500)}
    Label.hashed = 0
    assert labels_of(group, "no variant but base|^base$") == ["base"]
    assert Label.hashed < 50 * 500


def test_a_missing_package_is_named(db, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for table in ("top", "scores", "coverage", "to_frame"):
        with pytest.raises(ModuleNotFoundError, match=r"needs pandas.*cubc\[tune\]"):
            getattr(tuner.analyze(db), table)()


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
        {"variant": "nosuch_1"},
        {"variant": A.replace("ipt_", "ipt_99")},
        {"rt": "Elements{io}[pow2]=x"},
        {"rt": "Elements{io}[pow2]=1_6"},
        {"rt": "Elements{io}[pow2]=" + "9" * 4000},
        {"rt": "Elements{io}[pow2]=17"},
        {"rt": "Elements{io}[pow2]=16,Elements{io}[pow2]=16"},
        {"ct": 'T{ct}=F32"'},
        {"ct": "T{ct}=F99"},
        {"ct": "T=F32"},
        {"ct": "T{ct}=F32,T{ct}=F32"},
        {"axes": "[["},
        {"axes": '[["Elements{io}[pow2]", [16, 16]]]'},
        {"benchmark": 'reduce.sum", "'},
        {"status": "bogus"},
        {"status": ""},
        {"samples": b""},
        {"source_hash": "\x1b[31m"},
    ],
)
def test_hostile_rows_are_left_out_with_a_warning(tmp_path, hostile):
    bad = row(A, 16, 1e-5) | hostile
    more = row(C, 16, 1e-5) | {"status": "worse"}
    db = write(tmp_path / "h.db", [row("base", 16), bad, *stores.confirmed(B, 16, 1e-4), more])
    reason = r"h\.db: 2 of its rows left out; the first: row 2 was refused: ."
    with pytest.warns(RuntimeWarning, match=reason) as caught:
        analysis = tuner.analyze(db)
    assert len(caught) == 1
    assert list(analysis.top(5).variant) == [B, "base"]
    every_table(analysis)
    alone = write(tmp_path / "alone.db", [bad])
    reason = r"alone\.db: none of its rows can be used, 1 were refused; .* row 1 was refused: ."
    with pytest.raises(_core.StoreError, match=reason):
        tuner.analyze(alone)


def every_table(analysis):
    for table in ("best", "top", "scores", "coverage", "policies", "to_frame", "_repr_html_"):
        getattr(analysis, table)()


@pytest.mark.parametrize(
    "device",
    [{"arch": ""}, {"arch": "bogus"}, {"arch": "sm_00"}, {"arch": "cpu\n"}, {"model": "\x1b[2J"},
     {"driver": "\x07"}],
)  # fmt: skip
def test_hostile_devices(tmp_path, device):
    db = write(tmp_path / "h.db", [row("base", 16), *stores.confirmed(B, 16, 1e-4)])
    write(db, [row(A, 16, 1e-5)], **{"uuid": "other"} | device)
    with pytest.warns(RuntimeWarning, match=r"h\.db: 1 of its rows left out; the first: row 11"):
        analysis = tuner.analyze(db)
    assert list(analysis.top(5).variant) == [B, "base"]


@pytest.mark.parametrize("strange", [{"ct": ""}, {"ct": "X{ct}=F32"}, {"benchmark": "else.where"}])
def test_what_another_cubc_may_have_is_shown_as_such(tmp_path, strange):
    analysis = tuner.analyze(write(tmp_path / "s.db", [row("base", 16) | strange]))
    assert analysis.coverage().valid.isna().all()
    every_table(analysis)


def test_an_architecture_that_cubc_does_not_have(tmp_path):
    analysis = tuner.analyze(write(tmp_path / "s.db", [row("base", 16)], arch="sm_10"))
    assert analysis.coverage().valid.isna().all()


@pytest.mark.parametrize(
    "damage",
    ["status = x'00ff'", "registers = 'many'", "samples = 'abc'", "device_id = 99",
     "variant = cast(x'ff' as text)", "bytes = -1"],
)  # fmt: skip
def test_damaged_rows_are_left_out_with_a_warning(db, damage):
    with contextlib.closing(sqlite3.connect(db)) as connection:
        connection.execute(f"UPDATE measurement SET {damage} WHERE id = 3")
        connection.commit()
    with pytest.warns(RuntimeWarning, match=r"one\.db: 1 of its rows left out; the first: row 3"):
        analysis = tuner.analyze(db)
    assert analysis.best().label == B


def test_a_damaged_page_ends_what_can_be_read(tmp_path):
    labels = stores.variants(count=200)
    rows = [row(v, 16, 1e-4, message="m" * 500) for v in labels]
    db = write(tmp_path / "d.db", rows)
    content = bytearray(db.read_bytes())
    for page in range(20 * 4096, len(content), 4096):
        content[page : page + 100] = b"\xff" * 100
    db.write_bytes(content)
    with pytest.warns(RuntimeWarning, match=r"d\.db.* malformed"):
        analysis = tuner.analyze(db)
    assert 0 < len(analysis.scores()) < len(labels)


def test_a_variant_that_was_wrong_once_never_wins(tmp_path):
    """In a later round, and at one workload: it has no score at any."""
    fast, other = stores.variants(count=2)
    rows = [stores.row("base", n, message="ipt_1") for n in (16, 20)]
    rows += [
        stores.row(v, n, center) for v, center in ((fast, 1e-4), (other, 9e-4)) for n in (16, 20)
    ]
    rows += [stores.row(fast, n, 1e-4, round=r) for n in (16, 20) for r in range(1, 9)]
    rows.append(stores.row(fast, 20, status="wrong", round=9))
    [group] = tuner.analyze(stores.write(tmp_path / "store.db", rows)).groups
    for one in (group, group.only([{stores.ELEMENTS: 16}])):
        assert (one.score(fast), one.failure(fast)) == (None, "wrong")
        assert [label for _, label in one.ranked()] == [other, "base"]


def test_the_best_of_several_devices_of_a_model(tmp_path):
    """Each variant was compared with base of the device that measured it."""
    db = tmp_path / "farm.db"
    one, other, third = stores.variants()
    stores.write(db, [stores.row("base", 16), *stores.confirmed(one, 16, 8e-4)])
    slower = [stores.row("base", 16, 4e-3), *stores.confirmed(other, 16, 2e-3, 4e-3)]
    stores.write(db, slower, uuid="second")
    stores.write(db, [stores.row("base", 16), stores.row(third, 16, 1e-4)], uuid="third")
    found = tuner.analyze(db).best()  # what was measured once may be luck
    assert (found.label, found.wins) == (other, True) and found.score == pytest.approx(2)
    stores.write(db, [stores.row("base", 16), stores.row(one, 16, 5e-4)], model="x", uuid="x")
    assert [best.label for best in tuner.analyze(db).best()] == [other, one]


def test_samples_are_of_the_rows_that_were_analyzed(tmp_path, monkeypatch):
    """From another folder they are the same, and of another store at that place there are none."""
    for name, size in (("one", 16), ("other", 20)):
        (tmp_path / name).mkdir()
        write(tmp_path / name / "s.db", [row("base", size), row(A, size, 5e-4)])
    monkeypatch.chdir(tmp_path / "one")
    a = tuner.analyze("s.db")
    before = a.samples(A)
    monkeypatch.chdir(tmp_path / "other")
    assert a.samples(A).equals(before)
    os.replace("s.db", tmp_path / "one" / "s.db")
    with pytest.raises(_core.StoreError, match="another store by now"):
        a.samples(A)
