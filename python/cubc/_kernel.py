"""Kernels of users: CUDA C that is compiled and launched, on a GPU or on the cpu."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from . import _core
from ._arrays import is_cpu
from ._calls import named
from ._source import Source

Extent = int | tuple[int, ...]


class Kernel:
    """Kernel of a CUDA C source.

    NVRTC compiles it for a GPU, the host's compiler for the cpu. On the cpu the threads of a block
    are fibres, which are meant for tests and debugging; blocks of one thread have none.

    >>> import numpy as np, cubc
    >>> scale = cubc.Kernel(
    ...     '''
    ...     __global__ void scale(float* x, float by, int n)
    ...     {
    ...         int i = blockIdx.x * blockDim.x + threadIdx.x;
    ...         if (i < n) x[i] *= by;
    ...     }''',
    ...     device="cpu",
    ... )
    >>> x = np.arange(5, dtype=np.float32)
    >>> scale(x, 2, x.size, grid=1, block=32)
    >>> print(x)
    [0. 2. 4. 6. 8.]
    >>> scale.registers, scale.local_bytes, scale.shared_bytes, scale.max_threads > 0
    (0, 0, 0, True)

    Parameters
    ----------
    source
        Path of a CUDA C file, or the source itself, with its ``__global__``. Kernels are its
        ``__global__`` functions in the global namespace that are neither templates nor static.
        Files included by quotes are read, from the folder of the file first. In angle brackets only
        CUDA's headers are known.
    name
        Name of the kernel; needed if the source has several.
    block
        Default number of threads of a block, in up to three dimensions.
    defines
        Macros by name, as ``{"T": "float", "ITEMS": 4}``.
    device
        Name of the device that the kernel is compiled for and runs on; by default the default
        device.

    Attributes
    ----------
    name : str
        Name of the kernel.
    device : str
        Name of the device.
    registers, local_bytes : int
        Registers of a thread, and bytes that it keeps in memory because of spills or indexed
        arrays; 0 on the cpu.
    shared_bytes : int
        Bytes of shared memory that a block declares; 0 on the cpu.
    max_threads : int
        Threads that a block may have, given its registers.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or none that it includes.
    LookupError
        If the source has no kernel of this name.
    ValueError
        If it has no kernel, or several and no name is given; for a macro with an invalid name.
    CompileError
        If it does not compile; `log` has the compiler's output.

    Notes
    -----
    **Collectives.** A source may include these headers of cubc by quotes and call their functions.
    A comment above each function says which threads call it, which of them have the result, and
    when its storage may be used again.

    ====================== ====================================================================
    ``thread.h``           reduce and scan of a thread's items; ``plus``, ``minimum``, ``maximum``
    ``warp.h``             shuffle, reduce, scan, match
    ``block.h``            reduce, inclusive and exclusive scan
    ``block_exchange.h``   blocked, striped and warp-striped orders; scatter
    ``block_load.h``       load and store: blocked, striped, transposed
    ``block_radix.h``      ranks by a digit
    ``block_sort.h``       radix sort of keys and pairs, up and down
    ``block_merge.h``      merge sort in any order
    ``block_histogram.h``  counts in bins
    ``block_adjacent.h``   differences, heads and tails of runs, shift and rotate
    ``block_run_length.h`` decoding of runs
    ``types.h``            ``f16``, ``bf16``, limits
    ``philox.h``           random numbers by counting, uniform and normal
    ``su2.h``              SU(2) as quaternions; random elements, as of a heat bath
    ====================== ====================================================================

    They use the macro ``SIMT_THREADS``, the number of threads of a block, at compile time. A source
    with them is therefore compiled for each size of block that it is launched with. Such a block
    has one dimension, and a multiple of 32 threads, or 1 thread on the cpu.
    ``__launch_bounds__(SIMT_THREADS)`` limits a kernel's registers to those that a block of that
    size can have. The source cannot define the headers' names, nor those of the dialect that they
    are written in (``kernels/dialect/simt.h``).

    **Tuning.** `cubc.tuner.benchmark` takes the same source with ``%RANGE%`` comments for its
    macros. The values that a search finds are given as `defines`; ``kernel()`` of its result does
    that.
    """

    @named
    def __init__(
        self,
        source: str | os.PathLike,
        name: str | None = None,
        *,
        block: Extent | None = None,
        defines: Mapping[str, Any] | None = None,
        device: str | None = None,
    ):
        self._macros = _checked(defines)
        self._open(Source(source, name or "source"), name, block, device)

    def _open(
        self, source: Source, name: str | None, block: Extent | None, device: str | None
    ) -> None:
        self._source = source
        self.name = _chosen(self._source, name)
        self.device = str(_core.device_info(device)["name"])
        self._arch = str(_core.device_info(device)["arch"])
        self._block = None if block is None else extent("block", block)
        self._programs: dict[int, _core.Program] = {}
        if self._block or not self._source.collective:
            self._program(self._block or (1, 1, 1))

    def __repr__(self) -> str:
        return f"<cubc.Kernel {self.name} on {self.device}>"

    def __call__(
        self,
        *arguments: Any,
        grid: Extent,
        block: Extent | None = None,
        shared: int = 0,
        stream: Any = None,
    ) -> None:
        """Launch the kernel. On a GPU the call does not wait for it.

        Parameters
        ----------
        *arguments
            Arguments of the kernel, in its order. For a pointer: a contiguous array of cubc, CuPy,
            PyTorch or Numba on the device, or on the cpu of NumPy. If the pointer is to a number
            type, the items are of that type. An array of bools may be given for a pointer to bool
            or to unsigned char; one with bytes other than 0 and 1 only for the latter, since a bool
            of C++ cannot hold them. For a number: a number of Python or NumPy that is converted
            without loss. For a struct: its bytes, as ``struct.pack`` or a NumPy record gives them.
        grid
            Number of blocks, in up to three dimensions.
        block
            Number of threads of a block, in up to three dimensions; by default that of the Kernel.
        shared
            Bytes of dynamic shared memory of a block.
        stream
            As for `cubc.reduce`; by default the stream of the first array that has one.

        Raises
        ------
        TypeError, OverflowError
            If an argument is not what the kernel takes.
        ValueError
            If an extent of grid or block is out of range; if an array is on another device, is not
            contiguous, or is read-only where the kernel's pointer is not to const.
        ResourceError
            If a block has more threads or shared memory than the device can give it.
        KernelFault
            If the kernel faults; on a GPU the next call that waits for it raises this.

        Examples
        --------
        >>> source = "__global__ void twice(double* x) { x[blockIdx.x] *= 2; }"
        >>> twice = cubc.Kernel(source, block=1, device="cpu")
        >>> x = np.arange(4.0)
        >>> twice(x, grid=x.size)
        >>> print(x)
        [0. 2. 4. 6.]
        """
        blocks, threads = extent("grid", grid), self._block
        if block is not None:
            threads = extent("block", block)
        if threads is None:
            raise ValueError(f"{self.name}: no block is given, here or to cubc.Kernel")
        self._program(threads).launch(self.name, arguments, blocks, threads, shared, stream)

    def _program(self, block: tuple[int, int, int]) -> _core.Program:
        threads = block[0] * block[1] * block[2] if self._source.collective else 0
        found = self._programs.get(threads)
        if found is None:
            if threads % 32 and (threads != 1 or not is_cpu(self.device)):
                raise ValueError(
                    f"{self.name} uses collectives of cubc: a block has a multiple of 32 threads, "
                    f"or 1 on the cpu, not {threads}"
                )
            found = _core.Program(
                self._text(threads), f"{self._source.name}.cu", self.device, threads
            )
            found.kernel_info(self.name, threads or 1)
            self._programs[threads] = found
        return found

    def _text(self, threads: int) -> str:
        return self._source.compiled(self._arch, self._macros, threads)

    def _info(self, what: str) -> int:
        if not self._programs:
            raise ValueError(f"{self.name} is compiled for a size of block: give block= first")
        threads, program = next(iter(self._programs.items()))
        return program.kernel_info(self.name, threads or 1)[what]

    @property
    def registers(self) -> int:
        """Registers of a thread; 0 on the cpu."""
        return self._info("registers")

    @property
    def local_bytes(self) -> int:
        """Bytes of memory of a thread: spills and indexed arrays; 0 on the cpu."""
        return self._info("local_bytes")

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that a block declares; 0 on the cpu."""
        return self._info("shared_bytes")

    @property
    def max_threads(self) -> int:
        """Threads that a block may have, given its registers."""
        return self._info("max_threads")


