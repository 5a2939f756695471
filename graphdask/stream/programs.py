"""Programs over a store: states of all vertices are in memory, and a superstep is a pass over the chunks.

The primitive is that of a graph in memory (`graphdask.program.primitive`), and so are its kernels; they take the rows
of a chunk at a time. Messages that are pushed come to the same in any order: only chunks with a row of a vertex that
sends are read. Where messages are pulled, all chunks are read. Rows are whole, and their edges in the order that they
have in memory, so that floats are added in the same order. Passes change their direction, because what was read last
may still be there. Sweeps until nothing changes would take fewer passes for some programs, but a message could go
through several vertices in a superstep: states would depend on the chunks.

The proof: the program is run again, as `graphdask.verify.program` describes; each rank compares its own vertices.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphdask.device.backend import Array, Backend
from graphdask.device.residency import fetched
from graphdask.engine.buffers import MAXIMAL, ROW, Allocation
from graphdask.engine.loop import Environment, Messages, RankContext, RankResult
from graphdask.engine.violation import Violation
from graphdask.errors import OverBudget, Unsupported
from graphdask.partition.part import Csr, Part
from graphdask.program.primitive import VertexProgram
from graphdask.program.state import ProgramState
from graphdask.stream.chunked_rows import ChunkedRows, chunks_bytes
from graphdask.stream.columns_read import ColumnsRead
from graphdask.stream.format import mib_up
from graphdask.stream.forms import STREAMED, Streamed, Supersteps, combined
from graphdask.stream.shared_store import StreamedPart, own_numbers
from graphdask.stream.store import Store
from graphdask.verify.program import differing, repeated

VALUE = 8
"""Bytes of a value of a column, at most."""


@dataclass
class StoredRows(Csr):
    """The own rows of a section, whose edges are in its chunks. `indptr` is empty unless it is asked for."""

    section: str = "out"
    edges: int = 0

    @property
    def num_edges(self) -> int:
        return self.edges


def with_rows(part: StreamedPart) -> StreamedPart:
    """The share of a store, with rows that say in which section they are."""
    store, nothing = part.store, np.zeros(0, np.int32)
    weights = None if store.weights is None else np.zeros(0, store.weights)

    def rows(name: str) -> StoredRows:
        chunks = part.own.chunks[name]
        edges = int(store.sections[name].table["edges"][chunks.start : chunks.stop].sum())
        return StoredRows(np.zeros(1, np.int64), nothing, weights, section=name, edges=edges)

    out = rows("out")
    inward = out if not store.header["directed"] else rows("inward") if "inward" in store.sections else None
    return replace(part, out=out, inward=inward)


class StreamedProgram(ChunkedRows, VertexProgram):
    """The primitive over a share of a store; one object for each run."""

    resident, counts_ahead = False, True

    def __init__(self, part: StreamedPart, primitive: VertexProgram, stack: ExitStack):
        self.__dict__.update(primitive.__dict__)
        self.begin(stack)
        self._forward = True
        self._keeps, self._kept = False, dict[tuple[str, int], dict[str, Array]]()
        """Whether half of the memory that the state leaves can hold the columns of all edges; those of chunks."""
        self._require(part, self._least(part))

    def _least(self, part: StreamedPart) -> int:
        """Bytes of chunks at least."""
        return chunks_bytes(part, self.sections(part))

    def _require(self, part: StreamedPart, chunks: int) -> None:
        state = self.memory(part, MAXIMAL)
        if state + chunks > part.memory:
            raise OverBudget(
                f"{self.name} takes {state / 2**20:,.1f} MiB for the states of vertices and their messages, and "
                f"{chunks / 2**20:,.1f} MiB for chunks, and memory= gives {part.memory / 2**20:,.1f} MiB; open with "
                f"{mib_up(state + chunks - part.memory)} more, or build the file with a smaller chunk="
            )

    def sections(self, part: StreamedPart) -> list[str]:
        rows = self.rows_of(with_rows(part), self.definition.pushes)
        return [each.section for each in rows]  # type: ignore[attr-defined]

    def memory(self, part: StreamedPart, allocation: Allocation) -> int:  # type: ignore[override]
        of, slots, owned, several = self.definition, part.num_slots, part.num_owned, part.size > 1
        index = part.vertex_map.dtype.itemsize
        state = sum(each.stored.itemsize for each in of.state)
        message = sum(dtype.itemsize for dtype in of.message_dtypes)
        ahead = message if of.by_source else sum(of.state[i].stored.itemsize for i in of.sent)
        facts = 4 * of.asks_ids + 8 * (of.wants("degree") + of.wants("in_degree"))
        sent = message + 8 if of.pushes else ahead + 4
        per_slot = state + message * (1 + of.by_source) + 4 + facts + 1 + 4  # bits; where each vertex stands
        per_slot += (2 * sent + 4) * several  # on their way, and the list of ghosts
        ends = 8 * len(self._ends(with_rows(part)))
        per_own = state + 4 + 3 * 4 + 8 * of.chooses + ends + 8 * (facts > 0)  # answers, ids, and lists of vertices
        given = sum(values.nbytes for _, values in self.first.values())
        names = 0 if self.names is None or part.device == "cpu" else self.names.nbytes
        rows = self.rows_of(with_rows(part), of.pushes)
        hubs = index * (max(each.num_edges for each in rows) // ROW + 1)
        return slots * per_slot + owned * per_own + given + names + hubs + self.columns_bytes(part)

    def columns_bytes(self, part: StreamedPart) -> int:
        """Bytes of the columns that are read: of all vertices, and of the edges of a chunk with their rows."""
        store, of_edges = part.store, sum(at.place != "slots" for at in self.reads)
        most = max(int(store.sections[name].table["edges"].max(initial=0)) for name in self.sections(part))
        rows = 0 if store.edge_rows is None or not of_edges else store.edge_rows.itemsize
        return VALUE * part.num_slots * (len(self.reads) - of_edges) + (VALUE * of_edges + rows) * most

    def _ends(self, part: Part) -> list[Csr]:
        """The rows of which it has to be known where each begins."""
        of = self.definition
        found = self.rows_of(part, True) if of.by_source else []
        if of.wants("degree"):
            found = [*found, part.out]
        if of.wants("in_degree"):
            assert part.inward is not None
            found = [*found, part.inward]
        return list({id(each): each for each in found}.values())

    def view(self, part: StreamedPart, backend: Backend) -> StreamedPart:
        return self.described(super().view(part, backend), backend)

    def described(self, part: StreamedPart, backend: Backend) -> StreamedPart:
        """The share of the store, with the numbers of own vertices, and with the ends of rows that are asked for."""
        made = with_rows(part)
        made.ids = backend.from_host(own_numbers(part))
        if part.size == 1:
            made.mirrors = [made.ids[:0]]  # on the device
        for rows in self._ends(made):
            rows.indptr = backend.from_host(_ends_of(part, rows.section))  # type: ignore[attr-defined]
        if self.reads:
            self._read = ColumnsRead(part.store, backend)
            for rows in self.rows_of(made, self.definition.pushes):
                rows.columns = self._read.of_edges(self._names, np.zeros(0, np.int64))
            by_slot = {at: self._read.by_slot(at.name, part.own.begin) for at in self.reads if at.place == "slots"}
            made.columns = {**made.columns, **by_slot}
        return made

    @property
    def _names(self) -> set[str]:
        """The columns of edges that are read."""
        return {at.name for at in self.reads if at.place != "slots"}

    def columns_of(self, part: StreamedPart, name: str, number: int) -> dict[str, Array]:
        if not self._names:
            return {}
        found = self._kept.get((name, number))
        if found is None:
            found = self._read.of_edges(self._names, part.store.edge_numbers(part.store.sections[name], number))
            if self._keeps:
                self._kept[name, number] = found
        return found

    def init(self, part: StreamedPart, env: Environment) -> tuple[ProgramState, Messages]:  # type: ignore[override]
        self._open(part, env)
        return super().init(part, env)

    def _open(self, part: StreamedPart, env: Environment) -> None:
        """Open the windows, and decide whether the columns that are read stay in memory."""
        taken, own = self.memory(part, env.allocation), part.own.chunks
        edges = sum(
            int(part.store.sections[name].table["edges"][own[name].start : own[name].stop].sum())
            for name in self.sections(part)
        )  # fmt: skip
        columns = VALUE * edges * len(self._names)
        self._keeps = 0 < columns <= (self._free_memory(part, env) - taken) // 2
        self.open_windows(part, env, taken + (columns if self._keeps else 0))

    def resumed(  # type: ignore[override]
        self, part: StreamedPart, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[ProgramState, Messages]:
        self._open(part, env)
        return super().resumed(part, columns, numbers, env)

    def _pieces(  # type: ignore[override]
        self, part: StreamedPart, rows: StoredRows, count: int, listed: Array | None, env: Environment
    ) -> Iterator[tuple[int, int, Array | None, Csr]]:
        self._forward = not self._forward
        if listed is None:
            for first, csr in self.every_piece(part, rows.section, self._forward):
                yield first, csr.num_rows, None, csr
            return
        listed = env.xp.sort(listed[:count])
        for some, first, csr in self.pieces(part, rows.section, listed, env, self._forward):
            yield first, some.stop - some.start, listed[some], csr

    def _send(self, part: Part, state: ProgramState, env: Environment) -> Messages:
        messages = super()._send(part, state, env)
        if not self.definition.pushes:  # all own vertices have pulled, if there was a superstep
            messages.frontier = part.num_owned if state.done else 0
        return messages

    def idle(self, state: ProgramState) -> float:
        return self.log.idle()

    def result(self, part: StreamedPart, state: ProgramState, env: Environment) -> dict[str, Any]:  # type: ignore[override]
        found = super().result(part, state, env)
        if part.size == 1:
            return found
        return {name: value.copy() if np.ndim(value) else value for name, value in found.items()}


def _ends_of(part: StreamedPart, name: str) -> np.ndarray:
    """int64: where each own row of a section begins, and the last one ends, if they stood one after the other."""
    own = part.own
    found = np.zeros(own.count + 1, np.int64)
    for first, degrees, _ in part.store.rows(part.store.sections[name], own.chunks[name]):
        low, high = max(own.begin - first, 0), min(own.end - first, len(degrees))
        found[first + low - own.begin + 1 : first + high - own.begin + 1] = degrees[low:high]
    np.cumsum(found, out=found)
    return found


def refuse_without_rows(store: Store, primitive: VertexProgram) -> None:
    """Raise where the store has not the edges that the program needs, before anything is read."""
    if primitive.inward and "inward" not in store.sections:
        raise Unsupported(
            f"{primitive.name} goes along in-edges or asks for in_degree, and {store.path} was built without in-edges; "
            "build it with inward=True"
        )


def proved(context: RankContext, part: StreamedPart, primitive: VertexProgram, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    beside = sum(column.nbytes for column in result.columns.values())
    whole = replace(part, memory=part.memory - beside)
    found = FORM(context, whole, repeated(with_rows(part), primitive))
    found = replace(found, columns={name: fetched(column) for name, column in found.columns.items()})
    ids = np.arange(part.num_vertices) if part.size == 1 else own_numbers(part)
    return differing(context, replace(part, ids=ids), primitive, result, found)


def program_of(part: StreamedPart, primitive: VertexProgram, stack: ExitStack) -> StreamedProgram:
    """What runs a program on a rank, with what its primitive does otherwise than that of all programs."""
    made: StreamedProgram = combined(StreamedProgram, type(primitive))(part, primitive, stack)
    return made


FORM = Supersteps(program_of)
STREAMED[VertexProgram] = Streamed(FORM, refuse_without_rows, inherited=True, resumes=True)
