"""Batches of graphs with types beside those of PyTorch Geometric's own loaders, which need pyg-lib or torch-sparse.

Laws are compared on many copies of a small graph, each of which gives one draw. HGTLoader needs torch-sparse. Draws of
neighbours with replacement are compared; without, those of torch-sparse 0.6.18 are not uniform (test_pyg_loaders.py).
"""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.sample import HGTLoader, TypedLinkNeighborLoader, TypedNeighborLoader

REASON = "needs PyTorch Geometric, which the extra 'learn' installs"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torch_geometric", reason=REASON)

from laws import same_law  # noqa: E402
from torch_geometric import loader as theirs  # noqa: E402
from torch_geometric import typing  # noqa: E402
from torch_geometric.data import HeteroData  # noqa: E402

pytestmark = [
    pytest.mark.learn,
    pytest.mark.filterwarnings("ignore:Using '.*' without a 'pyg-lib' installation"),
    pytest.mark.skipif(
        not (typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE),
        reason="the loaders of PyTorch Geometric need pyg-lib or torch-sparse",
    ),
]
needs_torch_sparse = pytest.mark.skipif(
    not typing.WITH_TORCH_SPARSE, reason="HGTLoader of PyTorch Geometric needs torch-sparse"
)

COPIES, N = 1500, 8
LIKES, BACK, KNOWS = ("user", "likes", "item"), ("item", "rev_likes", "user"), ("user", "knows", "user")
RNG = np.random.default_rng(15)
PAIRS = {
    LIKES: np.unique(np.concatenate([RNG.choice(N * N, 20, replace=False), np.arange(5) * N])),
    KNOWS: RNG.choice(N * N, 12, replace=False),
}
"""Of one copy; at least five users like item 0."""


