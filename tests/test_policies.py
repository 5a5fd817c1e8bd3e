"""Policies from stores: what comes into force, and what is refused."""

import pytest
import stores
from stores import row, write

from cubc import _core, tuner

A, B, C = stores.variants()
F32 = {"T{ct}": "F32"}


@pytest.fixture(autouse=True)
def nothing_overlaid():
    _core.clear_policies()
    yield
    _core.clear_policies()


def running():
    return _core.policy("reduce.sum", F32, "cpu")


def test_the_best_comes_into_force(tmp_path):
    shipped = running()
    db = write(tmp_path / "s.db", [row("base", 16), row(A, 16, 5e-4), row(B, 16, 1e-4)])
    assert tuner.use_policies(db) == 1
    assert running() == B
    assert _core.base("reduce.sum", F32, "cpu") == shipped
    _core.clear_policies()
    assert running() == shipped


def test_rows_for_few_items():
    ct = {"T{ct}": "F64"}
    few = _core.policy("scan.exclusive.sum", ct, "sm_90", 1 << 20)
    assert few != _core.policy("scan.exclusive.sum", ct, "sm_90")
    _core.use_policy("scan.exclusive.sum", ct, "sm_90", few)  # what is overlaid is for any number
    assert _core.policy("scan.exclusive.sum", ct, "sm_90") == few


def test_a_benchmark_for_each_type(tmp_path):
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4), row(A, 16, 1e-4, ct="I64")])
    assert tuner.use_policies([db]) == 2
    assert running() == _core.policy("reduce.sum", {"T{ct}": "I64"}, "cpu") == A


def test_the_best_of_several_devices_wins(tmp_path):
    db = tmp_path / "s.db"
    write(db, [row(A, 16, 5e-4)], uuid="one")
    write(db, [row(B, 16, 4e-4)], uuid="two")
    assert tuner.use_policies(db) == 1
    assert running() == B


def test_the_last_store_wins(tmp_path):
    one = write(tmp_path / "1.db", [row(A, 16, 1e-4)])
    two = write(tmp_path / "2.db", [row(B, 16, 5e-4)])
    assert tuner.use_policies([one, two]) == 1
    assert running() == B
    tuner.use_policies([two, one])
    assert running() == A


def test_nothing_slower_than_base_is_used(tmp_path):
    shipped = running()
    db = write(tmp_path / "s.db", [row("base", 16), row(A, 16, 2e-3, 1e-3)])
    assert tuner.use_policies(db) == 0
    assert running() == shipped


def test_nothing_incomplete_is_used(tmp_path):
    db = write(tmp_path / "s.db", [row("base", 16), row("base", 20), row(A, 16, 1e-4)])
    assert tuner.use_policies(db) == 0


def test_another_version_of_the_kernel_is_skipped(tmp_path):
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4, source_hash="0" * 64)])
    with pytest.warns(RuntimeWarning, match="another version of the kernel") as caught:
        assert tuner.use_policies(db) == 0
    assert len(caught) == 1


def test_unknown_benchmarks_are_skipped(tmp_path):
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4) | {"benchmark": "someone.elses"}])
    with pytest.warns(RuntimeWarning, match=r"someone\.elses"):
        assert tuner.use_policies(db) == 0


@pytest.mark.parametrize("label", ["ipt_1;system", 'x_1" -DEVIL', "../../x_1", "ipt_1\n#define X"])
def test_a_hostile_label_is_refused(tmp_path, label):
    shipped = running()
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4), row(label, 16, 1e-5)])
    with pytest.raises(_core.StoreError, match=r"s\.db: row 2 was refused"):
        tuner.use_policies(db)
    assert running() == shipped


@pytest.mark.parametrize("label", ["ipt_999999999.tpb_1", "nosuch_1"])
def test_a_label_outside_the_declared_ranges_is_refused(tmp_path, label):
    shipped = running()
    rows = [row(A, 16, 1e-4, ct="I64"), row(label, 16, 1e-5)]
    with pytest.raises(_core.StoreError, match=r"s\.db: row 2 was refused"):
        tuner.use_policies(write(tmp_path / "s.db", rows))
    assert running() == shipped
    assert _core.policy("reduce.sum", {"T{ct}": "I64"}, "cpu") != A


@pytest.mark.parametrize("bad", [{"status": "bogus"}, {"ct": "T{ct}=F99"}, {"samples": b""}])
def test_a_row_that_cannot_be_used_is_refused(tmp_path, bad):
    shipped = running()
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4), row(B, 16, 1e-5) | bad])
    with pytest.raises(_core.StoreError, match=r"s\.db: row 2 was refused"):
        tuner.use_policies(db)
    assert running() == shipped


def test_a_workload_that_cubc_does_not_have_is_skipped(tmp_path):
    db = write(tmp_path / "s.db", [row(A, 16, 1e-4) | {"ct": ""}])
    with pytest.warns(RuntimeWarning, match="another version of the kernel"):
        assert tuner.use_policies(db) == 0


def test_no_store(tmp_path):
    with pytest.raises(FileNotFoundError, match="no store"):
        tuner.use_policies(tmp_path / "none.db")
