"""Tasks whose process falls silent are given to others."""

import multiprocessing
import os
import signal
import socket
import time
from concurrent.futures import ProcessPoolExecutor

import pytest
from losing import is_first
from searches import complete, search

from cubc.tuner import _heartbeat as heartbeat
from cubc.tuner import _pool as pool
from cubc.tuner import _remote as remote

SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture
def listener():
    found = heartbeat.Listener()
    yield found
    found.close()


def waited_for(condition):
    end = time.monotonic() + 500
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


def test_a_task_beats_while_it_is_worked_at(listener, monkeypatch):
    monkeypatch.setattr(heartbeat, "BEAT", 0.02)
    pulse = listener.pulse()
    with heartbeat.beating(pulse):
        for _ in range(3):
            assert waited_for(listener.heard) == {pulse.number}
    time.sleep(0.1)
    listener.heard()  # what was on its way
    time.sleep(0.1)
    assert listener.heard() == set()


def test_a_stranger_is_no_task(listener):
    """Numbers are compared, and nothing else is made of them."""
    pulse = listener.pulse()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        for content in (b"", b"hello", pulse.number + b"more", os.urandom(5000)):
            stranger.sendto(content, ("127.0.0.1", pulse.port))
    heard = waited_for(listener.heard)
    assert pulse.number not in heard
    assert all(len(one) <= heartbeat.NUMBER + 1 for one in heard)


def test_a_task_without_a_place_for_beats_is_done():
    with heartbeat.beating(None), heartbeat.beating(heartbeat.Pulse("nowhere.invalid", 9, b"x")):
        pass


def stopping(offers, device, searcher, pulse):
    """Stands for `remote.work`: the first process that gets a variant is stopped over it."""
    if is_first(offers[0].requests[0].variant):
        with heartbeat.beating(pulse):
            time.sleep(0.5)
            os.kill(os.getpid(), signal.SIGSTOP)
    return _work(offers, device, searcher, pulse)


_work = remote.work


def test_a_process_that_falls_silent_is_given_up(tmp_path, monkeypatch, marker):
    """Long before a task is overdue."""
    monkeypatch.setattr(remote, "work", stopping)
    monkeypatch.setattr(heartbeat, "SILENT", 5.0)
    monkeypatch.setattr(pool, "PATIENCE", 1000.0)
    monkeypatch.setattr(pool, "LOOK", 0.2)
    db = str(tmp_path / "store.db")
    with ProcessPoolExecutor(2, mp_context=SPAWN) as processes:
        try:
            search(db, executor=processes)
        finally:
            os.kill(int(marker.read_text()), signal.SIGKILL)
    complete(db, 4)
