"""Measures how busy a search keeps many GPUs: its real driver, devices of measured times.

    python benchmarks/search_farm.py TABLE [--devices N] [--seconds S] [--strategy NAME] [--json]

The space is that of reduce.sum for F32 at its four sizes on sm_90, and the times are measured ones:
each variant has the time of a row of TABLE (a CSV file as cubc.tuner._replay reads it), which its
label chooses. The devices are simulated: each is a thread of another process that sleeps as long
as a variant would take, which is --overhead seconds and --samples times the time of the variant and
of base. With the defaults and a table of convolution that is about 32 ms, as on an H200, which
searches 1900 variants a minute. All else is the search's own: the strategy, the pool, its tasks,
the store. Tasks and replies cross a pipe as pickles, as those of a process pool do.

The devices' share of busy time is that of the whole search, and the driver's processor time is that
of its process, which does nothing else.
"""

import argparse
import multiprocessing
import os
import pickle
import queue
import tempfile
import threading
import time
import zlib
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path

import cells
import numpy as np

from cubc import _core, tuner
from cubc.tuner import _remote as remote
from cubc.tuner._pool import Pool
from cubc.tuner._replay import read_table
from cubc.tuner._workload import compile_time_workloads

INFO = _core.device_info("cpu") | {"model": "simulated", "kind": "cuda", "arch": "sm_90"}
SPAWN = multiprocessing.get_context("spawn")


class Simulated:
    """A measuring end that sleeps: takes the place of a `RemoteBench`."""

    def __init__(self, table, overhead, samples, busy):
        self.times, self.base = [*table.times.values()], table.base
        self.overhead, self.samples = overhead, samples
        self.busy, self.request = busy, None

    def put(self, request):
        self.request = request

    def take(self, seconds):
        variant, runs = self.request.variant, self.request.runs
        time_of = self.times[zlib.crc32(variant.encode()) % len(self.times)]
        if variant == "base":
            time_of = self.base
        took = self.overhead + 1e-3 * self.samples * ((time_of or 0.0) + self.base)
        time.sleep(took)
        self.busy.append(took)
        for run in runs:
            if time_of is None:
                yield run, {"status": "fault", "message": "as in the table"}
                return
            fields = {"status": "ok", "samples": series(time_of), "bytes": 1e6, "registers": 32}
            yield run, fields | ({} if variant == "base" else {"base_samples": series(self.base)})


def series(milliseconds):
    return np.full(20, 1e-3 * milliseconds, np.float32).tobytes()


class Claimed(remote.ClaimedDevice):
    """A device of the simulation, with all of `ClaimedDevice` but what it measures with."""

    def __init__(self, number, info, table, options, busy):
        self.info = info | {"uuid": f"simulated-{number}", "kind": "cuda"}
        self._workload_id, self._build, self._base = "", 10.0, 0.1
        self._bench = Simulated(table, *options, busy)
        self._compilers = Inline()

    def _open(self, offer):
        self._workload_id = offer.workload_id
        every = [remote.Run(0, place) for place in range(len(offer.workload.rts))]
        self._bench.put(offer.requests[0]._replace(variant="base", runs=every))
        return list(self._bench.take(1.0))


class Inline(Executor):
    """Nothing is compiled."""

    def submit(self, function, *arguments):
        (future := Future()).set_result(0.0)
        return future


def serve(connection, count, path, workload, options):
    """The other process: `count` devices, each a thread with tasks from a queue that all share."""
    table = read_table(path)
    busy, lock, jobs = [], threading.Lock(), queue.SimpleQueue()

    def work(number):
        claimed = Claimed(number, INFO, table, options, busy)
        while (job := jobs.get()) is not None:
            name, (task, arguments) = job[0], pickle.loads(job[1])
            try:
                if task == "describe":
                    found = claimed.info, "simulated"
                else:
                    (offer,) = arguments
                    found = claimed.work(offer._replace(workload=workload))
            except BaseException as error:
                found = error
            content = pickle.dumps((name, found))
            with lock:
                connection.send_bytes(content)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    while (job := connection.recv()) is not None:
        jobs.put(job)
    connection.send((None, (sum(busy), len(busy))))
    os._exit(0)


