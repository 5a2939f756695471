"""CPU kernels over the rows of chunks for labels, cores, strong components and triangles; n is their number."""

from graphdask.kernels.common.sorting import sort_part
from graphdask.kernels.common.twin import twin
from graphdask.kernels.stream.active_rows import begin_row, wake
from graphdask.kernels.stream.chunk_pack import ChunkRows
from graphdask.kernels.stream.layered_rows_pack import HigherRows, WaitingRows, WholeRows


@twin
def rows_frequent(n, begin, label, found, fresh, a: WholeRows):
    """Store the most frequent label among the neighbours of each row; return how many edges were scanned.

    Of several labels that are most frequent it is the smallest.
    """
    looked = 0
    for row in range(begin, begin + n):
        size = 0
        for e in range(a.indptr[row], a.indptr[row + 1]):
            found[size] = label[a.targets[e]]
            size += 1
        if a.both:
            for e in range(a.back_indptr[row], a.back_indptr[row + 1]):
                found[size] = label[a.back_targets[e]]
                size += 1
        looked += size
        sort_part(found, 0, size)
        best = run = 0
        for k in range(size):
            run = run + 1 if k > 0 and found[k] == found[k - 1] else 1
            if run > best:
                best = run
                fresh[row] = found[k]
    return looked


@twin
def rows_core(n, core, counts, a: WaitingRows):
    """Lower `core`, int32 per position, to what neighbours allow, until no row of the chunk is active.

    `core` is an upper bound of the core number at first. Equal adjacent neighbours count once. The workspace has one
    entry more than the largest value.
    """
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            if not a.active[a.first + row]:
                continue
            u, begin, end = begin_row(row, a), a.indptr[row], a.indptr[row + 1]
            most = core[u]
            if most == 0:
                continue
            for k in range(most + 1):
                counts[k] = 0
            for e in range(begin, end):
                v = a.targets[e]
                if v != u and (e == begin or a.targets[e - 1] != v):
                    counts[min(core[v], most)] += 1
            there, value = 0, most
            while value > 0:
                there += counts[value]
                if there >= value:
                    break
                value -= 1
            if value == most:
                continue
            core[u] = value
            a.counters.found += 1
            for e in range(begin, end):
                v = a.targets[e]
                if value < core[v] <= most and a.low <= v < a.high and not a.active[v]:
                    waiting = wake(n, v, a) or waiting


@twin
def rows_spread(n, colour, a: WaitingRows):
    """Propagate the colours of active rows along their edges. The smallest one stays; -1 takes no part."""
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            if not a.active[a.first + row]:
                continue
            mine = colour[begin_row(row, a)]
            for e in range(a.indptr[row], a.indptr[row + 1]):
                v = a.targets[e]
                if colour[v] > mine:
                    colour[v] = mine
                    a.counters.found += 1
                    if a.low <= v < a.high:
                        waiting = wake(n, v, a) or waiting


@twin
def rows_collect(n, colour, reached, a: WaitingRows):
    """Mark as reached the targets of active rows that have the same colour, until no row of the chunk is active."""
    waiting = True
    while waiting:
        waiting = False
        for row in range(n):
            if not a.active[a.first + row]:
                continue
            u = begin_row(row, a)
            for e in range(a.indptr[row], a.indptr[row + 1]):
                v = a.targets[e]
                if not reached[v] and colour[v] == colour[u]:
                    reached[v] = 1
                    a.counters.found += 1
                    if a.low <= v < a.high:
                        waiting = wake(n, v, a) or waiting


@twin
def rows_alone(n, colour, a: ChunkRows):
    """Change the colour c of each row without an edge to another row that has a colour to -1 - c."""
    changed = True
    while changed:
        changed = False
        for row in range(n):
            u = a.first + row
            if colour[u] < 0:
                continue
            e, end = a.indptr[row], a.indptr[row + 1]
            a.counters.worked += 1
            while e < end and (a.targets[e] == u or colour[a.targets[e]] < 0):
                e += 1
            a.counters.looked += min(e + 1, end) - a.indptr[row]
            if e == end:
                colour[u] = -1 - colour[u]
                a.counters.found += 1
                changed = row > 0


@twin
def _higher(u, row, a: HigherRows):
    """Store the distinct neighbours of a row that follow it by degree, then position, and their ties; count them."""
    size = 0
    for e in range(a.indptr[row], a.indptr[row + 1]):
        a.mark[a.targets[e]] |= 1
    if a.both:
        for e in range(a.back_indptr[row], a.back_indptr[row + 1]):
            a.mark[a.back_targets[e]] |= 2
    a.mark[u] = 0
    for way in range(2 if a.both else 1):
        heads, tails = (a.back_indptr, a.back_targets) if way else (a.indptr, a.targets)
        for e in range(heads[row], heads[row + 1]):
            v = tails[e]
            if a.mark[v]:
                if a.degree[u] < a.degree[v] or (a.degree[u] == a.degree[v] and u < v):
                    a.higher[size] = v
                    a.higher_ties[size] = 2 if a.mark[v] == 3 else 1
                    size += 1
                a.mark[v] = 0
    return size


@twin
def rows_higher(n, a: HigherRows):
    """Append the higher neighbours of rows to `ends` and `ties` until these are full; return how many rows fitted."""
    for row in range(n):
        u = a.first + row
        size = _higher(u, row, a)
        at = a.begins[row]
        if at + size > len(a.ends):
            return row
        for k in range(size):
            a.ends[at + k], a.ties[at + k] = a.higher[k], a.higher_ties[k]
            a.joined[a.higher[k]] += 1
        a.joined[u] += size
        a.begins[row + 1] = at + size
    return n


@twin
def rows_triangles(n, begin, end, a: HigherRows):
    """Count the triangles whose lowest vertex is a row and whose middle vertex is a position from `begin` to `end`.

    The higher neighbours of the middle vertices are given.
    """
    for row in range(n):
        u = a.first + row
        a.totals.looked += a.indptr[row + 1] - a.indptr[row]
        size = _higher(u, row, a)
        marked = False
        for k in range(size):
            v = a.higher[k]
            if v < begin or v >= end or a.begins[v - begin] == a.begins[v - begin + 1]:
                continue
            if not marked:
                for i in range(size):
                    a.mark[a.higher[i]] = a.higher_ties[i]
                marked = True
            at_u = at_v = found = 0
            for j in range(a.begins[v - begin], a.begins[v - begin + 1]):
                w = a.ends[j]
                if a.mark[w]:
                    at_u += a.ties[j]
                    at_v += a.mark[w]
                    a.links[w] += a.higher_ties[k]
                    found += 1
            a.links[u] += at_u
            a.links[v] += at_v
            a.totals.triangles += found
            a.totals.added += at_u + at_v + found * a.higher_ties[k]
        if marked:
            for i in range(size):
                a.mark[a.higher[i]] = 0
