"""Where edges stand that are known by their ends: twin of edge_find.cu.

row     index dtype: the slot of an own vertex
target  index dtype: the id of a vertex; -1 for none
ids     index dtype per slot; rows stand in ascending order of it
first   int64: where the first edge from one to the other stands; -1 for none
count   int64: how many there are, which follow each other
"""

from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def edge_find(n, row, target, indptr, indices, ids, first, count):
    for i in range(n):
        begin, end, wanted = indptr[row[i]], indptr[row[i] + 1], target[i]
        last = end
        while wanted >= 0 and begin < last:
            middle = (begin + last) >> 1
            if ids[indices[middle]] < wanted:
                begin = middle + 1
            else:
                last = middle
        last, step = begin, 1
        while wanted >= 0 and last < end and ids[indices[last]] == wanted:  # farther and farther: there are few mostly
            last, step = last + step, 2 * step
        last, upper = last - (step >> 1), min(last, end)
        while last < upper:
            middle = (last + upper) >> 1
            if ids[indices[middle]] <= wanted:
                last = middle + 1
            else:
                upper = middle
        first[i], count[i] = begin if last > begin else -1, last - begin
