"""The namespace of `cubc.Array` in the array API standard, version 2024.12.

``d.__array_namespace__()`` is this module. Its functions take arrays on a device, lazy inputs and
Python's numbers. They return arrays on that device: what operators leave lazy is computed.
docs/array_api.md says which functions of the standard are not there.

>>> import cubc
>>> xp = cubc.asarray([1.0, 4.0], device="cpu").__array_namespace__()
>>> print(xp.sum(xp.sqrt(xp.asarray([1.0, 4.0], device="cpu"))))
3.0
"""

import math as _math

from .._arithmetic import eager
from ._creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from ._elementwise import FUNCTIONS as _ELEMENTWISE
from ._elementwise import clip, imag, real, round
from ._items import (
    argmax,
    argmin,
    argsort,
    nonzero,
    searchsorted,
    sort,
    take,
    take_along_axis,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    where,
)
from ._products import matmul, matrix_transpose, tensordot, vecdot
from ._shapes import (
    broadcast_arrays,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from ._statistics import (
    all,
    any,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    diff,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from ._types import DTYPES as _DTYPES
from ._types import (
    __array_namespace_info__,
    astype,
    broadcast_shapes,
    can_cast,
    finfo,
    iinfo,
    isdtype,
    result_type,
)

__array_api_version__ = "2024.12"
e, pi, inf, nan, newaxis = _math.e, _math.pi, _math.inf, _math.nan, None
globals().update(_DTYPES)
globals().update(_ELEMENTWISE)

__all__ = [
    "__array_api_version__",
    "__array_namespace_info__",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asarray",
    "astype",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "clip",
    "concat",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "e",
    "eager",
    "empty",
    "empty_like",
    "expand_dims",
    "eye",
    "finfo",
    "flip",
    "from_dlpack",
    "full",
    "full_like",
    "iinfo",
    "imag",
    "inf",
    "isdtype",
    "linspace",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "meshgrid",
    "min",
    "moveaxis",
    "nan",
    "newaxis",
    "nonzero",
    "ones",
    "ones_like",
    "permute_dims",
    "pi",
    "prod",
    "real",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "searchsorted",
    "sort",
    "squeeze",
    "stack",
    "std",
    "sum",
    "take",
    "take_along_axis",
    "tensordot",
    "tile",
    "tril",
    "triu",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unstack",
    "var",
    "vecdot",
    "where",
    "zeros",
    "zeros_like",
]
__all__ += [*_DTYPES, *_ELEMENTWISE]
