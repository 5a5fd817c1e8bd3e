"""Heartbeat of tasks: a search hears each second that the process that has one is alive.

A node may be lost without a message, and an executor may not notice. So a process sends datagrams
to the search while it works at a task, from another thread: a variant that takes long does not
silence it. A task that was heard of and then is silent is lost. One that was never heard of waits
in a queue, or no datagram comes through from there: it is lost by its time alone.

A datagram is the task's number, which nobody can guess; everything else is ignored.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

BEAT = 1.0  # seconds between two beats
SILENT = 15.0  # seconds without one after which a task is lost
NUMBER = 16  # bytes
MOST = 10_000  # datagrams that are read at a time, should a stranger send without an end
HELD = 1 << 20  # bytes of datagrams that the system keeps until they are read


class Pulse(NamedTuple):
    """Place to which the beats of a task go, and its number."""

    host: str
    port: int
    number: bytes


class Listener:
    """The search's end; where no socket is to be had it hears nothing."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._port = 0
        with suppress(OSError):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, HELD)
            self._socket.setblocking(False)
            self._socket.bind(("", 0))
            self._port = self._socket.getsockname()[1]

    def pulse(self) -> Pulse:
        """Make the pulse of a task."""
        return Pulse(socket.gethostname(), self._port, os.urandom(NUMBER))

    def heard(self) -> set[bytes]:
        """Numbers of the tasks that were heard of since the last call, among others."""
        found = set()
        with suppress(OSError):  # nothing is left
            for _ in range(MOST if self._port else 0):
                found.add(self._socket.recv(NUMBER + 1))
        return found

    def close(self) -> None:
        """Hear nothing any more."""
        self._socket.close()


@contextmanager
def beating(pulse: Pulse | None) -> Iterator[None]:
    """Send beats while a task is worked at, the first at once."""
    done = threading.Event()
    if pulse is not None and pulse.port:
        threading.Thread(target=_beat, args=(pulse, done), name="cubc-beat", daemon=True).start()
    try:
        yield
    finally:
        done.set()


def _beat(pulse: Pulse, done: threading.Event) -> None:
    is_here = pulse.host == socket.gethostname()
    address = ("127.0.0.1" if is_here else pulse.host, pulse.port)
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.connect(address)
        while not done.is_set():
            with suppress(OSError):  # the search may have gone, or a network is down for a moment
                sending.send(pulse.number)
            done.wait(BEAT)
