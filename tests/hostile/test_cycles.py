"""Objects of cubc in reference cycles: the garbage collector finds them."""

import gc
import weakref

import numpy as np
import pytest

import cubc
from cubc import _core


class Node:
    """An array, a size and a stream, whose attributes may lead back to it."""

    ptr = 0
    dtype = np.dtype("f8")

    def __array__(self, dtype=None, copy=None):
        return np.arange(4.0)

    def __index__(self):
        return 4


MADE = {
    "operand": lambda node: cubc.lazy("x + 1", x=node),
    "size": lambda node: cubc.lazy("i", size=node, dtype="f8"),
    "stream": lambda node: cubc.empty(4, device="cpu", stream=node),
    "part": lambda node: cubc.empty(4, device="cpu", stream=node)[1:],
}


@pytest.mark.parametrize("name", MADE)
def test_are_collected(name):
    node = Node()
    watched = weakref.ref(node)
    node.made = MADE[name](node)
    assert gc.is_tracked(node.made)
    del node
    gc.collect()
    assert watched() is None


def test_types_that_hold_what_others_made():
    """A store and a workload refer to nothing that refers back."""
    have_gc = 1 << 14  # Py_TPFLAGS_HAVE_GC
    for kind in (_core.Array, _core.Lazy, _core.Program):
        assert kind.__flags__ & have_gc, kind
