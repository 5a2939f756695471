"""A layered edge list, a chunk at a time: what a CPU does with the rows of a chunk that is in memory.

n        rows of the chunk, or edges of a block
first    the position of its first row; rows stand in order of positions
indptr   int64 per row: where its edges begin in `targets`, and where the last row's end
ids      index dtype per row: the vertex number, or empty where positions are vertex numbers
targets  index dtype per edge: the position of the vertex at its end
weights  one for each edge (each = -1), or a single one for all (each = 0): edge e weighs weights[e & each]
active   bool per position: its distance has fallen since its edges were looked at last
label    int64 per position: a distance times 2^32, plus the number of the vertex before; the largest where unreached
near     uint8 per position: the distance in the label up to 254, else 255; a small table that most edges need no more
         than: a vertex is nearer already
highest  int64, 255: of each distance in `near`, the largest number of a vertex before that a label was given with it;
         whoever has a larger one has nothing to offer where `near` says that distance
distance int64 or float64 per position; the largest, or infinity where unreached
queue    index dtype, room for the rows of a chunk: active ones of this chunk
keys     int64 per edge: the position of its row times 2^32, plus the number of the vertex at its end
cursor   int64 per value of a half of the keys: where the next key with it goes
counters int64: rows that were worked off, edges looked at, and what a kernel counts besides
number   int32 per position: the number of a vertex that was reached, or -1
layer    int64, 4: where the layer before that of the last row begins, where its own begins, its depth, and the last
         position that was reached
"""

import numpy as np

from graphdask.kernels.common.prefetch import prefetch
from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.sssp.paths import plus, unreached
from graphdask.kernels.stream.layered_counters import FOUND, LOOKED, WORKED

u64 = np.uint64
"""Numba asks of a signed index whether it counts from the end; of an unsigned one it does not."""
NEAR = 255
"""From here on distances do not stand in `near`."""
BLOCK = 32
"""Edges whose ends are looked up in `near` without a branch between them."""


@twin
def layered_degrees(n, vertices, first, degree):
    """Count how often each vertex, or position from the first on, is there."""
    for e in range(u64(n)):
        degree[u64(np.int64(vertices[e]) - first)] += 1


@twin
def layered_indptr(n, degrees, indptr):
    """Where the edges of rows begin, and the last ones end."""
    end = np.int64(0)
    indptr[0] = end
    for row in range(n):
        end += np.int64(degrees[row])
        indptr[row + 1] = end


@twin
def layered_deal(n, keys, shift, first, cursor, out):
    """Put each key where the cursor of its upper or lower half stands; those of a half stay in order."""
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
    """Let labels fall along the edges of active rows, until no row of the chunk is active. Positions before `begin` and
    from `end` on are others' rows: they are marked, too, where only the vertex before is another one."""
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
    """The first edge to a position from `low` on and before `high`, or `last`."""
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
    """Depths and parents, by vertex number, where edges stand at both ends and rows in the order of their layers.

    Who has an edge to the layer before is in the layer of the row before, and the first such edge leads to the parent:
    ends stand in the order of their numbers. Else the row begins a layer; that of depth 0 has no edge that leads back.
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
    """Distances, -1 where unreached, and the vertices before of some rows, by vertex number."""
    none = unreached(label)
    for row in range(n):
        some, v = label[first + row], ids[row]
        distance[v] = some >> 32 if some != none else -1
        parent[v] = np.int32(some & 0xFFFFFFFF)


@twin
def layered_relax_wide(n, first, indptr, targets, weights, each, active, distance, queue, counters):
    """The same with distances that leave no room for the vertex before."""
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
    """Offer each row as the parent of what its tight edges lead to; `flat` are the rows with one that adds nothing."""
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
    """From rows `hop` edges that add nothing away from a vertex with a nearer parent, go one further."""
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
    """Join the trees at both ends of each edge; rows in the tree `giant` are passed over."""
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
    """Join the trees of pairs of positions."""
    for k in range(n):
        u, v = _root(tree, tree[u64(vertices[k])]), _root(tree, tree[u64(roots[k])])
        if u < v:
            tree[u64(v)] = u
        elif v < u:
            tree[u64(u)] = v


@twin
def layered_outside(n, first, tree, giant, counters):
    """Whether one of some rows is not in the tree `giant`."""
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
    """The smallest vertex number of each tree, at its root."""
    for row in range(n):
        root = tree[first + row]
        least[root] = min(least[root], ids[row])


@twin
def layered_named(n, first, ids, tree, least, label):
    """By vertex number what stands at the root of the tree of each row."""
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
    """Look for an edge that can relax, the first of which goes to `bad` by its positions; mark with 1 whoever has a
    tight edge from its parent, which is nearer, and with 2 one at the same distance."""
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
    """Look for an edge between two labels, the first of which goes to `bad` by its positions."""
    for row in range(n):
        u = first + row
        for e in range(indptr[row], indptr[row + 1]):
            if label[u] != label[targets[e]] and bad[0] < 0:
                bad[0], bad[1] = u, targets[e]
