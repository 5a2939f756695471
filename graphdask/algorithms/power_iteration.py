"""Centralities by power iteration, as programs: an iteration multiplies the scores by the matrix of the edges.

A program (`graphdask.program`) sends the scores along the edges and adds them up, in every superstep. Norms and changes
are aggregates: exact sums, which do not depend on how the graph is divided. A vertex reads them in the superstep after.
`before` of a result holds the scores of the iteration before the last one, from which the verifier repeats the last.

Source: NetworkX for definitions and conventions.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from graphdask import execute
from graphdask.algorithms.distribution import Distribution
from graphdask.algorithms.lengths import fit_weights
from graphdask.algorithms.summaries import largest
from graphdask.device.limits import LEAST_SECONDS, refuse_beyond_time
from graphdask.display import terminal
from graphdask.engine.loop import Environment, Inbox
from graphdask.errors import GraphdaskWarning, InputError, outside, shown
from graphdask.graph.graph import Graph
from graphdask.interface.kinds import whole
from graphdask.interface.parameters import ERRORS, SHARED, described
from graphdask.interface.registry import Option
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import index_dtype
from graphdask.program.definition import Definition
from graphdask.program.primitive import VertexProgram
from graphdask.program.program import Program
from graphdask.program.state import ProgramState
from graphdask.results.result import Result

MAX_ITER = 500
"""Iterations at most, unless the caller gives another number."""
TOL = 1e-10
"""The change at which iterations end, unless the caller gives another."""
CHANGE = "change"
"""Name of the aggregate that every one of these programs has: the sum of the absolute changes."""

OPTIONS = {
    "tol": Option("Largest change of the scores at the end; 0: exactly --max-iter iterations.", metavar="CHANGE"),
    "max_iter": Option("Iterations at most."),
    "weighted": Option(
        "Multiply by the weights of edges.  [default: where there are weights]", spelling="weighted/unweighted"
    ),
}
"""The options that these centralities share."""


class PowerIterationResult(Result):
    """What is known of a centrality by power iteration, besides the scores."""

    @property
    def iterations(self) -> int:
        """How many iterations were done."""
        return int(self._value("iterations"))

    @property
    def residual(self) -> float:
        """The change in the last iteration, as `tol` measures it."""
        return float(self._value("residual"))

    @property
    def converged(self) -> bool:
        """Whether the residual came down to the tolerance."""
        return bool(self._value("converged"))


class ScoreResult(PowerIterationResult):
    """Scores by power iteration."""

    columns = ("score",)

    @property
    def score(self) -> np.ndarray:
        """The centrality of every vertex, float64 of shape (num_vertices,), in the order of `vertex_ids`."""
        return self._column("score")


@dataclass(frozen=True)
class Settled:
    """Whether a run ends after a superstep."""

    limit: float
    """Of the change; below 0 it is never reached."""
    first: int
    """The superstep after which there is a change."""
    each: int
    """Supersteps of an iteration."""

    def __call__(self, a: Any) -> bool:
        counts = a.superstep >= self.first and (a.superstep - self.first) % self.each == 0
        return (counts and getattr(a, CHANGE) <= self.limit) or not finite(vars(a))


def finite(aggregates: Mapping[str, float]) -> bool:
    """Return whether no aggregate overflowed."""
    return all(math.isfinite(value) for value in aggregates.values())


class PowerIteration(VertexProgram):
    """The primitive of a program that has the aggregate `CHANGE`."""

    ahead = 0
    """Supersteps more than iterations."""
    each = 1
    """Supersteps of an iteration."""
    uniform: float | None = None
    """What all vertices send in the first superstep, 0 or a power of two, so that a degree times it is the exact sum of
    what comes without weights, whatever the order; None if they do not send alike."""

    def __init__(
        self, G: Graph, program: Program, tol: float, max_iter: int, weighted: bool, first: Distribution | None = None,
        field: str = "", per_change: float = 1.0,
    ):  # fmt: skip
        dtype = G.source.weight_dtype if weighted else None
        kind = None if dtype is None else "int" if np.dtype(dtype).kind in "iu" else "float"
        start: Mapping[str, tuple[np.ndarray | None, np.ndarray]] = {}
        if first is not None:
            start = {field: (first.vertices.astype(index_dtype(G.num_vertices)), first.shares)}
        self.tol, self.max_iter, self.weighted, self.per_change = tol, max_iter, weighted, per_change
        most = self.each * max_iter + self.ahead
        settled = Settled(tol * per_change if tol else -1.0, self.each + self.ahead, self.each)
        super().__init__(Definition.of(program, kind), None, start, most, settled, None, 0, G.directed)

    def _gather(self, part: Part, state: ProgramState, inbox: Inbox, env: Environment) -> None:
        if state.done or self.uniform is None or state.sums is None:
            super()._gather(part, state, inbox, env)
            return
        (csr,) = state.rows
        state.pack.message0[:] = (csr.indptr[1:] - csr.indptr[:-1]) * self.uniform

    def scores(self, found: dict[str, Any], aggregates: Mapping[str, float]) -> dict[str, Any]:
        """Return the columns of a result from the fields of the state, as they are after the last superstep."""
        return found

    def result(self, part: Part, state: ProgramState, env: Environment) -> dict[str, Any]:
        found = super().result(part, state, env)
        columns = {each.name: found[each.name] for each in self.definition.state}
        residual = float(state.aggregates[CHANGE]) / self.per_change
        return self.scores(columns, state.aggregates) | {
            "iterations": max(state.done - self.ahead, 0) // self.each,
            "residual": residual,
            "converged": residual <= self.tol,
            "finite": finite(state.aggregates),
        }


def uniform(G: Graph) -> float:
    """The score of each vertex in the first iteration: the largest power of two that is at most 1 / num_vertices."""
    return math.ldexp(1.0, -max(G.num_vertices - 1, 0).bit_length())


def checked(
    G: Graph, name: str, tol: float, max_iter: int, weighted: bool | None, client: Any, progress: bool | None
) -> tuple[float, int, bool]:
    """Return the arguments that these centralities share, after checking them and the weights of the graph."""
    if not 0 <= tol < math.inf:
        raise InputError(f"tol={shown(tol)} is not a finite number of 0 or more")
    whole("max_iter", max_iter, 1)
    if weighted and not G.weighted:
        raise InputError("weighted=True, but the edges of this graph have no weights")
    if tol < 2.0**-52:
        refuse_beyond_time(
            f"max_iter={max_iter:,} iterations, of which each takes a microsecond at least,",
            max_iter * LEAST_SECONDS, "give fewer, or a larger tol=",
        )  # fmt: skip
    by_weight = G.weighted if weighted is None else weighted
    if by_weight:
        fit_weights(G, f"; {name} requires weights that are finite and not negative", client, progress)
    return float(tol), max_iter, by_weight


def iterated(G: Graph, primitive: PowerIteration, overflow: str, **how: Any) -> Any:
    """Run the primitive as `execute.run` does, with `how` for its options; raise InputError with `overflow` if scores
    were infinite, warn if they did not converge."""
    result: Any = execute.run(G, primitive, **how)
    if not result._value("finite"):
        raise InputError(f"{primitive.name} overflows after {result.iterations} iterations: {overflow}")
    if primitive.tol and not result.converged:
        warnings.warn(
            f"{primitive.name} stopped after max_iter={primitive.max_iter} iterations with a residual of "
            f"{result.residual:.3g}, above tol={primitive.tol:g}; raise max_iter= or tol=",
            GraphdaskWarning,
            stacklevel=outside(),
        )
    return result


def ended(result: Any, *columns: str) -> dict[str, Any]:
    """The summary of a result: how the iterations ended, and the largest score of each column."""
    found = {"iterations": result.iterations, "residual": result.residual, "converged": result.converged}
    for column in columns:
        top = largest(result, column)
        if top:
            found |= {f"highest_{column}": top["at"], column: top[f"largest_{column}"]}
    return found


def ended_words(found: dict[str, Any]) -> str:
    """The summary in a line."""
    words = terminal.count(found["iterations"], "iteration")
    words += f", residual {found['residual']:.2g}{'' if found['converged'] else ' (not converged)'}"
    for column in ("score", "hub", "authority"):
        if column in found:
            words += f", highest {column} {found[column]:.4g} at {found[f'highest_{column}']}"
    return words


ITERATED = """
G : Graph
    An undirected edge counts both ways, a self-loop once; parallel edges add up.
max_iter : int
    Largest number of iterations. If the change is still above `tol` after them, and `tol` is not 0, a GraphdaskWarning
    says so.
weighted : bool, optional
    Multiply the score of a neighbour by the weight of the edge. Default: True if the graph has weights.
"""
of_iterations = partial(described, shared=ITERATED + SHARED, errors=ERRORS)
"""Adds to the docstring of a function that iterates what such functions share."""
