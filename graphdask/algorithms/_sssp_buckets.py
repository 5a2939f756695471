"""How many buckets of distances a superstep of a search for shortest paths begins, and how wide they are."""

from __future__ import annotations

from typing import Any

from graphdask.algorithms._sssp_state import SsspState
from graphdask.engine.loop import Environment
from graphdask.partition.part import Part

BUCKETS = 64
"""Buckets at most that a graph in one partition goes through between two checks by the host."""
BRIEF = 1 << 14
"""Edges relaxed in a bucket below which a CPU, too, goes through several: a superstep costs as much."""
LIGHT = {"cpu": 1 << 18, "cuda": 0}
"""Edges relaxed in a bucket, by all of several ranks, below which its supersteps cost more than they: where they have
become fewer, the next bucket is twice as wide, and narrower again after one of HEAVY times as many. On a GPU buckets
are wide from the start."""
SORTED = {"cpu": 2, "cuda": 0}
"""The same for each of the far ones, all of which are scanned when a bucket begins."""
HEAVY = 8


def begin_buckets(part: Part, state: SsspState, voted: Any, env: Environment) -> int:
    """Return how many buckets begin in this superstep, and set by what they are widened.

    It is the same on all ranks: they know from what was `voted` what is left to do in this bucket, and how much work
    the last one was.
    """
    device, visited = env.backend.name, state.visited[1] + voted.edges / state.buckets
    if part.size > 1 and voted.busy:
        state.visited = state.visited[0], visited
        return 0
    before, state.visited = state.visited[0], (visited, 0.0)
    light = max(LIGHT[device] * (part.size > 1), SORTED[device] * voted.far)
    if visited < light and visited <= before:
        state.widened *= 2.0
    elif visited > HEAVY * light:
        state.widened = max(state.widened / 2.0, 1.0)
    if part.size == 1:
        several = min(2 * state.buckets, BUCKETS) if visited < BRIEF else 1
        state.buckets = BUCKETS if device == "cuda" else several
    return state.buckets
