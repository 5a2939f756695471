"""Batches as PyTorch Geometric's `Data` and `HeteroData`: attributes of edges by `e_id`, and layers on them.

With all neighbours, layers of PyTorch Geometric give the seeds of a batch what they give them on the whole graph, also
where `trim_to_layer` leaves out what a layer does not read. So vertices, edges, their order and the sizes of hops are
what its layers expect.
"""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.sample import LinkNeighborLoader, NeighborLoader, TypedNeighborLoader

REASON = "needs PyTorch Geometric, which the extra 'learn' installs"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torch_geometric", reason=REASON)

from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.nn import GraphConv, HeteroConv, SAGEConv  # noqa: E402
from torch_geometric.utils import k_hop_subgraph, trim_to_layer  # noqa: E402

pytestmark = pytest.mark.learn

N, M = 60, 420
RNG = np.random.default_rng(41)
SRC, DST, TIMES = RNG.integers(0, N, M), RNG.integers(0, N, M), RNG.integers(0, 90, M)
"""With self-loops and parallel edges."""
PAIRS = np.unique(SRC * N + DST)
KINDS = ("directed", "undirected", "multigraph", "undirected multigraph", "dynamic")
WANTS, OF, KNOWS = ("user", "wants", "item"), ("item", "of", "shop"), ("user", "knows", "user")
COUNTS = {"user": 30, "item": 25, "shop": 6}
TABLES = {
    kind: (RNG.integers(0, COUNTS[kind[0]], edges), RNG.integers(0, COUNTS[kind[2]], edges))
    for kind, edges in ((WANTS, 120), (OF, 40), (KNOWS, 70))
}


