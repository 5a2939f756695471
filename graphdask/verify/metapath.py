"""Metapath walks proved in linear time, distributed: as other walks (graphdask/verify/walks.py), but every step is an
edge of the type whose turn it is, and a walk that is shorter than asked ended where there is none of that type."""

from __future__ import annotations

import numpy as np

from graphdask.engine.loop import RankContext, RankResult
from graphdask.engine.violation import Violation, first_of_all
from graphdask.partition.part import Part
from graphdask.sample.metapath import MetapathWalk, of_type
from graphdask.verify.table import verifies
from graphdask.verify.walks import first_wrong_step, shaped


@verifies(MetapathWalk)
def verify(context: RankContext, part: Part, primitive: MetapathWalk, result: RankResult) -> Violation | None:
    """Return this rank's first violation, or None; every rank of the gang must call it."""
    mine = shaped(context, part, primitive, result)
    if first_of_all(context, mine):
        return mine
    walks, path = result.columns["walks"], primitive.metapath
    found = []
    for place in range(min(len(path), primitive.length)):
        matching = of_type(context.backend.xp, part.out, path[place]).astype(np.int32)
        turns = walks[:, place : primitive.length : len(path)], walks[:, place + 1 :: len(path)]
        steps = context.backend.xp.stack([column.reshape(-1) for column in turns], axis=1)
        found.append(first_wrong_step(context, part, primitive, steps, matching))
    return min((violation for violation in found if violation is not None), default=None)
