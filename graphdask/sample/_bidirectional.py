"""Minibatches whose edges go both ways: those along which neighbours were drawn, and their reverses.

Every pair of vertices of a batch that edges were drawn between has one edge in each direction, and a self-loop is one
edge. Edges stand in ascending order of their destinations, then of their sources, as numbers of vertices of the batch.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), whose batches these are.
"""

from __future__ import annotations

from dataclasses import replace

from graphdask.device.backend import Array, Backend
from graphdask.sample._minibatches import Drawn


def bidirectional_batches(drawn: list[Drawn]) -> list[Drawn]:
    """The same batches with the reverses of their edges."""
    made = []
    for batch in drawn:
        with batch.backend.activate():
            edge_index, e_id = _both_ways(batch.backend, len(batch.n_id), batch.edge_index, batch.e_id)
        made.append(replace(batch, edge_index=edge_index, e_id=e_id, num_sampled_edges=None))
    return made


def _both_ways(backend: Backend, nodes: int, edge_index: Array, e_id: Array | None) -> tuple[Array, Array | None]:
    """The edges of a batch in both directions, and the row of each.

    Of the edges between the same vertices in the same direction the first one drawn gives the row; a reverse gives its
    own only if none was drawn in its direction.
    """
    xp, (source, end) = backend.xp, edge_index
    keys = xp.concatenate([end * nodes + source, source * nodes + end])
    order = xp.argsort(keys, kind="stable")
    ordered = keys[order]
    begins = xp.ones(len(keys), bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    kept = ordered[begins]
    made = xp.empty((2, len(kept)), edge_index.dtype)
    made[0], made[1] = kept % nodes, kept // nodes
    if e_id is None:
        return made, None
    return made, xp.concatenate([e_id, e_id])[order[begins]]
