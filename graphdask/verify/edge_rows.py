"""Rows of sampled edges proved in linear time, distributed; without replacement in n log n.

1. An edge has a row, and nothing else has; a step of a walk has none only where the walk may go along no edge.
2. What the caller gave has an edge between the ends of the sampled one in that row, of an undirected graph in either
   direction; its weight is above 0 where weights are the bias, the type where edges have types, and the weight that
   was returned with the edge.
3. What is drawn without replacement has no row twice at a vertex, so parallel edges have rows of their own.

Every rank makes its piece of what the caller gave again, from its lineage, and sends it to the owners of ranges of
rows; these are asked about the sampled edges. The rows that partitions keep have no part in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment, RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.edge_rows import NumberedPiece, RowsPlan, numbered_edges
from graphdask.partition.part import Part
from graphdask.sample.sampler import routed

BATCH = 1 << 22
"""Edges that are checked together, if each may be taken again."""


def verify(
    context: RankContext, part: Part, sampler: Any, result: RankResult, given: NumberedPiece, plan: RowsPlan
) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    env, comm, xp = context.environment("selective"), context.comm, context.backend.xp
    first = int(sampler.homes(comm.size)[comm.rank])
    taken = sampler.taken(xp, result.columns, first)
    mine, claims = _claims(xp, sampler, result, taken, plan)
    if first_of_all(context, mine):
        return mine
    there = _Given(context, given, plan)
    count = len(claims["row"])
    batch = BATCH if taken.again else max(count, 1)
    batches = int(comm.allreduce(np.array([-(-count // batch)], np.int64), "max")[0])
    found: Violation | None = None
    for begin in range(0, batches * batch, batch):
        some = {name: column[begin : begin + batch] for name, column in claims.items()}
        wrong = there.first_wrong(env, some, sampler, not taken.again and not sampler.revisit)
        found = found or wrong
    return found


def _claims(
    xp: Any, sampler: Any, result: RankResult, taken: Any, plan: RowsPlan
) -> tuple[Violation | None, dict[str, Array]]:
    """The edges that have rows: `row`, `src`, `dst`, `instance`, `step`, and `kind` where edges have types."""
    rows, src, dst = result.columns["edge"], taken.src, taken.dst
    if rows.size != len(src):
        return Violation(-1, -1, f"{rows.size} rows are given for {len(src)} edges"), {"row": rows.reshape(-1)[:0]}
    rows = rows.reshape(-1)
    taking = (src >= 0) & (dst >= 0)
    checks = (
        ((rows != -1) & ~taking, "a row is given where no edge was taken, at {vertex}"),
        (
            (rows == -1) & taking & ~_without(xp, sampler, result, src, dst),
            "the edge from {vertex} to {other} has no row",
        ),
        (
            (rows < -1) | (rows >= plan.count),
            "the edge from {vertex} to {other} has a row that what the caller gave has not",
        ),
    )
    for wrong, message in checks:
        places = xp.flatnonzero(wrong)
        if len(places):
            place = int(places[0])
            return Violation(int(src[place]), int(dst[place]), message), {"row": rows[:0]}
    claims = {"row": rows, "src": src, "dst": dst, "instance": taken.instance, "step": taken.step}
    if taken.kinds is not None:
        claims["kind"] = taken.kinds
    if "weight" in result.columns:
        claims["weight"] = result.columns["weight"]
    kept = xp.flatnonzero(rows >= 0)
    return None, {name: column[kept] for name, column in claims.items()}


def _without(xp: Any, sampler: Any, result: RankResult, src: Array, dst: Array) -> Array:
    """Which steps of a walk may go along no edge, bool."""
    free = xp.zeros(len(src), bool)
    if sampler.jump > 0:
        free[:] = True
    if sampler.restart > 0:
        walks = result.columns["walks"]
        free |= xp.broadcast_to(walks[:, :1], (len(walks), walks.shape[1] - 1)).reshape(-1) == dst
    if sampler.method == "metropolis":
        free |= src == dst
    return free


class _Given:
    """What the caller gave, of the rows that are this rank's."""

    def __init__(self, context: RankContext, given: NumberedPiece, plan: RowsPlan):
        comm, backend, self.plan, self.comm = context.comm, context.backend, plan, context.comm
        xp, env = backend.xp, context.environment("selective")
        bounds = np.arange(comm.size + 1, dtype=object) * plan.count // comm.size
        self.bounds = bounds.astype(np.int64)
        src, dst, weights, numbers = numbered_edges(comm, backend, given, np.dtype(np.int64))
        columns = {"row": numbers, "src": src, "dst": dst}
        if weights is not None:
            columns["weight"] = weights
        columns = self._exchanged(env, columns)
        self.first = int(self.bounds[comm.rank])
        count, at = int(self.bounds[comm.rank + 1]) - self.first, columns["row"] - self.first
        self.src, self.dst = xp.full(count, -1, src.dtype), xp.full(count, -1, src.dtype)
        self.src[at], self.dst[at] = columns["src"], columns["dst"]
        self.weights = None
        if weights is not None:
            self.weights = xp.zeros(count, weights.dtype)
            self.weights[at] = columns["weight"]

    def _exchanged(self, env: Environment, columns: dict[str, Array]) -> dict[str, Array]:
        """Send each to the owner of its row."""
        xp = env.xp
        if self.comm.size == 1:
            return columns
        owner = xp.searchsorted(env.backend.from_host(self.bounds[1:-1]), columns["row"], side="right")
        sent, cuts = routed(env, owner, columns)
        pairs = list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))
        return {
            name: xp.concatenate(self.comm.alltoallv([xp.ascontiguousarray(column[a:b]) for a, b in pairs]))
            for name, column in sent.items()
        }

    def first_wrong(self, env: Environment, claims: dict[str, Array], sampler: Any, once: bool) -> Violation | None:
        """Return the first edge with the row of another one or, if `once`, a row given twice. Every rank calls it."""
        xp, claims = env.xp, self._exchanged(env, claims)
        at = claims["row"] - self.first
        src, dst = claims["src"], claims["dst"]
        if self.plan.inward and self.plan.directed:
            src, dst = dst, src
        right = (self.src[at] == src) & (self.dst[at] == dst)
        if not self.plan.directed:
            right |= (self.src[at] == dst) & (self.dst[at] == src)
        checks = [(~right, "what the caller gave has no edge from {vertex} to {other} in row {row}")]
        if self.weights is not None and "kind" in claims:
            checks.append((self.weights[at] != claims["kind"], "row {row} is an edge of another type"))
        elif self.weights is not None and sampler.bias == "weight":
            checks.append((~(self.weights[at] > 0), "row {row} has no weight above 0 to be drawn by"))
        if self.weights is not None and "weight" in claims:
            checks.append((self.weights[at] != claims["weight"], "row {row} is an edge of another weight"))
        if once:
            checks.append((_again(xp, claims), "row {row} is given twice in one draw, from {vertex} to {other}"))
        for wrong, message in checks:
            places = xp.flatnonzero(wrong)
            if len(places):
                place = int(places[0])
                row = str(int(claims["row"][place]))
                return Violation(int(claims["src"][place]), int(claims["dst"][place]), message.replace("{row}", row))
        return None


def _again(xp: Any, claims: dict[str, Array]) -> Array:
    """Which claims there were before, bool."""
    keys = [claims[name] for name in ("row", "src", "step", "instance")]
    order = xp.argsort(keys[0], kind="stable")
    for key in keys[1:]:
        order = order[xp.argsort(key[order], kind="stable")]
    same = xp.ones(max(len(order) - 1, 0), bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    again = xp.zeros(len(order), bool)
    again[order[1:]] = same
    return again