def made(kind, parts):
    """A graph, whether it is directed, and the ends of the edges that the caller gave, row by row."""
    directed = "undirected" not in kind
    if kind == "dynamic":
        D = gd.DynamicGraph(gd.from_edges(PAIRS[:200] // N, PAIRS[:200] % N, num_vertices=N))
        D.update(insert=(PAIRS[200:] // N, PAIRS[200:] % N), delete=(PAIRS[:20] // N, PAIRS[:20] % N))
        return D.partition(parts, by="random"), True, PAIRS // N, PAIRS % N
    src, dst = (SRC, DST) if "multigraph" in kind else (PAIRS // N, PAIRS % N)
    G = gd.from_edges(src, dst, num_vertices=N, directed=directed)
    return G.partition(parts, by="random"), directed, src, dst


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("placement", ["partitioned", "streamed"])
def test_attributes_of_all_edges_are_found_by_their_rows(kind, parts, placement):
    G, directed, src, dst = made(kind, parts)
    if kind == "dynamic" and placement == "streamed":
        placement = "auto"
    edge_attr = torch.from_numpy(np.stack([src, dst, 1000 + np.arange(len(src))], axis=1))
    links = {"edge_label_index": np.stack([src[:50], dst[:50]]), "neg_sampling": "binary"}
    for num_neighbors in ([4, 3], [-1]):
        how = {"batch_size": 13, "output": "pyg", "placement": placement}
        loaders = NeighborLoader(G, num_neighbors, **how), LinkNeighborLoader(G, num_neighbors, **links, **how)
        for batch in (batch for loader in loaders for batch in loader):
            assert isinstance(batch, Data)
            assert batch.validate()
            batch.edge_attr = edge_attr[batch.e_id]
            given, ends = batch.edge_attr[:, :2], batch.n_id[batch.edge_index].T
            same = (given == ends).all(dim=1)
            assert bool(same.all() if directed else (same | (given == ends.flip(1)).all(dim=1)).all())
            drawn = torch.stack([batch.e_id, batch.edge_index[1]])
            assert drawn.unique(dim=1).shape == drawn.shape  # no edge is drawn twice for a vertex
            if num_neighbors == [-1] and kind != "dynamic":  # all rows that lead to the seeds
                at = np.isin(dst, batch.n_id[: batch.num_sampled_nodes[0]].numpy())
                if not directed:
                    at |= np.isin(src, batch.n_id[: batch.num_sampled_nodes[0]].numpy())
                assert batch.e_id.unique().tolist() == np.flatnonzero(at).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_induced_batches_are_subgraphs_of_k_hops(kind):
    G, directed, src, dst = made(kind, 1)
    alive = np.setdiff1d(np.arange(len(src)), np.arange(20)) if kind == "dynamic" else np.arange(len(src))
    edges = torch.from_numpy(np.stack([src[alive], dst[alive]]))
    if not directed:
        edges = torch.cat([edges, edges[:, edges[0] != edges[1]].flip(0)], dim=1)
    for batch in NeighborLoader(G, [-1, -1], batch_size=4, subgraph_type="induced", output="pyg"):
        seeds = batch.n_id[: batch.batch_size]
        nodes, theirs, _, _ = k_hop_subgraph(seeds, 2, edges, num_nodes=N)
        assert batch.n_id.sort().values.tolist() == nodes.tolist()
        assert sorted(batch.n_id[batch.edge_index].T.tolist()) == sorted(theirs.T.tolist())


class Layers(torch.nn.Module):
    """Layers of PyTorch Geometric, one for each hop."""

    def __init__(self, layer):
        super().__init__()
        torch.manual_seed(3)
        self.layers = torch.nn.ModuleList([layer(), layer()])

    def forward(self, x, edge_index, edge_weight=None, trimmed=None):
        more = {} if edge_weight is None else {"edge_weight": edge_weight}
        for depth, layer in enumerate(self.layers):
            if trimmed is not None:
                x, edge_index, weight = trim_to_layer(depth, *trimmed, x, edge_index, more.get("edge_weight"))
                more = {} if weight is None else {"edge_weight": weight}
            x = layer(x, edge_index, **more).tanh()
        return x


@pytest.mark.parametrize("layer", [lambda: SAGEConv(5, 5), lambda: GraphConv(5, 5)], ids=["SAGE", "weighted"])
@pytest.mark.parametrize("kind", ["directed", "undirected multigraph"])
@torch.no_grad()
def test_seeds_of_batches_get_what_they_get_on_the_whole_graph(layer, kind):
    G, directed, src, dst = made(kind, 2)
    x, strength = torch.randn(N, 5), torch.rand(len(src))
    edges, rows = torch.from_numpy(np.stack([src, dst])), torch.arange(len(src))
    if not directed:
        other = edges[0] != edges[1]
        edges, rows = torch.cat([edges, edges[:, other].flip(0)], dim=1), torch.cat([rows, rows[other]])
    model = Layers(layer)
    weighted = "edge_weight" in layer().forward.__code__.co_varnames
    expected = model(x, edges, strength[rows] if weighted else None)
    options = {"batch_size": 7, "output": "pyg", "x": x}
    links = torch.from_numpy(np.stack([src[:30], dst[:30]]))
    loaders = [
        NeighborLoader(G, [-1, -1], **options), NeighborLoader(G, [-1, -1], disjoint=True, **options),
        LinkNeighborLoader(G, [-1, -1], links, neg_sampling="triplet", **options),
    ]  # fmt: skip
    for batch in (batch for loader in loaders for batch in loader):
        assert batch.x.equal(x[batch.n_id])
        seeds = batch.num_sampled_nodes[0]
        weight = strength[batch.e_id] if weighted else None
        whole = model(batch.x, batch.edge_index, weight)[:seeds]
        trimmed = model(batch.x, batch.edge_index, weight, (batch.num_sampled_nodes, batch.num_sampled_edges))[:seeds]
        for found in (whole, trimmed):
            torch.testing.assert_close(found, expected[batch.n_id[:seeds]])


@torch.no_grad()
def test_seeds_of_typed_batches_get_what_they_get_on_the_whole_graph():
    G = gd.from_frames(TABLES, vertices=COUNTS, reverse=True)
    whole = HeteroData()
    for name, count in COUNTS.items():
        whole[name].x = torch.randn(count, 4)
    for kind, (src, dst) in TABLES.items():
        whole[kind].edge_index = torch.from_numpy(np.stack([src, dst]))
        if kind[0] != kind[2]:
            whole[kind[2], f"rev_{kind[1]}", kind[0]].edge_index = torch.from_numpy(np.stack([dst, src]))
    (batch, *_) = TypedNeighborLoader(G, [1], "user")
    for kind in set(batch.edge_index) - set(whole.edge_types):  # what edges of a type of vertices to itself get too
        src, dst = TABLES[KNOWS]
        whole[kind].edge_index = torch.from_numpy(np.stack([dst, src]))
    torch.manual_seed(7)
    layers = [HeteroConv({kind: SAGEConv((4, 4), 4) for kind in whole.edge_types}) for _ in range(2)]

    def computed(data, sizes=False):
        x, edges = data.x_dict, data.edge_index_dict
        for depth, layer in enumerate(layers):
            if sizes:
                x, edges, _ = trim_to_layer(
                    depth, data.num_sampled_nodes_dict, data.num_sampled_edges_dict, x, edges
                )  # fmt: skip
            x = {name: values.tanh() for name, values in layer(x, edges).items()}
        return x

    expected = computed(whole)
    for seeds in COUNTS:
        for parts in (1, 2):
            H = G.partition(parts, by="random")
            for batch in TypedNeighborLoader(H, [-1, -1], seeds, batch_size=4, output="pyg", x=whole.x_dict):
                assert isinstance(batch, HeteroData)
                assert batch.validate()
                for kind in batch.edge_types:
                    ends = [batch[kind[side]].n_id[batch[kind].edge_index[place]] for place, side in ((0, 0), (1, 2))]
                    assert torch.stack(ends).equal(whole[kind].edge_index[:, batch[kind].e_id])
                count = batch[seeds].batch_size
                for found in (computed(batch), computed(batch, sizes=True)):
                    torch.testing.assert_close(found[seeds][:count], expected[seeds][batch[seeds].n_id[:count]])


@torch.no_grad()
def test_seeds_in_time_get_what_they_get_on_the_graph_of_their_time():
    G = gd.from_edges(SRC, DST, TIMES, num_vertices=N)
    x, edges, times = torch.randn(N, 5), torch.from_numpy(np.stack([SRC, DST])), torch.from_numpy(TIMES)
    model = Layers(lambda: SAGEConv(5, 5))
    seeds, limits = RNG.integers(0, N, 20), RNG.integers(0, 90, 20)
    for batch in NeighborLoader(G, [-1, -1], seeds, batch_size=6, input_time=limits, output="pyg", x=x):
        assert batch.validate()
        assert bool((times[batch.e_id] <= batch.seed_time[batch.batch[batch.edge_index[1]]]).all())
        found = model(batch.x, batch.edge_index)
        for place in range(batch.batch_size):
            then = model(x, edges[:, times <= batch.seed_time[place]])
            torch.testing.assert_close(found[place], then[batch.n_id[place]])


@pytest.mark.parametrize("mode", ["none", "binary", "triplet"])
@pytest.mark.parametrize("how", ["joined", "disjoint", "timed"])
def test_data_of_links_have_the_fields_of_batches_of_arrays(mode, how):
    G = gd.from_edges(SRC, DST, TIMES, num_vertices=N)
    options = {"batch_size": 9, "edge_label_index": np.stack([SRC, DST]), "disjoint": how == "disjoint"}
    if mode != "none":
        options["neg_sampling"] = {"mode": mode, "amount": 2}
    if how == "timed":
        options["edge_label_time"] = TIMES
    found, plain = LinkNeighborLoader(G, [2], output="pyg", **options), LinkNeighborLoader(G, [2], **options)
    for data, batch in zip(found, plain, strict=True):
        names = [name for name, value in vars(batch).items() if value is not None and name != "direction"]
        assert set(data.keys()) == {*names, "num_nodes"}
        for name in names:
            value, expected = data[name], getattr(batch, name)
            assert torch.is_tensor(value) == isinstance(expected, np.ndarray)
            assert np.array_equal(value, expected)
