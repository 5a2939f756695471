"""Sampled neighbourhoods proved in n log n, distributed.

1. Edges stand in the order of their instances, of the hops in these, and of the frontier; all of them are at home on
   the rank that has them.
2. A vertex is expanded at the hop that reaches it first: the frontier of a hop is the seeds, or what the edges of the
   hop before reach that no earlier frontier had, in the order of these edges; all edges of a hop leave its frontier.
3. Every edge is one of the graph's, of a bias above 0. Without replacement an edge that is there m times is there m
   times at most among those drawn for a vertex.
4. Every vertex of a frontier gives as many edges as asked for, or all if it has fewer; in layer sampling all of a
   frontier together; in a fire no more than it has.

Homes ask the owners of the vertices how many edges these have, and how often an edge is there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.build import row_of_each
from graphdask.partition.part import Part
from graphdask.sample.layers import Layers
from graphdask.sample.traversal import Traversal, ids_of_slots
from graphdask.verify.table import verifies


@verifies(Traversal)
def verify(context: RankContext, part: Part, primitive: Traversal, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    return proved(context, part, primitive, result, Owners)


def proved(
    context: RankContext, part: Part, primitive: Traversal, result: RankResult, owners: type[Owners]
) -> Violation | None:
    """Return this rank's first violation, or None, by the edges of a sampler that the owners of vertices know."""
    sampler = primitive if part.size > 1 else primitive.share(context.comm.rank, context.comm.size)
    asked = owners(context, part, sampler)
    columns = {name: context.backend.to_host(column) for name, column in result.columns.items()}
    bounds = sampler.homes(part.size)
    rank = part.rank if part.size > 1 else 0
    mine = standing(sampler, int(bounds[rank]), int(bounds[rank + 1]), part.num_vertices, columns)
    if first_of_all(context, mine):
        return mine
    grown = Grown(sampler, int(bounds[rank]), int(bounds[rank + 1]), part.num_vertices, columns)
    if first_of_all(context, grown.violation):
        return grown.violation
    degrees, there = asked.of_frontiers(grown), asked.of_edges(grown)
    return grown.budgets(degrees) or grown.existing(there)


def standing(sampler: Traversal, first: int, last: int, n: int, columns: dict[str, np.ndarray]) -> Violation | None:
    """Return the first edge that is out of place, judged by itself and the preceding edge."""
    src, dst, hop, instance = (columns[name] for name in ("src", "dst", "hop", "instance"))
    wrong = (instance < first) | (instance >= last) | (hop < 0) | (hop >= len(sampler.fanouts))
    wrong |= (src < 0) | (src >= n) | (dst < 0) | (dst >= n)
    wrong[1:] |= instance[1:] < instance[:-1]
    wrong[1:] |= (instance[1:] == instance[:-1]) & (hop[1:] < hop[:-1])
    return first_wrong(
        wrong, src, dst, instance, "an edge of instance {instance} is out of order, or of no vertex or hop"
    )


def first_wrong(
    wrong: np.ndarray, src: np.ndarray, dst: np.ndarray, instance: np.ndarray, message: str
) -> Violation | None:
    places = np.flatnonzero(wrong)
    if not len(places):
        return None
    place = places[0]
    return Violation(int(src[place]), int(dst[place]), message.replace("{instance}", str(instance[place])))


