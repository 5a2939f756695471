"""DynamicGraph: a graph whose edges change in batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.dynamic.batch_columns import ColumnsOfBatches, inserted_columns
from graphdask.dynamic.batch_frames import as_columns, frame_edges, is_frame
from graphdask.errors import InputError, shown
from graphdask.graph.checked import checked_ids, checked_weights
from graphdask.graph.graph import Graph, checked_graph
from graphdask.graph.typed import TypedGraph
from graphdask.interface.kinds import Own
from graphdask.kernels.common.compiling import Timer
from graphdask.partition.changes import MOST_VERTICES, Batch, ChangedSource, Insertions, Log, no_batch
from graphdask.partition.ids import VertexIds
from graphdask.partition.vertex_map import index_dtype


@dataclass(frozen=True)
class Update:
    """What a batch changed."""

    version: int
    """Of the graph afterwards."""
    inserted: int
    """Edges inserted that were not there, or that the batch had deleted before."""
    deleted: int
    """Edges deleted that were there."""
    duplicates: int
    """Insertions of edges that were there, or that the batch inserts again; the weight of the last one counts."""
    absent: int
    """Deletions of edges that were not there, or that the batch deletes again."""
    vertices: int
    """Vertices that appeared."""
    seconds: float
    """On the workers, with what was sent to them, without `compile_seconds`."""
    compile_seconds: float
    """For which kernels were compiled that were used for the first time."""
    ids: Any = field(repr=False)
    """Finds the caller's ids of vertex numbers."""
    batch: Batch = field(repr=False)
    """The distinct edges, in vertex numbers."""
    there: np.ndarray = field(repr=False)
    """Which of them were there before."""

    @cached_property
    def added(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and destination, by the caller's ids, of the edges that are there now and were not before."""
        return self._ends(self.batch.insert & ~self.there)

    @cached_property
    def removed(self) -> tuple[np.ndarray, np.ndarray]:
        """Source and destination of the edges that were there before and are not now."""
        return self._ends(self.there & ~self.batch.insert)

    def _ends(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        src, dst = self.batch.ends(which)
        return self.ids(src), self.ids(dst)


class DynamicGraph(ColumnsOfBatches, Graph):  # type: ignore[override]
    """A graph that batches of insertions and deletions change, on the workers that hold it.

    Every algorithm and sampler takes it as it takes a Graph, and `pagerank(D, method=...)` follows the changes.

    Parameters
    ----------
    G : Graph
        What it begins as. It stays as it is. Parallel edges become one, of the smallest weight.

    Attributes
    ----------
    version : int
        How many batches it has seen.

    Raises
    ------
    InputError
        Where G is no Graph, has types, or has more than 2,400,000,000 vertices.

    Notes
    -----
    Each partition holds rows of out-edges and of in-edges, with free memory behind each row. A batch of b edges is
    sorted and sent to every worker, and each row that it names is rewritten once, in place. That costs b log b, plus b
    times the logarithm of a degree, plus the lengths of those rows; no part of it grows with the number of edges that
    stay as they are. When the free memory is used up, or when a quarter more vertices have appeared than there were,
    all rows are copied into new memory. The cost of that copy is amortized over the insertions since the last one.

    The row of an edge, `s.edge` of samples and `e_id` of minibatches, is its row in what `G` was made of. Edges that
    were inserted have the rows after these, in the order in which they were given to `update`, including edges that
    existed already: if `G` has m rows, entry k of the first `insert=` is row m + k, and entries of the next batch come
    after it. So the features of all edges are those of `G` followed by those of each batch. An edge that is inserted
    again, which sets its weight, has the row of the last entry. The entries are kept for this, in 8 bytes each.

    Other algorithms run on an ordinary graph of the present version, `present`. Its partitions are built when the first
    of them needs it, which takes the time of a build for each version that is so used. The same holds for calls that
    ask for all edges.
    """

    def __init__(self, G: Graph):
        base = checked_graph(G).present
        if isinstance(base, TypedGraph):
            raise InputError("a dynamic graph has no types of vertices and edges; give it G.without_types()")
        if base.num_vertices > MOST_VERTICES:
            raise InputError(f"a dynamic graph has {MOST_VERTICES:,} vertices at most, and G has {base.num_vertices:,}")
        self.base, self.directed, self.plan = base, base.directed, base.plan
        self.version = 0
        self.report: dict[str, Any] = dict.fromkeys(("inserted", "deleted", "duplicates", "absent", "appeared"), 0)
        self.rows: Any = None
        """The rows on the workers; owned by the runtime."""
        self.ranked: float | None = None  # the damping of the ranks that the last call left on the workers
        self._base_edges = self._edges = -1
        self._appeared = np.empty(0, base.ids.dtype)
        self._log = Log(no_batch(base.source.weight_dtype, base.num_vertices))
        self._insertions = Insertions([], [], 0)
        self._values: tuple[tuple[int, Any], ...] = ()
        self._ordered: _Ordered | None = None
        self._present: Graph | None = None

    @property
    def num_vertices(self) -> int:
        """Number of vertices, isolated ones included."""
        return self.base.num_vertices + len(self._appeared)

    @property
    def num_edges(self) -> int:
        """Number of edges; an undirected edge counts once. The first call builds the rows."""
        if self._edges < 0:
            execute.dynamic_rows(self)
        return self._edges

    @property
    def weighted(self) -> bool:
        """Whether edges carry weights."""
        return self.base.weighted

    @property
    def present(self) -> Graph:
        """The present version as an ordinary graph, which later batches leave as it is.

        Its vertices are in the ascending order of their ids, as if it had been made of the present edges.
        """
        if self._present is None:
            self._present = self._made()
        return self._present

    @property
    def source(self) -> Any:  # type: ignore[override]
        """Where the edges of the present version come from."""
        return self.present.source

    @property
    def ids(self) -> VertexIds:  # type: ignore[override]
        """The caller's ids."""
        return self.present.ids

    @property
    def merge(self) -> bool:  # type: ignore[override]
        """Whether parallel edges are merged when the partitions of the present version are built."""
        return self.present.merge

    @property
    def built(self) -> Any:  # type: ignore[override]
        """The partitions of the present version where they exist."""
        return self.present.built

    @property
    def replicas(self) -> Any:  # type: ignore[override]
        """The whole graph on every worker, where samplers made it."""
        return self.present.replicas

    def update(
        self,
        insert: Any = None,
        delete: Any = None,
        *,
        columns: Any = None,
        client: Any = None,
        progress: bool | None = None,
    ) -> Update:
        """Delete edges, then insert edges; all of the batch, or where it is refused nothing.

        Parameters
        ----------
        insert : (src, dst) or (src, dst, weights) or table, optional
            Arrays of one length, by the caller's ids; weights exactly where the graph has them. An id that is no vertex
            becomes one. Inserting an edge that is there sets its weight. Of an edge that stands more than once the last
            weight counts. A table of any library has the columns src, dst and weight; of Dask, the workers reduce its
            partitions to distinct edges, which come to this process: it keeps every batch.
        delete : (src, dst) or table, optional
            Edges to delete, before any is inserted: an edge that is deleted and inserted is there afterwards. Those
            that are not there are counted. Vertices stay, also those whose last edge goes.
        columns : mapping of str to array, or table, optional
            Values of the graph's edge columns for the edges of `insert`, a row for each entry; of an edge that stands
            more than once the last row counts. Columns that are left out are null, as all are by default.
        client : distributed.Client, optional
            Where the graph is, or is to be. Default: the active client, or this process if there is none.
        progress : bool, optional

        Returns
        -------
        Update
            Counts, and the edges that are new (`added`) or gone (`removed`).

        Raises
        ------
        InputError
            For ids, weights or columns that are not valid, naming the first one, and arrays that do not fit together.
        OverBudget
            Where the batch or the rows need more memory than there is. The graph is as before.
        PeerLost
            Where a worker died and could not be replaced in time. The graph is as before.

        Examples
        --------
        >>> import graphdask as gd
        >>> D = gd.DynamicGraph(gd.from_edges([0, 1], [1, 2]))
        >>> found = D.update(insert=([2, 7], [0, 0]), delete=([0, 5], [1, 5]))
        >>> found.inserted, found.deleted, found.absent, found.vertices
        (2, 1, 1, 1)
        >>> D
        <DynamicGraph: 4 vertices, 3 edges, directed, version 1>
        """
        again = [0, 0]
        if columns is not None and hasattr(insert, "to_delayed"):
            raise InputError("columns= of a Dask DataFrame in insert: its workers drop rows; give insert as arrays")
        if is_frame(insert):
            insert, again[0] = frame_edges("insert", insert, self.weighted, client)
        if is_frame(delete):
            delete, again[1] = frame_edges("delete", delete, False, client)
        insert, delete = as_columns("insert", insert), as_columns("delete", delete)
        inserted, weights = self._checked_insertions(insert)
        values = inserted_columns(self.base.edge_attributes, columns, len(inserted[0]))
        deleted = self._checked_ends("delete", delete, 2)
        appeared, numbers = self._appeared, [self._numbers(ends, self._appeared) for ends in inserted]
        new = _unknown(inserted, numbers)
        if len(new):
            appeared = np.concatenate([appeared, new])
            numbers = [self._numbers(ends, appeared) for ends in inserted]
        n = self.base.num_vertices + len(appeared)
        if n > MOST_VERTICES:
            raise InputError(f"insert makes {n:,} vertices; a dynamic graph has {MOST_VERTICES:,} at most")
        gone, unknown = [self._numbers(ends, self._appeared) for ends in deleted], 0
        if len(gone[0]):
            known = (gone[0] >= 0) & (gone[1] >= 0)
            gone, unknown = [numbers[known] for numbers in gone], int((~known).sum())
        batch = Batch.of((numbers[0], numbers[1]), (gone[0], gone[1]), weights, self.directed, n)

        def taken(there: np.ndarray, timer: Timer) -> Update:
            return self._changed(batch, there, timer, appeared, len(new), again[0], unknown + again[1], values)

        found: Update = execute.update(self, batch, n, taken, client=client, progress=progress)
        return found

    def _changed(
        self,
        batch: Batch,
        there: np.ndarray,
        timer: Timer,
        appeared: np.ndarray,
        new: int,
        repeated: int,
        unknown: int,
        values: tuple[int, Any],
    ) -> Update:
        """Take over a batch that the workers have applied, to edges of which some were `there`: all of it or, where
        something comes between, nothing, so that there is one line that changes the graph, the last."""
        inserts, kept, twice, both, held = (
            int(np.count_nonzero(which))
            for which in (batch.insert, batch.insert & there, batch.twice, batch.twice & there, there)
        )
        lost = held - kept
        counts = {
            "inserted": inserts - kept + both,
            "deleted": lost + both,
            "duplicates": batch.repeated_insertions + repeated + kept - both,
            "absent": batch.repeated_deletions + unknown + len(batch) - inserts + twice - lost - both,
        }
        report = {name: self.report[name] + count for name, count in (*counts.items(), ("appeared", new))}
        ids, version = _Ids(self.base.ids, appeared), self.version + 1
        found = Update(
            version, **counts, vertices=new, seconds=timer.seconds, compile_seconds=timer.compiled.seconds, ids=ids,
            batch=batch, there=there,
        )  # fmt: skip
        now = {"_edges": self._edges + inserts - kept - lost, "_appeared": appeared, "_log": Log(batch, self._log),
               "_insertions": self._insertions.with_batch(batch, not repeated), "_present": None, "version": version,
               "report": report, "_values": (*self._values, values)}  # fmt: skip
        vars(self).update(now)
        return found

    def partition(self, *args: Any, **kwargs: Any) -> Graph:
        """Return the present version as an ordinary graph, divided by `Graph.partition` with these arguments.

        Raises
        ------
        InputError
            As there.
        """
        return self.present.partition(*args, **kwargs)

    def to_undirected(self, *, multi_edges: Own[str] = "keep") -> Graph:
        """Return the present version as an ordinary undirected graph; see `Graph.to_undirected`.

        Raises
        ------
        InputError
            As there.
        """
        return self.present.to_undirected(multi_edges=multi_edges)

    def lineage(self, renumbered: np.ndarray | None = None) -> tuple[ChangedSource, bool]:
        """Where the edges come from, in the numbers of the rows; and whether parallel ones must be merged."""
        exact = self._base_edges >= 0 and self._base_edges == self.base.source.num_edges
        count = self._edges if exact else None
        source = ChangedSource(
            self.base.source, self.num_vertices, count, self._log, self.directed, renumbered, self._insertions
        )
        return source, not exact

    def built_with(self, num_edges: int) -> None:
        """Take in how many edges the rows hold, when they are built."""
        if self._edges < 0:
            self._base_edges = self._edges = num_edges

    @property
    def order(self) -> np.ndarray | None:
        """The vertices' numbers in the rows, in the ascending order of their ids; None where that is their order."""
        return self._ordering().order

    def _ordering(self) -> _Ordered:
        if self._ordered is None or self._ordered.ids.count != self.num_vertices:
            self._ordered = _Ordered.of(self.base.ids, self._appeared)
        return self._ordered

    def _made(self) -> Graph:
        if self._edges < 0:
            return self.with_columns(Graph(self.base.source, self.base.ids, self.directed, {}, self.plan, True))
        ordered, n, plan = self._ordering(), self.num_vertices, self.plan
        if isinstance(plan.by, np.ndarray):
            owners = np.concatenate([plan.by, np.arange(len(plan.by), n) % (plan.parts or 1)])
            plan = replace(plan, by=owners if ordered.order is None else owners[ordered.order])
        source, merge = self.lineage(ordered.renumbered)
        return self.with_columns(Graph(source, ordered.ids, self.directed, {}, plan, merge))

    def _checked_insertions(self, insert: Any) -> tuple[list[np.ndarray], np.ndarray | None]:
        dtype = self.base.source.weight_dtype
        ends = self._checked_ends("insert", insert, 2 if dtype is None else 3)
        if dtype is None:
            return ends, None
        given = checked_weights(insert[2] if insert is not None else [], len(ends[0]), "insert: weights")
        assert given is not None
        with np.errstate(invalid="ignore", over="ignore"):
            weights = given.astype(dtype)
        wrong = weights != given if dtype.kind == "i" else np.isinf(weights) & np.isfinite(given)
        if wrong.any():
            place = int(wrong.argmax())
            raise InputError(f"insert: weights[{place}] = {given[place]} does not fit {dtype}, as the graph has")
        return ends, weights

    def _checked_ends(self, name: str, given: Any, length: int) -> list[np.ndarray]:
        if given is None:
            return [np.empty(0, self.base.ids.dtype)] * 2
        pair = isinstance(given, Sequence) or (isinstance(given, np.ndarray) and given.ndim)
        if not pair or isinstance(given, str) or len(given) != length:
            wanted = "(src, dst)" if length == 2 else "(src, dst, weights), since the graph has weights"
            raise InputError(f"{name}= wants {wanted}")
        ends = [checked_ids(f"{name}: {end}", values) for end, values in zip(("src", "dst"), given, strict=False)]
        if len(ends[0]) != len(ends[1]):
            raise InputError(f"{name}: src has {len(ends[0])} entries and dst {len(ends[1])}; they must be pairs")
        wanted_kind = "whole numbers" if self.base.ids.are_numbers else "strings"
        for end, values in zip(("src", "dst"), ends, strict=True):
            if len(values) and (values.dtype.kind == "i") != self.base.ids.are_numbers:
                raise InputError(f"{name}: {end}[0] = {shown(values[0])}, but the ids of this graph are {wanted_kind}")
        return ends

    def _numbers(self, values: np.ndarray, appeared: np.ndarray) -> np.ndarray:
        """Numbers of ids, of which those that appeared come last; -1 of those that are no vertices."""
        ids = self.base.ids
        if ids.is_identity and len(values) and values.max() < ids.count:  # checked: none is negative
            return values
        numbers = ids.find(values)
        missing = np.flatnonzero(numbers < 0) if len(appeared) else numbers[:0]
        if len(missing):
            order = np.argsort(appeared, kind="stable")
            place = np.minimum(np.searchsorted(appeared[order], values[missing]), len(appeared) - 1)
            known = appeared[order][place] == values[missing]
            numbers[missing[known]] = self.base.num_vertices + order[place[known]]
        return numbers

    def __getstate__(self) -> dict[str, Any]:
        """A graph travels as its description; the rows stay where they are and are made anew elsewhere."""
        return {name: value for name, value in vars(self).items() if name != "_token"} | {"rows": None}

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = f", weights {self.base.source.weight_dtype}" if self.weighted else ""
        edges = "uncounted" if self._edges < 0 else f"{self._edges:,}"
        return f"<DynamicGraph: {self.num_vertices:,} vertices, {edges} edges, {kind}{weights}, version {self.version}>"


def _unknown(ends: list[np.ndarray], numbers: list[np.ndarray]) -> np.ndarray:
    """Distinct ids that have no numbers, ascending."""
    if not any(len(number) and number.min() < 0 for number in numbers):
        return ends[0][:0]
    return np.unique(np.concatenate([ids[number < 0] for ids, number in zip(ends, numbers, strict=True)]))


@dataclass(frozen=True)
class _Ordered:
    """Vertices in the ascending order of their ids."""

    ids: VertexIds
    order: np.ndarray | None
    """Their numbers in the rows; None where they stand in this order there."""
    renumbered: np.ndarray | None
    """The places of these numbers, index dtype."""

    @classmethod
    def of(cls, base: VertexIds, appeared: np.ndarray) -> _Ordered:
        if not len(appeared):
            return cls(base, None, None)
        every = np.concatenate([base.values, appeared])
        if bool((every[1:] > every[:-1]).all()):
            return cls(VertexIds.of_sorted(every), None, None)
        order = np.argsort(every, kind="stable")
        renumbered = np.empty(len(every), index_dtype(len(every)))
        renumbered[order] = np.arange(len(every))
        return cls(VertexIds.of_sorted(every[order]), order, renumbered)


@dataclass(frozen=True)
class _Ids:
    """The caller's ids of vertex numbers, those that appeared last."""

    base: VertexIds
    appeared: np.ndarray

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        old = numbers < self.base.count
        out = np.empty(len(numbers), self.base.dtype)
        out[old] = self.base.to_caller(numbers[old])
        out[~old] = self.appeared[numbers[~old] - self.base.count]
        return out
