"""Types of the C extension. The public faces are ``cubc`` and ``cubc.tuner``."""

import os
from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn, final

import numpy as np

class DeviceMemoryError(MemoryError): ...
class NoDeviceError(RuntimeError): ...
class DeviceError(RuntimeError): ...
class KernelFault(RuntimeError): ...

class CompileError(RuntimeError):
    log: str

class ResourceError(RuntimeError): ...
class StoreError(RuntimeError): ...

__version__: str
MOST_SERIES: int  # bytes of a series in a store
STORE_COLUMNS: dict[str, str]  # that Store.add takes: text, count, real or series

def _set_default_device(name: str | None, /) -> str | None: ...
def _lend(x: Any, what: str, /) -> Array: ...
def _type_name(dtype: Any, /) -> str: ...
def set_cuda_paths(cudart: str | None, nvrtc: str | None, /) -> None: ...
def set_nccl_path(nccl: str | None, /) -> None: ...

@final
class Array:
    """A contiguous array in a device's memory."""

    __dlpack_c_exchange_api__: ClassVar[Any]  # capsule of DLPack's table of functions
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def size(self) -> int: ...
    @property
    def ndim(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> str: ...
    @property
    def ptr(self) -> int: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def numpy(self) -> np.ndarray[Any, Any]: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def reshape(self, *shape: Any) -> Array: ...
    def astype(self, dtype: Any, /, *, copy: bool = True) -> Array: ...
    def copy(self) -> Array: ...
    def __complex__(self) -> complex: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
    def __dlpack__(self, *, stream: Any = None, **ignored: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __float__(self) -> float: ...
    def __int__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __index__(self) -> int: ...
    # ---- of cubc/_methods.py: the functions of cubc of these names, and texts
    all: Any
    any: Any
    argmax: Any
    argmin: Any
    argsort: Any
    cumprod: Any
    cumsum: Any
    max: Any
    mean: Any
    min: Any
    nonzero: Any
    prod: Any
    put: Any
    repeat: Any
    searchsorted: Any
    std: Any
    sum: Any
    take: Any
    topk: Any
    var: Any
    argpartition: Any
    @property
    def T(self) -> Array: ...
    @property
    def mT(self) -> Array: ...
    def transpose(self, *axes: Any) -> Array: ...
    def swapaxes(self, axis1: int, axis2: int) -> Array: ...
    def squeeze(self, axis: Any = None) -> Array: ...
    def ravel(self) -> Array: ...
    def flatten(self) -> Array: ...
    def __format__(self, spec: str, /) -> str: ...
    def _repr_html_(self) -> str: ...
    def __copy__(self) -> Array: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Array: ...
    def __getitem__(self, index: Any, /) -> Any: ...
    def __setitem__(self, index: Any, value: Any) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def to_device(self, device: str, /, *, stream: Any = None) -> Array: ...
    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    # ---- of cubc/_arithmetic.py: each makes a lazy input
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __eq__(self, other: Any, /) -> Lazy: ...  # type: ignore[override]
    def __ne__(self, other: Any, /) -> Lazy: ...  # type: ignore[override]
    def __lt__(self, other: Any, /) -> Lazy: ...
    def __le__(self, other: Any, /) -> Lazy: ...
    def __gt__(self, other: Any, /) -> Lazy: ...
    def __ge__(self, other: Any, /) -> Lazy: ...
    def __add__(self, other: Any, /) -> Lazy: ...
    def __radd__(self, other: Any, /) -> Lazy: ...
    def __sub__(self, other: Any, /) -> Lazy: ...
    def __rsub__(self, other: Any, /) -> Lazy: ...
    def __mul__(self, other: Any, /) -> Lazy: ...
    def __rmul__(self, other: Any, /) -> Lazy: ...
    def __truediv__(self, other: Any, /) -> Lazy: ...
    def __rtruediv__(self, other: Any, /) -> Lazy: ...
    def __floordiv__(self, other: Any, /) -> Lazy: ...
    def __rfloordiv__(self, other: Any, /) -> Lazy: ...
    def __mod__(self, other: Any, /) -> Lazy: ...
    def __rmod__(self, other: Any, /) -> Lazy: ...
    def __and__(self, other: Any, /) -> Lazy: ...
    def __rand__(self, other: Any, /) -> Lazy: ...
    def __or__(self, other: Any, /) -> Lazy: ...
    def __ror__(self, other: Any, /) -> Lazy: ...
    def __xor__(self, other: Any, /) -> Lazy: ...
    def __rxor__(self, other: Any, /) -> Lazy: ...
    def __lshift__(self, other: Any, /) -> Lazy: ...
    def __rlshift__(self, other: Any, /) -> Lazy: ...
    def __rshift__(self, other: Any, /) -> Lazy: ...
    def __rrshift__(self, other: Any, /) -> Lazy: ...
    def __pow__(self, other: Any, modulo: Any = None, /) -> Lazy: ...
    def __rpow__(self, other: Any, /) -> Lazy: ...
    def __divmod__(self, other: Any, /) -> tuple[Lazy, Lazy]: ...
    def __rdivmod__(self, other: Any, /) -> tuple[Lazy, Lazy]: ...
    def __neg__(self) -> Lazy: ...
    def __pos__(self) -> Lazy: ...
    def __abs__(self) -> Lazy: ...
    def __invert__(self) -> Lazy: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: Any, **options: Any
    ) -> Any: ...
    def __iadd__(self, other: Any, /) -> Array: ...
    def __isub__(self, other: Any, /) -> Array: ...
    def __imul__(self, other: Any, /) -> Array: ...
    def __ipow__(self, other: Any, modulo: Any = None, /) -> Array: ...
    def __itruediv__(self, other: Any, /) -> Array: ...
    def __ifloordiv__(self, other: Any, /) -> Array: ...
    def __imod__(self, other: Any, /) -> Array: ...
    def __iand__(self, other: Any, /) -> Array: ...
    def __ior__(self, other: Any, /) -> Array: ...
    def __ixor__(self, other: Any, /) -> Array: ...
    def __ilshift__(self, other: Any, /) -> Array: ...
    def __irshift__(self, other: Any, /) -> Array: ...

@final
class Lazy:
    """An expression of arrays, evaluated where a call reads it. Made by `cubc.lazy`."""

    def __new__(
        cls, expression: str, operands: dict[str, Any], dtype: Any, size: int | None, /
    ) -> Lazy: ...
    @property
    def expression(self) -> str: ...
    @property
    def operands(self) -> MappingProxyType[str, Any]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    def array(self, **options: Any) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
    # ---- of cubc/_methods.py: the functions of cubc of these names, and texts
    all: Any
    any: Any
    argmax: Any
    argmin: Any
    argsort: Any
    cumprod: Any
    cumsum: Any
    max: Any
    mean: Any
    min: Any
    nonzero: Any
    prod: Any
    repeat: Any
    searchsorted: Any
    std: Any
    sum: Any
    take: Any
    topk: Any
    var: Any
    @property
    def device(self) -> str: ...
    @property
    def T(self) -> Array: ...
    @property
    def mT(self) -> Array: ...
    def numpy(self) -> Any: ...
    def item(self) -> Any: ...
    def tolist(self) -> Any: ...
    def __format__(self, spec: str, /) -> str: ...
    def _repr_html_(self) -> str: ...
    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __float__(self) -> float: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...
    def __complex__(self) -> complex: ...
    def __getitem__(self, index: Any) -> NoReturn: ...
    def __iter__(self) -> Iterator[Any]: ...
    def to_device(self, device: str, /, *, stream: Any = None) -> Array: ...
    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    # ---- of cubc/_arithmetic.py: each makes a lazy input
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __eq__(self, other: Any, /) -> Lazy: ...  # type: ignore[override]
    def __ne__(self, other: Any, /) -> Lazy: ...  # type: ignore[override]
    def __lt__(self, other: Any, /) -> Lazy: ...
    def __le__(self, other: Any, /) -> Lazy: ...
    def __gt__(self, other: Any, /) -> Lazy: ...
    def __ge__(self, other: Any, /) -> Lazy: ...
    def __add__(self, other: Any, /) -> Lazy: ...
    def __radd__(self, other: Any, /) -> Lazy: ...
    def __sub__(self, other: Any, /) -> Lazy: ...
    def __rsub__(self, other: Any, /) -> Lazy: ...
    def __mul__(self, other: Any, /) -> Lazy: ...
    def __rmul__(self, other: Any, /) -> Lazy: ...
    def __truediv__(self, other: Any, /) -> Lazy: ...
    def __rtruediv__(self, other: Any, /) -> Lazy: ...
    def __floordiv__(self, other: Any, /) -> Lazy: ...
    def __rfloordiv__(self, other: Any, /) -> Lazy: ...
    def __mod__(self, other: Any, /) -> Lazy: ...
    def __rmod__(self, other: Any, /) -> Lazy: ...
    def __and__(self, other: Any, /) -> Lazy: ...
    def __rand__(self, other: Any, /) -> Lazy: ...
    def __or__(self, other: Any, /) -> Lazy: ...
    def __ror__(self, other: Any, /) -> Lazy: ...
    def __xor__(self, other: Any, /) -> Lazy: ...
    def __rxor__(self, other: Any, /) -> Lazy: ...
    def __lshift__(self, other: Any, /) -> Lazy: ...
    def __rlshift__(self, other: Any, /) -> Lazy: ...
    def __rshift__(self, other: Any, /) -> Lazy: ...
    def __rrshift__(self, other: Any, /) -> Lazy: ...
    def __pow__(self, other: Any, modulo: Any = None, /) -> Lazy: ...
    def __rpow__(self, other: Any, /) -> Lazy: ...
    def __divmod__(self, other: Any, /) -> tuple[Lazy, Lazy]: ...
    def __rdivmod__(self, other: Any, /) -> tuple[Lazy, Lazy]: ...
    def __neg__(self) -> Lazy: ...
    def __pos__(self) -> Lazy: ...
    def __abs__(self) -> Lazy: ...
    def __invert__(self) -> Lazy: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: Any, **options: Any
    ) -> Any: ...