def copies(pairs):
    return tuple((side + N * np.arange(COPIES)[:, None]).reshape(-1) for side in (pairs // N, pairs % N))


TABLES = {kind: copies(pairs) for kind, pairs in PAIRS.items()}
ROOTS = N * np.arange(COPIES)


@pytest.fixture(scope="module")
def both():
    """The copies as a graph of ours and as PyTorch Geometric's data."""
    data = HeteroData()
    for name in ("user", "item"):
        data[name].num_nodes = N * COPIES
    for kind, (src, dst) in TABLES.items():
        data[kind].edge_index = torch.from_numpy(np.stack([src, dst]))
    data[BACK].edge_index = data[LIKES].edge_index.flip(0)
    back = {BACK: TABLES[LIKES][::-1]}
    torch.manual_seed(12)
    return gd.from_frames(TABLES | back, vertices={"user": N * COPIES, "item": N * COPIES}), data


def ids(batch):
    """By type, numbers in the copy of the vertices of a batch; those of types without any are empty."""
    return {name: np.asarray(batch[name].n_id) % N if "n_id" in batch[name] else [] for name in ("user", "item")}


def sampled(batch):
    return tuple(tuple(sorted(map(int, numbers))) for numbers in ids(batch).values())


def sizes(batch):
    edges = tuple(batch[kind].edge_index.shape[1] for kind in (LIKES, BACK, KNOWS))
    return (*map(len, ids(batch).values()), *edges)


FANOUTS = [[2, 2], {LIKES: [3, 1], BACK: [1, 2], KNOWS: [0, 2]}]


@pytest.mark.parametrize("fanouts", FANOUTS)
def test_neighbourhoods_have_as_many_vertices_and_edges_of_each_type(both, fanouts):
    G, data = both
    mine = TypedNeighborLoader(G, fanouts, ("item", ROOTS), replace=True, output="pyg", seed=8)
    other = theirs.NeighborLoader(data, fanouts, ("item", torch.from_numpy(ROOTS)), replace=True)
    same_law(*([sizes(batch) for batch in batches] for batches in (mine, other)))


def test_neighbours_of_a_type_are_taken_together_as_often(both):
    G, data = both
    fanouts, found = {LIKES: [2], BACK: [0], KNOWS: [0]}, []
    for batches in (
        TypedNeighborLoader(G, fanouts, ("item", ROOTS), replace=True, output="pyg", seed=9),
        theirs.NeighborLoader(data, fanouts, ("item", torch.from_numpy(ROOTS)), replace=True),
    ):
        taken = [sorted((batch["user"].n_id[batch[LIKES].edge_index[0]] % N).tolist()) for batch in batches]
        assert {len(pair) for pair in taken} == {2}
        found.append(list(map(tuple, taken)))
    same_law(*found)


def edges_of(batch):
    """By type, the edges of a batch by the ids of their ends, in order."""
    found = {}
    for kind in (LIKES, BACK, KNOWS):
        index = batch[kind].edge_index
        ends = [
            batch[name].n_id[side].tolist() if len(side) else [] for name, side in zip(kind[::2], index, strict=True)
        ]
        found[kind] = sorted(zip(*ends, strict=True))
    return found


def test_all_neighbours_are_the_same_with_the_same_rows(both):
    G, data = both
    links = torch.from_numpy(np.stack([column[:60] for column in TABLES[LIKES]]))
    for mine, other in (
        (
            TypedNeighborLoader(G, [-1, -1], ("item", ROOTS[:60]), batch_size=20, output="pyg"),
            theirs.NeighborLoader(data, [-1, -1], ("item", torch.from_numpy(ROOTS[:60])), batch_size=20),
        ),
        (
            TypedLinkNeighborLoader(G, [-1], (LIKES, links.numpy()), batch_size=20, output="pyg"),
            theirs.LinkNeighborLoader(data, [-1], (LIKES, links), batch_size=20),
        ),
    ):
        for a, b in zip(mine, other, strict=True):
            assert sampled(a) == sampled(b)
            assert edges_of(a) == edges_of(b)
            for kind in (LIKES, BACK, KNOWS):
                assert sorted(a[kind].e_id.tolist()) == sorted(b[kind].e_id.tolist())


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_neighbourhoods_of_links_have_as_many_vertices(both, mode):
    G, data = both
    links = torch.from_numpy(np.stack([ROOTS, ROOTS + 3]))
    found = []
    for batches in (
        TypedLinkNeighborLoader(G, [2], (LIKES, links.numpy()), neg_sampling=mode, replace=True, output="pyg", seed=6),
        theirs.LinkNeighborLoader(data, [2], (LIKES, links), neg_sampling=mode, replace=True),
    ):
        found.append([sizes(batch) for batch in batches])
    same_law(*found)


SIZES = [{"user": [2, 1], "item": [1, 1]}, {"user": [1, 2, 1], "item": [0, 2, 1]}, {"user": [3], "item": [1]}]


@needs_torch_sparse
@pytest.mark.parametrize("of_types", SIZES)
def test_budgets_sample_the_same_vertices_as_often(both, of_types):
    G, data = both
    mine = HGTLoader(G, of_types, ("item", ROOTS), output="pyg", seed=4)
    other = theirs.HGTLoader(data, of_types, ("item", torch.from_numpy(ROOTS)))
    same_law(*([sampled(batch) for batch in batches] for batches in (mine, other)))


@needs_torch_sparse
def test_budget_batches_have_all_edges_between_their_vertices(both):
    G, data = both
    mine = HGTLoader(G, SIZES[0], ("item", ROOTS[:90]), batch_size=3, output="pyg")
    other = theirs.HGTLoader(data, SIZES[0], ("item", torch.from_numpy(ROOTS[:90])), batch_size=3)
    tables = TABLES | {BACK: TABLES[LIKES][::-1]}
    for batches in (mine, other):
        for batch in batches:
            for kind, found in edges_of(batch).items():
                src, dst = tables[kind]
                here = [batch[name].n_id.tolist() if "n_id" in batch[name] else [] for name in kind[::2]]
                inside = np.isin(src, here[0]) & np.isin(dst, here[1])
                assert found == sorted(zip(src[inside].tolist(), dst[inside].tolist(), strict=True))


@needs_torch_sparse
def test_budgets_that_are_taken_whole_give_the_same_batches(both):
    G, data = both
    of_types = {"user": [99, 99], "item": [99, 99]}
    mine = HGTLoader(G, of_types, ("item", ROOTS[:80]), batch_size=8, output="pyg")
    other = theirs.HGTLoader(data, of_types, ("item", torch.from_numpy(ROOTS[:80])), batch_size=8)
    for a, b in zip(mine, other, strict=True):
        assert sampled(a) == sampled(b)
        assert edges_of(a) == edges_of(b)
        assert a["item"].batch_size == b["item"].batch_size
        for kind in (LIKES, BACK, KNOWS):
            assert sorted(a[kind].e_id.tolist()) == sorted(b[kind].e_id.tolist())
