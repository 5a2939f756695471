"""Edges between the vertices of a set: twins of induced.cu.

rows      where the item's row is, index dtype
vertices  its vertex number, index dtype
instances its instance, int64
tags      int64, what every edge of the item is marked with
indptr, indices   rows of edges, each in ascending order of the ids of its slots
ids       index dtype per slot
members   index dtype: the vertices of each instance, ascending
bounds    int64: where those of each instance begin
counts    int64, out: how many edges of each item lead to members of its instance
offsets   int64: where the edges of each item begin among those listed, and their number
src, dst, tag     of the edges: vertex number of the item, slot of the other end, mark of the item
places    None, or int64: where each of them stands in `indices`
"""

from graphdask.kernels.common.twin import twin, within

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
def induced_listed(
    n, rows, vertices, instances, tags, indptr, indices, ids, members, bounds, offsets, src, dst, tag, places
):
    for i in range(n):
        begin, end, instance, out = indptr[rows[i]], indptr[rows[i] + 1], instances[i], offsets[i]
        first, last = bounds[instance], bounds[instance + 1]
        if offsets[i + 1] > out:
            _met(begin, end, indices, ids, members, first, last, True, dst, out, places)
        for e in range(out, offsets[i + 1]):
            src[e] = vertices[i]
            tag[e] = tags[i]
