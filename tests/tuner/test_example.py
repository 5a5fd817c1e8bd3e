"""The store that comes with the package can be read wherever it is installed."""

import os
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from cubc import tuner


def test_it_is_what_its_docstring_says():
    analysis = tuner.analyze(tuner.example_db())
    about = [(g.benchmark, g.workload, g.arch, len(g.rts)) for g in analysis.groups]
    assert about == [("reduce.sum", "I16", "sm_90", 4), ("scan.exclusive.sum", "I16", "sm_90", 4)]
    assert [len(group.cells) for group in analysis.groups] == [161, 91]
    assert {group.device for group in analysis.groups} == {"NVIDIA H200"}
    reduction, scan = analysis.best()
    assert reduction.label == "base" and scan.verdict.word == "FASTER"
    assert analysis.policies().count("POLICY") == 4
    frame = analysis.to_frame()
    assert frame.status.eq("ok").all()
    assert frame.clock_mhz.between(1000, 2000).all()
    assert frame.power.between(50, 800).all() and frame.temperature.between(20, 95).all()


def test_reading_leaves_it_alone(tmp_path):
    before = Path(tuner.example_db()).read_bytes()
    tuner.analyze(tuner.example_db()).top()
    assert Path(tuner.example_db()).read_bytes() == before
    assert not list(Path(tuner.example_db()).parent.glob("example.db-*"))


@pytest.mark.skipif(os.name == "posix" and os.getuid() == 0, reason="root may write everywhere")
def test_in_a_folder_that_cannot_be_written_to(tmp_path):
    copy = shutil.copy(tuner.example_db(), tmp_path)
    tmp_path.chmod(0o555)
    assert len(tuner.analyze(copy)) == 2


def test_it_is_of_the_present_version():
    """So that reading it never asks for an upgrade, which an installed file may not get."""
    connection = sqlite3.connect(f"file:{tuner.example_db()}?mode=ro", uri=True)
    assert connection.execute("PRAGMA user_version").fetchone() == (4,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


def test_whoever_was_measured_again_comes_first():
    """A higher score that was measured once may be luck."""
    for group in tuner.analyze(tuner.example_db()).groups:
        labels = [label for _, label in group.ranked()]
        sure = [label == "base" or group.verdict(label) is not None for label in labels]
        assert sure == sorted(sure, reverse=True)
        assert sum(sure) > 5


def test_a_group_prints_as_a_line():
    first = repr(tuner.analyze(tuner.example_db()).groups[0])
    assert re.fullmatch(r"<Group \S+ \S+ on NVIDIA H200: \d+ variants, \d+ workloads>", first)
