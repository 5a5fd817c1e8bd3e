"""Calls a second of threads that have a GPU each, beside those of one thread on one GPU.

    python benchmarks/threads.py [--seconds 2] [--sizes 16 20 24 28] [--json]

Each thread sums an array of its GPU into a result there, on its default stream, and waits for the
result after each call (`waited`) or after every hundred (`queued`). A call holds Python's lock for
the few microseconds of its host time, so that threads overlap in what the GPUs do.
"""

import argparse
import threading
import time

import cells

import cubc

BATCH = {"waited": 1, "queued": 100}


def calls_a_second(devices, size, batch, seconds):
    """Calls of all threads, a thread a device, divided by the time from the first to the last."""
    ready = threading.Barrier(len(devices) + 1, timeout=60)  # broken if a thread fails before it
    counts = [0] * len(devices)
    stop = threading.Event()

    def work(k, device):
        x = cubc.transform("i % 7", size=size, dtype="float32", device=device)
        out = cubc.empty((), "float32", device=device)
        call = cubc.bind(cubc.reduce, x, out=out)
        for _ in range(20):
            call()
        cubc.synchronize(device)
        ready.wait()
        while not stop.is_set():
            for _ in range(batch):
                call()
            cubc.synchronize(device)
            counts[k] += batch

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(devices)]
    for thread in threads:
        thread.start()
    ready.wait()
    start = time.perf_counter()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2, help="of each measurement")
    parser.add_argument("--sizes", type=int, nargs="+", default=[16, 20, 24, 28], help="exponents")
    cells.add_option(parser)
    options = parser.parse_args()
    gpus = [device for device in cubc.devices() if device != "cpu"]
    if len(gpus) < 2:
        raise SystemExit("two GPUs are needed: cubc.devices() has " + ", ".join(cubc.devices()))
    kept = []
    for case, batch in BATCH.items():
        for exponent in options.sizes:
            one, both = (
                calls_a_second(devices, 1 << exponent, batch, options.seconds)
                for devices in (gpus[:1], gpus[:2])
            )
            print(
                f"{case:8}2^{exponent:<3}{one:10.0f} calls/s on one GPU{both:10.0f} on two"
                f"  x{both / one:.2f}",
                flush=True,
            )
            cell = {"benchmark": "threads", "type": "F32", "size": f"2^{exponent}", "case": case}
            cell |= {"cubc": round(both), "one": round(one), "unit": "calls/s"}
            kept.append(cell)
    cells.put_asked(kept, cubc.device_info(gpus[0]), options)


if __name__ == "__main__":
    main()
