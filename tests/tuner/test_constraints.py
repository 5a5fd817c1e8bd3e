"""Constraints: what they may be made of, and what becomes of variants that break them."""

import ast
import itertools
import random
import re
from pathlib import Path

import pytest
import stores
from searches import search, variant_rows

import cubc
from cubc import _core, tuner
from cubc.tuner._constraints import Constraint, compiled, parse
from cubc.tuner._space import Space, parse_label
from cubc.tuner._stores import read
from cubc.tuner._strategy import STRATEGIES, order, points
from cubc.tuner._workload import compile_time_workloads
from cubc.tuner._workload_results import WorkloadResults

VALUES = {"tpb": 256, "ipt": 16}
README = Path(__file__).resolve().parents[2] / "README.md"


@pytest.mark.parametrize("arch", ["cpu", "sm_80", "sm_90"])
def test_those_of_the_readme_leave_something_on_each_device(arch):
    """Readers run its block on whatever they have."""
    if not README.exists():
        pytest.skip("there is no README.md here")
    texts = re.search(r'"constraints": (\[.*?\])', README.read_text())
    constraints = [one for one in parse(ast.literal_eval(texts[1])) if not one.needs_compiling]
    space = Space("reduce.sum", {"T{ct}": "F32"}, arch)
    held = []
    for index in itertools.islice(space.numbers(random.Random(1)), 500):
        label = space.label(index)
        held.append(all(one(parse_label(label)) for one in constraints))
    assert any(held) and not all(held)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("tpb * ipt <= 4096", True),
        ("tpb * ipt < 4096", False),
        ("32 <= tpb <= 128", False),
        ("ipt % 4 == 0 and tpb // ipt == 16", True),
        ("not (tpb == 256 or ipt == 3)", False),
        ("ipt - 3 * -2 == 22", True),
        ("tpb / (ipt - 16) > 0", False),  # nothing holds of what has no value
        ("9" * 400 + " / ipt > 1", False),
        ("ipt != 16 or tpb >= 256", True),
        ("True", True),
    ],
)
def test_expressions(text, holds):
    assert Constraint(text)(VALUES) is holds


@pytest.mark.parametrize(
    "text",
    ["", "tpb *", "__import__('os')", "tpb.real > 0", "[tpb]", "tpb ** 9 ** 9", "'a' < 'b'",
     "'a' * 9 == ipt",
     "tpb if ipt else 3", "lambda: 1", "tpb := 3", "1" * 501, "(" * 400 + "1" + ")" * 400,
     "tpb @ ipt", "tpb in [1]", "1j == ipt", "\0"],
)  # fmt: skip
def test_what_is_no_constraint(text):
    with pytest.raises(ValueError, match="is no constraint"):
        Constraint(text)


def test_arguments_are_checked(tmp_path):
    assert [one.text for one in parse("tpb > 3")] == ["tpb > 3"]
    for bad in (3, [3]):
        with pytest.raises(TypeError, match="tpb \\* ipt"):
            parse(bad)
    with pytest.raises(LookupError, match="did you mean tpb"):
        search(tmp_path / "x.db", constraints=["tbp > 3"])
    with pytest.raises(ValueError, match="no constraint"):
        search(tmp_path / "x.db", constraints=["tpb >"])
    assert not (tmp_path / "x.db").exists()


