"""Parameters and errors that loaders of minibatches share, described once, and what adds them to a loader's docstring.

An input is what a loader makes batches of: a vertex, a link, a cluster or a root.
"""

from __future__ import annotations

from typing import Any

from graphdask.interface.parameters import ERRORS, SHARED, described

LOADING = """
num_neighbors : sequence of int
    Neighbours of a vertex at each hop; -1 for all of them.
shuffle : bool
    Put the inputs in another order in every epoch. Default: the order in which they were given.
drop_last : bool
    Leave out a last batch of fewer than `batch_size`.
replace, bias, method
    As for `neighbors`.
weight_attr : str, optional
    Draw neighbours with the probabilities that a column of the edges says, one of `G.edge_columns`, or "weight" for the
    weights of `G`; as `bias="weight"` does of `G.with_weights(weight_attr)`.
direction : {"in", "out"}
    `in`: vertices that edges come from are drawn, and messages go along the edges. `out`: the other way round.
seed : int
    Of the random numbers, 0 to 2**64 - 1. The same seed gives the same batches on every device, in every placement and
    for every number of workers.
times : array-like of int or float, shape (G.num_edges,), or str, optional
    The time of each edge, in the order of `G.edges()`, of a graph made from arrays; or the name of one of its
    `edge_columns`, dates being whole numbers in the unit of their type. Default: the weights of `G`.
time_attr : str, optional
    The name of a column of the edges, as `times` may be, or of one of `G.vertex_columns` of a directed graph: every
    edge then has the time of the neighbour that is drawn along it.
temporal_strategy : {"uniform", "last"}
    Of the edges that a seed sees, any or the latest; of edges of one time those to larger ids are later.
subgraph_type : {"directional", "bidirectional", "induced"}
    Which edges a batch has. `directional`: those along which neighbours were drawn. `bidirectional`: these and their
    reverses, each pair of vertices once in each direction, in the order of the numbers of their destinations and
    sources; a reverse has the `e_id` of the edge that was drawn. `induced`: all edges of the graph between vertices of
    the batch, in the order of the ids of their sources and destinations; with `disjoint`, between those of each seed,
    which are the subgraphs of ShaDow. Not with times.
x, y : array with a row for each vertex, in the order of `G.vertex_ids`, optional
    A batch gets the rows of its vertices, where the values are: in an array of NumPy or CuPy, a memory map, or a
    tensor. Others, such as data frames, become arrays.
transform : callable, optional
    Called with each batch, of the kind that `output` says; what it returns is the batch. With `prefetch` it is called
    in another thread.
transform_sampler_output : callable, optional
    Called with the `SamplerOutput` of PyTorch Geometric of each batch, a `HeteroSamplerOutput` if the graph has types,
    before rows of `x` and `y` are taken; what it returns is the batch. `node` are the places of vertices in
    `G.vertex_ids`, or in `G.ids_of(type)`, `edge` the rows of edges, and `metadata` is as there. Needs `output="pyg"`.
output : {"arrays", "torch", "pyg"}
    What batches hold: arrays as they were made; tensors; or a `torch_geometric.data.Data` of tensors. Tensors share the
    arrays' memory.
prefetch : int
    Runs that are made ahead, in a thread; with 0 everything happens when a batch is asked for.
batches_per_run : int, optional
    Batches that are drawn together. Default: as many as have about 8 million edges. It changes no batch.
edge_rows : bool
    Whether batches have `e_id`. For the first batch the workers find the row of every edge: they make the edges again,
    and keep 4 bytes for each stored edge, or 8 if there are 2^31 edges or more. A streamed file holds the rows if it
    was built with `edge_rows=True`.
"""
OF_TYPES = """
G : TypedGraph
    Made by `graphdask.from_frames`.
num_neighbors : sequence of int, or mapping of types of edges to such
    Neighbours of a vertex at each hop along the edges of each type; -1 for all of them. A mapping has numbers for
    every type.
replace, bias, method
    As for `neighbors`; a bias by weight needs weights of every type of edges.
weight_attr : str, optional
    Draw neighbours with the probabilities that a column of the edges says, or "weight" for the weights of `G`.
    Neighbours along edges of a type without the column are drawn uniformly.
times : str, or mapping of types of edges to array or str, optional
    The times of the edges of each type: a number for each row of its table, or the name of a column of the graph, dates
    being whole numbers in the unit of their type. A name alone is of all types. Edges of types that a mapping leaves
    out are seen at all times. Default: the weights of the graph.
time_attr : str, optional
    The name of a column of the edges of some types, or of the vertices of some types: every edge then has the time of
    the neighbour that is drawn along it. Edges of types without the column, or along which vertices of such are drawn,
    are seen at all times.
subgraph_type : {"directional", "bidirectional", "induced"}
    Which edges a batch has. `directional`: those along which neighbours were drawn. `bidirectional`: these and their
    reverses, each pair of vertices once in each direction, in the order of the numbers of their destinations and
    sources. A reverse is the edge of the type `rev_...` that `from_frames(..., reverse=True)` makes, with its row;
    edges between vertices of one type that has no such are reversed within their type, and have the row of the edge
    that was drawn. `induced`: all edges of the graph between vertices of the batch, in the order of the numbers of
    their sources and destinations; with `disjoint`, between those of each seed. Not with times.
x, y : mapping of str to array with a row for each vertex of the type, in the order of `G.ids_of(type)`, optional
    A batch gets the rows of its vertices, where the values are.
vertex_columns : mapping of str to list of str, optional
    By type: names of columns of the graph, of which a batch gets the rows of its vertices.
edge_columns : mapping of types of edges to list of str, optional
    By type: names of columns of the graph, of which a batch gets the rows of its edges; needs `edge_rows`.
output : {"arrays", "torch", "pyg"}
    What batches hold: arrays; tensors; or a `torch_geometric.data.HeteroData` of tensors.
edge_rows : bool
    Whether batches have `e_id`.
"""
"""Of loaders of graphs with types, beside the others of `LOADING`."""
LOADING_ERRORS = """
MissingDependency
    Without PyTorch or PyTorch Geometric, where `output` asks for them.
"""


def described_loader(loader: type[Any]) -> None:
    """Add to a loader's docstring what it shares with others and leaves out."""
    described(loader, loader.PARAMETERS + SHARED, LOADING_ERRORS + ERRORS)
