"""Minibatches of links of one type: their ends, labels, negatives and what is drawn around them."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError, VertexNotFound

RATES, KNOWS, BACK = ("user", "rates", "item"), ("user", "knows", "user"), ("item", "rev_rates", "user")
FANOUTS = {RATES: [2, 1], BACK: [3, 2], KNOWS: [1, 1]}
USERS, ITEMS = 12, 8


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(11)
    rates = np.array([(u, i) for u in range(USERS) for i in range(ITEMS) if rng.random() < 0.6]).T
    return {RATES: (rates[0] + 100, rates[1]), KNOWS: (rng.integers(100, 112, 20), rng.integers(100, 112, 20))}


@pytest.fixture(scope="module")
def graph(tables):
    return gd.from_frames(tables, vertices={"user": np.arange(100, 112), "item": ITEMS}, reverse=True)


def loader_of(G, links="rates", **options):
    return gd.sample.TypedLinkNeighborLoader(G, FANOUTS, links, **options)


def ends_of(batch, kind=RATES):
    """The caller's ids of the sources and destinations of links and negatives."""
    return tuple(batch.n_id[kind[end]][index] for end, index in zip((0, 2), batch.edge_label_index, strict=True))


@pytest.mark.parametrize("kind", [RATES, BACK, KNOWS])
def test_a_batch_has_the_ends_of_its_links_and_true_edges(tables, graph, kind):
    tables = tables | {BACK: tables[RATES][::-1]}
    places = []
    for batch in loader_of(graph, kind, batch_size=7, shuffle=True, seed=3):
        src, dst = ends_of(batch, kind)
        assert src.tolist() == tables[kind][0][batch.input_id].tolist()
        assert dst.tolist() == tables[kind][1][batch.input_id].tolist()
        assert batch.edge_label is None
        for name in {kind[0], kind[2]}:
            ends = [end for end, of in ((src, kind[0]), (dst, kind[2])) if of == name]
            seeds = np.unique(np.concatenate(ends))
            assert batch.n_id[name][: len(seeds)].tolist() == seeds.tolist()
            assert batch.num_sampled_nodes[name][0] == len(seeds)
        for of, index in batch.edge_index.items():
            assert (batch.n_id[of[0]][index[0]] == tables[of][0][batch.e_id[of]]).all()
            assert (batch.n_id[of[2]][index[1]] == tables[of][1][batch.e_id[of]]).all()
        places += batch.input_id.tolist()
    assert sorted(places) == list(range(len(tables[kind][0])))


def test_links_are_given_by_the_ids_of_the_caller():
    G = gd.from_frames({("a", "x", "b"): (["p", "q"], [5, 5])})
    for pairs in ((["q", "p", "q"], [5, 5, 5]), [np.array(["q", "p", "q"], object), [5, 5, 5]]):
        (batch,) = gd.sample.TypedLinkNeighborLoader(G, [1], (("a", "x", "b"), pairs), batch_size=3)
        assert batch.n_id["a"][batch.edge_label_index[0]].tolist() == ["q", "p", "q"]
    numbers = gd.from_frames({("a", "x", "b"): ([3, 4], [5, 6])})
    (batch,) = gd.sample.TypedLinkNeighborLoader(numbers, [1], ("x", np.array([[4, 3], [5, 5]])), batch_size=2)
    assert [ids.tolist() for ids in (batch.n_id["a"], batch.n_id["b"])] == [[3, 4], [5]]
    assert repr(batch).startswith("TypedLinkBatch(2 links of type ('a', 'x', 'b'); vertices ")


def drawn_negatives(G, epochs, **options):
    """How often each pair of a user and an item is drawn as a negative."""
    counts = np.zeros((USERS, ITEMS), int)
    loader = loader_of(G, batch_size=50, prefetch=0, **options)
    for _ in range(epochs):
        for batch in loader:
            if batch.edge_label is None:
                src = np.repeat(batch.n_id["user"][batch.src_index], batch.dst_neg_index.shape[1])
                dst = batch.n_id["item"][batch.dst_neg_index].reshape(-1)
            else:
                src, dst = (end[batch.edge_label == 0] for end in ends_of(batch))
            np.add.at(counts, (src - 100, dst), 1)
    return counts


