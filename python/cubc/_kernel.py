"""A user's own kernel: compiled from its CUDA C source and launched, on either device."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from . import _core
from ._source import Source

Extent = int | tuple[int, ...]


class Kernel:
    """A kernel of one's own, from CUDA C.

    It runs on a GPU (compiled by NVRTC) and on the cpu (by the host's compiler; the threads of a
    block are fibres there, which is for tests and debugging, except in blocks of one thread).

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

    Parameters
    ----------
    source
        Path of a CUDA C file, or the source itself if it has more than one line. Its ``__global__``
        functions, which stand in the global namespace and are neither templates nor static, can be
        launched. Files included by quotes are read, beside the file first; others only by CUDA's
        own names.
    name
        Of the kernel; can be left out if the source has only one.
    block
        Threads of a block, in up to three dimensions, of launches that do not say otherwise.
    defines
        Macros by name, as ``{"T": "float", "ITEMS": 4}``.
    device
        Name of the device that it is compiled for and runs on; by default the default device.

    Attributes
    ----------
    name : str
        Of the kernel.
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
        If it has none, or several and no name is given; for a macro that cannot be.
    CompileError
        If it does not compile, with the compiler's log.

    Notes
    -----
    **Collectives.** A source may include these of cubc's headers by quotes, whose functions its
    kernels can call then; each says above itself who calls it, where the result is valid and when
    its storage may be used again.

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

    They need to know at compile time how many threads a block has: the macro ``SIMT_THREADS``. Such
    a source is compiled for each size of block that it is launched with, which has one dimension
    and is a multiple of 32, or is 1 on the cpu; ``__launch_bounds__(SIMT_THREADS)`` keeps a
    kernel's registers below what so many threads can have. Their names, and those of the dialect
    that they are written in (``kernels/dialect/simt.h``), are taken then.

    **Tuning.** The same source, with ``%RANGE%`` comments for its macros, goes to
    `cubc.tuner.benchmark`. What a search found goes into `defines`.
    """

    def __init__(
        self,
        source: str | os.PathLike,
        name: str | None = None,
        *,
        block: Extent | None = None,
        defines: Mapping[str, Any] | None = None,
        device: str | None = None,
    ):
        self._source = Source(source, name or "source")
        self.name = _chosen(self._source, name)
        self.device = str(_core.device_info(device)["name"])
        self._arch = str(_core.device_info(device)["arch"])
        self._macros = _checked(defines)
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
        """Launch it. On a GPU this does not wait.

        Parameters
        ----------
        *arguments
            What the kernel takes, in its order. For a pointer an array of cubc, CuPy, PyTorch or
            Numba on the device; on the cpu NumPy's too. It is contiguous, and its items are of the
            type pointed to as far as that is a number. An array of bools goes to a pointer to bool
            or unsigned char; masks of other bytes than 0 and 1 take the latter, since a bool of C++
            cannot hold them. For numbers Python's and NumPy's, converted
            without loss; for a struct its bytes, as ``struct.pack`` or a NumPy record gives them.
        grid
            Blocks, in up to three dimensions.
        block
            Threads of a block, in up to three dimensions, if not those given before.
        shared
            Bytes of shared memory a block besides what the kernel declares.
        stream
            As for `cubc.reduce`: by default that of the first array, if it has one.

        Raises
        ------
        TypeError, OverflowError
            If an argument is not what the kernel takes.
        ValueError
            If grid or block cannot be; if an array is on another device, not contiguous, or
            read-only where the kernel's pointer is not to const.
        ResourceError
            If a block has more threads or shared memory than the device can give it.
        KernelFault
            If it faults; on a GPU what waits for it next raises this.
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
            if threads % 32 and (threads != 1 or self.device != "cpu"):
                raise ValueError(
                    f"{self.name} uses collectives of cubc: a block has a multiple of 32 threads, "
                    f"or 1 on the cpu, not {threads}"
                )
            text = self._source.compiled(self._arch, self._macros, threads)
            found = _core.Program(text, f"{self._source.name}.cu", self.device, threads)
            found.kernel_info(self.name, threads or 1)
            self._programs[threads] = found
        return found

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
