"""Frames on the socket between a search and its measuring process.

A frame is its length in four bytes, and then its bytes. Requests are pickled: they come from the
search, whose code the measuring process runs anyway. Replies come from a process that has run
variants, and a variant may have written into the socket. So a reply is data: one line of JSON, then
the samples as they are. It is taken only if it has the form that `encode` gives it, with values
that a store takes.
"""

from __future__ import annotations

import json
import pickle
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np

from cubc import _core

from ._measurer import Run
from ._metrics import from_text
from ._status import MESSAGE, OK, STATUSES

LENGTH = struct.Struct("!I")
MOST_HEADER = 64 << 10  # bytes of a reply's line of JSON
MOST_COUNT = 2**31 - 1


def _columns(kind: str, *others: str) -> tuple[str, ...]:
    """Columns of a store that are of a kind, without those that the search knows by itself."""
    named = _core.STORE_COLUMNS.items()
    return tuple(name for name, of in named if of == kind and name not in others)


COUNTS = _columns("count", "round")
REALS = _columns("real", "bytes")  # which are a whole number
SERIES = _columns("series")
METRICS = ("metrics", "base_metrics")
MOST = MOST_HEADER + len(SERIES) * _core.MOST_SERIES  # bytes of a reply


class Garbled(ValueError):
    """Bytes that are no reply."""


def frame(content: bytes) -> bytes:
    """Give the frame of a content."""
    return LENGTH.pack(len(content)) + content


def read_request(stream: BinaryIO) -> tuple | None:
    """Next request; None if the search has closed its end."""
    length = stream.read(LENGTH.size)
    if len(length) < LENGTH.size:
        return None
    return pickle.loads(stream.read(LENGTH.unpack(length)[0]))


class Buffer:
    """Bytes as they come, which become replies of what a function decodes."""

    def __init__(self, decode: Callable[[bytes], tuple]) -> None:
        self._bytes, self._decode = bytearray(), decode

    def add(self, received: bytes) -> None:
        """Take what was received."""
        self._bytes += received

    def take(self) -> tuple | None:
        """First reply, if it has come whole; Garbled if it is none."""
        if len(self._bytes) < LENGTH.size:
            return None
        length = LENGTH.unpack_from(self._bytes)[0]
        if length > MOST:
            raise Garbled(f"a frame of {length} bytes")
        if len(self._bytes) < LENGTH.size + length:
            return None
        content = bytes(self._bytes[LENGTH.size : LENGTH.size + length])
        del self._bytes[: LENGTH.size + length]
        return self._decode(content)


# ---- replies ------------------------------------------------------------------------------------
def encode(reply: tuple) -> bytes:
    """Content of a reply: ("opened",), ("refused", message), ("result", run, fields), ("done",)."""
    kind, *rest = reply
    header: dict[str, Any] = {"kind": kind}
    body = b""
    if kind == "refused":
        header["message"] = rest[0][:MESSAGE]
    if kind == "result":
        run, fields = rest
        header |= run._asdict()
        header["fields"] = {n: value for n, value in fields.items() if n not in SERIES}
        header["series"] = [len(fields.get(name, b"")) for name in SERIES]
        if "message" in fields:
            header["fields"]["message"] = fields["message"][:MESSAGE]
        body = b"".join(fields.get(name, b"") for name in SERIES)
    return json.dumps(header).encode() + b"\n" + body


def decode(content: bytes) -> tuple:
    """Read a reply from its content.

    Raises
    ------
    Garbled
        If it is not exactly what `encode` gives for a reply.
    """
    end = content.find(b"\n", 0, MOST_HEADER)
    if end < 0:
        raise Garbled("no header")
    try:
        header = json.loads(content[:end])
    except (ValueError, RecursionError) as error:
        raise Garbled("a header that is no JSON") from error
    kind = header.get("kind") if isinstance(header, dict) else None
    if kind == "result":
        return _result(header, content[end + 1 :])
    _expect(end + 1 == len(content), "length")
    if kind == "refused":
        _expect(header.keys() == {"kind", "message"}, "keys")
        return kind, _text("message", header["message"])
    _expect(kind in ("opened", "done") and len(header) == 1, "kind")
    return (kind,)


def _result(header: dict[str, Any], body: bytes) -> tuple:
    _expect(header.keys() == {"kind", "round", "place", "fields", "series"}, "keys")
    run = Run(_integer("round", header["round"]), _integer("place", header["place"]))
    fields = _fields(header["fields"])
    lengths = header["series"]
    _expect(isinstance(lengths, list) and len(lengths) == len(SERIES), "series")
    _expect(sum(_integer("series", length) for length in lengths) == len(body), "series")
    if any(lengths) or fields["status"] == OK:
        fields |= _series(lengths, body)
    return "result", run, fields


def _fields(given: Any) -> dict[str, Any]:
    _expect(isinstance(given, dict) and "status" in given, "fields")
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in COUNTS:
            found[name] = _integer(name, value, MOST_COUNT)
        elif name == "bytes":
            found[name] = _integer(name, value)
        elif name in REALS:
            _expect(type(value) in (int, float) and 0 <= value <= sys.float_info.max, name)
            found[name] = float(value)
        elif name in METRICS:
            found[name] = _metrics(name, value)
        else:
            _expect(name in ("status", "message"), "fields")
            found[name] = _text(name, value)
    _expect(found["status"] in STATUSES, "status")
    return found


def _series(lengths: list[int], body: bytes) -> Mapping[str, bytes]:
    """Samples and clocks: as many of base, or none; a clock for each sample, or none."""
    found, begin = {}, 0
    for name, length in zip(SERIES, lengths, strict=True):
        found[name] = body[begin : begin + length]
        begin += length
        _expect(length % 4 == 0 and length <= _core.MOST_SERIES, name)
        values = np.frombuffer(found[name], "<f4")
        _expect(bool(np.isfinite(values).all() and (values > 0).all()), name)
    samples, base, clocks, base_clocks = lengths
    _expect(samples > 0 and base in (0, samples), "samples")
    _expect(clocks in (0, samples) and base_clocks in (0, base), "clocks")
    return found


def _integer(name: str, value: Any, most: int = 2**63 - 1) -> int:
    _expect(type(value) is int and 0 <= value <= most, name)
    return int(value)


def _text(name: str, value: Any) -> str:
    _expect(isinstance(value, str) and len(value) <= MESSAGE, name)
    return str(value).encode(errors="replace").decode()  # JSON has halves of surrogate pairs


def _metrics(name: str, value: Any) -> str:
    text = _text(name, value)
    try:
        from_text(text)
    except ValueError as error:
        raise Garbled(str(error)) from None
    return text


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise Garbled(f"a reply with other {what} than there can be")
