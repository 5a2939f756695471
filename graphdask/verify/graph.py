"""Partitions proved against the lineage of their graph, in linear time, distributed.

1. Every stored neighbour is a slot.
2. The stored edges are those of the lineage: each rank makes its piece again, and the sums over all ranks of a 64-bit
   hash of every edge, stored and made again, are equal, as are the numbers of edges. Two different sets of edges pass
   with probability 2**-64.
3. The edges of a generated graph follow the definition of the generator, computed without its kernels: for R-MAT and
   uniform random graphs all of them, in array code; for preferential attachment those of a sample of the vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.engine.loop import RankContext
from graphdask.errors import VerificationError
from graphdask.generate.arguments import share
from graphdask.generate.copy_model import DistinctAttachment
from graphdask.generate.erdos_renyi import ErdosRenyi
from graphdask.generate.preferential_attachment import PreferentialAttachment
from graphdask.generate.rmat import RMat
from graphdask.partition.build import from_cyclic, row_of_each, to_cyclic_positions, to_owners
from graphdask.partition.part import Part
from graphdask.partition.reversed import ReversedGenerator
from graphdask.partition.sources import GeneratedPiece
from graphdask.verify import copy_model, erdos_renyi, preferential_attachment, rmat
from graphdask.verify.tuning import VERIFY


def verify(context: RankContext, part: Part, piece: Any, directed: bool, merge: bool) -> str:
    """Return what is wrong with the partitions as a whole, or an empty string; every rank must call it.

    Raises
    ------
    VerificationError
        Where a generator does not follow its definition, naming the vertex.
    """
    backend, xp = context.backend, context.backend.xp
    src, dst, _ = piece.edges(backend)
    if isinstance(piece, GeneratedPiece):
        _check_definition(backend, piece, src, dst)
    if not directed:
        other_way = src != dst
        src, dst = xp.concatenate([src, dst[other_way]]), xp.concatenate([dst, src[other_way]])
    if merge:
        src, dst = _distinct(context, part, src, dst)
    made = np.array([len(src), _hash_sum(src, dst)], np.uint64)
    all_rows = row_of_each(backend, part.out, part.first_position)
    stored_hash = strangers = 0
    for first in range(0, part.out.num_edges, VERIFY.stored_edges):
        edges = slice(first, first + VERIFY.stored_edges)
        rows = all_rows[edges]
        slots = part.out.indices[edges]
        if len(slots) and not 0 <= int(slots.min()) <= int(slots.max()) < part.num_slots:
            strangers = 1
            break
        columns = from_cyclic(part, to_cyclic_positions(part, slots))
        ids = part.vertex_map.to_id(backend, rows), part.vertex_map.to_id(backend, columns)
        stored_hash = (stored_hash + _hash_sum(*ids)) % 2**64
    stored = np.array([part.out.num_edges, stored_hash], np.uint64)
    everyone = context.comm.allgather(np.concatenate([made, stored, [np.uint64(strangers)]]))
    with np.errstate(over="ignore"):
        edges_made, hash_made, edges_stored, hash_stored, strangers = (int(x) for x in everyone.sum(axis=0))
    if strangers:
        return "a partition names a slot that does not exist"
    if edges_made != edges_stored:
        return f"the partitions hold {edges_stored} directed edges, the graph has {edges_made}"
    return "" if hash_made == hash_stored else "the partitions hold other edges than the graph has"


def _check_definition(backend: Backend, piece: GeneratedPiece, src: Array, dst: Array) -> None:
    """Raise VerificationError where edges do not follow the definition of their generator."""
    generator = piece.generator
    if isinstance(generator, ReversedGenerator):
        generator, src, dst = generator.generator, dst, src
    if isinstance(generator, PreferentialAttachment):
        preferential_attachment.check(backend, generator, *generator.vertices(piece.rank, piece.size), dst)
    elif isinstance(generator, DistinctAttachment):
        copy_model.check(backend, generator, *generator.vertices(piece.rank, piece.size), dst)
    elif isinstance(generator, RMat):
        rmat.check(backend, generator, *share(generator.num_edges, piece.rank, piece.size), src, dst)
    elif isinstance(generator, ErdosRenyi):
        erdos_renyi.check(backend, generator, *share(generator.num_edges, piece.rank, piece.size), src, dst)


def _distinct(context: RankContext, part: Part, src: Array, dst: Array) -> tuple[Array, Array]:
    """Bring every edge to the owner of its source; return those here, each once."""
    backend, xp = context.backend, context.backend.xp
    at, other = part.vertex_map.to_position(backend, src), part.vertex_map.to_position(backend, dst)
    at, other, _ = to_owners(context.comm, backend, part.vertex_map.offsets, at, other, None)
    order = xp.argsort(other, kind="stable")
    order = order[xp.argsort(at[order], kind="stable")]
    at, other = at[order], other[order]
    if len(at):
        keep = xp.concatenate([xp.ones(1, bool), (at[1:] != at[:-1]) | (other[1:] != other[:-1])])
        at, other = at[keep], other[keep]
    return part.vertex_map.to_id(backend, at), part.vertex_map.to_id(backend, other)


def _hash_sum(src: Array, dst: Array) -> int:
    """The sum, modulo 2**64, of a hash of each edge."""
    total = 0
    for first in range(0, len(src), VERIFY.stored_edges):
        x = src[first : first + VERIFY.stored_edges].astype(np.uint64)
        x *= np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(29)
        x += dst[first : first + VERIFY.stored_edges].astype(np.uint64)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x ^= x >> np.uint64(shift)
            x *= np.uint64(factor)
        x ^= x >> np.uint64(31)
        total += int(x.sum(dtype=np.uint64))
    return total & (2**64 - 1)


def raise_violation(reasons: list[str]) -> None:
    """Raise VerificationError with the first reason that there is."""
    for reason in reasons:
        if reason:
            raise VerificationError(reason)