class Grown:
    """The frontiers that follow from the edges, and what is to be asked about these."""

    def __init__(self, sampler: Traversal, first: int, last: int, n: int, columns: dict[str, np.ndarray]):
        self.sampler, self.violation = sampler, None
        src, dst, hop, instance = (columns[name].astype(np.int64) for name in ("src", "dst", "hop", "instance"))
        of_each = sampler.of(sampler.bounds, first, last + 1)
        vertices = sampler.seeds[of_each[0] : of_each[-1]].astype(np.int64)
        instances = np.repeat(np.arange(first, last), np.diff(of_each))
        visited = keys_of(instances, vertices, first, n)
        frontiers, counts, pairs = [], [], []
        for h in range(len(sampler.fanouts)):
            here = np.flatnonzero(hop == h)
            places, known = _looked_up(
                keys_of(instances, vertices, first, n), keys_of(instance[here], src[here], first, n)
            )
            wrong = ~known
            wrong[1:] |= places[1:] < places[:-1]
            self.violation = first_wrong(
                wrong, src[here], dst[here], instance[here],
                f"in instance {{instance}}, the edge from {{vertex}} to {{other}} leaves no vertex of the frontier of "
                f"hop {h}, or not in its turn",
            )  # fmt: skip
            if self.violation is not None:
                return
            frontiers.append((instances, vertices, np.full(len(vertices), h)))
            counts.append(np.bincount(places, minlength=len(vertices)))
            order = np.lexsort((dst[here], places))
            of_hop = _counted(places[order], src[here][order], dst[here][order], instance[here][order])
            pairs.append((*of_hop, np.full(len(of_hop[0]), h)))
            keys = keys_of(instance[here], dst[here], first, n)
            _, earliest = np.unique(keys, return_index=True)
            fresh = np.sort(earliest[~np.isin(keys[earliest], visited)])
            instances, vertices = instance[here][fresh], dst[here][fresh]
            visited = np.concatenate([visited, keys[fresh]])
        none = [np.zeros(0, np.int64)] * 5
        self.instances, self.vertices, self.hops = (
            np.concatenate(column) for column in zip(none[:3], *frontiers, strict=True)
        )
        self.counts = np.concatenate([none[0], *counts])
        self.src, self.dst, self.times, self.instance, self.hop = (
            np.concatenate(column) for column in zip(none, *pairs, strict=True)
        )

    def budgets(self, degrees: np.ndarray) -> Violation | None:
        """The first vertex or frontier with too many edges, or too few."""
        sampler, counts, vertices = self.sampler, self.counts, self.vertices
        fanouts = np.array([*sampler.fanouts, 0], np.int64)[self.hops]
        if isinstance(sampler, Layers):
            group = self.instances * len(sampler.fanouts) + self.hops
            _, begin, of_group = np.unique(group, return_index=True, return_inverse=True)
            pool, drawn = (np.bincount(of_group, values, len(begin)).astype(np.int64) for values in (degrees, counts))
            wrong, vertices = drawn != np.minimum(fanouts[begin], pool), vertices[begin]
        elif sampler.burn:
            wrong = counts > degrees
        elif sampler.replace:
            wrong = counts != np.where(degrees > 0, fanouts, 0)
        else:
            wrong = counts != np.where(fanouts < 0, degrees, np.minimum(fanouts, degrees))
        places = np.flatnonzero(wrong)
        if not len(places):
            return None
        place = places[0]
        return Violation(int(vertices[place]), -1, "vertex {vertex}, or its frontier, gave too many edges or too few")

    def existing(self, there: np.ndarray) -> Violation | None:
        """Return the first edge that the graph does not have, or not as often."""
        wrong = self.times > there if not self.sampler.replace else there == 0
        message = "in instance {instance}, the edge from {vertex} to {other} is none of the graph, or too often there"
        return first_wrong(wrong, self.src, self.dst, self.instance, message)


def keys_of(instances: np.ndarray, vertices: np.ndarray, first: int, n: int) -> np.ndarray:
    """Return one number for an instance and a vertex, as a Python integer if 64 bits are too few."""
    if len(instances) and (int(instances.max()) - first + 1) * n >= 2**63:
        return (instances - first).astype(object) * n + vertices
    return (instances - first) * n + vertices


