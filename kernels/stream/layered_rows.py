"""CPU kernels over the rows of chunks for labels, cores, strong components and triangles.

n        number of rows
first    the position of row 0; rows are in the order of positions
indptr   int64 per row: where its edges begin in `targets`, int32 positions; a last entry says where those of the last
         row end. `back_indptr` and `back_targets` are the same for in-edges, if `both`
active   uint8 per position: whether a row waits to be processed
low      the first own position, and `high`, the one after the last: only own positions become active
counters int64: number of rows processed, of edges scanned, of values that changed
"""

from graphdask.kernels.common.twin import twin
from graphdask.kernels.stream.layered_counters import FOUND, LOOKED, WORKED

SHORT = 32


@twin
def rows_frequent(n, begin, indptr, targets, back_indptr, back_targets, both, label, room, fresh):
    """Store the most frequent label among the neighbours of each row; return how many edges were scanned.

    Of several labels that are most frequent it is the smallest.
    """
    looked = 0
    for row in range(begin, begin + n):
        size = 0
        for e in range(indptr[row], indptr[row + 1]):
            room[size] = label[targets[e]]
            size += 1
        if both:
            for e in range(back_indptr[row], back_indptr[row + 1]):
                room[size] = label[back_targets[e]]
                size += 1
        looked += size
        if size > SHORT:
            room[:size].sort()
        else:
            for k in range(1, size):
                value, place = room[k], k
                while place > 0 and room[place - 1] > value:
                    room[place] = room[place - 1]
                    place -= 1
                room[place] = value
        best = run = 0
        for k in range(size):
            run = run + 1 if k > 0 and room[k] == room[k - 1] else 1
            if run > best:
                best = run
                fresh[row] = room[k]
    return looked


@twin
def rows_core(n, first, low, high, indptr, targets, active, core, room, counters):
    """Lower `core`, int32 per position, to what neighbours allow, until no row of the chunk is active.

    `core` is an upper bound of the core number at first. Equal adjacent neighbours count once. The workspace has one
    entry more than the largest value.
    """
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            u = first + row
            if not active[u]:
                continue
            active[u] = 0
            begin, end, most = indptr[row], indptr[row + 1], core[u]
            counters[WORKED] += 1
            counters[LOOKED] += end - begin
            if most == 0:
                continue
            for k in range(most + 1):
                room[k] = 0
            for e in range(begin, end):
                v = targets[e]
                if v != u and (e == begin or targets[e - 1] != v):
                    room[min(core[v], most)] += 1
            there, value = 0, most
            while value > 0:
                there += room[value]
                if there >= value:
                    break
                value -= 1
            if value == most:
                continue
            core[u] = value
            counters[FOUND] += 1
            for e in range(begin, end):
                v = targets[e]
                if value < core[v] <= most and low <= v < high and not active[v]:
                    active[v] = 1
                    waiting = waiting or first <= v < first + n


@twin
def rows_spread(n, first, low, high, indptr, targets, active, colour, counters):
    """Propagate the colours of active rows along their edges. The smallest one stays; -1 takes no part."""
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            u = first + row
            if not active[u]:
                continue
            active[u] = 0
            mine = colour[u]
            counters[WORKED] += 1
            counters[LOOKED] += indptr[row + 1] - indptr[row]
            for e in range(indptr[row], indptr[row + 1]):
                v = targets[e]
                if colour[v] > mine:
                    colour[v] = mine
                    counters[FOUND] += 1
                    if low <= v < high:
                        active[v] = 1
                        waiting = waiting or first <= v < first + n


@twin
def rows_collect(n, first, low, high, indptr, targets, active, colour, reached, counters):
    """Mark as reached the targets of active rows that have the same colour, until no row of the chunk is active."""
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            u = first + row
            if not active[u]:
                continue
            active[u] = 0
            counters[WORKED] += 1
            counters[LOOKED] += indptr[row + 1] - indptr[row]
            for e in range(indptr[row], indptr[row + 1]):
                v = targets[e]
                if not reached[v] and colour[v] == colour[u]:
                    reached[v] = 1
                    counters[FOUND] += 1
                    if low <= v < high:
                        active[v] = 1
                        waiting = waiting or first <= v < first + n