# ---- written by tools/stub.py
def asarray(
    x: Any, dtype: Any = None, *, device: str | None = None, stream: Any = None
) -> Array: ...
def call(
    algorithm: str,
    parameters: dict[str, Any],
    /,
    *,
    stream: Any = None,
    workspace: Any = None,
    device: str | None = None,
) -> tuple[Any, ...]: ...
def device_info(device: str | None = None) -> dict[str, Any]: ...
def devices() -> list[str]: ...
def empty(
    shape: Any, dtype: Any = None, *, device: str | None = None, stream: Any = None
) -> Array: ...
def operator_types(
    op: str | Callable[..., Any] | Sequence[Any],
    items: Any,
    /,
    *,
    dtype: Any = None,
    out: Any = None,
    widen: bool = False,
) -> tuple[str, str]: ...
def reduce(
    x: Any,
    /,
    op: str | Callable[..., Any] | Sequence[Any] = "sum",
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    init: Any = None,
    out: Any = None,
    dtype: Any = None,
    commutative: bool = False,
    deterministic: bool = False,
    stream: Any = None,
    workspace: Any = None,
    device: str | None = None,
) -> Any: ...
def scan(
    x: Any,
    /,
    op: str | Callable[..., Any] | Sequence[Any] = "sum",
    *,
    inclusive: bool = True,
    init: Any = None,
    out: Any = None,
    dtype: Any = None,
    deterministic: bool = False,
    stream: Any = None,
    workspace: Any = None,
    device: str | None = None,
) -> Any: ...
def synchronize(device: str | None = None, stream: Any = None) -> None: ...
def topk_in_order(device: str | None, /) -> int: ...
def transform(
    expression: str | Lazy | Callable[..., Any] | Sequence[str],
    /,
    *,
    out: Any = None,
    dtype: Any = None,
    casting: str = "same_kind",
    size: int | None = None,
    stream: Any = None,
    device: str | None = None,
    **operands: Any,
) -> Any: ...

