"""Edges between the vertices of a set: twins of induced.cu.

indptr, indices   rows of edges, each in ascending order of the ids of its slots
counts    int64, out: how many edges of each item lead to members of its instance
offsets   int64: where the edges of each item begin among those listed, and their number
src, dst, tag     of the edges: vertex number of the item, slot of the other end, mark of the item
"""

from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.neighbors.induced_pack import InducedEdges

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@within
def _met(begin, end, indices, ids, members, first, last, fill, dst, out, places):
    """How many edges lead to members; the shorter of the two lists is gone through, and the other one searched."""
    count = 0
    if end - begin <= last - first:
        for e in range(begin, end):
            wanted, low, high = ids[indices[e]], first, last
            while low < high:
                middle = (low + high) >> 1
                if members[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low < last and members[low] == wanted:
                if fill:
                    dst[out + count] = indices[e]
                    if places is not None:
                        places[out + count] = e
                count += 1
        return count
    e = begin
    for m in range(first, last):
        wanted, high = members[m], end
        while e < high:
            middle = (e + high) >> 1
            if ids[indices[middle]] < wanted:
                e = middle + 1
            else:
                high = middle
        while e < end and ids[indices[e]] == wanted:
            if fill:
                dst[out + count] = indices[e]
                if places is not None:
                    places[out + count] = e
            count += 1
            e += 1
    return count


@twin
def induced_counts(n, rows, instances, indptr, indices, ids, members, bounds, counts):
    for i in range(n):
        begin, end, instance = indptr[rows[i]], indptr[rows[i] + 1], instances[i]
        first, last = bounds[instance], bounds[instance + 1]
        counts[i] = _met(begin, end, indices, ids, members, first, last, False, indices, 0, None)


@twin
def induced_listed(n, a: InducedEdges):
    for i in range(n):
        begin, end, instance, out = a.indptr[a.rows[i]], a.indptr[a.rows[i] + 1], a.instances[i], a.offsets[i]
        first, last = a.bounds[instance], a.bounds[instance + 1]
        if a.offsets[i + 1] > out:
            _met(begin, end, a.indices, a.ids, a.members, first, last, True, a.dst, out, a.places)
        for e in range(out, a.offsets[i + 1]):
            a.src[e] = a.vertices[i]
            a.tag[e] = a.tags[i]
