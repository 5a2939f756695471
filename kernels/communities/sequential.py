"""Moves of one vertex after the other, on a CPU, for graphs and levels that one rank processes by itself.

Gains are those of communities.py: the weight that leads to a community, less share * sum of the other degrees in it,
where share is degree * scale. There is no CUDA kernel of it, because a move depends on those made earlier.

Source: Traag, Waltman, van Eck, From Louvain to Leiden: guaranteeing well-connected communities (2019), algorithm A.2.
"""

import numpy as np

from graphdask.kernels.common.twin import twin, within
from graphdask.kernels.communities.sequential_pack import Sequential


@within
def weights_to(u, met, indptr, indices, weights, label, outer, refining, keys, total):
    """Add up the weights from `u` to each community, and return how many communities are known, with `met` before."""
    for e in range(indptr[u], indptr[u + 1]):
        v = indices[e]
        if v == u or (refining and outer[v] != outer[u]):
            continue
        community = label[v]
        if total[community] < 0:
            total[community] = 0
            keys[met] = community
            met += 1
        total[community] += weights[e]
    return met


@twin
def sequential_move(n, scale, least, a: Sequential):
    """Move each vertex of the queue to the community of the largest gain, an empty one too, and return the visits.

    The queue has all n vertices at first. The neighbours of a vertex that has moved come into it again, except those in
    its new community. A move gains more than least * degree, so it ends. Of equal gains the smallest label wins.
    """
    head = visits = free = 0
    for community in range(n):
        if a.members[community] == 0:
            a.empty[free] = community
            free += 1
    waiting = n
    while waiting:
        u = a.queue[head]
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        visits += 1
        a.waiting[u] = 0
        here, degree = a.label[u], a.degree[u]
        a.total[here] = 0
        a.keys[0] = here
        met = weights_to(u, 1, a.indptr, a.indices, a.weights, a.label, a.label, False, a.keys, a.total)
        share = np.float64(degree) * scale
        stays = np.float64(a.total[here]) - share * np.float64(a.sums[here] - degree)
        a.total[here] = -1
        best, choice = stays + np.float64(degree) * least, here
        for k in range(1, met):
            community = a.keys[k]
            gain = np.float64(a.total[community]) - share * np.float64(a.sums[community])
            a.total[community] = -1
            if gain > best or (gain == best and choice != here and community < choice):
                best, choice = gain, community
        if best < 0.0 and a.members[here] > 1:
            free -= 1
            choice = a.empty[free]
        if choice == here:
            continue
        a.sums[here] -= degree
        a.sums[choice] += degree
        a.members[here] -= 1
        a.members[choice] += 1
        if a.members[here] == 0:
            a.empty[free] = here
            free += 1
        a.label[u] = choice
        for e in range(a.indptr[u], a.indptr[u + 1]):
            v = a.indices[e]
            if a.label[v] != choice and not a.waiting[v]:
                a.waiting[v] = 1
                place = head + waiting
                a.queue[place if place < n else place - n] = v
                waiting += 1
    return visits


@twin
def sequential_refine(n, scale, a: Sequential):
    """Join vertices to connected groups within the communities of `outer`; each is a group of its own at first.

    A vertex that is still on its own joins the group of the largest gain, 0 or more, to which it has an edge. The
    vertex, and the group before, must be well connected to the rest of their community: by at least the weight that is
    expected. Of equal gains the smallest label wins.
    """
    for u in range(n):
        a.border[u] = 0
        for e in range(a.indptr[u], a.indptr[u + 1]):
            v = a.indices[e]
            if v != u and a.outer[v] == a.outer[u]:
                a.border[u] += a.weights[e]
    for i in range(n):
        u = a.queue[i]
        degree, whole = a.degree[u], a.outer_sums[a.outer[u]]
        share = np.float64(degree) * scale
        if a.label[u] != u or a.members[u] != 1 or np.float64(a.border[u]) < share * np.float64(whole - degree):
            continue
        met = weights_to(u, 0, a.indptr, a.indices, a.weights, a.label, a.outer, True, a.keys, a.total)
        best, choice, weight = 0.0, -1, 0
        for k in range(met):
            group = a.keys[k]
            its = a.total[group]
            a.total[group] = -1
            expected = np.float64(a.sums[group]) * scale * np.float64(whole - a.sums[group])
            gain = np.float64(its) - share * np.float64(a.sums[group])
            if np.float64(a.border[group]) >= expected and (
                gain > best or (gain == best and (choice < 0 or group < choice))
            ):
                best, choice, weight = gain, group, its
        if choice >= 0:
            a.label[u] = choice
            a.sums[choice] += degree
            a.members[choice] += 1
            a.members[u] = 0
            a.border[choice] += a.border[u] - 2 * weight


@twin
def sequential_number(n, label, number, place):
    """Number the communities of n vertices in the order of their smallest vertices, and return how many there are.

    `place` becomes the number of each vertex's community; `number` has -1 for each label.
    """
    count = 0
    for u in range(n):
        community = label[u]
        if number[community] < 0:
            number[community] = count
            count += 1
        place[u] = number[community]
    return count


@twin
def sequential_join(n, place, begin, members, total, indptr, indices, weights, starts, targets, sums):
    """Write the rows of the n communities that vertices have as `place`, and return the number of their entries.

    `begin` has n + 1 zeros, and `total` has -1 for each community, before and after.
    """
    for u in range(len(place)):
        begin[place[u] + 1] += 1
    for community in range(n):
        begin[community + 1] += begin[community]
    for u in range(len(place)):
        members[begin[place[u]]] = u
        begin[place[u]] += 1
    kept = first = 0
    for community in range(n):
        starts[community] = kept
        for i in range(first, begin[community]):
            u = members[i]
            for e in range(indptr[u], indptr[u + 1]):
                target = place[indices[e]]
                if total[target] < 0:
                    total[target] = 0
                    targets[kept] = target
                    kept += 1
                total[target] += weights[e]
        first = begin[community]
        for k in range(starts[community], kept):
            sums[k] = total[targets[k]]
            total[targets[k]] = -1
    starts[n] = kept
    return kept
