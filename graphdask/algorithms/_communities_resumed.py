"""Checkpoints of communities by levels: for each vertex of the graph, the vertex of the level that it is in, and what
is known of that one.

The vertices of a level are numbered by their smallest vertices, so the level is that of the graph whose vertices join
by these numbers. Checkpoints are written between sweeps, not while the first rank works by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphdask.algorithms._community_levels import looked_up
from graphdask.device.backend import Array
from graphdask.engine.checkpoints import Resumable, Saved
from graphdask.engine.loop import Environment, Inbox, Messages
from graphdask.partition.build import to_owners
from graphdask.partition.part import Part

OF_STATE, OF_ASCENT = ("passes", "of_pass"), ("sweeps", "levels")
"""Numbers that are the same on all ranks."""


class ResumableCommunities(Resumable):
    """What `graphdask.algorithms.louvain.Louvain` does for checkpoints."""

    def facts(self: Any) -> dict[str, Any]:
        return {"resolution": self.resolution, "seed": self.seed, "passes": self.passes, "refined": self.refined}

    def saved(self: Any, part: Part, state: Any, inbox: Inbox, env: Environment) -> Saved | None:
        ascent = state.ascent
        if ascent.top or state.done:
            return None
        own, bounds = len(ascent.active), ascent.level.bounds
        label, active = (
            looked_up(env, bounds, ascent.at, x) for x in (ascent.label[:own], ascent.active.astype(np.int64))
        )
        ids = part.ids.astype(np.int64)
        columns = {"at": ascent.at, "label": label, "active": active}
        found = {name: looked_up(env, ascent.base.bounds, ids, column) for name, column in columns.items()}
        numbers = {name: getattr(state, name) for name in OF_STATE}
        return found, numbers | {name: getattr(ascent, name) for name in OF_ASCENT}

    def resumed(
        self: Any, part: Part, columns: dict[str, Array], numbers: dict[str, Any], env: Environment
    ) -> tuple[Any, Messages]:
        state = self.before_levels(part, env)
        ascent = state.ascent
        for some, names in ((state, OF_STATE), (ascent, OF_ASCENT)):
            for name in names:
                setattr(some, name, numbers[name])
        ascent.refined = self.refined or state.passes > 1
        base = ascent.base
        ids = part.ids.astype(np.int64)
        at, *given = self._to_owners(env, base.bounds, ids, [columns[name] for name in ("at", "label", "active")])
        level = base
        if ascent.levels > 1:
            level, at, _ = base.contracted(env, at)
        label, active = self._to_owners(env, level.bounds, at, given)
        ascent.at = at
        ascent.settle(level, label, active != 0)
        return state, self._messages(part, state)

    @staticmethod
    def _to_owners(env: Environment, bounds: np.ndarray, numbers: Array, columns: list[Array]) -> list[Array]:
        """Values of all vertices of a level by those that own them, from some that stand beside their numbers. Every
        rank calls it."""
        first, own = int(bounds[env.rank]), int(bounds[env.rank + 1] - bounds[env.rank])
        assert env.comm is not None
        at, *found = to_owners(env.comm, env.backend, bounds, numbers, *(each.astype(np.int64) for each in columns))
        tables = [env.xp.zeros(own, np.int64) for _ in found]
        for table, values in zip(tables, found, strict=True):
            table[at - first] = values
        return tables
