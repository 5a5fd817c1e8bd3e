"""A change of policies: what it slows down, and what machine code it leaves alone."""

import json

import pytest
import stores

from cubc import _core, tuner
from cubc.tuner import verify as function
from cubc.tuner.cli import main
from cubc.tuner.verdict import LEAST, MOST

AXES = {"T": "F32"}


@pytest.fixture
def small(monkeypatch):
    """Sizes that a test can wait for."""
    declared = _core.benchmarks()
    declared["reduce.sum"]["Elements{io}[pow2]"] = [16, 20]
    monkeypatch.setattr(_core, "benchmarks", lambda: declared)


def why_invalid(label):
    return _core.variant_invalid("reduce.sum", {"T{ct}": "F32"}, "cpu", label)


def test_base_against_itself(small):
    base = _core.base("reduce.sum", {"T{ct}": "F32"}, "cpu")
    found = function("reduce.sum", base, AXES, device="cpu")
    assert [one.rt for one in found.workloads] == [f"Elements{{io}}[pow2]={n}" for n in (16, 20)]
    assert all(one.verdict.word == "SAME" for one in found.workloads)
    assert all(LEAST <= one.verdict.rounds <= MOST for one in found.workloads)
    assert all(one.a > 0 and one.b > 0 for one in found.workloads)


def test_a_slow_variant_is_found_out(small, capsys):
    slow = stores.variants(count=1)[0]  # the first of the space takes one item at a time
    assert why_invalid(slow) is None
    arguments = ["verify", "-R", "reduce.sum", "-a", "T=F32", "--device", "cpu"]
    assert main([*arguments, "--variant", slow]) == 1
    out = capsys.readouterr().out
    assert out.count("| SLOWER |") >= 1 and "geometric mean" in out


def test_what_is_no_variant(small):
    with pytest.raises(ValueError, match="is declared as"):
        function("reduce.sum", "ipt_3.tpb_7", AXES, device="cpu")
    with pytest.raises(LookupError, match=r"did you mean reduce\.sum"):
        tuner.verify("reduce.smu", "ipt_1", device="cpu")


def test_manifests(tmp_path, capsys):
    path = tmp_path / "manifest.json"
    arguments = ["verify", "-R", "reduce.prod", "--arch", "cpu"]
    assert main([*arguments, "--write", str(path)]) == 0
    hashes = json.loads(path.read_text())
    assert "cpu reduce.prod F32" in hashes
    assert all(len(value) == 64 for value in hashes.values())
    assert main([*arguments, "--against", str(path)]) == 0
    assert f"{len(hashes)} policies, 0 changed" in capsys.readouterr().out
    hashes["cpu reduce.prod F32"] = "0" * 64
    path.write_text(json.dumps(hashes))
    assert main([*arguments, "--against", str(path)]) == 1
    assert capsys.readouterr().out.splitlines()[0] == "cpu reduce.prod F32"
    path.write_text("[1]")
    assert main([*arguments, "--against", str(path)]) == 2
    assert "is no manifest" in capsys.readouterr().err
    assert main(arguments) == 2


def test_code_is_what_was_compiled():
    one = _core.code("reduce.sum", {"T{ct}": "F32"}, "cpu", "base")
    assert one == _core.code("reduce.sum", {"T{ct}": "F32"}, "cpu", "base")
    assert one[:4] == b"\x7fELF"
    assert one != _core.code("reduce.sum", {"T{ct}": "F64"}, "cpu", "base")
