"""One side of one round of a live comparison: measures, prints the samples as JSON, and leaves.

It is run as a script by the Python of that side, whose cubc may be older or newer than this one. So
it imports nothing of the tuner, and of the core only what measures.
"""

import json
import sys

import numpy as np

from cubc import _core


def main() -> None:
    """Answer the request on the standard input; `live` has its fields."""
    asked = json.load(sys.stdin)
    answer = []
    for benchmark, ct, rts in asked["work"]:
        for rt in rts:
            workload = _core.Workload(benchmark, ct, rt, asked["device"])
            openings = (workload.variant(asked["variant"]) for _ in range(asked["openings"]))
            measured = (workload.measure(opened, **asked["timing"]) for opened in openings)
            answer.append([np.frombuffer(m["samples"], np.float32).tolist() for m in measured])
    print("\n" + json.dumps(answer))


if __name__ == "__main__":
    main()
