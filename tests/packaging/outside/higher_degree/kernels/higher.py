"""Counting the neighbours of higher degree: twins of higher.cu."""

from graphdask.kernels.common.twin import twin
from higher_degree.kernels.compared import is_higher
from higher_degree.kernels.higher_pack import Higher

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def higher_count(n, a: Higher):
    for u in range(n):
        found = 0
        for e in range(a.indptr[u], a.indptr[u + 1]):
            if is_higher(a.degree[a.indices[e]], a.degree[u]):
                found += 1
        a.higher[u] = found
        a.counters.edges += a.indptr[u + 1] - a.indptr[u]
