"""Subjects of commits, as `make lint` checks them: those of commits that no release has."""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONG = "A subject of which nobody who reads the history of a project sees the end"
RIDDLE = "Where" + " ranks send messages too"


@pytest.fixture
def subjects():
    spec = importlib.util.spec_from_file_location("subjects", ROOT / "tools/subjects.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def git(tmp_path, monkeypatch):
    """Runs git in a repository of its own; `commit` and the subject make a commit of nothing."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)

    def run(*arguments):
        if arguments[0] == "commit":
            arguments = ["commit", "--allow-empty", "-m", *arguments[1:]]
        who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    run("init")
    return run


@pytest.mark.parametrize("subject", [LONG, RIDDLE, "Of" + " sorts", "How" + " it goes"])
def test_a_subject_that_is_none_is_named(subjects, git, tmp_path, capsys, subject):
    git("commit", "The first commit")
    assert subjects.main(tmp_path) == 0
    git("commit", subject)
    git("commit", "Offers of a search")
    assert subjects.main(tmp_path) == 1
    assert subject in capsys.readouterr().err


def test_what_a_release_has_is_left_alone(subjects, git, tmp_path):
    git("commit", RIDDLE)
    git("tag", "wheel")  # of no release
    assert subjects.main(tmp_path) == 1
    git("tag", "v0.2.0")
    assert subjects.main(tmp_path) == 0
    git("commit", LONG)
    assert subjects.main(tmp_path) == 1


def test_the_newest_commits_are_looked_at_where_there_is_no_release(subjects, git, tmp_path):
    git("commit", RIDDLE)
    for number in range(subjects.MOST - 1):
        git("commit", f"Commit {number}")
    assert subjects.main(tmp_path) == 1
    git("commit", "One more")
    assert subjects.main(tmp_path) == 0


def test_nothing_is_checked_without_a_history(subjects, git, tmp_path, monkeypatch):
    assert subjects.main(tmp_path) == 0
    monkeypatch.setenv("PATH", "")
    assert subjects.main(tmp_path) == 0
