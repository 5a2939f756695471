"""The checks of R-MAT and uniform random graphs accept what is right and name what is wrong."""

import numpy as np
import pytest

import graphdask as gd
from graphdask.device.backend import get_backend
from graphdask.errors import InputError, VerificationError
from graphdask.generate.erdos_renyi import ErdosRenyi
from graphdask.generate.rmat import RMat
from graphdask.verify import erdos_renyi, rmat
from graphdask.verify.tuning import VERIFY

RMATS = [
    RMat(12, 2, 1),
    RMat(6, 50, 2, permute=False),
    RMat(5, 40, 3, drops_self_loops=True),
    RMat(33, 1, 4),
]
RANDOM = [
    ErdosRenyi(1000, 4000, 5),
    ErdosRenyi(1001, 4000, 6),
    ErdosRenyi(1000, 4000, 7, directed=True),
    ErdosRenyi(8, 28, 8),
    ErdosRenyi(2**41, 2**50, 9),
]


def module_of(graph):
    return rmat if isinstance(graph, RMat) else erdos_renyi


def block(backend, graph):
    """A block of at most 4000 edges, and its numbers."""
    size = max(1, graph.num_edges // 4000)
    rank = size // 2
    return *graph.block(backend, rank, size), graph.num_edges * rank // size, graph.num_edges * (rank + 1) // size


@pytest.mark.parametrize("piece", [997, 1 << 20])
@pytest.mark.parametrize("graph", RMATS + RANDOM, ids=str)
def test_generated_blocks_pass(backend, tuned, graph, piece):
    tuned(VERIFY, numbered_edges=piece)
    src, dst, start, stop = block(backend, graph)
    module_of(graph).check(backend, graph, start, stop, src, dst)


@pytest.mark.parametrize("graph", RMATS + RANDOM, ids=str)
@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("place", [0, 17, -1])
def test_a_changed_edge_is_named(backend, graph, column, place):
    src, dst, start, stop = block(backend, graph)
    edge = (src, dst)[column]
    edge[place] = (int(edge[place]) + 1) % graph.num_vertices
    stored = f"{int(src[place])}, {int(dst[place])}"
    named = range(start, stop)[place] if not getattr(graph, "drops_self_loops", False) else r"\d+"
    with pytest.raises(VerificationError, match=rf"edge {named}: (the )?stored \({stored}\)"):
        module_of(graph).check(backend, graph, start, stop, src, dst)


@pytest.mark.parametrize("graph", RMATS + RANDOM, ids=str)
def test_missing_and_additional_edges_are_counted(backend, graph):
    xp = backend.xp
    src, dst, start, stop = block(backend, graph)
    with pytest.raises(VerificationError, match=rf"edges {start} \.\. {stop} are .*{len(src)}, but {len(src) - 1}"):
        module_of(graph).check(backend, graph, start, stop, src[:-1], dst[:-1])
    longer = (xp.concatenate([column, column[:1]]) for column in (src, dst))
    with pytest.raises(VerificationError, match=rf"are {len(src)}, but {len(src) + 1} are stored"):
        module_of(graph).check(backend, graph, start, stop, *longer)
    with pytest.raises(InputError, match=rf"edges -1 \.\. {stop}"):
        module_of(graph).check(backend, graph, -1, stop, src, dst)


@pytest.mark.parametrize("graph", RANDOM[:4], ids=str)
def test_a_repeated_edge_and_a_self_loop_are_named(graph):
    cpu = get_backend("cpu")
    src, dst, start, stop = block(cpu, graph)
    repeated = src.copy(), dst.copy()
    for column in repeated:
        column[9] = column[3]
    with pytest.raises(VerificationError, match=r"edge 9: the stored \(\d+, \d+\) has another number"):
        erdos_renyi.check(cpu, graph, start, stop, *repeated)
    dst[5] = src[5]
    with pytest.raises(VerificationError, match=r"edge 5: the stored \((\d+), \1\) is no possible edge"):
        erdos_renyi.check(cpu, graph, start, stop, src, dst)


def test_another_seed_does_not_pass():
    cpu = get_backend("cpu")
    for graph, other in ((RMat(10, 2, 1), RMat(10, 2, 2)), (ErdosRenyi(99, 400, 1), ErdosRenyi(99, 400, 2))):
        with pytest.raises(VerificationError, match=r"seed 1"):
            module_of(graph).check(cpu, graph, 0, graph.num_edges, *other.block(cpu, 0, 1))


@pytest.mark.parametrize("make", [lambda: gd.generate.rmat(7, 4), lambda: gd.generate.erdos_renyi(90, 300)])
def test_a_graph_whose_generator_is_wrong_does_not_verify(monkeypatch, make):
    G = make().partition(2, device="cpu")
    G.verify()
    generator = type(G.source.generator)
    right = generator.block

    def wrong(self, backend, rank, size):
        src, dst = right(self, backend, rank, size)
        return src, np.roll(dst, 1)

    # A planted error of a generator.
    monkeypatch.setattr(generator, "block", wrong)
    with pytest.raises(VerificationError, match=r"edge (0|150|256): "):
        G.verify()
