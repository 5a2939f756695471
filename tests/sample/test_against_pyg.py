"""Batches of links beside those of PyTorch Geometric, whose compiled samplers are not needed for this.

`edge_sample` of PyTorch Geometric makes the seeds of a batch and the numbers of its links; a function that it is given
draws the neighbours. Here this function draws none, so both loaders have batches of the seeds alone.
"""

from __future__ import annotations

import numpy as np
import pytest

import graphdask as gd
from graphdask.sample import LinkNeighborLoader

REASON = "needs PyTorch Geometric, which the extra 'learn' installs"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torch_geometric", reason=REASON)

from torch_geometric.data import Data  # noqa: E402
from torch_geometric.loader import LinkLoader  # noqa: E402
from torch_geometric.sampler import BaseSampler, NegativeSampling, SamplerOutput  # noqa: E402
from torch_geometric.sampler.neighbor_sampler import edge_sample  # noqa: E402

pytestmark = pytest.mark.learn

N = 12
RNG = np.random.default_rng(31)
SRC, DST = RNG.integers(0, N, 60), RNG.integers(0, N, 60)
LABELS = RNG.integers(0, 3, 60)


class SeedsAlone(BaseSampler):
    """A sampler of PyTorch Geometric that draws no neighbours."""

    def __init__(self, disjoint):
        self.disjoint = disjoint

    def sample_from_nodes(self, index, **options):
        raise NotImplementedError

    def sample_from_edges(self, index, neg_sampling=None):
        return edge_sample(index, self._draw, N, self.disjoint, None, neg_sampling)

    def _draw(self, seed, time):
        none = torch.zeros(0, dtype=torch.int64)
        batch = torch.arange(len(seed)) if self.disjoint else None
        return SamplerOutput(seed, none, none, none, batch, [len(seed)], [])


def both(negatives, disjoint=False, labels=None, size=60):
    edges = torch.from_numpy(np.stack([SRC, DST]))
    theirs = LinkLoader(
        Data(edge_index=edges, num_nodes=N), SeedsAlone(disjoint), edges,
        None if labels is None else torch.from_numpy(labels), neg_sampling=negatives, batch_size=size,
    )  # fmt: skip
    ours = LinkNeighborLoader(
        gd.from_edges(SRC, DST, num_vertices=N), [], edges, labels, neg_sampling=negatives, disjoint=disjoint,
        batch_size=size, output="pyg",
    )  # fmt: skip
    return list(ours), list(theirs)


@pytest.mark.parametrize("disjoint", [False, True])
@pytest.mark.parametrize("labels", [None, LABELS, LABELS + 1])
@pytest.mark.parametrize(
    "negatives",
    [None, NegativeSampling("binary", 1), NegativeSampling("binary", 2), NegativeSampling("triplet", 1),
     NegativeSampling("triplet", 3)],
)  # fmt: skip
def test_fields_have_the_names_types_and_shapes_of_its_own(negatives, labels, disjoint):
    if labels is not None and negatives is not None and negatives.is_triplet():
        pytest.skip("both refuse labels of triplets")
    ours, theirs = both(negatives, disjoint, labels, size=25)
    assert len(ours) == len(theirs) == 3
    for mine, other in zip(ours, theirs, strict=True):
        given = {name for name in other.keys() if other[name] is not None}  # noqa: SIM118
        assert set(mine.keys()) - {"num_nodes"} == given - {"num_nodes"}
        names = [name for name in given if torch.is_tensor(other[name]) and name not in ("n_id", "batch")]
        for name in names:
            assert mine[name].dtype == other[name].dtype, name
            assert mine[name].shape == other[name].shape, name
        assert mine.input_id.equal(other.input_id)
        if disjoint:
            assert mine.batch.equal(other.batch)
            for name in names:
                assert mine[name].equal(other[name]), name
        if negatives is None:
            for name in (*names, "n_id"):
                assert mine[name].equal(other[name]), name
        elif negatives.is_binary():
            links = len(mine.input_id)
            ends = [batch.n_id[batch.edge_label_index[:, :links]] for batch in (mine, other)]
            assert ends[0].equal(ends[1])
            assert mine.edge_label.equal(other.edge_label)
        else:
            assert mine.n_id[mine.src_index].equal(other.n_id[other.src_index])
            assert mine.n_id[mine.dst_pos_index].equal(other.n_id[other.dst_pos_index])


@pytest.mark.parametrize("mode", ["binary", "triplet"])
def test_negatives_have_the_law_of_its_own(mode):
    from scipy.stats import chi2_contingency

    torch.manual_seed(4)
    weight = torch.arange(1.0, N + 1)
    negatives = NegativeSampling(mode, 100, weight if mode == "binary" else None, weight.flip(0))
    counts = []
    for (batch,) in both(negatives):
        if mode == "binary":
            source, end = batch.n_id[batch.edge_label_index[:, 60:]]
            counts.append(np.concatenate([np.bincount(each, minlength=N) for each in (source.numpy(), end.numpy())]))
        else:
            counts.append(np.bincount(batch.n_id[batch.dst_neg_index].reshape(-1).numpy(), minlength=N))
    assert chi2_contingency(np.stack(counts)).pvalue > 1e-3
