"""Lattices over several ranks."""

import math
import platform
import time
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from .. import _core
from .._calls import named, real
from .._device import nccl_of_wheel
from ._fields import MARGIN, copied_part, on_host

DIRECTIONS = "xyzt"
TRANSPORTS = {None: 0, "memory": 1, "messages": 2}  # cubc_ranks_transport
COMM = ("Get_rank", "Get_size", "allgather")  # what a communicator has at least
TAG = 20803  # of the messages of hops and sums
SPIN = 0.002  # seconds for which a message is waited for without a pause


class Grid:
    """Ranks over which a lattice is cut into equal parts: processes, each with its device.

    A rank has the fields of its part. Ranks run the same script, and make the same calls in the
    same order; the faces of their parts, and the sums of solvers, go from device to device. Ranks
    of one host reach each other's memory; those of different hosts send messages, by NCCL between
    GPUs.

    Parameters
    ----------
    grid : tuple of int
        Ranks along X, Y, Z, T. There is one along X. Cut T first, then Z, then Y.
    comm : optional
        Communicator of mpi4py, as ``MPI.COMM_WORLD``, or another object with `Get_rank`, `Get_size`
        and `allgather`; by default this process alone. It is asked when memory is made that ranks
        share, by `gather`, by observables, and when files are read and written. On the cpu device
        it carries the messages of several hosts, by `Isend` and `Irecv` if it has them.
    cut : str
        Directions whose faces are exchanged though one rank has all of the lattice along them and
        is its own neighbour: "zt". Results are the same but for roundings; it is for tests and
        measurements.
    device : str, optional
        Device of this rank. By default the ranks of a host take its GPUs in turn, where the default
        device is a GPU.
    timeout : float
        Seconds that a rank waits for another. When one has ended or hangs, calls on all others
        raise TimeoutError. `allgather` of the communicator waits by its own limit, or without one:
        in `gather`, observables and files; and, of a communicator without `Isend` and `Irecv`, for
        memory that ranks share and for every message that it carries.
    transport : {"memory", "messages"}, optional
        What carries faces and sums: memory that all ranks reach, or messages, if any rank asks for
        them. By default memory within a host and messages between hosts; ``CUBC_RANKS`` in the
        environment says otherwise. Numbers are the same.

    Attributes
    ----------
    grid : tuple of int
        Ranks along X, Y, Z, T.
    rank, size : int
        Number of this rank, and of all.
    device : str
        Device of this rank.
    place : tuple of int
        Place of this rank in the grid. It changes along X first with the rank.

    Raises
    ------
    ValueError
        If the grid has another number of ranks, or cuts X.
    TypeError
        If `comm` lacks a method of a communicator.
    TimeoutError
        If a rank waits in vain for another.

    Examples
    --------
    >>> grid = lattice.Grid()  # a process alone
    >>> grid, grid.place
    (Grid(1x1x1x1, rank 0 of 1), (0, 0, 0, 0))

    Two processes, started by ``mpiexec -n 2 python script.py``::

        from mpi4py import MPI

        grid = lattice.Grid((1, 1, 1, 2), MPI.COMM_WORLD)
        D = lattice.Wilson(lattice.Gauge(grid.part(links), grid=grid), kappa=0.12)
        x, info = D.solve(grid.part(b))
        whole = grid.gather(x)
    """

    @named
    def __init__(
        self,
        grid: Sequence[int] = (1, 1, 1, 1),
        comm: Any = None,
        *,
        cut: str = "",
        device: Any = None,
        timeout: float = 20.0,
        transport: str | None = None,
    ):
        if not isinstance(grid, Sequence) or len(grid) != 4:
            raise ValueError(f"grid={grid!r:.80}: expected the ranks along x, y, z, t")
        if not isinstance(cut, str) or not set(cut) <= set("yzt"):
            raise ValueError(f"cut={cut!r}: expected some of 'y', 'z' and 't'")
        if not real("timeout", timeout) > 0:
            raise ValueError(f"timeout={timeout!r}: expected a number of seconds above 0")
        if transport not in tuple(TRANSPORTS):
            raise ValueError(f"transport={transport!r:.80}: expected 'memory' or 'messages'")
        if missing := [] if comm is None else [name for name in COMM if not hasattr(comm, name)]:
            raise TypeError(
                f"comm is a {type(comm).__name__} without {' and '.join(missing)}: expected a "
                "communicator, as MPI.COMM_WORLD of mpi4py"
            )
        x, y, z, t = map(index, grid)
        self.grid: tuple[int, int, int, int] = (x, y, z, t)
        self.rank: int = comm.Get_rank() if comm is not None else 0
        self.size: int = comm.Get_size() if comm is not None else 1
        self._comm = comm
        own = sum(1 << DIRECTIONS.index(direction) for direction in set(cut))
        gather = None if comm is None else comm.allgather
        self.device: str = _device_of(device, comm)
        if self.device.startswith("cuda"):
            _core.set_nccl_path(nccl_of_wheel())
        self.place: tuple[int, int, int, int]  # x, y, z, t
        self._ranks, self.place = _core.ranks_open(
            device=self.device,
            rank=self.rank,
            size=self.size,
            allgather=gather,
            messages=_messages_of(comm),
            grid=self.grid,
            cut=own,
            seconds=timeout,
            transport=TRANSPORTS[transport],
        )
        # Directions whose faces are exchanged, a bit each.
        self._cut: int = own | sum(1 << d for d, ranks in enumerate(self.grid) if ranks > 1)

    def __getstate__(self) -> Any:
        raise TypeError("a Grid is of the processes of this run: pickle the links of the rank")

    def __repr__(self) -> str:
        return f"Grid({'x'.join(map(str, self.grid))}, rank {self.rank} of {self.size})"

    @named
    def part(self, field: Any, axis: int = 0) -> Any:
        """Return this rank's part of an array of the whole lattice, without copying it.

        Parameters
        ----------
        field : array
            Array with the axes T, Z, Y, X from `axis` on: links, or a source that all ranks have
            made from the whole lattice's extents. X may be that of one parity.
        axis : int
            First axis of the lattice: 1 of several sources.

        Returns
        -------
        array
            Part of `field` in its memory, with all of its axes; X, Y, Z and T have the extents of
            the whole lattice divided by the ranks along them.

        Raises
        ------
        ValueError
            If the lattice has no equal parts of even extents, or the array not all of its axes.

        Examples
        --------
        >>> lattice.Grid().part(np.ones((6, 4, 2, 4))).shape  # a process alone has all
        (6, 4, 2, 4)
        """
        field = _with_axes(field if hasattr(field, "shape") else np.asarray(field), axis)
        cuts = []
        for extent, ranks, at in zip(
            field.shape[axis : axis + 4], self.grid[::-1], self.place[::-1], strict=True
        ):
            if extent % (2 * ranks) and ranks > 1:
                raise ValueError(
                    f"a field of shape {tuple(field.shape)} has no equal parts of even extents on "
                    f"a grid of {'x'.join(map(str, self.grid))}, from axis {axis} on"
                )
            cuts.append(slice(at * (extent // ranks), (at + 1) * (extent // ranks)))
        return field[(slice(None),) * axis + tuple(cuts)]

    @named
    def gather(self, field: Any, axis: int = 0) -> np.ndarray:
        """Return the array of the whole lattice whose parts the ranks have; all ranks call it.

        Parameters
        ----------
        field : array_like
            This rank's part, with the axes T, Z, Y, X from `axis` on.
        axis : int
            First axis of the lattice, as for `part`.

        Returns
        -------
        numpy.ndarray
            Array of the whole lattice, of the type of the parts, on every rank.

        Raises
        ------
        ValueError
            If the parts of the ranks differ in shape or type, or have not all axes of the lattice.

        Examples
        --------
        >>> lattice.Grid().gather(np.ones((6, 4, 2, 4))).shape
        (6, 4, 2, 4)
        """
        parts = [_with_axes(part, axis) for part in self._all(on_host(field))]
        for rank, part in enumerate(parts):
            if (part.shape, part.dtype) != (parts[0].shape, parts[0].dtype):
                raise ValueError(
                    f"the part of rank {rank} is {part.dtype} of shape {part.shape}, that of "
                    f"rank 0 {parts[0].dtype} of shape {parts[0].shape}: they are alike"
                )
        return self._joined(parts, axis)

    def _joined(self, parts: list[np.ndarray], axis: int = 0) -> np.ndarray:
        """Return the array of the whole lattice, of all ranks' parts."""
        shape = list(parts[0].shape)
        for d in range(4):
            shape[axis + d] *= self.grid[3 - d]
        whole = np.empty(shape, parts[0].dtype)
        for rank, part in enumerate(parts):
            at = []
            for d, ranks in enumerate(self.grid):
                extent = part.shape[axis + 3 - d]
                at.append(slice(rank % ranks * extent, (rank % ranks + 1) * extent))
                rank //= ranks
            whole[(slice(None),) * axis + tuple(at[::-1])] = part
        return whole

    def _extent_of_part(self, extent: Sequence[int]) -> tuple[int, int, int, int]:
        """Return the extents X, Y, Z, T of each rank's part of a whole lattice."""
        for e, ranks in zip(extent, self.grid, strict=True):
            if e % (2 * ranks) and ranks > 1:
                raise ValueError(
                    f"a lattice of {'x'.join(map(str, extent))} has no equal parts of even extents "
                    f"on a grid of {'x'.join(map(str, self.grid))}"
                )
        x, y, z, t = (e // ranks for e, ranks in zip(extent, self.grid, strict=True))
        return x, y, z, t

    def _surrounded(self, extent: Sequence[int], margin: int) -> tuple[int, int, int, int]:
        """Return the extents of this rank's part with a margin on each side of its cuts."""
        x, y, z, t = (e + 2 * margin * (self._cut >> d & 1) for d, e in enumerate(extent))
        return x, y, z, t

    def _around(
        self,
        field: Any,
        extent: Sequence[int],
        reals: int,
        margin: int = MARGIN,
        stream: Any = None,
    ) -> Any:
        """Return a field in native order with the neighbours' sites around it; all ranks call it.

        Parameters
        ----------
        field : cubc.Array
            This rank's part, float64, of `reals` reals a site.
        extent : tuple of int
            Sites of the part along X, Y, Z, T.
        margin : int
            Sites on each side of the directions that are cut; even, so that parities stay.
        """
        if not self._cut:
            return field
        around = self._surrounded(extent, margin)
        made = copied_part(
            field,
            ("float64", (reals * math.prod(around),), None),
            around,
            reals,
            stream,
            cut=self._cut,
            margin=margin,
            ranks=self._ranks,
        )
        self._check_others()
        return made

    def _check_others(self) -> None:
        """Raise TimeoutError if a rank has waited in vain, where there are others."""
        if self.size > 1:
            self.check()

    def _beside(self, direction: int, step: int) -> int:
        """Return the rank that is `step` steps from this one in a direction."""
        place = list(self.place)
        place[direction] = (place[direction] + step) % self.grid[direction]
        return int(np.ravel_multi_index(place[::-1], self.grid[::-1]))

    def _sum(self, value: Any) -> Any:
        """Return the sum of a number or an array of all ranks, in their order; all call it."""
        parts = self._all(value)
        return sum(parts[1:], parts[0])

    def _all(self, value: Any) -> list[Any]:
        """Return the values of all ranks, in their order; all call it."""
        return [value] if self._comm is None else self._comm.allgather(value)

    def _by_first(self, work: Callable[[], Any]) -> Any:
        """Return what the first rank makes, or raise its error; all call it."""
        made = failed = None
        if self.rank == 0:
            try:
                made = work()
            except Exception as error:
                failed = error
        made, failed = self._all((made, failed))[0]
        if failed is not None:
            raise failed
        return made

    def _agreed(self, work: Callable[[], Any]) -> Any:
        """Return what this rank makes; an error of one rank is raised on all, which all call it."""
        made = failed = None
        try:
            made = work()
        except Exception as error:
            failed = error
        for rank, other in enumerate(self._all(failed)):
            if failed is not None:
                raise failed
            if other is not None:
                kind = ValueError if isinstance(other, ValueError) else OSError
                raise kind(f"rank {rank} of {self.size}: {other}")
        return made

    @named
    def sum_of_slices(self, values: np.ndarray) -> np.ndarray:
        """Return sums over space from those of this rank's part; all ranks call it.

        Parameters
        ----------
        values : array
            Sums over this rank's part of space, one for each of its time slices, along the last
            axis.

        Raises
        ------
        TimeoutError
            If a rank waits in vain for another.

        Examples
        --------
        >>> print(lattice.Grid().sum_of_slices(np.array([1.0, 2.0])))
        [1. 2.]
        """
        parts = self._all(values)
        slices = self.size // self.grid[3]  # ranks with the same ones; t changes last
        at = range(0, self.size, slices)
        return np.concatenate([sum(parts[k + 1 : k + slices], parts[k]) for k in at], axis=-1)

    @named
    def check(self) -> None:
        """Raise TimeoutError if a rank has waited in vain for another.

        Raises
        ------
        TimeoutError
            If one has; it has ended, or hangs.

        Examples
        --------
        >>> lattice.Grid().check()
        """
        _core.ranks_check(self._ranks)


class _Messages:
    """Messages between ranks that are under way, by `Isend` and `Irecv` of a communicator."""

    def __init__(self, comm: Any):
        self._comm = comm
        self._requests: list[tuple[int, Any]] = []  # the rank that sends, or -1; in this order

    def start(self, to: int, sent: memoryview, source: int, received: memoryview) -> None:
        """Begin to send to a rank, and to receive from one; -1 is none."""
        if source >= 0:
            receipt = self._comm.Irecv(received, source=source, tag=TAG)
            self._requests.append((source, receipt))
        if to >= 0:
            self._requests.append((-1, self._comm.Isend(sent, dest=to, tag=TAG)))

    def finish(self, limit: float) -> int | None:
        """Wait up to `limit` seconds for all; return None when all have come.

        Else a rank whose message has not, or -1 where only sends are left.
        """
        left, self._requests = self._requests, []
        begun = time.monotonic()
        try:
            while left := [(source, request) for source, request in left if not request.Test()]:
                waited = time.monotonic() - begun
                if waited > limit:
                    return next((source for source, _ in left if source >= 0), -1)
                if waited > SPIN:
                    time.sleep(1e-4)
        finally:
            for _, request in left:  # which reads and stores nothing behind Wait
                if not request.Test():
                    request.Cancel()
                    request.Wait()
        return None


def _with_axes(field: Any, axis: int) -> Any:
    """Return an array that has the axes T, Z, Y, X from an axis on; ValueError if it has not."""
    if not 0 <= axis <= len(field.shape) - 4:
        raise ValueError(
            f"a field of shape {tuple(field.shape)} has no axes T, Z, Y, X from axis {axis} on"
        )
    return field


def _messages_of(comm: Any) -> tuple[Callable[..., None], Callable[..., int | None]] | None:
    """Return what starts a message and what finishes all, or None where `allgather` does it."""
    if not hasattr(comm, "Isend") or not hasattr(comm, "Irecv"):
        return None
    messages = _Messages(comm)
    return messages.start, messages.finish


def _device_of(device: Any, comm: Any) -> str:
    """Return the name of a rank's device; all ranks call it."""
    name: str = _core.device_info(device)["name"]
    if device is not None or comm is None or not name.startswith("cuda"):
        return name
    gpus = [name for name in _core.devices() if name.startswith("cuda")]
    before = comm.allgather(platform.node())[: comm.Get_rank() + 1]
    return gpus[before[:-1].count(before[-1]) % len(gpus)]
