"""The winner of a search of one's own kernel is a callable for arrays."""

import numpy as np
import pytest
import stores

from cubc import _core, tuner
from cubc.tuner._benchmark import SourceSpace
from cubc.tuner._demo import saxpy
from cubc.tuner._result import Result

WINNER, BASE = "tpb_128.ipt_4", "tpb_64.ipt_1"
OWN = {"benchmark": "saxpy.saxpy", "source_hash": "0" * 64}


def result(tmp_path, benchmark=saxpy, types=("F32",), **own):
    rows = []
    for ct in types:
        found = [stores.row("base", 16, ct=ct), *stores.confirmed(WINNER, 16, 5e-4, ct=ct)]
        found.append(stores.row("tpb_64.ipt_2", 16, 1e-4, ct=ct))  # faster, by luck
        rows += [one | OWN | own for one in found]
    groups = tuner.analyze(stores.write(tmp_path / "own.db", rows)).groups
    return Result(groups, {}, {}, benchmark)


@pytest.fixture
def arrays():
    x = np.arange(1000, dtype="f4")
    return x, np.ones(1000, "f4")


def test_the_winner_is_called_with_arrays(tmp_path, arrays):
    x, y = arrays
    kernel = result(tmp_path).kernel()
    assert (kernel.label, kernel.values, kernel.device) == (WINNER, {"tpb": 128, "ipt": 4}, "cpu")
    kernel(x, y, 2.0, x.size)
    np.testing.assert_array_equal(y, 2 * x + 1)
    kernel(x, y, 1.0, 100, grid=1, block=128)
    np.testing.assert_array_equal(y[100:], 2 * x[100:] + 1)
    assert y[99] == 3 * 99 + 1


def test_base_and_other_variants(tmp_path):
    found = result(tmp_path)
    assert found.kernel(variant="base").label == BASE
    assert found.kernel("saxpy", variant="tpb_64.ipt_2", device="cpu").label == "tpb_64.ipt_2"
    with pytest.raises(LookupError, match=r"no variant 'tpb_64.ipt_3'; did you mean"):
        found.kernel(variant="tpb_64.ipt_3")
    with pytest.raises(LookupError, match="no kernel 'axpy'"):
        found.kernel("axpy")


def test_coverage_of_the_space_that_the_source_declares(tmp_path):
    found = result(tmp_path)
    [row] = found.coverage().itertuples()
    assert row.valid == SourceSpace(saxpy.source, "cpu", ()).count()
    assert row.coverage == row.measured / row.valid
    assert tuner.analyze(tmp_path / "own.db").coverage().valid.isna().all()  # no source is there


def test_base_where_nothing_is_faster(tmp_path):
    rows = [stores.row("base", 16) | OWN, stores.row(WINNER, 16, 1e-4) | OWN]
    groups = tuner.analyze(stores.write(tmp_path / "own.db", rows)).groups
    assert Result(groups, {}, {}, saxpy).kernel().label == BASE


def test_one_of_several_workloads(tmp_path):
    found = result(tmp_path, types=("F32", "F64"))
    with pytest.raises(ValueError, match=r"there are 2 groups, .*F32, .*F64: take one, as r\[0\]"):
        found.kernel()
    x, y = np.arange(10.0), np.ones(10)
    found[1].kernel()(x, y, 2.0, 10)
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_a_search_of_a_function_of_cubc(tmp_path):
    db = stores.write(tmp_path / "f.db", [stores.row("base", 16)])
    with pytest.raises(ValueError, match=r"reduce.sum is no kernel of your own: .*use_policies"):
        Result(tuner.analyze(db).groups, {}, {}).kernel()


def test_a_device_that_is_not_here(tmp_path, monkeypatch):
    found = result(tmp_path)
    found.groups[0].arch = "sm_75"
    monkeypatch.setattr(_core, "devices", lambda: ["cpu"])
    monkeypatch.setenv("CUBC_DEVICE", "cpu")
    with pytest.raises(ValueError, match=r"\(sm_75\) was searched, which is not here"):
        found.kernel()
