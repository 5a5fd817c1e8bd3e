"""Searches over devices of several models and of several workloads: who gets which variants."""

import gc
import threading
import time
from concurrent.futures import Future

import pytest
import stores
from searches import TIMING, Devices, Timed, complete, search, speed, variant_rows

from cubc import _core
from cubc.tuner import _pool as pool
from cubc.tuner import _remote as remote
from cubc.tuner._measurer import Request, Run
from cubc.tuner._workload import CompileTimeWorkload, compile_time_workloads

HERE = _core.device_info("cpu")


def test_each_model_is_searched_for_itself(db):
    """Against its own base, in groups of its own."""
    with Devices({"model": "A", "uuid": "a"}, {"model": "B", "uuid": "b"}) as devices:
        result = search(db, executor=devices)
    assert sorted(group.device for group in result.groups) == ["A", "B"]
    assert [len(group.cells) for group in result.groups] == [5, 5]
    assert {best.device for best in result.best()} == {"A", "B"}
    (first, end), (other, other_end) = result.ended.items()
    assert (first, end, other_end) == ("reduce.sum F32", "variants", "variants")
    assert other in ("reduce.sum F32 on A", "reduce.sum F32 on B")
    found = [(row["device_uuid"], row["variant"]) for row in stores.read(db)]
    assert len(found) == len(set(found)) == 10


def test_devices_of_a_model_share_a_search(db, singly):
    with Devices(*({"model": "A", "uuid": f"a{n}"} for n in range(3))) as devices:
        result = search(db, executor=devices, variants=9)
    assert sum(len(group.cells) - ("base" in group.cells) for group in result.groups) == 9
    assert len({row["variant"] for row in variant_rows(db)}) == 9
    assert not isinstance(result.best(), list)


def test_the_collector_is_left_as_it_was(db, monkeypatch):
    monkeypatch.setattr(CompileTimeWorkload, "compile", lambda *arguments: 0.0)
    seen, before = [], gc.get_threshold()

    def looking(device, variant, run):
        seen.append(gc.get_threshold())
        return 1e-3

    with Timed(looking, {"model": "A", "uuid": "a"}) as devices:
        search(db, executor=devices)
    assert seen and all(first > before[0] for first, *_ in seen)
    assert gc.get_threshold() == before


def slow(device, variant, run):
    time.sleep(0.01)
    return 1e-3 / speed(variant)


def test_workloads_are_measured_at_the_same_time(db, singly, monkeypatch):
    monkeypatch.setattr(CompileTimeWorkload, "compile", lambda *arguments: 0.0)
    with Timed(slow, *({"model": "A", "uuid": f"a{n}"} for n in range(4))) as devices:
        search(db, {"T": ["F32", "I32"], "Elements": 16}, executor=devices, variants=100)
    measured = [(row["variant"], row["ct"]) for row in stores.read(db)]
    last = {ct: at for at, (variant, ct) in enumerate(measured) if variant != "base"}
    together = measured[: min(last.values()) - 20]  # while neither was nearly done
    assert len(last) == 2
    assert all(sum(ct == one for _, ct in together) > 20 for one in last)


def test_a_model_that_is_gone_ends_its_search_alone(db, singly, monkeypatch):
    """Without an end the search would wait for its devices for ever."""
    monkeypatch.setattr(CompileTimeWorkload, "compile", lambda *arguments: 0.0)
    monkeypatch.setattr(pool, "UNHEARD", 2.0)
    back = threading.Event()

    def measured(device, variant, run):
        if device == "b":
            back.wait()
        time.sleep(0.2)  # until the other has been heard of
        return 1e-3

    infos = ({"model": "A", "uuid": "a"}, {"model": "B", "uuid": "b"})
    with Timed(measured, *infos) as devices:
        with pytest.warns(RuntimeWarning, match=r"no B has answered for \d+ s"):
            result = search(db, executor=devices, variants=3)
        back.set()
    assert sorted(result.ended.values()) == ["devices", "variants"]
    assert {row["device_uuid"] for row in variant_rows(db)} == {"a"}


