"""What a breadth-first search keeps besides the state of its levels, and how that becomes a checkpoint or an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.checkpoints import lowered
from graphdask.engine.frontier import LevelState
from graphdask.engine.loop import Environment, Inbox
from graphdask.kernels.bfs.bfs_pack import Search
from graphdask.partition.part import Part
from graphdask.partition.vertex_map import VertexMap


@dataclass
class BfsState(LevelState):
    search: Search
    """What the kernels work on: depths, parents, and what the next launch is given."""
    kernels: Any

    def own_parents(self, part: Part, env: Environment) -> Array:
        """Parents of the own vertices as ids, where they are kept."""
        parent: Array = self.search.parent[: part.num_owned]
        if self.frontier.pulled and env.size > 1 and type(part.vertex_map) is not VertexMap:
            places = env.xp.flatnonzero(parent < -1)
            parent[places] = part.vertex_map.to_id(env.backend, -2 - parent[places])
        return parent

    def taking(self, part: Part, inbox: Inbox, env: Environment) -> dict[str, Array]:
        """Return copies of depths and parents of the own vertices, with what has arrived for them."""
        depth, parent = self.search.depth[: part.num_owned].copy(), self.own_parents(part, env).copy()
        if not self.direction.pulls and len(inbox):  # else it is the frontier, which came to ghosts
            level, none = self.frontier.level, np.iinfo(parent.dtype)
            may_fall = env.xp.where(depth < 0, none.max, env.xp.where(depth == level, parent, none.min))
            parents = lowered(may_fall.astype(parent.dtype), inbox, "parent", env)
            new = parents != may_fall
            depth[new], parent[new] = level, parents[new]
        return {"depth": depth, "parent": parent}

    def answer(self, part: Part, env: Environment) -> dict[str, Array]:
        """Return depths and parents of the own vertices, parents as ids."""
        owned, search = part.num_owned, self.search
        self.frontier.forget_left(0)
        depth, parent = search.depth[:owned], self.own_parents(part, env)
        columns = {"depth": (depth, search.depth), "parent": (parent, search.parent)}
        return {name: column if len(of) == owned else column.copy() for name, (column, of) in columns.items()}
