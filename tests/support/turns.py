"""Parts of the tests, of which a run takes one: CUBC_TURN=2/3 is the second of three."""

import os

import pytest

TURN = os.environ.get("CUBC_TURN")


def not_in_turn(items, turn):
    """The tests whose turn it is not: of "2/3" all but each third, from the second on.

    All cases of a test have one turn, as they share kernels; neighbours have different ones, so
    that each turn has tests of every file.
    """
    k, n = (int(x) if x.isdecimal() else 0 for x in turn.partition("/")[::2])
    if not 1 <= k <= n:
        raise pytest.UsageError(f"CUBC_TURN={turn}: k/n runs the k-th of n parts, as in 1/3")
    tests = {}
    for item in items:
        tests.setdefault((item.parent, getattr(item, "originalname", item.name)), []).append(item)
    return {item for at, cases in enumerate(tests.values()) if at % n != k - 1 for item in cases}