def test_a_device_of_another_kind_measures_nothing(db):
    """Others do its part."""
    here = {"model": "A", "uuid": "a"}
    with (
        Devices({"model": "a GPU", "arch": "sm_90", "kind": "cuda", "uuid": "b"}, here) as devices,
        pytest.warns(RuntimeWarning, match=r"measures on a GPU \(sm_90\).* name the device"),
    ):
        search(db, executor=devices)
    complete(db, 4)
    assert {row["device_uuid"] for row in variant_rows(db)} == {"a"}


class Asked:
    """An executor that answers what the device is, and keeps the tasks."""

    def __init__(self):
        self.tasks, self._max_workers = [], 4

    def submit(self, function, *arguments):
        future = Future()
        if function is remote.describe:
            future.set_result((HERE, "a host"))
        else:
            self.tasks.append(function.args[0])
        return future


def request(variant):
    return Request(variant, [Run(0, 0)], TIMING)


@pytest.fixture
def lanes(singly):
    """Two lanes of eight devices, an executor, and the workloads."""
    executor = Asked()
    one = pool.Pool(executor, "cpu")
    for number in range(7):
        one._note(HERE | {"uuid": f"another {number}"})
    assert one.at_once(HERE) == pool.MOST_AT_ONCE
    workloads = compile_time_workloads("reduce.sum", {"T": ["F32", "I32"], "Elements": 16}, "cpu")
    found = [one.measurer(HERE), one.measurer(HERE)]
    for made, workload in zip(found, workloads, strict=True):
        made.begin(workload, request("base"))
        made.moving = 0
        made.ready.clear()  # of base
    one._asked.clear()
    executor.tasks.clear()
    yield *found, executor, workloads
    one.close()


def test_a_task_has_an_offer_of_each_workload(lanes):
    first, second, executor, workloads = lanes
    first.at, second.at = {*"abcde"}, {*"xyzw"}
    first._pool.feed()
    for made in (first, second):
        made.ready.append(request("ipt_1"))
    first._pool.feed()
    (offers,) = executor.tasks
    assert [offer.workload for offer in offers] == workloads[::-1]  # the fewest devices first


def test_devices_are_moved_to_where_few_are(lanes):
    first, second, executor, workloads = lanes
    first.at, second.at = {*"abcdefg"}, {"x"}
    for made in (first, second):
        made.ready += map(request, ["ipt_1", "ipt_2", "ipt_3", "ipt_4", "ipt_5"])
    first._pool.feed()
    offered = [[offer.workload for offer in offers] for offers in executor.tasks]
    assert offered[:4] == [[workloads[1]]] * 3 + [workloads[::-1]]


def test_a_device_takes_what_it_has_open():
    claimed = remote.ClaimedDevice("cpu", "cpu", None)
    try:
        model = remote.model_of(claimed.info)
        offers = [remote.Offer(model, name, None, [request("ipt_1")]) for name in ("one", "two")]
        others = [remote.Offer(("another",), "three", None, [request("ipt_1")])]
        assert claimed.choose(others) is None
        assert claimed.choose(others + offers) == 1
        claimed._workload_id = "two"
        assert claimed.choose(others + offers) == 2
    finally:
        claimed.close()


def test_what_nobody_took_is_offered_again(lanes):
    first, second, executor, _ = lanes
    first.at, second.at = {*"abcd"}, {*"xyzw"}
    first.ready.append(request("ipt_1"))
    second.ready.append(request("ipt_2"))
    one = first._pool
    one.feed()
    (future,) = one._asked
    found = [[(Run(0, 0), {"status": "ok"})]]
    future.set_result(remote.Reply(HERE, 0, [], found, 1.0))
    one.wait(0.0)
    one.feed()
    assert (first.answered, second.answered) == (1, 0)
    assert [offer.requests[0].variant for offer in executor.tasks[-1]] == ["ipt_2"]
