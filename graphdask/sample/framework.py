"""The framework of c-saw: samplers that a Spec describes, with the caller's functions in the kernels.

All happens where the whole graph is: instances are divided among the workers, and each goes through the steps of its
instances. Pools lie one after the other in the order of the instances; candidates are chosen by kernels/selection.py,
and functions called in kernels/functions.py, which also evaluate biases for as many candidates as fit a launch.

Source: Pandey et al., c-saw, Section III, Figure 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphdask.backend import Array
from graphdask.engine import Environment, Inbox, Messages
from graphdask.errors import InputError, Unsupported
from graphdask.graph import Graph, checked_graph
from graphdask.part import Csr, Part
from graphdask.sample._choosing import Choices, Chooser, choose
from graphdask.sample.hops import PLACEMENTS, checked_name, checked_seeds, sampled, whole
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.spec import Spec
from graphdask.sample.translate import Translated
from graphdask.sample.traversal import Edges, Frontier, Traversal

DRAW_POOL, DRAW_EDGE = 264, 265
"""What is drawn, as in kernels/philox.py."""
TRIALS = 128
"""Of rejection; then a vertex's edges are looked at after all, which changes no probability."""
UNFIT = {
    -1: "returned a bias that is negative, infinite or NaN",
    -2: "returned a bias above edge_bound",
    -3: "returned neither -1 nor a vertex",
    -4: "returned a number of neighbours below -1, or below 0 with replace=True",
    -5: "returned integer biases of one choice that add up to 2**63 or more; return floats",
}
"""Failures of kernels/selection.py."""


def run(
    G: Graph,
    spec: Spec,
    seeds: Any,
    instances: int | None = None,
    *,
    seed: int = 0,
    placement: str = "auto",
    client: Any = None,
    progress: bool | None = None,
) -> SampledEdges:
    """Sample with functions of your own: c-saw's framework.

    Parameters
    ----------
    G : Graph
    spec : Spec
        What a step does.
    seeds : array of vertex ids, shape (k,), or sequence of arrays
        With an array, every seed is an instance of its own; with a sequence of arrays, each array is the pool with
        which one instance begins. A seed that stands twice in an instance counts once, unless the spec says that
        vertices are revisited.
    instances : int, optional
        How many instances there are: instance i begins with the seeds number i modulo their count. Default: one for
        each.
    seed : int
        Same seed, same edges, whatever the devices and the number of workers.
    placement : {"auto", "replicated", "partitioned"}
        Every worker holds the whole graph, also with `auto`: fields of an edge may ask about vertices anywhere.
    client : distributed.Client, optional
    progress : bool, optional

    Returns
    -------
    SampledEdges
        `src`, `dst`, `hop`, `instance`: a row for each edge, in the order of instance, step, the source's place in
        the pool, and as they were chosen.

    Raises
    ------
    VertexNotFound
        For a seed that is no vertex.
    FunctionError
        Where a function fails on a vertex or edge, or returns what cannot be used, with its line: a bias that is
        negative, infinite, NaN or above `edge_bound`, or a vertex that there is not.
    InputError
        For an argument out of its range, or a function that asks for weights that the graph has not.
    Unsupported
        For placement="partitioned".
    OverBudget
        If graph or samples do not fit the memory of a worker.

    References
    ----------
    Pandey et al., c-saw: A Framework for Graph Sampling and Random Walk on GPUs, SC 2020, Section III.

    Examples
    --------
    >>> import graphdask as gd
    >>> G = gd.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [5.0, 0.0, 1.0, 1.0])
    >>> walk = gd.sample.Spec(edge_bias=lambda e: e.weight, depth=2, replace=True)
    >>> s = gd.sample.run(G, walk, [0], instances=2)
    >>> s.src.tolist(), s.dst.tolist(), s.instance.tolist()
    ([0, 1, 0, 1], [1, 3, 1, 3], [0, 0, 1, 1])
    """
    checked_graph(G)
    if not isinstance(spec, Spec):
        raise InputError(f"spec is a {type(spec).__name__}, not a gd.sample.Spec")
    flat, bounds = _pools(G, seeds, bool(spec.revisit))
    flat, bounds = _repeated(flat, bounds, instances)
    dtype = G.source.weight_dtype
    functions = spec.functions(dtype is not None and np.dtype(dtype).kind in "iu")
    for function in functions.values():
        if dtype is None and "weight" in function.fields:
            raise function.refused("asks for the weight of an edge, but this graph has no weights")
    checked_name("placement", placement, PLACEMENTS)
    if placement == "partitioned":
        raise Unsupported(
            'placement="partitioned" does not go with functions of the caller, whose fields may ask about vertices of '
            'any partition; use placement="replicated", or one of the samplers that have a name'
        )
    return sampled(G, Framework(flat, bounds, spec, functions, whole("seed", seed)), "replicated", client, progress)


