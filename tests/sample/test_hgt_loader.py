"""Budget sampling of graphs with types: its law against enumeration, its edges, and the same batches everywhere."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from importlib.util import find_spec
from itertools import permutations, product

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError

RATES, KNOWS, BACK = ("user", "rates", "item"), ("user", "knows", "user"), ("item", "rev_rates", "user")


@pytest.fixture(scope="module")
def small():
    """A graph whose samples can be enumerated."""
    rates = [0, 1, 2, 3, 3, 1, 4, 4], [0, 0, 0, 0, 1, 1, 1, 2]
    return {RATES: rates, BACK: rates[::-1], KNOWS: ([1, 2, 4, 4, 0], [0, 0, 3, 3, 1])}


COPIES, SIZE = 3000, {"user": 5, "item": 3}


@pytest.fixture(scope="module")
def copies(small):
    """As many graphs of the small one's shape as are drawn from, in one."""
    kinds = {}
    for kind in (RATES, KNOWS):
        src, dst = (np.tile(ends, COPIES) for ends in small[kind])
        per = len(src) // COPIES
        kinds[kind] = tuple(
            ends + np.repeat(np.arange(COPIES) * SIZE[name], per)
            for ends, name in zip((src, dst), kind[::2], strict=True)
        )
    return gd.from_frames(kinds, vertices={name: COPIES * size for name, size in SIZE.items()}, reverse=True)


def orders_of(budget, count):
    """The probability of each set that is drawn in turn in proportion to the squares of what is left."""
    squares = {vertex: value * value for vertex, value in budget.items()}
    if count >= len(squares):
        return {frozenset(squares): Fraction(1)}
    law = Counter()
    for order in permutations(squares, count):
        left, chance = sum(squares.values()), Fraction(1)
        for vertex in order:
            chance *= squares[vertex] / left
            left -= squares[vertex]
        law[frozenset(order)] += chance
    return law


def law_of(edges, seed, sizes):
    """The probability of each set of sampled vertices: algorithms 1 and 2, all types of a hop before budgets grow."""

    def added(budget, vertices, sampled):
        budget = {name: dict(values) for name, values in budget.items()}
        for vertex in sorted(vertices):
            for kind, (src, dst) in edges.items():
                if kind[2] == vertex[0]:
                    sources = [s for s, d in zip(src, dst, strict=True) if d == vertex[1]]
                    for s in sources:
                        if (kind[0], s) not in sampled:
                            values = budget[kind[0]]
                            values[kind[0], s] = values.get((kind[0], s), 0) + Fraction(1, len(sources))
        return budget

    hops = len(sizes["user"])
    states = [(frozenset([seed]), added({"user": {}, "item": {}}, [seed], {seed}), Fraction(1))]
    for hop in range(hops):
        after = []
        for sampled, budget, chance in states:
            laws = [orders_of(budget[name], sizes[name][hop]).items() for name in ("user", "item")]
            for (one, p), (other, q) in product(*laws):
                fresh = one | other
                left = {name: {v: b for v, b in values.items() if v not in fresh} for name, values in budget.items()}
                after.append((sampled | fresh, added(left, fresh, sampled | fresh), chance * p * q))
        states = after
    law = Counter()
    for sampled, _, chance in states:
        law[sampled] += chance
    assert sum(law.values()) == 1
    return law


@pytest.mark.parametrize(
    "sizes", [{"user": [2, 1], "item": [1, 1]}, {"user": [1, 0], "item": [0, 1]}, {"user": [1], "item": [1]}]
)
def test_samples_have_the_law_of_the_paper(small, copies, sizes):
    law = law_of(small, ("item", 0), sizes)
    assert len(law) > 2
    draws, seeds = COPIES, ("item", np.arange(COPIES) * SIZE["item"])
    loader = gd.sample.HGTLoader(copies, sizes, seeds, batch_size=1, batches_per_run=draws, seed=7, edge_rows=False)
    counts = Counter(
        frozenset((name, id % SIZE[name]) for name, ids in batch.n_id.items() for id in ids.tolist())
        for batch in loader
    )
    assert set(counts) <= set(law)
    for sampled, chance in law.items():
        expected = float(chance) * draws
        assert abs(counts[sampled] - expected) <= 5 * np.sqrt(expected) + 1


@pytest.fixture(scope="module")
def tables():
    rng = np.random.default_rng(5)
    return {
        RATES: (rng.integers(100, 140, 200), rng.integers(0, 30, 200)),
        KNOWS: (rng.integers(100, 140, 80), rng.integers(100, 140, 80)),
    }