def test_only_variants_that_fulfil_them_are_visited(tmp_path):
    (name, *_), *_ = [(p[1], p) for p in _core.parameters("reduce.sum", "cpu") if len(p[2]) > 1]
    labels = stores.variants(count=50)
    values = sorted({int(label.split(f"{name}_")[1].split(".")[0]) for label in labels})
    limit = values[len(values) // 2]
    result = search(tmp_path / "c.db", constraints=f"{name} <= {limit}", variants=6)
    frame = result.to_frame()
    assert len(frame) == 7
    assert (frame[frame.variant != "base"][name] <= limit).all()


def test_a_variant_is_pruned_by_what_the_compiler_made_of_it(tmp_path):
    result = search(tmp_path / "c.db", constraints=["occupancy <= 1", "threads < 1"], variants=2)
    rows = variant_rows(tmp_path / "c.db")
    assert [row["status"] for row in rows] == ["pruned"] * 2
    assert {row["message"] for row in rows} == {"threads < 1 does not hold"}
    assert result.best().label == "base"


def test_what_was_pruned_is_measured_once_the_constraint_is_gone(tmp_path):
    path = tmp_path / "c.db"
    search(path, constraints="threads < 1", variants=2)
    search(path, constraints="threads < 1", variants=2)
    assert [row["status"] for row in variant_rows(path)] == ["pruned"] * 2
    search(path, constraints="threads > 0", variants=2)
    assert [row["status"] for row in variant_rows(path)] == ["ok"] * 2
    search(path, constraints="threads < 1", variants=2)  # a measurement stays
    assert [row["status"] for row in variant_rows(path)] == ["ok"] * 2


def test_constraints_that_no_variant_fulfils(tmp_path):
    with pytest.warns(
        RuntimeWarning, match=r"no variant of reduce\.sum F32 was found that fulfils 'ipt < 0'"
    ):
        search(tmp_path / "c.db", constraints="ipt < 0", variants=2)


@pytest.mark.parametrize("strategy", ["model", "annealing", "genetic", "random", "exhaustive"])
def test_parameters_held_fast_leave_what_is_found_at_once(strategy):
    label = _core.base("scan.exclusive.sum", {"T{ct}": "F32"}, "sm_90")  # of 10^9 variants
    held = parse(f"{name} == {value}" for name, value in parse_label(label).items())
    space = Space("scan.exclusive.sum", {"T{ct}": "F32"}, "sm_90", held)
    asked = STRATEGIES[strategy](space, 0)
    assert (asked.ask(), asked.ask(), space.count()) == (label, None, 1)


def test_the_terms_of_an_and_hold_each_for_itself():
    text = "tpb == 256 and (ipt > 2 or mb == 1) and (registers < 64 and ipt < 9)"
    parts = ["tpb == 256", "ipt > 2 or mb == 1", "registers < 64", "ipt < 9"]
    assert [one.text for one in parse(text)] == parts
    assert [one.text for one in parse(["tpb < 3", "ipt > 1"])] == ["tpb < 3", "ipt > 1"]


def test_what_was_pruned_by_a_longer_number(tmp_path):
    search(tmp_path / "c.db", constraints="threads >= 10", variants=1)
    search(tmp_path / "c.db", constraints="threads >= 1", variants=1)
    assert [row["status"] for row in variant_rows(tmp_path / "c.db")] == ["ok"]


def test_variants_in_the_store_that_break_the_constraints(tmp_path):
    search(tmp_path / "c.db", constraints="ipt == 512", variants=2)
    search(tmp_path / "c.db", constraints="ipt == 256", variants=1)
    labels = [row["variant"] for row in variant_rows(tmp_path / "c.db")]
    assert sum(label.startswith("ipt_256.") for label in labels) == 1


@pytest.mark.parametrize("strategy", ["model", "random"])
def test_what_is_as_good_as_nowhere_is_given_up(strategy, monkeypatch):
    monkeypatch.setattr(points, "MISSES", 1000)
    monkeypatch.setattr(order.Random, "misses", 1000)
    never = parse("tpb * ipt < 0")
    space = Space("scan.exclusive.sum", {"T{ct}": "F32"}, "sm_90", never)
    assert STRATEGIES[strategy](space, 0).ask() is None


def test_parameters_and_what_the_compiler_made_in_one(tmp_path):
    search(tmp_path / "c.db", constraints="threads * tpb + ipt < 1", variants=2)
    rows = variant_rows(tmp_path / "c.db")
    assert [row["status"] for row in rows] == ["pruned"] * 2
    search(tmp_path / "d.db", constraints="threads * tpb + ipt > 1", variants=2)
    assert {row["status"] for row in variant_rows(tmp_path / "d.db")} == {"ok"}


def test_a_parameter_stands_for_itself_where_a_figure_has_its_name(tmp_path):
    source = (
        "// %RANGE% TUNE_T threads 32:128:32\n__global__ void set(int* x) { x[threadIdx.x] = 1; }\n"
    )

    @tuner.benchmark(source, {"N": [32]})
    def half(state):
        x = state.zeros(32, "I32")
        state.writes(x)
        state.exec(lambda launch: launch.kernel("set", x, grid=1, block=32))

    options = {"device": "cpu", "confirm": 0, "progress": False}
    found = tuner.search(half, db=tmp_path / "c.db", constraints="threads <= 64", **options)
    status = found.to_frame().set_index("variant").status
    assert dict(status) == {
        "base": "ok",
        "threads_64": "ok",
        "threads_96": "pruned",
        "threads_128": "pruned",
    }


def test_occupancy():
    info = {"threads": 256, "blocks_per_sm": 4, "registers": 40}
    assert compiled(info, 2048)["occupancy"] == 0.5
    assert compiled(info, 0)["occupancy"] == 1.0


def test_results_are_of_variants_that_fulfil_the_constraints(tmp_path):
    search(tmp_path / "c.db", variants=4, confirm=1)
    label = search(tmp_path / "c.db", constraints="ipt == 640", variants=2, confirm=1).best().label
    assert label == "base" or label.startswith("ipt_640.")
    with pytest.warns(RuntimeWarning, match="was found that fulfils"):
        found = search(tmp_path / "c.db", constraints="ipt * tpb < 0", confirm=1, variants=2)
    assert set(found.to_frame().variant) == {"base"}


def test_figures_of_another_workload_in_the_store_are_not_asked(tmp_path):
    path, A = tmp_path / "c.db", stores.variants()[0]
    for ct, shared in (("F64", 100), ("F32", 0)):
        stores.write(path, [stores.row(v, 16, ct=ct, shared_bytes=shared) for v in ("base", A)])
    groups = {group.ct["T{ct}"]: group for group in read([str(path)])}
    refused = {}
    for ct in groups:
        [workload] = compile_time_workloads(
            "reduce.sum", {"T": ct, "Elements": 16}, "cpu", parse("shared_bytes < 50")
        )
        info = cubc.device_info("cpu")
        refused[ct] = WorkloadResults(workload, info, groups.values(), several=False)._refused
    assert refused == {"F64": {A}, "F32": set()}


def test_figures_in_the_store_are_asked_for_constraints(tmp_path):
    """Those that it does not have decide nothing: threads and occupancy."""
    first = search(tmp_path / "c.db", variants=3, confirm=0)
    found = search(tmp_path / "c.db", constraints="blocks_per_sm < 0", confirm=0, variants=1)
    frame = found.to_frame()
    assert set(frame[frame.status == "ok"].variant) == {"base"}
    found = search(tmp_path / "c.db", constraints="threads > 0", confirm=0, variants=3)
    assert set(found.scores().variant) >= set(first.scores().variant)


def test_constraints_on_a_replay_of_a_store(tmp_path):
    device = f"replay:{tuner.example_db()}"
    options = {"device": device, "variants": 5, "progress": False}
    with pytest.raises(ValueError, match="'registers < 9': nothing is compiled in a replay"):
        tuner.search("reduce.sum", db=tmp_path / "a.db", constraints="registers < 9", **options)
    with pytest.warns(RuntimeWarning, match="was found that fulfils 'tpb < 0'"):
        tuner.search("reduce.sum", db=tmp_path / "b.db", constraints="tpb < 0", **options)
    with pytest.raises(ValueError, match=r"has no variants of reduce\.sum at these values"):
        tuner.search("reduce.sum", {"T": "F64"}, db=tmp_path / "c.db", **options)


def test_constraints_on_a_replayed_table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("tpb,ipt,time_ms\n" + "".join(f"32,{i},{9 - i}\n" for i in range(1, 8)))
    options = {"device": f"replay:{path}", "db": tmp_path / "t.db", "confirm": 0}
    assert tuner.search("t", constraints="ipt < 6", **options).best().label == "tpb_32.ipt_5"
    with pytest.raises(LookupError, match="t has no parameter 'x'"):
        tuner.search("t", constraints="x < 6", **options)