# ---- for cubc.lattice ------------------------------------------------------------------------------

def ranks_open(
    device: Any,
    rank: int,
    size: int,
    allgather: Any,
    messages: Any,
    grid: tuple[int, int, int, int],
    cut: int,
    seconds: float,
    transport: int,
) -> tuple[Any, tuple[int, int, int, int]]:
    """Open the ranks of a grid, with the place of this one. `_Messages` has those of a grid."""

def ranks_work(work: Callable[[], Any], flag: bytearray, /) -> Any:
    """Return what `work` does, which is interrupted once the first byte of `flag` is not 0."""

def ranks_stop(ranks: Any, /) -> None:
    """End the waits of a rank."""

def ranks_renew(ranks: Any, /) -> None:
    """Have a rank begin anew, when all have ended."""

def ranks_check(ranks: Any, /) -> None:
    """Raise TimeoutError if a rank has waited in vain."""

def lattice_solve(
    operator: str,
    parameters: dict[str, Any],
    b: Any,
    x0: Any,
    out: Any,
    extents: tuple[int, int, int, int],
    stream: Any,
    solver: str,
    tol: float,
    maxiter: int,
    precise: Any,
    sloppy: Any,
    sites: int,
    normal: bool,
    delta: float,
    order: int,
    shifts: Any,
    ranks: Any,
    schwarz: int,
    schwarz_type: Any,
) -> tuple[Any, list[tuple[bool, str, int, int, float, float, float, float, int]]]:
    """Solve M x = b: x, and a report of each right-hand side.

    A report has the values of a `lattice.SolveInfo`, in order, up to `sums`.
    """

