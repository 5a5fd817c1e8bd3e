"""Prefix scans along an axis."""

import re
from typing import Any, Unpack

from ._arrays import as_array, dtype_of
from ._axes import axis_number, items_of, on_rows
from ._calls import primitive
from ._core import call, operator_types
from ._initial import init_in_memory
from ._options import Placement
from ._segments import segmented_scan


@primitive(workspace="cubc_axis_scan_temp_bytes")
def scan(
    x,
    /,
    op="sum",
    *,
    axis,
    inclusive=True,
    init=None,
    out=None,
    dtype=None,
    deterministic=False,
    **placement: Unpack[Placement],
) -> Any:
    """Scan along an axis: `cubc.scan`, for which it is documented there.

    Parameters
    ----------
    x, op, axis, inclusive, init, out, dtype, deterministic
        As for `cubc.scan`.

    Raises
    ------
    TypeError, ValueError
        As `cubc.scan`.
    """
    x = as_array(x)
    shape = tuple(x.shape)
    number = axis_number(axis, len(shape))
    columns = items_of(shape[number + 1 :])
    acc, kind = operator_types(op, x.dtype, dtype=dtype, out=dtype_of(out))
    if columns == 1 or (deterministic and _shows_order(op, acc)):
        options = {"inclusive": inclusive, "init": init, "deterministic": deterministic}
        return _of_rows(x, op, number, out, dtype, options, placement)
    fields = {
        "in": x,
        "length": max(shape[number], 1),
        "columns": max(columns, 1),
        "op": op,
        "inclusive": bool(inclusive),
        "acc_type": acc,
        "init": init_in_memory(init, acc),
        "out": (kind, "in", out),
    }
    return call("axis_scan", fields, **placement)[0]


_BITWISE = re.compile(r"(convert<\w+>)?\(?[ab] ?[&|^] ?[ab]\)?")  # as Python functions become


def _shows_order(op, acc) -> bool:
    """Tell if the result depends on the order in which totals are combined.

    It does not where no operation rounds. An operator of the caller's may be less associative than
    it should.
    """
    if op in ("min", "max", "any", "all"):
        return False
    integers = str(acc).startswith(("int", "uint", "bool"))
    return not integers or not (op in ("sum", "prod") or _BITWISE.fullmatch(op))


def _of_rows(x, op, axis, out, dtype, options, placement) -> Any:
    # Results that are transposed into `out` afterwards have its type.
    type = out.dtype if dtype is None and out is not None else dtype

    def scan_rows(rows, length, to):
        given = {"out": to, "dtype": type if to is None else dtype}
        return segmented_scan(rows, op=op, segment_size=length, **given, **options, **placement)

    return on_rows(x, axis, scan_rows, out, placement)
