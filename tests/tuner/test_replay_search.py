"""Searches on a file: a measured table or a store answers instead of a device."""

import functools
import gc
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import stores
from searches import keys

from cubc import _core, tuner
from cubc.tuner._search import scores_of_others
from cubc.tuner._space import parse_label
from cubc.tuner._strategy import STRATEGIES

TABLE = "tpb,loop_unroll_factor_channel,time_ms\n32,1,2.0\n32,2,4.0\n64,1,\n64,2,1.0\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(TABLE)
    return f"replay:{path}"


def test_a_table(table, tmp_path):
    db = tmp_path / "store.db"
    result = tuner.search("mine", device=table, db=db)
    best = result.best()
    assert (best.benchmark, best.label) == ("mine", "tpb_64.loop_unroll_factor_channel_2")
    assert best.score == pytest.approx(2.0)  # against the median one
    frame = result.scores().set_index("variant")
    assert frame.status["tpb_64.loop_unroll_factor_channel_1"] == "fault"
    assert frame.score["tpb_32.loop_unroll_factor_channel_2"] == pytest.approx(0.5)
    before = keys(db)
    tuner.search("m.*", device=table, db=db)
    assert keys(db) == before


@pytest.mark.parametrize("option", ["executor", "compilers", "timing"])
def test_options_of_measuring_are_refused(table, option):
    given = {"min_samples": 3} if option == "timing" else ThreadPoolExecutor
    with pytest.raises(ValueError, match=r"mine\.csv measures nothing: leave executor, compilers"):
        tuner.search("mine", device=table, **{option: given})


@pytest.mark.parametrize("column, unit", [("time_ms", 1e3), ("time_us", 1), ("time (ns)", 1e-3)])
def test_times_of_a_table_have_the_unit_of_their_column(tmp_path, column, unit):
    path, db = tmp_path / "mine.csv", tmp_path / "store.db"
    path.write_text(TABLE.replace("time_ms", column))
    target = f"{1.5 * unit}us"
    result = tuner.search("mine", device=f"replay:{path}", db=db, target=target)
    assert result.ended == {"mine": "target"}
    assert result.to_frame().center_us.min() == pytest.approx(unit)


