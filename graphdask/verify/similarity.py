"""Similarity proved by intersecting the neighbourhoods of pairs; the run counts paths, or intersects from other ends.

Given pairs: each stands once, and what it shares is found from the end of fewer neighbours, not from that of more.

Pairs that share a neighbour:

1. Every pair stands once, where its first vertex is owned, and that is one of the sources.
2. The neighbours that a pair shares are counted by intersecting the two rows, and so are their weights.
3. The paths of two hops from a source are counted by the sizes of rows. They are as many as its pairs share
   neighbours, so no pair lacks. If each pair stands once for both of its ends, this holds for the sum of all sources.
4. With `topk`, 2 and 3 are checked for all pairs, which are listed again, batch by batch. As many of them as there are
   in the result are at least as good as the last one of the result, and that is all of them or `topk`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.counting import any_set
from graphdask.engine.loop import Environment, RankContext, RankResult
from graphdask.engine.owners import sum_at
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.sample.sampler import routed
from graphdask.similarity.listed import Listed
from graphdask.similarity.measures import best_first, score
from graphdask.similarity.samplers import OfPairs, WithinTwoHops
from graphdask.similarity.sets import Placed, Sets, Shared, known_of, shared, shared_otherwise
from graphdask.similarity.two_hops import TwoHops
from graphdask.subgraphs.rows import places_in
from graphdask.subgraphs.selected import own_rows, set_keys
from graphdask.verify.subgraphs import first_edge
from graphdask.verify.table import verifies

NAMES = ("first", "second", "score", "common")


@verifies(OfPairs)
def verify_pairs(context: RankContext, part: Part, primitive: OfPairs, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    env = context.environment("selective")
    sets, homes = primitive.sets(part, env, both=False), primitive.homes(part.size)
    number = result.columns["pair"]
    mine = None
    if any_set((number < 0) | (number >= homes[-1])):
        mine = Violation(-1, -1, "a row is of no pair that was given")
    if first_of_all(context, mine):
        return mine
    placed = Placed.of(part, env, sets, *primitive.given, least=True)
    expected = primitive.columns_of(part, env, sets, placed, shared_otherwise(part, env, sets, placed))
    found, known = (_at_home(env, homes, columns) for columns in (result.columns, expected))
    if len(found["pair"]) != len(known["pair"]) or any_set(found["pair"] != known["pair"]):
        return Violation(-1, -1, "a pair that was given lacks, or stands twice")
    return _different(found, known)


def _at_home(env: Environment, homes: np.ndarray, columns: Any) -> dict[str, Array]:
    """The rows of all ranks whose pairs are at home on this rank, in the order of the pairs. Every rank calls it."""
    xp = env.xp
    ranks = xp.searchsorted(env.backend.from_host(homes[1:-1]), columns["pair"], side="right")
    sent, cuts = routed(env, ranks, {name: columns[name] for name in (*NAMES, "pair")})
    came = {
        name: xp.concatenate(env.alltoall([column[cuts[q] : cuts[q + 1]] for q in range(env.size)]))
        for name, column in sent.items()
    }
    order = xp.argsort(came["pair"], kind="stable")
    return {name: values[order] for name, values in came.items()}


def _different(found: dict[str, Array], known: dict[str, Array]) -> Violation | None:
    """The first of the rows of two tables that differ."""
    ends = found["first"], found["second"]
    wrong = (ends[0] != known["first"]) | (ends[1] != known["second"])
    at_fault = first_edge(wrong, *ends, "the pair {vertex}, {other} is not the one that was given")
    at_fault = at_fault or first_edge(
        found["common"] != known["common"], *ends, "{vertex} and {other} share another number of neighbours"
    )
    return at_fault or first_edge(
        found["score"] != known["score"], *ends, "the score of {vertex} and {other} is another one"
    )


@verifies(WithinTwoHops)
def verify(context: RankContext, part: Part, primitive: WithinTwoHops, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    env, xp = context.environment("selective"), context.backend.xp
    listed = {name: result.columns[name] for name in NAMES}
    mine = _misplaced(env, part, primitive, listed)
    if first_of_all(context, mine):
        return mine
    sets = primitive.sets(part, env, both=True)
    hops = primitive.hops(part, env, sets)
    keys = _keys(part, env, listed)
    order = xp.argsort(keys)
    keys, listed = keys[order], {name: values[order] for name, values in listed.items()}
    last = _Last(context, env, part, primitive, listed)
    total, met = xp.zeros(part.num_owned, np.int64), 0
    for block in iter([listed]) if primitive.topk is None else _all_pairs(part, env, primitive, hops):
        common, scores = _recounted(env, part, primitive, sets, block)
        block_keys = _keys(part, env, block)
        places, there = places_in(xp, keys, block_keys)
        met += int(there.sum())
        at = places[there]
        known = {"first": block["first"], "second": block["second"], "score": scores, "common": common}
        found = {name: values[at] for name, values in listed.items()}
        mine = mine or _different(found, {name: values[there] for name, values in known.items()})
        rows = block_keys // max(part.num_vertices, 1)
        total += sum_at(xp, part.num_owned, rows, common)
        last.take(rows, known)
    if met != len(keys):
        mine = mine or Violation(-1, -1, "a pair is listed that shares no neighbour, or twice")
    if first_of_all(context, mine):
        return mine
    return _lacking(env, part, sets, hops, total) or last.violation()


def _all_pairs(part: Part, env: Environment, primitive: WithinTwoHops, hops: TwoHops) -> Iterator[dict[str, Array]]:
    """The pairs that share a neighbour, a batch after the other. Every rank takes all batches."""
    block = Listed(env.xp, part.vertex_map.dtype)
    for _ in hops.listing(primitive.name, block):
        yield block.since(0)
        block.used = 0


def _misplaced(env: Environment, part: Part, primitive: WithinTwoHops, listed: dict[str, Array]) -> Violation | None:
    """The first listed pair that is none of those to list here, or that stands twice."""
    xp, (first, second) = env.xp, (listed["first"], listed["second"])
    wrong = (first < 0) | (first >= part.num_vertices) | (second < 0) | (second >= part.num_vertices)
    onward = primitive.sources is None and not primitive.each
    wrong |= (first >= second) if onward else (first == second)
    found = first_edge(wrong, first, second, "{vertex} and {other} are no pair to list")
    if found:
        return found
    _, own = own_rows(part, env, part.vertex_map.to_position(env.backend, first))
    if len(own) < len(first):
        return Violation(-1, -1, "a pair is listed by a rank that does not own its first vertex")
    if primitive.sources is not None:
        sources = env.backend.from_host(np.sort(primitive.sources))
        found = first_edge(~places_in(xp, sources, first)[1], first, second, "{vertex} is none of the given vertices")
    keys = _keys(part, env, listed)
    keys.sort()
    again = keys[1:][keys[1:] == keys[:-1]]
    return found or (Violation(-1, -1, "a pair is listed twice") if len(again) else None)


def _keys(part: Part, env: Environment, columns: dict[str, Array]) -> Array:
    """A number for each pair of an own and any vertex."""
    rows = part.vertex_map.to_position(env.backend, columns["first"]) - columns["first"].dtype.type(part.first_position)
    return set_keys(part, rows.astype(np.int64), columns["second"])


def _recounted(
    env: Environment, part: Part, primitive: WithinTwoHops, sets: Sets, columns: dict[str, Array]
) -> tuple[Array, Array]:
    """What pairs share, and their scores, by intersecting rows, the shorter one by the longer one."""
    xp = env.xp
    others = columns["second"]
    order = xp.argsort(others, kind="stable")
    rows = part.vertex_map.to_position(env.backend, columns["first"]) - others.dtype.type(part.first_position)
    distinct, place = xp.unique(others, return_inverse=True)
    sizes = known_of(part, env, sets.out.sizes, distinct)[place]
    placed = Placed(order, rows[order], others[order], sizes[order])
    longer = sets.out.sizes[placed.rows] >= placed.sizes
    found = Shared(*(xp.zeros(len(rows), np.int64) for _ in range(3)))
    for chosen, count in ((longer, shared), (~longer, shared_otherwise)):
        some = placed.at(chosen)
        of = count(part, env, sets, some)
        for name in ("common", "amount", "total"):
            getattr(found, name)[some.number] = getattr(of, name)
    theirs = known_of(part, env, sets.amounts, distinct)[place]
    return found.common, score(xp, primitive.name, found.amount, found.total, sets.amounts[rows], theirs)


def _lacking(env: Environment, part: Part, sets: Sets, hops: TwoHops, total: Array) -> Violation | None:
    """A source whose pairs share fewer or more neighbours than paths lead on from it. Every rank calls it."""
    xp, back = env.xp, sets.back
    others = back.sizes - sum_at(xp, part.num_owned, *_loops(xp, part, back.of_each(env), back.ends))
    (others,) = env.fetch_ghosts(part, [others])
    onward = others[sets.out.slots[hops.arcs]] - 1
    proper = sets.out.ends[hops.arcs] != part.ids[hops.rows]
    paths = sum_at(xp, part.num_owned, hops.rows[proper], onward[proper])
    if hops.onward:
        assert env.comm is not None
        mine = np.array([int(each.sum()) if len(each) else 0 for each in (total, paths)], np.int64)
        counted, there = (int(each) for each in env.comm.allreduce(mine, "sum"))
        if 2 * counted != there:
            return Violation(-1, -1, f"pairs share {counted} neighbours, and there are {there} paths of two hops")
        return None
    wrong = xp.flatnonzero(total != paths) if len(total) else total
    if not len(wrong):
        return None
    row = int(wrong[0])
    return Violation(
        int(part.ids[row]), -1,
        f"the pairs of {{vertex}} share {int(total[row])} neighbours, and there are {int(paths[row])} paths",
    )  # fmt: skip


def _loops(xp: Any, part: Part, rows: Array, ends: Array) -> tuple[Array, Array]:
    """Own vertices that are neighbours of themselves, and 1 for each."""
    there = rows[part.ids[rows] == ends]
    return there, xp.ones(len(there), np.int64)


class _Last:
    """Counts pairs that are at least as good as the last one of the result, of each source or of all together."""

    def __init__(
        self, context: RankContext, env: Environment, part: Part, primitive: WithinTwoHops, listed: dict[str, Array]
    ):
        self.context, self.env, self.part, self.primitive = context, env, part, primitive
        xp, owned = env.xp, part.num_owned
        self.here, self.all = xp.zeros(owned, np.int64), xp.zeros(owned, np.int64)
        self.better, self.number = xp.zeros(owned, np.int64), len(listed["first"])
        score, first, second = (listed[name] for name in ("score", "first", "second"))
        rows = part.vertex_map.to_position(env.backend, first) - first.dtype.type(part.first_position)
        self.here = sum_at(xp, owned, rows, xp.ones(len(rows), np.int64))
        self.score, self.second = xp.full(owned, np.inf), xp.full(owned, -1, np.int64)
        if primitive.each:
            order = best_first(xp, score, first, second, each=True)
            ordered = first[order]
            ends = order[xp.searchsorted(ordered, ordered, side="right") - 1]
            self.score[rows[ends]], self.second[rows[ends]] = score[ends], second[ends]
            self.least, self.end = 0.0, (-1, -1)
            return
        least = self._extreme(score, "min", np.inf, np.float64)
        tied = score == least
        vertex = int(self._extreme(first[tied], "max", -1, np.int64))
        other = self._extreme(second[tied & (first == vertex)], "max", -1, np.int64)
        self.least, self.end = float(least), (vertex, int(other))

    def _extreme(self, values: Array, op: Any, none: Any, dtype: Any) -> Any:
        """The least or the greatest of the values of all ranks. Every rank calls it."""
        mine = none if not len(values) else (values.min() if op == "min" else values.max()).item()
        return self.context.comm.allreduce(np.array([mine], dtype), op)[0].item()

    def take(self, rows: Array, known: dict[str, Array]) -> None:
        """Count some pairs."""
        if self.primitive.topk is None:
            return
        score, first, second = (known[name] for name in ("score", "first", "second"))
        if self.primitive.each:
            least = self.score[rows]
            better = (score > least) | ((score == least) & (second <= self.second[rows]))
        else:
            vertex, other = self.end
            before = (first < vertex) | ((first == vertex) & (second <= other))
            better = (score > self.least) | ((score == self.least) & before)
        for counts, some in ((self.better, rows[better]), (self.all, rows)):
            counts += sum_at(self.env.xp, self.part.num_owned, some, self.env.xp.ones(len(some), np.int64))

    def violation(self) -> Violation | None:
        """The first source that has not its best pairs, or that of all. Every rank calls it."""
        topk = self.primitive.topk
        if topk is None:
            return None
        if self.primitive.each:
            xp = self.env.xp
            wrong = (self.here != self.better) | (self.here != xp.minimum(self.all, topk))
            rows = xp.flatnonzero(wrong) if len(wrong) else wrong
            if not len(rows):
                return None
            return Violation(int(self.part.ids[rows[0]]), -1, "the pairs of {vertex} are not its best ones")
        mine = np.array([int(x.sum()) if len(x) else 0 for x in (self.here, self.better, self.all)], np.int64)
        here, better, there = (int(x) for x in self.context.comm.allreduce(mine, "sum"))
        if here == better and here == min(there, topk):
            return None
        return Violation(-1, -1, f"{here} pairs are listed, {better} are as good as the last one, of {there} in all")
