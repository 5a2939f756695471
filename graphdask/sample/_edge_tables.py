"""What traversal samplers keep of the edges of a partition: rows without edges of bias 0, and which edge each is."""

from __future__ import annotations

import numpy as np

from graphdask.device.backend import Array
from graphdask.device.counting import all_set
from graphdask.engine.loop import Environment
from graphdask.errors import Unsupported
from graphdask.partition.part import Csr, Part
from graphdask.partition.vertex_map import VertexMap
from graphdask.sample.biases import EdgeBiases


def in_order(part: Part) -> bool:
    """Whether edges stand here in the order of their vertices' numbers."""
    return part.size == 1 and type(part.vertex_map) is VertexMap


def edge_rows(part: Part, rows: Csr) -> Array:
    """Return the row of each edge in the caller's input, and check that an id can hold the place of an edge.

    Raises
    ------
    Unsupported
        If the places of this rank's edges need more bits than an id has.
    """
    if rows.num_edges > np.iinfo(part.vertex_map.dtype).max:
        raise Unsupported(
            f"{rows.num_edges} edges on one worker have too many places for 32 bits; make the graph with "
            f"partition(id_width=64)"
        )
    assert rows.rows is not None
    return rows.rows


def degrees_of_slots(part: Part, env: Environment, rows: Csr) -> Array:
    """The lengths of the rows of all slots; every rank calls it."""
    degrees = rows.indptr[1:] - rows.indptr[:-1]
    if part.size > 1:
        (degrees,) = env.fetch_ghosts(part, [degrees])
    return degrees


def biased_rows(part: Part, env: Environment, rows: Csr, bias: str) -> tuple[Csr, Array, Array | None]:
    """Rows without the edges of bias 0, the sums of the biases of each row (graphdask.sample.biases), and where the
    edges were before; None where all are there.

    Raises
    ------
    InputError
        For integer weights of a row that add up to too much.
    """
    xp, degrees = env.xp, None
    if bias == "degree":
        degrees = degrees_of_slots(part, env, rows)
        kept = degrees[rows.indices] > 0
    else:
        assert rows.weights is not None
        kept = rows.weights > 0
    places = None
    if not all_set(kept):
        places = xp.flatnonzero(kept)
        rows = rows.only(xp, kept)
    return rows, EdgeBiases.of(env, part, rows, bias, "inverse", degrees).prefix.view(np.int64), places
