"""A valid call of every public function, constructor and method that has arguments, on graphs of a few edges.

`CALLS` has a base call of each function that `public_functions.found` lists, or `LEFT_OUT` the reason why it has none.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any
from unittest import mock

import numpy as np
from calls_of_columns import OF_COLUMNS
from calls_of_types import OF_TYPES
from public_functions import found
from tiny_world import World

import graphdask as gd
from graphdask import scale
from graphdask.interface.registry import Algorithm, algorithms
from graphdask.io import EdgeList
from graphdask.program.translated import Translated


def nothing(result: Any) -> Any:
    return result


def entered(context: Any) -> Any:
    with context as value:
        return value


@dataclass(frozen=True)
class Call:
    """A base call: what it is called with, and how."""

    arguments: Callable[[World], dict[str, Any]]
    of: Callable[[World], Any] | None = None
    """The function, where it is not the public one of the name: a method of an object."""
    then: Callable[[Any], Any] = nothing
    """What is done with what it returns: an iterator is begun, a context entered."""
    placed: tuple[str, ...] = ()
    """Arguments of `*args`, in their order; they are listed as any other."""
    more: tuple[str, ...] = ()
    """Options of `**options`."""
    within: Callable[[], AbstractContextManager[Any]] = nullcontext
    """Where it is called."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Arguments that are not varied, with the reason."""
    called: tuple[str, ...] = ()
    """Arguments that are functions of the user, whose own exceptions come through."""
    raises: tuple[type[Exception], ...] = ()
    """What it raises besides, because Python's protocols ask for it."""
    words: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """What messages call an argument besides its name."""


class Begun(Exception):
    """What takes long would begin now."""


@contextmanager
def ending_before(*functions: str) -> Iterator[None]:
    """Ends a call where it comes to one of some functions, after all its checks."""
    with ExitStack() as stack:
        stack.enter_context(suppress(Begun))
        for function in functions:
            # Calls are to end before they start clusters and measure.
            stack.enter_context(mock.patch(function, side_effect=Begun))
        yield


def no_clusters() -> AbstractContextManager[None]:
    """Ends a call that would start or join a cluster."""
    return ending_before("graphdask.cluster.local._cpu_cluster", "graphdask.cluster.local.connected")


def no_measurements() -> AbstractContextManager[None]:
    """Ends a call that would measure."""
    return ending_before("graphdask.scale.experiment._Workers")


def first(iterator: Any) -> Any:
    return list(islice(iterator, 3))


def _called(algorithm: Algorithm) -> Call:
    """The base call of an algorithm."""
    return Call(lambda w: {"G": w.U} | algorithm.example(w.U))


def _samples(**arguments: Any) -> Callable[[World], dict[str, Any]]:
    return lambda w: {"G": w.G, **arguments}


LOADER = {"num_neighbors": [2, 1], "input_nodes": [0, 1], "prefetch": 0}
RECORD = """__device__ bool f(double x, double *r_y) { *r_y = x; return true; }"""
TRANSLATED = """__device__ double twice(double weight) { return 2 * weight; }"""


def _loader(name, given, **words):
    """A call of a loader of minibatches."""
    loader = getattr(gd.sample, name)
    return Call(
        lambda w: {"G": w.G, "prefetch": 0, **given(w)}, lambda w: loader, first, called=("transform",), words=words
    )


