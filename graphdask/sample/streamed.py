"""Streamed: samples of a graph that does not fit the device. Its rows are cut into partitions in host memory.

A partition is a contiguous range of vertices with all their edges, and what edges are drawn by. Some partitions are on
the device at a time; what is to be drawn from the others waits in their queues. What a step draws depends on the seed,
the instance and the step alone, so the order in which partitions are visited changes no sample.

Source: Pandey et al., c-saw, Section V (out-of-memory sampling).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from graphdask.device.backend import Backend, CudaBackend
from graphdask.device.residency import ResidentSet, page_locked
from graphdask.engine.loop import Environment, Superstep
from graphdask.errors import InputError, OverBudget, shown
from graphdask.interface.suggest import public
from graphdask.kernels.common.compiling import clock
from graphdask.kernels.common.tuning import SPARSE
from graphdask.partition.blocks import parse_size
from graphdask.partition.part import Part

SCHEMES = ("baseline", "BA", "WS", "BAL", "in-place")
"""Each has what the ones before it have, and more."""
SECTOR = 64
"""Bytes of the bus that one read in place is reckoned to take."""
MOST_PARTITIONS = 4096
LEAST_PARTITIONS = 16
"""Where nobody says how many."""
SEPARATE = 256
"""Instances that are sampled together where they are not batched."""


@public
@dataclass(frozen=True)
class Streamed:
    """How to sample a graph in host memory on a device whose memory does not hold it: a value of `placement=`.

    `placement="streamed"` is the same as `placement=Streamed()`.

    First-order walks and samples of neighbourhoods (`random_walk` and its kin, `neighbors`, `snowball`, `forest_fire`)
    go over partitions, as the arguments say. All other samplers read every edge in host memory: a GPU reads page-locked
    memory over the bus, with the kernels for a graph on the device. Arrays with no more entries than there are vertices
    (where rows begin, sums of their biases) are copied to the device at the start of a run if they use at most half of
    the memory that may be used, else they are read in place too. The host makes tables of edges. These samplers accept
    the arguments `device_memory`, and `scheme="in-place"`, which is what they do; the others raise Unsupported.

    Parameters
    ----------
    partitions : int, optional
        How many contiguous ranges of vertices, about alike in bytes. Default: 16, or more until `resident` (or two) of
        them fit.
    resident : int, optional
        How many of them are on the device at a time. Default: as many as fit.
    scheme : {"BAL", "WS", "BA", "baseline", "in-place"}, optional
        As in Figures 13 to 15 of the c-saw paper. `baseline`: instances in groups of 256, one group after the other;
        partitions that have work are visited in their order, and each walker there makes a step. `BA`: batched
        multi-instance sampling, all instances that fit together. `WS`: workload-aware scheduling besides: most active
        partition first, and it stays until its queue is empty; a walker goes on over all partitions that are on the
        device, and waits where it comes to another one. `BAL`: besides, partitions that are sampled at the same time
        get thread blocks in proportion to their work; on a CPU, which samples one after the other, as `WS`.
        `in-place`, which the paper does not have: arrays per row (where rows begin, sums of their biases) stay on the
        device, and a step that leads to an absent partition reads its few edges in host memory, over the bus. So no
        walker waits, and all walks are one launch (or one for every 2^24 steps). Partitions are copied if copying moves
        fewer bytes over the bus than reading in place, at 64 bytes a read. Into free device memory go the partitions
        that the walks will read most, if they are smaller than all reads of them. Partitions are copied in turn, as by
        `BAL`, if one step of all walkers, spread over the absent partitions, would read more bytes than these have.
        Samples of neighbourhoods decide by the reads of a hop. Default for walks: on a GPU `in-place`, or `BAL` if
        arrays per row would use more than half of the memory; on a CPU, which copies as fast as it reads, `BAL`.
        Samples of neighbourhoods go hop by hop and partition by partition, each with the whole device. With `BAL`, one
        launch samples the partitions that are on the device when a hop begins; later launches sample half as many
        partitions as fit at a time. The threads of a launch are distributed over the vertices of all its partitions.
        The default for samples of neighbourhoods is `WS`.
    device_memory : int or str, optional
        Bytes of the device that may be used: 2**32, "4GiB". Default: as much as the setting graphdask.memory-fraction
        allows.
    batch : int, optional
        Instances that are sampled together at most. Default: as many as fit; with `baseline` 256.

    Raises
    ------
    InputError
        If an argument has a value that is not allowed.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2], [1, 2, 3])
    >>> where = gd.sample.Streamed(partitions=3, resident=1)
    >>> w = gd.sample.random_walk(G, [0], 3, placement=where)
    >>> w.walks.tolist()
    [[0, 1, 2, 3]]
    >>> w.stats.streamed["scheme"], w.stats.streamed["transfers"] >= 1
    ('BAL', True)
    """

    partitions: int | None = None
    resident: int | None = None
    scheme: str | None = None
    device_memory: int | str | None = None
    batch: int | None = None

    def __post_init__(self) -> None:
        for name, most in (("partitions", MOST_PARTITIONS), ("resident", MOST_PARTITIONS), ("batch", 1 << 62)):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if value is not None and not (whole and 1 <= value <= most):
                raise InputError(f"{name}={shown(value)} is not a whole number from 1 to {most:,}")
        if self.scheme is not None and self.scheme not in SCHEMES:
            raise InputError(f"scheme={self.scheme!r} is not one of {', '.join(SCHEMES)}")
        if self.device_memory is not None:
            parse_size(self.device_memory, "device_memory", least=1)

    def __str__(self) -> str:
        return "streamed"


@dataclass
class HostRows:
    """Rows of a graph in host memory, with what edges are drawn by."""

    indptr: np.ndarray
    edges: dict[str, np.ndarray]
    """Per edge."""
    rows: dict[str, np.ndarray] = field(default_factory=dict)
    """Per row."""
    sparse: dict[str, np.ndarray] = field(default_factory=dict)
    """Per `SPARSE` edges."""
    made: dict[bool, Cut] = field(default_factory=dict, repr=False)
    """The last partitions, with their rows (False), and the last without (True)."""
    locked: bool = False
    """Whether `indptr` is where the device reads it best."""

    @property
    def nbytes(self) -> int:
        """Bytes of these arrays, and of the buffer for what partitions have of `indptr`."""
        kinds = (self.edges, self.rows, self.sparse)
        return 2 * self.indptr.nbytes + sum(array.nbytes for kind in kinds for array in kind.values())

    @property
    def of_rows(self) -> dict[str, np.ndarray]:
        """What is said of rows, where they begin among it."""
        return {"indptr": self.indptr} | self.rows

    def lock(self, part: Part, host: Environment, backend: Backend) -> None:
        """Put it where the device reads it best; of the partition's own arrays there is one copy for all."""
        csrs = [csr for csr in (part.out, part.inward) if csr is not None]
        own = [array for csr in csrs for array in (csr.indices, csr.weights)]
        kinds = (self.edges, self.rows, self.sparse)
        there = {
            id(array): array.nbytes for kind in kinds for array in kind.values() if is_locked(part, backend, array)
        }
        free, needed = int(host.backend.free_memory() * host.memory_share), self.nbytes - sum(there.values())
        if isinstance(backend, CudaBackend) and needed > free:
            raise OverBudget(
                f"a page-locked copy of the graph needs {needed:,} bytes of the host's memory, of which {free:,} may "
                f"be used; use more hosts, or raise the setting graphdask.memory-fraction"
            )
        for kind in kinds:
            for name, array in kind.items():
                shared = any(array is known for known in own)
                kind[name] = locked_copy(part, backend, array) if shared else page_locked(backend, array)

    def lock_indptr(self, backend: Backend) -> None:
        """Likewise, where partitions have none of it."""
        with PREPARING:
            if not self.locked:
                self.indptr, self.locked = page_locked(backend, self.indptr), True

    def cut(self, count: int, without_rows: bool = False) -> Cut:
        """Into ranges of vertices that are about alike in bytes, with what is said of rows or without it."""
        with PREPARING:
            if without_rows not in self.made or self.made[without_rows].count != count:
                self.made[without_rows] = self._cut(count, without_rows)
            return self.made[without_rows]

    def _cut(self, count: int, without_rows: bool) -> Cut:
        n = len(self.indptr) - 1
        of_edge, of_sparse, of_row = (
            sum(map(_of_one, kind.values())) for kind in (self.edges, self.sparse, self.of_rows)
        )
        before = self.indptr * (of_edge + of_sparse / SPARSE)
        if not without_rows:
            before = before + np.arange(n + 1) * float(of_row)
        targets = before[-1] * np.arange(1, count) / count
        cuts = np.concatenate([[0], np.searchsorted(before, targets), [n]]).astype(np.int64)
        begins = self.indptr[cuts[:-1]] // SPARSE * SPARSE
        pieces = [self._piece(int(a), int(b), without_rows) for a, b in pairwise(cuts)]
        # edges and what is sparse of them have space for as many edges
        edges = self.indptr[cuts[1:]] - begins
        longest = -(-int(edges.max()) // SPARSE)
        lengths = dict.fromkeys(self.edges, longest * SPARSE) | dict.fromkeys(self.sparse, longest)
        if not without_rows:
            lengths |= dict.fromkeys(self.of_rows, int(np.diff(cuts).max()) + 1)
        return Cut(cuts, pieces, begins.tolist(), edges.tolist(), longest * SPARSE, lengths)

    def _piece(self, a: int, b: int, without_rows: bool) -> dict[str, np.ndarray]:
        """Rows a to b - 1; their edges from a multiple of SPARSE on, so that sparse sums stay where they are."""
        begin, end = int(self.indptr[a]) // SPARSE * SPARSE, int(self.indptr[b])
        piece = {name: array[begin:end] for name, array in self.edges.items()}
        piece |= {name: array[begin // SPARSE : end // SPARSE] for name, array in self.sparse.items()}
        if without_rows:
            return piece
        return {"indptr": self.indptr[a : b + 1] - begin} | piece | {k: array[a:b] for k, array in self.rows.items()}


def _of_one(array: np.ndarray) -> int:
    """Bytes of an entry."""
    return array.itemsize * math.prod(array.shape[1:])


@dataclass
class Cut:
    """Partitions."""

    cuts: np.ndarray
    """int64, shape (partitions + 1,): the first vertex of each."""
    pieces: list[dict[str, np.ndarray]]
    begins: list[int]
    """The first edge in each."""
    edges: list[int]
    """How many there are in each, from there on."""
    most_edges: int
    """How many must fit."""
    lengths: dict[str, int]
    """By name, entries of an array that must fit."""
    locked: bool = False

    def lock(self, backend: Backend) -> None:
        """Put what the partitions do not share with the rows where the device reads it best."""
        with PREPARING:
            if not self.locked:
                for piece in self.pieces:
                    piece["indptr"] = page_locked(backend, piece["indptr"])
                self.locked = True

    @property
    def count(self) -> int:
        return len(self.pieces)

    @property
    def slot_bytes(self) -> int:
        """Bytes that any one of the partitions takes on a device."""
        return sum(length * _of_one(self.pieces[0][name]) for name, length in self.lengths.items())

    def costs_more(self, number: int, reads: float) -> bool:
        """Whether copying a partition takes more of the bus than so many reads in place."""
        return sum(array.nbytes for array in self.pieces[number].values()) > reads * SECTOR


@dataclass
class Layout:
    """What fits."""

    cut: Cut
    resident: int
    batch: int
    """Instances that are sampled together."""
    memory: int
    """Bytes of the device that the run takes."""


PREPARING = threading.RLock()
"""Held while rows are made ready; the ranks of a process share them."""


def locked_copy(part: Part, backend: Backend, array: np.ndarray) -> np.ndarray:
    """The page-locked copy of an array that is kept with a partition; on a CPU the array itself."""
    if backend.name == "cpu":
        return array
    name = _locked(backend, array)
    kept = part.tables.get(name)
    if kept is None:  # with the array itself, or another one might come to be in its place
        kept = part.tables.keep(name, (array, page_locked(backend, array)), array.nbytes)
    copy: np.ndarray = kept[1]
    return copy


def is_locked(part: Part, backend: Backend, array: np.ndarray) -> bool:
    """Whether there is that copy already."""
    return _locked(backend, array) in part.tables


def _locked(backend: Backend, array: np.ndarray) -> tuple[Any, ...]:
    return "page-locked", backend.name, id(array)


def prepared(
    part: Part, host: Environment, backend: Backend, name: tuple[Any, ...], make: Callable[[], HostRows]
) -> HostRows:
    """Rows as the device reads them, made once for a graph."""
    key = ("streamed", backend.name, *name)
    with PREPARING:
        rows: HostRows | None = part.tables.get(key)
        if rows is None:
            rows = make()
            rows.lock(part, host, backend)
            part.tables.keep(key, rows, rows.nbytes)
        return rows


def budget_of(options: Streamed, backend: Backend, share: float) -> int:
    """Bytes of the device that may be used, where a share of what is free may."""
    budget = int(backend.free_memory() * share)
    if options.device_memory is not None:
        budget = min(budget, parse_size(options.device_memory, "device_memory", least=1))
    return budget


def laid_out(
    options: Streamed, scheme: str, rows: HostRows, backend: Backend, share: float, instances: int, each: int,
    fixed: int, what: str, without_rows: bool = False,
) -> Layout:  # fmt: skip
    """Choose what is not given, so that all of it fits.

    Parameters
    ----------
    share : float
        Of the free memory that may be used.
    instances, each : int
        How many there are, and bytes of the device for each while it is sampled.
    fixed : int
        Bytes of the device in any case.
    what : str
        Who samples, for messages.
    without_rows : bool
        Whether what is said of rows is among what is fixed, and partitions are cut without it.

    Raises
    ------
    OverBudget
        If that is not possible.
    """
    budget = budget_of(options, backend, share)
    count = options.partitions or LEAST_PARTITIONS
    batch = options.batch or (SEPARATE if scheme == "baseline" else instances)
    batch = max(1, min(batch, instances, (budget - fixed) // 2 // max(each, 1)))
    free = budget - fixed - batch * each
    while True:
        cut = rows.cut(count, without_rows)
        slot = max(cut.slot_bytes, 1)
        if options.partitions or free // slot >= min(options.resident or 2, count) or count >= MOST_PARTITIONS:
            break
        count *= 2
    resident = min(options.resident or max(free // slot, 1), count)
    needed = fixed + batch * each + resident * slot
    if needed > budget:
        raise OverBudget(
            f"{what} of a streamed graph needs {needed:,} bytes of the device for {batch:,} instances and {resident} "
            f"of {count} partitions, and may use {budget:,}; use more partitions, fewer resident ones, or raise "
            f"device_memory"
        )
    if without_rows:
        rows.lock_indptr(backend)
    else:
        cut.lock(backend)
    return Layout(cut, resident, batch, needed)


def report(
    scheme: str, layout: Layout, resident: ResidentSet, imbalance: float, batches: int, in_place: int
) -> Mapping[str, Any]:
    """What `stats.streamed` is made from."""
    return {
        "scheme": scheme, "partitions": layout.cut.count, "resident": layout.resident, "batches": batches,
        "transfers": resident.transfers, "nbytes": resident.nbytes, "imbalance": imbalance, "in_place": in_place,
    }  # fmt: skip


def record(env: Environment, name: str, frontier: int, edges: int, started: float) -> None:
    """Note a superstep of `frontier` queue entries, and raise where the deadline has passed."""
    seconds = clock() - started
    step = Superstep(len(env.history), frontier, edges, 0, 0, (), seconds, 0.0, 0.0, 0.0)
    env.history.append(step)
    if env.on_superstep is not None:
        env.on_superstep(step)
    env.check_deadline(name, f"superstep {len(env.history)}")
