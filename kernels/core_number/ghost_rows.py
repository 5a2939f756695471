"""The own neighbours of each ghost, out of the rows of the own vertices: twins of ghost_rows.cu.

Equal neighbours stand together in a row, so a parallel edge is one whose neighbour is that of the edge before it.
"""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.core_number.ghost_rows_pack import GhostRows

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def ghost_rows_count(n, a: GhostRows):
    for u in range(n):
        first = a.indptr[u]
        for e in range(first, a.indptr[u + 1]):
            v = a.indices[e]
            if v >= a.owned and (e == first or a.indices[e - 1] != v):
                a.ends[v - a.owned] += 1


@twin
def ghost_rows_fill(n, a: GhostRows):
    for u in range(n):
        first = a.indptr[u]
        for e in range(first, a.indptr[u + 1]):
            v = a.indices[e]
            if v >= a.owned and (e == first or a.indices[e - 1] != v):
                place = a.ends[v - a.owned]
                a.rows[place] = u
                a.ends[v - a.owned] = place + 1