def _pools(G: Graph, seeds: Any, revisit: bool) -> tuple[np.ndarray, np.ndarray]:
    """Vertex numbers of the pools of all instances, and where each begins."""
    nested = not isinstance(seeds, np.ndarray | str) and hasattr(seeds, "__len__") and any(np.ndim(a) for a in seeds)
    if not revisit or not nested:
        return checked_seeds(G, seeds)
    if any(np.ndim(of_one) != 1 for of_one in seeds):
        raise InputError("seeds is a list of arrays, but not all of them have one dimension")
    of_each = [G.ids.to_internal(of_one, "seed") if len(of_one) else np.zeros(0, np.int64) for of_one in seeds]
    return np.concatenate(of_each), np.concatenate(([0], np.cumsum([len(of_one) for of_one in of_each])))


def _repeated(flat: np.ndarray, bounds: np.ndarray, instances: Any) -> tuple[np.ndarray, np.ndarray]:
    """The pools again and again, for a number of instances."""
    if instances is None:
        return flat, bounds
    if isinstance(instances, bool) or not isinstance(instances, int | np.integer) or not 0 <= instances < 2**40:
        raise InputError(f"instances={instances!r} is not a whole number of 0 or more")
    given = len(bounds) - 1
    if instances and not given:
        raise InputError(f"instances={instances}, but there are no seeds")
    which = np.arange(instances) % max(given, 1)
    sizes = np.diff(bounds)[which]
    starts = np.concatenate(([0], np.cumsum(sizes)))
    return flat[np.arange(starts[-1]) + np.repeat(bounds[which] - starts[:-1], sizes)], starts


class SampledEdges(Neighborhoods):
    """Sampled edges, in the order of instance, step, the source's place in the pool, and as they were chosen."""

    new_vertices = 2


@dataclass
class State:
    rows: Csr
    weights: Array
    """Those of the rows, or an empty array."""
    kernels: Any
    """Of the family neighbors."""
    pool: Frontier
    previous: Array
    """The vertex from which each of the pool was reached; -1 for seeds."""
    seeds: Array
    """The first vertex of each instance's pool at first; -1 where that was empty."""
    failures: dict[str, Array]
    """Of each function, int32, shape (1,)."""
    entered: list[Frontier] = field(default_factory=list)
    """What ever came into pools, where vertices are not revisited."""
    hops: list[Edges] = field(default_factory=list)


@dataclass
class Items:
    """Entries of pools whose neighbours are chosen."""

    vertices: Array
    previous: Array
    instances: Array
    places: Array

    def __getitem__(self, which: Any) -> Items:
        return Items(self.vertices[which], self.previous[which], self.instances[which], self.places[which])


