"""Metrics that a user's benchmark measures: stored, searched for, confirmed and shown."""

import numpy as np
import pytest
import stores

from cubc import tuner
from cubc.tuner import _frames as frames
from cubc.tuner import _metrics as mt
from cubc.tuner._measurer import Run
from cubc.tuner._state import State

SOURCE = """
// %RANGE% TUNE_THREADS tpb 32,64
// %RANGE% TUNE_STEPS steps 1:4:1
__global__ void root(const float* x, float* y, unsigned n) {
  unsigned i = blockIdx.x * TUNE_THREADS + threadIdx.x;
  if (i >= n) return;
  float r = 1;
  for (int k = 0; k < TUNE_STEPS; k++) r = 0.5f * (r + x[i] / r);
  y[i] = r;
}
"""
TIMING = {"min_samples": 3, "max_samples": 3, "timeout": 0.2}


def made(metrics):
    """Benchmark of a root by Newton's steps; `metrics` declares what else is measured of it."""

    def root(state):
        x = state.random(dtype="F32", low=0.5, high=2.0)
        y = state.empty(dtype="F32")
        state.verify(y, lambda found: bool(np.all(found > 0)))
        state.writes(y)
        metrics(state, lambda: float(np.abs(y.numpy() - np.sqrt(x.numpy())).max()))
        state.exec(lambda launch: launch.kernel("root", x, y, y.size, grid=8))

    return tuner.benchmark(SOURCE, {"Elements": [200]})(root)


def of_error(state, error):
    state.metric("error", lambda values: error() + 1e-6)
    state.metric("work", lambda values: values["steps"] * values["tpb"])


def search(db, benchmark, **options):
    options = {"device": "cpu", "timing": TIMING, "racing": False, "confirm": 0} | options
    return tuner.search(benchmark, db=db, **options)


def test_the_least_error_is_found_confirmed_and_stored(tmp_path):
    db = tmp_path / "s.db"
    found = search(db, made(of_error), objective="error", confirm=1)
    best = found.best()
    assert best.label.endswith("steps_4")
    assert best.score > 100
    assert best.verdict.word == "BETTER"
    assert list(found.top(1).verdict) == ["BETTER"]
    frame = found.to_frame()
    first = frame[frame["round"] == 0]
    by_steps = first.groupby("steps").error.max()
    assert list(by_steps) == sorted(by_steps, reverse=True)
    assert by_steps[1] > 0.04
    assert (frame.work == frame.steps * frame.tpb).all()
    rows = [row for row in stores.read(db) if row["round"]]
    assert {mt.from_text(row["base_metrics"])["work"] for row in rows} == {32.0}
    again = tuner.analyze(db, objective="error").best()
    assert (again.label, again.verdict) == (best.label, best.verdict)


def test_a_front_of_two_metrics(tmp_path):
    found = search(tmp_path / "s.db", made(of_error), objective=("work", "error"))
    top = found.top(9).set_index("variant")
    assert set(top.index) == {"base", *(f"tpb_32.steps_{n}" for n in (2, 3, 4))}
    assert top.work["base"] == 1
    assert top.work["tpb_32.steps_4"] == pytest.approx(0.25)
    assert top.error["tpb_32.steps_4"] > top.error["tpb_32.steps_2"] > 1


def test_metrics_are_no_objective_of_others(tmp_path):
    db = tmp_path / "s.db"
    with pytest.raises(LookupError, match="error"):
        search(db, made(of_error), objective="eror")
    with pytest.raises(LookupError, match="eror"):
        tuner.search("reduce.sum", db=db, device="cpu", objective="eror")
    with pytest.raises(LookupError, match="error"):
        tuner.analyze(db, objective="eror")


def test_a_metric_of_base_that_is_no_positive_number(tmp_path):
    benchmark = made(lambda state, error: state.metric("off", lambda values: values["steps"] - 1))
    with pytest.raises(ValueError, match=r"off of base is no positive number.*'error \+ 1e-9'"):
        search(tmp_path / "s.db", benchmark, objective="off")
    found = search(tmp_path / "t.db", benchmark, objective="4 - off")
    assert found.best().label.endswith("steps_4")
    # Other variants may have none: they have no score then, which is said.
    with pytest.warns(RuntimeWarning, match="3 - off of .*steps_4 is no positive number"):
        found = search(tmp_path / "t.db", benchmark, objective="3 - off")
    assert found.best().label.endswith("steps_3")


def of_a_user(label, elements, error, **more):
    more |= {"benchmark": "own.kernel", "source_hash": "0" * 64, "metrics": f"error={error}"}
    return stores.row(label, elements) | more


@pytest.mark.parametrize("extreme", ["1e-300", "1e300"])
@pytest.mark.parametrize("objective", ["error", ("time", "error")])
def test_metrics_whose_ratio_is_no_number_give_no_score(tmp_path, extreme, objective):
    """1e300 / 1e-300 is infinite, and the reverse is 0."""
    other = {"1e-300": "1e300", "1e300": "1e-300"}[extreme]
    rows = [("base", extreme), ("steps_1", other), ("steps_2", extreme)]
    db = stores.write(tmp_path / "s.db", [of_a_user(label, 16, error) for label, error in rows])
    analysis = tuner.analyze(db, objective=objective)
    scores = analysis.scores().set_index("variant").score
    assert np.isnan(scores["steps_1"]) and scores["steps_2"] == 1
    assert "steps_1" not in set(analysis.top().variant)


