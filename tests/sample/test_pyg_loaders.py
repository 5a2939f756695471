"""Draws of neighbours beside those of PyTorch Geometric's own loaders, which need pyg-lib or torch-sparse.

The law of the draws is compared on many copies of a small graph, each of which gives one draw: which neighbours of a
vertex are taken together, and how many vertices two hops reach. Draws with replacement are compared. Without, those of
torch-sparse 0.6.18 are not uniform: its form of Floyd's algorithm draws below j where the algorithm draws up to j.
"""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.sample import LinkNeighborLoader, NeighborLoader, TypedNeighborLoader

REASON = "needs PyTorch Geometric, which the extra 'learn' installs"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torch_geometric", reason=REASON)

from laws import same_law  # noqa: E402
from torch_geometric import loader as theirs  # noqa: E402
from torch_geometric import typing  # noqa: E402
from torch_geometric.data import Data, HeteroData  # noqa: E402

pytestmark = [
    pytest.mark.learn,
    pytest.mark.filterwarnings("ignore:Using '.*' without a 'pyg-lib' installation"),
    pytest.mark.skipif(
        not (typing.WITH_PYG_LIB or typing.WITH_TORCH_SPARSE),
        reason="the loaders of PyTorch Geometric need pyg-lib or torch-sparse",
    ),
]

COPIES, N = 1500, 12
RNG = np.random.default_rng(5)
PAIRS = np.unique(np.concatenate([RNG.choice(N * N, 45, replace=False), np.arange(1, 7) * N]))
SRC, DST = PAIRS // N, PAIRS % N
"""Of one copy; at least six edges lead to vertex 0."""
ALL_SRC, ALL_DST = ((side + N * np.arange(COPIES)[:, None]).reshape(-1) for side in (SRC, DST))
ROOTS = N * np.arange(COPIES)


@pytest.fixture(scope="module")
def both():
    """The copies as a graph of ours and as PyTorch Geometric's data."""
    edges = torch.from_numpy(np.stack([ALL_SRC, ALL_DST]))
    torch.manual_seed(11)
    return gd.from_edges(ALL_SRC, ALL_DST, num_vertices=N * COPIES), Data(edge_index=edges, num_nodes=N * COPIES)


def test_neighbours_of_a_vertex_are_taken_together_as_often(both):
    G, data = both
    found = []
    for batches in (
        NeighborLoader(G, [2], ROOTS, replace=True, seed=3),
        theirs.NeighborLoader(data, [2], torch.from_numpy(ROOTS), replace=True),
    ):
        taken = [tuple(sorted((batch.n_id[batch.edge_index[0]] % N).tolist())) for batch in batches]
        assert {len(pair) for pair in taken} == {2}
        found.append(taken)
    same_law(*found)


@pytest.mark.parametrize("replace", [False, True])
def test_as_many_neighbours_of_each_vertex_are_taken(both, replace):
    G, data = both
    seeds = np.arange(0, N * COPIES, 7)
    for mine, other in zip(
        NeighborLoader(G, [3], seeds, batch_size=100, replace=replace),
        theirs.NeighborLoader(data, [3], torch.from_numpy(seeds), batch_size=100, replace=replace),
        strict=True,
    ):
        taken = [np.bincount(batch.edge_index[1], minlength=batch.batch_size).tolist() for batch in (mine, other)]
        assert taken[0] == taken[1]
        assert (mine.batch_size, mine.input_id.tolist()) == (other.batch_size, other.input_id.tolist())


@pytest.mark.parametrize("fanouts", [[2, 2], [3, 1], [1, 2, 2]])
def test_hops_reach_as_many_vertices_by_as_many_edges(both, fanouts):
    G, data = both
    found = [
        [(len(batch.n_id), batch.edge_index.shape[1]) for batch in batches]
        for batches in (
            NeighborLoader(G, fanouts, ROOTS, replace=True, seed=4),
            theirs.NeighborLoader(data, fanouts, torch.from_numpy(ROOTS), replace=True),
        )
    ]
    same_law(*found)


def test_neighbourhoods_of_links_reach_as_many_vertices(both):
    G, data = both
    links = torch.from_numpy(np.stack([ROOTS, ROOTS + 5]))
    found = []
    for batches in (
        LinkNeighborLoader(G, [2, 2], links, replace=True, seed=6),
        theirs.LinkNeighborLoader(data, [2, 2], links, replace=True),
    ):
        found.append([(len(batch.n_id), batch.edge_index.shape[1]) for batch in batches])
    same_law(*found)


def test_all_neighbours_are_the_same_and_have_the_same_rows(both):
    G, data = both
    links = torch.from_numpy(np.stack([ROOTS[:40], ROOTS[:40] + 5]))
    for mine, other in (
        (NeighborLoader(G, [-1, -1], ROOTS[:90], batch_size=20),
         theirs.NeighborLoader(data, [-1, -1], torch.from_numpy(ROOTS[:90]), batch_size=20)),
        (LinkNeighborLoader(G, [-1, -1], links, batch_size=7),
         theirs.LinkNeighborLoader(data, [-1, -1], links, batch_size=7)),
    ):  # fmt: skip
        for a, b in zip(mine, other, strict=True):
            assert sorted(a.n_id.tolist()) == sorted(b.n_id.tolist())
            assert sorted(a.e_id.tolist()) == sorted(b.e_id.tolist())
            ends = [sorted(map(tuple, np.asarray(batch.n_id[batch.edge_index]).T.tolist())) for batch in (a, b)]
            assert ends[0] == ends[1]


def test_typed_neighbourhoods_reach_as_many_vertices_of_each_type():
    likes, back = ("user", "likes", "item"), ("item", "rev_likes", "user")
    data = HeteroData()
    data["user"].num_nodes = data["item"].num_nodes = N * COPIES
    data[likes].edge_index = torch.from_numpy(np.stack([ALL_SRC, ALL_DST]))
    data[back].edge_index = data[likes].edge_index.flip(0)
    G = gd.from_frames({likes: (ALL_SRC, ALL_DST)}, vertices={"user": N * COPIES, "item": N * COPIES}, reverse=True)
    roots = torch.from_numpy(ROOTS)
    for fanouts, replace in (([2, 2], True), ([-1, -1], False)):
        mine = TypedNeighborLoader(G, fanouts, ("item", ROOTS), replace=replace, output="pyg", seed=8)
        other = theirs.NeighborLoader(data, fanouts, ("item", roots), replace=replace)
        found = [
            [tuple(len(batch[name].n_id) for name in ("user", "item")) for batch in batches]
            for batches in (mine, other)
        ]
        if not replace:
            assert found[0] == found[1]
        else:
            same_law(*found)
