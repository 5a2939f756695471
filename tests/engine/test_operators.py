"""Operators of the engine: queues as long as announced, named votes, and rows whose long ones are deferred."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse.csgraph
from scipy.sparse import csr_array

import graphdask as gd
from graphdask import execute
from graphdask.algorithms.bfs import BfsResult
from graphdask.engine import Csr, Messages, Primitive, Queues, Votes, advance
from graphdask.kernels.components.components_pack import COUNTS, Trees

LONG = 9001
"""Edges of a row that kernels defer."""


class Reserving(Primitive):
    """Allocates queues, and checks on every rank how long they are."""

    name, columns, result_type = "a search", {}, BfsResult

    def __init__(self, starts):
        self.starts = starts

    def memory(self, part, allocation):
        return part.vertex_map.dtype.itemsize * Queues.length(part, allocation, self.starts)

    def init(self, part, env):
        queues, none = Queues.allocated(part, env, self.name, self.starts), part.ids[:0]
        own, ghosts = [len(queue) for queue in queues.queues], len(queues.ghosts)
        with_edges = int((np.diff(part.out.indptr) > 0).sum())
        assert sum(own) + ghosts + len(queues.hubs) == Queues.length(part, env.allocation, self.starts)
        assert own == [part.num_owned] * 2 or env.allocation.partial
        if self.starts is not None:
            assert min(own) >= min(with_edges + self.starts, part.num_owned)
            assert ghosts == part.num_slots - part.num_owned
        assert len(queues.queues[0].fit(part.num_owned)) == part.num_owned  # it grows where it is shorter
        return queues, Messages(none, none, {}, False)

    def superstep(self, part, state, inbox, env):
        raise AssertionError("the run ends before a superstep")

    def result(self, part, state, env):
        return {"depth": part.ids, "parent": part.ids}


@pytest.mark.parametrize("allocation", ["maximal", "just-enough"])
@pytest.mark.parametrize("starts", [None, 2])
@pytest.mark.parametrize("parts", [1, 3])
def test_queues_are_as_long_as_is_announced(parts, starts, allocation, rng):
    n = 30_000
    src, dst = rng.integers(0, n // 2, (2, 20_000))
    graph = gd.from_edges(src, dst, num_vertices=n, directed=False).partition(parts, device="cpu")
    execute.run(graph, Reserving(starts), allocation=allocation)


def test_votes_of_all_ranks_become_numbers_with_names():
    votes = Votes("Said", found=sum, nearest=min, farthest=max)
    said = votes.of(np.array([[2, 0.5, 7.0, 1.0], [3, 0.25, 9.0, 1.0], [4, np.inf, -1.0, 1.0]]))
    assert len(votes) == 3
    assert (said.found, said.nearest, said.farthest) == (9, 0.25, 9)


def long_row(dtype):
    """Rows of a vertex with very many edges, of some with few, and of one without; ids of the edges' ends."""
    n = LONG + 20
    src = np.concatenate([np.full(LONG, 3), [4, n - 2, n - 2]])
    dst = np.concatenate([np.arange(10, LONG + 10), [5, n - 1, 4]])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=n))])
    return n, csr_array((np.ones(len(src)), dst, indptr), (n, n)), Csr(indptr, dst.astype(dtype))


def on_device(backend, csr):
    return Csr(backend.from_host(csr.indptr), backend.from_host(csr.indices))


def test_rows_of_a_list_and_those_that_are_deferred_are_visited(backend, dtype):
    n, matrix, csr = long_row(dtype)
    kernels, csr = backend.kernels("components", index_t=dtype), on_device(backend, csr)
    link, hubs = backend.from_host(np.arange(n).astype(dtype)), backend.xp.empty(LONG // 4096, dtype)
    pack = Trees(link=link, hubs=hubs, counters=backend.from_host(np.array([5, 0])))  # left by another launch
    assert len(COUNTS) == 2
    rows = backend.from_host(np.array([n - 2, 3, 4, 0]).astype(dtype))
    advance(kernels.components_hook, kernels.components_hook_hubs, csr, rows, pack)
    kernels.components_compress(n, link)
    _, expected = scipy.sparse.csgraph.connected_components(matrix, directed=False)
    _, first = np.unique(expected, return_index=True)
    np.testing.assert_array_equal(backend.to_host(link), first[expected])
    assert pack.read_counters(backend).edges == matrix.nnz


def test_all_rows_are_visited_with_what_else_the_kernels_take(backend, dtype):
    n, _, csr = long_row(dtype)
    kernels, csr = backend.kernels("components", index_t=dtype), on_device(backend, csr)
    label, bad = np.zeros(n, dtype), LONG // 2
    label[bad + 10] = 1  # the end of an edge in the middle of the long row
    first_bad = backend.from_host(np.full(1, np.iinfo(np.int64).max))
    pack = Trees(hubs=backend.xp.empty(LONG // 4096, dtype), counters=backend.from_host(np.zeros(2, np.int64)))
    check, of_hubs = kernels.components_check, kernels.components_check_hubs
    advance(check, of_hubs, csr, n, pack, backend.from_host(label), first_bad)
    assert int(backend.to_host(first_bad)[0]) == bad
