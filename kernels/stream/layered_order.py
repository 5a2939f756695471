"""CPU kernels for values along an order: a vertex gets the smallest value that its earlier neighbours leave.

Values are at most `most`. So a vertex with an earlier neighbour of the value `most` - 1 = 0 has the value `most`, and
neighbours of the value `most` do not matter. Equal neighbours are adjacent in a row; n is the number of rows.
"""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.stream.layered_rows_pack import OrderedRows


@twin
def rows_earlier(n, low, high, every, a: OrderedRows):
    """Count the earlier neighbours that the value of each row depends on; return rows and edges that were scanned.

    Those of rows whose places are from `low` to `high` are stored. Other rows are scanned only if `every`, and rows of
    known values are not.
    """
    worked = looked = 0
    for row in range(n):
        u = a.first + row
        place, count = a.place[u], 0
        inside = low <= place < high
        if a.value[u] >= 0 or not (inside or every):
            continue
        worked += 1
        for e in range(a.indptr[row], a.indptr[row + 1]):
            looked += 1
            v = a.targets[e]
            if a.place[v] >= place or (e > a.indptr[row] and a.targets[e - 1] == v) or a.value[v] == a.most:
                continue
            if a.value[v] == 0 and a.most == 1:
                a.value[u], count = 1, 0
                break
            if inside:
                a.ends[a.begins[place - low] + count] = v
            count += 1
        a.earlier[u] = count
    return worked, looked


@twin
def order_block(n, low, a: OrderedRows):
    """Give the earlier neighbours of the vertices from the place `low` on their places in `ends`, until it is full.

    Return the place after the last one, of `n` places.
    """
    a.begins[0] = 0
    for place in range(low, n):
        u = a.order[place]
        end = a.begins[place - low] + (a.earlier[u] if a.value[u] < 0 else 0)
        if end > len(a.ends):
            return place
        a.begins[place - low + 1] = end
    return n


@twin
def order_values(n, low, a: OrderedRows):
    """Give the vertices of `n` places from `low` on their values, one after the other."""
    for k in range(n):
        u, free = a.order[low + k], 0
        if a.value[u] >= 0:
            continue
        for e in range(a.begins[k], a.begins[k] + a.earlier[u]):
            a.taken[a.value[a.ends[e]]] = u
        while free < a.most and a.taken[free] == u:
            free += 1
        a.value[u] = free


@twin
def order_share(n, low, begin, end, way, piece, a: OrderedRows):
    """Return how many neighbours the positions from `begin` to `end` have a place for, among `n` places from `low` on.

    If `way` is 1, these are copied to `piece`, and from there if it is 2.
    """
    at = 0
    for k in range(n):
        if begin <= a.order[low + k] < end:
            for e in range(a.begins[k], a.begins[k + 1]):
                if way == 1:
                    piece[at] = a.ends[e]
                elif way == 2:
                    a.ends[e] = piece[at]
                at += 1
    return at


@twin
def rows_expected(n, expected, a: OrderedRows):
    """Store the value that the earlier neighbours of each row leave to it, in `expected`, int32 per position."""
    for row in range(n):
        u, free = a.first + row, 0
        for e in range(a.indptr[row], a.indptr[row + 1]):
            v = a.targets[e]
            if a.place[v] < a.place[u]:
                a.taken[a.value[v]] = u
        while free < a.most and a.taken[free] == u:
            free += 1
        expected[u] = free
