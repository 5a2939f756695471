"""Connected components (weak ones, where edges are directed): every vertex gets the smallest id of its component.

Each rank first joins its own vertices and ghosts into trees, over all its edges, before anything is exchanged. From
then on a tree has one label, the smallest id known of it. A superstep takes in labels for own vertices, lowers the
labels of their trees, and tells the owners of all ghosts in a lowered tree. Labels only fall and every one is an id of
the component, so the loop ends, and then labels are equal across every edge.

Sources: Pan et al., Multi-GPU Graph Analytics, Section IV (CC: several hops within a superstep); Soman et al. (2010).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphdask.backend import Array
from graphdask.engine import HUB_THREADS, INDEX, Environment, Inbox, Messages, Primitive
from graphdask.graph import Graph, Part, checked_graph
from graphdask.result import Result
from graphdask.runtime import runtime

MANY = 4096
"""A root with more ghosts than this is dealt out among all threads; GD_HUB in kernels/rows.cuh."""


@dataclass
class State:
    root: Array
    """Per slot, the slot at the root of its tree."""
    label: Array
    """Per root slot, the smallest id known."""
    value: Array
    """Per slot, what is sent for a ghost."""
    group_start: Array
    """int64, shape (slots + 1,): where the ghosts of a root begin in `grouped`."""
    grouped: Array
    """Ghost slots by root."""
    changed_in: Array
    """int32 per root slot: the last superstep that lowered its label."""
    changed: Array
    ghost_queue: Array
    hubs: Array
    """Changed roots of very many ghosts."""
    counters: Array
    """int64: changed roots, ghosts to send, roots of many ghosts, ghosts looked at."""
    step: int = 0


class ComponentsResult(Result):
    """What `connected_components` returns."""

    columns = ("label",)
    vertex_valued = ("label",)

    @property
    def label(self) -> np.ndarray:
        """The smallest id of the vertex's component; shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("label")

    @property
    def num_components(self) -> int:
        """How many components there are."""
        label = self._internal("label")
        return int((label == np.arange(len(label))).sum())


class ConnectedComponents(Primitive[State]):
    """The primitive."""

    name = "components"
    columns: ClassVar[Mapping[str, Any]] = {"label": INDEX}
    verifier = "graphdask.verify.components"
    result_type = ComponentsResult

    @property
    def inward(self) -> bool:
        return True

    def memory(self, part: Part) -> int:
        return 14 * part.num_slots * part.vertex_map.dtype.itemsize

    def init(self, part: Part, env: Environment) -> tuple[State, Messages]:
        xp, dtype, slots, owned = env.xp, part.vertex_map.dtype, part.num_slots, part.num_owned
        kernels = env.kernels("components", index_t=dtype)
        link = xp.arange(slots, dtype=dtype)
        hubs = xp.empty(owned, dtype)
        edges = 0
        for csr in [part.out] if part.inward is part.out else [part.out, part.inward]:
            assert csr is not None
            counters = xp.zeros(2, np.int64)
            kernels.components_hook(owned, csr.indptr, csr.indices, link, hubs, counters)
            kernels.components_hook_hubs(HUB_THREADS, csr.indptr, csr.indices, link, hubs, counters)
            edges += int(counters[1])
        root = xp.empty(slots, dtype)
        kernels.components_compress(slots, link, root)
        label = xp.full(slots, np.iinfo(dtype).max, dtype)
        kernels.components_label(owned, part.ids, root, label)
        ghosts = xp.arange(owned, slots, dtype=dtype)
        ghosts = ghosts[root[ghosts] != ghosts]  # a ghost on its own is no neighbour: it has a slot, but no edge here
        group_start = xp.zeros(slots + 1, np.int64)
        grouped = ghosts[xp.argsort(root[ghosts], kind="stable")]
        if len(ghosts):
            xp.cumsum(xp.bincount(root[ghosts], minlength=slots), out=group_start[1:])
        value = xp.zeros(slots, dtype)
        value[ghosts] = label[root[ghosts]]
        state = State(
            root, label, value, group_start, grouped, xp.full(slots, -1, np.int32), xp.empty(slots, dtype),
            xp.empty(len(ghosts), dtype), xp.empty(len(ghosts) // MANY + 1, dtype), xp.zeros(4, np.int64),
        )  # fmt: skip
        return state, Messages(ghosts[:0], ghosts, {"label": value}, False, owned, edges)

    def superstep(self, part: Part, state: State, inbox: Inbox, env: Environment) -> Messages:
        kernels = env.kernels("components", index_t=part.vertex_map.dtype)
        state.counters.fill(0)
        kernels.components_fold(
            len(inbox), inbox.slots, inbox.columns["label"], state.root, state.label, state.changed_in, state.step,
            state.changed, state.counters,
        )  # fmt: skip
        state.step += 1
        changed = int(state.counters[0])
        shared = (
            state.group_start, state.grouped, state.label, state.value, state.ghost_queue, state.hubs, state.counters,
        )  # fmt: skip
        kernels.components_spread(changed, state.changed, *shared)
        if len(state.grouped) > MANY:
            kernels.components_spread_hubs(HUB_THREADS, *shared)
        ghosts = state.ghost_queue[: int(state.counters[1])]
        return Messages(ghosts[:0], ghosts, {"label": state.value}, False, changed, 0)

    def result(self, part: Part, state: State, env: Environment) -> dict[str, Array]:
        return {"label": state.label[state.root[: part.num_owned]]}


def connected_components(
    G: Graph, *, exchange: str | None = None, client: Any = None, progress: bool | None = None
) -> ComponentsResult:
    """Connected components; of a directed graph the weak ones.

    Parameters
    ----------
    G : Graph
    exchange : {"selective", "broadcast"}, optional
        Send a lowered label to the owner of the vertex only, or to everyone. Default: selective. The answer is the
        same.
    client : distributed.Client, optional
        Where to run. Default: the active client, or this process if there is none.
    progress : bool, optional
        Show a progress bar. Default: in a terminal or a notebook.

    Returns
    -------
    ComponentsResult
        With `label`, the smallest vertex id of each vertex's component, in the caller's ids and the order of
        `G.vertex_ids`, shape (num_vertices,); identical bit for bit for every number of partitions and on every
        device. `result.num_components` counts them.

    Raises
    ------
    InputError
        Where `G` is not a Graph, or an argument has no such value.
    OverBudget
        Where it would need more memory than there is.
    PeerLost
        Where a worker died and could not be replaced in time.

    References
    ----------
    Pan, Wang, Wu, Yang, Owens: Multi-GPU Graph Analytics, IPDPS 2017, Section IV. Jaiganesh, Burtscher: A
    high-performance connected components implementation for GPUs, HPDC 2018.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 3], [1, 4], num_vertices=5, directed=False)
    >>> gd.connected_components(G).label.tolist()
    [0, 0, 2, 3, 3]
    """
    checked_graph(G)
    return runtime().run(G, ConnectedComponents(), exchange=exchange, client=client, progress=progress)
