"""Functions of sampler outputs, which loaders of PyTorch Geometric call before they take features.

A loader of PyTorch Geometric, given the samples of ours, is the reference: it calls the same function and makes `Data`.
"""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.errors import InputError
from graphdask.sample import HGTLoader, LinkNeighborLoader, NeighborLoader, TypedLinkNeighborLoader, TypedNeighborLoader

REASON = "needs PyTorch Geometric, which the extra 'learn' installs"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torch_geometric", reason=REASON)

from torch_geometric import loader as theirs  # noqa: E402
from torch_geometric.data import Data, HeteroData  # noqa: E402
from torch_geometric.sampler import BaseSampler, HeteroSamplerOutput, SamplerOutput  # noqa: E402

pytestmark = pytest.mark.learn

RNG = np.random.default_rng(61)
N, FIRST = 30, 100
SRC, DST, T = RNG.integers(0, N, 200), RNG.integers(0, N, 200), RNG.integers(0, 50, 200)
X = torch.from_numpy(RNG.random((N, 3)))
RATES, BACK = ("user", "rates", "item"), ("item", "rev_rates", "user")


def graph():
    """Its first vertex has another id than 0."""
    return gd.from_edges(SRC + FIRST, DST + FIRST, vertex_columns={"id": np.arange(FIRST, FIRST + N)})


def graph_with_types():
    vertices = {"user": {"id": np.arange(FIRST, FIRST + N)}, "item": {"id": np.arange(N)}}
    return gd.from_frames({RATES: (SRC + FIRST, DST)}, vertices=vertices, reverse=True)


def fewer(out):
    """Leave out edges of even rows, and vertices at no end of others but seeds."""
    kept = out.edge % 2 == 1
    used = torch.zeros(len(out.node), dtype=torch.bool)
    used[: len(out.metadata[0])] = True
    used[out.row[kept]] = used[out.col[kept]] = True
    number = used.cumsum(0) - 1
    return SamplerOutput(
        out.node[used], number[out.row[kept]], number[out.col[kept]], out.edge[kept],
        None if out.batch is None else out.batch[used], None, None, metadata=out.metadata,
    )  # fmt: skip


class Given(BaseSampler):
    """A sampler of PyTorch Geometric that returns what it was given, one after the other."""

    edge_permutation = None

    def __init__(self, outputs):
        self.outputs = iter(outputs)

    def sample_from_nodes(self, index, **options):
        return next(self.outputs)

    def sample_from_edges(self, index, neg_sampling=None):
        return next(self.outputs)


def same(mine, other):
    given = {name for name in other.keys() if other[name] is not None}  # noqa: SIM118
    assert set(mine.keys()) - {"num_nodes"} == given - {"num_nodes", "edge_attr"}
    for name in given - {"n_id", "edge_attr", "num_nodes"}:
        value, expected = mine[name], other[name]
        assert value.equal(expected) if torch.is_tensor(expected) else value == expected, name
    assert mine.n_id.equal(other.n_id + FIRST)
    assert mine.num_nodes == other.num_nodes


@pytest.mark.parametrize("more", [{}, {"disjoint": True}, {"times": T, "input_time": 30}])
def test_a_batch_of_vertices_is_what_pytorch_geometric_makes_of_the_function(more):
    kept = []

    def keep(out):
        kept.append(out)
        return fewer(out)

    seeds = RNG.permutation(N)[:20]
    options = {"batch_size": 6, "x": X, "output": "pyg", "seed": 1, **more}
    mine = list(NeighborLoader(graph(), [3, 2], seeds + FIRST, transform_sampler_output=keep, **options))
    data = Data(edge_index=torch.from_numpy(np.stack([SRC, DST])), x=X)
    other = theirs.NodeLoader(
        data, Given(kept), torch.from_numpy(seeds), transform_sampler_output=fewer, batch_size=6
    )  # fmt: skip
    for a, b in zip(mine, other, strict=True):
        same(a, b)
        assert (a.edge_index.shape[1], len(a.n_id)) != (0, 0)
    plain = NeighborLoader(graph(), [3, 2], seeds + FIRST, **options)
    for a, b in zip(plain, kept, strict=True):
        assert a.n_id.equal(b.node + FIRST)
        assert a.edge_index.equal(torch.stack([b.row, b.col]))
        assert a.e_id.equal(b.edge)