def field_infos(path: str | bytes | os.PathLike[Any], flags: int, /) -> list[dict[str, Any]]:
    """Describe each field in a file. `flags` are of cubc_field_flags."""

def is_field_file(path: str | bytes | os.PathLike[Any], /) -> bool:
    """True for a file that begins as one of fields does; it may be damaged."""

def read_field(
    path: str | bytes | os.PathLike[Any],
    kind: str,
    index: int,
    flags: int,
    ranks: Any = None,
    /,
) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
    """Read a field of a file and its description. `kind` is that of `field_infos`.

    With `ranks`, of `ranks_open`, all ranks call it, and each reads its part.
    """

def write_field(
    path: str | bytes | os.PathLike[Any],
    array: np.ndarray[Any, Any],
    kind: str,
    format: str | None,
    precision: int = 0,
    rows: int = 0,
    ranks: Any = None,
    measured: tuple[float, float] = ...,
    /,
) -> None:
    """Write a field to a file. The arguments are the members of cubc_field_write_params.

    With `ranks`, of `ranks_open`, all ranks call it, and each writes its part.
    """

def measure_links(array: np.ndarray[Any, Any], margin: int, ranks: Any, /) -> tuple[float, float]:
    """The plaquette and the link trace of a lattice over ranks, by cubc_field_measure."""

# ---- for cubc.tuner --------------------------------------------------------------------------------

def benchmarks() -> dict[str, dict[str, list[Any]]]:
    """Declared benchmarks: {"reduce.sum": {"T{ct}": ["I8", ...], "Elements{io}[pow2]": [16, ...]}}.

    Axes are in declared order. Values of ``{ct}`` axes are strings, those of others integers.
    """

def key_axes(benchmark: str, /) -> tuple[str, ...]:
    """Axes that say what a benchmark's keys are like, if it has keys: none is declared.

    A run-time workload may have values of them, with which its keys are made so: ``Distinct`` ones,
    which differ in ``KeyBits`` bits, in runs of a mean length ``Run``, ``Sorted`` percent of them
    in order. Policies do not go by them.
    """

def parameters(
    benchmark: str, device: str | None = None, /
) -> list[tuple[str, str, Sequence[int] | Sequence[str]]]:
    """Parameter space on a device or arch: (macro, label, values) for each parameter."""

def current_label(benchmark: str, arch: str, label: str, /) -> str:
    """Label of a variant without parameters of earlier versions; any other text as it is."""

def archs() -> list[str]:
    """Architectures that have shipped policies, as ``["cpu", "sm_75", ...]``."""

def base_range(
    benchmark: str, ct: dict[str, str], arch: str, rt: dict[str, int] | None = None, /
) -> str:
    """Calls that the shipped policy is for, as ``Elements=0:65536``; "" for one for all calls."""

