"""Arrays of any library: which array a call takes in their place, and where their memory is."""

import contextlib
import functools
import reprlib
from typing import Any

import numpy as np

from ._core import Array, Lazy, _lend, asarray, device_info, is_binding, transform
from ._nulls import refuse_missing

# Made once: a union that is made for each call takes longer than the call's arguments.
_AS_THEY_ARE = (Array, np.ndarray, np.generic, Lazy, str, int, float, list, tuple, type(None), type)
# Candidates that NumPy tries for a common item, so that columns of one array lie apart. Any, as
# NumPy's stubs take 0 and -1 alone.
_OVERLAP_WORK: Any = 1000


def described(x: Any) -> Any:
    """Return an array of any library as one with a dtype and a shape.

    Memory is shared where the library's protocol allows it. Anything else is returned unchanged.
    """
    if isinstance(x, _AS_THEY_ARE):
        if isinstance(x, np.ndarray) and type(x) is not np.ndarray:
            refuse_missing(x)
        return x
    whole = hasattr(x, "dtype") and hasattr(x, "shape")
    if hasattr(x, "__cuda_array_interface__"):
        return x if whole else asarray(x)
    if hasattr(x, "__dlpack__"):
        if is_of_host(x):  # as JAX's and PyTorch's on the cpu
            try:
                return np.from_dlpack(x)
            except (BufferError, RuntimeError, TypeError):  # of bfloat16
                if not whole:
                    raise
        return x if whole else asarray(x)
    if not hasattr(x, "__array__"):
        return x
    refuse_missing(x)
    return np.asarray(x)


def is_of_host(x: Any) -> bool:
    """Tell if an array that is no CUDA array is in the host's memory, as DLPack says it."""
    return hasattr(x, "__dlpack_device__") and x.__dlpack_device__()[0] in (1, 3)


def as_array(x: Any) -> Any:
    """Return an array of any library as `described` does; lists and numbers as NumPy arrays."""
    x = described(x)
    if hasattr(x, "dtype"):
        return x
    if is_binding() and isinstance(x, list | tuple):
        raise TypeError("a list would be copied: give an array")
    refuse_missing(x)
    array = np.asarray(x)
    if array.dtype == object:
        raise TypeError(f"{reprlib.repr(x)} is no array of numbers: pass an array or a list")
    return array


def computed(x: Any, stream: Any = None) -> Any:
    """Return an array as `as_array` does, and the items of a lazy input as one."""
    return transform(x, stream=stream) if isinstance(x, Lazy) else as_array(x)


def dimensions(x: Any) -> int:
    """Return the number of dimensions of an array of any library, or of a list."""
    return x.ndim if hasattr(x, "ndim") else as_array(x).ndim


def dtype_of(out: Any) -> Any:
    """Return the dtype of an output; None without one, or for what is no array."""
    return getattr(out, "dtype", None)


def item_dtype(x: Any) -> Any:
    """Return the dtype of any library's array as a numpy.dtype."""
    if isinstance(x.dtype, np.dtype):
        return x.dtype
    try:
        return np.dtype(str(x.dtype).rpartition(".")[2])  # of torch.float32
    except TypeError:  # bfloat16, which NumPy lacks
        return asarray(x).dtype


@functools.lru_cache(maxsize=256)
def name_of(dtype: Any) -> str:
    """Return the text of a dtype, which takes NumPy longer to make than a call its arguments."""
    return str(dtype)


def shape_of(x: Any) -> tuple[int, ...]:
    """Return numpy.shape of an array or a number, which takes NumPy long for what is no array."""
    if hasattr(x, "shape"):
        return tuple(x.shape)
    return () if isinstance(x, int | float | complex) else np.shape(x)


def common_type(*of: Any) -> Any:
    """Return numpy.result_type, but of equal structs their type: NumPy's has no padding."""
    first = of[0] if of else None
    is_struct = isinstance(first, np.dtype) and first.names is not None
    return first if is_struct and all(one == first for one in of) else np.result_type(*of)


def has_nan(x: Any) -> bool:
    """Tell if an array is of a type that has NaN."""
    return item_dtype(x).kind in "fc" or name_of(item_dtype(x)) == "bfloat16"


def is_of_numpy(x: Any) -> bool:
    """Tell if NumPy may compute with a result: a bound call repeats the core's work alone."""
    return not isinstance(x, Array | Lazy) and not (is_binding() and isinstance(x, np.ndarray))


def of_device(a: Any) -> Any:
    """Return an array of a device, or such an operand of a lazy input; None for host memory."""
    if isinstance(a, Lazy):
        return next((x for x in a.operands.values() if of_device(x) is not None), None)
    if isinstance(a, Array):
        return a
    if not hasattr(a, "shape") or hasattr(a, "__array_interface__"):
        return None
    return a if hasattr(a, "__cuda_array_interface__") or not is_of_host(a) else None


def whole_name(device: Any) -> Any:
    """Return the name that a device's arrays have: "cuda" is another one of the first GPU."""
    return "cuda:0" if device == "cuda" else device


def is_cpu(device: str) -> bool:
    """Tell if a device's name is that of a CPU: "cpu", "cpu:1" and so on."""
    return device.partition(":")[0] == "cpu"


