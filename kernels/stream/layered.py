"""CPU kernels for one chunk of a layered edge list that is in memory.

n        number of rows of the chunk, or of edges of a block
first    the position of the first row; rows are in the order of positions
indptr   int64 per row: where its edges begin in `targets`; a last entry says where those of the last row end
ids      index dtype per row: the vertex number; empty if positions are vertex numbers
targets  index dtype per edge: the position of its target
weights  one per edge (each = -1) or a single one for all edges (each = 0): edge e has the weight weights[e & each]
distance int64 or float64 per position; the largest value, or infinity, if unreached
keys     int64 per edge: the position of its row times 2^32, plus the vertex number of its target
cursor   int64 per value of one half of the keys: where the next key with this value is stored
counters int64: number of rows processed, number of edges scanned, and what else a kernel counts
number   int32 per position: the vertex number if it was reached, else -1
layer    int64, 4: where the layer before that of the last row begins, where the layer of the last row begins, the depth
         of the latter, and the last position that was reached
"""

import numpy as np

from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.sssp.paths import plus, unreached
from graphdask.kernels.stream.active_rows import activate, begin_row, queue_active, u64
from graphdask.kernels.stream.chunk_pack import ChunkRows
from graphdask.kernels.stream.layered_paths_pack import NEAR, ChunkLabels

BLOCK = 32
"""Number of edges whose targets are looked up in `near` without a branch between them."""


@twin
def layered_degrees(n, vertices, first, degree):
    """Count how often each vertex, or each position from `first` on, occurs."""
    for e in range(u64(n)):
        degree[u64(np.int64(vertices[e]) - first)] += 1


@twin
def layered_indptr(n, degrees, indptr):
    """Compute where the edges of each row begin, and where those of the last row end."""
    end = np.int64(0)
    indptr[0] = end
    for row in range(n):
        end += np.int64(degrees[row])
        indptr[row + 1] = end


@twin
def layered_deal(n, keys, shift, first, cursor, out):
    """Store each key at the cursor of its upper or lower half. Keys with the same half keep their order."""
    for e in range(u64(n)):
        key = keys[e]
        half = u64(((key >> shift) & 0xFFFFFFFF) - first)
        out[u64(cursor[half])] = key
        cursor[half] += 1


@twin
def layered_relax(n, a: ChunkLabels):
    """Decrease packed labels along edges of the same length as `layered_relax_chunk` does, with the help of `near`.

    `near` is small, and most edges need nothing else, because it shows that their target is nearer already. `highest`
    shows it for targets of the same distance: a row of a larger number cannot improve their labels.
    """
    head, waiting, few = 0, queue_active(n, a), np.empty(BLOCK, np.uint64)
    while waiting:
        row = np.int64(a.queue[head])
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        u = begin_row(row, a)
        far, id = (a.labels[u] >> 32) + np.int64(a.weights[0]), u
        if a.ids is not None:
            id = np.int64(a.ids[row])
        offered = np.uint8(min(far, NEAR))
        if far < NEAR and id >= a.highest[far]:
            offered += np.uint8(1)
        e, last = u64(a.indptr[row]), u64(a.indptr[row + 1])
        while e < last:
            count = u64(0)
            if last - e >= u64(BLOCK):
                for i in range(u64(BLOCK)):
                    few[count] = e + i
                    count += u64(a.near[u64(a.targets[e + i])] >= offered)
                e += u64(BLOCK)
            else:
                while e < last:
                    few[count] = e
                    count += u64(a.near[u64(a.targets[e])] >= offered)
                    e += u64(1)
            if count > u64(1):
                for i in range(count):
                    prefetch(a.labels, np.int64(a.targets[few[i]]))
            for i in range(count):
                v = u64(a.targets[few[i]])
                new, old = far << 32 | id, a.labels[v]
                if new < old:
                    a.labels[v] = new
                    a.near[v] = min(far, NEAR)
                    if far < NEAR:
                        a.highest[far] = max(a.highest[far], id)
                    place = np.int64(v)
                    if not a.active[v] and ((new >> 32) < (old >> 32) or place < a.begin or place >= a.end):
                        waiting += activate(n, v, head + waiting, a)


@within
def _first_between(targets, e, last, low, high):
    """Return the first edge to a position from `low` on and before `high`, or `last` if there is none."""
    while last - e >= u64(BLOCK):
        count = 0
        for i in range(u64(BLOCK)):
            v = targets[e + i]
            count += (v >= low) & (v < high)
        if count:
            break
        e += u64(BLOCK)
    while e < last and not low <= targets[e] < high:
        e += u64(1)
    return e


@twin
def layered_pull(n, ids, number, depth, parent, layer, a: ChunkRows):
    """Compute depths and parents by vertex number if rows are in the order of their layers.

    Both ends store each edge. A row with an edge to the previous layer is in the layer of the row that precedes it.
    The first such edge leads to the parent, because targets are in the order of their vertex numbers. Any other row
    begins a layer. The layer of depth 0 has no edge that leads back.
    """
    a.counters.found = 0
    for row in range(n):
        u, begin, last = a.first + row, u64(a.indptr[row]), u64(a.indptr[row + 1])
        if begin == last:
            continue
        low, high = np.int32(layer[0]), np.int32(layer[1])
        e = _first_between(a.targets, begin, last, low, high) if low < high else last
        if e == last:
            e = _first_between(a.targets, begin, last, high, np.int32(u))
            if e == last:
                continue
            layer[0], layer[1], layer[2] = high, u, layer[2] + 1
        a.counters.worked += 1
        a.counters.looked += np.int64(e - begin) + 1
        above = number[u64(a.targets[e])]
        if above >= 0:
            v = ids[row]
            number[u64(u)], depth[u64(v)], parent[u64(v)], layer[3] = v, layer[2], above, u
            a.counters.found += 1


@twin
def layered_check(n, first, indptr, ids, targets, weights, each, until, distance, parent, witnessed, bad):
    """Search for an edge that can relax to a distance up to `until`; store the ends of the first one, as positions, in
    `bad`.

    Mark with 1 each vertex that has a tight edge from its parent if the parent is nearer, and with 2 each vertex that
    has one from a parent at the same distance.
    """
    none = unreached(distance)
    for row in range(n):
        u = first + row
        du = distance[u]
        if du == none:
            continue
        id = np.int64(ids[row]) if len(ids) else u
        for e in range(indptr[row], indptr[row + 1]):
            v = targets[e]
            dv = distance[v]
            d = plus(du, weights[e & each])
            if (dv == none and d <= until) or (dv > d >= du and d <= until):
                if bad[0] < 0:
                    bad[0], bad[1] = u, v
            elif dv == d and v != u and parent[v] == id:
                if du < dv:
                    witnessed[v] = 1
                elif not witnessed[v]:
                    witnessed[v] = 2


@twin
def layered_differ(n, first, indptr, targets, label, bad):
    """Search for an edge between two labels; store the positions of the ends of the first one in `bad`."""
    for row in range(n):
        u = first + row
        for e in range(indptr[row], indptr[row + 1]):
            if label[u] != label[targets[e]] and bad[0] < 0:
                bad[0], bad[1] = u, targets[e]
