"""Argument of the function that `State.exec` takes: a variant's values, and its launches."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from cubc import _core
from cubc._calls import named
from cubc._kernel import Extent, extent

from . import _axes as ax
from ._checks import count

Shape = tuple[tuple[int, int, int], tuple[int, int, int], int]  # grid, block, shared bytes
Rule = Callable[..., Any]  # of the kernel's arguments


class Given(NamedTuple):
    """Shape of a launch as a caller gave it: numbers, functions of the arguments, or nothing."""

    grid: Extent | Rule | None = None
    block: Extent | Rule | None = None
    shared: int | Rule = 0

    def shape(
        self, name: str, values: Mapping[str, Any], arguments: Iterable[Any], items: int = 0
    ) -> Shape:
        """Shape of a launch with these arguments; ValueError if there is none.

        The default grid has one block for each ``tpb * ipt`` items, by default of the largest
        array of the arguments.
        """
        arguments = tuple(arguments)
        grid, block, shared = (one(*arguments) if callable(one) else one for one in self)
        if block is None:
            block = _parameter("block", name, values, "tpb")
        if grid is None:
            sizes = [math.prod(one.shape) for one in arguments if getattr(one, "shape", ())]
            each = _parameter("grid", name, values, "tpb")
            each *= _parameter("grid", name, {"ipt": 1, **values}, "ipt")
            grid = max(1, -(-(items or max(sizes, default=1)) // each))
        return extent("grid", grid), extent("block", block), count("shared", shared, least=0)


def _parameter(what: str, name: str, values: Mapping[str, Any], label: str) -> int:
    """Parameter of a variant that a default is made of; ValueError if it is no such number."""
    found = values.get(label)
    if not isinstance(found, int) or found < 1:
        lacks = f"without a parameter {label}" if found is None else f"with {label}={found}"
        raise ValueError(f"{name} has no default {what} {lacks}: give {what}=")
    return found


class Launch:
    """A variant: its values by label, and its launches; the argument of ``exec``'s function.

    Examples
    --------
    >>> def work(launch):  # an argument of `State.exec`
    ...     launch.kernel("first", x, y, grid=-(-x.size // launch.tpb))
    ...     launch.kernel("second", y, grid=1)
    """

    def __init__(
        self, program: _core.Program | None, kernels: list[str], values: Mapping[str, Any], n: int
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
        grid: Extent | Rule | None = None,
        block: Extent | Rule | None = None,
        shared: int | Rule = 0,
    ) -> None:
        """Launch a kernel.

        Where `grid`, `block` or `shared` is a function of the kernel's arguments, ``kernel()`` of a
        result calls it for arguments of other sizes, too.

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
        ...     launch.kernel("twice", x, x.size, grid=lambda x, n: -(-n // launch.tpb))
        """
        if name not in self._kernels:
            raise ax.unknown("the source", "kernel", name, self._kernels)
        self._add(name, arguments, Given(grid, block, shared))

    def _add(self, name: str, arguments: tuple, given: Given) -> None:
        self._program.add(name, arguments, *given.shape(name, self.values, arguments, self._n))


class Recorded(Launch):
    """A variant that notes its launches in place of making them.

    Attributes
    ----------
    launches : list of tuple
        Name, arguments and `Given` of each.
    """

    def __init__(self, kernels: list[str], values: Mapping[str, Any]):
        super().__init__(None, kernels, values, 0)
        self.launches: list[tuple[str, tuple, Given]] = []

    def _add(self, name: str, arguments: tuple, given: Given) -> None:
        self.launches.append((name, arguments, given))
