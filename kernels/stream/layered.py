"""CPU kernels for one chunk of a layered edge list that is in memory.

n        number of rows of the chunk, or of edges of a block
first    the position of the first row; rows are in the order of positions
indptr   int64 per row: where its edges begin in `targets`; a last entry says where those of the last row end
ids      index dtype per row: the vertex number; empty if positions are vertex numbers
targets  index dtype per edge: the position of its target
weights  one per edge (each = -1) or a single one for all edges (each = 0): edge e has the weight weights[e & each]
active   bool per position: whether its distance has decreased since its edges were last scanned
label    int64 per position: a distance times 2^32, plus the number of the predecessor; the largest value if unreached
near     uint8 per position: the distance in the label up to 254, else 255. The table is small, and most edges need
         nothing else, because it shows that their target is nearer already
highest  int64, 255: for each distance in `near`, the largest number of a predecessor in a label given with it. A row
         with a larger number cannot improve a label if `near` has that distance
distance int64 or float64 per position; the largest value, or infinity, if unreached
queue    index dtype, one entry per row of the chunk: the active rows of this chunk
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
from graphdask.kernels.stream.layered_counters import FOUND, LOOKED, WORKED

u64 = np.uint64
"""Numba tests whether a signed index counts from the end; it does not test an unsigned one."""
NEAR = 255
"""Distances from this one on are not stored in `near`."""
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
def _relax_weighted(
    n, first, begin, end, indptr, ids, targets, weights, active, near, label, queue, counters
):  # fmt: skip
    size, head, waiting = n, 0, 0
    for row in range(n):
        if active[first + row]:
            queue[waiting] = row
            waiting += 1
    while waiting:
        row = np.int64(queue[head])
        head = head + 1 if head + 1 < size else 0
        waiting -= 1
        u = first + row
        active[u] = False
        counters[WORKED] += 1
        d = label[u] >> 32
        id = np.int64(ids[row]) if len(ids) else u
        counters[LOOKED] += indptr[row + 1] - indptr[row]
        for e in range(u64(indptr[row]), u64(indptr[row + 1])):
            v, far = u64(targets[e]), d + np.int64(weights[e])
            if near[v] < min(far, NEAR):
                continue
            new, old = far << 32 | id, label[v]
            if new < old:
                label[v] = new
                near[v] = far if far < NEAR else 255
                place = np.int64(v)
                if not active[v] and ((new >> 32) < (old >> 32) or place < begin or place >= end):
                    active[v] = True
                    place -= first
                    if 0 <= place < n:
                        tail = head + waiting
                        queue[tail if tail < size else tail - size] = place
                        waiting += 1


@twin
def layered_relax(
    n, first, begin, end, indptr, ids, targets, weights, each, active, near, label, highest, queue, counters
):  # fmt: skip
    """Decrease labels along the edges of active rows until no row of the chunk is active.

    Positions before `begin` and from `end` on are rows of other ranks. They are marked as active also if only their
    predecessor changes.
    """
    if each:
        _relax_weighted(
            n, first, begin, end, indptr, ids, targets, weights, active, near, label, queue, counters
        )  # fmt: skip
        return
    size, head, waiting, few = n, 0, 0, np.empty(BLOCK, np.uint64)
    for row in range(n):
        if active[first + row]:
            queue[waiting] = row
            waiting += 1
    while waiting:
        row = np.int64(queue[head])
        head = head + 1 if head + 1 < size else 0
        waiting -= 1
        u = first + row
        active[u] = False
        counters[WORKED] += 1
        far = (label[u] >> 32) + np.int64(weights[0])
        id = np.int64(ids[row]) if len(ids) else u
        counters[LOOKED] += indptr[row + 1] - indptr[row]
        offered = np.uint8(min(far, NEAR))
        if far < NEAR and id >= highest[far]:
            offered += np.uint8(1)
        e, last = u64(indptr[row]), u64(indptr[row + 1])
        while e < last:
            count = u64(0)
            if last - e >= u64(BLOCK):
                for i in range(u64(BLOCK)):
                    few[count] = e + i
                    count += u64(near[u64(targets[e + i])] >= offered)
                e += u64(BLOCK)
            else:
                while e < last:
                    few[count] = e
                    count += u64(near[u64(targets[e])] >= offered)
                    e += u64(1)
            if count > u64(1):
                for i in range(count):
                    prefetch(label, np.int64(targets[few[i]]))
            for i in range(count):
                v = u64(targets[few[i]])
                new, old = far << 32 | id, label[v]
                if new < old:
                    label[v] = new
                    near[v] = min(far, NEAR)
                    if far < NEAR:
                        highest[far] = max(highest[far], id)
                    place = np.int64(v)
                    if not active[v] and ((new >> 32) < (old >> 32) or place < begin or place >= end):
                        active[v] = True
                        place -= first
                        if 0 <= place < n:
                            tail = head + waiting
                            queue[tail if tail < size else tail - size] = place
                            waiting += 1


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
def layered_pull(n, first, indptr, ids, targets, number, depth, parent, layer, counters):
    """Compute depths and parents by vertex number if rows are in the order of their layers.

    Both ends store each edge. A row with an edge to the previous layer is in the layer of the row that precedes it.
    The first such edge leads to the parent, because targets are in the order of their vertex numbers. Any other row
    begins a layer. The layer of depth 0 has no edge that leads back.
    """
    counters[FOUND] = 0
    for row in range(n):
        u, begin, last = first + row, u64(indptr[row]), u64(indptr[row + 1])
        if begin == last:
            continue
        low, high = np.int32(layer[0]), np.int32(layer[1])
        e = _first_between(targets, begin, last, low, high) if low < high else last
        if e == last:
            e = _first_between(targets, begin, last, high, np.int32(u))
            if e == last:
                continue
            layer[0], layer[1], layer[2] = high, u, layer[2] + 1
        counters[WORKED] += 1
        counters[LOOKED] += np.int64(e - begin) + 1
        above = number[u64(targets[e])]
        if above >= 0:
            v = ids[row]
            number[u64(u)], depth[u64(v)], parent[u64(v)], layer[3] = v, layer[2], above, u
            counters[FOUND] += 1


@twin
def layered_unpack(n, first, ids, label, distance, parent):
    """Store the distances, -1 if unreached, and the predecessors of some rows by vertex number."""
    none = unreached(label)
    for row in range(n):
        some, v = label[first + row], ids[row]
        distance[v] = some >> 32 if some != none else -1
        parent[v] = np.int32(some & 0xFFFFFFFF)


@twin
def layered_relax_wide(n, first, indptr, targets, weights, each, active, distance, queue, counters):
    """Decrease distances along the edges of active rows until no row of the chunk is active.

    These distances use all bits, so the predecessor is not stored with them.
    """
    none, size, head, waiting, mask = unreached(distance), n, 0, 0, u64(each)
    for row in range(n):
        if active[first + row]:
            queue[waiting] = row
            waiting += 1
    while waiting:
        row = np.int64(queue[head])
        head = head + 1 if head + 1 < size else 0
        waiting -= 1
        u = first + row
        active[u] = False
        counters[WORKED] += 1
        du = distance[u]
        counters[LOOKED] += indptr[row + 1] - indptr[row]
        for e in range(u64(indptr[row]), u64(indptr[row + 1])):
            v = u64(targets[e])
            d = plus(du, weights[e & mask])
            if d >= du and d < distance[v] and d < none:
                distance[v] = d
                if not active[v]:
                    active[v] = True
                    place = np.int64(v) - first
                    if 0 <= place < n:
                        tail = head + waiting
                        queue[tail if tail < size else tail - size] = place
                        waiting += 1


@twin
def layered_parents(n, first, indptr, ids, targets, weights, each, distance, parent, flat, counters):
    """Offer each row as the parent of the vertices that its tight edges lead to.

    `flat` marks the rows with a tight edge that adds nothing to the distance.
    """
    none = unreached(distance)
    for row in range(n):
        u = first + row
        du = distance[u]
        if du == none:
            continue
        id = np.int64(ids[row]) if len(ids) else u
        counters[LOOKED] += indptr[row + 1] - indptr[row]
        for e in range(indptr[row], indptr[row + 1]):
            v = targets[e]
            dv = distance[v]
            if dv == plus(du, weights[e & each]) or dv == none:
                if dv == du:
                    flat[u] |= v != u
                elif id < parent[v]:
                    parent[v] = id


@twin
def layered_flat(n, first, indptr, ids, targets, weights, each, distance, hops, hop, parent, active, counters):
    """Go one hop further along edges that add nothing to the distance.

    It starts from the rows that are `hop` such edges away from a vertex with a nearer parent.
    """
    for row in range(n):
        u = first + row
        if hops[u] != hop:
            continue
        du = distance[u]
        id = np.int64(ids[row]) if len(ids) else u
        counters[LOOKED] += indptr[row + 1] - indptr[row]
        for e in range(indptr[row], indptr[row + 1]):
            v = targets[e]
            if distance[v] == du and plus(du, weights[e & each]) == du and (hops[v] < 0 or hops[v] == hop + 1):
                if hops[v] < 0:
                    hops[v] = hop + 1
                    active[v] = True
                if id < parent[v]:
                    parent[v] = id


@within
def _root(tree, u):
    above = tree[u64(u)]
    while above != u:
        next = tree[u64(above)]
        tree[u64(u)] = next
        u, above = next, tree[u64(next)]
    return u


@twin
def layered_hook(n, first, indptr, targets, tree, giant, counters):
    """Join the trees at both ends of each edge; skip rows in the tree `giant`."""
    for row in range(n):
        u = _root(tree, tree[u64(first + row)])
        if u == giant:
            continue
        counters[WORKED] += 1
        counters[LOOKED] += indptr[row + 1] - indptr[row]
        for e in range(u64(indptr[row]), u64(indptr[row + 1])):
            v = tree[u64(targets[e])]
            if v == u:
                continue
            v = _root(tree, v)
            if u < v:
                tree[u64(v)] = u
            elif v < u:
                tree[u64(u)] = v
                u = v


@twin
def layered_join(n, vertices, roots, tree):
    """Join the trees of each pair of positions."""
    for k in range(n):
        u, v = _root(tree, tree[u64(vertices[k])]), _root(tree, tree[u64(roots[k])])
        if u < v:
            tree[u64(v)] = u
        elif v < u:
            tree[u64(u)] = v


@twin
def layered_outside(n, first, tree, giant, counters):
    """Find out whether one of some rows is outside the tree `giant`; `counters[FOUND]` is 1 if so, else 0."""
    counters[FOUND] = 0
    for row in range(n):
        if _root(tree, tree[u64(first + row)]) != giant:
            counters[FOUND] = 1
            return


@twin
def layered_flatten(n, tree):
    """Give every position the root of its tree."""
    for u in range(n):
        tree[u] = tree[tree[u]]


@twin
def layered_least(n, first, ids, tree, least):
    """Store the smallest vertex number of each tree at its root."""
    for row in range(n):
        root = tree[first + row]
        least[root] = min(least[root], ids[row])


@twin
def layered_named(n, first, ids, tree, least, label):
    """Store by vertex number, for each row, the value of `least` at the root of its tree."""
    for row in range(n):
        label[ids[row]] = least[tree[first + row]]


@twin
def layered_loops(n, first, indptr, targets, loop):
    """Mark the rows that have an edge to themselves."""
    for row in range(n):
        for e in range(indptr[row], indptr[row + 1]):
            if targets[e] == first + row:
                loop[first + row] = 1


@twin
def layered_check(n, first, indptr, ids, targets, weights, each, distance, parent, witnessed, bad):
    """Search for an edge that can relax; store the positions of the ends of the first one in `bad`.

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
            if dv == none or (dv > d and d >= du):
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