def extent(what: str, given: Any) -> tuple[int, int, int]:
    """Three extents of a grid or a block of one to three."""
    several = given if isinstance(given, tuple) else (given,)
    try:
        found = (*(value.__index__() for value in several), 1, 1, 1)
    except AttributeError:
        found = ()
    if not 4 <= len(found) <= 6 or min(found) < 1 or max(found) >= 2**31:
        raise ValueError(f"{what} is {given!r:.60}, must be one to three whole numbers from 1 on")
    return found[:3]


def _chosen(source: Source, name: str | None) -> str:
    kernels = source.kernels
    if name is None and len(kernels) > 1:
        raise ValueError(f"{source.name}.cu has several kernels, name one: {', '.join(kernels)}")
    if name is not None and name not in kernels:
        raise LookupError(f"{source.name}.cu has no kernel {name!r}; it has {', '.join(kernels)}")
    return name or kernels[0]


def _checked(defines: Mapping[str, Any] | None) -> dict[str, str]:
    found = {}
    for name, value in (defines or {}).items():
        text = str(int(value)) if isinstance(value, bool) else str(value)
        if not re.fullmatch(r"[A-Za-z_]\w*", str(name), re.ASCII) or "\n" in text:
            raise ValueError(
                f"{name!r:.60} cannot be defined as {value!r:.60}: a macro is a name, its value is "
                "one line"
            )
        found[str(name)] = text
    return found
