"""Fixtures that tests of searches share; a file may have a store of its own."""

import pytest
from losing import MARKER

from cubc.tuner import _lane as lane


@pytest.fixture
def db(tmp_path):
    """The path of a store that is not there yet."""
    return str(tmp_path / "store.db")


@pytest.fixture
def singly(monkeypatch):
    """A task is one variant."""
    monkeypatch.setattr(lane, "MOST_TOGETHER", 1)


@pytest.fixture
def marker(tmp_path, monkeypatch):
    """The file by which the first process that is at fault is known: see `losing.is_first`."""
    path = tmp_path / "at fault"
    monkeypatch.setenv(MARKER, str(path))
    return path
