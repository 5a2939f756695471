"""The sampler of a Spec: pools of vertices, step by step.

An instance is at home on one rank, which has its pool; pools lie one after the other in the order of the instances.
With the whole graph there, all happens at home. Else the home sends each vertex that a step takes to its owner, which
chooses edges and says what they put into the pool: two exchanges a step, and two before them where the degrees of the
pool's vertices must be known to choose from it. What is drawn depends on the seed, the instance, the step and the place
in the pool alone.

Source: Pandey et al., c-saw, Section III, Figure 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, ClassVar

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.buffers import Allocation
from graphdask.engine.loop import INDEX, Environment, Inbox, Messages
from graphdask.kernels.functions.functions_pack import FunctionVertices
from graphdask.partition.part import Csr, Part
from graphdask.program.translated import Translated
from graphdask.sample import _spec_pools
from graphdask.sample._choosing import Choices, choose
from graphdask.sample._expand import Expander
from graphdask.sample._items import Items
from graphdask.sample._layers_apart import layer_step
from graphdask.sample._near import OF_NEAR, asks_near
from graphdask.sample._spec_hops import Drawn, drawn, samples_neighbors
from graphdask.sample._spec_pools import walked, walks_over_pools
from graphdask.sample._spec_state import SpecState, count_of, woven
from graphdask.sample._spec_walks import WalkState, advanced, begun, finished
from graphdask.sample._sums import memory_of_aliases
from graphdask.sample.methods import method_of
from graphdask.sample.neighborhoods import Neighborhoods
from graphdask.sample.sampler import owners, routed
from graphdask.sample.spec import Spec
from graphdask.sample.traversal import Edges, Frontier, Traversal
from graphdask.sample.tuning import SAMPLE

DRAW_POOL = 264
"""What is drawn, as in kernels/common/philox.py."""
MOST = 1e15
"""Entries of pools that are reckoned with; far more than there is memory for."""
IN_LAUNCH = {"cpu": 1 << 20, "cuda": 1 << 26}
"""Candidates with biases in one launch at most, for the memory."""


class SampledEdges(Neighborhoods):
    """Sampled edges, in the order of instance, step, the source's place in the pool, and as they were chosen."""

    new_vertices = 2


