"""Several results of one pass over an array, beside a call for each of them.

    python benchmarks/several.py [--sizes 16 20 24 28]

Calls through the public functions on CuPy's arrays of random floats, with a cold L2 cache and the
stream held while they are queued: device time between two events, medians of 15. Results are
allocated by the calls, as users' are.
"""

import argparse
import statistics

import cupy

import cubc

REDUCTIONS = ["sum", "min", "argmax"]
EXPRESSIONS = ["x + y", "x - y"]
SAMPLES, WARM_UP, FLUSHED_BYTES, HELD_CYCLES = 15, 3, 256 << 20, 300_000
SLOW_US = 30_000
HOLD = r"""
extern "C" __global__ void hold(long long cycles)
{
    const long long begin = clock64();
    while (clock64() - begin < cycles) {}
}
"""


def median_us(calls, stream, flushed, hold):
    """Median of the device time of calls that are queued one after the other.

    The second sample, before which all is compiled, stands for all if it is longer than SLOW_US.
    """
    times = []
    for sample in range(WARM_UP + SAMPLES):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        flushed.fill(1)
        hold((1,), (1,), (HELD_CYCLES,))
        begin.record(stream)
        for call in calls:
            call()
        end.record(stream)
        end.synchronize()
        us = 1e3 * cupy.cuda.get_elapsed_time(begin, end)
        if sample == 1 and us > SLOW_US:
            return us
        if sample >= WARM_UP:
            times.append(us)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[16, 20, 24, 28], help="exponents")
    options = parser.parse_args()
    stream = cupy.cuda.Stream(non_blocking=True)
    hold = cupy.RawKernel(HOLD, "hold")
    print(cubc.device_info()["name"])
    with stream:
        flushed = cupy.empty(FLUSHED_BYTES, "u1")
        for dtype in ("float32", "float64"):
            for exponent in options.sizes:
                x, y = (cupy.random.random(1 << exponent, dtype=dtype) for _ in range(2))
                ways = {
                    "reduce": (lambda op, x=x: cubc.reduce(x, op, stream=stream), REDUCTIONS),
                    "transform": (
                        lambda e, x=x, y=y: cubc.transform(e, x=x, y=y, stream=stream),
                        EXPRESSIONS,
                    ),
                }
                for name, (call, parts) in ways.items():
                    together = [lambda call=call, parts=parts: call(parts)]
                    alone = [lambda call=call, part=part: call(part) for part in parts]
                    one, each = (
                        median_us(calls, stream, flushed, hold) for calls in (together, alone)
                    )
                    print(
                        f"{name:10}{dtype:8} 2^{exponent:<3} one pass {one:9.2f} us"
                        f"  {len(parts)} calls {each:9.2f} us  x{each / one:.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
