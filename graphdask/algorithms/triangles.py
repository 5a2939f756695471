"""Triangles through each vertex, and the links among its neighbours.

Vertices are ordered by degree, equal ones by position. Each pair of neighbours becomes one edge from the lower to the
higher vertex, and a triangle is found once: at its middle vertex v, for its lowest vertex u, as a w that stands behind
v in the row of u and in the row of v. Rows of higher neighbours are short, even those of hubs. The rows of lower ghosts
come from their owners in batches, one a superstep, none larger than the partition's own rows; then the counts of ghosts
are sent to their owners.

The order decides where a triangle is found, not what is counted. Sources: Chiba, Nishizeki, Arboricity and subgraph
listing algorithms (1985); Schank, Wagner, Finding, counting and listing all triangles in large graphs (2005).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms.summaries import largest
from graphdask.algorithms.tuning import TRIANGLES
from graphdask.device.ahead import Family, family
from graphdask.device.backend import Array
from graphdask.display import terminal
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import Environment, Inbox, Messages, Primitive
from graphdask.graph.graph import Graph, checked_undirected
from graphdask.interface.parameters import of_undirected
from graphdask.interface.registry import algorithm
from graphdask.kernels.triangles.triangles_pack import COUNTS, TriangleRows
from graphdask.partition.build import from_cyclic, row_of_each, tally, to_cyclic_positions
from graphdask.partition.neighbours import distinct_blocks, places_of
from graphdask.partition.part import Csr, Part
from graphdask.partition.tuning import PARTITION
from graphdask.results.result import Result

THREADS = 256
"""Of a block of the kernel that counts."""


@dataclass
class TrianglesState:
    rows: Csr
    """Numbers of the higher neighbours of the own vertices, ascending; the weights say in how many directions they are
    joined, where that is not the same for all."""
    number: Array
    """Place of each slot in the order."""
    pack: TriangleRows
    """What the kernel works on: `links` per slot, and what was found."""
    degree: Array
    """int64 per slot: entries that the slot is an end of."""
    batches: Iterator[Csr]
    left: int
    """Batches to come."""
    triangles: int = 0
    """Of all ranks."""
    added: int = 0


class TrianglesResult(Result):
    """What `triangles` returns."""

    columns = ("count",)

    @property
    def count(self) -> np.ndarray:
        """Triangles through each vertex; int64, shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("count")

    @property
    def total(self) -> int:
        """Triangles of the whole graph."""
        return int(self._value("triangles"))