def base(benchmark: str, ct: dict[str, str], arch: str, rt: dict[str, int] | None = None, /) -> str:
    """The label of the shipped policy (``base``) at a run-time workload: ``ipt_16.tpb_256...``.

    The workload is as ``{"Elements": 1000}`` or ``{"Elements{io}[pow2]": 10}``. None: of calls that
    no range holds.
    """

def shipped(benchmark: str, ct: dict[str, str], arch: str, rt: dict[str, int], /) -> list[str]:
    """Labels of the shipped policies for calls of any size, those of the nearest sizes first."""

def policy(
    benchmark: str, ct: dict[str, str], arch: str, rt: dict[str, int] | None = None, /
) -> str:
    """The label that the next call at a run-time workload runs: an overlaid policy, else the base."""

def use_policy(
    benchmark: str,
    ct: dict[str, str],
    arch: str,
    variant: str,
    rt: dict[str, int] | None = None,
    /,
) -> None:
    """Overlay one policy for calls near a run-time workload, or for all; its label is checked."""

def clear_policies() -> None:
    """Drop all overlaid policies."""

def set_tuner(tuner: Callable[[str, str, str, dict[str, int]], bool] | None, /) -> None:
    """Callable of (device, benchmark, type, values of run-time axes) that may tune a workload.

    It is called in the thread of the call, which waits: until it returns True for calls of about
    this place on the axes, and again when policies have changed. What it raises is reported and
    does not end the call, but KeyboardInterrupt.
    """

def record_calls(path: str | os.PathLike, seconds: float, keys: bool, number: int, /) -> None:
    """Record all calls from now on in a store, written every so many seconds; keys: sketched.

    The number is of this recording alone. ValueError if calls are recorded already.
    """

def end_recording(number: int, /) -> int:
    """Write what was recorded, if this recording is on; how many calls had no room."""

def forget_recording() -> None:
    """End the recording in a forked child, unwritten."""

@final
class Bound:
    """Calls that are bound to their arrays: see cubc.bind."""

    @property
    def count(self) -> int: ...
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...

def bind_begin() -> None: ...
def bind_end(result: Any, kept: Any, /) -> Bound: ...
def bind_drop() -> None:
    """Bind no more, and drop what was bound."""

def bind_keep(owner: Any, /) -> None:
    """Keep what owns memory of a call that passes addresses, if the thread binds."""

def is_binding() -> bool:
    """Tell if the thread binds."""

def cache_folder() -> str | None:
    """Folder of compiled variants; None if there is none."""

def variant_invalid(
    benchmark: str, ct: dict[str, str], arch: str, variant: str, rt: dict[str, int] | None = None, /
) -> str | None:
    """Reason why a variant is invalid for a workload, without compiling it; None if it is valid."""

def source_hash(benchmark: str, ct: dict[str, str], arch: str, /) -> str:
    """SHA-256 of the kernel source with its compile-time workload, a part of a store's key."""

def compile(
    benchmark: str,
    ct: dict[str, str],
    arch: str,
    variant: str,
    deadline: float = 0.0,
    abandon: bytes | bytearray = b"",
    rt: dict[str, int] | None = None,
    bundle: bytes | bytearray = b"",
    /,
) -> float:
    """Compile a variant ("base" or a label) into the cache, and return the seconds that it took.

    They are 0.0 if it was there. No device of that arch is needed. Raises CompileError,
    TimeoutError past the deadline in seconds (0: none), KeyboardInterrupt when the first byte of
    ``abandon`` is set, and ValueError for a label that does not parse. A kernel in ``bundle`` enters
    the cache as if compiled; a bytearray gets others.
    """

def compiler(arch: str, /) -> str:
    """Compiler of this host for an architecture, as ``device_info`` has it; needs no device."""

def traffic(benchmark: str, ct: dict[str, str], rt: dict[str, int] | None = None, /) -> int:
    """Bytes that any implementation of a workload has to read and write, without making it."""

def compiling() -> int:
    """Number of variants that this process compiles at the moment."""

def use_bundle(path: str | bytes, /) -> int:
    """Run the compiled kernels of a file where they are what is asked for; their number."""

def has_shipped_kernels() -> bool:
    """True if compiled kernels of the cpu came with cubc, for machines without a C++ compiler."""

