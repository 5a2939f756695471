"""A sampler without chance, in a module that workers can import too."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from graphdask.engine.loop import INDEX, Messages
from graphdask.sample.result import Samples
from graphdask.sample.sampler import Sampler, routed

STEPS = 6


class Followed(Samples):
    columns = ("path",)
    vertex_valued = ("path",)

    @property
    def path(self):
        return self._column("path")


class Follow(Sampler):
    """From each start always to the neighbour of the largest number; where there is none, nowhere."""

    name = "follow"
    result_type = Followed
    record_columns = {"instance": np.int64, "at": INDEX, "step": np.int8}  # noqa: RUF012

    def __init__(self, starts):
        self.starts, self.first, self.last = starts, 0, len(starts)

    def memory(self, part, allocation):
        return 64 * self.instances

    def init(self, part, env):
        instance = np.arange(self.first, self.last)
        position = part.vertex_map.to_position(env.backend, self.starts[self.first : self.last])
        offsets = part.vertex_map.offsets
        here = (position >= offsets[part.rank]) & (position < offsets[part.rank + 1])
        state = SimpleNamespace(seen=[], rows=None)
        return state, self._send(part, env, state, instance[here], position[here], 0)

    def _send(self, part, env, state, instance, position, step):
        owner = np.searchsorted(part.vertex_map.offsets, position, side="right") - 1
        if step > STEPS:  # home, with all that was seen
            instance, position = (np.concatenate(column) for column in list(zip(*state.seen, strict=True))[:2])
            steps = np.concatenate([column[2] for column in state.seen])
            owner = np.searchsorted(self.homes(part.size), instance, side="right") - 1
        else:
            steps = np.full(len(instance), step, np.int8)
        dtype = part.vertex_map.dtype
        records, bounds = routed(env, owner, {"instance": instance, "at": position.astype(dtype), "step": steps})
        state.step = step
        return Messages.of_records(records, bounds, active=True)

    def superstep(self, part, state, inbox, env):
        came = inbox.records
        if state.step > STEPS:
            state.rows = came
            none = {name: column[:0] for name, column in came.items()}
            return Messages.of_records(none, np.zeros(part.size + 1, np.int64), active=False)
        local = came["at"] - part.first_position
        state.seen.append((came["instance"], came["at"], np.full(len(local), state.step, np.int8)))
        indptr = part.out.indptr
        moves = indptr[local + 1] > indptr[local]
        slot = part.out.indices[indptr[local[moves] + 1] - 1]
        position = (slot + part.first_position) % max(part.num_vertices, 1)
        return self._send(part, env, state, came["instance"][moves], position, state.step + 1)

    def result(self, part, state, env):
        bounds = self.homes(part.size)
        first, rows = int(bounds[part.rank]), int(bounds[part.rank + 1] - bounds[part.rank])
        path = np.full((rows, STEPS + 1), -1, part.vertex_map.dtype)
        came = state.rows
        path[came["instance"] - first, came["step"]] = part.vertex_map.to_id(env.backend, came["at"])
        return {"path": path}
