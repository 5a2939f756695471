"""What a benchmark makes and checks: the targets of the copy model, and both ends of the edges of other models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from graphdask.bench.generation.cases import Case
from graphdask.device.backend import Array, Backend, get_backend
from graphdask.errors import VerificationError
from graphdask.generate.copy_model import CAPACITY, STATE, DistinctAttachment, QueueCopyModel
from graphdask.generate.erdos_renyi import ErdosRenyi
from graphdask.generate.preferential_attachment import PreferentialAttachment, targets
from graphdask.generate.rmat import RMat

SEED = 1
COMPARED = 1024
"""Edges of a block that a CPU computes again."""
MOST_CHECKED = 1 << 28
"""Edges of a graph that is checked whole."""


class Work(Protocol):
    """A graph to be made in blocks."""

    @property
    def num_edges(self) -> int: ...

    @property
    def bytes_per_edge(self) -> int: ...

    @property
    def product(self) -> str:
        """What a run ends with."""

    @property
    def divisible(self) -> bool:
        """Whether blocks are made without the others; if not, one device makes all."""

    def block(self, backend: Backend, rank: int, size: int) -> tuple[Array, ...]:
        """Make block `rank` of `size`."""

    def check(self, backend: Backend, made: tuple[Array, ...], rank: int, size: int) -> None:
        """Compare with what the CPU makes, or with the definition; raise VerificationError."""


def work_of(case: Case) -> Work:
    """Return the graph of a case, as something to be made."""
    if case.generator == "cuPPA-Hash":
        return Targets(PreferentialAttachment(case.n, case.degree, case.p or 0.0, SEED))
    if case.generator == "cuPPA-Hash, edges":
        return Pairs(PreferentialAttachment(case.n, case.degree, case.p or 0.0, SEED))
    if case.generator == "cuPPA":
        return Distinct(QueueCopyModel(case.n, case.degree, case.p or 0.0, SEED), case.threads)
    if case.generator == "R-MAT":
        return Pairs(RMat((case.n - 1).bit_length(), case.degree, SEED))
    return Pairs(ErdosRenyi(case.n, case.n * case.degree, SEED))


class Targets:
    """The targets of cuPPA-Hash: one id for each edge, the source being known."""

    divisible = True
    product = "targets"

    def __init__(self, graph: PreferentialAttachment):
        self.graph = graph
        self.num_edges, self.bytes_per_edge = graph.num_edges, graph.dtype.itemsize

    def block(self, backend: Backend, rank: int, size: int) -> tuple[Array, ...]:
        return (self._targets(backend, *self.graph.vertices(rank, size)),)

    def check(self, backend: Backend, made: tuple[Array, ...], rank: int, size: int) -> None:
        start, stop = self.graph.vertices(rank, size)
        vertices = min(-(-COMPARED // self.graph.degree), stop - start)
        for first in (start, stop - vertices):
            there = (first - start) * self.graph.degree
            expected = self._targets(get_backend("cpu"), first, first + vertices)
            if not np.array_equal(backend.to_host(made[0][there : there + len(expected)]), expected):
                raise VerificationError(f"{backend.description} made other targets than the CPU from vertex {first} on")

    def _targets(self, backend: Backend, start: int, stop: int) -> Array:
        graph = self.graph
        return targets(backend, graph.n, graph.degree, graph.p, graph.seed, start, stop)


@dataclass(frozen=True)
class Distinct:
    """The targets of cuPPA, or of a sequential reference; they are made together."""

    graph: DistinctAttachment
    threads: int | None = None
    """Threads that share the vertices of a segment; None: as many as the device runs."""
    divisible = False
    product = "targets"

    @property
    def num_edges(self) -> int:
        return self.graph.num_edges

    @property
    def bytes_per_edge(self) -> int:
        return self.graph.dtype.itemsize

    def block(self, backend: Backend, rank: int, size: int) -> tuple[Array, ...]:
        if self.threads is None or not isinstance(self.graph, QueueCopyModel):
            return (self.graph.targets(backend, self.graph.n),)
        xp, count = backend.xp, self.graph.n - self.graph.degree
        out = xp.full(count * self.graph.degree, -1, self.graph.dtype)
        state, log = xp.zeros(STATE, np.int64), xp.zeros(1, np.int64)
        self.graph.run(backend, count, self.threads, CAPACITY, out, state, log)
        return (out,)

    def check(self, backend: Backend, made: tuple[Array, ...], rank: int, size: int) -> None:
        if self.threads is not None or self.num_edges > MOST_CHECKED:
            return
        wrong = self.graph.first_wrong(backend, made[0])
        if wrong >= 0:
            raise VerificationError(f"{backend.description} made another target of edge {wrong} than the definition")


class Pairs:
    """Both ends of all edges."""

    divisible = True
    product = "edges"

    def __init__(self, generator: RMat | ErdosRenyi | PreferentialAttachment):
        self.generator: Any = generator
        self.num_edges, self.bytes_per_edge = generator.num_edges, 2 * generator.dtype.itemsize

    def block(self, backend: Backend, rank: int, size: int) -> tuple[Array, ...]:
        return self.generator.block(backend, rank, size)

    def check(self, backend: Backend, made: tuple[Array, ...], rank: int, size: int) -> None:
        blocks = size * max(1, self.num_edges // size // COMPARED)
        ours = self.generator.block(backend, rank * (blocks // size), blocks)
        expected = self.generator.block(get_backend("cpu"), rank * (blocks // size), blocks)
        for mine, whole, theirs in zip(ours, made, expected, strict=True):
            for found in (mine, whole[: len(theirs)]):
                if not np.array_equal(backend.to_host(found), theirs):
                    raise VerificationError(f"{backend.description} made other edges than the CPU in block {rank}")