def close(counts, law):
    """Whether counts are within five deviations of a law, and 0 where it is."""
    expected = counts.sum() * law
    assert counts.sum() > 20 * np.count_nonzero(law)
    assert (counts[law == 0] == 0).all()
    assert (np.abs(counts - expected) <= 5 * np.sqrt(expected) + 1).all()


def adjacency(tables):
    there = np.zeros((USERS, ITEMS), bool)
    there[tables[RATES][0] - 100, tables[RATES][1]] = True
    return there


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("weights", [None, "degree", "arrays"])
def test_binary_negatives_have_the_law_of_all_pairs(tables, graph, weights, apart):
    there = adjacency(tables)
    rows, columns = {
        None: (np.ones(USERS), np.ones(ITEMS)),
        "degree": (there.sum(1), there.sum(0)),
        "arrays": (np.arange(USERS), np.arange(ITEMS) % 3 + 0.5),
    }[weights]
    law = np.outer(rows, columns) * (~there if apart else 1)
    given = dict.fromkeys(("src_weight", "dst_weight"), weights) if weights != "arrays" else {
        "src_weight": rows, "dst_weight": columns,
    }  # fmt: skip
    asked = gd.sample.NegativeSampling("binary", 40, only_non_edges=apart, **given)
    close(drawn_negatives(graph, 3, neg_sampling=asked, seed=5), law / law.sum())


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("weights", [None, "degree"])
def test_triplets_have_destinations_for_the_source_of_each_link(tables, graph, weights, apart):
    there = adjacency(tables)
    columns = np.ones(ITEMS) if weights is None else there.sum(0)
    law = columns[None] * (~there if apart else np.ones_like(there))
    law = law / law.sum(1, keepdims=True) * there.sum(1, keepdims=True)
    asked = gd.sample.NegativeSampling("triplet", 40, dst_weight=weights, only_non_edges=apart)
    counts = drawn_negatives(graph, 2, neg_sampling=asked, seed=6)
    assert counts.sum(1).tolist() == (there.sum(1) * 80).tolist()
    close(counts, law / law.sum())


def test_negatives_are_those_of_the_untyped_loader_on_the_graph_of_the_type(tables, graph):
    users, items = (np.arange(USERS + ITEMS) < USERS).astype(int), (np.arange(USERS + ITEMS) >= USERS).astype(int)
    asked = gd.sample.NegativeSampling("binary", 2, users, items, only_non_edges=True)
    pairs = np.stack([graph.number("user", tables[RATES][0]), graph.number("item", tables[RATES][1])])
    plain = gd.sample.LinkNeighborLoader(graph.of_type(RATES), [1], pairs, neg_sampling=asked, seed=9, batch_size=10)
    own = gd.sample.NegativeSampling("binary", 2, only_non_edges=True)
    for one, other in zip(loader_of(graph, neg_sampling=own, seed=9, batch_size=10), plain, strict=True):
        src, dst = other.n_id[other.edge_label_index]
        assert ends_of(one)[0].tolist() == graph.named("user", src).tolist()
        assert ends_of(one)[1].tolist() == graph.named("item", dst).tolist()
        assert one.edge_label.tolist() == other.edge_label.tolist()


def contents(batch):
    fields = ("n_id", "edge_index", "e_id", "batch")
    made = [{key: v.tolist() for key, v in getattr(batch, field).items()} for field in fields if getattr(batch, field)]
    ends = ("edge_label_index", "src_index", "dst_pos_index", "dst_neg_index", "edge_label", "edge_label_time")
    return made + [None if getattr(batch, name) is None else getattr(batch, name).tolist() for name in ends]


@pytest.mark.parametrize("mode", ["binary", "triplet"])
@pytest.mark.parametrize("disjoint", [False, True])
def test_the_same_batches_for_every_number_of_partitions_and_run_length(graph, mode, disjoint):
    options = dict(neg_sampling={"mode": mode, "amount": 2}, disjoint=disjoint, batch_size=9, shuffle=True, seed=2)

    def made(G, **more):
        return [contents(batch) for batch in loader_of(G, **options, **more)]

    expected = made(graph)
    for parts in (2, 3):
        assert made(graph.partition(parts), placement="partitioned", batches_per_run=2) == expected
    assert made(graph, batches_per_run=1, prefetch=0) == expected


