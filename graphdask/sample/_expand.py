"""Where the caller's functions are called: which edges of which vertices a step takes, and what they put into pools.

Here it is the same whether the whole graph is at hand or a partition of it, in which slots have other numbers than
vertices, and only own vertices have rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.device.backend import BLOCK, Array
from graphdask.engine.loop import Environment
from graphdask.kernels.common.tuning import FEW_CHOSEN
from graphdask.kernels.functions.functions_pack import FunctionItems, FunctionVertices
from graphdask.kernels.neighbors.steps_pack import StepEdges
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap
from graphdask.program.translated import Translated
from graphdask.sample import fanouts
from graphdask.sample._choosing import Choices, Chooser, Found, choose, empty_counts, launches
from graphdask.sample._columns_read import columns_of
from graphdask.sample._items import Chosen, Items, Numbers
from graphdask.sample._kept_biases import DRAW_EDGE, aliased, layered, summed
from graphdask.sample._near import asks_near, near_rows
from graphdask.sample._sums import Aliases, Sums, aliases_of, looked_at, pays, sums_of
from graphdask.sample.fanouts import REDRAWN
from graphdask.sample.methods import Method
from graphdask.sample.spec import MOST_DRAWN, MOST_KEPT, MOST_TRIED
from graphdask.sample.tuning import SAMPLE

LAUNCH = 1 << 20
"""Vertices whose edges are drawn by rejection in one launch."""
LOOKED_AT = {"cpu": 1 << 18, "cuda": 1 << 33}
"""Edges in one launch by a reservoir, of which nothing is kept: some tens of milliseconds."""
OF_STEP = (
    "rows", "vertices", "previous", "near", "instances", "places", "seeds", "at", "values", "starts", "counts",
    "chosen", "owner", "longs", "keys", "done", "of_items", "edges", "numbers", "put", "bound",
)  # fmt: skip
"""Fields of `FunctionItems` of one step: arrays, and a bound of the type of its biases."""
UNFIT = {
    -1: "returned a bias that is negative, infinite or NaN",
    -2: "returned a bias above edge_bound",
    -3: "returned neither -1 nor a vertex",
    -4: f"returned a number of neighbours below -1 (0 with replace=True), or above {MOST_DRAWN:,} "
    f"({MOST_TRIED:,} with edge_bound, by rejection or redraws, {MOST_KEPT:,} by a reservoir)",
    -5: "returned integer biases of one choice that add up to 2**63 or more; return floats",
}
"""Failures of kernels/choice/selection.py."""


class Expander:
    """Takes steps from vertices whose edges are here.

    Parameters
    ----------
    functions : dict of str to Translated
    options : what the sampler says: `name`, `per`, `replace`, `how`, `seed`, `direction`, `names`, `base`, `draws`
    """

    def __init__(self, part: Part, env: Environment, rows: Csr, functions: dict[str, Translated], options: Any):
        xp, self.dtype = env.xp, part.vertex_map.dtype
        self.part, self.env, self.rows, self.functions, self.options = part, env, rows, functions, options
        self.seed = np.uint64(options.seed)
        self.num_vertices, self.undirected = part.num_vertices, part.inward is part.out
        self.steps = env.kernels("steps", index_t=self.dtype)
        self._failed = xp.zeros(len(functions) + 3, np.int32)
        self.checked = True
        """Whether no function was asked for since the host looked whether one has failed."""
        self.flags = self._failed[len(functions) :]
        """int32: failures of what there is no function for, whether trials were not enough, and whether some step was
        without an edge."""
        self.failures = {name: self._failed[k : k + 1] for k, name in enumerate(functions)}
        weights = xp.empty(0, np.float64) if rows.weights is None else rows.weights
        ids, degrees = xp.empty(0, self.dtype), xp.empty(0, np.int64)
        self.mapped = part.size > 1 or type(part.vertex_map) is not VertexMap
        if self.mapped:
            ids, degrees = env.fetch_ghosts(part, [part.ids, rows.indptr[1:] - rows.indptr[:-1]])
        self.ids = ids
        names = xp.empty(0, np.int64) if options.names is None else env.backend.from_host(options.names)
        self.graph: dict[str, Any] = {
            "names": names, "base": options.base, "indptr": rows.indptr, "indices": rows.indices, "weights": weights,
            "ids": ids, "degrees": degrees, "mapped": int(self.mapped), "near_indptr": rows.indptr,
            "near_indices": rows.indices, "failure_of_update": self.failure("update"),
        }  # fmt: skip
        """Fields of `FunctionGraph`."""
        columns = columns_of(options.column_numbers, part, rows)
        self.graph |= columns
        self.types_of_columns = {f"{name}_t": array.dtype for name, array in columns.items()}
        self.of_vertices: dict[str, Any] = {
            "names": names, "base": options.base, "replace": int(options.replace), "seed": self.seed
        }  # fmt: skip
        """Fields of `FunctionVertices`."""
        self.of_vertices |= {name: array for name, array in columns.items() if name.startswith("vertex")}
        self.of_edges = FunctionItems(
            **self.graph, failure=self.failure("edge_bias"), replace=int(options.replace), seed=self.seed,
            trials=SAMPLE.trials, num_vertices=self.num_vertices, lacking=self.flags[2:],
        )  # fmt: skip
        self.method: Method = options.how
        self.sums: Sums | None = None
        self.aliases: Aliases | None = None
        if self.method.name == "alias":
            self.aliases = aliases_of(self, part, env)
            if self.aliases is None:
                self.method = replace(self.method, name="inverse")
        self.by_sums = self.method.name in ("inverse", *REDRAWN) and self.method.static
        """Whether edges can be chosen by sums of all biases."""
        if self.by_sums and options.per == "layer":
            # of biases that are floats, units in a group of rows are others than in a row
            self.by_sums = part.size == 1 and functions["edge_bias"].result != "float"
        if self.by_sums:
            self._ask_for_sums()

    def with_near(self, part: Part, items: Items) -> Items:
        """The items of a step with the rows of the vertices before, where functions ask for them; all ranks call it."""
        if not (self.mapped and asks_near(self.functions)):
            return items
        near = near_rows(part, self.env, self.rows, self.ids, items.previous, self.options.name)
        self.of_edges.near_indptr, self.of_edges.near_indices = near.indptr, near.indices
        return replace(items, near=near.of)

    def kernels(self, *names: str, family: str = "functions", **numbers: int) -> tuple[Any, Any]:
        """Kernels with some functions in them, compiled for some numbers, and the dtype of biases: of edges, or where
        there are none of vertices.

        But for walks each function is called in kernels of its own, so they are compiled once for all specs with it.
        """
        self.checked = False
        functions = {name: self.functions[name] for name in names}
        weigh = functions.get("edge_bias", functions.get("vertex_bias"))
        bias = np.float64 if weigh is not None and weigh.result == "float" else np.int64
        types = {"index_t": self.dtype, "weight_t": self.graph["weights"].dtype, "bias_t": bias, **numbers}
        types |= self.types_of_columns
        return self.env.kernels(family, functions=functions, **types), bias

    def failure(self, name: str) -> Array:
        """Where failures of a function are stored, or of what is all alike where that is not given."""
        return self.failures.get(name, self.flags[:1])

    def asked(self, items: Items, step: int, **others: Any) -> FunctionItems:
        """What kernels of edges work on, with some items and other fields set."""
        self.of_edges.assign(
            rows=items.rows, vertices=items.vertices, previous=items.previous,
            near=items.previous if items.near is None else items.near, instances=items.instances, places=items.places,
            seeds=items.seeds, depth=step, **others,
        )  # fmt: skip
        return self.of_edges

    def bound(self, bias: Any) -> Any:
        """What no bias exceeds, as the kernels take it."""
        bound = 1 if self.method.bound is None else self.method.bound
        return bias(int(bound)) if bias is np.int64 else bias(bound)

    def drawn_by(self, how: int, bias: Any) -> dict[str, Any]:
        """Fields of `FunctionRows`, for kernels that take many steps in one launch."""
        sums = self.rows.indptr[:0]
        totals, other = sums.view(np.uint64), sums.view(np.int32)
        if self.sums is not None:
            sums = self.sums.values
        elif self.aliases is not None:
            of = self.aliases
            sums, totals, other = of.share.view(np.int64), of.totals, of.other
        return {
            **self.graph, "how": how, "sums": sums, "totals": totals, "other": other, "bound": self.bound(bias),
            "floating": int(bias is np.float64), "trials": SAMPLE.trials, "seed": self.seed,
            "num_vertices": self.num_vertices, "failure": self.failure("edge_bias"),
        }  # fmt: skip

    def chooser(self, name: str, what: int, step: int) -> Chooser:
        """Chooses by one of the functions, or among what is all alike where that is not given."""
        self.checked, failure = False, self.failure(name)
        floating = name in self.functions and self.functions[name].result == "float"
        redrawn = name == "edge_bias" and self.method.name in REDRAWN
        redraws = fanouts.METHODS.index(self.method.name) if redrawn else 0
        return Chooser(self.env, self.options.name, self.seed, what, step, floating, failure, redraws)

    def failed(self) -> list[int]:
        """Why functions have failed, 0 where one has not, and the flags."""
        found: list[int] = self.env.backend.to_host(self._failed).tolist()
        self.checked = True
        return found

    def start_over(self) -> None:
        """Forget failures and flags."""
        self._failed.fill(0)

    def refuse_failures(self, failed: list[int] | None = None) -> None:
        """Raise FunctionError where a function has failed, or returned what cannot be used."""
        if not self.functions:
            return
        for function, found in zip(self.functions.values(), failed or self.failed(), strict=False):
            if found in UNFIT:
                raise function.refused(UNFIT[found])
            function.check(found)

    def caller_rows(self, edges: Array) -> Array | None:
        """int64: the rows of edges in what the caller gave; None where nobody asks."""
        if not self.options.numbered:
            return None
        assert self.rows.rows is not None
        return self.rows.rows[edges].astype(np.int64, copy=False)

    def destinations(self, edges: Array) -> Array:
        """The vertices that edges lead to."""
        slots = self.rows.indices[edges]
        return self.ids[slots] if self.mapped else slots

    def _with_ends(self, items: Items, owners: Array, chosen: Array, begins: Array | None, numbers: Numbers) -> Chosen:
        """Edges, given by their places in rows and where these begin, or by their places among all."""
        xp, n = self.env.xp, len(owners)
        src, dst, instances = xp.empty(n, self.dtype), xp.empty(n, self.dtype), xp.empty(n, np.int64)
        edges = chosen if begins is None else xp.empty(n, np.int64)
        self.steps.steps_edges(
            n, StepEdges(
                owners=owners, chosen=chosen, begins=begins, vertices=items.vertices, instances=items.instances,
                indices=self.rows.indices, ids=self.ids, mapped=int(self.mapped), edges=edges, src=src, dst=dst,
                of_edges=instances,
            ),
        )  # fmt: skip
        return Chosen(owners, edges, src, dst, instances, numbers)

    def put(
        self, items: Items, of_items: Array, edges: Array, numbers: Numbers, step: int, dst: Array
    ) -> Array:  # fmt: skip
        """What each edge, which leads to `dst`, puts into the pool; -1 for nothing."""
        if "update" not in self.functions:
            return dst
        kernels, _ = self.kernels("update")
        put = self.env.xp.empty(len(edges), self.dtype)
        pack = self.asked(items, step, of_items=of_items, edges=edges, numbers=numbers(), put=put)
        kernels.functions_update(len(edges), pack)
        pack.release(*OF_STEP)
        return put

    def edges(
        self, items: Items, fanout: int, step: int, groups: Array | None = None, instances: Array | None = None
    ) -> Chosen:  # fmt: skip
        """Choose edges.

        Parameters
        ----------
        fanout : int
            How many, where there is no function for that.
        groups : int64 array, optional
            Where the items begin whose edges are chosen together; None: each item's for itself.
        instances : int64 array, optional
            Of these groups.
        """
        xp, n, replace = self.env.xp, len(items.rows), self.options.replace
        begins, degrees, counts = xp.empty(n, np.int64), xp.empty(n, np.int64), empty_counts(xp, n)
        self.steps.steps_rows(n, items.rows, self.rows.indptr, fanout, int(replace), begins, degrees, counts)
        chooser = self.chooser("edge_bias", DRAW_EDGE, step)
        if groups is not None:
            candidates = Choices(xp, degrees, counts, items.places, items.instances)
            weigh, at = None, candidates.bounds
            if "edge_bias" in self.functions:
                weigh = self.weigher(items, at, self.env.backend.to_host(groups), step)
            rows = items.rows if self._has_few(fanout) and self._has_sums(candidates) else None
            of_items, places, numbers = self.of_layers(instances, at, fanout, step, groups, weigh, rows)
            return self._with_ends(items, of_items, places, begins, numbers)
        sized = "neighbor_size" in self.functions
        if sized:
            self._size(items, degrees, step, counts[1:])
        if self.method.per_row:
            self._leave_out(items, step, counts[1:])
        choices = Choices(xp, degrees, counts, items.places, items.instances)
        few = replace or (not sized and 0 <= fanout <= FEW_CHOSEN)
        if self.method.name == "uniform":
            found = choose(chooser, choices, replace, None, begins=begins, few=few or (not sized and fanout < 0))
            return self._with_ends(items, found.owners, found.chosen, None, lambda: found.numbers(xp))
        if self.method.name == "rejection":
            found = self._tried(items, choices, step, chooser)
        elif self.method.name == "alias":
            found = aliased(self, items, choices, step, chooser)
        elif self.method.name == "reservoir":
            found = self._by_keys(items, choices, step, chooser)
        elif (few or chooser.redraws) and self._has_sums(choices):
            found = summed(self, items, choices, step, chooser)
        else:
            found = choose(chooser, choices, replace, self.weigher(items, choices.bounds, None, step), few=few)
        return self._with_ends(items, found.owners, found.chosen, begins, lambda: found.numbers(xp))

    def of_layers(
        self, instances: Array | None, at: Array, fanout: int, step: int, groups: Array,
        weigh: Callable[[int, int], Array] | None, rows: Array | None = None,
    ) -> tuple[Array, Array, Numbers]:  # fmt: skip
        """Choose among the edges of the items of each group.

        Return the item of each chosen edge, its place in the item's row, and a function that returns the numbers of the
        edges in their choices. `instances` are those of the groups, and `at` says where the edges of each item begin.
        `rows` are the rows of the items, or None; they are given if edges are chosen by sums that are kept.
        """
        xp, bounds = self.env.xp, at[groups]
        choices = Choices.between(self.steps, xp, bounds, fanout, self.options.replace, instances)
        chooser = self.chooser("edge_bias", DRAW_EDGE, step)
        if rows is None:
            few = self._has_few(fanout) or (weigh is None and fanout < 0)
            found = choose(chooser, choices, self.options.replace, weigh, few=few)
        else:
            found = layered(self, rows.astype(np.int64), at, groups, choices, step, chooser)
        n = len(found.owners)
        places, items, owners, of_row = (xp.empty(n, np.int64) for _ in range(4))
        self.steps.steps_places(n, found.owners, found.chosen, bounds, groups, at, places, items)
        order = xp.argsort(items, kind="stable")
        self.steps.steps_ordered(n, order, items, places, at, owners, of_row)
        return owners, of_row, lambda: found.numbers(xp)[order]

    def _size(self, items: Items, degrees: Array, step: int, counts: Array) -> None:
        """Ask the function how many edges of each item are chosen."""
        kernels, _ = self.kernels("neighbor_size")
        limits = {"rejection": MOST_TRIED, "reservoir": MOST_KEPT, **dict.fromkeys(REDRAWN, MOST_TRIED)}
        most = limits.get(self.method.name, MOST_DRAWN)
        pack = FunctionVertices(
            **self.of_vertices, vertices=items.vertices, degrees=degrees, instances=items.instances,
            places=items.places, depth=step, most=most, counts=counts, failure=self.failures["neighbor_size"],
        )  # fmt: skip
        kernels.functions_neighbor_size(len(degrees), pack)

    def weigher(
        self, items: Items, at: Array, groups: np.ndarray | None, step: int
    ) -> Callable[[int, int], Array]:  # fmt: skip
        """Biases of the edges of groups a to b - 1: items, or those that `groups` says."""
        kernels, bias = self.kernels("edge_bias")

        def weigh(a: int, b: int) -> Array:
            if groups is not None:
                a, b = int(groups[a]), int(groups[b])
            values = self.env.xp.empty(int(at[b] - at[a]), bias)
            pack = self.asked(items[a:b], step, at=at[a : b + 1], values=values)
            kernels.functions_edge_bias(b - a, pack, per_item=32)
            pack.release(*OF_STEP)
            return values

        return weigh

    def _leave_out(self, items: Items, step: int, counts: Array) -> None:
        """Choose none of the edges of items whose edges, all alike, have the bias 0."""
        kernels, _ = self.kernels("edge_bias")
        pack = self.asked(items, step, counts=counts)
        kernels.functions_row_bias(len(counts), pack)
        pack.release(*OF_STEP)

    def _has_sums(self, choices: Choices) -> bool:
        """Whether there are sums of all biases, or they are made, now that so many edges are to be scanned."""
        if self.by_sums and self.sums is None:
            looked_at(self, self.part, choices.total)
            self._ask_for_sums()
        return self.sums is not None

    def _ask_for_sums(self) -> None:
        """Sums of all biases, where they pay; what is refused then is not asked for again in this run."""
        self.sums = sums_of(self, self.part, self.env)
        self.by_sums = self.sums is not None or not pays(self.part, self.options)

    def _has_few(self, size: int) -> bool:
        """Whether what is drawn of one is distinguished without a table."""
        return bool(self.options.replace) or 0 <= size <= FEW_CHOSEN

    def _by_keys(self, items: Items, choices: Choices, step: int, chooser: Chooser) -> Found:
        """Edges by exponential keys."""
        xp, kernels = self.env.xp, self.kernels("edge_bias")[0]
        buffers, wanted = chooser.allocate(choices), choices.wanted
        keys, on_cpu = xp.empty(len(buffers.chosen), np.float64), self.env.backend.name == "cpu"
        for a, b in launches(self.env, choices, LOOKED_AT[self.env.backend.name], self._longest()):
            if a:
                chooser.look_at_the_clock()
            here, starts, out = items, buffers.starts, slice(None)
            if b - a < len(wanted):
                here, starts = items[a:b], buffers.starts[a:b] - buffers.starts[a]
                out = slice(int(buffers.starts[a]), int(buffers.starts[b]) if b < len(wanted) else len(keys))
            pack = self.asked(
                here, step, starts=starts, counts=wanted[a:b], longs=xp.zeros(0 if on_cpu else b - a + 1, np.int64),
                keys=keys[out], chosen=buffers.chosen[out], owner=buffers.owners[out],
            )  # fmt: skip
            kernels.functions_reservoir(b - a, pack, per_item=32)
            if not on_cpu:
                kernels.functions_reservoir_long(b - a, pack, per_item=BLOCK)
            pack.release(*OF_STEP)
            if a:
                owners = buffers.owners[out]
                owners[owners >= 0] += a
        failed = self.failed()
        self.refuse_failures(failed)
        return buffers.filled(xp, bool(failed[-1]))

    def _longest(self) -> int | None:
        """How many edges the longest row has; None where that is not kept."""
        tables, name = self.part.tables, ("longest row", self.options.direction)
        found: int | None = tables.get(name)
        if found is None and not tables.complete:
            lengths = self.rows.indptr[1:] - self.rows.indptr[:-1]
            found = tables.keep(name, int(lengths.max()) if len(lengths) else 0, 0)
        return found

    def _tried(self, items: Items, choices: Choices, step: int, chooser: Chooser) -> Found:
        """Edges by rejection, and those of items whose trials were not enough by a scan of all edges."""
        xp, n, replace = self.env.xp, len(choices.wanted), self.options.replace
        kernels, bias = self.kernels("edge_bias")
        bound = self.bound(bias)
        buffers = chooser.allocate(choices)
        done = xp.empty(n, np.int64)
        for a in range(0, n, LAUNCH):
            b = min(a + LAUNCH, n)
            pack = self.asked(
                items[a:b], step, bound=bound, starts=buffers.starts[a:b], counts=choices.wanted[a:b],
                chosen=buffers.chosen, owner=buffers.owners, done=done[a:b], label=a,
            )  # fmt: skip
            kernels.functions_trials(b - a, pack)
            pack.release(*OF_STEP)
            chooser.look_at_the_clock()
        left = xp.flatnonzero(done < choices.wanted)
        if not len(left):
            return buffers.filled(xp)
        short = items[left]
        counts = xp.zeros(len(left) + 1, np.int64)
        counts[1:] = choices.wanted[left]
        rest = Choices(xp, choices.sizes[left], counts, short.places, short.instances)
        return choose(
            chooser, rest, replace, self.weigher(short, rest.bounds, None, step), buffers.of(left, done[left])
        )