CALLS: dict[str, Call] = {name: _called(each) for name, each in algorithms().items()} | {
    # graphdask
    **{name: Call(*arguments, words=words) for name, (*arguments, words) in OF_COLUMNS.items()},
    "fit_power_law": Call(lambda w: {"degrees": [1, 2, 3, 4, 5, 6], "first": 1}),
    "from_dask_dataframe": Call(lambda w: {"ddf": w.G.to_dask_dataframe(1), "src": "src", "dst": "dst"}),
    **{name: Call(given, of, words=words) for name, (given, of, words) in OF_TYPES.items()},
    "from_edges": Call(
        lambda w: {"src": [0, 1], "dst": [1, 2]},
        words={"src": ("edge sources?",), "dst": ("destinations?",), "vertices": ("edge source",)},
    ),
    "from_networkx": Call(lambda w: {"g": _path_graph()}),
    "from_scipy": Call(lambda w: {"A": _sparse()}, words={"A": ("weights",)}),
    "shortest_path": Call(lambda w: {"G": w.G, "source": 0, "target": 1}),
    "modularity": Call(lambda w: {"G": w.U, "labels": [0] * w.U.num_vertices}),
    "ego_graph": Call(lambda w: {"G": w.G, "sources": [0, 1]}),
    "k_core": Call(lambda w: {"G": w.U}),
    "k_hop_neighbors": Call(lambda w: {"G": w.G, "sources": [0, 1], "k": 2}),
    "k_truss": Call(lambda w: {"G": w.U, "k": 3}),
    **{
        measure: Call(lambda w: {"G": w.U}, words={"vertices": ("vertex",)})
        for measure in ("jaccard", "overlap", "cosine", "sorensen")
    },
    "same_graph": Call(lambda w: {"G": w.G, "H": w.G}),
    "subgraph": Call(lambda w: {"G": w.G, "vertices": [0, 1]}, words={"vertices": ("vertex",)}),
    "SubgraphResult.to_graph": Call(lambda w: {"instance": 0}, lambda w: gd.subgraph(w.G, [0, 1]).to_graph),
    "read_graph": Call(lambda w: {"path": w.text}),
    "read_stream": Call(lambda w: {"path": w.timed, "preload": 0.5, "batch": 0.1}),
    # Programs
    "Program": Call(lambda w: _smallest(), lambda w: gd.Program),
    "run": Call(
        lambda w: {"G": w.U, "program": gd.Program(**_smallest()), "active": [0], "init": {"label": {0: 7}}},
        called=("until",),
    ),
    # Graphs
    "DynamicGraph": Call(lambda w: {"G": w.G}, lambda w: gd.DynamicGraph),
    "DynamicGraph.partition": Call(
        lambda w: {"parts": 2}, lambda w: w.D.partition, more=("by", "ghosts", "device", "seed", "id_width")
    ),
    "DynamicGraph.to_undirected": Call(lambda w: {}, lambda w: w.D.to_undirected),
    "DynamicGraph.update": Call(lambda w: {"insert": ([0], [2])}, lambda w: w.D.update),
    "Graph.edge_blocks": Call(lambda w: {}, lambda w: w.G.edge_blocks, first),
    "Graph.edges": Call(lambda w: {}, lambda w: w.G.edges),
    "GraphQueries.degrees": Call(lambda w: {}, lambda w: w.G.degrees),
    "GraphQueries.edge": Call(lambda w: {"u": 0, "v": 1}, lambda w: w.G.edge),
    "GraphQueries.has_edge": Call(lambda w: {"u": 0, "v": 1}, lambda w: w.G.has_edge),
    "GraphQueries.head": Call(lambda w: {}, lambda w: w.G.head),
    "GraphQueries.neighbors": Call(lambda w: {"vertex": 0}, lambda w: w.G.neighbors),
    "GraphQueries.subgraph": Call(
        lambda w: {"vertices": [0, 1]}, lambda w: w.G.subgraph, words={"vertices": ("vertex",)}
    ),
    "GraphQueries.to_networkx": Call(lambda w: {}, lambda w: w.G.to_networkx),
    "GraphQueries.to_scipy": Call(lambda w: {}, lambda w: w.G.to_scipy),
    "Graph.partition": Call(lambda w: {"parts": 2, "device": "cpu"}, lambda w: w.G.partition, lambda G: G.persist()),
    "Graph.persist": Call(lambda w: {}, lambda w: w.G.persist),
    "Graph.to_dask_array": Call(lambda w: {}, lambda w: w.G.to_dask_array),
    "Graph.to_dask_dataframe": Call(lambda w: {}, lambda w: w.G.to_dask_dataframe),
    "Graph.to_undirected": Call(lambda w: {}, lambda w: w.G.to_undirected),
    "Graph.verify": Call(lambda w: {}, lambda w: w.G.verify),
    "Graph.write": Call(lambda w: {"path": w.new("written.txt"), "overwrite": True}, lambda w: w.G.write),
    "StreamedGraph.partition": Call(lambda w: {"parts": 2}, lambda w: w.S.partition),
    "StreamedGraph.to_undirected": Call(lambda w: {}, lambda w: w.S.to_undirected),
    "StreamedGraph.verify": Call(lambda w: {}, lambda w: w.S.verify),
    # What they return
    "Result.to_parquet": Call(
        lambda w: {"path": w.new("result.parquet"), "overwrite": True}, lambda w: w.result.to_parquet
    ),
    "Stats.__getitem__": Call(lambda w: {"number": 0}, lambda w: w.result.stats.__getitem__, raises=(IndexError,)),
    # graphdask.generate
    "generate.erdos_renyi": Call(lambda w: {"n": 10, "m": 5}),
    "generate.preferential_attachment": Call(lambda w: {"n": 10, "degree": 2}),
    "generate.rmat": Call(lambda w: {"scale": 3}),
    "generate.sequential_barabasi_albert": Call(lambda w: {"n": 10, "degree": 2}),
    "generate.sequential_copy_model": Call(lambda w: {"n": 10, "degree": 2}),
    "generate.waiting_queue": Call(lambda w: {"n": 10, "degree": 2, "threads": 2}),
    "ErdosRenyi": Call(lambda w: {"n": 10, "m": 5}, lambda w: gd.generate.ErdosRenyi),
    "PreferentialAttachment": Call(lambda w: {"n": 10}, lambda w: gd.generate.PreferentialAttachment),
    "RMat": Call(lambda w: {"scale": 3}, lambda w: gd.generate.RMat),
    "ErdosRenyi.block_edges": Call(
        lambda w: {"rank": 0, "size": 1}, lambda w: gd.generate.ErdosRenyi(9, 4).block_edges
    ),
    "PreferentialAttachment.block_edges": Call(
        lambda w: {"rank": 0, "size": 1}, lambda w: gd.generate.PreferentialAttachment(9).block_edges
    ),
    "PreferentialAttachment.vertices": Call(
        lambda w: {"rank": 0, "size": 1}, lambda w: gd.generate.PreferentialAttachment(9).vertices
    ),
    "RMat.block_edges": Call(lambda w: {"rank": 0, "size": 1}, lambda w: gd.generate.RMat(3).block_edges),
    # graphdask.sample
    "Chunks.to_parquet": Call(lambda w: {"path": w.new("chunks"), "overwrite": True}, lambda w: w.chunks.to_parquet),
    "ClusterLoader": _loader("ClusterLoader", lambda w: {"clusters": [0] * w.G.num_vertices}),
    "LinkNeighborLoader": _loader(
        "LinkNeighborLoader", lambda w: {"num_neighbors": [2, 1]}, edge_label_index=("end of a link",)
    ),
    "NegativeSampling": Call(lambda w: {"mode": "binary"}, lambda w: gd.sample.NegativeSampling),
    "NeighborLoader": _loader("NeighborLoader", lambda w: LOADER, input_nodes=("input node",)),
    "Neighborhoods.subgraph": Call(lambda w: {"instance": 0}, lambda w: w.neighborhoods.subgraph),
    "ShaDowLoader": _loader(
        "ShaDowLoader", lambda w: {"depth": 2, "num_neighbors": 2, "input_nodes": [0, 1]}, input_nodes=("input node",)
    ),
    "Samples.to_parquet": Call(
        lambda w: {"path": w.new("samples"), "overwrite": True}, lambda w: w.neighborhoods.to_parquet
    ),
    "Spec": Call(lambda w: {"depth": 2}, lambda w: gd.sample.Spec),
    "Streamed": Call(lambda w: {"partitions": 2}, lambda w: gd.sample.Streamed),
    "Translated.from_cuda": Call(
        lambda w: {"source": TRANSLATED, "name": "twice", "fields": {"weight": "float"}, "result": "float"},
        lambda w: Translated.from_cuda,
    ),
    "Translated.record_from_cuda": Call(
        lambda w: {"source": RECORD, "name": "f", "fields": {"x": "float"}, "results": {"y": "float"}},
        lambda w: Translated.record_from_cuda,
    ),
    "sample.forest_fire": Call(_samples(seeds=[0, 1])),
    "sample.frontier_sampling": Call(_samples(pools=[[0, 1], [2, 3]], length=2)),
    "sample.in_chunks": Call(
        lambda w: {"function": gd.sample.random_walk, "G": w.G, "starts": [0, 1], "length": 2, "chunk": 1},
        placed=("starts", "length"),
        more=("walks_per_start", "seed"),
        called=("function",),
        then=first,
    ),
    "sample.layer": Call(_samples(seeds=[0, 1], sizes=[2, 2])),
    "sample.metapath_walk": Call(_samples(starts=[0, 1], length=2, metapath=[0, 1], edge_types=[0, 1, 0, 1, 0, 1])),
    "sample.metropolis_hastings": Call(lambda w: {"G": w.U, "starts": [0, 1], "length": 2}),
    "sample.neighbors": Call(_samples(seeds=[0, 1], fanouts=[2, 1])),
    "sample.node2vec": Call(_samples(starts=[0, 1], length=2)),
    "sample.personalized_pagerank": Call(_samples(sources=[0, 1], walks=4)),
    "sample.random_edges": Call(_samples(k=2)),
    "sample.random_nodes": Call(_samples(k=2)),
    "sample.random_walk": Call(_samples(starts=[0, 1], length=2)),
    "sample.random_walk_with_jump": Call(_samples(starts=[0, 1], length=2, p=0.5)),
    "sample.random_walk_with_restart": Call(_samples(starts=[0, 1], length=2, p=0.5)),
    "sample.run": Call(lambda w: {"G": w.G, "spec": gd.sample.Spec(depth=2), "seeds": [0, 1]}),
    "sample.saint_edges": Call(lambda w: {"G": w.U, "edges": 2}),
    "sample.saint_nodes": Call(lambda w: {"G": w.U, "nodes": 2}),
    "sample.saint_walks": Call(_samples(roots=2, length=2)),
    "sample.snowball": Call(_samples(seeds=[0, 1], depth=2)),
    "sample.temporal_neighbors": Call(_samples(seeds=[0, 1], fanouts=[2], seed_times=[9, 9])),
    # graphdask.stream
    "stream.build": Call(lambda w: {"G": w.U, "path": w.new("built.gdl"), "overwrite": True}),
    "stream.open": Call(lambda w: {"path": w.store}),
    # graphdask.cluster
    "cluster.connect": Call(lambda w: {"scheduler": "tcp://127.0.0.1:1"}, then=entered, within=no_clusters),
    "cluster.local_cluster": Call(lambda w: {"workers": 1, "device": "cpu"}, then=entered, within=no_clusters),
    "cluster.start": Call(lambda w: {"workers": 1, "device": "cpu"}, within=no_clusters),
    # graphdask.scale
    "scale.draw": Call(lambda w: {"records": w.records, "which": ("speed-up",)}),
    "scale.extrapolated": Call(lambda w: {"model": scale.fit(w.records)[0], "record": w.records[-1], "workers": 8}),
    "scale.fit": Call(lambda w: {"records": w.records}),
    "scale.read": Call(lambda w: {"path": w.measured}),
    "scale.run": Call(
        lambda w: {
            "path": w.new("new.jsonl"),
            "workers": (1,),
            "algorithms": ("bfs",),
            "scales": (2,),
            "device": "cpu",
        },
        within=no_measurements,
        called=("each", "say", "doing"),
    ),
    "Fit.seconds": Call(
        lambda w: {"edges": 1.0, "sent": 1.0, "supersteps": 1.0, "vertices": 1.0, "workers": 2},
        lambda w: scale.fit(w.records)[0].seconds,
    ),
    # graphdask.plot
    "plot.bars": Call(lambda w: {"values": {"a": 1.0}, "xlabel": "x"}),
    "plot.changing_ranks": Call(
        lambda w: {"records": [{"method": "nd", "batch": k, "ms": 2.0, "affected": 9, "error": 1e-7} for k in range(3)]}
    ),
    "plot.curves": Call(lambda w: {"series": {"a": ([1, 2], [3, 4])}, "xlabel": "x", "ylabel": "y"}),
    "plot.degree_distribution": Call(lambda w: {"degrees": [1, 2, 2, 3]}),
    "plot.draw": Call(lambda w: {"G": w.U, "iterations": 1}),
    "plot.superstep_profile": Call(lambda w: {"stats": w.result.stats}),
    # graphdask.io
    "EdgeList": Call(
        lambda w: {"src": np.array([0, 1]), "dst": np.array([1, 2])},
        lambda w: EdgeList,
        lambda edges: (edges.num_edges, edges.vertex_range),
    ),
    "Format": Call(
        lambda w: {
            "name": "a",
            "suffixes": (".a",),
            "writes": True,
            "compressed": True,
            "description": "a",
        },
        lambda w: gd.io.Format,
    ),
    "io.detect_format": Call(lambda w: {"path": "graph.txt"}),
    "io.edges_for_graph": Call(
        lambda w: (
            {"path": w.text, "skip_rows": 0}
            | dict.fromkeys(
                (
                    "format",
                    "weights",
                    "directed",
                    "comment",
                    "delimiter",
                    "columns",
                    "ids",
                    "header",
                    "na_values",
                )
            )
        )
    ),
    "io.read_edges": Call(lambda w: {"path": w.text}),
    "io.read_vertex_values": Call(lambda w: {"path": w.values}),
    "io.slices": Call(lambda w: {"arrays": np.arange(3), "size": 2}, placed=("arrays",), then=first),
    "io.spilled_edges": Call(lambda w: {"path": w.text, "folder": w.folder, "memory": 1 << 20}),
    "io.write_edges": Call(lambda w: {"edges": w.edges, "path": w.new("written.txt"), "overwrite": True}),
}