class Framework(Traversal):
    """The sampler of a spec."""

    name = "sampling by a spec"
    verifier = "graphdask.verify.framework"
    result_type = SampledEdges

    def __init__(
        self, seeds: np.ndarray, bounds: np.ndarray, spec: Spec, functions: dict[str, Translated], seed: int
    ):  # fmt: skip
        steps = [spec.size_at(step) for step in range(spec.depth or 0)]
        fanouts = [size if isinstance(size, int) else -1 for size in steps]
        super().__init__(seeds, bounds, fanouts, replace=bool(spec.replace), direction=spec.direction, seed=seed)
        self.functions, self.per, self.revisit = functions, spec.per, bool(spec.revisit)
        self.frontier_size, self.edge_bound = spec.frontier_size, spec.edge_bound
        self.sized = "neighbor_size" in functions

    def _edges_at_most(self, instances: int, degree: float) -> tuple[float, float]:
        if self.per == "vertex" and self.frontier_size is None:
            return super()._edges_at_most(instances, degree)
        expanded, edges, items = 0.0, 0.0, len(self.seeds) * instances / max(len(self.bounds) - 1, 1)
        for fanout in self.fanouts:
            taken = items if self.frontier_size is None else min(items, float(self.frontier_size) * instances)
            drawn = taken * degree if fanout < 0 else fanout * (taken if self.per == "vertex" else float(instances))
            expanded, edges, items = expanded + taken, edges + drawn, items - taken + drawn
        return expanded, edges

    def memory(self, part: Part) -> int:
        """That of traversal sampling, and the candidates of a launch with their biases."""
        return super().memory(part) + 64 * len(self.seeds) + 16 * min(part.out.num_edges, 1 << 26) + (1 << 22)

    def init(self, part: Part, env: Environment) -> tuple[Any, Messages]:
        xp, dtype = env.xp, part.vertex_map.dtype
        rows = part.inward if self.inward else part.out
        assert rows is not None
        pool = self._seeds_at_home(part, env)
        weights = xp.empty(0, np.float64) if rows.weights is None else rows.weights
        seeds = xp.full(len(pool.bounds) - 1, -1, dtype)
        filled = xp.flatnonzero(pool.bounds[1:] > pool.bounds[:-1])
        seeds[filled] = pool.vertices[pool.bounds[filled]]
        state = State(
            rows, weights, env.kernels("neighbors", index_t=dtype), pool, xp.full(len(pool.vertices), -1, dtype), seeds,
            {name: xp.zeros(1, np.int32) for name in self.functions}, [] if self.revisit else [pool],
        )  # fmt: skip
        return state, self._nothing(part, active=bool(self.fanouts) and len(pool.vertices) > 0)

    def _kernels(self, env: Environment, state: State, name: str) -> Any:
        """Kernels with one function in them: each is used in another one, and compiled once for all specs."""
        function = self.functions[name]
        bias = np.float64 if function.result == "float" else np.int64
        types = {"index_t": state.pool.vertices.dtype, "weight_t": state.weights.dtype, "bias_t": bias}
        return env.kernels("functions", functions={name: function}, **types), bias

    def superstep(self, part: Part, state: Any, inbox: Inbox, env: Environment) -> Messages:
        xp, pool, step = env.xp, state.pool, len(state.hops)
        first = int(self.homes(part.size)[part.rank])
        taken = self._taken(env, state, step, first)
        items, bounds = self._items(env, state, taken, first)
        of_items, edges, numbers = self._edges(env, state, items, bounds, step, first)
        dst, instances = state.rows.indices[edges], items.instances[of_items]
        put = dst
        if "update" in self.functions:
            kernels, _ = self._kernels(env, state, "update")
            put = xp.empty_like(dst)
            kernels.functions_update(
                len(edges), of_items, edges, numbers, items.vertices, items.previous, items.instances, items.places,
                state.seeds, first, step, state.rows.indptr, state.rows.indices, state.weights, self._seed,
                part.num_vertices, put, state.failures["update"],
            )  # fmt: skip
        self._refuse_failures(env, state)
        src = items.vertices[of_items]
        starts = xp.searchsorted(instances, xp.arange(first, first + len(pool.bounds)), side="left")
        state.hops.append(Edges(src, dst, instances, starts))
        kept = self._entering(env, state, put, instances, first)
        places = of_items[kept] if taken is None else taken[of_items[kept]]
        self._fill(env, state, taken, put[kept], src[kept], instances[kept], places, first)
        more = step + 1 < len(self.fanouts) and len(state.pool.vertices) > 0
        return self._nothing(part, active=more, frontier=len(items.vertices), edges=len(edges))

    @property
    def _seed(self) -> np.uint64:
        return np.uint64(self.seed & (2**64 - 1))

    def _refuse_failures(self, env: Environment, state: State) -> None:
        for name, failure in state.failures.items():
            found = int(env.backend.to_host(failure)[0])
            if found in UNFIT:
                raise self.functions[name].refused(UNFIT[found])
            self.functions[name].check(found)

    def _chooser(self, env: Environment, name: str, what: int, step: int, failures: dict[str, Array]) -> Chooser:
        failure = failures.get(name)
        floating = name in self.functions and self.functions[name].result == "float"
        return Chooser(
            env, self.name, self._seed, what, step, floating, env.xp.zeros(1, np.int32) if failure is None else failure
        )  # fmt: skip

    def _taken(self, env: Environment, state: State, step: int, first: int) -> Array | None:
        """Entries of all pools that are chosen, in their order; None for all."""
        if self.frontier_size is None:
            return None
        xp, pool = env.xp, state.pool
        count = len(pool.bounds) - 1
        instances = xp.arange(first, first + count)
        weigh: Callable[[int, int], Array] | None = None
        if "vertex_bias" in self.functions:
            kernels, bias = self._kernels(env, state, "vertex_bias")
            host = env.backend.to_host(pool.bounds)
            places = self._places(env, pool, first)

            def weigh(a: int, b: int) -> Array:
                here = slice(int(host[a]), int(host[b]))
                values = xp.empty(here.stop - here.start, bias)
                kernels.functions_vertex_bias(
                    len(values), pool.vertices[here], pool.instances[here], places[here], step, state.rows.indptr,
                    values, state.failures["vertex_bias"],
                )  # fmt: skip
                return values

        chooser = self._chooser(env, "vertex_bias", DRAW_POOL, step, state.failures)
        wanted = xp.minimum(pool.bounds[1:] - pool.bounds[:-1], self.frontier_size)
        found = choose(chooser, Choices(pool.bounds, wanted, xp.zeros(count, np.int64), instances), False, weigh)
        return xp.sort(pool.bounds[found.owners] + found.chosen)

    def _places(self, env: Environment, pool: Frontier, first: int) -> Array:
        return env.xp.arange(len(pool.vertices)) - pool.bounds[pool.instances - first]

    def _items(self, env: Environment, state: State, taken: Array | None, first: int) -> tuple[Items, Array]:
        """What is expanded, and where the items of each instance begin."""
        xp, pool = env.xp, state.pool
        places = self._places(env, pool, first)
        everything = Items(pool.vertices, state.previous, pool.instances, places)
        if taken is None:
            return everything, pool.bounds
        return everything[taken], xp.searchsorted(taken, pool.bounds, side="left")

    def _edges(
        self, env: Environment, state: State, items: Items, bounds: Array, step: int, first: int
    ) -> tuple[Array, Array, Array]:
        """Edges chosen: of each its item, its place among all edges of the graph, and its number in the choice."""
        xp, indptr, n = env.xp, state.rows.indptr, len(items.vertices)
        degrees = indptr[items.vertices + 1] - indptr[items.vertices]
        at = xp.zeros(n + 1, np.int64)
        xp.cumsum(degrees, out=at[1:])
        chooser = self._chooser(env, "edge_bias", DRAW_EDGE, step, state.failures)
        biased = "edge_bias" in self.functions
        if self.per == "layer":
            groups, count = at[bounds], len(bounds) - 1
            wanted = self._wanted(env, groups[1:] - groups[:-1], self.fanouts[step])
            choices = Choices(groups, wanted, xp.zeros(count, np.int64), xp.arange(first, first + count))
            host = env.backend.to_host(bounds) if biased else None
            weigh = self._weigher(env, state, items, at, host, step, first) if biased else None
            found = choose(chooser, choices, self.replace, weigh)
            place = groups[found.owners] + found.chosen
            of_items = xp.searchsorted(at, place, side="right") - 1
            order = xp.argsort(of_items, kind="stable")
            of_items, place, numbers = of_items[order], place[order], found.numbers[order]
            return of_items, indptr[items.vertices[of_items]] + (place - at[of_items]), numbers
        sizes: Any = self.fanouts[step]
        if self.sized:
            kernels, _ = self._kernels(env, state, "neighbor_size")
            sizes = xp.empty(n, np.int64)
            kernels.functions_neighbor_size(
                n, items.vertices, items.instances, items.places, step, indptr, 0 if self.replace else -1, self._seed,
                sizes, state.failures["neighbor_size"],
            )  # fmt: skip
        choices = Choices(at, self._wanted(env, degrees, sizes), items.places, items.instances)
        if not biased:
            found = choose(chooser, choices, self.replace, None)
        elif self.edge_bound is None:
            found = choose(chooser, choices, self.replace, self._weigher(env, state, items, at, None, step, first))
        else:
            found = self._tried(env, state, items, choices, step, first, chooser)
        return found.owners, indptr[items.vertices[found.owners]] + found.chosen, found.numbers

    def _wanted(self, env: Environment, sizes: Array, asked: Any) -> Array:
        """How many candidates each group gives at most."""
        xp = env.xp
        if self.replace:
            return xp.where(sizes > 0, asked, 0).astype(np.int64)
        if isinstance(asked, int):
            return sizes if asked < 0 else xp.minimum(sizes, asked)
        return xp.where(asked < 0, sizes, xp.minimum(sizes, asked))

    def _weigher(
        self, env: Environment, state: State, items: Items, at: Array, groups: np.ndarray | None, step: int, first: int
    ) -> Callable[[int, int], Array]:
        """Biases of the edges of groups a to b - 1: items, or those that `groups` says."""
        kernels, bias = self._kernels(env, state, "edge_bias")

        def weigh(a: int, b: int) -> Array:
            if groups is not None:
                a, b = int(groups[a]), int(groups[b])
            total = int(at[b] - at[a]) if b > a else 0
            values, here = env.xp.empty(total, bias), items[a:b]
            kernels.functions_edge_bias(
                b - a, here.vertices, here.previous, here.instances, state.seeds, first, step, state.rows.indptr,
                state.rows.indices, state.weights, at[a : b + 1], values, state.failures["edge_bias"], per_item=32,
            )  # fmt: skip
            return values

        return weigh

    def _tried(
        self, env: Environment, state: State, items: Items, choices: Choices, step: int, first: int, chooser: Chooser
    ) -> Any:
        """Edges by rejection, and those of items whose trials were not enough by looking at all."""
        xp, n = env.xp, len(items.vertices)
        kernels, bias = self._kernels(env, state, "edge_bias")
        assert self.edge_bound is not None
        bound = bias(int(self.edge_bound)) if bias is np.int64 else bias(self.edge_bound)
        room = choices.room(xp)
        done = xp.empty(n, np.int64)
        for a in range(0, n, 1 << 20):
            here, b = items[a : a + (1 << 20)], a + (1 << 20)
            kernels.functions_trials(
                len(here.vertices), here.vertices, here.previous, here.instances, here.places, state.seeds, first, step,
                state.rows.indptr, state.rows.indices, state.weights, bound, TRIALS, int(self.replace), self._seed,
                room.starts[a:b], choices.wanted[a:b], room.chosen, room.owners, done[a:b], a,
                state.failures["edge_bias"],
            )  # fmt: skip
            chooser.look_at_the_clock()
        left = xp.flatnonzero(done < choices.wanted)
        if len(left):
            short = items[left]
            degrees = choices.bounds[left + 1] - choices.bounds[left]
            at = xp.zeros(len(left) + 1, np.int64)
            xp.cumsum(degrees, out=at[1:])
            rest = Choices(at, choices.wanted[left], short.places, short.instances)
            weigh = self._weigher(env, state, short, at, None, step, first)
            return choose(chooser, rest, self.replace, weigh, room.of(left, done[left]))
        return room.filled(xp)

    def _entering(self, env: Environment, state: State, put: Array, instances: Array, first: int) -> Array:
        """Numbers of the edges whose vertex goes into the pool."""
        xp = env.xp
        kept = xp.flatnonzero(put >= 0)
        if self.revisit:
            return kept
        vertices, instances = put[kept], instances[kept]
        starts = xp.searchsorted(instances, xp.arange(first, first + len(state.pool.bounds)), side="left")
        regions = sum((frontier.bounds for frontier in state.entered), starts)
        room = 2 * (sum(len(frontier.vertices) for frontier in state.entered) + len(vertices))
        keys = xp.full(room, -1, vertices.dtype)
        earliest = xp.full(0 if env.backend.name == "cpu" else room, np.iinfo(np.int64).max, np.int64)
        fresh = xp.empty(len(vertices), np.uint8)
        shared = first, regions
        for seen in state.entered:
            state.kernels.neighbors_enter(
                len(seen.vertices), seen.vertices, seen.instances, *shared, 1, keys, earliest, fresh
            )
        state.kernels.neighbors_enter(len(fresh), vertices, instances, *shared, 0, keys, earliest, fresh)
        state.kernels.neighbors_fresh(len(fresh), vertices, instances, *shared, keys, earliest, fresh)
        new = xp.flatnonzero(fresh)
        instances = instances[new]
        bounds = xp.searchsorted(instances, xp.arange(first, first + len(state.pool.bounds)), side="left")
        state.entered.append(Frontier(vertices[new], instances, bounds))
        return kept[new]

    def _fill(
        self, env: Environment, state: State, taken: Array | None, vertices: Array, previous: Array, instances: Array,
        places: Array, first: int,
    ) -> None:  # fmt: skip
        """Put vertices into pools, each where its source was; what was not taken stays."""
        xp, pool = env.xp, state.pool
        if taken is not None:
            stays = xp.ones(len(pool.vertices), bool)
            stays[taken] = False
            stay = xp.flatnonzero(stays)
            order = xp.argsort(xp.concatenate([stay, places]), kind="stable")
            vertices = xp.concatenate([pool.vertices[stay], vertices])[order]
            previous = xp.concatenate([state.previous[stay], previous])[order]
            instances = xp.concatenate([pool.instances[stay], instances])[order]
        bounds = xp.searchsorted(instances, xp.arange(first, first + len(pool.bounds)), side="left")
        state.pool, state.previous = Frontier(vertices, instances, bounds), previous
