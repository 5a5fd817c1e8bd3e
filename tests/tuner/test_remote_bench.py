"""Requests that wait for a measuring process: who answers them, and who is at fault if nobody does.

What a search makes of processes that die is in test_worker.py.
"""

import pytest

from cubc.tuner import _process as process
from cubc.tuner import _remote_bench as remote_bench
from cubc.tuner._measurer import Request, Run


def test_a_request_that_nobody_can_answer_leaves_the_queue(monkeypatch):
    """So that the next one does not get what comes of it."""

    def refuse(self):
        raise remote_bench.BaseFailed("there is no memory any more")

    bench = remote_bench.RemoteBench("cpu")
    bench.put(Request("base", [Run(0, 0)], {}))
    monkeypatch.setattr(remote_bench.RemoteBench, "_ensure", refuse)
    with pytest.raises(remote_bench.BaseFailed):
        list(bench.take(1.0))
    assert not bench._queue


def scripted(monkeypatch, *scripts):
    """Have each measuring process in turn give these replies, and die of those that are errors."""
    left = iter(scripts)

    class Scripted:
        def __init__(self):
            self.replies = iter([("opened",), *next(left)])

        def receive(self, until):
            reply = next(self.replies)
            if isinstance(reply, Exception):
                raise reply
            return reply

        def send(self, *request):
            """It is known what the answer will be."""

        begin = kill = send

    monkeypatch.setattr(remote_bench, "Process", Scripted)
    bench = remote_bench.RemoteBench("cpu")
    bench.open(())
    return bench


def taken(bench, variant):
    bench.put(Request(variant, [Run(0, 0)], {}))
    return [fields["status"] for _, fields in bench.take(60.0)]


def test_a_kill_while_a_wrong_result_is_confirmed_costs_nothing(monkeypatch):
    """It is the first death over the variant: the process before was ended, and had not died."""
    run, done = Run(0, 0), ("done",)
    killed = process.WorkerDied("died of SIGKILL", "", crashed=False)
    bench = scripted(
        monkeypatch,
        [("result", run, {"status": "ok"}), done, ("result", run, {"status": "wrong"})],
        [killed],
        [("result", run, {"status": "ok"}), done],
    )
    assert taken(bench, "tpb_64") == ["ok"]
    assert taken(bench, "tpb_128") == ["ok"]
