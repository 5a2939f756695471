"""The lineage of a graph whose edges are turned round: the same pieces, each with its two ends exchanged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.partition.sources import ArraySource, ChunkSource, Edges, EdgeSource, GeneratedSource, Piece


def reversed_source(source: EdgeSource) -> EdgeSource:
    """Return the edges of a source, turned round; weights and rows stay those of the edges."""
    if isinstance(source, ReversedSource):
        return source.base
    if isinstance(source, ArraySource):
        return ArraySource(
            source.num_vertices, source.dst, source.src, source.weights, source.known_skewed, source.kept,
            source.rows_given,
        )  # fmt: skip
    if isinstance(source, ChunkSource):
        chunks = [chunk.chunk if isinstance(chunk, ReversedChunk) else ReversedChunk(chunk) for chunk in source.chunks]
        return ChunkSource(source.num_vertices, source.num_edges, chunks, source.weight_dtype, source.skewed)
    if isinstance(source, GeneratedSource):
        made = source.generator
        other = made.generator if isinstance(made, ReversedGenerator) else ReversedGenerator(made)
        return GeneratedSource(other, source.skewed, source.weights)
    return ReversedSource(source)


@dataclass(frozen=True)
class ReversedChunk:
    """A chunk with its ends exchanged."""

    chunk: Callable[[], tuple[np.ndarray, np.ndarray, np.ndarray | None]]

    def __call__(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        src, dst, weights = self.chunk()
        return dst, src, weights


class ReversedGenerator:
    """A generator with the ends of its edges exchanged; weights of pairs are the same in both directions."""

    def __init__(self, generator: Any):
        self.generator = generator
        self.num_vertices, self.num_edges = generator.num_vertices, generator.num_edges
        self.drops_self_loops: bool = getattr(generator, "drops_self_loops", False)
        self.cumulative: bool = getattr(generator, "cumulative", False)

    def block(self, backend: Backend, rank: int, size: int) -> tuple[Array, Array]:
        """A block of the generator, its sources and destinations exchanged."""
        src, dst = self.generator.block(backend, rank, size)
        return dst, src

    def block_edges(self, rank: int, size: int) -> int | None:
        """Length of a block, if the generator knows it before it makes the block."""
        known = getattr(self.generator, "block_edges", None)
        return None if known is None else known(rank, size)

    def __repr__(self) -> str:
        return f"reversed {self.generator!r}"


@dataclass(frozen=True)
class ReversedPiece:
    """A piece with its ends exchanged."""

    base: Piece

    def edges(self, backend: Backend) -> Edges:
        src, dst, weights = self.base.edges(backend)
        return dst, src, weights


class ReversedSource:
    """The edges of a source of another kind, such as a file on disk or a graph after batches, turned round."""

    def __init__(self, base: EdgeSource):
        self.base = base
        self.num_vertices, self.weight_dtype = base.num_vertices, base.weight_dtype
        self.skewed, self.drops_self_loops = base.skewed, base.drops_self_loops

    @property
    def num_edges(self) -> int:
        """As many as the source has."""
        return self.base.num_edges

    def piece(self, rank: int, size: int) -> ReversedPiece:
        return ReversedPiece(self.base.piece(rank, size))
