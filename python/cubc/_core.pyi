"""Types of the C extension. The public faces are ``cubc`` and ``cubc.tuner``."""

import os
from collections.abc import Callable, Iterator
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

def devices() -> list[str]: ...
def device_info(device: str | None = None, /) -> dict[str, Any]: ...
def _set_default_device(name: str | None, /) -> str | None: ...
def synchronize(device: str | None = None, stream: Any = None) -> None: ...
def set_cuda_paths(cudart: str | None, nvrtc: str | None, /) -> None: ...

@final
class Array:
    """A contiguous array in a device's memory."""

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
    def __complex__(self) -> complex: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]: ...
    def __dlpack__(self, *, stream: Any = None, **ignored: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __len__(self) -> int: ...
    def __float__(self) -> float: ...
    def __int__(self) -> int: ...
    def __bool__(self) -> bool: ...
    def __index__(self) -> int: ...
    # NumPy's arrays have these; here they raise TypeError and say what to do.
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __eq__(self, other: object, /) -> NoReturn: ...
    def __ne__(self, other: object, /) -> NoReturn: ...
    def __lt__(self, other: object, /) -> NoReturn: ...
    def __le__(self, other: object, /) -> NoReturn: ...
    def __gt__(self, other: object, /) -> NoReturn: ...
    def __ge__(self, other: object, /) -> NoReturn: ...
    def __getitem__(self, index: object, /) -> NoReturn: ...
    def __iter__(self) -> NoReturn: ...

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

def asarray(
    x: Any, dtype: Any = None, *, device: str | None = None, stream: Any = None
) -> Array: ...
def empty(
    shape: Any, dtype: Any = None, *, device: str | None = None, stream: Any = None
) -> Array: ...
def reduce(
    x: Any,
    /,
    op: str = "sum",
    *,
    axis: int | None = None,
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
    op: str = "sum",
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
def operator_types(
    op: str, items: Any, /, *, dtype: Any = None, out: Any = None, widen: bool = False
) -> tuple[str, str]: ...
def call(
    algorithm: str,
    parameters: dict[str, Any],
    /,
    *,
    stream: Any = None,
    workspace: Any = None,
    device: str | None = None,
) -> tuple[Any, ...]: ...
def transform(
    expression: str | Lazy,
    /,
    *,
    out: Any = None,
    dtype: Any = None,
    size: int | None = None,
    stream: Any = None,
    device: str | None = None,
    **operands: Any,
) -> Any: ...

# ---- for cubc.lattice ------------------------------------------------------------------------------

def lattice_solve(
    links: Any,
    b: Any,
    x0: Any,
    out: Any,
    extents: tuple[int, int, int, int],
    device: Any,
    stream: Any,
    reconstruct: int,
    antiperiodic: bool,
    temporal_gauge: bool,
    anisotropy: float,
    kappa: float,
    kind: int,
    mu: float,
    clover: Any,
    solver: str,
    tol: float,
    maxiter: int,
    precise: Any,
    sloppy: Any,
    even_odd: bool,
    delta: float,
    order: int,
    shifts: Any,
) -> tuple[Any, list[tuple[bool, str, int, int, float, float, float]]]:
    """Solve M x = b: x, and of each right-hand side: converged, reason, iterations, updates, residual, seconds, GFLOPS."""

def field_infos(path: str | bytes | os.PathLike[Any], flags: int, /) -> list[dict[str, Any]]:
    """Description of each field in a file. flags: of cubc_field_flags."""

def read_field(
    path: str | bytes | os.PathLike[Any], kind: str, index: int, flags: int, /
) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
    """A field of a file, and what the file says of it. kind: as field_infos has it."""

def write_field(
    path: str | bytes | os.PathLike[Any],
    array: np.ndarray[Any, Any],
    kind: str,
    format: str | None,
    precision: int = 0,
    rows: int = 0,
    /,
) -> None:
    """Write a field to a file; the arguments are those of cubc_field_write_params."""

# ---- for cubc.tuner --------------------------------------------------------------------------------

def benchmarks() -> dict[str, dict[str, list[Any]]]:
    """Declared benchmarks: {"reduce.sum": {"T{ct}": ["I8", ...], "Elements{io}[pow2]": [16, ...]}}.

    Axes are in declared order; values of ``{ct}`` axes are strings, of the others integers.
    """

def parameters(
    benchmark: str, device: str | None = None, /
) -> list[tuple[str, str, int, int, int]]:
    """The parameter space on a device or arch: (macro, label, start, end, step) a parameter."""

def archs() -> list[str]:
    """Architectures that have shipped policies, as ``["cpu", "sm_75", ...]``."""

def policy_size(benchmark: str, ct: dict[str, str], items: int, /) -> str:
    """What the rows of policies for so many items are called; "" for those for any number."""

def base(benchmark: str, ct: dict[str, str], arch: str, items: int = 0, /) -> str:
    """The label of the shipped policy (``base``), as ``ipt_16.tpb_256...``; of so many items."""

def policy(benchmark: str, ct: dict[str, str], arch: str, items: int = 0, /) -> str:
    """The label that the next call runs: an overlaid policy, else the base.

    Of so many items where calls of the benchmark go by their number.
    """

def use_policy(
    benchmark: str, ct: dict[str, str], arch: str, variant: str, items: int = 0, /
) -> None:
    """Overlay one policy: for as many items as go by the same row as `items`; 0: for any number.

    The label is parsed and checked against the declared ranges.
    """

def clear_policies() -> None:
    """Drop all overlaid policies."""

def set_tuner(tuner: Callable[[str, str, str, int, str], bool] | None, /) -> None:
    """Callable of (device, benchmark, type, items, size) that may tune a workload.

    The size is what `policy_size` calls it. It is called in the thread of the call, which waits: until it returns True, and again when
    policies have changed. What it raises is reported and does not end the call, but
    KeyboardInterrupt.
    """

def cache_folder() -> str | None:
    """Folder of compiled variants; None if there is none."""

def variant_invalid(benchmark: str, ct: dict[str, str], arch: str, variant: str, /) -> str | None:
    """Why a variant makes no sense for this workload (said without compiling it); None if it does."""

def source_hash(benchmark: str, ct: dict[str, str], arch: str, /) -> str:
    """SHA-256 of the kernel source with its compile-time workload: part of a store's key."""

def compile(
    benchmark: str,
    ct: dict[str, str],
    arch: str,
    variant: str,
    deadline: float = 0.0,
    abandon: bytes | bytearray = b"",
    /,
) -> float:
    """Compile a variant ("base" or a label) into the cache; seconds taken (0.0 if it was there).

    Needs no device of that arch, drops the GIL, may be called from many threads. Raises
    CompileError, TimeoutError (past the deadline in seconds; 0: none), ValueError for a label that
    does not parse. Ends with KeyboardInterrupt when the first byte of ``abandon`` becomes other than
    0, from whichever thread it was called.
    """

def compilers_started() -> int:
    """Host compilers that this process has started until now."""

def code(
    benchmark: str,
    ct: dict[str, str],
    arch: str,
    variant: str,
    deadline: float = 0.0,
    abandon: bytes | bytearray = b"",
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
    def pointers(self) -> tuple[int, int]:
        """Addresses of the input (0 where operands are several) and of the output."""
    def variant(self, label: str, /) -> Variant:
        """Compile (or take from the cache), load and bind a variant, "base" included."""
    def verify(self, variant: Variant, /) -> int:
        """Run once on a poisoned output and count the items that differ from the base's output."""
    def poison(self) -> None:
        """Fill the outputs with bytes that base does not leave there."""
    def wrong(self) -> int:
        """Count the items of the outputs, as they are, that differ from the base's outputs."""
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
        """Samples of ``variant`` and, taken alternately with them, of ``reference``.

        The reference may be another library's work: the addresses of a C function
        ``int (*)(void *context, void *stream)``, which queues it and returns 0, and of its context.

        Sampling stops, between ``min_samples`` and ``max_samples``, when ``stopping`` has enough:
        "median" (its relative standard error is below ``max_noise``), or as NVBench does "stdrel"
        (``max_noise``, ``min_time`` in seconds), "entropy" (``max_angle`` in degrees, ``min_r2``)
        or "count" (``samples``); or after ``timeout`` seconds; or when 99.9 % confidence says that
        reference / variant does not reach ``beat``. Samples at a clock below ``throttle_below`` of
        the device's are taken again. Each is run ``warmup`` times before. What is left out takes the
        device's defaults.

        Returns samples and base_samples (bytes of float32 seconds in measured order), clocks and
        base_clocks (float32 hertz during each; empty where the device has no such clock), discarded
        (samples taken again), timed_out, given_up, temperature (degrees Celsius) and power (watts)
        of the device at the end, 0 where they are unknown.
        """
    def measure_hot(self, variant: Variant, seconds: float = 0.1, /) -> tuple[float, int]:
        """Mean seconds of runs without pause or flush, and how many: batches of ``seconds``."""

@final
class Variant:
    """A loaded variant bound to a workload."""

    @property
    def label(self) -> str: ...
    @property
    def info(self) -> dict[str, int]:
        """registers, local_bytes (spills), shared_bytes, blocks_per_unit, max_threads, threads."""
    def run(self) -> None:
        """Queue the work once."""

def source_parameters(source: str, arch: str, /) -> list[tuple[str, str, int, int, int]]:
    """The parameter space that a source declares, as of `parameters`."""

def source_prelude(arch: str, threads: int, /) -> str:
    """What goes in front of a plain CUDA source: the meaning of KERNEL_ENTRY; on "cpu", of CUDA.

    With `threads`, those of a block, also the dialect, which the collectives are written in.
    """

def source_folder() -> str:
    """Where the kernels of cubc and the collectives are."""

def source_compile(
    source: str,
    arch: str,
    title: str,
    deadline: float = 0.0,
    abandon: bytes | bytearray = b"",
    /,
) -> float:
    """Compile a complete source into the cache, as `compile` does; `title` is for messages."""

@final
class Program:
    """A complete source, compiled and loaded, and the launches that make up its work."""

    def __new__(
        cls, source: str, title: str, device: str | None = None, threads: int = 0
    ) -> Program:
        """Blocks of a source that uses collectives have the threads that it is compiled for."""
    @property
    def info(self) -> dict[str, int]:
        """As of `Variant`, of the kernel that is launched first; empty before."""
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
        """Launch at once, on the given stream or on that of the first array that has one."""
    def kernel_info(self, kernel: str, threads: int, /) -> dict[str, int]:
        """As `info`, of a kernel with blocks of so many threads."""
    def run(self) -> None:
        """Do the work once and wait for it."""

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
    """Samples of a program and, alternately, of a reference, as of `Workload.measure`."""

def measure_hot(program: Program, seconds: float = 0.1, /) -> tuple[float, int]:
    """As `Workload.measure_hot`."""

@final
class Store:
    """A file of measurements (see csrc/store/store.h).

    Opened for reading it is as it was then, in memory; nothing is written, neither to the file nor
    beside it.
    """

    def __new__(cls, path: str, create: bool = False) -> Store: ...
    def set_device(self, info: dict[str, Any], /) -> None:
        """The device (as of device_info()) that rows added from here on were measured on."""
    def add(self, row: dict[str, Any], /) -> bool:
        """Add one row, durable on return; False if its key was there already (left as it was).

        Keys are those of `STORE_COLUMNS`; csrc/store/store_columns.h has their meaning. Missing
        ones are empty or 0. Texts are bounded; a long message is cut.
        """
    def has(self, row: dict[str, Any], /) -> bool: ...
    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows, oldest first: the keys of `add` and id, center, base_center, device_uuid,
        device_model, device_name, arch, units, ecc, driver, runtime, compiler, version, created.
        A row that is damaged raises StoreError; the next call goes on behind it.
        """
    def close(self) -> None: ...