def compilers_started() -> int:
    """Number of host compilers that this process has started."""

def code(
    benchmark: str,
    ct: dict[str, str],
    arch: str,
    variant: str,
    deadline: float = 0.0,
    abandon: bytes | bytearray = b"",
    rt: dict[str, int] | None = None,
    /,
) -> bytes:
    """Compile as ``compile`` does and return the machine code: a cubin, or a shared object."""

@final
class Workload:
    """One benchmark at one compile-time and run-time workload, with its inputs on a device."""

    def __new__(
        cls,
        benchmark: str,
        ct: dict[str, str],
        rt: dict[str, int],
        device: str | None = None,
        seed: int = 42,
    ) -> Workload: ...
    @property
    def bytes(self) -> int:
        """Bytes that any implementation has to read and write (compulsory traffic)."""
    @property
    def flops(self) -> float:
        """Floating-point operations that the result takes; 0.0 if they are not counted."""
    @property
    def pointers(self) -> tuple[list[int], list[int]]:
        """Addresses of the inputs, then of the operands of lazy ones; and of the outputs."""
    def variant(self, label: str, /) -> Variant:
        """Compile a variant or "base", or take it from the cache; load and bind it."""
    def verify(self, variant: Variant, /) -> int:
        """Run once on a poisoned output and count the items that differ from the base's output."""
    def poison(self) -> None:
        """Fill the outputs with bytes that base does not write."""
    def wrong(self) -> int:
        """Count the items in the outputs now that differ from the base's outputs."""
    def measure(
        self,
        variant: Variant,
        reference: Variant | tuple[int, int] | None = None,
        *,
        min_samples: int = 0,
        max_samples: int = 0,
        max_noise: float = 0.0,
        timeout: float = 0.0,
        stopping: str = "median",
        min_time: float = 0.0,
        max_angle: float = 0.0,
        min_r2: float = 0.0,
        samples: int = 0,
        beat: float = 0.0,
        throttle_below: float = -1.0,
        warmup: int = -1,
    ) -> dict[str, Any]:
        """Sample ``variant`` and, alternately, ``reference``.

        The reference may be another library's work: the addresses of a C function ``int (*)(void
        *context, void *stream)``, which queues it and returns 0, and of its context.

        Sampling stops, between ``min_samples`` and ``max_samples``, by the rule ``stopping``:
        "median" (its relative standard error is below ``max_noise``), or NVBench's "stdrel"
        (``max_noise``, ``min_time`` in seconds), "entropy" (``max_angle`` in degrees, ``min_r2``)
        or "count" (``samples``). It also stops after ``timeout`` seconds, and when the ratio
        reference / variant is below ``beat`` with a confidence of 99.9 %. Samples at a clock below
        the share ``throttle_below`` of the device's are discarded and repeated. Each work runs
        ``warmup`` times before. Options left out have the device's defaults.

        Returns samples and base_samples (bytes of float32 seconds in measured order); clocks and
        base_clocks (float32 hertz of each sample; empty if unknown); discarded (number of samples);
        timed_out; given_up; and temperature (degrees Celsius) and power (watts) of the device at
        the end, 0 if unknown.
        """
    def measure_hot(self, variant: Variant, seconds: float = 0.1, /) -> tuple[float, int, float]:
        """Mean seconds and number of runs without pause or flush, in batches of ``seconds``.

        The third is the power (watts) while they ran, 0 if unknown.
        """

@final
class Variant:
    """A loaded variant bound to a workload."""

    @property
    def label(self) -> str: ...
    @property
    def info(self) -> dict[str, int]:
        """registers, local_bytes (spills), shared_bytes, blocks_per_sm, max_threads, threads."""
    def run(self) -> None:
        """Queue the work once."""

def source_parameters(
    source: str, arch: str, /
) -> list[tuple[str, str, Sequence[int] | Sequence[str]]]:
    """Parameter space that a source declares, as of `parameters`."""

def source_prelude(arch: str, threads: int, /) -> str:
    """Text in front of a CUDA source: the definition of KERNEL_ENTRY; on "cpu" also CUDA's names.

    With `threads`, the number of threads of a block, also the dialect that collectives use.
    """

