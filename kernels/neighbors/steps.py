"""What a step of a spec does beside functions of the caller and draws: twins of steps.cu.

rows, vertices, instances   of items, entries of pools whose neighbours are chosen; instances count from `first` on
bounds     int64: where what belongs to each begins, and the end
counts     int64, shape (n + 1,): 0, and how many are chosen of each; so their sums say where these begin
owners     int64: the item, or group of items, that each edge was chosen of
"""

import numpy as np

from graphdask.kernels.choice.selection import wanted
from graphdask.kernels.common.twin import twin
from graphdask.kernels.neighbors.steps_pack import StepEdges

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def steps_items(n, instances, bounds, first, seeds, begins, places, of_items):
    """Where each entry of all pools stands in its own, and the first vertex that this had; seeds of each instance
    begin at `begins`."""
    for i in range(n):
        mine = instances[i] - first
        places[i] = i - bounds[mine]
        of_items[i] = seeds[begins[mine]]


@twin
def steps_rows(n, rows, indptr, asked, replace, begins, degrees, counts):
    """Where edges of each item begin, how many it has, and how many of them are chosen."""
    counts[0] = 0
    for i in range(n):
        begins[i] = indptr[rows[i]]
        degrees[i] = indptr[np.int64(rows[i]) + 1] - begins[i]
        counts[i + 1] = wanted(degrees[i], asked, replace)


@twin
def steps_counts(n, bounds, asked, replace, counts):
    """How many candidates of each group are chosen."""
    counts[0] = 0
    for i in range(n):
        counts[i + 1] = wanted(bounds[i + 1] - bounds[i], asked, replace)


@twin
def steps_places(n, owners, chosen, bounds, groups, at, places, items):
    """Of edges chosen from groups of items: their places among the edges of all items, which begin at `at`, and the
    items. The candidates of groups begin at `bounds`, their items at `groups`."""
    for i in range(n):
        group = owners[i]
        place = bounds[group] + chosen[i]
        low, high = groups[group], groups[group + 1]
        while high - low > 1:
            middle = (low + high) >> 1
            if at[middle] <= place:
                low = middle
            else:
                high = middle
        places[i], items[i] = place, low


@twin
def steps_ordered(n, order, items, places, at, owners, of_row):
    """The items of edges in another order, and their places in the rows of these."""
    for i in range(n):
        item = items[order[i]]
        owners[i] = item
        of_row[i] = places[order[i]] - at[item]


@twin
def steps_edges(n, a: StepEdges):
    """Where edges that were chosen of items are, begin, and lead to, and their instances; the places that were chosen
    are those in rows, which begin at `begins`, or without that are where edges are."""
    for i in range(n):
        item = a.owners[i]
        a.edges[i] = a.chosen[i] if a.begins is None else a.begins[item] + a.chosen[i]
        a.src[i] = a.vertices[item]
        a.of_edges[i] = a.instances[item]
        slot = a.indices[a.edges[i]]
        a.dst[i] = a.ids[slot] if a.mapped else slot
