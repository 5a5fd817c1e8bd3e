"""Replies of a measuring process: taken as they were sent, or refused whatever they are."""

import json
import struct

import numpy as np
import pytest

from cubc import _core
from cubc.tuner import _frames as frames
from cubc.tuner._measurer import Run

SERIES = np.array([1e-3, 2e-3], "<f4").tobytes()
FIELDS = {
    "status": "ok",
    "bytes": 2**40,
    "registers": 32,
    "given_up": 0,
    "hot": 1e-3,
    "samples": SERIES,
    "base_samples": SERIES,
    "clocks": SERIES,
    "base_clocks": b"",
}


@pytest.mark.parametrize(
    "reply",
    [("opened",), ("done",), ("refused", "no memory"), ("result", Run(0, 1), FIELDS)],
    ids=lambda reply: reply[0],
)
def test_a_reply_arrives_as_it_was_sent(reply):
    buffer = frames.Buffer(frames.decode)
    sent = frames.frame(frames.encode(reply))
    buffer.add(sent[:-1])
    assert buffer.take() is None
    buffer.add(sent[-1:])
    assert buffer.take() == reply


def changed(**fields) -> bytes:
    """Content of a result in which some fields are others; None: one is missing."""
    content = frames.encode(("result", Run(0, 1), FIELDS | fields))
    header, _, body = content.partition(b"\n")
    known = json.loads(header)
    known["fields"] = {n: value for n, value in known["fields"].items() if value is not None}
    return json.dumps(known).encode() + b"\n" + body


def samples(*values: float) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


@pytest.mark.parametrize(
    "fields",
    [
        {"registers": -1},
        {"registers": 2**31},
        {"registers": True},
        {"registers": 1.5},
        {"bytes": 2**63},
        {"hot": 10**400},
        {"hot": float("inf")},
        {"hot": float("nan")},
        {"power": -1.0},
        {"status": "best"},
        {"status": None},
        {"temperature": "hot"},
        {"speedup": 9},
        {"samples": b""},
        {"samples": SERIES[:-1]},
        {"samples": samples(0.0, 1.0)},
        {"samples": samples(1.0, float("inf"))},
        {"base_samples": SERIES[:4]},
        {"base_clocks": samples(1.0)},
        {
            "samples": samples(*[1.0] * (_core.MOST_SERIES // 4 + 1)),
            "base_samples": b"",
            "clocks": b"",
        },
    ],
    ids=lambda fields: ",".join(f"{n}={str(value)[:12]}" for n, value in fields.items()),
)
def test_what_a_store_would_not_take_is_no_reply(fields):
    with pytest.raises(frames.Garbled):
        frames.decode(changed(**fields))


@pytest.mark.parametrize(
    "content",
    [b"", b"{}\n", b"[]\n", b"nonsense\n", b"[" * 60000 + b"\n", b'{"kind": "done"}\nmore'],
    ids=lambda content: content[:8].decode(),
)
def test_other_bytes_are_no_reply(content):
    with pytest.raises(frames.Garbled):
        frames.decode(content)


def test_a_frame_longer_than_a_reply_is_refused_before_it_comes():
    buffer = frames.Buffer(frames.decode)
    buffer.add(frames.LENGTH.pack(frames.MOST + 1))
    with pytest.raises(frames.Garbled, match="a frame of"):
        buffer.take()


def test_a_message_can_be_written_to_a_file():
    _, _, fields = frames.decode(changed(status="wrong", message="\ud800"))
    assert fields["message"] == "?"