def source_folder() -> str:
    """Folder of the kernels of cubc and of the collectives."""

def source_compile(
    source: str,
    arch: str,
    title: str,
    deadline: float = 0.0,
    abandon: bytes | bytearray = b"",
    bundle: bytes | bytearray = b"",
    /,
) -> float:
    """Compile a complete source into the cache, as `compile` does; `title` is for messages."""

@final
class Program:
    """Complete source, compiled and loaded, and the launches that are its work."""

    def __new__(
        cls, source: str, title: str, device: str | None = None, threads: int = 0
    ) -> Program:
        """Compile and load a source; with collectives for blocks of `threads`."""
    @property
    def info(self) -> dict[str, int]:
        """Figures as of `Variant.info` of the first kernel launched; empty before."""
    def add(
        self,
        kernel: str,
        arguments: tuple[Any, ...],
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        /,
    ) -> None:
        """Add a launch. Arguments are arrays of the device, numbers, and the bytes of structs."""
    def launch(
        self,
        kernel: str,
        arguments: tuple[Any, ...],
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared: int,
        stream: Any = None,
        /,
    ) -> None:
        """Launch a kernel at once, on a stream, or on that of the first array that has one."""
    def kernel_info(self, kernel: str, threads: int, /) -> dict[str, int]:
        """Figures as of `info`, of a kernel with blocks of so many threads."""
    def run(self) -> None:
        """Run the work once and wait for it."""

def measure(
    program: Program,
    reference: Program | None = None,
    *,
    min_samples: int = 0,
    max_samples: int = 0,
    max_noise: float = 0.0,
    timeout: float = 0.0,
    stopping: str = "median",
    min_time: float = 0.0,
    max_angle: float = 0.0,
    min_r2: float = 0.0,
    samples: int = 0,
    beat: float = 0.0,
    throttle_below: float = -1.0,
    warmup: int = -1,
) -> dict[str, Any]:
    """Sample a program and, alternately, a reference, as `Workload.measure` does."""

def measure_hot(program: Program, seconds: float = 0.1, /) -> tuple[float, int, float]:
    """Mean seconds, number and power of runs, as of `Workload.measure_hot`."""

def read_file(path: str | os.PathLike[str], most: int, /) -> bytes:
    """First bytes of a file that may be a store, all for -1; SQLite's locks of it are kept."""

@final
class Store:
    """File of measurements (csrc/store/store.h); reading copies it to memory, and writes nothing."""

    def __new__(cls, path: str, create: bool = False) -> Store: ...
    def set_device(self, info: dict[str, Any], /) -> None:
        """Set the device, as of device_info(), that later rows were measured on."""
    def add(self, row: dict[str, Any], /) -> dict[str, Any]:
        """Add one row, durable on return, and give it as it is stored, as `rows` does.

        If a row of its key was there, that is kept and returned.

        Keys are those of `STORE_COLUMNS`; csrc/store/store_columns.h has their meaning. Missing
        ones are empty or 0. Texts are bounded; a long message is cut.
        """
    def add_all(
        self, rows: Sequence[dict[str, Any]], devices: Sequence[dict[str, Any]] = ..., /
    ) -> list[dict[str, Any]]:
        """Add rows in one transaction, all of them or none; the result has for each what `add` has.

        With `devices`, an info for each row, the last of them is set from then on, as by
        `set_device`; after an error none is.
        """
    def merge(self, other: Store, replace: bool = False, /) -> tuple[int, int]:
        """Add all rows of a store that is open for reading, or replace all by them, as a whole.

        The result is how many were added, and how many `other` has. A damaged row is a StoreError.
        """
    def has_log(self) -> bool:
        """True if the file is in WAL mode, as it is but on file systems that cannot do it."""
    def find(self, key: dict[str, Any], /) -> dict[str, Any] | None:
        """Row of a key for the device that is set, as `rows` gives it."""
    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows, oldest first, with the keys of `add` and id, center, base_center, device_uuid,
        device_model, device_name, arch, sm_count, ecc, driver, runtime, compiler, version, created.
        A damaged row raises StoreError; the next call continues behind it.
        """
    def close(self) -> None: ...
