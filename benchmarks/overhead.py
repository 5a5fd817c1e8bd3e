"""Host cost of a call on a device array, beside CuPy and PyTorch where they are installed.

python benchmarks/overhead.py
"""

import importlib.util
import time

import cubc


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


def report(name, call, finish):
    # Few calls a round: a full launch queue would make the host wait for the GPU.
    print(f"{name:26}{host_us(call, finish, 500):6.2f} us", flush=True)


def main():
    device = cubc.devices()[0]
    x = cubc.transform("i % 7", size=1 << 10, dtype="float32", device=device)
    out = cubc.empty((), "float32", device=device)
    finish = cubc.synchronize
    report("cubc.reduce(x, out=o)", lambda: cubc.reduce(x, out=out), finish)
    report("cubc.reduce(x)", lambda: cubc.reduce(x), finish)
    if device == "cpu":
        return
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


if __name__ == "__main__":
    main()
