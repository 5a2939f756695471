"""Arguments of loaders of graphs with types that are names of columns, and which edges batches have."""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError
from graphdask.sample import HGTLoader, TypedLinkNeighborLoader, TypedNeighborLoader

RNG = np.random.default_rng(51)
USERS, ITEMS = 20, 12
RATES, KNOWS, BACK = ("user", "rates", "item"), ("user", "knows", "user"), ("item", "rev_rates", "user")
ENDS = {
    RATES: (RNG.integers(0, USERS, 90), RNG.integers(0, ITEMS, 90)),
    KNOWS: (RNG.integers(0, USERS, 50), RNG.integers(0, USERS, 50)),
}
ENDS[BACK] = ENDS[RATES][::-1]
STARS, SINCE = RNG.integers(0, 4, 90), RNG.integers(0, 50, 90)
BORN = RNG.integers(0, 50, USERS)
SEEDS = np.array([3, 9, 14, 3, 2])
FANOUTS = {RATES: [3, 2], BACK: [2, 2], KNOWS: [2, 1]}


def made(**more):
    tables = {kind: dict(zip(("src", "dst"), ENDS[kind], strict=True)) for kind in (RATES, KNOWS)}
    tables[RATES] |= {"stars": STARS, "since": SINCE, "note": ["n"] * 90, **more}
    vertices = {"user": {"id": np.arange(USERS), "born": BORN, "word": ["w"] * USERS}, "item": ITEMS}
    return gd.from_frames(tables, vertices=vertices, reverse=True, edge_columns=["stars", "since", "note", *more])


def weighted_rates():
    table = {"src": ENDS[RATES][0], "dst": ENDS[RATES][1], "w": STARS}
    return gd.from_frames({RATES: table}, weight="w", vertices={"user": USERS, "item": ITEMS})


@pytest.fixture(scope="module")
def graph():
    return made()


def reported(batches):
    names = ("n_id", "edge_index", "e_id", "batch")
    return [
        {name: None if (of := getattr(b, name)) is None else {k: v.tolist() for k, v in of.items()} for name in names}
        for b in batches
    ]


def test_a_weight_attribute_is_what_edges_of_types_that_have_it_are_drawn_by(graph):
    options = {"batch_size": 6, "seed": 3}
    found = reported(TypedNeighborLoader(graph, FANOUTS, "item", weight_attr="stars", **options))
    plain = reported(TypedNeighborLoader(graph, FANOUTS, "item", **options))
    assert found != plain
    # one hop along the edges of one type is neighbour sampling of that type alone, by its weights or uniformly
    alone = weighted_rates()
    only = {kind: [2] if kind == RATES else [0] for kind in FANOUTS}
    one = TypedNeighborLoader(graph, only, "item", weight_attr="stars", **options)
    same = TypedNeighborLoader(alone, [2], "item", bias="weight", **options)
    assert [b.e_id[RATES].tolist() for b in one] == [b.e_id[RATES].tolist() for b in same]
    only = {kind: [2] if kind == KNOWS else [0] for kind in FANOUTS}
    one, same = (TypedNeighborLoader(graph, only, "user", weight_attr=by, **options) for by in ("stars", None))
    assert reported(one) == reported(same)
    divided = graph.partition(3, by="random", device="cpu")
    again = TypedNeighborLoader(divided, FANOUTS, "item", weight_attr="stars", placement="partitioned", **options)
    assert reported(again) == found


def test_an_edge_of_weight_0_is_never_drawn_and_others_all(graph):
    every = {RATES: [200], BACK: [200], KNOWS: [200]}
    for loader in (
        TypedNeighborLoader(graph, every, "item", batch_size=ITEMS, weight_attr="stars"),
        TypedLinkNeighborLoader(graph, every, RATES, batch_size=90, weight_attr="stars"),
    ):
        (batch,) = loader
        drawn = np.unique(batch.e_id[RATES])
        assert drawn.tolist() == np.flatnonzero(STARS).tolist()
    weighted = weighted_rates()
    (batch,) = TypedNeighborLoader(weighted, [200], "item", batch_size=ITEMS, weight_attr="weight")
    assert sorted(batch.e_id[RATES].tolist()) == np.flatnonzero(STARS).tolist()


@pytest.mark.parametrize("strategy", ["uniform", "last"])
def test_a_time_attribute_of_edges_is_that_column_of_the_types_that_have_it(graph, strategy):
    options = {"batch_size": 3, "temporal_strategy": strategy, "seed": 2}
    limits, times = RNG.integers(0, 50, 5), {RATES: SINCE, BACK: SINCE}
    pairs = [
        TypedNeighborLoader(graph, FANOUTS, ("user", SEEDS), input_time=limits, **given, **options)
        for given in ({"times": times}, {"time_attr": "since"})
    ]
    assert reported(pairs[0]) == reported(pairs[1])
    links, at = [side[:20] for side in ENDS[RATES]], SINCE[:20]
    pairs = [
        TypedLinkNeighborLoader(graph, FANOUTS, (RATES, links), None, at, neg_sampling="binary", **given, **options)
        for given in ({"times": times}, {"time_attr": "since"})
    ]
    assert reported(pairs[0]) == reported(pairs[1])


