"""Whether steps of walks are edges: twin of walk_check.cu.

row     index dtype: the slot of an own vertex
target  index dtype: the id of the vertex that came after it; -1 where nothing did
values  bias of each edge, where `biased`; edges of bias 0 do not count
ids     index dtype per slot; rows stand in ascending order of it
wrong   uint8: whether there is no such edge, or, of no target, whether there is any edge
"""

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int", "bias_t": bias} for bias in ("int", "long long", "float", "double")]
MACROS += [{"index_t": "long long", "bias_t": bias} for bias in ("int", "double")]


@twin
def walk_check(n, row, target, indptr, indices, values, biased, ids, wrong):
    for i in range(n):
        begin, end, wanted = indptr[row[i]], indptr[row[i] + 1], target[i]
        first, last = begin, end
        while wanted >= 0 and first < last:
            middle = (first + last) >> 1
            if ids[indices[middle]] < wanted:
                first = middle + 1
            else:
                last = middle
        found = False
        for e in range(first, end):
            if wanted >= 0 and ids[indices[e]] != wanted:
                break
            if not biased or values[e] > 0:
                found = True
                break
        wrong[i] = found != (wanted >= 0)
