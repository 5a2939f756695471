"""Minibatches of links: what a batch holds, the same bits everywhere, labels, times, and arguments that are refused."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from emulated import emulated, stand_in

import graphdask as gd
from graphdask.errors import InputError, VertexNotFound
from graphdask.sample import LinkNeighborLoader, NegativeSampling

RNG = np.random.default_rng(17)
N = 40
SRC, DST, TIMES = RNG.integers(0, N, 220), RNG.integers(0, N, 220), RNG.integers(0, 50, 220)
LINKS = RNG.integers(0, N, (2, 23))
"""Of which few are edges."""
LINK_TIMES = RNG.integers(0, 60, 23)
FIELDS = (
    "n_id", "edge_index", "e_id", "input_id", "edge_label_index", "edge_label", "edge_label_time", "src_index",
    "dst_pos_index", "dst_neg_index", "seed_time", "batch", "num_sampled_nodes", "num_sampled_edges",
)  # fmt: skip
KINDS = [
    {},
    {"neg_sampling": "binary", "edge_label": np.arange(23) % 3},
    {"neg_sampling_ratio": 1.4, "disjoint": True},
    {"neg_sampling": {"mode": "triplet", "amount": 2, "dst_weight": "degree", "only_non_edges": True}},
    {"neg_sampling": "triplet", "disjoint": True},
    {"neg_sampling": {"mode": "binary", "amount": 2}, "edge_label_time": LINK_TIMES},
    {"neg_sampling": {"mode": "triplet", "amount": 3}, "edge_label_time": LINK_TIMES, "temporal_strategy": "last"},
]


@pytest.fixture(scope="module")
def graph():
    return gd.from_edges(SRC, DST, TIMES, num_vertices=N)


def reported(batches):
    values = ([getattr(batch, name) for name in FIELDS] for batch in batches)
    return [[value.tolist() if hasattr(value, "tolist") else value for value in batch] for batch in values]


def pairs(batch):
    """The ends of links and of negatives, each as an array of ids of shape (2, count)."""
    links = len(batch.input_id)
    if batch.edge_label_index is not None:
        ends = batch.n_id[batch.edge_label_index]
        return ends[:, :links], ends[:, links:]
    positive = batch.n_id[np.stack([batch.src_index, batch.dst_pos_index])]
    negative = batch.n_id[batch.dst_neg_index].reshape(links, -1)
    return positive, np.stack([np.repeat(positive[0], negative.shape[1]), negative.reshape(-1)])


@pytest.mark.parametrize("options", KINDS)
def test_numbers_of_links_lead_to_their_ends(graph, options):
    batches = list(LinkNeighborLoader(graph, [2, 2], LINKS, batch_size=5, **options))
    assert [len(batch.input_id) for batch in batches] == [5, 5, 5, 5, 3]
    for batch in batches:
        assert (pairs(batch)[0] == LINKS[:, batch.input_id]).all()
        source, end = batch.n_id[batch.edge_index]
        assert (SRC[batch.e_id] == source).all()
        assert (DST[batch.e_id] == end).all()


@pytest.mark.parametrize("given", ["default", "undirected", "names"])
def test_all_edges_are_links_by_default(given):
    src, dst = SRC, DST
    if given == "names":
        src, dst = np.char.add("v", SRC.astype(str)), np.char.add("v", DST.astype(str))
    whole = gd.from_edges(src, dst, directed=given != "undirected")
    loader = LinkNeighborLoader(whole, [1], batch_size=50, neg_sampling="binary")
    edges, batches = whole.edges(), list(loader)
    assert [len(batch.input_id) for batch in batches] == [50, 50, 50, 50, 20]
    found = np.concatenate([pairs(batch)[0] for batch in batches], axis=1)
    assert found.tolist() == [edges.src.tolist(), edges.dst.tolist()]


@pytest.mark.parametrize("options", KINDS[:2] + KINDS[3:4])
def test_batches_are_instances_of_neighbour_sampling(graph, options):
    loader = LinkNeighborLoader(graph, [3, 2], LINKS, batch_size=5, shuffle=True, drop_last=True, seed=4, **options)
    batches = [*loader, *loader]
    seeds = [np.unique(np.concatenate(pairs(batch), axis=1)) for batch in batches]
    whole = gd.sample.neighbors(graph, seeds, [3, 2], direction="in", seed=4)
    for b, batch in enumerate(batches):
        expected = whole.subgraph(b)
        assert batch.n_id.tolist() == expected.nodes.tolist()
        assert batch.edge_index.tolist() == [expected.col.tolist(), expected.row.tolist()]
        assert tuple(batch.num_sampled_nodes) == tuple(expected.sizes)


@pytest.mark.parametrize("options", KINDS)
def test_batches_are_the_same_wherever_they_are_drawn(graph, monkeypatch, options):
    options = {"batch_size": 4, "shuffle": True, "seed": 8, **options}
    expected = reported(LinkNeighborLoader(graph, [3, 2], LINKS, prefetch=0, batches_per_run=1, **options))
    assert reported(LinkNeighborLoader(graph, [3, 2], LINKS, batches_per_run=4, **options)) == expected
    for parts in (2, 3, 4, 7):
        divided = graph.partition(parts, by="random", device="cpu")
        assert reported(LinkNeighborLoader(divided, [3, 2], LINKS, placement="partitioned", **options)) == expected
    for placement in ("replicated", "streamed"):
        divided = graph.partition(3, device="cpu")
        assert reported(LinkNeighborLoader(divided, [3, 2], LINKS, placement=placement, **options)) == expected
    stand_in(monkeypatch, emulated())
    on_gpu = list(LinkNeighborLoader(graph.partition(1, device="cuda"), [3, 2], LINKS, **options))
    assert not isinstance(on_gpu[0].input_id, np.ndarray)
    assert reported(on_gpu) == expected


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_do_not_depend_on_the_size_of_batches(graph, mode):
    asked = NegativeSampling(mode, amount=3)
    found = []
    for size in (1, 4, 23):
        batches = list(LinkNeighborLoader(graph, [0], LINKS, batch_size=size, neg_sampling=asked, shuffle=True, seed=3))
        of_link = {}
        for batch in batches:
            links, negatives = len(batch.input_id), pairs(batch)[1]
            shape = (2, 3, links) if mode == "binary" else (2, links, 3)
            each = negatives.reshape(shape).swapaxes(1, 2) if mode == "binary" else negatives.reshape(shape)
            for place, link in enumerate(batch.input_id.tolist()):
                of_link[link] = each[:, place].tolist()
        found.append(of_link)
    assert found[0] == found[1] == found[2]


def test_labels_make_room_for_those_of_negatives(graph):
    def labels(**options):
        (batch,) = LinkNeighborLoader(graph, [1], LINKS[:, :4], batch_size=4, **options)
        return batch.edge_label

    assert labels() is None
    assert labels(edge_label=[0, 5, 7, 2]).tolist() == [0, 5, 7, 2]
    made = labels(neg_sampling_ratio=0.6)
    assert (made.dtype, made.tolist()) == (np.float32, [1, 1, 1, 1, 0, 0, 0])
    assert labels(edge_label=[0, 5, 7, 2], neg_sampling_ratio=0.25).tolist() == [1, 6, 8, 3, 0]
    assert labels(edge_label=[4, 5, 7, 2], neg_sampling_ratio=0.25).tolist() == [4, 5, 7, 2, 0]
    assert labels(edge_label=np.eye(4) + 1, neg_sampling="binary").shape == (8, 4)
    assert labels(edge_label=[0, 5, 7, 2], neg_sampling_ratio=0.0).tolist() == [0, 5, 7, 2]


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_links_with_times_see_no_later_edge(graph, mode):
    loader = LinkNeighborLoader(
        graph, [-1, -1], LINKS, edge_label_time=LINK_TIMES, neg_sampling={"mode": mode, "amount": 2}, batch_size=6
    )
    for batch in loader:
        times = LINK_TIMES[batch.input_id]
        end = batch.edge_index[1]
        assert (TIMES[batch.e_id] <= times[batch.batch[end]]).all()
        if mode == "triplet":
            assert batch.seed_time.tolist() == times.tolist()
            of_seeds = [batch.src_index, batch.dst_pos_index, *batch.dst_neg_index.T]
        else:
            assert batch.edge_label_time.tolist() == np.tile(times, 3).tolist()
            of_seeds = batch.edge_label_index.reshape(6, -1)
        for numbers in of_seeds:  # the seeds of the same link belong together
            assert batch.batch[numbers].tolist() == list(range(len(times)))
        for seed in range(batch.num_sampled_nodes[0]):
            vertex, time = batch.n_id[seed], times[batch.batch[seed]]
            seen = np.flatnonzero((vertex == DST) & (time >= TIMES))
            assert sorted(batch.e_id[end == seed].tolist()) == seen.tolist()


def test_disjoint_ends_of_links_share_no_vertex(graph):
    (batch,) = LinkNeighborLoader(graph, [-1, -1], LINKS, disjoint=True, neg_sampling_ratio=0.4, batch_size=23)
    assert batch.edge_label_index.tolist() == np.arange(66).reshape(2, 33).tolist()
    assert batch.num_sampled_nodes[0] == 66
    assert batch.batch[:66].tolist() == [*range(23), *range(10), *range(23), *range(10)]
    assert (batch.batch[batch.edge_index[0]] == batch.batch[batch.edge_index[1]]).all()
    together = nx.Graph(batch.edge_index.T.tolist())
    together.add_nodes_from(range(len(batch.n_id)))
    alone = gd.sample.neighbors(graph, batch.n_id[:66], [-1, -1], direction="in")
    components = list(nx.connected_components(together))
    assert len(components) == 66
    for numbers in map(sorted, components):
        assert sorted(batch.n_id[numbers].tolist()) == sorted(alone.subgraph(numbers[0]).nodes.tolist())


def test_rows_of_x_and_transforms(graph):
    x = np.arange(2 * N).reshape(N, 2)
    loader = LinkNeighborLoader(graph, [2], LINKS, batch_size=23, x=x, y=np.arange(N), transform=lambda b: (b, b.x))
    ((batch, rows),) = loader
    assert (rows == x[batch.n_id]).all()
    assert batch.y.tolist() == batch.n_id.tolist()
    assert "src_index" not in repr(batch)
    assert repr(loader) == "<LinkNeighborLoader: 1 batches of 23 of 23 links, neighbours [2], no negatives>"


def test_a_loader_of_no_links(graph):
    assert list(LinkNeighborLoader(graph, [2], np.zeros((2, 0), int), neg_sampling="binary")) == []
    assert list(LinkNeighborLoader(gd.from_edges([], [], num_vertices=3), [2], disjoint=True)) == []
    (batch,) = LinkNeighborLoader(graph, [], [[3], [3]])
    assert (batch.n_id.tolist(), batch.edge_label_index.tolist()) == ([3], [[0], [0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"edge_label_index": [1, 2]}, r"edge_label_index has the shape \(2,\)"),
        ({"edge_label_index": [[1], [2], [3]]}, r"edge_label_index has the shape \(3, 1\)"),
        ({"edge_label": [1]}, r"edge_label has the shape \(1,\); one for each of the 23 links"),
        ({"edge_label": ["a"] * 23}, "labels are numbers"),
        ({"edge_label": np.ones(23), "neg_sampling": "triplet"}, "edge_label= says nothing with triplets"),
        ({"neg_sampling": "random"}, "neg_sampling mode='random'"),
        ({"neg_sampling": 3}, "neg_sampling=3 is not 'binary', 'triplet'"),
        ({"neg_sampling": {"mode": "binary", "many": 3}}, "many"),
        ({"neg_sampling": "binary", "neg_sampling_ratio": 1}, "leave one out"),
        ({"neg_sampling_ratio": -1}, "neg_sampling_ratio=-1"),
        ({"neg_sampling": {"mode": "binary", "amount": 0}}, "amount=0 is not a number above 0"),
        ({"neg_sampling": {"mode": "triplet", "amount": 1.5}}, "amount=1.5 is not whole"),
        ({"neg_sampling": {"mode": "triplet", "src_weight": "degree"}}, "src_weight= says nothing with 'triplet'"),
        ({"neg_sampling": {"mode": "binary", "src_weight": "size"}}, "src_weight='size' is not 'degree'"),
        ({"neg_sampling": {"mode": "binary", "dst_weight": [1, 2]}}, r"dst_weight has the shape \(2,\)"),
        ({"neg_sampling": {"mode": "binary", "dst_weight": -np.ones(N)}}, "dst_weight of vertex 0 is -1.0"),
        ({"neg_sampling": {"mode": "binary", "dst_weight": np.zeros(N)}}, "dst_weight is 0 for all vertices"),
        ({"neg_sampling": {"mode": "binary", "only_non_edges": 1}}, "only_non_edges=1"),
        ({"disjoint": "yes"}, "disjoint='yes'"),
        ({"edge_label_time": [1, 2]}, r"edge_label_time has the shape \(2,\); one for each of the 23 links"),
        ({"times": TIMES}, "times says nothing without edge_label_time=, the time of each link"),
    ],
)
def test_arguments_without_meaning_are_refused(graph, options, message):
    with pytest.raises(InputError, match=message):
        LinkNeighborLoader(graph, [2], **{"edge_label_index": LINKS, **options})


def test_an_end_that_is_no_vertex_is_named(graph):
    with pytest.raises(VertexNotFound, match="end of a link 40 is not in the graph"):
        LinkNeighborLoader(graph, [2], [[1], [40]])
