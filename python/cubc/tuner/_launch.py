"""Argument of the function that `State.exec` takes: a variant's values, and its launches."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from cubc import _core
from cubc._calls import named
from cubc._kernel import Extent, extent

from . import _axes as ax
from ._checks import count
from ._tuned import default_grid, default_threads


class Launch:
    """A variant: its values by label, and its launches; the argument of ``exec``'s function.

    Examples
    --------
    >>> def work(launch):  # an argument of `State.exec`
    ...     launch.kernel("first", x, y, grid=-(-x.size // launch.tpb))
    ...     launch.kernel("second", y, grid=1)
    """

    def __init__(
        self, program: _core.Program, kernels: list[str], values: Mapping[str, Any], n: int
    ):
        self._program, self._kernels, self._n = program, kernels, n
        self.values = dict(values)

    def __getattr__(self, label: str) -> Any:
        values = self.__dict__.get("values", {})
        if label in values:
            return values[label]
        near = difflib.get_close_matches(label, values, n=1)
        hint = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(values) or 'none'}"
        raise AttributeError(f"the variant has no parameter {label}{hint}")

    @named
    def kernel(
        self,
        name: str,
        *arguments: Any,
        grid: Extent | None = None,
        block: Extent | None = None,
        shared: int = 0,
    ) -> None:
        """Launch a kernel.

        Parameters
        ----------
        name
            Name of a ``__global__`` function of the source.
        *arguments
            Arguments: arrays of the state for pointers, numbers, and the bytes of a struct.
        grid
            Blocks, in up to three dimensions. By default one for each ``tpb * ipt`` of the
            elements: of the axis ``Elements``, or of the largest array if there is none.
        block
            Threads of a block, in up to three dimensions; by default the parameter ``tpb``.
        shared
            Bytes of shared memory a block besides what the kernel declares.

        Raises
        ------
        LookupError
            If there is no such kernel, with the nearest.
        TypeError, OverflowError
            If an argument is not what the kernel takes.
        ValueError
            If grid or block is missing, or is no extent.

        Examples
        --------
        >>> def work(launch):  # an argument of `State.exec`
        ...     launch.kernel("twice", x, x.size, grid=-(-x.size // launch.tpb), block=launch.tpb)
        """
        if name not in self._kernels:
            raise ax.unknown("the source", "kernel", name, self._kernels)
        if block is None:
            block = default_threads("block", name, self.values)
        if grid is None:
            grid = default_grid(name, self.values, arguments, self._n)
        shape = (extent("grid", grid), extent("block", block), count("shared", shared, least=0))
        self._program.add(name, arguments, *shape)