ENGINE = "the engine calls it, with objects of its own"
LEFT_OUT: dict[str, str] = {
    "Graph": "made by functions, of a source of edges",
    "Result": "made by algorithms",
    "Samples": "made by samplers",
    "Chunks": "made by in_chunks",
    "Cluster": "made by cluster.start",
    "Cluster.write_scheduler_file": "needs a cluster; tests/cluster has it",
    "StreamedGraph": "made by stream.open, of a store",
    "WaitingQueue": "made by generate.waiting_queue",
    "Batch": "made by NeighborLoader",
    "LinkBatch": "made by LinkNeighborLoader",
    "ClusterBatch": "made by ClusterLoader",
    "EdgeStream": "made by read_stream",
    "Fit": "made by scale.fit",
    "Stats": "made by the engine",
    "Subgraph": "made by Neighborhoods.subgraph",
    "Subgraphs": "made by Neighborhoods.coo",
    "TypedGraph": "made by from_frames",
    "TypedNeighborhoods": "made by sample.neighbors",
    "SubgraphResult": "made by subgraph, ego_graph, k_core and k_truss",
    "Translated": "made by translate, or by from_cuda",
    "Update": "made by DynamicGraph.update",
    "ColumnsOfBatches.with_columns": ENGINE,
    "DynamicGraph.built_with": ENGINE,
    "DynamicGraph.lineage": ENGINE,
    "ErdosRenyi.block": ENGINE,
    "Spec.functions": ENGINE,
    "Spec.functions_for": ENGINE,
    "PreferentialAttachment.block": ENGINE,
    "PreferentialAttachment.count": ENGINE,
    "RMat.block": ENGINE,
    "Samples.write_into": ENGINE,
    "Stats.of": ENGINE,
    "StreamedGraph.host_chunks": ENGINE,
    "Translated.check": ENGINE,
    "Translated.cuda": ENGINE,
    "Translated.error": ENGINE,
    "Translated.refused": ENGINE,
    "TypedGraph.restricted": ENGINE,
}
"""What is public by its name and has no base call, with the reason."""