def seen(seed, limit, direction):
    """By brute force: rows along which a user reaches vertices in two hops; users must not be later than a time."""
    near, far = (1, 0) if direction == "in" else (0, 1)
    known, frontier, rows = {("user", seed)}, {("user", seed)}, {kind: set() for kind in ENDS}
    for _ in range(2):
        found = set()
        for kind, ends in ENDS.items():
            names = kind[::2]
            for row, pair in enumerate(zip(*(side.tolist() for side in ends), strict=True)):
                late = names[far] == "user" and BORN[pair[far]] > limit
                if (names[near], pair[near]) in frontier and not late:
                    rows[kind].add(row)
                    found.add((names[far], pair[far]))
        frontier, known = found - known, known | found
    return {kind: sorted(of) for kind, of in rows.items()}


@pytest.mark.parametrize("direction", ["in", "out"])
@pytest.mark.parametrize("given", [None, 25, "each"])
def test_a_time_attribute_of_vertices_is_the_time_of_the_neighbour(graph, direction, given):
    limits = RNG.integers(0, 50, 5) if given == "each" else given
    options = {"batch_size": 3, "time_attr": "born", "input_time": limits, "direction": direction}
    expected = BORN[SEEDS] if given is None else np.broadcast_to(limits, 5)
    for batch in TypedNeighborLoader(graph, [-1, -1], ("user", SEEDS), **options):
        assert batch.seed_time.tolist() == expected[batch.input_id].tolist()
        near = 1 if direction == "in" else 0
        for number, place in enumerate(batch.input_id.tolist()):
            rows = seen(int(SEEDS[place]), expected[place], direction)
            for kind in ENDS:
                mine = batch.batch[kind[2 * near]][batch.edge_index[kind][near]] == number
                assert sorted(batch.e_id[kind][mine].tolist()) == rows[kind]


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("direction", ["in", "out"])
def test_induced_batches_have_all_edges_between_their_vertices(graph, disjoint, direction):
    options = {"batch_size": 3, "disjoint": disjoint, "direction": direction, "seed": 5}
    fanouts, input_nodes = [2, 1], ("user", np.unique(SEEDS))
    plain = list(TypedNeighborLoader(graph, fanouts, input_nodes, **options))
    induced = list(TypedNeighborLoader(graph, fanouts, input_nodes, subgraph_type="induced", **options))
    without = TypedNeighborLoader(graph, fanouts, input_nodes, subgraph_type="induced", edge_rows=False, **options)
    divided = graph.partition(3, by="random", device="cpu")
    again = TypedNeighborLoader(
        divided, fanouts, input_nodes, subgraph_type="induced", placement="partitioned", **options
    )
    assert reported(again) == reported(induced)
    for a, b, c in zip(plain, induced, without, strict=True):
        assert b.num_sampled_edges is None
        assert c.e_id == {}
        for name, ids in a.n_id.items():
            assert ids.tolist() == b.n_id[name].tolist()
        for kind, (src, dst) in ENDS.items():
            expected = []
            owners = [np.zeros(len(b.n_id[name]), int) if not disjoint else b.batch[name] for name in kind[::2]]
            for owner in range(3 if disjoint else 1):
                numbers = [
                    {int(ids[at]): int(at) for at in np.flatnonzero(of == owner)}
                    for ids, of in zip((b.n_id[kind[0]], b.n_id[kind[2]]), owners, strict=True)
                ]
                expected += [
                    (numbers[0][s], numbers[1][d], row)
                    for row, (s, d) in enumerate(zip(src.tolist(), dst.tolist(), strict=True))
                    if s in numbers[0] and d in numbers[1]
                ]
            found = zip(*b.edge_index[kind].tolist(), b.e_id[kind].tolist(), strict=True)
            assert sorted(found) == sorted(expected)
            assert c.edge_index[kind].tolist() == b.edge_index[kind].tolist()


@pytest.mark.parametrize("disjoint", [False, True])
def test_bidirectional_batches_have_the_reverses_of_what_was_drawn(graph, disjoint):
    options = {"batch_size": 3, "disjoint": disjoint, "seed": 6}
    plain = TypedNeighborLoader(graph, FANOUTS, "item", **options)
    both = TypedNeighborLoader(graph, FANOUTS, "item", subgraph_type="bidirectional", **options)
    for a, b in zip(plain, both, strict=True):
        assert b.num_sampled_edges is None
        for kind, there in {RATES: BACK, BACK: RATES, KNOWS: KNOWS}.items():
            drawn = {}
            for of, step in ((kind, 1), (there, -1)):
                for s, d, row in zip(*a.edge_index[of][::step].tolist(), a.e_id[of].tolist(), strict=True):
                    drawn.setdefault((d, s), row)
            assert list(zip(*b.edge_index[kind][::-1].tolist(), strict=True)) == sorted(drawn)
            assert b.e_id[kind].tolist() == [drawn[pair] for pair in sorted(drawn)]
            if kind != there:
                for side, ends, name in zip(b.edge_index[kind], ENDS[kind], kind[::2], strict=True):
                    assert (b.n_id[name][side] == ends[b.e_id[kind]]).all()


