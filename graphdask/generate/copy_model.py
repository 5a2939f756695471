"""Preferential attachment with distinct edges, as sources: the sequential references SCM and SBA, and cuPPA.

The first `degree` vertices are a clique, every later vertex has `degree` distinct targets, and each target depends on
targets of earlier vertices. So a block of vertices needs all rows before it: every part makes them, without a word to
the others, and keeps its own. Which graph it is, is defined in kernels/generate/copy_model.py and depends on the seed
alone.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array, Backend, get_backend
from graphdask.errors import InputError, OverBudget, shown
from graphdask.generate.preferential_attachment import PreferentialAttachment, coin_threshold, first_edge
from graphdask.kernels.generate.cuppa_pack import CopyTargets
from graphdask.partition.vertex_map import index_dtype

SCHEDULES = ("segmented", "round-robin")
CAPACITY = 16
"""Vertices that wait in the queue of one thread before it spills; on a GPU 16 of 32 bits are 64 bytes of its shared
memory."""
MOST_FACTOR = 1 << 16
STATE, PASSES, COLUMNS = 6, 4, 8
"""Of kernels/generate/cuppa.py: entries of the state, the one that counts rows of the log, and columns of the log."""


@dataclass(frozen=True)
class DistinctAttachment(ABC):
    """A preferential attachment graph whose vertices choose distinct targets: small, and the same in every process.

    Raises
    ------
    InputError
        For a value outside its range.
    """

    cumulative: ClassVar[bool] = True
    """A block takes the work of all blocks before it."""
    n: int
    """Number of vertices, at least degree + 1; n * degree below 2^63."""
    degree: int = 4
    """Edges of every vertex after the clique, at least 1."""
    p: float = 0.5
    """Probability of a direct edge, 0 <= p <= 1."""
    seed: int = 0
    """0 <= seed < 2^64; nearby seeds give unrelated graphs."""

    def __post_init__(self) -> None:
        for name in ("n", "degree", "p", "seed"):
            object.__setattr__(self, name, getattr(self._checked(), name))

    def _checked(self) -> PreferentialAttachment:
        """The same values as a source of single edges, which checks them and divides the vertices."""
        return PreferentialAttachment(self.n, self.degree, self.p, self.seed)

    @property
    def num_vertices(self) -> int:
        return self.n

    @property
    def num_edges(self) -> int:
        return first_edge(self.n, self.degree)

    @property
    def dtype(self) -> np.dtype:
        """Of the ids."""
        return index_dtype(self.n)

    @property
    def attempts(self) -> int:
        """Attempts of a slot to find a free vertex, before it takes the first one from a drawn vertex on."""
        return 64 * self.degree

    def vertices(self, rank: int, size: int) -> tuple[int, int]:
        """Return the vertex range of block `rank` of `size`, balanced by edges; it may be empty."""
        return self._checked().vertices(rank, size)

    def block(self, backend: Backend, rank: int, size: int) -> tuple[Array, Array]:
        """Return the edges (src, dst) of block `rank` of `size`; the union of the blocks is the graph.

        All edges up to the last vertex of the block are made.

        Raises
        ------
        OverBudget
            If these do not fit the free memory.
        """
        start, stop = self.vertices(rank, size)
        begin, end = first_edge(start, self.degree), first_edge(stop, self.degree)
        if begin == end:
            return backend.xp.empty(0, self.dtype), backend.xp.empty(0, self.dtype)
        self.check_memory(backend, 2 * end if begin == 0 else 3 * end - 2 * begin, stop)
        with backend.activate():
            xp = backend.xp
            src = xp.empty(end - begin, self.dtype)
            clique = min(stop, self.degree) - start
            if clique > 0:
                heads = np.arange(start, start + clique, dtype=self.dtype)
                src[: int(heads.sum(dtype=np.int64))] = backend.from_host(np.repeat(heads, heads))
            later = max(start, self.degree)
            if later < stop:
                rows = src[first_edge(later, self.degree) - begin :].reshape(-1, self.degree)
                rows[:] = xp.arange(later, stop, dtype=self.dtype)[:, None]
            targets = self.targets(backend, stop)
            return src, targets[begin:].copy() if begin else targets

    def targets(self, backend: Backend, stop: int) -> Array:
        """Return the targets of vertices 0 .. stop-1, shape (first_edge(stop, degree),), in the order of the edges."""
        self.check_memory(backend, first_edge(stop, self.degree), stop)
        with backend.activate():
            out = backend.xp.full(first_edge(stop, self.degree), -1, self.dtype)
            clique = _clique_targets(min(stop, self.degree))
            out[: len(clique)] = backend.from_host(clique.astype(self.dtype))
            if stop > self.degree:
                self._fill(backend, stop - self.degree, out[len(clique) :])
        return out

    @abstractmethod
    def _fill(self, backend: Backend, count: int, out: Array) -> None:
        """Write the targets of the first `count` vertices after the clique; `out` holds -1."""

    @abstractmethod
    def first_wrong(self, backend: Backend, targets: Array) -> int:
        """Return the first entry of `targets` that breaks the definition, or -1.

        `targets` are those of some first vertices, all of the clique among them, in the order of the edges. Every slot
        draws again, from the targets stored before it: linear time.
        """

    def check_memory(self, backend: Backend, entries: int, stop: int) -> None:
        """Raise OverBudget unless so many ids fit the free memory."""
        needed, free = entries * self.dtype.itemsize, backend.free_memory()
        if needed > free:
            raise OverBudget(
                f"all edges up to vertex {stop} are made together and need {needed / 2**30:.3g} GiB, but "
                f"{free / 2**30:.3g} GiB are free on {backend.description}, and more parts do not help the last of "
                f'them; preferential_attachment(..., method="hash") makes any block by itself'
            )


@dataclass(frozen=True)
class SequentialCopyModel(DistinctAttachment):
    """The copy model on one core, one vertex after the other (SCM)."""

    def _fill(self, backend: Backend, count: int, out: Array) -> None:
        cpu = get_backend("cpu")
        host = out if backend is cpu else np.full(len(out), -1, out.dtype)
        cpu.kernels("copy_model").scm_targets(count, *self._draws(), host)
        if host is not out:
            out[:] = backend.from_host(host)

    def _draws(self) -> tuple[Any, ...]:
        return self.degree, np.uint64(coin_threshold(self.p)), np.uint64(self.seed), self.attempts

    def first_wrong(self, backend: Backend, targets: Array) -> int:
        def check(count: int, out: Array, first_bad: Array) -> None:
            kernels = backend.kernels("cuppa", cooperative=True, index_t=out.dtype)
            kernels.cuppa_check(count, *self._draws(), out, first_bad)

        return _first_wrong(backend, self.degree, targets, check)


@dataclass(frozen=True)
class SequentialBarabasiAlbert(DistinctAttachment):
    """The Barabasi-Albert model on one core, one vertex after the other (SBA); `p` has no meaning in it."""

    @property
    def attempts(self) -> int:
        return 128 * self.degree

    def _fill(self, backend: Backend, count: int, out: Array) -> None:
        cpu = get_backend("cpu")
        host = out if backend is cpu else np.full(len(out), -1, out.dtype)
        cpu.kernels("copy_model").sba_targets(count, self.degree, np.uint64(self.seed), self.attempts, host)
        if host is not out:
            out[:] = backend.from_host(host)

    def first_wrong(self, backend: Backend, targets: Array) -> int:
        cpu = get_backend("cpu")

        def check(count: int, out: Array, first_bad: Array) -> None:
            kernels = cpu.kernels("copy_model")
            kernels.sba_check(count, self.degree, np.uint64(self.seed), self.attempts, out, first_bad)

        return _first_wrong(cpu, self.degree, backend.to_host(targets), check)


@dataclass(frozen=True)
class QueueCopyModel(SequentialCopyModel):
    """The graph of `SequentialCopyModel`, made by many threads with waiting queues (cuPPA)."""

    schedule: str = "segmented"
    """`segmented` or `round-robin`."""
    segment: int = 0
    """Vertices of the first segment; 0: one for each thread, or with factor 1 as many as fit the queues if all wait."""
    factor: int = 2
    """By how much segments grow while the queues have free entries; 1: not at all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.schedule not in SCHEDULES:
            raise InputError(f"schedule={self.schedule!r} is not one of {', '.join(SCHEDULES)}")
        object.__setattr__(self, "segment", checked_count("segment", self.segment, 0))
        object.__setattr__(self, "factor", checked_count("factor", self.factor, 1, MOST_FACTOR))

    def _fill(self, backend: Backend, count: int, out: Array) -> None:
        state, log = backend.xp.zeros(STATE, np.int64), backend.xp.zeros(1, np.int64)
        self.run(backend, count, 0, CAPACITY, out, state, log)

    def run(
        self, backend: Backend, count: int, threads: int, capacity: int, out: Array, state: Array, log: Array
    ) -> None:
        """Launch the kernel that `kernels/generate/cuppa.py` describes, with `len(log) // COLUMNS` rows of the log."""
        whole = self.schedule == "round-robin"
        kernels = backend.kernels("cuppa", cooperative=True, index_t=out.dtype)
        degree, threshold, seed, attempts = self._draws()
        pack = CopyTargets(
            degree=degree, threshold=threshold, seed=seed, attempts=attempts, out=out, state=state, log=log
        )  # fmt: skip
        segment, factor = (count, 1) if whole else (self.segment, self.factor)
        kernels.cuppa_targets(count, threads, segment, factor, capacity, len(log) // COLUMNS, pack)


def checked_count(name: str, value: Any, least: int, most: int = 1 << 62) -> int:
    """Return a count as an integer from `least` to `most`, or raise InputError."""
    try:
        count = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = None
    if count is None or not least <= count <= most:
        raise InputError(f"{name}={shown(value)} is not an integer from {least} to {most}")
    return count


def _clique_targets(size: int) -> np.ndarray:
    """The targets of the vertices of a clique: 0; 0, 1; 0, 1, 2; ..."""
    heads = np.arange(size, dtype=np.int64)
    return np.arange(int(heads.sum())) - np.repeat(np.cumsum(heads) - heads, heads)


def _first_wrong(backend: Backend, degree: int, targets: Array, check: Any) -> int:
    with backend.activate():
        xp = backend.xp
        clique = backend.from_host(_clique_targets(degree))
        wrong = xp.flatnonzero(targets[: len(clique)] != clique)
        if len(wrong):
            return int(wrong[0])
        none = np.iinfo(np.int64).max
        first_bad = xp.full(1, none, np.int64)
        check((len(targets) - len(clique)) // degree, targets[len(clique) :], first_bad)
        found = int(first_bad[0])
    return -1 if found == none else len(clique) + found
