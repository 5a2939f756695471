"""The check of graphs with distinct targets accepts what is right and names every kind of error."""

import numpy as np
import pytest

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import VerificationError
from graphdask.generate.copy_model import QueueCopyModel, SequentialBarabasiAlbert, SequentialCopyModel
from graphdask.generate.preferential_attachment import first_edge
from graphdask.verify import copy_model as verify

GRAPHS = [
    QueueCopyModel(900, 4, 0.4, 17),
    SequentialCopyModel(900, 4, 0.4, 17),
    SequentialBarabasiAlbert(900, 4, seed=17),
]


@pytest.mark.parametrize("graph", [*GRAPHS, QueueCopyModel(2, 1), SequentialBarabasiAlbert(17, 16)], ids=str)
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_generated_blocks_pass(backend, graph, size):
    for rank in {0, 1, size // 2, size - 1} & set(range(size)):
        _, dst = graph.block(backend, rank, size)
        verify.check(backend, graph, *graph.vertices(rank, size), dst)


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
@pytest.mark.parametrize(("vertex", "edge"), [(2, 1), (4, 0), (450, 2), (899, 3)])
@pytest.mark.parametrize("kind", ["next", "twin", "unknown", "later", "outside"])
def test_a_changed_target_is_named(backend, graph, vertex, edge, kind):
    _, dst = graph.block(backend, 0, 1)
    entry = first_edge(vertex, 4) + edge
    planted = {
        "next": int(dst[entry]) + 1,
        "twin": int(dst[entry - 1]),
        "unknown": -1,
        "later": vertex,
        "outside": 2**31 - 1,
    }[kind]
    if planted == int(dst[entry]):
        pytest.skip("the entry before holds the same target")
    dst[entry] = planted
    with pytest.raises(VerificationError, match=f"vertex {vertex}, edge {edge}: the stored target {planted} is not"):
        verify.check(backend, graph, 0, graph.n, dst)


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_exchanged_targets_are_named(backend, graph):
    _, dst = graph.block(backend, 1, 2)
    start, stop = graph.vertices(1, 2)
    dst[4:8] = dst[4:8][::-1].copy()
    with pytest.raises(VerificationError, match=f"vertex {start + 1}, edge 0"):
        verify.check(backend, graph, start, stop, dst)


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_missing_edges_and_another_graph_are_named(graph):
    cpu = get_backend("cpu")
    _, dst = graph.block(cpu, 0, 1)
    with pytest.raises(VerificationError, match="have 3590 edges, but 3589"):
        verify.check(cpu, graph, 0, graph.n, dst[:-1])
    _, other = type(graph)(900, 4, 0.4, 18).block(cpu, 0, 1)
    with pytest.raises(VerificationError, match="is not what seed 17 draws"):
        verify.check(cpu, graph, 0, graph.n, other)


class Agreeing(QueueCopyModel):
    """A graph whose kernels find nothing wrong."""

    def first_wrong(self, backend, targets):
        return -1


def test_kernels_that_agree_on_another_graph_are_caught():
    cpu, graph = get_backend("cpu"), Agreeing(900, 4, 0.4, 17)
    _, other = QueueCopyModel(900, 4, 0.4, 18).block(cpu, 0, 1)
    with pytest.raises(VerificationError, match="is not what seed 17 draws"):
        verify.check(cpu, graph, 0, graph.n, other)


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_partitions_pass_and_one_changed_entry_is_found(parts):
    graphs = (
        gd.generate.preferential_attachment(500, 3, seed=3, method="queue"),
        gd.generate.sequential_copy_model(500, 3, seed=3),
        gd.generate.sequential_barabasi_albert(500, 3, seed=3),
    )
    for graph in graphs:
        graph = graph.partition(parts, device="cpu").persist()
        assert graph.verify() is graph
        part = next(part for part in graph.built.parts.values if part.out.num_edges)
        part.out.indices[0] = (part.out.indices[0] + 1) % part.num_slots
        with pytest.raises(VerificationError, match="other edges than the graph has"):
            graph.verify()


def test_redrawing_one_vertex_gives_its_stored_targets():
    graph = GRAPHS[0]
    _, dst = graph.block(get_backend("cpu"), 0, 1)
    for v in (0, 3, 4, 5, 899):
        row = verify.redraw(graph, v, lambda u, k: int(dst[first_edge(u, 4) + k]))
        np.testing.assert_array_equal(row, dst[first_edge(v, 4) : first_edge(v + 1, 4)])
