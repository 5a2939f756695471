"""The minimum spanning forest of the edges of one partition, by Boruvka's rounds: twins of forest.cu.

Edges are ordered by weight, then by their row in what the caller gave. A weight stands for an integer of the same
order, its key; without weights the row is the key. In a round, each tree takes the first of the edges that leave it:

1. forest_least (for single vertices forest_nearest) finds it: best[r] for the root r. With `least`, that is the least
   key, and forest_ties (forest_nearest_ties) then finds the least row among the edges of this key. Twins compare rows
   at once, so that those of the ties have nothing to do.
2. forest_join (forest_hook) lets the root point to the root at the other end. Of two that take the same edge, the
   smaller one stays a root.
3. forest_flatten makes each slot point to its root, and clears `best` and `least`.

best[r] is row << 32 | index with rows of 32 bits, the index alone with `wide_rows`, and NONE if there is no edge. The
index is a place among all edges for single vertices, and one on the list in the other rounds. forest_select makes the
list. The order of the list does not change the forest, because no two edges are equal.
"""

import numpy as np

from graphdask.kernels.common.ordered import ordered
from graphdask.kernels.common.twin import twin
from graphdask.kernels.forest.forest_pack import Growing

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
NONE = 2**63 - 1


@twin
def _row(rows, wide_rows, edge):
    if rows is not None:
        return np.int64(rows[edge])
    if wide_rows is not None:
        return wide_rows[edge]
    return np.int64(0)


@twin
def _key(rows, wide_rows, ints, longs, floats, doubles, edge):
    if ints is not None:
        return np.int64(ints[edge])
    if longs is not None:
        return longs[edge]
    if floats is not None:
        return ordered(np.float64(floats[edge]))
    if doubles is not None:
        return ordered(doubles[edge])
    return _row(rows, wide_rows, edge)


@twin
def _packed(rows, row, index):
    if rows is None:
        return index
    return row << 32 | index


@twin
def _index(rows, best):
    if rows is None:
        return best
    return best & 0xFFFFFFFF


@twin
def _listed_row(wide_rows, place, best):
    if wide_rows is not None:
        return wide_rows[place[best]]
    return best >> 32


@twin
def forest_nearest(n, a: Growing):
    """Find the first edge of each of the rows 0 .. n-1."""
    for v in range(n):
        first, first_key, first_row = np.int64(-1), np.int64(0), np.int64(0)
        for e in range(a.indptr[v], a.indptr[v + 1]):
            if a.indices[e] == v:
                continue
            key = _key(a.rows, a.wide_rows, a.ints, a.longs, a.floats, a.doubles, e)
            if first >= 0 and key > first_key:
                continue
            row = _row(a.rows, a.wide_rows, e)
            if first < 0 or key < first_key or row < first_row:
                first, first_key, first_row = e, key, row
        if first >= 0:
            a.best[v] = _packed(a.rows, first_row, first)
            if a.least is not None:
                a.least[v] = first_key


@twin
def forest_nearest_ties(n, a: Growing):
    pass


@twin
def forest_hook(n, a: Growing):
    """Join the own vertices 0 .. n-1 along their first edges."""
    for v in range(n):
        if a.best[v] == NONE:
            continue
        e = _index(a.rows, a.best[v])
        u = a.indices[e]
        if v < u < n and _row(a.rows, a.wide_rows, _index(a.rows, a.best[u])) == _row(a.rows, a.wide_rows, e):
            continue
        a.root[v] = u
        a.forest_source[a.counters.joined] = v
        a.forest_place[a.counters.joined] = e
        a.counters.joined += 1


@twin
def forest_select(n, a: Growing):
    """List the edges of the rows 0 .. n-1 of keys from `low` to `high` that join two trees, each once."""
    listed = a.counters.listed
    for v in range(n):
        root = a.root[v]
        for e in range(a.indptr[v], a.indptr[v + 1]):
            u = a.indices[e]
            if u <= v:
                continue
            key = _key(a.rows, a.wide_rows, a.ints, a.longs, a.floats, a.doubles, e)
            if key < a.low or key > a.high or a.root[u] == root:
                continue
            if listed < a.capacity:
                a.one[listed] = root
                a.other[listed] = a.root[u]
                a.source[listed] = v
                a.place[listed] = e
                if a.keys is not None:
                    a.keys[listed] = key
            listed += 1
    a.counters.listed = listed


@twin
def forest_least(n, a: Growing):
    """Find the first edge that leaves each tree, of the n edges listed; those that join no trees leave the list."""
    live = 0
    for i in range(n):
        one, other = a.root[a.one[i]], a.root[a.other[i]]
        if one == other:
            continue
        place = a.place[i]
        row = _row(a.rows, a.wide_rows, place)
        a.one[live] = one
        a.other[live] = other
        a.source[live] = a.source[i]
        a.place[live] = place
        key = row
        if a.keys is not None:
            key = a.keys[i]
            a.keys[live] = key
        packed = _packed(a.rows, row, np.int64(live))
        for end in (one, other):
            if a.least is None:
                a.best[end] = min(a.best[end], packed)
            elif key < a.least[end] or (
                key == a.least[end] and (a.best[end] == NONE or row < _listed_row(a.wide_rows, a.place, a.best[end]))
            ):
                a.least[end] = key
                a.best[end] = packed
        live += 1
    a.counters.live = live
    a.counters.listed = live


@twin
def forest_ties(n, a: Growing):
    pass


@twin
def forest_join(n, a: Growing):
    """Join the trees of the slots 0 .. n-1 that are roots along their first edges."""
    for r in range(n):
        if a.best[r] == NONE:
            continue
        i = _index(a.rows, a.best[r])
        beyond = a.other[i] if a.one[i] == r else a.one[i]
        if r < beyond and a.best[beyond] == a.best[r]:
            continue
        a.root[r] = beyond
        a.forest_source[a.counters.joined] = a.source[i]
        a.forest_place[a.counters.joined] = a.place[i]
        a.counters.joined += 1


@twin
def forest_flatten(n, a: Growing):
    """Let each of the slots 0 .. n-1 point to its root."""
    for v in range(n):
        a.best[v] = NONE
        if a.least is not None:
            a.least[v] = NONE
        root = a.root[v]
        while a.root[root] != root:
            root = a.root[root]
        at = np.int64(v)
        while a.root[at] != root:
            parent = np.int64(a.root[at])
            a.root[at] = root
            at = parent