@twin
def rows_alone(n, first, indptr, targets, colour, counters):
    """Change the colour c of each row without an edge to another row that has a colour to -1 - c."""
    changed = True
    while changed:
        changed = False
        for row in range(n):
            u = first + row
            if colour[u] < 0:
                continue
            e, end = indptr[row], indptr[row + 1]
            counters[WORKED] += 1
            while e < end and (targets[e] == u or colour[targets[e]] < 0):
                e += 1
            counters[LOOKED] += min(e + 1, end) - indptr[row]
            if e == end:
                colour[u] = -1 - colour[u]
                counters[FOUND] += 1
                changed = row > 0


@twin
def _higher(u, row, indptr, targets, back_indptr, back_targets, both, degree, mark, found, ties):
    """Store the distinct neighbours of a row that follow it by degree, then position, and their ties; count them."""
    size = 0
    for e in range(indptr[row], indptr[row + 1]):
        mark[targets[e]] |= 1
    if both:
        for e in range(back_indptr[row], back_indptr[row + 1]):
            mark[back_targets[e]] |= 2
    mark[u] = 0
    for way in range(2 if both else 1):
        heads, tails = (back_indptr, back_targets) if way else (indptr, targets)
        for e in range(heads[row], heads[row + 1]):
            v = tails[e]
            if mark[v]:
                if degree[u] < degree[v] or (degree[u] == degree[v] and u < v):
                    found[size] = v
                    ties[size] = 2 if mark[v] == 3 else 1
                    size += 1
                mark[v] = 0
    return size


@twin
def rows_higher(
    n, first, indptr, targets, back_indptr, back_targets, both, degree, mark, room, room_ties, begins, ends, ties,
    joined,
):  # fmt: skip
    """Append the higher neighbours of rows to `ends` and `ties` until these are full; return how many rows fitted.

    `begins`, int64, gets where the neighbours of each row begin. Its first entry is that of row 0, which is given. The
    number of these neighbours is added to `joined`, uint32 per position, for both ends.
    """
    for row in range(n):
        u = first + row
        size = _higher(u, row, indptr, targets, back_indptr, back_targets, both, degree, mark, room, room_ties)
        at = begins[row]
        if at + size > len(ends):
            return row
        for k in range(size):
            ends[at + k], ties[at + k] = room[k], room_ties[k]
            joined[room[k]] += 1
        joined[u] += size
        begins[row + 1] = at + size
    return n


@twin
def rows_triangles(
    n, first, indptr, targets, back_indptr, back_targets, both, degree, mark, room, room_ties, begin, end, begins, ends,
    ties, links, counters,
):  # fmt: skip
    """Count the triangles whose lowest vertex is a row and whose middle vertex is a position from `begin` to `end`.

    The higher neighbours of the middle vertices are given. `links`, int64 per position, sums the ties between the other
    two corners. The counters are triangles, edges scanned, and the sum of all that was added to `links`.
    """
    for row in range(n):
        u = first + row
        counters[1] += indptr[row + 1] - indptr[row]
        size = _higher(u, row, indptr, targets, back_indptr, back_targets, both, degree, mark, room, room_ties)
        marked = False
        for k in range(size):
            v = room[k]
            if v < begin or v >= end or begins[v - begin] == begins[v - begin + 1]:
                continue
            if not marked:
                for i in range(size):
                    mark[room[i]] = room_ties[i]
                marked = True
            at_u = at_v = found = 0
            for j in range(begins[v - begin], begins[v - begin + 1]):
                w = ends[j]
                if mark[w]:
                    at_u += ties[j]
                    at_v += mark[w]
                    links[w] += room_ties[k]
                    found += 1
            links[u] += at_u
            links[v] += at_v
            counters[0] += found
            counters[2] += at_u + at_v + found * room_ties[k]
        if marked:
            for i in range(size):
                mark[room[i]] = 0
