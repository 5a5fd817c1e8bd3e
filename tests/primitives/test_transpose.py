"""Transposition of matrices, by which algorithms go along an axis."""

import inputs
import numpy as np
import pytest
from inputs import on, same

import cubc
from cubc import _core


def transposed(x, device=None):
    """The last two axes of x changed."""
    shape = (*x.shape[:-2], x.shape[-1], x.shape[-2])
    fields = {"in": x, "rows": x.shape[-2], "columns": x.shape[-1], "out": ("in", shape, None)}
    return _core.call("transpose", fields, device=device)[0]


# ---- transposition -------------------------------------------------------------------------------
@pytest.mark.parametrize("label", ["base", "ipt_2.tpb_64.mb_1", "ipt_6.tpb_192.mb_2"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5000), (5000, 1), (3, 4001), (4001, 3), (129, 131),
                                   (33, 64, 32), (500, 2, 3)])  # fmt: skip
def test_transposition(device, policies, shape, label):
    x = inputs.random("I16", int(np.prod(shape))).reshape(shape)
    if label != "base":
        arch = cubc.device_info(device)["arch"]
        _core.use_policy("transpose.matrix", {"T{ct}": "I16"}, arch, label)
    same(transposed(on(device, x)), np.swapaxes(x, -1, -2))


@pytest.mark.parametrize("dtype", ["i1", "f2", "f4", "c8", "c16", "i4,i4,i4"])
def test_transposed_items_of_every_size(device, dtype):
    x = np.zeros((70, 90), dtype)
    x.view("u1").reshape(-1)[:] = inputs.random("U8", x.nbytes) & 0x3F
    result = np.asarray(transposed(on(device, x)))
    assert result.tobytes() == np.ascontiguousarray(x.T).tobytes()
