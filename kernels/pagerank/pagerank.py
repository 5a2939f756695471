"""PageRank by pulling over in-edges: twins of pagerank.cu.

goes     index dtype per row: where its sum stands in `sums`; counts where `ordered`, else they stand in order of rows.
         On a CPU the rows themselves are laid out in that order where they have no weights, by `pagerank_laid_out`,
         which a GPU does without: so rows of about one length follow each other, and sums are written in a row
place    index dtype per slot: where its contribution stands in x; those that are read most stand first
         (pagerank_update has it per own vertex, and these in the order of their contributions)
real_t   of ranks and contributions; sums and products are float64 and never fused
weight_t of the weights; where there are none, the array is empty, or None in `pagerank_sum`
hot      how many of x, from the first, every block keeps in shared memory, which the launch provides: of each of
         `ranges` of x, `width` apart; there are weights only where it is one
goes     None, or uint64, one: 0 where nothing is to be summed; in `pagerank_sum`, where the sum of each row goes

The order of additions in a row is that of lanes.py. On a GPU `pagerank_sum` takes rows of up to 8 edges with a thread,
`pagerank_sum_chunks` a chunk of any other with eight, and `pagerank_sum_partials` adds those of rows of several; they
take edges as they stand; slices.py has them laid out. The sums of the chunks of row i of `rows` are `partial` from
first_chunk[i] to first_chunk[i + 1]. On a CPU there is nothing to balance: `pagerank_sum` does every row, none is cut
into chunks, and the twin of `pagerank_sum_chunks` does nothing.
"""

import numpy as np

from graphdask.kernels.common.lanes import AHEAD, CHUNK, ROWS_AHEAD, sum_rows, tree, u64
from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.twin import by_python, twin
from graphdask.kernels.pagerank.pagerank_pack import RankRows, SelfLoops

MACROS = [
    {"index_t": index, "real_t": real, "weight_t": weight}
    for index in ("int", "long long")
    for real, weight in (("float", "float"), ("double", "float"), ("double", "double"))
]


@twin
def pagerank_sum(n, indptr, indices, weights, weighted, x, goes, ordered, sums):
    if weights is not None and weighted:  # without them Numba compiles nothing of it
        _sum_weighted(n, indptr, indices, weights, x, goes, ordered, sums)
        return
    sum_rows(n, None, indptr, None, indices, x, goes, ordered, sums)


@twin
def _sum_weighted(n, indptr, indices, weights, x, goes, ordered, sums):
    lane, edges = np.zeros(8), np.zeros(8)
    until = u64(max(len(indices) - AHEAD - 7, 0))  # from there on there are no eight more so far ahead
    for v in range(n):
        if ordered and v + ROWS_AHEAD < n:
            prefetch(sums, goes[v + ROWS_AHEAD])
        lane[:] = 0.0
        k, last = u64(indptr[v]), u64(indptr[v + 1])
        turn = 0
        while k < last:
            end = min(k + u64(CHUNK), last)
            edges[:] = 0.0
            while k + u64(8) <= end:
                if k < until:
                    for i in range(8):
                        prefetch(x, indices[k + u64(AHEAD + i)])
                for i in range(u64(8)):
                    edges[i] += np.float64(weights[k + i]) * np.float64(x[u64(indices[k + i])])
                k += u64(8)
            for i in range(end - k):
                edges[i] += np.float64(weights[k + i]) * np.float64(x[u64(indices[k + i])])
            k = end
            lane[turn & 7] += tree(edges)
            turn += 1
        sums[goes[v] if ordered else v] = tree(lane)


@by_python
def pagerank_sum_chunks(n, a: RankRows):
    pass


@twin
def pagerank_sum_partials(n, rows, first_chunk, partial, sums):
    lane = np.zeros(8)
    for i in range(len(first_chunk) - 1):
        lane[:] = 0.0
        for c in range(first_chunk[i], first_chunk[i + 1]):
            lane[(c - first_chunk[i]) & 7] += partial[c]
        sums[rows[i]] = tree(lane)


@twin
def pagerank_relabel(n, indices, place, out):
    for k in range(n):
        out[k] = place[u64(indices[k])]


@twin
def pagerank_laid_out(n, indptr, indices, goes, begin, place, out):
    """Row v becomes row goes[v] of those that `begin` bounds, its indices those of `place`."""
    for v in range(n):
        if v + ROWS_AHEAD < n:
            prefetch(out, begin[goes[v + ROWS_AHEAD]])
        at = u64(begin[goes[v]])
        for k in range(u64(indptr[v]), u64(indptr[v + 1])):
            out[at] = place[u64(indices[k])]
            at += u64(1)


@twin
def pagerank_scatter(n, reported, place, x):
    for i in range(n):
        x[place[i]] = reported[i]


@twin
def pagerank_loops(n, a: SelfLoops):
    for v in range(n):
        for k in range(a.indptr[v], a.indptr[v + 1]):
            if a.indices[k] == v:
                a.loop[v] = 1


@twin
def pagerank_update(n, a: RankRows):
    a.cleared[:] = 0
    dangling, change, largest = np.uint64(0), np.uint64(0), 0.0
    for v in range(n):
        at = a.place[v]
        gathered = a.sums[v]
        if a.has_extra and a.extra[v]:
            gathered += np.float64(a.x[at])
        jump = a.base * a.teleport[v] if a.personalized else a.base
        old = np.float64(a.rank[v])
        a.rank[v] = jump + a.damping * gathered
        new = np.float64(a.rank[v])
        if a.inverse[v] > 0.0:
            a.x[at] = new * a.inverse[v]
            if a.sends:
                a.reported[a.slot[v]] = a.x[at]
        else:
            dangling += np.uint64(np.rint(new * a.dangling_scale))
        moved = abs(new - old)
        change += np.uint64(np.rint(moved * a.change_scale))
        largest = max(largest, moved)
    a.counters.dangling += dangling
    a.counters.change += change
    bits = np.float64(largest).view(np.uint64)
    a.counters.largest = max(a.counters.largest, bits)


@twin
def pagerank_judge(n, tol, by_largest, a: RankRows):
    """Whether there is to be one more iteration, by the largest change or by their sum: `goes` is 0 where not."""
    now = np.float64(a.counters.change) / a.change_scale
    if by_largest:
        now = np.uint64(a.counters.largest).view(np.float64)
    a.counters.goes = np.uint64(0) if now <= tol else ~np.uint64(0)
