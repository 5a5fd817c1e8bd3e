"""Executors and processes that lose what they were given.

Processes import this module, which is why it is apart from the tests.
"""

import os
import signal
from concurrent.futures import Future, ThreadPoolExecutor

MARKER = "CUBC_TEST_MARKER"  # names a file that the process that is at fault makes


class Losing(ThreadPoolExecutor):
    """Some of its tasks, by their number from 1 on, are never answered."""

    def __init__(self, lost):
        super().__init__(1)
        self.lost, self.given = lost, 0

    def submit(self, function, *arguments):
        self.given += 1
        return Future() if self.given in self.lost else super().submit(function, *arguments)


def is_first(variant):
    """True for the first process that gets a variant but base; it writes its number."""
    if variant == "base":
        return False
    try:
        with open(os.environ[MARKER], "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return False
    return True


def die_if_first(variant):
    """Kill the first process that gets a variant but base."""
    if is_first(variant):
        os.kill(os.getpid(), signal.SIGKILL)