def is_on_cpu(x: Any, device: Any) -> bool:
    """Tell if a call on an array, with a device= option, is computed by the cpu."""
    if isinstance(x, np.ndarray):
        return is_cpu(device_info(device)["name"])
    other = hasattr(x, "__cuda_array_interface__") and not isinstance(x, Array)
    return not other and is_cpu(asarray(x).device)  # which would copy one with strides


def beside(a: Any, v: Any, stream: Any) -> Any:
    """Return a number or a list as an array on the device of `a`, and an array unchanged."""
    of = of_device(a)
    if of is None or (hasattr(v, "shape") and not isinstance(v, np.generic)):
        return v
    return asarray(v, device=asarray(of).device, stream=stream)


def in_memory_of(of: Any, x: Any, stream: Any) -> Any:
    """Return an array of NumPy on the device of another, or of a lazy input's operands."""
    there = of_device(of)
    if there is None or not isinstance(x, np.ndarray):
        return x
    return asarray(x, device=asarray(there).device, stream=stream)


def address_of(x: Any) -> int:
    """Return the place of an array's first item in memory."""
    return int(x.ctypes.data if isinstance(x, np.ndarray) else asarray(x).ptr)


def overlap(a: Any, b: Any) -> bool:
    """Tell if two arrays of NumPy, or two of a device, may have memory in common."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b, max_work=_OVERLAP_WORK)
    if not all(isinstance(x, Array) or hasattr(x, "__cuda_array_interface__") for x in (a, b)):
        return False
    a, b = asarray(a), asarray(b)
    return bool(a.ptr < b.ptr + b.nbytes and b.ptr < a.ptr + a.nbytes)


def one_dimension(function: str, x: Any, otherwise: str) -> None:
    """Raise ValueError unless an array has one dimension."""
    if dimensions(x) != 1:
        shape = tuple(getattr(x, "shape", np.shape(x)))
        raise ValueError(
            f"{function}() takes arrays of one dimension, not of the shape {shape}; {otherwise}"
        )


def refuse_items(what: str, x: Any, otherwise: str, *, ordered: bool = False) -> None:
    """Raise TypeError for structs; and for complex numbers, where items are `ordered`."""
    kind = "structs" if getattr(x.dtype, "fields", None) else "complex numbers"
    if kind == "structs" or (ordered and item_dtype(x).kind == "c"):
        raise TypeError(f"{what} are {kind}, {otherwise}")


def refuse_bound(what: str) -> None:
    """Raise ValueError within `bind` for a step of the host, which would be done once."""
    if is_binding():
        raise ValueError(f"{what} on the host, which a bound call cannot repeat")


def output_pair(function: str, out: Any, of: str = "(keys, values)") -> tuple[Any, Any]:
    """Return the two arrays of out=, or (None, None)."""
    if out is None:
        return None, None
    if isinstance(out, tuple) and len(out) == 2:
        return out
    raise TypeError(f"{function}(): out must be a tuple of two arrays, {of}")


# ---- memory that is known by DLPack alone, and memory to write to


def is_dlpack_alone(x: Any) -> bool:
    """Tell if DLPack is the only way to the memory of an array."""
    others = ("__array__", "__array_interface__", "__cuda_array_interface__")
    return hasattr(x, "__dlpack__") and not any(hasattr(x, name) for name in others)


def of_dlpack(a: Array, x: Any) -> Any:
    """Return an array that is known by DLPack alone as one beside `a`, and all else unchanged.

    Memory of the host is that of a CPU too; beside an array of a GPU it is NumPy's.
    """
    if not is_dlpack_alone(x):
        return x
    if not is_of_host(x):
        return asarray(x)
    return asarray(x, device=a.device) if is_cpu(a.device) else described(x)


def is_read_only(x: Any) -> bool:
    """Tell if an array of NumPy, or one in CUDA memory, says that it may not be written."""
    if isinstance(x, np.ndarray):
        return not x.flags.writeable
    lent = getattr(x, "__cuda_array_interface__", None) or {}
    return bool(lent.get("data", (0, False))[1])


def memory_of(x: Any, on_device: bool, what: str = "out") -> Any:
    """Return the memory of an array as one of NumPy, or of the device that the others are on."""
    here = is_of_host(x) and not on_device
    if here:
        with contextlib.suppress(BufferError, RuntimeError, TypeError):
            array = np.from_dlpack(x)
            if array.flags.writeable:
                return array
    lent = _lend(x, what)  # refuses what may not be written
    return x if here else lent  # of bfloat16, which NumPy does not read


def changeable(x: Any, otherwise: str = "") -> Any:
    """Return an array that a call changes in place; TypeError for what has no memory of its own."""
    given = memory_of(x, False, "the array") if is_dlpack_alone(x) else described(x)
    if given is x and is_dlpack_alone(x):
        given = _lend(x, "the array")
    if isinstance(given, np.ndarray) and not isinstance(x, np.ndarray):
        copied = not hasattr(x, "__dlpack__")  # a table's columns may be joined to an array
    else:
        copied = not hasattr(given, "dtype") or isinstance(given, np.generic | Lazy)
    if copied:
        raise TypeError(
            f"this changes an array in place, and {type(x).__name__} is none{otherwise}"
        )
    if isinstance(given, np.ndarray) and not given.flags.writeable:
        raise ValueError("the array is read-only: copy it before")
    return given
