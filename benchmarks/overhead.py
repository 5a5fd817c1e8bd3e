"""Host cost of a call on a device array, beside CuPy and PyTorch where they are installed.

python benchmarks/overhead.py [--json]
"""

import argparse
import importlib.util
import tempfile
import time

import cells

import cubc
from cubc import tuner

PEERS = {"cupy.sum(x, out=o)": "CuPy", "torch.sum(x)": "PyTorch"}


def host_us(call, finish, calls=2000, rounds=7):
    """Median over rounds of the mean host time of a call, in microseconds."""
    for _ in range(50):
        call()
    finish()
    means = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        means.append((time.perf_counter() - start) / calls * 1e6)
        finish()
    return sorted(means)[rounds // 2]


def measure():
    """Microseconds of each call, by its name."""
    us = {}

    def report(name, call, finish):
        # Few calls a round: a full launch queue would make the host wait for the GPU.
        us[name] = round(host_us(call, finish, 500), 2)
        print(f"{name:26}{us[name]:6.2f} us", flush=True)

    device = cubc.devices()[0]
    x = cubc.transform("i % 7", size=1 << 10, dtype="float32", device=device)
    out = cubc.empty((), "float32", device=device)
    finish = cubc.synchronize
    report("cubc.reduce(x, out=o)", lambda: cubc.reduce(x, out=out), finish)
    bound = cubc.bind(cubc.reduce, x, out=out)
    report("cubc.bind(...)()", bound, finish)
    with tempfile.TemporaryDirectory() as folder, tuner.record(f"{folder}/calls.db"):
        report("the same, recorded", lambda: cubc.reduce(x, out=out), finish)
        report("cubc.bind(...)(), recorded", bound, finish)
    report("cubc.reduce(x)", lambda: cubc.reduce(x), finish)
    if device == "cpu":
        return us
    if importlib.util.find_spec("cupy"):
        import cupy

        y, o = cupy.asarray(x), cupy.empty((), "float32")
        finish = cupy.cuda.Device().synchronize
        report("cupy.sum(x, out=o)", lambda: cupy.sum(y, out=o), finish)
        report("cubc.reduce(CuPy, out=o)", lambda: cubc.reduce(y, out=o), finish)
    if importlib.util.find_spec("torch"):
        import torch

        t = torch.from_dlpack(x)
        finish = torch.cuda.synchronize
        report("torch.sum(x)", lambda: torch.sum(t), finish)
    return us


def cells_of(us):
    """A cell a call of cubc; the first has one for each peer."""
    first, *_ = us
    for name, mine in us.items():
        if name in PEERS:
            continue
        cell = {"benchmark": "host_time", "type": "F32", "size": "2^10", "case": name}
        cell |= {"cubc": mine, "unit": "us"} | cells.origin(cubc.device_info())
        peers = us.keys() & PEERS.keys() if name == first else ()
        beside = [
            {"peer": us[peer], "ratio": round(us[peer] / mine, 3), "peer_name": PEERS[peer]}
            for peer in peers
        ]
        yield from (cell | peer for peer in beside or [{}])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cells.add_option(parser)
    options = parser.parse_args()
    us = measure()
    if options.json:
        cells.put(list(cells_of(us)), cells.folder_name(cubc.device_info()), options.json)


if __name__ == "__main__":
    main()
