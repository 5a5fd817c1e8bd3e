"""Prefix scans of an array, whole or along an axis."""

import inspect
from typing import Any

from . import _axis_scan, _core
from ._calls import name_function


def scan(*arguments, axis=None, **options) -> Any:
    """Scan an array: item i of the result is init op x[0] op ... op x[i].

    Parameters
    ----------
    x : array_like
        Array of any shape.
    op : str
        'sum', 'prod', 'min', 'max', or a C expression of a and b as for `reduce`, which must be
        associative.
    axis : int, optional
        Axis along which to scan. None takes the array flat in C order, as numpy.cumsum does.
    inclusive : bool
        False: item i of the result ends with x[i-1], and item 0 is init.
    init : number or array, optional
        First operand, as for `reduce`. By default 0 for an exclusive sum and 1 for an exclusive
        prod; any other exclusive scan needs it.
    out : array, optional
        Array for the result, of as many items as x: of one dimension or of the shape of x; with an
        axis, of the shape of x. It may be x, if its items are as large; any other overlap of
        contiguous arrays is refused.
    dtype : dtype, optional
        As for `reduce`, but the default is the type of x, as in CUB, in which sums of short
        integers may wrap. A sum or product of bool is int64.
    deterministic : bool
        As for `reduce`.
    stream, workspace, device : optional
        As for `reduce`; the size of the workspace is cubc_scan_temp_bytes, or along an axis that is
        not the last cubc_axis_scan_temp_bytes.

    Returns
    -------
    numpy.ndarray, cubc.Array or out
        With an axis of the shape of x, else of one dimension unless `out` has more. In host memory
        if x is, else on the device of x.

    Raises
    ------
    LookupError, TypeError, CompileError, NoDeviceError, DeviceMemoryError, DeviceError
        As for `reduce`.
    ValueError
        As for `reduce`; for argmin and argmax; for an exclusive scan that needs init.

    Notes
    -----
    The call is one pass over the items with decoupled look-back [1]_, along any axis. Along the
    last axis it is `segmented_scan`. With ``deterministic=True`` an array of floats, or one with an
    operator of your own, is transposed before and after a scan along another axis, which takes
    twice the memory of the array.

    Determinism. Results of integers, of min and of max are the same in every run and on every
    device. Floating sums and products may differ in the last digits from run to run (CUB's
    not_guaranteed), since timing decides how many totals a look-back adds. With
    ``deterministic=True`` they are the same in every run, with every policy, on every GPU and on
    the cpu, as those of `reduce`. Tiles then have one size. A tile adds the totals of the tiles
    before it in its group of 32, of the groups before that in their stretch of 1024 tiles, and of
    all before the stretch; it waits for exactly these. This is one pass too. A sum of float32 goes
    through at most d = 48 + 2 s additions, where s is the number of stretches of 2**23 items before
    it. Its error is at most d u sum|x| over the items up to its own, to first order, where u is the
    unit roundoff [2]_.

    References
    ----------
    .. [1] D. Merrill and M. Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
       NVIDIA technical report NVR-2016-002, 2016.
    .. [2] N. J. Higham, "The Accuracy of Floating Point Summation", SIAM J. Sci. Comput. 14, 1993.

    Examples
    --------
    >>> print(cubc.scan(np.arange(1.0, 5.0)), cubc.scan(np.arange(1.0, 5.0), inclusive=False))
    [ 1.  3.  6. 10.] [0. 1. 3. 6.]
    """
    if axis is None:
        return _core.scan(*arguments, **options)
    try:
        return _axis_scan.scan(*arguments, axis=axis, **options)
    except Exception as error:
        name_function(error, "scan")
        raise


def _signature() -> inspect.Signature:
    """Return the signature of the core's scan with the axis."""
    whole = inspect.signature(_core.scan)
    axis = inspect.Parameter("axis", inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters = list(whole.parameters.values())
    return whole.replace(parameters=[*parameters[:2], axis, *parameters[2:]])


scan.__signature__ = _signature()  # type: ignore[attr-defined]
