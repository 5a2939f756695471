"""Minibatches of a graph with types whose seeds have neighbourhoods of their own, and see edges until their time."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError

RATES, KNOWS, BACK = ("user", "rates", "item"), ("user", "knows", "user"), ("item", "rev_rates", "user")
ALL = {RATES: [-1, -1], BACK: [-1, -1], KNOWS: [-1, -1]}
SEEDS = [3, 9, 14, 3 + 16, 2]


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(8)
    rates = {"src": rng.integers(0, 20, 90), "dst": rng.integers(0, 12, 90), "t": rng.integers(0, 100, 90)}
    return {
        RATES: rates,
        KNOWS: {"src": rng.integers(0, 20, 40), "dst": rng.integers(0, 20, 40), "t": rng.random(40) * 100},
    }


@pytest.fixture(scope="module")
def graph(tables):
    tables = {kind: {name: table[name] for name in ("src", "dst")} for kind, table in tables.items()}
    return gd.from_frames(tables, vertices={"user": 20, "item": 12}, reverse=True)


@pytest.fixture(scope="module")
def times(tables):
    return {RATES: tables[RATES]["t"], "rev_rates": tables[RATES]["t"], "knows": tables[KNOWS]["t"]}


def seen(tables, seed, limit, timeless=()):
    """The rows of each type within two hops of a user, against the edges, that are not later than a time."""
    ends = {
        RATES: (tables[RATES]["src"], tables[RATES]["dst"], tables[RATES]["t"]),
        BACK: (tables[RATES]["dst"], tables[RATES]["src"], tables[RATES]["t"]),
        KNOWS: (tables[KNOWS]["src"], tables[KNOWS]["dst"], tables[KNOWS]["t"]),
    }
    known, frontier, rows = {("user", seed)}, {("user", seed)}, []
    for hop in range(2):
        found = set()
        for kind, (src, dst, t) in ends.items():
            for row in range(len(src)):
                if (kind[2], int(dst[row])) in frontier and (kind in timeless or t[row] <= limit):
                    rows.append((kind, hop, row))
                    found.add((kind[0], int(src[row])))
        frontier = found - known
        known |= found
    return known, rows


def of_seed(batch, place):
    """The vertices and the edges (type, hop, row) of one seed of a batch."""
    nodes = {
        (name, int(id)) for name, ids in batch.n_id.items() for id in ids[batch.batch[name] == place]
    }  # fmt: skip
    rows = []
    for kind, index in batch.edge_index.items():
        hops = np.repeat(np.arange(len(batch.num_sampled_edges[kind])), batch.num_sampled_edges[kind])
        here = batch.batch[kind[2]][index[1]] == place
        assert (batch.batch[kind[0]][index[0]][here] == place).all()
        rows += [(kind, int(hop), int(row)) for hop, row in zip(hops[here], batch.e_id[kind][here], strict=True)]
    return nodes, rows


def check_ends(batch, tables):
    """Assert that ends of edges are those of their rows, and that vertices stand hop by hop."""
    for kind, index in batch.edge_index.items():
        table = tables[RATES if kind == BACK else kind]
        src, dst = (table["src"], table["dst"]) if kind != BACK else (table["dst"], table["src"])
        assert (batch.n_id[kind[0]][index[0]] == src[batch.e_id[kind]]).all()
        assert (batch.n_id[kind[2]][index[1]] == dst[batch.e_id[kind]]).all()
    for name, sizes in batch.num_sampled_nodes.items():
        assert sum(sizes) == len(batch.n_id[name])
        of_hop = np.split(batch.batch[name], np.cumsum(sizes)[:-1])
        assert all((np.diff(part) >= 0).all() for part in of_hop)


@pytest.mark.parametrize("parts", [1, 3])
def test_a_seed_sees_the_edges_until_its_time(tables, graph, times, parts):
    limits = [50, 90, 5, 20, 70]
    loader = gd.sample.TypedNeighborLoader(
        graph.partition(parts), ALL, ("user", SEEDS), input_time=limits, times=times, batch_size=2, shuffle=True,
        seed=4,
    )  # fmt: skip
    places = []
    for batch in loader:
        check_ends(batch, tables)
        assert batch.n_id["user"][: batch.batch_size].tolist() == np.array(SEEDS)[batch.input_id].tolist()
        assert batch.seed_time.tolist() == np.array(limits)[batch.input_id].tolist()
        for place, number in enumerate(batch.input_id.tolist()):
            known, rows = seen(tables, SEEDS[number], limits[number])
            nodes, drawn = of_seed(batch, place)
            assert nodes == known
            assert sorted(drawn) == sorted(rows)
            places.append(number)
    assert sorted(places) == list(range(5))


def test_types_that_have_no_times_are_seen_at_all_times(tables, graph, times):
    some = {"rates": times[RATES], "rev_rates": times["rev_rates"]}
    (batch,) = gd.sample.TypedNeighborLoader(
        graph, ALL, ("user", SEEDS), input_time=30, times=some, batch_size=5
    )  # fmt: skip
    for place, seed in enumerate(SEEDS):
        known, rows = seen(tables, seed, 30, timeless=(KNOWS,))
        nodes, drawn = of_seed(batch, place)
        assert nodes == known
        assert sorted(drawn) == sorted(rows)


def test_the_latest_edges_of_each_type(tables, graph, times):
    sizes = {RATES: [1], BACK: [2], KNOWS: [1]}
    (batch,) = gd.sample.TypedNeighborLoader(
        graph, sizes, ("user", SEEDS), input_time=60, times=times, temporal_strategy="last", batch_size=5
    )
    for place, seed in enumerate(SEEDS):
        _, rows = seen(tables, seed, 60)
        _, drawn = of_seed(batch, place)
        for kind in (BACK, KNOWS):
            t = tables[KNOWS if kind == KNOWS else RATES]["t"]
            visible = sorted(t[row] for of, hop, row in rows if of == kind and hop == 0)
            assert sorted(t[row] for of, _, row in drawn if of == kind) == visible[-sizes[kind][0] :]


@pytest.mark.slow
def test_draws_in_time_are_uniform_over_what_is_seen():
    hub = {"src": np.arange(10), "dst": np.zeros(10, int), "t": np.arange(10)}
    G = gd.from_frames({("a", "x", "b"): hub}, edge_columns=["t"])
    counts = np.zeros(10, int)
    loader = gd.sample.TypedNeighborLoader(G, [1], ("b", [0]), input_time=5, times="t", seed=2)
    for _ in range(1800):
        (batch,) = loader
        counts[batch.n_id["a"]] += 1
    assert (counts[6:] == 0).all()
    assert (np.abs(counts[:6] - 300) < 4 * np.sqrt(300)).all()


def contents(batch):
    return [
        {key: values.tolist() for key, values in getattr(batch, field).items()}
        for field in ("n_id", "edge_index", "e_id", "batch")
    ]


@pytest.mark.parametrize("in_time", [False, True])
def test_the_same_batches_for_every_number_of_partitions_and_run_length(graph, times, in_time):
    given = {"input_time": [50, 90, 5, 20, 70], "times": times} if in_time else {"disjoint": True}
    options = dict(batch_size=2, shuffle=True, seed=3, **given)

    def made(G, **more):
        sizes = {RATES: [2, 1], BACK: [3, 2], KNOWS: [1, 1]}
        loader = gd.sample.TypedNeighborLoader(G, sizes, ("user", SEEDS), **options, **more)
        return [contents(batch) for _ in range(2) for batch in loader]

    expected = made(graph)
    for parts in (2, 3):
        placement = "replicated" if in_time else "partitioned"
        assert made(graph.partition(parts), placement=placement, batches_per_run=1) == expected
    assert made(graph, batches_per_run=2, prefetch=0) == expected


def test_disjoint_neighbourhoods_are_instances_of_neighbour_sampling(graph):
    (batch,) = gd.sample.TypedNeighborLoader(
        graph, [2, 2], ("user", SEEDS), disjoint=True, batch_size=5, seed=6
    )  # fmt: skip
    s = gd.sample.neighbors(graph, ("user", SEEDS), [2, 2], direction="in", seed=6, edge_rows=True)
    for place in range(5):
        nodes, rows = of_seed(batch, place)
        for name, offsets in s.node_offsets.items():
            ids = s.nodes[name][slice(*offsets[place : place + 2])].tolist()
            assert batch.n_id[name][batch.batch[name] == place].tolist() == ids
        expected = []
        for kind, offsets in s.edge_offsets.items():
            here = slice(*offsets[place : place + 2])
            expected += [
                (kind, h, r) for h, r in zip(s.hop[kind][here].tolist(), s.edge[kind][here].tolist(), strict=True)
            ]
        assert sorted(rows) == sorted(expected)
        assert len(nodes) == sum(len(s.nodes[n][slice(*o[place : place + 2])]) for n, o in s.node_offsets.items())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"times": "t"}, "times says nothing without input_time=, the time of each input vertex"),
        ({"temporal_strategy": "last"}, "temporal_strategy='last' says nothing without input_time="),
        ({"input_time": 3}, "carry no weights to be read as times; give times="),
        ({"input_time": 3, "times": "t"}, r"times='t' is no column of the edges of \('user', 'rates', 'item'\)"),
        ({"input_time": 3, "times": {"buys": "t"}}, "times: 'buys' is no type of edges"),
        ({"input_time": 3, "times": {}}, "has no type of edges"),
        ({"input_time": 3, "times": [1]}, "times is a list; it is the name of a column, or a mapping"),
        ({"input_time": 3, "times": {"knows": [1]}}, r"times of \('user', 'knows', 'user'\) has the shape \(1,\)"),
        ({"input_time": [1, 2], "times": {"knows": range(40)}}, "one for each of the 20 input vertices"),
        ({"input_time": 0.5, "times": {"knows": range(40)}}, "input_time has the dtype float64"),
        ({"input_time": 3, "times": {"knows": range(40)}, "bias": "weight"}, "bias='weight', but the edges"),
        (
            {"input_time": 3, "times": {"knows": range(40)}, "method": "reservoir"},
            "method='reservoir' is not for draws",
        ),
        ({"disjoint": "yes"}, "disjoint='yes' is neither True nor False"),
    ],
)
def test_times_that_are_refused(graph, options, message):
    with pytest.raises(InputError, match=message):
        gd.sample.TypedNeighborLoader(graph, [1], "user", **options)
