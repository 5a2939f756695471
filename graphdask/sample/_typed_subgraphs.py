"""Which edges batches of a graph with types have besides those along which neighbours were drawn.

Induced: all edges of every type between the vertices of an instance, by a second run for each type. Bidirectional: the
edges that were drawn and their reverses, which are edges of the reverse type, or of the same type if that has none.

Source: Fey, Lenssen, Fast graph representation learning with PyTorch Geometric (2019), whose batches these are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graphdask.errors import InputError
from graphdask.graph.type_names import EdgeType
from graphdask.graph.typed import TypedGraph
from graphdask.partition.sources import ArraySource
from graphdask.sample.induced import Induced
from graphdask.sample.typed import Draw, TypedNeighborhoods

Edges = dict[EdgeType, np.ndarray]


def take_induced(sample: TypedNeighborhoods, draw: Draw, inward: bool, numbered: bool) -> None:
    """Put all edges of the graph between the vertices of each instance in the place of those drawn.

    Parameters
    ----------
    inward : bool
        Whether neighbours were drawn along in-edges, so that rows are destinations.
    numbered : bool
        Whether the row of each edge is asked for.
    """
    G, n, count = sample.graph, sample.graph.num_vertices, sample.instances
    owners, vertices, number = [], [], []
    for name in G.vertex_types:
        offsets = sample.node_offsets[name]
        of = np.repeat(np.arange(count), np.diff(offsets))
        first = int(G.number(name, G.ids_of(name)[:1])[0]) if G.count(name) else 0
        owners.append(of)
        vertices.append(sample.places[name] + first)
        number.append(np.arange(len(of)) - offsets[:-1][of])
    keys = np.concatenate(owners) * n + np.concatenate(vertices)
    order = np.argsort(keys)
    keys, numbers = keys[order], np.concatenate(number)[order]
    bounds = np.searchsorted(keys, np.arange(count + 1) * n)
    for kind in G.edge_types:
        sampler = Induced(keys % max(n, 1), bounds)
        sampler.numbered = numbered
        found = draw(G.of_type(kind), sampler)
        src, dst, instance = (found._internal(column).astype(np.int64) for column in ("src", "dst", "instance"))
        ends = [numbers[np.searchsorted(keys, instance * n + side)] for side in (src, dst)]
        sample.row[kind], sample.col[kind] = ends[::-1] if inward else ends
        sample.edge[kind] = found._internal("edge").astype(np.int64) if numbered else src[:0]
        sample.hop[kind] = np.zeros(len(src), np.int32)
        sample.edge_offsets[kind] = np.searchsorted(instance, np.arange(count + 1))


def reverse_types(G: TypedGraph) -> dict[EdgeType, EdgeType]:
    """The type of the reverses of the edges of each type.

    Raises
    ------
    InputError
        For a type without reverses, or whose reverses are not the rows of the other in the same order.
    """
    made: dict[EdgeType, EdgeType] = {}
    for kind in G.edge_types:
        source, name, end = kind
        there = (end, name[4:] if name.startswith("rev_") else f"rev_{name}", source)
        if there in G.edge_types:
            one, other = (G.of_type(each).source for each in (kind, there))
            assert isinstance(one, ArraySource)
            assert isinstance(other, ArraySource)
            if not (np.array_equal(one.src, other.dst) and np.array_equal(one.dst, other.src)):
                raise InputError(
                    f"subgraph_type='bidirectional': the rows of {there} are not those of {kind} reversed, in the same "
                    f"order; make the graph by from_frames(..., reverse=True)"
                )
            made[kind] = there
        elif source == end:
            made[kind] = kind
        else:
            raise InputError(
                f"subgraph_type='bidirectional' needs a type of the reverses of {kind}; make the graph by "
                f"from_frames(..., reverse=True)"
            )
    return made


def both_ways(
    reverses: Mapping[EdgeType, EdgeType], nodes: Mapping[str, int], index: Edges, rows: Edges
) -> tuple[Edges, Edges]:
    """The edges of a batch in both directions, and their rows; in the order of their destinations and sources.

    Of the edges between the same vertices in the same direction the first one drawn gives the row; a reverse gives its
    own only if none was drawn in its direction.
    """
    made, kept = {}, {}
    for kind, there in reverses.items():
        source = np.concatenate([index[kind][0], index[there][1]])
        end = np.concatenate([index[kind][1], index[there][0]])
        width = max(nodes[kind[0]], 1)
        keys, first = np.unique(end * width + source, return_index=True)
        made[kind] = np.stack([keys % width, keys // width])
        if kind in rows:
            kept[kind] = np.concatenate([rows[kind], rows[there]])[first]
    return made, kept