def test_edges_within_a_type_without_reverses_are_reversed_within_it():
    G = gd.from_frames({KNOWS: ([1, 2, 3], [0, 1, 1])}, vertices={"user": 4})
    (batch,) = TypedNeighborLoader(G, [-1, -1], ("user", [0]), subgraph_type="bidirectional")
    pairs = [tuple(pair) for pair in batch.n_id["user"][batch.edge_index[KNOWS]].T.tolist()]
    assert sorted(pairs) == [(0, 1), (1, 0), (1, 2), (1, 3), (2, 1), (3, 1)]
    rows = dict(zip(pairs, batch.e_id[KNOWS].tolist(), strict=True))
    assert rows[1, 0] == rows[0, 1] == 0
    assert rows[2, 1] == rows[1, 2] == 1


@pytest.mark.learn
@pytest.mark.parametrize("kind", ["bidirectional", "induced"])
def test_a_heterodata_of_other_edges_is_valid(graph, kind):
    pytest.importorskip("torch_geometric")
    (plain,) = TypedNeighborLoader(graph, FANOUTS, "item", batch_size=ITEMS, subgraph_type=kind)
    (data,) = TypedNeighborLoader(graph, FANOUTS, "item", batch_size=ITEMS, subgraph_type=kind, output="pyg")
    assert data.validate()
    for of, index in plain.edge_index.items():
        assert data[of].edge_index.tolist() == index.tolist()
        assert "num_sampled_edges" not in data[of]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight_attr": "none"}, "weight_attr='none': no type of edges has such a column; columns are stars, since"),
        ({"weight_attr": "note"}, "weight_attr='note': the column is of the type string"),
        ({"weight_attr": "weight"}, "weight_attr='weight': no type of edges has such a column"),
        ({"weight_attr": "stars", "bias": "degree"}, "bias='degree' and weight_attr='stars' exclude each other"),
        ({"weight_attr": "stars", "input_time": 3, "time_attr": "since"}, "weight_attr='stars' is not for draws in"),
        ({"time_attr": "since"}, "time_attr says nothing without input_time="),
        ({"time_attr": "since", "times": "since", "input_time": 3}, "times and time_attr exclude each other"),
        ({"time_attr": "when", "input_time": 3}, "time_attr='when': no type of edges or of vertices has such a column"),
        ({"time_attr": "word"}, "time_attr='word': the column is of the type string"),
        ({"time_attr": "born"}, "is a column of the vertices of type 'user', and input vertices are of type 'item'"),
        ({"subgraph_type": "some"}, "subgraph_type='some' is not one of directional, bidirectional, induced"),
        ({"subgraph_type": "induced", "times": "since", "input_time": 3}, "subgraph_type='induced' has edges of all"),
    ],
)
def test_values_without_meaning_are_refused(graph, options, message):
    if "times" in options:
        options = options | {"times": {"rates": "since"}}
    with pytest.raises(InputError, match=message):
        TypedNeighborLoader(graph, [2], "item", **options)


def test_what_a_graph_has_not_is_refused():
    one_way = gd.from_frames({RATES: ENDS[RATES]}, vertices={"user": USERS, "item": ITEMS})
    with pytest.raises(InputError, match=r"needs a type of the reverses of .*rates.*; make the graph by from_frames"):
        TypedNeighborLoader(one_way, [2], "item", subgraph_type="bidirectional")
    other = gd.from_frames({RATES: ENDS[RATES], BACK: ([0], [1])}, vertices={"user": USERS, "item": ITEMS})
    with pytest.raises(InputError, match=r"are not those of .* reversed, in the same order"):
        TypedNeighborLoader(other, [2], "item", subgraph_type="bidirectional")
    with pytest.raises(InputError, match=r"time_attr='born' is a column of the edges of type .* and of the vertices"):
        TypedNeighborLoader(made(born=SINCE), [2], "user", time_attr="born")
    with pytest.raises(InputError, match="negatives would have ends of any time"):
        TypedLinkNeighborLoader(made(), [2], RATES, None, 3, time_attr="born", neg_sampling="binary")
    with pytest.raises(InputError, match="time_attr says nothing without edge_label_time="):
        TypedLinkNeighborLoader(made(), [2], RATES, time_attr="born")


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("num_neighbors", "did you mean num_samples="),
        ("weight_attr", "TypedNeighborLoader draws by weights"),
        ("time_attr", "TypedNeighborLoader draws in time"),
        ("disjoint", "give batch_size=1"),
        ("subgraph_type", "batches have all edges between their vertices"),
        ("is_sorted", "edges may stand in any order; leave it out"),
        ("filter_per_worker", "leave it out"),
    ],
)
def test_what_budgets_have_no_meaning_for_is_answered(graph, given, meant):
    with pytest.raises(InputError, match=f"no argument {given}=; .*{meant}"):
        HGTLoader(graph, [2], "item", **{given: 1})