@pytest.mark.parametrize("kind", [RATES, KNOWS])
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_disjoint_each_end_has_vertices_of_its_own(tables, graph, kind, mode):
    for batch in loader_of(graph, kind, neg_sampling=mode, disjoint=True, batch_size=6, seed=1):
        links = batch.batch_size
        if mode == "binary":
            src, dst = batch.edge_label_index
            link = np.tile(np.arange(links), 2)
            of_ends = [(kind[0], src[:links], tables[kind][0][batch.input_id]),
                       (kind[2], dst[:links], tables[kind][1][batch.input_id])]  # fmt: skip
            sides = [(kind[0], src), (kind[2], dst)]
        else:
            link = np.arange(links)
            of_ends = [(kind[0], batch.src_index, tables[kind][0][batch.input_id]),
                       (kind[2], batch.dst_pos_index, tables[kind][1][batch.input_id])]  # fmt: skip
            sides = [(kind[0], batch.src_index), (kind[2], batch.dst_pos_index), (kind[2], batch.dst_neg_index)]
        for name, numbers, ids in of_ends:
            assert batch.n_id[name][numbers].tolist() == ids.tolist()
        for name in {kind[0], kind[2]}:
            used = np.concatenate([numbers for of, numbers in sides if of == name])
            assert sorted(used.tolist()) == list(range(batch.num_sampled_nodes[name][0]))
        for name, numbers in sides:
            assert (batch.batch[name][numbers] == link).all()
        for of, index in batch.edge_index.items():
            assert (batch.batch[of[0]][index[0]] == batch.batch[of[2]][index[1]]).all()


def test_links_see_the_edges_until_their_time(tables, graph):
    rng = np.random.default_rng(4)
    times = {kind: rng.integers(0, 100, len(table[0])) for kind, table in tables.items()}
    given = {**times, BACK: times[RATES]}
    limits = times[RATES]
    everything = {kind: [-1] for kind in FANOUTS}
    loader = gd.sample.TypedLinkNeighborLoader(
        graph, everything, "rates", edge_label_time=limits, times=given, neg_sampling="binary", batch_size=8, seed=2
    )
    table = tables | {BACK: tables[RATES][::-1]}
    for batch in loader:
        of_links = limits[batch.input_id]
        assert batch.edge_label_time.tolist() == np.tile(of_links, 2).tolist()
        for name, numbers in zip(("user", "item"), batch.edge_label_index, strict=True):
            for place, number in enumerate(numbers.tolist()):
                limit = of_links[place % batch.batch_size]
                for kind in (kind for kind in everything if kind[2] == name):
                    here = batch.edge_index[kind][1] == number
                    seen = (table[kind][1] == batch.n_id[name][number]) & (given[kind] <= limit)
                    assert sorted(batch.e_id[kind][here].tolist()) == np.flatnonzero(seen).tolist()


@pytest.mark.parametrize(("mode", "amount"), [("binary", 2), ("binary", 0.5), ("triplet", 2)])
@pytest.mark.parametrize("parts", [1, 3])
def test_negatives_have_the_times_of_their_links_and_see_no_later_edge(tables, graph, mode, amount, parts):
    rng = np.random.default_rng(6)
    times = {kind: rng.integers(0, 100, len(table[0])) for kind, table in tables.items()}
    given, limits = {**times, BACK: times[RATES]}, times[RATES]
    everything = {kind: [-1, -1] for kind in FANOUTS}
    loader = gd.sample.TypedLinkNeighborLoader(
        graph.partition(parts), everything, "rates", edge_label_time=limits, times=given, batch_size=7, shuffle=True,
        neg_sampling={"mode": mode, "amount": amount}, seed=2,
    )  # fmt: skip
    table, negatives = tables | {BACK: tables[RATES][::-1]}, 0
    for batch in loader:
        links = batch.batch_size
        of_links = limits[batch.input_id]
        if mode == "triplet":
            positive = batch.src_index, batch.dst_pos_index
            negative = [("item", each) for each in batch.dst_neg_index.T]
            assert batch.seed_time.tolist() == of_links.tolist()
        else:
            ends = dict(zip(("user", "item"), batch.edge_label_index, strict=True))
            positive = tuple(end[:links] for end in ends.values())
            negative = [(name, end[links:]) for name, end in ends.items()]
            assert batch.edge_label_time.tolist() == np.resize(of_links, links + len(negative[0][1])).tolist()
        for name, numbers in [*zip(("user", "item"), positive, strict=True), *negative]:
            link = np.arange(len(numbers)) % links
            assert batch.batch[name][numbers].tolist() == link.tolist()
            for number, limit in zip(numbers.tolist(), of_links[link], strict=True):
                for kind in (kind for kind in everything if kind[2] == name):
                    here = batch.edge_index[kind][1] == number
                    seen = (table[kind][1] == batch.n_id[name][number]) & (given[kind] <= limit)
                    assert sorted(batch.e_id[kind][here].tolist()) == np.flatnonzero(seen).tolist()
        negatives += sum(len(numbers) for _, numbers in negative)
        for kind, index in batch.edge_index.items():
            assert (given[kind][batch.e_id[kind]] <= of_links[batch.batch[kind[2]][index[1]]]).all()
    assert negatives


