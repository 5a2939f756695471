"""Subgraphs of given vertices, and the vertices within some hops, over a store.

What is found in a chunk is what `graphdask.subgraphs` finds in a partition. A subgraph takes one pass over the chunks
that hold rows of its vertices. A hop of a search takes one over those with rows of its frontier. Of several subgraphs
or searches, each rank has some.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.common.compiling import clock
from graphdask.partition.part import Csr, Part
from graphdask.sample.beyond_memory import refuse_beyond_memory
from graphdask.sample.streamed import record
from graphdask.stream.hops import pieces_of
from graphdask.stream.rows import ChunkEnvironment, StoredRows
from graphdask.stream.shared_store import StreamedPart
from graphdask.subgraphs.hops import Hops
from graphdask.subgraphs.reached import neighbours_of
from graphdask.subgraphs.rows import places_in, row_blocks
from graphdask.subgraphs.selected import Selected, set_keys, with_edge_columns


def _no_tables(csr: Csr) -> int:
    return 0


def _stored(sampler: Hops | Selected, part: StreamedPart, env: ChunkEnvironment, inward: bool) -> StoredRows:
    section = part.store.sections["inward" if inward and part.store.header["directed"] else "out"]
    return StoredRows(
        env, part.store, section, part.memory, sampler.name, 0, _no_tables, numbered=sampler.numbered
    )  # fmt: skip


def _sets(sampler: Hops | Selected, vertices: np.ndarray, env: Environment) -> tuple[Array, Array]:
    """The vertices of the own sets, and the set of each."""
    bounds = sampler.bounds[sampler.first : sampler.last + 1]
    instances = np.repeat(np.arange(sampler.first, sampler.last), np.diff(bounds))
    mine = vertices[bounds[0] : bounds[-1]].astype(np.int32)
    return env.backend.from_host(mine), env.backend.from_host(instances)


def _none(sampler: Selected, part: StreamedPart, env: Environment) -> dict[str, Array]:
    """Columns of no edges."""
    dtypes = {"src": np.int32, "dst": np.int32, "instance": np.int64}
    dtypes |= {"weight": part.store.weights} if part.store.weights is not None else {}
    dtypes |= {"edge": np.int64} if sampler.numbered else {}
    return {name: env.xp.zeros(0, dtype) for name, dtype in dtypes.items()}


def between(sampler: Selected, part: StreamedPart, env: ChunkEnvironment) -> tuple[dict[str, Any], StoredRows, int]:
    """The edges of the subgraphs of a rank; also the rows that were gone through, and bytes of what is per vertex."""
    xp, n, stored, started = env.xp, part.num_vertices, _stored(sampler, part, env, False), clock()
    members, instances = _sets(sampler, sampler.members, env)
    keys = set_keys(part, instances, members)
    inside = xp.zeros(n, bool)
    inside[members] = True
    positions, found, edges = stored.positions(members), [_none(sampler, part, env)], 0

    def numbers(slots: Array) -> Array:
        return stored.numbers[slots]

    for which, piece, _ in pieces_of(positions, env, stored, lambda _: None):
        rows = positions[which] - np.int32(piece.first_position)
        found.append(
            _edges(
                sampler, piece, env, rows, instances[which], lambda slots: inside[numbers(slots)],
                keys if sampler.instances > 1 else None, part.store.header["directed"], numbers, edges,
            )
        )  # fmt: skip
        edges += len(found[-1]["src"])
        env.check_deadline(sampler.name, "its pass over the chunks")
    record(env, sampler.name, len(members), edges, started)
    columns = {name: xp.concatenate([each[name] for each in found]) for name in found[0]}
    return columns, stored, (stored.per_vertex + 2) * n


def _edges(
    sampler: Selected, part: Part, env: Environment, rows: Array, instances: Array,
    inside: Callable[[Array], Array], keys: Array | None, directed: bool, numbers: Callable[[Array], Array],
    before: int,
) -> dict[str, Array]:  # fmt: skip
    """Columns of the edges of some own rows, each of a set, to vertices of the same set.

    `inside` says of slots whether they are in a set, `keys` are the pairs of all sets, if there are several, and
    `numbers` gives the vertex numbers of slots. So many edges were found `before`.
    """
    xp, csr, item = env.xp, part.out, part.vertex_map.dtype.itemsize
    ids = part.ids[rows]
    found = {"src": [ids[:0]], "dst": [ids[:0]], "instance": [instances[:0]], "place": [xp.zeros(0, np.int64)]}
    total = before
    for of_each, places in row_blocks(env, csr, rows):
        kept = inside(csr.indices[places])
        of_each, places = of_each[kept], places[kept]
        dst = numbers(csr.indices[places])
        src, instance = ids[of_each], instances[of_each]
        kept = xp.ones(len(src), bool) if directed else src <= dst
        if keys is not None:
            kept &= places_in(xp, keys, set_keys(part, instance, dst))[1]
        total += int(kept.sum())
        refuse_beyond_memory(env, sampler.name, "edges found", total, 2 * (2 * item + 32))
        for name, values in (("src", src), ("dst", dst), ("instance", instance), ("place", places)):
            found[name].append(values[kept])
    columns = {name: xp.concatenate(values) for name, values in found.items()}
    return with_edge_columns(csr, columns, sampler.numbered)


def around(sampler: Hops, part: StreamedPart, env: ChunkEnvironment) -> tuple[dict[str, Any], StoredRows, int]:
    """The vertices that the searches of a rank reach; the rest as `between`."""
    xp, n, stored = env.xp, max(part.num_vertices, 1), _stored(sampler, part, env, sampler.direction == "in")
    seeds, instances = _sets(sampler, sampler.seeds, env)
    visited = xp.unique(set_keys(part, instances, seeds))
    hops = [visited]
    for hop in range(sampler.hops):
        if not len(hops[-1]):
            break
        started, edges, found = clock(), 0, [visited[:0]]
        of_each = hops[-1] // n
        positions = stored.positions((hops[-1] - of_each * n).astype(np.int32))
        for which, piece, _ in pieces_of(positions, env, stored, lambda _: None):
            rows = positions[which] - np.int32(piece.first_position)
            instances, slots, scanned = neighbours_of(
                piece, env, sampler.csrs(piece), of_each[which] * piece.num_owned + rows, sampler.name
            )
            found.append(instances * n + stored.numbers[slots])
            edges += scanned
            env.check_deadline(sampler.name, f"hop {hop}")
        fresh = xp.unique(xp.concatenate(found))
        fresh = fresh[~places_in(xp, visited, fresh)[1]]
        visited = xp.concatenate([visited, fresh])
        visited.sort()
        record(env, sampler.name, len(hops[-1]), edges, started)
        hops.append(fresh)
    pairs = xp.concatenate(hops)
    hop_of = xp.concatenate([xp.full(len(each), hop, np.int32) for hop, each in enumerate(hops)])
    columns = {"vertex": (pairs % n).astype(np.int32), "hop": hop_of, "instance": pairs // n}
    return columns, stored, stored.per_vertex * part.num_vertices