def other_order(xp: Any, degree: Array, position: Array) -> Array:
    """An order as good as that of degrees, by which other vertices are the lowest of a triangle; int64, below 2**26.

    Degrees are rounded down to powers of two, and vertices of the same one stand in a scattered order.
    """
    scattered = (position.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(44)
    return (xp.frexp(degree.astype(np.float64))[1].astype(np.int64) << 20) + scattered.astype(np.int64)


class Triangles(Primitive[TrianglesState]):
    """The primitive that counts triangles. It ignores the direction of edges.

    `again` counts them by `other_order`, as verification does.
    """

    name = "triangles"
    columns: ClassVar[Mapping[str, Any]] = {"links": np.int64, "degree": np.int64}
    result_type: Any = TrianglesResult
    votes = 4
    queues = False

    def __init__(self, again: bool = False) -> None:
        self.again = again

    @property
    def inward(self) -> bool:
        return True

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (family("triangles", index_t=index), family("tally", index_t=index))

    def memory(self, part: Part, allocation: Allocation) -> int:
        csrs, item = part.directions, part.vertex_map.dtype.itemsize
        arcs = sum(csr.num_edges for csr in csrs)
        batch = min(max(TRIANGLES.rows, arcs // 2), arcs) if part.size > 1 else 0
        on_device = type(csrs[0].indptr) is not np.ndarray
        # rows, their sources, of which CuPy makes copies while it adds them up, and then the edges by vertex
        listed = max(3 * item, item + 8) if on_device else item + 8
        finding = (item + 1 + listed + (item if part.size > 1 else 0)) * arcs // 2 + (6 * item + 28) * batch
        # pieces and the arrays that they are put together to; keys of a piece, on a device twice while they are sorted
        of_key = (2 * len(csrs) - 1) * item + (36 if on_device else 20)
        sorting = (item + 1) * arcs + of_key * min(PARTITION.block_edges, arcs)
        return max(finding + 80 * part.num_slots, sorting + 24 * part.num_slots) + 2 * item * part.num_slots

    def init(self, part: Part, env: Environment) -> tuple[TrianglesState, Messages]:
        xp, slots, dtype = env.xp, part.num_slots, part.vertex_map.dtype
        slot_of = self._ascending(part, env).astype(dtype)
        number = xp.empty(slots, dtype)
        number[slot_of] = xp.arange(slots, dtype=dtype)
        wanted = xp.zeros(slots, bool)
        rows = self._higher_neighbours(part, env, number, wanted)
        degree = tally(env.backend, slot_of[rows.indices], slots)
        degree[: part.num_owned] += rows.indptr[1:] - rows.indptr[:-1]
        given = Csr(rows.indptr, slot_of[rows.indices], rows.weights) if part.size > 1 else rows
        left, batches = env.ghost_rows(part, given, wanted, max(TRIANGLES.rows, rows.num_edges))
        pack = TriangleRows(
            owned=part.num_owned, slot_of=slot_of, indptr=rows.indptr, indices=rows.indices, ties=rows.weights,
            links=xp.zeros(slots, np.int64), counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        state = TrianglesState(rows, number, pack, degree, batches, left)
        of_slots = xp.full(slots + 1, rows.num_edges, np.int64)
        of_slots[: part.num_owned + 1] = rows.indptr
        return state, self._count(part, state, Csr(of_slots, rows.indices, rows.weights), env)

    def _ascending(self, part: Part, env: Environment) -> Array:
        """The slots from the lowest to the highest in an order that all ranks have."""
        xp, n = env.xp, max(part.num_vertices, 1)
        degree = sum(csr.indptr[1:] - csr.indptr[:-1] for csr in part.directions)
        if part.size == 1 and not self.again:
            narrow = len(degree) and int(degree.max()) < 1 << 16  # NumPy sorts these by digits
            return xp.argsort(degree.astype(np.uint16) if narrow else degree, kind="stable")
        (order,) = env.fetch_ghosts(part, [xp.minimum(degree, np.iinfo(np.int64).max // n - 1)])
        slots = xp.arange(part.num_slots, dtype=part.vertex_map.dtype)
        position = from_cyclic(part, to_cyclic_positions(part, slots))
        if self.again:
            order = other_order(xp, order, position)
        order *= n
        order += position
        return xp.argsort(order)

    def _higher_neighbours(self, part: Part, env: Environment, number: Array, wanted: Array) -> Csr:
        """Numbers of the higher neighbours of own vertices, with ties where they differ; says which slots are lower."""
        xp, backend = env.xp, env.backend
        several = part.inward is not part.out
        indptr = xp.zeros(part.num_owned + 1, np.int64)
        indices, ties = [part.ids[:0]], [xp.zeros(0, np.uint8)]

        def higher(rows: Array, slots: Array) -> Array:
            found = number[rows] < number[slots]
            if part.size > 1:
                wanted[slots[~found]] = True
            return found

        for block in distinct_blocks(backend, part, higher, number):
            lengths = tally(backend, block.rows - block.rows.dtype.type(block.first), block.last - block.first)
            indptr[block.first + 1 : block.last + 1] = lengths
            indices.append(block.slots)
            if several:
                ties.append(block.ways)
        return Csr(xp.cumsum(indptr), xp.concatenate(indices), xp.concatenate(ties) if several else None)

    def _count(self, part: Part, state: TrianglesState, others: Csr, env: Environment) -> Messages:
        """Count triangles whose lowest vertex has its row in `others`; after the last rows, send those of ghosts."""
        pack = state.pack
        before = pack.read_counters(env.backend).candidates
        pack.assign(
            ptr=others.indptr, others=others.indices, other_ties=others.weights,
            source=row_of_each(env.backend, others, 0),
        )  # fmt: skip
        kernels = env.kernels("triangles", index_t=part.vertex_map.dtype)
        jobs = self._jobs(part, state, others.num_edges, kernels, env)
        kernels.triangles_count(jobs, pack, threads=THREADS, per_item=THREADS)
        pack.release("ptr", "others", "other_ties", "source", "edge", "edge_ptr", "jobs", "job_ptr", "ends")
        triangles, looked_at, added = pack.read_counters(env.backend)
        none = ghosts = part.ids[:0]
        votes: tuple[int, ...] = ()
        if state.left == 0:
            ghosts = places_of(env.xp, (state.degree | pack.links)[part.num_owned :]).astype(none.dtype)
            ghosts += none.dtype.type(part.num_owned)
            votes = (triangles >> 32, triangles & 0xFFFFFFFF, added >> 32, added & 0xFFFFFFFF)
        values = {"links": state.pack.links, "degree": state.degree}
        return Messages(none, ghosts, values, True, part.num_owned, looked_at - before, votes=votes)

    def _jobs(self, part: Part, state: TrianglesState, edges: int, kernels: Any, env: Environment) -> int:
        """List the edges to each own vertex, and share them out as jobs; return how many."""
        xp, backend, pack, indptr = env.xp, env.backend, state.pack, state.rows.indptr
        pack.ends = xp.zeros(part.num_owned, np.int64)
        kernels.triangles_tally(edges, pack)
        edge_ptr = xp.zeros(part.num_owned + 1, np.int64)
        xp.cumsum(pack.ends, out=edge_ptr[1:])
        pack.assign(ends=edge_ptr[:-1].copy(), edge=xp.empty(int(edge_ptr[-1]), np.int64), edge_ptr=edge_ptr)
        kernels.triangles_list(edges, pack)
        pack.share = TRIANGLES.share if backend.name == "cuda" else max(1, edges)
        jobs = (edge_ptr[1:] - edge_ptr[:-1] + (pack.share - 1)) // pack.share
        short = indptr[1:] - indptr[:-1] <= TRIANGLES.short
        listed, job_ptr, before = [], xp.zeros(part.num_owned, np.int64), 0
        for some in (short, ~short):
            ends = xp.zeros(part.num_owned + 1, np.int64)
            xp.cumsum(jobs * some, out=ends[1:])
            job_ptr += (ends[:-1] + before) * some
            count = int(ends[-1])
            listed.append(row_of_each(backend, Csr(ends, xp.empty(count, part.ids.dtype)), 0))
            before += count
        pack.of_warps = len(listed[0])
        pack.assign(jobs=xp.concatenate(listed), job_ptr=job_ptr)
        return before

    def superstep(self, part: Part, state: TrianglesState, inbox: Inbox, env: Environment) -> Messages:
        if state.left:
            state.left -= 1
            batch = next(state.batches)
            batch.indices = state.number[batch.indices]
            return self._count(part, state, batch, env)
        for message in inbox.received:
            state.pack.links[message.slots] += message.columns["links"]
            state.degree[message.slots] += message.columns["degree"]
        high, low, added_high, added_low = (int(x) for x in inbox.votes.sum(axis=0))
        state.triangles, state.added = (high << 32) + low, (added_high << 32) + added_low
        return Messages(part.ids[:0], part.ids[:0], {"links": state.pack.links, "degree": state.degree}, False)

    def result(self, part: Part, state: TrianglesState, env: Environment) -> dict[str, Any]:
        count = state.pack.links[: part.num_owned].copy()
        return {"count": count, "triangles": state.triangles}


def _summary(result: Any) -> dict[str, Any]:
    return {"triangles": result.total} | largest(result, "count")


def _words(found: dict[str, Any]) -> str:
    words = terminal.count(found["triangles"], "triangle")
    return f"{words}, at most {found['largest_count']:,} at {found['at']}" if "at" in found else words


@algorithm(
    "triangles", TrianglesResult, "Triangles through every vertex of an undirected graph.", summary=_summary,
    words=_words, undirected=True, also="triangle_count count_triangles triangle_counting tc",
)  # fmt: skip
@of_undirected
def triangles(
    G: Graph,
    *,
    exchange: str | None = None,
    client: Any = None,
    progress: bool | None = None,
) -> TrianglesResult:
    """Count the triangles through each vertex of an undirected graph, and in all.

    Parallel edges count once and self-loops not at all: three vertices that are neighbours of each other are one
    triangle.

    Returns
    -------
    TrianglesResult
        With `count`, int64 of shape (num_vertices,), in the order of `G.vertex_ids`, and `total`, their sum divided by
        three; identical for every number of partitions and on every device.

    Raises
    ------
    InputError
        Where `G` is not a Graph or directed, or an argument has no such value.

    References
    ----------
    Schank, Wagner: Finding, counting and listing all triangles in large graphs, WEA 2005.

    Examples
    --------
    >>> import graphdask as gd
    >>> r = gd.triangles(gd.from_edges([0, 1, 2, 2], [1, 2, 0, 3], directed=False))
    >>> r.count.tolist(), r.total
    ([1, 1, 1, 0], 1)
    """
    checked_undirected(G, "triangles")
    return execute.run(G, Triangles(), exchange=exchange, client=client, progress=progress)