def test_labels_are_those_of_links_and_0_of_negatives(tables, graph):
    labels = np.arange(len(tables[RATES][0])) % 3
    for batch in loader_of(graph, edge_label=labels, neg_sampling_ratio=0.5, batch_size=11):
        links = batch.batch_size
        assert batch.edge_label[:links].tolist() == (labels[batch.input_id] + 1).tolist()
        assert batch.edge_label[links:].tolist() == [0] * -(-links // 2)


@pytest.mark.parametrize(
    ("links", "options", "message"),
    [
        ("buys", {}, "edge_label_index: 'buys' is no type of edges"),
        (np.zeros((2, 3), int), {}, "edge_label_index: .* is no type of edges"),
        (("rates", [1, 2, 3]), {}, r"is not a pair of arrays of ids"),
        (("rates", ([100, 101], [1])), {}, r"sources of the shape \(2,\) and destinations of \(1,\)"),
        ("rates", {"neg_sampling": {"mode": "binary", "src_weight": [1, 2]}}, "each of 12 vertices of type 'user'"),
        ("rates", {"neg_sampling": {"mode": "binary", "dst_weight": [-1] + [1] * 7}}, "dst_weight of vertex 0 is -1"),
        ("rates", {"neg_sampling": {"mode": "triplet", "src_weight": [1]}}, "src_weight= says nothing with 'triplet'"),
        ("rates", {"edge_label_time": 3}, "carry no weights to be read as times"),
        ("rates", {"times": {"knows": [1]}}, "times says nothing without edge_label_time=, the time of each link"),
    ],
)
def test_what_is_refused(graph, links, options, message):
    with pytest.raises(InputError, match=message):
        loader_of(graph, links, **options)


def test_ends_that_are_refused(graph):
    with pytest.raises(VertexNotFound, match="vertex of type 'user' 5"):
        loader_of(graph, ("rates", ([5], [1])))
    full = gd.from_frames({("a", "x", "b"): (["p", "p"], [1, 2])})
    for mode, message in (("binary", "there is no negative"), ("triplet", "vertex p, the source of link 0")):
        asked = gd.sample.NegativeSampling(mode, only_non_edges=True)
        with pytest.raises(InputError, match=message):
            gd.sample.TypedLinkNeighborLoader(full, [1], "x", neg_sampling=asked)


@pytest.mark.skipif(find_spec("torch_geometric") is None, reason="PyTorch Geometric is not installed")
@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_a_heterodata_has_what_that_of_pyg_has(graph, mode):
    options = dict(neg_sampling=mode, batch_size=5)
    (data, *_), (batch, *_) = (loader_of(graph, output=output, **options) for output in ("pyg", "arrays"))
    assert data[RATES].input_id.tolist() == batch.input_id.tolist()
    if mode == "binary":
        assert data[RATES].edge_label_index.tolist() == batch.edge_label_index.tolist()
        assert data[RATES].edge_label.tolist() == batch.edge_label.tolist()
    else:
        assert data["user"].src_index.tolist() == batch.src_index.tolist()
        assert data["item"].dst_neg_index.tolist() == batch.dst_neg_index.tolist()
