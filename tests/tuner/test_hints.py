"""Commands that a message names: each does what the message says."""

import shlex

import pytest
import stores

from cubc import _core, tuner
from cubc.tuner import _axes as ax
from cubc.tuner import _winners as winners
from cubc.tuner._workload import compile_time_workloads

MEASURED = {"status": "ok", "message": "", "samples": stores.samples(1e-3), "base_samples": b""}


def command_of(path):
    """Arguments of the command that a message about the winners of a store names."""
    groups = tuner.analyze(path).groups
    words = shlex.split(winners.no_winner([str(path)], groups).rpartition("base again: ")[2])
    return words[words.index("cubc") :]


@pytest.mark.parametrize(
    "axes",
    [
        {"T": "F32", "Elements": 10},
        {"T": ["F32"], "Elements": [16, 20]},
        {"T": "F32", "Elements": [1000, 5000]},
    ],
    ids=["another exponent", "some declared", "numbers"],
)
def test_a_search_that_is_named_is_of_what_was_measured(tmp_path, axes):
    """Without its axes it would search all types at all sizes."""
    (workload,) = compile_time_workloads("reduce.sum", axes, "cpu")
    rows = [workload.row("base", place) | MEASURED for place in range(len(workload.rts))]
    path = stores.write(tmp_path / "s.db", rows)
    words = command_of(path)
    given = [words[i + 1] for i, word in enumerate(words) if word == "-a"]
    (again,) = compile_time_workloads("reduce.sum", ax.parse_arguments(given), "cpu")
    assert (again.ct, again.rts) == (workload.ct, workload.rts)
    assert [a.values for a in again.axes] == [a.values for a in workload.axes]
    assert words[-2:] == ["--seconds", "60"]  # a space of thousands has no end of its own


def test_a_store_without_base_names_the_search_that_measures_it(tmp_path):
    label = _core.base("reduce.sum", {"T{ct}": "F32"}, "cpu", {"Elements{io}[pow2]": 16})
    row = stores.row(label, 16, base_samples=b"")
    path = stores.write(tmp_path / "s.db", [row])
    search = r"no time of base is there, .*: cubc search -R .* -a T=F32 -a Elements=16 --db .*s.db"
    with pytest.warns(RuntimeWarning, match=search):
        assert tuner.analyze(path).top().empty
    other = stores.write(tmp_path / "t.db", [stores.row("base", 16)])
    with pytest.raises(ValueError, match=search), pytest.warns(RuntimeWarning, match="left out"):
        tuner.compare(other, path)


def test_a_store_whose_base_failed_says_why(tmp_path):
    row = stores.row("base", 16, status="fault", message="it burnt")
    with pytest.warns(RuntimeWarning, match=r"reduce.sum F32 on .*: base failed, .*: it burnt"):
        tuner.analyze(stores.write(tmp_path / "s.db", [row]))
