"""Numbers of edges that are no biases: types and times. A graph carries them in the place of weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphdask.errors import InputError
from graphdask.graph.construct import checked_weights
from graphdask.graph.graph import Graph
from graphdask.partition.given import given_array
from graphdask.partition.sources import ArraySource


def with_edge_values(G: Graph, name: str, values: Any, whole: bool = False) -> Graph:
    """The graph with a number for each edge; with None, the graph itself, whose weights these are.

    Parameters
    ----------
    name : str
        Of the argument, for messages.
    values : array-like of int or float, shape (G.num_edges,), or None
        In the order of `G.edges()`.
    whole : bool
        Whether they are whole numbers.

    Raises
    ------
    InputError
        If there are none, they do not fit the edges, or the edges have no order that the caller knows.
    """
    if values is None:
        if not G.weighted:
            raise InputError(f"the edges of this graph carry no weights to be read as {name}; give {name}=")
        dtype = G.source.weight_dtype
    elif not isinstance(G.source, ArraySource) or G.merge:
        raise InputError(
            f"{name}= are numbers of the edges in the order of the arrays that a graph was made of, and this graph's "
            f"are made on the workers; make it with from_edges, or let the file's weights be the {name}"
        )
    else:
        given = given_array(name, values)
        if given.shape != (G.source.num_edges,):
            raise InputError(
                f"{name} has the shape {given.shape}; one for each of the {G.source.num_edges} edges is needed"
            )
        if not given.size:
            given = given.astype(np.int64)
        try:
            made = checked_weights(given.copy(), len(given))
        except InputError as error:
            raise InputError(str(error).replace("weights", name)) from error
        of = G.source
        source = ArraySource(G.num_vertices, of.src, of.dst, made, of.known_skewed, of.kept, of.rows_given)
        G = replace(G, source=source, report=dict(G.report), built=None, replicas=None)
        dtype = source.weight_dtype
    if whole and dtype is not None and dtype.kind != "i":
        raise InputError(f"{name} are of the dtype {dtype}; they are whole numbers")
    return G
