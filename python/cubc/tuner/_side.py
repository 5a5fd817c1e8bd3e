"""One side of one round of a live comparison: ``python -P _side.py <socket>``.

It reads one request from the socket, measures, answers with the samples, or with what is wrong with
the request, and ends. Request and answer are JSON in frames as _frames.py has them. That side's
Python runs this script, and its cubc may be older or newer than this one. So it imports nothing of
the tuner, and of the core only what measures.
"""

import json
import socket
import struct
import sys

import numpy as np

from cubc import _core

LENGTH = struct.Struct("!I")


def measured(asked: dict) -> list:
    """Samples of each opening at each workload; `_live` has the fields of what is asked."""
    answer = []
    for benchmark, ct, rts in asked["work"]:
        for rt in rts:
            workload = _core.Workload(benchmark, ct, rt, asked["device"])
            openings = (workload.variant(asked["variant"]) for _ in range(asked["openings"]))
            found = (workload.measure(opened, **asked["timing"]) for opened in openings)
            answer.append([np.frombuffer(m["samples"], np.float32).tolist() for m in found])
    return answer


def main() -> None:
    """Answer the request on the socket."""
    with socket.socket(fileno=int(sys.argv[1])) as channel, channel.makefile("rb") as requests:
        [length] = LENGTH.unpack(requests.read(LENGTH.size))
        try:
            found: object = measured(json.loads(requests.read(length)))
        except (ValueError, LookupError) as error:
            found = {"refused": str(error)}
        answer = json.dumps(found).encode()
        channel.sendall(LENGTH.pack(len(answer)) + answer)


if __name__ == "__main__":
    main()
