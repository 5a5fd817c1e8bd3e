"""A change of policies: what it slows down."""

import numpy as np
import pytest
import stores

from cubc import _core, tuner
from cubc.tuner import _verify as verify_module
from cubc.tuner import verify as function
from cubc.tuner._cli import main
from cubc.tuner._local import InBatches
from cubc.tuner._verdict import LEAST_ROUNDS, MOST_ROUNDS

AXES = {"T": "F32"}


@pytest.fixture
def small(monkeypatch):
    """Sizes that a test can wait for."""
    declared = _core.benchmarks()
    declared["reduce.sum"]["Elements{io}[pow2]"] = [12, 16]
    monkeypatch.setattr(_core, "benchmarks", lambda: declared)


def why_invalid(label):
    return _core.variant_invalid("reduce.sum", {"T{ct}": "F32"}, "cpu", label)


class Measured(InBatches):
    """A measurer whose variants take `factor` times as long as base did, whatever else runs."""

    factor = 3.0

    def next(self, until=None):
        request, results = super().next(until)
        return request, map(self._changed, results)

    def _changed(self, result):
        run, fields = result
        if "base_samples" in fields:
            base = np.frombuffer(fields["base_samples"], "<f4")
            fields["samples"] = (np.float32(self.factor) * base).tobytes()
        return run, fields


@pytest.fixture
def made_times(monkeypatch):
    monkeypatch.setattr(verify_module, "local", Measured)


def test_base_against_itself(small, made_times, monkeypatch):
    monkeypatch.setattr(Measured, "factor", 1.0)
    base = _core.base("reduce.sum", {"T{ct}": "F32"}, "cpu")
    found = function("reduce.sum", base, AXES, device="cpu")
    assert [one.rt for one in found.workloads] == [f"Elements{{io}}[pow2]={n}" for n in (12, 16)]
    assert [one.verdict.word for one in found.workloads] == ["SAME", "SAME"]
    assert all(LEAST_ROUNDS <= one.verdict.rounds <= MOST_ROUNDS for one in found.workloads)
    assert all(one.a > 0 and one.b > 0 for one in found.workloads)


def find_slower(arguments, capsys):
    assert main(arguments) == 1
    out = capsys.readouterr().out
    assert "| SLOWER |" in out
    return out


def test_a_slow_variant_is_found_out(small, made_times, capsys):
    slow = stores.variants(count=1)[0]  # the first of the space takes one item at a time
    assert why_invalid(slow) is None
    arguments = ["verify", "-R", "reduce.sum", "-a", "T=F32", "--device", "cpu"]
    assert "geometric mean" in find_slower([*arguments, "--variant", slow], capsys)


def test_what_is_no_variant(small):
    with pytest.raises(ValueError, match="is declared as"):
        function("reduce.sum", "ipt_3.tpb_7", AXES, device="cpu")
    with pytest.raises(LookupError, match=r"did you mean reduce\.sum"):
        tuner.verify("reduce.smu", "ipt_1", device="cpu")


def winner(path, **device):
    """A store in which a slow variant was twice as fast as base, at one size."""
    label = stores.variants(count=1)[0]
    rows = [stores.row("base", 16), *stores.confirmed(label, 16, 5e-4)]
    return str(stores.write(path, rows, **device)), label


def test_winners_of_a_store(small, made_times, tmp_path, capsys):
    """One that won at the only size that the store has is measured at the ends of its range too."""
    path, _ = winner(tmp_path / "a.db")
    out = find_slower(["verify", "--db", path, "--device", "cpu"], capsys)
    assert all(f"={n} |" in out for n in (14, 16, 18))
    with pytest.raises(SystemExit):
        main(["verify", "--db", path, "--variant", "base"])


def test_winners_of_others_are_not_taken(small, tmp_path):
    path, label = winner(tmp_path / "gpu.db", arch="sm_90")
    with pytest.raises(ValueError, match="found FASTER than base on cpu"):
        tuner.verify_winners(path, device="cpu")
    rows = [stores.row("base", 16, source_hash="0" * 64)]
    rows += stores.confirmed(label, 16, 5e-4, source_hash="0" * 64)
    old = stores.write(tmp_path / "old.db", rows)
    with (
        pytest.warns(RuntimeWarning, match=r"reduce\.sum: measurements of another version"),
        pytest.raises(ValueError, match="nothing there was"),
    ):
        tuner.verify_winners(old, device="cpu")


def test_a_variant_is_a_label():
    with pytest.raises(TypeError, match=r"verify\(\): variant is 3, must be a label"):
        tuner.verify("reduce.sum", 3, {"T": "F32"}, device="cpu")
