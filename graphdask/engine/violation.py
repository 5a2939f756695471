"""Violation: the first place where a result breaks an invariant, before ids are translated for the caller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.engine.loop import RankContext


@dataclass(frozen=True, order=True)
class Violation:
    """Ordered by vertex, so that the smallest of all ranks is the first."""

    vertex: int
    """Its number."""
    other: int
    """The other end of an edge, or the vertex that a value names; -1 where there is none."""
    message: str
    """With `{vertex}` and `{other}` where the caller's ids belong."""


def first_of_all(context: RankContext, mine: Violation | None) -> bool:
    """Whether any rank found a violation; all ranks learn it, so that all stop together."""
    return bool(context.comm.allreduce(np.array([mine is not None], np.int64), "max")[0])
