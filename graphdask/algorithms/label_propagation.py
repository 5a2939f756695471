"""Community detection by label propagation, synchronous and deterministic (CDLP of LDBC Graphalytics).

Labels begin as vertex ids. In an iteration every vertex takes the label that is most frequent among its neighbours in
the previous iteration, and the smallest of them if several are. A vertex of whose neighbours none changed keeps its
label, which soon holds for most. A superstep is an iteration: it receives the changed
labels of ghosts, finds the labels of all own vertices, and sends those that changed to the ranks that have ghosts of
the vertices. Short rows are sorted, others counted in hash tables. On a GPU these are in shared memory. A row too long
for one has another one in global memory; tables are laid out for as many rows at a time as fit a table of a bounded
size (`LABELS.table`).

Sources: Raghavan, Albert, Kumara, Near linear time algorithm to detect community structures (2007); Iosup et al., The
LDBC Graphalytics Benchmark, Section 2.3.4 (CDLP).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask import execute
from graphdask.algorithms.summaries import classes
from graphdask.algorithms.tuning import LABELS
from graphdask.device.ahead import Family, family
from graphdask.device.arrays import minus_ones
from graphdask.device.backend import BLOCK, Array
from graphdask.device.counting import count_set
from graphdask.device.limits import LEAST_SECONDS, refuse_beyond_time
from graphdask.display import terminal
from graphdask.engine.buffers import Allocation, most_deferred
from graphdask.engine.checkpoints import Resumable, Saved
from graphdask.engine.loop import HUB_THREADS, INDEX, Environment, Inbox, Messages, Primitive
from graphdask.errors import InputError
from graphdask.graph.graph import Graph, checked_graph
from graphdask.interface.parameters import documented
from graphdask.interface.registry import Option, algorithm
from graphdask.kernels.common.tuning import LABEL_CHUNK as CHUNK
from graphdask.kernels.common.tuning import LABEL_MIDDLE as MIDDLE
from graphdask.kernels.common.tuning import SHORT
from graphdask.kernels.label_propagation.label_propagation_pack import COUNTS, Labels
from graphdask.partition.neighbours import places_of
from graphdask.partition.part import Part
from graphdask.results.result import Result


@dataclass
class LabelsState:
    pack: Labels
    """What the kernels work on: labels, rows and tables."""
    before: Array
    """Per own vertex, its label before the last iteration."""
    batches: list[tuple[int, int, int]]
    """First and last of the long rows whose labels are counted together, and how many chunks they have."""
    several: int
    """How many long rows have more than one chunk; they come first."""
    moved: int
    """Slots whose label changed in the last iteration."""
    iterations: int = 0


class LabelPropagationResult(Result):
    """Result of `label_propagation`."""

    columns = ("label",)
    vertex_valued = ("label",)

    @property
    def label(self) -> np.ndarray:
        """The label of each vertex, a vertex id; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("label")

    @property
    def iterations(self) -> int:
        """Number of iterations computed: as many as requested, or fewer if the last one changed nothing."""
        return int(self._value("iterations"))


