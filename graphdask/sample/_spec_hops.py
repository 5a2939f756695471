"""Neighbour sampling by a spec on a GPU, where instances are small: all steps in one go, some instances by a warp.

A spec samples neighbours where all of a pool is taken in every step, and of each vertex a constant number of edges, by
one of the ways that a thread draws by on its own. The edges are those of the same steps taken one by one
(graphdask.sample.steps).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.kernels.functions.functions_fields import TRACED
from graphdask.kernels.functions.functions_hops_pack import FunctionHops
from graphdask.kernels.neighbors.hops_pack import PlacedHops
from graphdask.partition.part import Part
from graphdask.sample._expand import Expander
from graphdask.sample._spec_walks import HOW, TRIED
from graphdask.sample._together import drawn_together, shape_of
from graphdask.sample.fanouts import FEW

WAYS = ("uniform", "inverse", "rejection", "alias")
"""To draw edges."""
GAVE_UP = "by trials, with long rows"
"""Where a partition remembers that trials of a function were not enough."""


@dataclass
class Drawn:
    """All edges, one instance after the other."""

    columns: dict[str, Array]
    frontier: int
    """How many vertices they were drawn for, in a superstep."""

    @property
    def nothing(self) -> dict[str, Array]:
        """Records for nobody."""
        none = self.columns["src"][:0]
        return {"number": self.columns["instance"][:0], "vertex": none, "other": none}


@dataclass
class Asked:
    """Kernels that take many steps in one launch, and their arguments."""

    expander: Expander
    part: Part
    kernels: Any
    traces: bool
    """Whether functions ask from which vertex one was reached."""
    values: dict[str, Any]
    """Fields of `AskedRows`: of the graph, of what edges are drawn by, and of the functions."""
    name: tuple[Any, ...]

    @classmethod
    def of(cls, expander: Expander, part: Part, names: Sequence[str]) -> Asked | None:
        """None where edges are to be drawn step by step."""
        method, rows = expander.method, expander.rows
        if method.name not in WAYS or (method.name == "inverse" and expander.sums is None):
            return None
        how, functions = HOW[method.name], [name for name in names if name in expander.functions]
        name = (GAVE_UP, *(expander.functions[each].digest for each in functions))
        if how == TRIED and part.tables.get(name) is not None:
            return None
        traces = any(TRACED & set(expander.functions[each].fields) for each in functions)
        kernels, bias = expander.kernels(*functions, family="functions_hops", gd_how=how, gd_traces=int(traces))
        values = expander.drawn_by(how, bias)
        values["positives"] = rows.indptr[:0] if expander.sums is None else expander.sums.positives
        values |= {"replace": int(expander.options.replace), "gave_up": expander.flags[1:2]}
        return cls(expander, part, kernels, traces, values, name)

    def flags(self) -> list[int] | None:
        """The flags, once all is drawn; None where trials were not enough, so that what was drawn is of no use. The
        partition remembers that.

        Raises
        ------
        FunctionError
            If a function has failed.
        """
        failed = self.expander.failed()
        flags = failed[len(self.expander.functions) :]
        if self.expander.method.name != "rejection" or not flags[1]:
            self.expander.refuse_failures(failed)
            return flags
        self.part.tables.keep(self.name, "gave up", 0)
        self.expander.start_over()
        return None


def samples_neighbors(sampler: Any) -> bool:
    """Whether a sampler takes all of a pool, and constant numbers of edges."""
    return bool(
        sampler.per == "vertex"
        and sampler.frontier_size is None
        and not {"vertex_bias", "neighbor_size"} & set(sampler.functions)
        and sampler.how.name in WAYS
    )


def drawn(sampler: Any, expander: Expander, part: Part, env: Environment) -> Drawn | None:
    """The edges; None where they are to be drawn step by step."""
    if not samples_neighbors(sampler) or shape_of(sampler, part, env, FEW, True) is None:
        return None
    asked = Asked.of(expander, part, ("edge_bias", "update"))
    if asked is None:
        return None
    shape = shape_of(sampler, part, env, FEW, asked.traces)
    assert shape is not None
    draws = FunctionHops(**asked.values, revisit=int(sampler.revisit))
    columns = drawn_together(sampler, part, env, shape, asked.kernels.functions_hops_draw, draws, PlacedHops())
    if asked.flags() is None:
        return None
    return Drawn(columns, len(sampler.seeds))
