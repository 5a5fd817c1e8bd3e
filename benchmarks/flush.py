"""Cost of a flush of the L2 cache for the kernel that follows it: by writing, by reading, by both.

    python benchmarks/flush.py [--json]

A flush by writing, as of every measurement here and of NVBench's, leaves lines that have to go to
memory before their places can be used. Needs PyTorch.
"""

import argparse
import importlib.util
import statistics

import cells

import cubc

WRITTEN, READ = 60 << 20, 128 << 20  # bytes: what the cache holds, and more


def microseconds(torch, x, out, stream, flushes):
    """Median time of cubc.reduce behind the flushes, from event to event."""
    times = []
    for _ in range(25):
        for flush in flushes:
            flush()
        torch.cuda._sleep(200_000)  # cycles, in which what follows is queued
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record(stream)
        cubc.reduce(x, out=out, stream=stream.cuda_stream)
        end.record(stream)
        stream.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cells.add_option(parser)
    options = parser.parse_args()
    if cubc.devices()[0] == "cpu" or not importlib.util.find_spec("torch"):
        print("flush.py: needs a CUDA device and PyTorch")
        return
    import torch

    written, read = (torch.zeros(size // 4, device="cuda") for size in (WRITTEN, READ))
    ways = {"write": [written.zero_], "read": [read.sum], "write+read": [written.zero_, read.sum]}
    stream, out = torch.cuda.Stream(), cubc.empty((), "F32", device="cuda:0")
    found = []
    with torch.cuda.stream(stream):
        for exponent in (16, 20, 22, 24, 26, 28):
            x = torch.ones(1 << exponent, device="cuda")
            for name, flushes in ways.items():
                us = microseconds(torch, x, out, stream, flushes)
                print(
                    f"{exponent} {name} {us:.2f} us  {4 * x.numel() / us * 1e-3:.0f} GB/s",
                    flush=True,
                )
                cell = {"benchmark": "flush", "type": "F32", "size": f"2^{exponent}", "case": name}
                cell |= {"cubc": round(us, 2), "unit": "us"}
                cell["gb_per_s"] = round(4 * x.numel() / us * 1e-3)
                found.append(cell)
    cells.put_asked(found, cubc.device_info(), options)


if __name__ == "__main__":
    main()