def _smallest() -> dict[str, Any]:
    """Arguments of a program: the smallest label that comes along edges."""
    return {
        "state": {"label": (int, 5)},
        "message": (int, "min"),
        "send": lambda e: e.source.label,
        "apply": lambda v, m: m < v.label and {"label": m},
    }


def _path_graph() -> Any:
    import networkx as nx

    return nx.path_graph(3)


def _sparse() -> Any:
    import scipy.sparse as sp

    return sp.csr_array(np.eye(3))


@dataclass(frozen=True)
class Fuzzed:
    """A call of a public function whose arguments are replaced, one at a time."""

    name: str
    function: Callable[..., Any]
    call: Call
    world: World

    @classmethod
    def of(cls, name: str, world: World) -> Fuzzed:
        call = CALLS[name]
        return cls(name, found()[name] if call.of is None else call.of(world), call, world)

    @cached_property
    def arguments(self) -> list[str]:
        """Names of all arguments that are varied."""
        kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        own = [each.name for each in inspect.signature(self.function).parameters.values() if each.kind in kinds]
        return [each for each in (*own, *self.call.placed, *self.call.more) if each not in self.call.left_out]

    def with_value(self, argument: str | None = None, value: Any = None) -> Any:
        """Call it, with a value in place of an argument's own."""
        given = self.call.arguments(self.world)
        if argument is not None:
            given[argument] = value
        before: list[Any] = []
        if self.call.placed:
            parameters = list(inspect.signature(self.function).parameters.values())
            ahead = [each.name for each in parameters if each.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
            before = [given.pop(each) for each in (*ahead, *self.call.placed)]
        with self.call.within():
            return self.call.then(self.function(*before, **given))