def _looked_up(keys: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each of the wanted keys is among distinct ones, and whether it is."""
    if not len(keys):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    order = np.argsort(keys)
    places = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
    return places, np.asarray(keys[places] == wanted, bool)


def _counted(places: np.ndarray, src: np.ndarray, dst: np.ndarray, instance: np.ndarray) -> tuple[np.ndarray, ...]:
    """Distinct (place, dst), which are sorted: src, dst, how often, instance."""
    new = np.ones(len(places), bool)
    new[1:] = (places[1:] != places[:-1]) | (dst[1:] != dst[:-1])
    begin = np.flatnonzero(new)
    return src[begin], dst[begin], np.diff(begin, append=len(places)), instance[begin]


class Owners:
    """Answers of the owners of vertices. Every rank makes one, and asks as often as the others."""

    def __init__(self, context: RankContext, part: Part, sampler: Any):
        self.context, self.part = context, part
        backend = context.backend
        env = context.environment("selective")
        rows = part.inward if sampler.inward else part.out
        assert rows is not None
        row = backend.to_host(row_of_each(backend, rows, 0)).astype(np.int64)
        ids = backend.to_host(ids_of_slots(part, env, rows.indices)).astype(np.int64)
        kept = np.ones(len(ids), bool)
        if sampler.bias == "weight":
            assert rows.weights is not None
            kept = backend.to_host(rows.weights) > 0
        elif sampler.bias == "degree":
            degrees = rows.indptr[1:] - rows.indptr[:-1]
            if part.size > 1:
                (degrees,) = env.fetch_ghosts(part, [degrees])
            kept = backend.to_host(degrees[rows.indices]) > 0
        self._degrees = np.bincount(row[kept], minlength=rows.num_rows)
        self._edges = row[kept] * part.num_vertices + ids[kept]  # rows are in the order of ids

    def of_frontiers(self, grown: Grown) -> np.ndarray:
        """Return how many edges the vertices of the frontiers have."""
        return self.degrees(grown.vertices)

    def of_edges(self, grown: Grown) -> np.ndarray:
        """Return how often the graph has the sampled edges."""
        return self.multiplicities(grown.src, grown.dst)

    def degrees(self, vertices: np.ndarray) -> np.ndarray:
        """Return how many edges vertices have."""
        return self.ask(vertices, lambda rows: self._degrees[rows])

    def multiplicities(self, src: np.ndarray, dst: np.ndarray) -> np.ndarray:
        """Return how often the graph has the edges."""

        def answer(rows: np.ndarray, ends: np.ndarray) -> np.ndarray:
            wanted = rows * self.part.num_vertices + ends
            return np.searchsorted(self._edges, wanted, "right") - np.searchsorted(self._edges, wanted, "left")

        return self.ask(src, answer, dst)

    def ask(self, vertices: np.ndarray, answer: Callable[..., np.ndarray], *more: np.ndarray) -> np.ndarray:
        """Return the answers of the owners of vertices, who get the rows of these and the columns of `more`."""
        part, backend, comm = self.part, self.context.backend, self.context.comm
        dtype = part.vertex_map.dtype
        positions = part.vertex_map.to_position(backend, backend.from_host(vertices.astype(dtype)))
        positions = backend.to_host(positions).astype(np.int64)
        if part.size == 1:
            return answer(positions, *more)
        offsets = part.vertex_map.offsets
        owners = np.searchsorted(offsets[1:-1], positions, side="right")
        order = np.argsort(owners, kind="stable")
        cuts = np.searchsorted(owners[order], np.arange(1, part.size))

        def exchanged(pieces: list[np.ndarray]) -> list[np.ndarray]:
            received = comm.alltoallv([backend.from_host(np.ascontiguousarray(piece)) for piece in pieces])
            return [backend.to_host(piece) for piece in received]

        rows = exchanged(np.split((positions - offsets[owners])[order], cuts))
        columns = [rows, *(exchanged(np.split(column[order].astype(np.int64), cuts)) for column in more)]
        answers = exchanged([answer(*of_one).astype(np.int64) for of_one in zip(*columns, strict=True)])
        out = np.empty(len(vertices), np.int64)
        out[order] = np.concatenate(answers)
        return out