class Framework(Traversal):
    """The sampler of a spec."""

    name = "sampling by a spec"
    by_partitions = on_disk = False
    result_type = SampledEdges
    travelling: ClassVar[Mapping[str, Any]] = {"number": np.int64, "vertex": INDEX, "other": INDEX}

    @property
    def record_columns(self) -> Mapping[str, Any]:  # type: ignore[override]
        """What records hold; where rows are asked for, also that of an edge."""
        return {**self.travelling, "edge": np.int64} if self.numbered else self.travelling

    def __init__(
        self, seeds: np.ndarray, bounds: np.ndarray | None, spec: Spec, functions: dict[str, Translated], seed: int,
        names: np.ndarray | None = None, base: int = 0, edges: int = 1,
    ):  # fmt: skip
        sizes, times = spec.neighbor_size, spec.depth or 0
        if isinstance(sizes, tuple):
            fanouts = tuple(size if isinstance(size, int) else -1 for size in sizes)
            self.runs = [(fanout, len(list(alike))) for fanout, alike in groupby(fanouts)]
        else:
            every = sizes if isinstance(sizes, int) else -1
            fanouts, self.runs = (every,) * times, [(every, times)] * (times > 0)
        super().__init__(seeds, bounds, fanouts, replace=bool(spec.replace), direction=spec.direction, seed=seed)
        self.functions, self.per, self.revisit = functions, spec.per, bool(spec.revisit)
        self.frontier_size, self.names, self.base = spec.frontier_size, names, base
        self.draws = self._edges_at_most(self.instances, 1.0)[1]
        self.how = method_of(spec, functions.get("edge_bias"), self.draws / max(edges, 1))
        self.asks_degrees = "vertex_bias" in functions and "degree" in functions["vertex_bias"].fields

    def _edges_at_most(self, instances: int, degree: float, reached: float | None = None) -> tuple[float, float]:
        steps = self._sizes_at_most(instances, degree, reached=reached)
        return sum(taken * times for _, taken, _, times in steps), sum(edges * times for _, _, edges, times in steps)

    def _sizes_at_most(
        self, instances: float, degree: float, vertices: float = np.inf, reached: float | None = None
    ) -> list[tuple[float, float, float, int]]:
        """Of steps the entries of pools, those taken, and the edges, where rows are as long as `degree`; and how many
        such steps there are, one after the other.

        A function that says what goes into the pool is reckoned to put as many there as were taken.
        """
        pool, sizes = self.seeds_of(instances), []
        for fanout, left in self.runs:
            while left:
                taken = pool if self.frontier_size is None else min(pool, self.frontier_size * instances)
                all_of_them = min(degree, 2.0) if "neighbor_size" in self.functions else degree
                drawn = taken * all_of_them if fanout < 0 else fanout * (taken if self.per == "vertex" else instances)
                before = pool, degree
                pool += (taken if "update" in self.functions else drawn) - taken
                pool = min(pool, MOST if self.revisit else vertices * instances, MOST)
                degree = degree if reached is None else reached
                times = left if (pool, degree) == before else 1
                sizes.append((before[0], taken, drawn, times))
                left -= times
        return sizes

    def memory(self, part: Part, allocation: Allocation) -> int:
        """Return the bytes for edges (kept, returned), the largest step, past pools, and candidates of a launch.

        If all edges are taken, the estimate assumes row lengths as `Traversal.memory` does. If a function says how many
        edges are taken, the estimate assumes 2. Each step checks the free memory (`Chooser.allocate`).
        """
        rows, width, share = part.out, part.vertex_map.dtype.itemsize, -(-self.instances // part.size)
        stored = rows.num_edges * part.size
        mean, reached = self._lengths_to_reckon_with(part, rows)
        sizes = self._sizes_at_most(share, mean, part.num_vertices, reached) or [(0.0, 0.0, 0.0, 1)]
        edges, steps = sum(drawn * times for _, _, drawn, times in sizes), sum(times for *_, times in sizes)
        pools, taken, drawn = (max(step[k] for step in sizes) for k in range(3))
        if not self.revisit:
            most = share * float(part.num_vertices)
            pools, taken = min(pools, most), min(taken, most)
            edges = min(edges, share * float(stored) * (max(self.fanouts, default=1) if self.replace else 1))
            drawn = min(drawn, edges)
        record = 3 * (8 + 2 * width) * 3 if part.size > 1 else 0
        each = 4 * width + 20 + 32 * self.numbered
        kept = each * edges + (0 if self.revisit else (3 * width + 24) * min(edges, pools * steps))
        step = (4 * width + 64 + record // 3) * drawn + (7 * width + 56 + record) * taken + (6 * width + 48) * pools
        mapped = part.num_slots * (8 + width) if part.size > 1 else 0
        if part.size > 1 and asks_near(self.functions):
            mapped += int(2 * OF_NEAR * width * min(taken * max(mean, reached or 0.0), float(stored)))
        if part.size > 1 and self.per == "layer":
            mapped += int(SAMPLE.candidate_bytes * taken * min(max(mean, reached or 0.0), float(stored)))
        tables = 8 * part.num_vertices if self.names is not None else 0
        tables += memory_of_aliases(part, self._rows(part), self) if self.how.name == "alias" else 0
        if part.size == 1 and walks_over_pools(self):
            step += _spec_pools.memory(self, width, share)
        elif part.size == 1 and samples_neighbors(self) and not isinstance(rows.indptr, np.ndarray):
            step = max(step, 2 * width * min(self._edges_at_most(share, mean)[1], SAMPLE.edge_launch))
        if self.how.name == "uniform":
            return int(kept + step) + 16 * share * (steps + 4) + 12 * len(self.seeds) + mapped + tables
        candidates = 16 * min(rows.num_edges, IN_LAUNCH["cpu" if isinstance(rows.indptr, np.ndarray) else "cuda"])
        return int(kept + step) + 16 * share * (steps + 4) + 12 * len(self.seeds) + mapped + tables + candidates

    def _lengths_to_reckon_with(self, part: Part, rows: Csr) -> tuple[float, float]:
        """The mean length of rows, and of those that edges lead to; they are not read if that decides nothing:
        a function that says how many edges are chosen is reckoned to say 2."""
        if part.size > 1 or "neighbor_size" not in self.functions:
            return self._row_lengths(part, rows)
        mean = rows.num_edges / max(part.num_vertices, 1)
        return mean, max(mean, 2.0)

    def prepare(self, part: Part, env: Environment) -> None:
        if self.how.static and self.functions["edge_bias"].called is None:
            Expander(part, env, self._rows(part), self.functions, self)  # which keeps sums of biases

    def _rows(self, part: Part) -> Csr:
        rows = part.inward if self.inward else part.out
        assert rows is not None
        return rows

    def init(self, part: Part, env: Environment) -> tuple[Any, Messages]:
        xp, dtype = env.xp, part.vertex_map.dtype
        expander = Expander(part, env, self._rows(part), self.functions, self)
        at_once = SAMPLE.fused and not self.numbered  # which says nothing of the places of edges
        walks = begun(self, expander, env) if part.size == 1 and at_once else None
        if walks is not None:
            return walks, Messages.of_records(walks.nothing, np.zeros(2, np.int64), active=walks.left > 0)
        together = (drawn(self, expander, part, env) or walked(self, expander, part, env)) if at_once else None
        if together is not None:
            of = {"frontier": together.frontier, "edges": len(together.columns["dst"])}
            return together, Messages.of_records(together.nothing, np.zeros(2, np.int64), active=False, **of)
        pool = self._seeds_at_home(part, env)
        first = int(self.homes(part.size)[part.rank])
        state = SpecState(
            expander, env.kernels("neighbors", index_t=dtype), pool, xp.full(len(pool.vertices), -1, dtype), pool,
            xp.arange(first, first + len(pool.bounds)), first, [] if self.revisit else [pool], pool.bounds,
        )  # fmt: skip
        if part.size == 1:
            return state, self._nothing(part, active=bool(self.fanouts) and len(pool.vertices) > 0)
        if self.per == "layer":
            return state, self._nothing(part, active=bool(self.fanouts) and len(pool.vertices) > 0)
        return state, self._begun(part, state, env) if self.fanouts else self._nothing(part, active=False)

    def superstep(self, part: Part, state: Any, inbox: Inbox, env: Environment) -> Messages:
        if isinstance(state, WalkState):
            walks, made = advanced(self, state, env)
            of = {"active": state.left > 0, "frontier": walks, "edges": made}
            return Messages.of_records(state.nothing, np.zeros(2, np.int64), **of)
        if part.size > 1:
            apart = self.per == "layer"
            return layer_step(self, part, state, env) if apart else self._exchanged(part, state, inbox, env)
        expander, step = state.expander, len(state.hops)
        rows = state.pool.vertices
        if expander.mapped:
            rows = part.vertex_map.to_position(env.backend, rows).astype(rows.dtype, copy=False)
        indptr = expander.rows.indptr
        state.taken = self._taken(state, env, indptr[rows + 1] - indptr[rows] if self.asks_degrees else None)
        items = expander.with_near(part, self._items(state, env, rows))
        groups = None
        if self.per == "layer":
            groups = state.bounds_of_items(env, items)
        chosen = expander.edges(items, self.fanouts[step], step, groups, state.instances[:-1])
        put = expander.put(items, chosen.of_items, chosen.edges, chosen.numbers, step, chosen.dst)
        if not expander.checked:
            expander.refuse_failures()
        caller_rows = expander.caller_rows(chosen.edges)
        self._keep_edges(state, env, chosen.src, chosen.of_items, chosen.dst, put, chosen.instances, caller_rows)
        more = step + 1 < len(self.fanouts) and len(state.pool.vertices) > 0
        return self._nothing(part, active=more, frontier=len(items.vertices), edges=len(chosen.edges))

    def result(self, part: Part, state: Any, env: Environment) -> dict[str, Array]:
        if isinstance(state, WalkState):
            return finished(self, state, env)
        if isinstance(state, Drawn):
            return state.columns
        return super().result(part, state, env)

    def _exchanged(self, part: Part, state: SpecState, inbox: Inbox, env: Environment) -> Messages:
        phases = 4 if self.asks_degrees else 2
        step, phase = divmod(len(env.history), phases)
        if phase == phases - 1:
            return self._answered_edges(part, state, inbox, env, step)
        if phase == 1:
            return self._lengths(part, state, inbox, env)
        if phase == 2:
            degrees = env.xp.empty(len(state.pool.vertices), np.int64)
            degrees[inbox.records["number"][0::2]] = inbox.records["number"][1::2]
            return self._asked_edges(part, state, env, degrees)
        items, number = self._items(state, env, state.pool.vertices), inbox.records["number"]
        order = env.xp.argsort(number, kind="stable")
        self._keep_answers(
            state, env, items, number[order], inbox.records["vertex"][order], inbox.records["other"][order],
            inbox.records["edge"][order] if self.numbered else None,
        )  # fmt: skip
        if len(state.hops) == len(self.fanouts):
            return self._nothing(part, active=False)
        return self._begun(part, state, env)

    def _begun(self, part: Part, state: SpecState, env: Environment) -> Messages:
        """The first question of a step: degrees of the pool, or edges of what is taken of it."""
        if not self.asks_degrees:
            return self._asked_edges(part, state, env, None)
        pool = state.pool
        records = [(pool.instances, None, None), (count_of(env, pool), None, None)]
        return self._sent(part, state, env, pool.vertices, records)

    def _asked_edges(self, part: Part, state: SpecState, env: Environment, degrees: Array | None) -> Messages:
        state.taken = self._taken(state, env, degrees)
        items = self._items(state, env, state.pool.vertices)
        number = env.xp.arange(len(items.vertices), dtype=np.int64)
        return self._sent(part, state, env, items.vertices, [
            (items.instances, items.vertices, items.previous), (items.places, items.seeds, None), (number, None, None),
        ])  # fmt: skip

    def _nothing(self, part: Part, **more: Any) -> Messages:
        of = {"number": np.int64, "vertex": part.vertex_map.dtype, "other": part.vertex_map.dtype}
        none = {name: part.ids[:0].astype(dtype, copy=False) for name, dtype in of.items()}
        if self.numbered:
            none["edge"] = none["number"]
        return Messages.of_records(none, np.zeros(part.size + 1, np.int64), **more)

    def _sent(
        self, part: Part, state: SpecState, env: Environment, vertices: Array, records: list[tuple[Any, Any, Any]]
    ) -> Messages:  # fmt: skip
        """Some records for each vertex, to its owner; the position of the vertex stands for what is None."""
        each = len(records)
        positions = part.vertex_map.to_position(env.backend, vertices).astype(vertices.dtype, copy=False)
        columns = {
            f"{name}{k}": positions if column is None else column
            for k, record in enumerate(records)
            for name, column in zip(("number", "vertex", "other"), record, strict=True)
        }
        sorted_columns, bounds = routed(env, owners(env, part, positions), columns)
        # what a step does not take of a pool stays there for the next one
        active = len(state.pool.vertices) > 0
        sent = woven(env, sorted_columns, each, vertices.dtype, self.numbered)
        return Messages.of_records(sent, each * bounds, active=active)

    def _lengths(self, part: Part, state: SpecState, inbox: Inbox, env: Environment) -> Messages:
        """Owners: the degrees of vertices."""
        number, indptr = inbox.records["number"], state.expander.rows.indptr
        rows = inbox.records["vertex"][0::2] - part.vertex_map.dtype.type(part.first_position)
        answers = {
            "number0": number[1::2], "number1": indptr[rows + 1] - indptr[rows], "vertex0": rows, "vertex1": rows,
            "other0": rows, "other1": rows,
        }  # fmt: skip
        bounds = 2 * env.backend.to_host(self.bounds_of_homes(env, part.size, number[0::2]))
        records = woven(env, answers, 2, part.vertex_map.dtype, self.numbered)
        return Messages.of_records(records, bounds, active=len(rows) > 0, frontier=len(rows))

    def _answered_edges(self, part: Part, state: SpecState, inbox: Inbox, env: Environment, step: int) -> Messages:
        """Owners: edges of vertices, and what they put into pools."""
        xp, came, expander = env.xp, inbox.records, state.expander
        number, vertex, other = (came[name] for name in ("number", "vertex", "other"))
        rows = vertex[2::3] - part.vertex_map.dtype.type(part.first_position)
        taken = rows, vertex[0::3], other[0::3], number[0::3], number[1::3], vertex[1::3]
        items = expander.with_near(part, Items(*(xp.ascontiguousarray(column) for column in taken)))
        chosen = expander.edges(items, self.fanouts[step], step)
        put = expander.put(items, chosen.of_items, chosen.edges, chosen.numbers, step, chosen.dst)
        expander.refuse_failures()
        edges = len(chosen.edges)
        stays = state.taken is not None and len(state.taken) < len(state.pool.vertices)
        records = {"number": number[2::3][chosen.of_items], "vertex": chosen.dst, "other": put}
        if self.numbered:
            records["edge"] = expander.caller_rows(chosen.edges)
        bounds = env.backend.to_host(self.bounds_of_homes(env, part.size, chosen.instances))
        return Messages.of_records(records, bounds, active=edges > 0 or stays, frontier=len(rows), edges=edges)

    def _places(self, state: SpecState, env: Environment) -> Array:
        return count_of(env, state.pool) - state.pool.bounds[self._local(state)]

    def _local(self, state: SpecState) -> Array:
        """The instances of what is in pools, numbered from 0 on."""
        return state.pool.instances - state.first if state.first else state.pool.instances

    def _taken(self, state: SpecState, env: Environment, degrees: Array | None) -> Array | None:
        """Entries of all pools that are chosen; `degrees` are given where functions ask for them."""
        if self.frontier_size is None:
            return None
        xp, pool, expander, step = env.xp, state.pool, state.expander, len(state.hops)
        weigh: Callable[[int, int], Array] | None = None
        if "vertex_bias" in self.functions:
            kernels, bias = expander.kernels("vertex_bias")
            host, places = env.backend.to_host(pool.bounds), self._places(state, env)
            known = pool.instances if degrees is None else degrees

            def weigh(a: int, b: int) -> Array:
                here = slice(int(host[a]), int(host[b]))
                values = xp.empty(here.stop - here.start, bias)
                pack = FunctionVertices(
                    **expander.of_vertices, vertices=pool.vertices[here], degrees=known[here],
                    instances=pool.instances[here], places=places[here], depth=step, values=values,
                    failure=expander.failures["vertex_bias"],
                )  # fmt: skip
                kernels.functions_vertex_bias(len(values), pack)
                return values

        instances = state.instances[:-1]
        choices = Choices.between(expander.steps, xp, pool.bounds, self.frontier_size, False, instances)
        found = choose(expander.chooser("vertex_bias", DRAW_POOL, step), choices, False, weigh)
        expander.refuse_failures()
        return xp.sort(pool.bounds[found.owners] + found.chosen)

    def _items(self, state: SpecState, env: Environment, rows: Array) -> Items:
        """What is taken of the pools."""
        pool, seeds, n = state.pool, state.seeds, len(state.pool.vertices)
        places, of_items = env.xp.empty(n, np.int64), env.xp.empty(n, seeds.vertices.dtype)
        state.expander.steps.steps_items(
            n, pool.instances, pool.bounds, state.first, seeds.vertices, seeds.bounds, places, of_items
        )
        everything = Items(rows, pool.vertices, state.previous, pool.instances, places, of_items)
        return everything if state.taken is None else everything[state.taken]

    def _keep_answers(
        self, state: SpecState, env: Environment, items: Items, of_items: Array, dst: Array, put: Array,
        caller_rows: Array | None = None,
    ) -> None:  # fmt: skip
        """Keep the edges of a step that others have chosen."""
        self._keep_edges(
            state, env, items.vertices[of_items], of_items, dst, put, items.instances[of_items], caller_rows
        )

    def _keep_edges(
        self, state: SpecState, env: Environment, src: Array, of_items: Array, dst: Array, put: Array, instances: Array,
        caller_rows: Array | None = None,
    ) -> None:  # fmt: skip
        """Keep the edges of a step, which stand in the order of the items, and fill the pools; `caller_rows` are
        the rows of the edges in what the caller gave, where they are asked for."""
        xp, taken = env.xp, state.taken
        starts = xp.searchsorted(instances, state.instances, side="left")
        state.hops.append(Edges(src, dst, instances, starts, caller_rows))
        if len(state.hops) == len(self.fanouts):
            return
        entering: Any = slice(None) if "update" not in self.functions else xp.flatnonzero(put >= 0)
        if not self.revisit:
            fresh = self._entering(state, env, put[entering], src[entering], instances[entering], starts)
            if taken is None:
                return
            (new,) = xp.nonzero(fresh)
            entering = new if isinstance(entering, slice) else entering[new]
        places = of_items[entering] if taken is None else taken[of_items[entering]]
        self._fill(state, env, put[entering], src[entering], instances[entering], places)

    def _entering(
        self, state: SpecState, env: Environment, vertices: Array, src: Array, instances: Array, starts: Array
    ) -> Array:  # fmt: skip
        """Which vertices go into the pool for the first time, of those that edges put there; `starts` is where the
        edges of each instance begin, if they all put one there. Where all of a pool is taken, they are the next one."""
        xp = env.xp
        if "update" in self.functions:
            starts = xp.searchsorted(instances, state.instances, side="left")
        regions = state.visited + starts
        capacity = 2 * (sum(len(frontier.vertices) for frontier in state.entered) + len(vertices))
        keys = xp.full(capacity, -1, vertices.dtype)
        earliest = xp.full(0 if env.backend.name == "cpu" else capacity, np.iinfo(np.int64).max, np.int64)
        fresh = xp.empty(len(vertices), np.uint8)
        shared = state.first, regions
        for seen in state.entered:
            state.kernels.neighbors_enter(
                len(seen.vertices), seen.vertices, seen.instances, *shared, 1, keys, earliest, fresh
            )
        state.kernels.neighbors_enter(len(fresh), vertices, instances, *shared, 0, keys, earliest, fresh)
        state.kernels.neighbors_fresh(len(fresh), vertices, instances, *shared, keys, earliest, fresh)
        sums = xp.cumsum(fresh, dtype=np.int64) if len(fresh) else xp.empty(0, np.int64)
        total = int(sums[-1]) if len(fresh) else 0
        made = Frontier(xp.empty(total, vertices.dtype), xp.empty(total, np.int64), xp.zeros(len(starts), np.int64))
        previous = xp.empty(total, vertices.dtype)
        state.kernels.neighbors_keep(
            len(fresh), vertices, instances, src, sums, starts, len(starts), made.vertices, made.instances, previous,
            made.bounds,
        )  # fmt: skip
        state.entered.append(made)
        if len(state.hops) + 1 < len(self.fanouts):
            state.visited = state.visited + made.bounds
        if state.taken is None:
            state.pool, state.previous = made, previous
        return fresh

    def _fill(
        self, state: SpecState, env: Environment, vertices: Array, previous: Array, instances: Array, places: Array
    ) -> None:
        """Put vertices into pools, each where its source was; what was not taken stays."""
        xp, pool = env.xp, state.pool
        if state.taken is not None:
            stays = xp.ones(len(pool.vertices), bool)
            stays[state.taken] = False
            stay = xp.flatnonzero(stays)
            order = xp.argsort(xp.concatenate([stay, places]), kind="stable")
            vertices = xp.concatenate([pool.vertices[stay], vertices])[order]
            previous = xp.concatenate([state.previous[stay], previous])[order]
            instances = xp.concatenate([pool.instances[stay], instances])[order]
        bounds = xp.searchsorted(instances, state.instances, side="left")
        state.pool, state.previous = Frontier(vertices, instances, bounds), previous
