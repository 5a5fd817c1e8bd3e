"""Policies as a file of text: what it says comes into force as from its store, and no more."""

import os
import re

import pytest
import stores
from stores import confirmed, row, write

import cubc
from cubc import _core, tuner
from cubc.tuner._cli import main
from cubc.tuner._machine_code import read_manifest
from cubc.tuner._policy_text import HEAD

A, B, _ = stores.variants()
CT = {"T{ct}": "F32"}


@pytest.fixture(autouse=True)
def nothing_overlaid():
    _core.clear_policies()
    yield
    _core.clear_policies()


def running(exponent):
    return _core.policy("reduce.sum", CT, "cpu", {"Elements": 1 << exponent})


@pytest.fixture
def store(tmp_path):
    axes = {"axes": '[["Elements{io}[pow2]", [16, 24]]]'}
    rows = [row("base", 16, **axes), row("base", 24, **axes)]
    return write(tmp_path / "s.db", rows + confirmed(A, 16, 1e-4, **axes))


def test_the_file_says_what_the_store_says(store, tmp_path, capsys):
    shipped = running(24)
    text = tmp_path / "a.policies"
    assert main(["policy", "-o", str(text), str(store)]) == 0
    assert capsys.readouterr().out == f"1 policies in {text}\n"
    assert cubc.use_policies(text) == 1
    assert (running(16), running(24)) == (A, shipped)
    _core.clear_policies()
    assert cubc.use_policies(store) == 1
    assert (running(16), running(24)) == (A, shipped)
    assert text.read_text().splitlines()[0] == HEAD


def test_the_last_one_wins(store, tmp_path):
    tuner.analyze(store).save_policies(tmp_path / "a.policies")
    other = write(tmp_path / "b.db", [row("base", 16), *confirmed(B, 16, 1e-4)])
    assert cubc.use_policies(other, tmp_path / "a.policies") == 1
    assert running(16) == A
    _core.clear_policies()
    assert cubc.use_policies(tmp_path / "a.policies", other) == 1
    assert running(16) == B


def line(tmp_path, store, **changes):
    """A file of one policy with some fields changed."""
    tuner.analyze(store).save_policies(tmp_path / "a.policies")
    head, *lines = (tmp_path / "a.policies").read_text().splitlines()
    names = ("arch", "benchmark", "ct", "rt", "digest", "label")
    fields = dict(zip(names, lines[0].split("\t"), strict=True)) | changes
    (tmp_path / "b.policies").write_text("\n".join([head, "\t".join(fields.values()), ""]))
    return tmp_path / "b.policies"


def test_another_version_of_the_kernel_is_left_out(store, tmp_path):
    shipped = running(16)
    with pytest.warns(RuntimeWarning, match="another version of the kernel"):
        assert cubc.use_policies(line(tmp_path, store, digest="0" * 64)) == 0
    with pytest.warns(RuntimeWarning, match="another version of the kernel|no policy that"):
        assert cubc.use_policies(line(tmp_path, store, benchmark="reduce.none")) == 0
    assert running(16) == shipped


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source_hash": "0" * 64}, "reduce.sum: .* another version of the kernel"),
        ({"benchmark": "mine.saxpy"}, r"mine.saxpy: kernels of one's own have no policy.*--header"),
    ],
)
def test_a_file_without_what_was_found_is_not_written(tmp_path, capsys, changes, message):
    """A store may have winners and no policy that this cubc could use."""
    rows = [row("base", 16), *confirmed(A, 16, 1e-4)]
    store = write(tmp_path / "old.db", [one | changes for one in rows])
    assert main(["policy", "-o", str(tmp_path / "a.policies"), str(store)]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not (tmp_path / "a.policies").exists()
    with pytest.warns(RuntimeWarning, match=message):
        assert tuner.analyze(store).save_policies(tmp_path / "a.policies") == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"label": "ipt_99999.tpb_1"},
            "b.policies: reduce.sum: .*: ipt is declared",
        ),
        ({"label": "a\tb"}, "line 2: 7 fields, a policy has 6"),
        ({"label": "a;b"}, "line 2: .* are no benchmark and variant"),
        ({"arch": "sm_x"}, "line 2: 'sm_x' is no architecture"),
        ({"rt": "Elements=-1"}, "line 2: 'Elements=-1' is no place"),
        ({"ct": "T"}, "line 2: 'T' is no workload"),
        ({"digest": "0"}, "line 2: '0' is no hash"),
    ],
)
def test_a_malformed_line_is_refused(store, tmp_path, changes, message):
    shipped = running(16)
    with pytest.raises(_core.StoreError, match=message):
        cubc.use_policies(line(tmp_path, store, **changes))
    assert running(16) == shipped


def test_a_file_of_a_later_version(tmp_path):
    (tmp_path / "c.policies").write_text("# cubc policies 2: anything\n")
    with pytest.raises(_core.StoreError, match="of another version"):
        cubc.use_policies(tmp_path / "c.policies")


def test_a_pipe_is_not_waited_for(tmp_path):
    """Its reader waits for a writer, who may never come."""
    os.mkfifo(path := tmp_path / "pipe")
    with pytest.raises(OSError, match="is not a regular file"):
        cubc.use_policies(path)
    with pytest.raises(ValueError, match="is not a regular file"):
        read_manifest(path)