@pytest.fixture(scope="module")
def larger(tables):
    return gd.from_frames(tables, vertices={"user": np.arange(100, 140), "item": 30}, reverse=True)


SIZES = {"user": [4, 3], "item": [5, 2]}


def test_a_batch_has_all_edges_between_its_vertices(tables, larger):
    ends = tables | {BACK: tables[RATES][::-1]}
    for batch in gd.sample.HGTLoader(larger, SIZES, "user", batch_size=6, shuffle=True, seed=2):
        for kind, (src, dst) in ends.items():
            inside = np.isin(src, batch.n_id[kind[0]]) & np.isin(dst, batch.n_id[kind[2]])
            rows = batch.e_id[kind]
            assert sorted(rows.tolist()) == np.flatnonzero(inside).tolist()
            assert (batch.n_id[kind[0]][batch.edge_index[kind][0]] == src[rows]).all()
            assert (batch.n_id[kind[2]][batch.edge_index[kind][1]] == dst[rows]).all()
            hops = np.repeat(np.arange(3), batch.num_sampled_nodes[kind[2]])[batch.edge_index[kind][1]]
            assert np.bincount(hops, minlength=3).tolist() == batch.num_sampled_edges[kind]
        for name, sizes in SIZES.items():
            ids = batch.n_id[name].tolist()
            assert len(set(ids)) == len(ids)
            assert batch.num_sampled_nodes[name] == [batch.batch_size * (name == "user"), *sizes]


def contents(batch):
    return [
        {key: values.tolist() for key, values in getattr(batch, field).items()}
        for field in ("n_id", "edge_index", "e_id")
    ]


def test_the_same_batches_for_every_number_of_partitions_and_run_length(larger):
    def made(G, **options):
        loader = gd.sample.HGTLoader(G, SIZES, "item", batch_size=7, shuffle=True, seed=4, **options)
        return [contents(batch) for _ in range(2) for batch in loader]

    expected = made(larger)
    for parts in (2, 3):
        assert made(larger.partition(parts), placement="partitioned", batches_per_run=2) == expected
    assert made(larger, batches_per_run=1, prefetch=0, placement="replicated") == expected
    first, second = expected[: len(expected) // 2], expected[len(expected) // 2 :]
    assert first != second


def test_names_columns_and_rows_of_attributes():
    users = {"id": ["p", "q", "r"], "age": [1, 2, 3]}
    rates = {"src": ["q", "r"], "dst": [7, 7], "stars": [5, 4]}
    G = gd.from_frames({RATES: rates}, vertices={"user": users}, edge_columns=["stars"])
    (batch,) = gd.sample.HGTLoader(
        G, [3], ("item", [7]), x={"user": np.arange(3)}, vertex_columns={"user": ["age"]},
        edge_columns={"rates": ["stars"]},
    )  # fmt: skip
    assert sorted(batch.n_id["user"].tolist()) == ["q", "r"]
    assert (batch.x["user"] + 1).tolist() == batch.vertex_columns["user"]["age"].tolist()
    assert sorted(batch.edge_columns[RATES]["stars"].tolist()) == [4, 5]
    (none,) = gd.sample.HGTLoader(G, [3], ("user", ["p"]), edge_rows=False)
    assert (none.num_nodes, none.e_id) == (1, {})
    assert repr(none).startswith("TypedBatch(1 seeds of type 'user'")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"user": [1]}, "num_samples has no numbers for vertices of type 'item'; zeros draw none"),
        ({"user": [1], "item": [1, 2]}, "num_samples has 1 hops for one type and 2 for another"),
        ({"shop": [1]}, "num_samples: 'shop' is no type of vertices"),
        ([-1], r"num_samples\[0\]=-1"),
        (3, "num_samples=3 is not a sequence of whole numbers"),
    ],
)
def test_numbers_that_are_refused(larger, sizes, message):
    with pytest.raises(InputError, match=message):
        gd.sample.HGTLoader(larger, sizes, "user")


@pytest.mark.skipif(find_spec("torch_geometric") is None, reason="PyTorch Geometric is not installed")
def test_a_heterodata_has_the_same_batch(larger):
    (data, *_), (batch, *_) = (gd.sample.HGTLoader(larger, SIZES, "user", output=kind) for kind in ("pyg", "arrays"))
    assert data["item"].n_id.tolist() == batch.n_id["item"].tolist()
    assert data[RATES].edge_index.tolist() == batch.edge_index[RATES].tolist()