@pytest.mark.parametrize("name", ["device", "variant", "score"])
def test_a_front_by_a_metric_that_is_named_like_a_column(tmp_path, name):
    rows = [("base", 16, "4.0"), ("steps_1", 16, "2.0")]
    rows = [of_a_user(*one) | {"metrics": f"{name}={one[2]}"} for one in rows]
    db = stores.write(tmp_path / "s.db", rows)
    top = tuner.analyze(db, objective=("time", name)).top()
    assert top[f"{name}{{objective}}"].tolist() == [2] and top.variant.tolist() == ["steps_1"]
    assert "steps_1" in str(top)


def test_columns_that_a_user_named_like_others(tmp_path):
    label = "round_3.device_4.error_5"
    rows = [of_a_user("base", 16, 1.0), of_a_user(label, 16, 0.5) | {"metrics": "error=2,id=3"}]
    frame = tuner.analyze(stores.write(tmp_path / "s.db", rows)).to_frame().iloc[1]
    assert (frame["round"], frame["variant"], frame["id"]) == (0, label, 2)
    assert (frame["round{parameter}"], frame["device{parameter}"], frame["error"]) == (3, 4, 5)
    assert (frame["error{metric}"], frame["id{metric}"]) == (2, 3)


def test_columns_of_axes_that_a_user_named_like_others(tmp_path):
    more = {"rt": "device=5,benchmark=7", "axes": '[["device", [5]], ["benchmark", [7]]]'}
    rows = [of_a_user("base", 16, 1.0) | more]
    frame = tuner.analyze(stores.write(tmp_path / "s.db", rows)).to_frame().iloc[0]
    assert (frame["device{axis}"], frame["benchmark{axis}"]) == (5, 7)
    assert (frame["benchmark"], frame["variant"]) == ("own.kernel", "base")


def test_values_of_a_parameter_that_became_names(tmp_path):
    """An earlier kernel in the same store had numbers, and base has neither."""
    rows = [of_a_user(label, 16, 1.0) for label in ("base", "acc_1")]
    rows.append(of_a_user("acc_double", 16, 1.0) | {"source_hash": "1" * 64})
    frame = tuner.analyze(stores.write(tmp_path / "s.db", rows)).to_frame()
    assert frame.acc.isna().tolist() == [True, False, False]
    assert frame.acc[1:].tolist() == [1, "double"]


def test_rounds_at_a_workload_that_the_search_left_out(tmp_path):
    rows = [of_a_user("base", 16, 1.0), of_a_user("steps_1", 16, 0.5)]
    for n in range(1, 9):
        in_round = {"round": n, "base_metrics": "error=1.0"}
        rows += [of_a_user("steps_1", elements, 0.5, **in_round) for elements in (16, 20)]
    [group] = tuner.analyze(stores.write(tmp_path / "s.db", rows), objective="error").groups
    assert group.verdict("steps_1").word == "BETTER"
    assert group.score("steps_1") == pytest.approx(2)


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda state: state.metric("time", len), "time is the name of another figure"),
        (lambda state: [state.metric("a", len) for _ in range(2)], "a is the name of another"),
        (lambda state: state.metric("a b", len), "no name of a metric"),
        (lambda state: state.metric("a", 3), "takes a function"),
        (lambda state: state.metric("a", lambda values: "x"), "metric a is 'x', must be a number"),
        (lambda state: state.metric("a", lambda values: 0.0 / values["n"]), "KeyError: 'n'"),
        (lambda state: state.metric("a", lambda values: np.inf), "must be finite"),
        (lambda state: [state.metric(f"m{n}", len) for n in range(17)], "up to 16 metrics"),
    ],
)
def test_what_is_no_metric(tmp_path, declare, message):
    with pytest.raises(tuner.BaseFailed, match=message):
        search(tmp_path / "s.db", made(lambda state, error: declare(state)))


GOOD = {"error": 0.1 + 0.2, "steps": 3.0, "x": -1.5e-300, "big": 1e300, "small": 5e-324}


def test_texts_of_metrics():
    assert mt.from_text(mt.to_text(GOOD)) == GOOD
    assert mt.from_text("") == {}


BAD = [
    "a",
    "a=",
    "a=nan",
    "a=inf",
    "a=1e999",
    "a=1,a=2",
    "a=1,",
    "a=1_0",
    "a= 1",
    "ä=1",
    ",".join(f"a{n}=1.0" for n in range(17)),
]


@pytest.mark.parametrize("text", BAD)
def test_what_is_no_text_of_metrics(tmp_path, text):
    with pytest.raises(ValueError, match="no list of metrics"):
        mt.from_text(text)
    for name in ("metrics", "base_metrics"):
        reply = ("result", Run(0, 0), {"status": "lost", name: text})
        with pytest.raises(frames.Garbled):
            frames.decode(frames.encode(reply))
    rows = [stores.row("base", 16), stores.row(stores.variants()[0], 16, metrics=text)]
    db = stores.write(tmp_path / "s.db", rows)
    with pytest.warns(RuntimeWarning, match="no list of metrics"):
        assert list(tuner.analyze(db).groups[0].cells) == ["base"]


def test_declared_operations_are_stored_and_drawn(tmp_path):
    def count(state, error):
        state.reads(state.random(dtype="F32"))
        state.flops(12 * state["Elements"])

    found = search(tmp_path / "s.db", made(count), variants=1)
    assert set(found.to_frame().flops) == {2400.0}
    axes = found.plot_roofline(peak_gbps=10, peak_gflops=10)
    (line,) = (line for line in axes.lines if line.get_label() == "base")
    assert line.get_xdata() == pytest.approx(2400 / 1600)  # 200 floats read and 200 written


@pytest.mark.parametrize(
    ("operations", "error"),
    [("many", TypeError), (True, TypeError), (-1, ValueError), (float("inf"), ValueError)],
)
def test_operations_that_are_no_number(operations, error):
    with pytest.raises(error, match="flops takes a number of operations"):
        State({}, {}, "cpu").flops(operations)
