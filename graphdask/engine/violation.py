"""Violation: the first place where a result breaks an invariant, before ids are translated for the caller."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graphdask.engine.loop import RankContext


@dataclass(frozen=True, order=True)
class Violation:
    """What is wrong with a result, and where. The one of the smallest vertex of all ranks is reported."""

    vertex: int
    """Its number, as in `Part.ids`; -1 where the message names none."""
    other: int
    """The other end of an edge, or the vertex that a value names; -1 where there is none."""
    message: str
    """With `{vertex}` and `{other}` where the caller's ids belong."""


def first_of_all(context: RankContext, mine: Violation | None) -> bool:
    """Return whether any rank found a violation. Every rank calls it, so that all stop together."""
    return bool(context.comm.allreduce(np.array([mine is not None], np.int64), "max")[0])