@pytest.mark.parametrize("mode", [None, "binary", "triplet"])
def test_a_batch_of_links_is_what_pytorch_geometric_makes_of_the_function(mode):
    kept = []

    def flipped(out):
        """The vertices in the opposite order."""
        last = len(out.node) - 1
        ends = [last - of if of is not None and not of.is_floating_point() else of for of in out.metadata[1:4]]
        return SamplerOutput(
            out.node.flip(0), last - out.row, last - out.col, out.edge, out.batch, out.num_sampled_nodes,
            out.num_sampled_edges, metadata=(out.metadata[0], *ends, *out.metadata[4:]),
        )  # fmt: skip

    def keep(out):
        kept.append(out)
        return flipped(out)

    links = np.stack([SRC[:20], DST[:20]])
    options = {"batch_size": 6, "x": X, "output": "pyg", "seed": 1, "neg_sampling": mode}
    mine = list(LinkNeighborLoader(graph(), [3, 2], links + FIRST, transform_sampler_output=keep, **options))
    data = Data(edge_index=torch.from_numpy(np.stack([SRC, DST])), x=X)
    other = theirs.LinkLoader(
        data, Given(kept), torch.from_numpy(links), neg_sampling=mode, transform_sampler_output=flipped, batch_size=6
    )  # fmt: skip
    for a, b in zip(mine, other, strict=True):
        same(a, b)
    plain = LinkNeighborLoader(graph(), [3, 2], links + FIRST, **options)
    for a, b in zip(plain, mine, strict=True):
        ends = "edge_label_index" if mode != "triplet" else "dst_neg_index"
        assert a.n_id[a[ends]].equal(b.n_id[b[ends]])


def loaders_with_types(transform=None, **more):
    G, links = graph_with_types(), (SRC[:20] + FIRST, DST[:20])
    options = {"batch_size": 6, "output": "pyg", "transform_sampler_output": transform, **more}
    return [
        TypedNeighborLoader(G, [3, 2], ("user", np.arange(FIRST, FIRST + 15)), **options),
        TypedNeighborLoader(G, [3, 2], ("item", np.arange(15)), disjoint=True, **options),
        TypedLinkNeighborLoader(G, [3], (RATES, links), neg_sampling="binary", **options),
        TypedLinkNeighborLoader(G, [3], (RATES, links), neg_sampling="triplet", **options),
        HGTLoader(G, [4, 2], ("item", np.arange(15)), **options),
    ]


@pytest.mark.parametrize("which", range(5))
def test_batches_with_types_are_what_pytorch_geometric_makes_of_the_function(which):
    kept, x = [], {"user": X, "item": X + 1}

    def without_back(out):
        """Without the edges of one type."""
        none = torch.zeros(0, dtype=torch.int64)
        row, col, edge = ({RATES: of[RATES], BACK: none} for of in (out.row, out.col, out.edge))
        return HeteroSamplerOutput(out.node, row, col, edge, out.batch, metadata=out.metadata)

    def keep(out):
        kept.append(out)
        return without_back(out)

    mine = list(loaders_with_types(keep, x=x)[which])
    data = HeteroData()
    for name in x:
        data[name].x = x[name]
    data[RATES].edge_index = torch.from_numpy(np.stack([SRC, DST]))
    data[BACK].edge_index = data[RATES].edge_index.flip(0)
    options = {"transform_sampler_output": without_back, "batch_size": 6}
    if which in (2, 3):
        links = RATES, torch.from_numpy(np.stack([SRC[:20], DST[:20]]))
        mode = ("binary", "triplet")[which - 2]
        other = theirs.LinkLoader(data, Given(kept), links, neg_sampling=mode, **options)
    else:
        kind = "user" if which == 0 else "item"
        other = theirs.NodeLoader(data, Given(kept), (kind, torch.arange(15)), **options)
    for a, b in zip(mine, other, strict=True):
        for name in ("user", "item"):
            assert a[name].n_id.equal(b[name].n_id + (FIRST if name == "user" else 0))
        for key, value in b.to_dict().items():
            for name, expected in value.items() if isinstance(value, dict) else ():
                if name not in ("n_id", "edge_attr") and expected is not None and torch.is_tensor(expected):
                    assert a[key][name].equal(expected), (key, name)
        assert not a[BACK].edge_index.shape[1]
        assert a[RATES].edge_index.shape[1]


@pytest.mark.parametrize("which", range(5))
def test_a_function_that_changes_nothing_changes_nothing(which):
    for a, b in zip(loaders_with_types()[which], loaders_with_types(lambda out: out)[which], strict=True):
        assert str(a.to_dict()) == str(b.to_dict())


def test_what_is_no_function_of_sampler_outputs_is_refused():
    G = graph()
    for options, message in (
        ({"transform_sampler_output": 3, "output": "pyg"}, "transform_sampler_output=3 cannot be called"),
        ({"transform_sampler_output": fewer}, "output='arrays' makes no such; give output='pyg', or transform="),
        ({"transform_sampler_output": fewer, "output": "torch"}, "output='torch' makes no such"),
    ):
        with pytest.raises(InputError, match=message):
            NeighborLoader(G, [2], **options)
    loader = NeighborLoader(G, [2], transform_sampler_output=lambda out: 3, output="pyg", prefetch=0)
    with pytest.raises(InputError, match="transform_sampler_output returned a int; it returns the SamplerOutput"):
        next(iter(loader))
