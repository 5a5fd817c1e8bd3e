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


@pytest.fixture
def figures():
    """Every plot can be laid out and drawn without a warning; then it is closed."""
    import matplotlib
    from matplotlib import pyplot as plt

    before = dict(matplotlib.rcParams)
    yield
    for number in plt.get_fignums():
        plt.figure(number).draw_without_rendering()
    plt.close("all")
    assert dict(matplotlib.rcParams) == before