class LabelPropagation(Primitive[LabelsState], Resumable):
    """The primitive. Its result `before` is the label before the last iteration, which the verifier repeats."""

    name = "label propagation"
    columns: ClassVar[Mapping[str, Any]] = {"label": INDEX}
    result_type = LabelPropagationResult
    notifies_ghosts = True

    def __init__(self, iterations: int):
        self.iterations = iterations

    @property
    def inward(self) -> bool:
        return True

    def families(self, index: np.dtype, weight: np.dtype | None, size: int) -> tuple[Family, ...]:
        return (family("label_propagation", index_t=index), family("counting"))

    def memory(self, part: Part, allocation: Allocation) -> int:
        item = part.vertex_map.dtype.itemsize
        lengths = sum(csr.indptr[1:] - csr.indptr[:-1] for csr in part.directions)
        long = lengths[lengths > CHUNK] if part.num_owned else lengths
        table = min(2 * int(long.sum()), LABELS.table + 2 * int(long.max())) if len(long) else 0
        parts = int((long // CHUNK + 1).sum())
        ghosts = part.num_slots - part.num_owned
        changed = part.num_owned
        if allocation.partial:
            changed = allocation.first(changed, count_set(lengths > 0))
        deferred = sum(most_deferred(csr) for csr in part.directions)
        lists = part.num_owned * (5 * item + 19) + (changed + deferred) * item
        return lists + ghosts * (7 * item + 1) + (table + parts) * (item + 4)

    def facts(self) -> dict[str, Any]:
        return {"iterations": self.iterations}

    def saved(self, part: Part, state: LabelsState, inbox: Inbox, env: Environment) -> Saved:
        return {"label": state.pack.label[: part.num_owned]}, {"iterations": state.iterations}

    def resumed(
        self, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[LabelsState, Messages]:
        return self._begun(part, env, columns["label"].astype(part.vertex_map.dtype), **numbers)

    def init(self, part: Part, env: Environment) -> tuple[LabelsState, Messages]:
        return self._begun(part, env, part.ids)

    def _begun(self, part: Part, env: Environment, labels: Array, iterations: int = 0) -> tuple[LabelsState, Messages]:
        """The state with labels of the own vertices, after so many iterations; all rows are due in the next one."""
        xp, dtype, owned = env.xp, part.vertex_map.dtype, part.num_owned
        (label,) = env.fetch_ghosts(part, [labels])
        degree = sum(csr.indptr[1:] - csr.indptr[:-1] for csr in part.directions)
        several = places_of(xp, degree > CHUNK)
        long = xp.concatenate([several, places_of(xp, (degree > MIDDLE) & (degree <= CHUNK))]).astype(dtype)
        start, chunks = xp.zeros(len(several) + 1, np.int64), xp.zeros(len(long) + 1, np.int64)
        if len(several):
            xp.cumsum(2 * degree[several], out=start[1:])
        if len(long):
            xp.cumsum((degree[long] + CHUNK - 1) // CHUNK, out=chunks[1:])
        total = int(start[-1])
        cuts = np.unique(env.backend.to_host(xp.searchsorted(start, xp.arange(0, total + LABELS.table, LABELS.table))))
        cuts = np.unique(np.append(np.minimum(cuts, len(several)), len(long)))
        begins = env.backend.to_host(start[env.backend.from_host(np.minimum(cuts, len(several)))])
        parts = env.backend.to_host(chunks[env.backend.from_host(cuts)])
        batches = [
            (int(a), int(b), int(count)) for a, b, count in zip(cuts[:-1], cuts[1:], np.diff(parts), strict=True)
        ]
        table, pieces = int(np.diff(begins).max(initial=0)), int(chunks[len(several)])
        short, middle = (
            places_of(xp, (degree > least) & (degree <= most)).astype(dtype)
            for least, most in ((0, SHORT), (SHORT, MIDDLE))
        )
        changed = env.buffer("label propagation's list of changes", owned, dtype, len(short) + len(middle) + len(long))
        first, *rest = part.directions
        other = rest[0] if rest else first
        pack = Labels(
            indptr=first.indptr, indices=first.indices, in_indptr=other.indptr, in_indices=other.indices,
            both=len(rest), label=label, fresh=label[:owned].copy(), changed=changed.array, short_rows=short,
            moved=xp.ones(part.num_slots, np.uint8), due=xp.ones(owned, np.uint8),
            hubs=xp.empty(max(map(most_deferred, part.directions)), dtype), middle_rows=middle, long_rows=long,
            start=start, chunks=chunks, best_label=xp.empty(pieces, dtype), best_count=xp.empty(pieces, np.uint32),
            keys=minus_ones(xp, table, dtype), counts=xp.zeros(table, np.uint32),
            counters=xp.zeros(len(COUNTS), np.int64),
        )  # fmt: skip
        state = LabelsState(pack, label[:owned].copy(), batches, len(several), part.num_slots, iterations)
        none = pack.changed[:0]
        return state, Messages(none, none, {"label": label}, self.iterations > 0 and owned > 0, to="ghosts")

    def superstep(self, part: Part, state: LabelsState, inbox: Inbox, env: Environment) -> Messages:
        pack = state.pack
        kernels = env.kernels("label_propagation", index_t=part.vertex_map.dtype)
        ghosts = pack.label[part.num_owned :].copy()
        inbox.put("label", pack.label)
        if state.iterations:
            pack.moved[part.num_owned :] = pack.label[part.num_owned :] != ghosts
            state.moved += count_set(pack.moved[part.num_owned :])
            self._find_due(part, state, kernels)
        state.before[:] = pack.label[: part.num_owned]
        if state.moved:
            kernels.labels_of_short(32 * len(pack.short_rows), pack)
            kernels.labels_of_middle(32 * len(pack.middle_rows), pack)
            for begin, end, chunks in state.batches:
                kernels.labels_count(BLOCK * chunks, begin, end, pack)
                if begin < state.several:
                    kernels.labels_pick(BLOCK * chunks, begin, end, pack)
            kernels.labels_settle(32 * state.several, pack)
        pack.counters.fill(0)
        kernels.labels_change(part.num_owned, pack)
        state.iterations += 1
        state.moved, _, edges = pack.read_counters(env.backend)
        changed = pack.changed[: state.moved]
        goes_on = state.iterations < self.iterations
        own = changed if goes_on else changed[:0]
        active = goes_on and len(changed) > 0
        return Messages(own, own[:0], {"label": pack.label}, active, part.num_owned, edges, to="ghosts")

    def _find_due(self, part: Part, state: LabelsState, kernels: Any) -> None:
        """Find the rows that have a neighbour whose label changed."""
        pack = state.pack
        everything = LABELS.settled * state.moved >= part.num_slots
        pack.due.fill(everything)
        if everything or not state.moved:
            return
        for csr in part.directions:
            pack.set_counters(hubs=0)
            if part.size == 1:
                kernels.labels_mark(state.moved, csr.indptr, csr.indices, pack)
                kernels.labels_mark_hubs(HUB_THREADS, csr.indptr, csr.indices, pack)
                continue
            kernels.labels_due(part.num_owned, csr.indptr, csr.indices, pack)
            kernels.labels_due_hubs(HUB_THREADS, csr.indptr, csr.indices, pack)

    def result(self, part: Part, state: LabelsState, env: Environment) -> dict[str, Any]:
        label = state.pack.label[: part.num_owned].copy()
        return {"label": label, "before": state.before, "iterations": state.iterations}


def _summary(result: Any) -> dict[str, Any]:
    found = classes(result, "communities")
    return {"communities": found.pop("communities"), "iterations": result.iterations} | found


def _words(found: dict[str, Any]) -> str:
    words = f"{terminal.count(found['communities'], 'label')} after {terminal.count(found['iterations'], 'iteration')}"
    frequent = f", the most frequent at {terminal.count(found['largest'], 'vertex')}" if "largest" in found else ""
    return words + frequent


@algorithm(
    "cdlp", LabelPropagationResult, "Communities by synchronous label propagation (LDBC).", summary=_summary,
    words=_words, options={"iterations": Option("How many.", least=0)},
    also="cdlp lpa labelprop community_label_propagation asyn_lpa_communities "
    "label_propagation_communities fast_label_propagation_communities community_detection",
)  # fmt: skip
@documented
def label_propagation(
    G: Graph,
    iterations: int = 10,
    *,
    exchange: str | None = None,
    allocation: str | float | None = None,
    checkpoint: Any = None,
    every: Any = None,
    client: Any = None,
    progress: bool | None = None,
) -> LabelPropagationResult:
    """Find communities by synchronous label propagation (CDLP of LDBC Graphalytics).

    Labels begin as vertex ids. In each iteration every vertex takes the most frequent label among its neighbours; if
    several are, the smallest of them. A vertex without neighbours keeps its label. In a directed graph both in-edges
    and out-edges count, so a neighbour in both directions counts twice. Each of several parallel edges counts. A
    self-loop counts for the vertex's own label, in a directed graph twice.

    Parameters
    ----------
    G : Graph
        Directed or undirected.
    iterations : int
        Number of iterations, 0 or more. The run stops early after an iteration that changes no label.

    Returns
    -------
    LabelPropagationResult
        `label` holds vertex ids of the caller, shape (num_vertices,), in the order of `G.vertex_ids`. `iterations` is
        the number of iterations computed. Both are identical for every number of partitions and on every device.

    Raises
    ------
    InputError
        If `G` is not a Graph, or an argument has an invalid value.

    References
    ----------
    Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures in large-scale networks,
    Physical Review E 76 (2007). Iosup et al.: LDBC Graphalytics, VLDB 2016; its specification, section 2.3.4.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], directed=False)
    >>> gd.label_propagation(G, 2).label.tolist()
    [0, 0, 0, 3, 3, 3]
    """
    checked_graph(G)
    if not isinstance(iterations, int | np.integer) or isinstance(iterations, bool) or iterations < 0:
        raise InputError(f"iterations={iterations!r} must be a whole number, 0 or more")
    refuse_beyond_time(
        f"iterations={iterations:,}, of which each takes a microsecond at least,", iterations * LEAST_SECONDS,
        "give fewer",
    )  # fmt: skip
    return execute.run(
        G,
        LabelPropagation(int(iterations)),
        exchange=exchange,
        allocation=allocation,
        checkpoint=checkpoint,
        every=every,
        client=client,
        progress=progress,
    )
