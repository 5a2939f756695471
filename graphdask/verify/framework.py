"""Edges sampled by a spec, proved as far as they follow from it without calling its functions, in n log n.

1. Edges stand in the order of instance and step, and are at home on the rank that has them.
2. Every edge is one of the graph's. Without replacement, of a vertex that is expanded but once, an edge that is there m
   times was chosen m times at most.
3. Sources of step 0 are seeds of their instance; where no function says what goes into the pool, those of a later step
   are seeds or destinations of an earlier one.
4. Where vertices are not revisited, one gives its edges in one step, and no more than asked for.
5. The edges of a step are no more than its pool, or what is taken of that, can give.
"""

from __future__ import annotations

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.sample.steps import Framework
from graphdask.verify.neighborhoods import Owners, first_wrong, standing
from graphdask.verify.table import verifies


@verifies(Framework)
def verify(context: RankContext, part: Part, primitive: Framework, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    sampler = primitive if part.size > 1 else primitive.share(context.comm.rank, context.comm.size)
    columns = {name: context.backend.to_host(column) for name, column in result.columns.items()}
    bounds = sampler.homes(part.size)
    rank = part.rank if part.size > 1 else 0
    first, last = int(bounds[rank]), int(bounds[rank + 1])
    asked = Owners(context, part, sampler)
    mine = standing(sampler, first, last, part.num_vertices, columns)
    if first_of_all(context, mine):
        return mine
    src, dst, hop, instance = (columns[name].astype(np.int64) for name in ("src", "dst", "hop", "instance"))
    there = asked.multiplicities(src, dst)
    violation = first_wrong(
        there == 0, src, dst, instance, "in instance {instance}, the edge from {vertex} to {other} is none of the graph"
    )
    if violation is None:
        violation = _sources(sampler, first, last, src, dst, hop, instance)
    if violation is None:
        violation = _budgets(sampler, src, dst, hop, instance)
    if violation is None and not sampler.revisit:
        violation = _once(sampler, src, dst, hop, instance, there)
    return violation


def _sources(
    sampler: Framework, first: int, last: int, src: np.ndarray, dst: np.ndarray, hop: np.ndarray, instance: np.ndarray
) -> Violation | None:
    """The first edge whose source was in no pool."""
    of_each = sampler.of(sampler.bounds, first, last + 1)
    seeds = sampler.seeds[of_each[0] : of_each[-1]].astype(np.int64)
    owners = np.repeat(np.arange(first, last), np.diff(of_each))
    # When a vertex came into its pool: seeds before step 0, destinations after theirs; then, whose source it is.
    everyone = np.concatenate([owners, instance, instance])
    vertices = np.concatenate([seeds, dst, src])
    since = np.concatenate([np.full(len(seeds), -1), hop, np.full(len(src), len(sampler.fanouts))])
    order = np.lexsort((since, vertices, everyone))
    new = np.ones(len(order), bool)
    new[1:] = np.diff(everyone[order]).astype(bool) | np.diff(vertices[order]).astype(bool)
    earliest = np.empty(len(order), np.int64)
    earliest[order] = since[order][np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))]
    earliest = earliest[len(order) - len(src) :]
    wrong = earliest >= hop
    if "update" in sampler.functions:
        wrong = (hop == 0) & (earliest >= 0)
    return first_wrong(
        wrong,
        src,
        dst,
        instance,
        "in instance {instance}, the edge from {vertex} to {other} leaves no vertex of the pool",
    )


def _budgets(
    sampler: Framework, src: np.ndarray, dst: np.ndarray, hop: np.ndarray, instance: np.ndarray
) -> Violation | None:
    """The first edge of a step that has too many."""
    steps = len(sampler.fanouts)
    low = int(instance[0]) if len(instance) else 0
    count = int(instance[-1]) - low + 1 if len(instance) else 0
    group = (instance - low) * steps + hop
    edges = np.bincount(group, minlength=count * steps).reshape(count, steps)
    pool = np.diff(sampler.of(sampler.bounds, low, low + count + 1)).astype(np.int64)
    too_many = np.zeros((count, steps), bool)
    for step, fanout in enumerate(sampler.fanouts):
        taken = pool if sampler.frontier_size is None else np.minimum(pool, sampler.frontier_size)
        if fanout >= 0:
            too_many[:, step] = edges[:, step] > fanout * (taken if sampler.per == "vertex" else taken > 0)
        else:
            too_many[:, step] = (edges[:, step] > 0) & (taken == 0)
        pool = edges[:, step] + (0 if sampler.frontier_size is None else pool)
    return first_wrong(
        too_many.reshape(-1)[group],
        src,
        dst,
        instance,
        "instance {instance} has too many edges in a step, as that of {vertex}",
    )


def _once(
    sampler: Framework, src: np.ndarray, dst: np.ndarray, hop: np.ndarray, instance: np.ndarray, there: np.ndarray
) -> Violation | None:
    """The first edge of a vertex that is expanded twice, or gives too many edges, or one of them too often."""
    order = np.lexsort((dst, src, instance))
    i, u, v, h = instance[order], src[order], dst[order], hop[order]
    same = np.zeros(len(order), bool)
    same[1:] = (i[1:] == i[:-1]) & (u[1:] == u[:-1])
    wrong = np.zeros(len(order), bool)
    wrong[1:] = same[1:] & (h[1:] != h[:-1])
    sizes = np.array([*sampler.fanouts, 0], np.int64)[h]
    if sampler.per == "vertex":
        wrong |= (sizes >= 0) & (_place_in_run(same) >= sizes)
    if not sampler.replace:
        repeated = same.copy()
        repeated[1:] &= v[1:] == v[:-1]
        wrong |= _place_in_run(repeated) >= there[order]
    return first_wrong(
        wrong, u, v, i, "in instance {instance}, {vertex} is expanded twice, or gives too many edges or one too often"
    )


def _place_in_run(same: np.ndarray) -> np.ndarray:
    """Of each element how many before it are in its run; `same` says whether it continues that of its predecessor."""
    index = np.arange(len(same))
    return index - np.maximum.accumulate(np.where(same, 0, index))
