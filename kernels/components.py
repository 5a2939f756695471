"""Connected components of one partition, and the labels that travel between partitions: twins of components.cu.

link     index dtype per slot: a tree of slots, each pointing to a smaller one, roots to themselves
root     link, followed to its end
label    index dtype per root slot: the smallest id known of its component
counters int64; hook and check: hubs, edges looked at; fold and spread: changed roots, ghosts to send,
         roots of many ghosts, ghosts looked at
"""

import numpy as np

from graphdask.kernels.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def components_hook(n, indptr, indices, link, hubs, counters):
    for u in range(n):
        a = np.int64(u)
        while link[a] != a:
            link[a] = link[link[a]]
            a = link[a]
        for e in range(indptr[u], indptr[u + 1]):
            b = np.int64(indices[e])
            while link[b] != b:
                link[b] = link[link[b]]
                b = link[b]
            if a < b:
                link[b] = a
            elif b < a:
                link[a] = b
                a = b
    counters[1] += indptr[n] - indptr[0]


@twin
def components_hook_hubs(n, indptr, indices, link, hubs, counters):
    pass


@twin
def components_compress(n, link, root):
    for v in range(n):
        at = link[v]
        while at != link[at]:
            at = link[at]
        root[v] = at


@twin
def components_label(n, ids, root, label):
    for v in range(n):
        if ids[v] < label[root[v]]:
            label[root[v]] = ids[v]


@twin
def components_fold(n, slots, labels, root, label, changed_in, step, changed, counters):
    tail = counters[0]
    for i in range(n):
        r = root[slots[i]]
        if labels[i] < label[r]:
            label[r] = labels[i]
            if changed_in[r] != step:
                changed_in[r] = step
                changed[tail] = r
                tail += 1
    counters[0] = tail


@twin
def components_spread(n, changed, group_start, grouped, label, value, ghost_queue, hubs, counters):
    tail = counters[1]
    for i in range(n):
        r = changed[i]
        for g in range(group_start[r], group_start[r + 1]):
            value[grouped[g]] = label[r]
            ghost_queue[tail] = grouped[g]
            tail += 1
    counters[1] = tail


@twin
def components_spread_hubs(n, group_start, grouped, label, value, ghost_queue, hubs, counters):
    pass


@twin
def components_check(n, indptr, indices, label, first_bad, hubs, counters):
    for u in range(n):
        for e in range(indptr[u], indptr[u + 1]):
            if label[u] != label[indices[e]] and e < first_bad[0]:
                first_bad[0] = e


@twin
def components_check_hubs(n, indptr, indices, label, first_bad, hubs, counters):
    pass
