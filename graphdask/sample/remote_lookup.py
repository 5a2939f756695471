"""Lookups of remote vertices within a superstep: all ranks send their requests and answer those of others together."""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array
from graphdask.engine.loop import Environment
from graphdask.partition.part import Part
from graphdask.sample.sampler import owners, routed


class RemoteLookup:
    """One request for each of some vertices, whichever ranks own them.

    Parameters
    ----------
    vertices : index array
        Their ids.

    Attributes
    ----------
    rows : index array
        At the owners: the rows of the vertices that were requested.
    """

    def __init__(self, part: Part, env: Environment, vertices: Array):
        xp = env.xp
        at = part.vertex_map.to_position(env.backend, vertices).astype(vertices.dtype, copy=False)
        number = xp.arange(len(vertices), dtype=np.int64)
        sent, self._bounds = routed(env, owners(env, part, at) if part.size > 1 else number, {"number": number})
        self._env, self._order = env, sent["number"]
        came = self._exchanged(at[self._order], self._bounds)
        self._cuts = np.concatenate(([0], np.cumsum([len(each) for each in came])))
        self.rows = xp.concatenate(came) - vertices.dtype.type(part.first_position)

    def send(self, column: Array) -> Array:
        """Send a value for each vertex to its owner; return those that arrived, aligned with `rows`."""
        return self._env.xp.concatenate(self._exchanged(column[self._order], self._bounds))

    def answer(self, values: Array) -> Array:
        """Return a value for each request to its sender; those that arrive are in the order of the vertices."""
        xp = self._env.xp
        came = xp.concatenate(self._exchanged(values, self._cuts))
        answers = xp.empty_like(came)
        answers[self._order] = came
        return answers

    def answer_each(self, values: Array, ends: Array) -> tuple[Array, Array]:
        """Return several values for each request, those of request i up to ends[i + 1]; with their ends."""
        xp, host = self._env.xp, self._env.backend.to_host(ends)
        lengths = xp.concatenate(self._exchanged(ends[1:] - ends[:-1], self._cuts))
        came = xp.concatenate(self._exchanged(values, host[self._cuts]))
        begins, counts = xp.empty_like(lengths), xp.empty_like(lengths)
        begins[self._order], counts[self._order] = xp.cumsum(lengths) - lengths, lengths
        ends = xp.zeros(len(counts) + 1, np.int64)
        xp.cumsum(counts, out=ends[1:])
        return came[ragged(self._env, begins, ends)], ends

    def _exchanged(self, values: Array, bounds: np.ndarray) -> list[Array]:
        """Send to rank q what stands between bounds q and q + 1; what each has sent here."""
        pieces = [values[int(bounds[q]) : int(bounds[q + 1])] for q in range(self._env.size)]
        if self._env.size == 1:
            return pieces
        assert self._env.comm is not None
        return self._env.comm.alltoallv(pieces)


def ragged(env: Environment, begins: Array, ends: Array) -> Array:
    """The places of rows that begin there, one row after the other, row i up to ends[i + 1]."""
    lengths = ends[1:] - ends[:-1]
    return env.xp.arange(int(ends[-1]), dtype=np.int64) + env.xp.repeat(begins - ends[:-1], lengths)