class Farm(Executor):
    """An executor of the simulated devices."""

    def __init__(self, count, path, workload, options):
        self._max_workers = count
        self._connection, theirs = SPAWN.Pipe()
        arguments = (theirs, count, path, workload, options)
        self._process = SPAWN.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        self._futures, self._count, self.tasks = {}, 0, 0
        self.spent, self._ended = None, threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def submit(self, task):
        function, arguments = task.func, task.args
        self._count += 1
        future = self._futures[self._count] = Future()
        future.set_running_or_notify_cancel()  # it cannot be cancelled from here on
        # The table's workload is there already; that of a benchmark has some kilobytes.
        what = None
        if function is remote.work:
            what = "work", [offer._replace(workload=None) for offer in arguments[0]]
        self.tasks += what is not None
        self._connection.send((self._count, pickle.dumps(what or ("describe", ()))))
        return future

    def _listen(self):
        while True:
            name, found = pickle.loads(self._connection.recv_bytes())
            if name is None:
                self.spent = found
                return self._ended.set()
            future = self._futures.pop(name)
            if isinstance(found, BaseException):
                future.set_exception(found)
            else:
                future.set_result(found)

    def end(self):
        self._connection.send(None)
        self._ended.wait(10)
        return self.spent


class Adapter:
    """Lets the pool hand over `describe`, which it does not wrap."""

    def __init__(self, farm):
        self._farm, self._max_workers = farm, farm._max_workers

    def submit(self, function, *arguments):
        return self._farm.submit(function if isinstance(function, partial) else partial(function))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=Path)
    parser.add_argument("--devices", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--strategy", default="model")
    parser.add_argument("--overhead", type=float, default=0.025, help="seconds of each variant")
    parser.add_argument("--samples", type=int, default=2)
    cells.add_option(parser)
    options = parser.parse_args()
    name = options.table.name.partition(".")[0]
    (workload,) = compile_time_workloads("reduce.sum", {"T": "F32"}, INFO["arch"])
    simulated = (options.overhead, options.samples)
    farm = Farm(options.devices, options.table, workload, simulated)
    with tempfile.TemporaryDirectory() as folder:
        search = made(workload, farm, Path(folder, "farm.db"), options)
        begin, spent = time.monotonic(), time.process_time()
        result = search.run()
        wall, spent = time.monotonic() - begin, time.process_time() - spent
        measured = sum(len(group.cells) - ("base" in group.cells) for group in result.groups)
    slept, _ = farm.end()
    busy, core = slept / (wall * options.devices), spent / wall
    print(
        f"{options.devices} devices, {name}, {options.strategy}: {measured} variants in {wall:.1f} "
        f"s by {farm.tasks} tasks, {60 * measured / wall / options.devices:.0f} a minute a device"
    )
    print(
        f"the devices were busy {busy:.1%}; the driver took {core:.0%} of a core, "
        f"{core / options.devices:.2%} a device, {1e3 * spent / max(1, measured):.2f} ms a variant"
    )
    cell = {"benchmark": "search_farm", "type": options.strategy, "size": name}
    cell |= {"case": f"{options.devices} simulated devices", "cubc": round(100 * busy, 1)}
    cell |= {"unit": "% busy", "core_percent_a_device": round(100 * core / options.devices, 2)}
    cell |= {"variants": measured, "seconds": round(wall, 1)}
    if options.json:
        cells.put([cell | cells.origin(None)], "any-machine", options.json)


def made(workload, farm, db, options):
    """A search of the workload over the devices."""
    search = tuner.Search(
        "reduce.sum",
        {"T": "F32"},
        db=db,
        device="cpu",
        strategy=options.strategy,
        seconds=options.seconds,
        confirm=0,
    )
    search.workloads = [workload]
    search._source = lambda: Pool(Adapter(farm), None)
    return search


if __name__ == "__main__":
    main()