def test_a_time_is_no_target_of_times_without_a_unit(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(TABLE.replace("time_ms", "time"))
    search = functools.partial(tuner.search, "mine", device=f"replay:{path}", db=tmp_path / "x.db")
    with pytest.raises(ValueError, match=r"mine\.csv does not say the unit .* time_s, time_ms"):
        search(target="500us")
    assert search(target=1.5).best().score == pytest.approx(2.0)


def test_a_store_is_not_replayed_into_itself(tmp_path):
    [label] = stores.variants(count=1)
    db = stores.write(tmp_path / "store.db", [stores.row("base", 16), stores.row(label, 16)])
    with pytest.raises(ValueError, match="is what is replayed: name another store"):
        tuner.search("reduce.sum", {"Elements": 16}, device=f"replay:{db}", db=db)


def test_two_files_are_two_devices(table, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.csv").write_text(TABLE.replace("1.0", "1.5"))
    db = tmp_path / "store.db"
    tuner.search("mine", device=table, db=db)
    assert tuner.search("mine", device=f"replay:{other}/mine.csv", db=db).best().score < 1.5
    assert [best.score for best in tuner.analyze(db).best()] == pytest.approx([2.0, 4 / 3])


def test_a_store(tmp_path):
    good, bad = stores.variants(count=2)
    rows = [
        stores.row("base", n, message=_core.base("reduce.sum", {"T{ct}": "F32"}, "cpu"))
        for n in (16, 20)
    ]
    rows += [stores.row(good, 16, 1e-3, 1.2e-3), stores.row(good, 20, 1e-3, 1.1e-3)]
    rows += [stores.row(bad, n, status="wrong") for n in (16, 20)]
    path = stores.write(tmp_path / "measured.db", rows)
    result = tuner.search(
        "reduce.*",
        {"Elements": 20},
        device=f"replay:{path}",
        db=tmp_path / "replayed.db",
        confirm=1,
    )
    assert result.best().label == good
    assert result.best().score == pytest.approx(1.1)
    assert result.best().verdict.word == "FASTER"
    assert result.scores().set_index("variant").status[bad] == "wrong"


def test_base_goes_by_the_number_of_items(tmp_path):
    """Base of one size is a variant like others at another."""
    few, many, other = stores.variants()
    bases = {16: few, 20: few, 24: many}
    rows = [stores.row("base", n, message=label) for n, label in bases.items()]
    rows += [stores.row(label, n, 1e-3, 1.1e-3) for label in (few, many, other) for n in bases]
    path = stores.write(tmp_path / "measured.db", rows)
    db = tmp_path / "replayed.db"
    result = tuner.search("reduce.sum", device=f"replay:{path}", db=db, strategy="exhaustive")
    [group] = result.groups
    assert set(group.cells) == {"base", few, many, other}
    assert group.parameters("base") == {} and group.parameters(few) == parse_label(few)
    table = result.to_frame()
    at = table[(table.variant == "base") & (table["round"] == 0)].set_index("Elements").ipv
    assert at.to_dict() == {n: parse_label(label)["ipv"] for n, label in bases.items()}
    assert result.coverage().measured.tolist() == [3]
    part = tuner.search(
        "reduce.sum", {"Elements": [16, 20]}, device=f"replay:{path}", db=tmp_path / "two.db"
    )
    assert set(part.groups[0].cells) == {"base", many, other}  # few is base at both


@pytest.mark.parametrize(
    ("benchmark", "axes", "message"),
    [("mime", None, "did you mean mine"), ("mine", {"T": "F32"}, "mine has no axis 'T'")],
)
def test_unknown_names(table, tmp_path, benchmark, axes, message):
    with pytest.raises(LookupError, match=message):
        tuner.search(benchmark, axes, device=table, db=tmp_path / "x.db")
    assert not (tmp_path / "x.db").exists()


def test_files_that_cannot_be_replayed(tmp_path):
    path = tmp_path / "failed.csv"
    path.write_text("tpb,time_ms\n32,\n")
    with pytest.raises(ValueError, match="every variant failed"):
        tuner.search("failed", device=f"replay:{path}")
    for none in ("none.csv", "none.db"):
        with pytest.raises(FileNotFoundError, match=f"there is no store .*{none}, nor a table"):
            tuner.search("x", device=f"replay:{tmp_path}/{none}")
    with pytest.raises(ValueError, match="no path"):
        tuner.search("x", device="replay:")
    two = tmp_path / "two.db"
    for uuid in "ab":
        stores.write(two, [stores.row("base", 16)], uuid=uuid)
    with pytest.raises(ValueError, match="of one of them"):
        tuner.search("reduce.sum", device=f"replay:{two}")


GRID = "tpb,ipt,time_ms\n" + "".join(
    f"{32 * t},{i},{1 + (t - 5) ** 2 + (i - 9) ** 2}\n" for t in range(1, 17) for i in range(1, 17)
)


def test_a_warm_start_tries_what_was_best_elsewhere(tmp_path):
    """And the device at hand decides: its best is another variant."""
    for name, text in (("there", GRID), ("here", GRID.replace("32,", "31,"))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "grid.csv").write_text(text)
    there, here = (f"replay:{tmp_path}/{name}/grid.csv" for name in ("there", "here"))
    known = tmp_path / "known.db"
    tuner.search("grid", device=there, db=known, strategy="exhaustive", confirm=0)
    options = {"device": here, "strategy": "random", "variants": 3, "confirm": 0}
    cold = tuner.search("grid", db=tmp_path / "cold.db", **options)
    warm = tuner.search("grid", db=tmp_path / "warm.db", warm=known, **options)
    assert warm.best().label == "tpb_160.ipt_9"
    assert cold.best().score < warm.best().score
    # Its own store is a source too.
    assert tuner.search("grid", db=known, **options).best().label == "tpb_160.ipt_9"
    with pytest.raises(FileNotFoundError, match="no store"):
        tuner.search("grid", db=tmp_path / "x.db", warm=tmp_path / "none.db", **options)


def test_the_likest_device_comes_first(tmp_path):
    [a, b, c] = stores.variants(count=3)
    db = tmp_path / "several.db"
    for uuid, model, label in (("1", "Other", a), ("2", "Mine", b), ("3", "Mine", c)):
        rows = [stores.row("base", 16), stores.row(label, 16, 1e-3, 1.1e-3)]
        stores.write(db, rows, uuid=uuid, model=model)
    groups = tuner.analyze(db).groups
    assert [list(scores) for scores in scores_of_others(groups[2:], groups)] == [[b], [a]]


def test_searches_that_overlap_leave_the_garbage_collector_as_it_was(table, tmp_path):
    """The first one begins before the second, and ends before it does."""
    before, begun, ended = gc.get_threshold(), threading.Event(), threading.Event()

    def first(space, seed):
        assert begun.wait(60)
        return STRATEGIES["random"](space, seed)

    def second(space, seed):
        begun.set()
        assert ended.wait(60)
        return STRATEGIES["random"](space, seed)

    with ThreadPoolExecutor(2) as pool:
        one, two = (
            pool.submit(tuner.search, "mine", device=table, db=tmp_path / f"{k}.db", strategy=s)
            for k, s in enumerate((first, second))
        )
        one.result()
        assert gc.get_threshold()[0] > before[0]
        ended.set()
        two.result()
    assert gc.get_threshold() == before
