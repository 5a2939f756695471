"""What statistics of samples count: edges that are drawn, and every byte between ranks."""

from __future__ import annotations

import numpy as np
import pytest
from graphs import GRAPHS

import graphdask as gd
from graphdask.comm.threads import ThreadCommunicator

sample = gd.sample
Spec = sample.Spec
SEEDS = np.arange(0, 60, 5)


def second(e):
    return e.weight if e.destination_near_previous else 3 * e.weight


SPECS = {
    "vertices": Spec(edge_bias=lambda e: e.weight, neighbor_size=[3, 2]),
    "a layer": Spec(edge_bias=lambda e: e.weight, neighbor_size=[3, 4], per="layer"),
    "a layer, all alike": Spec(neighbor_size=[3, 4], per="layer"),
    "near": Spec(edge_bias=second, neighbor_size=[2, 2]),
    "near of a layer": Spec(edge_bias=second, neighbor_size=[3, 4], per="layer"),
    "chosen from the pool": Spec(vertex_bias=lambda v: v.degree, frontier_size=2, depth=3, per="layer"),
}
TRAVERSALS = {
    "neighbors": lambda G, **o: sample.neighbors(G, SEEDS, [3, 2], **o),
    "neighbors by weight": lambda G, **o: sample.neighbors(G, SEEDS, [3, 2], bias="weight", **o),
    "reservoir": lambda G, **o: sample.neighbors(G, SEEDS, [3, 2], bias="weight", method="reservoir", **o),
    "with replacement": lambda G, **o: sample.neighbors(G, SEEDS, [3, 2], replace=True, **o),
    "snowball": lambda G, **o: sample.snowball(G, SEEDS, 2, **o),
    "forest fire": lambda G, **o: sample.forest_fire(G, SEEDS, 0.5, 3, **o),
    "layers": lambda G, **o: sample.layer(G, SEEDS, [3, 9], **o),
    "layers by weight": lambda G, **o: sample.layer(G, SEEDS, [3, 9], bias="weight", **o),
    "layers by degree": lambda G, **o: sample.layer(G, SEEDS, [3, 9], bias="degree", direction="in", **o),
    "temporal": lambda G, **o: sample.temporal_neighbors(G, SEEDS, [3, 2], seed_times=3, **o),
    "GraphSAINT": lambda G, **o: sample.saint_walks(G, 5, 3, 4, **o),
}
TRAVERSALS |= {f"Spec of {name}": lambda G, s=spec, **o: sample.run(G, s, SEEDS, **o) for name, spec in SPECS.items()}
WALKS = {
    "walks": lambda G, **o: sample.random_walk(G, SEEDS, 6, bias="weight", **o),
    "node2vec": lambda G, **o: sample.node2vec(G, SEEDS, 6, 2.0, 0.5, **o),
    "metapath": lambda G, **o: sample.metapath_walk(G, SEEDS, 6, metapath=[2, 0, 1], **o),
    "pools": lambda G, **o: sample.frontier_sampling(G, SEEDS.reshape(4, 3), 6, **o),
}


def graph_of(parts, *, directed=True):
    n, src, dst, _ = GRAPHS["dense random, directed"]()
    weights = np.random.default_rng(17).integers(0, 5, len(src))
    graph = gd.from_edges(src, dst, weights, num_vertices=n, directed=directed)
    return graph.partition(parts, "random", device="cpu")


@pytest.mark.parametrize(
    ("parts", "placement"), [(1, "replicated"), (3, "replicated"), (2, "partitioned"), (4, "partitioned")]
)
@pytest.mark.parametrize("name", TRAVERSALS)
def test_edges_are_those_drawn(name, parts, placement):
    found = TRAVERSALS[name](graph_of(parts), placement=placement)
    assert found.stats.edges == len(found.dst) > 0


@pytest.mark.parametrize("name", TRAVERSALS)
def test_edges_are_those_drawn_from_a_streamed_graph(name):
    found = TRAVERSALS[name](graph_of(1), placement="streamed")
    assert found.stats.edges == len(found.dst) > 0


@pytest.mark.parametrize("name", WALKS)
def test_edges_of_walks_are_steps(name):
    found = WALKS[name](graph_of(3), placement="partitioned")
    lengths = found.lengths if "lengths" in found.columns else np.bincount(found.instance)
    assert found.stats.edges == lengths.sum() > 0
    whole = WALKS[name](graph_of(1), placement="replicated")
    assert whole.stats.edges == 6 * len(lengths) >= found.stats.edges


@pytest.mark.parametrize("parts", [2, 4])
@pytest.mark.parametrize("name", [*TRAVERSALS, *WALKS])
def test_every_byte_between_ranks_is_counted(name, parts, watched):
    """Also what is asked within a superstep, before the first, and after the last."""
    graph = graph_of(parts)
    draw = (TRAVERSALS | WALKS)[name]
    draw(graph, placement="partitioned")  # the partitions are there, and what they keep

    def size(comm, sends, *more, **named):
        return sum(part.nbytes for q, part in enumerate(sends) if part is not None and q != comm.rank)

    sent = watched(ThreadCommunicator, "exchange", size)
    found = draw(graph, placement="partitioned")
    reported = found.stats.bytes_sent + (found.walks.stats.bytes_sent if name == "GraphSAINT" else 0)
    assert reported == sum(sent) > 0
    assert found.stats.bsp.volume_bytes == found.stats.bytes_sent
