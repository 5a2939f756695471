"""Edges between the vertices of each of some sets, in the order of set, source and place: twins of selected.cu.

`selected_mark` marks the members, `selected_rows` finds the entries to check, `selected_count` checks each of them and
keeps a bit of it, and `selected_write` lists the edges whose bit is set. n is the number of tiles of the last two.
"""

import numpy as np

from graphdask.kernels.common.bitmap import has_bit, set_bit
from graphdask.kernels.common.flat import flat_item
from graphdask.kernels.common.tuning import FLAT_TILE
from graphdask.kernels.common.twin import twin
from graphdask.kernels.subgraphs.selected_pack import SelectedEdges

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
_ONE = np.uint32(1)


@twin
def selected_mark(n, a: SelectedEdges):
    for i in range(n):
        if a.marked[i] >= 0:
            set_bit(a.marks, a.marked_set[i] * a.stride * 32 + a.marked[i])


@twin
def selected_rows(n, a: SelectedEdges):
    for i in range(n):
        begin, end = a.indptr[a.rows[i]], a.indptr[a.rows[i] + 1]
        a.ends[i] = end
        if a.undirected:
            while begin < end:
                middle = (begin + end) >> 1
                slot = a.indices[middle]
                if (a.names[slot] if a.named else slot) < a.ids[i]:
                    begin = middle + 1
                else:
                    end = middle
        a.begins[i] = begin
        a.ends[i] -= begin


@twin
def selected_count(n, a: SelectedEdges):
    total = a.ends[a.items - 1]
    last = min(total, (a.first + n) * FLAT_TILE)
    entry = a.first * FLAT_TILE
    item = flat_item(a.ends, a.items, entry)
    for tile in range(n):
        a.counts[tile] = 0
    mask = np.uint32(0)
    while entry < last:
        while a.ends[item] <= entry:
            item += 1
        place = a.begins[item] + entry - (a.ends[item - 1] if item else 0)
        begin, end = a.bounds[a.sets[item]], a.bounds[a.sets[item] + 1]
        of_set = a.sets[item] * a.stride * 32
        while entry < min(last, a.ends[item]):  # up to the end of a word of bits
            count, found = min(min(last, a.ends[item]) - entry, 32 - (entry & 31)), 0
            for k in range(count):
                kept = has_bit(a.marks, of_set + a.indices[place + k])
                if kept and a.searched:
                    slot = a.indices[place + k]
                    wanted = a.names[slot] if a.named else slot
                    low, high = begin, end
                    while low < high:
                        middle = (low + high) >> 1
                        if a.members[middle] < wanted:
                            low = middle + 1
                        else:
                            high = middle
                    kept = low < end and a.members[low] == wanted
                mask |= np.uint32(kept) << np.uint32((entry + k) & 31)
                found += kept
            a.counts[entry // FLAT_TILE - a.first] += found
            place += count
            entry += count
            if entry & 31 == 0 or entry == total:
                a.masks[((entry - 1) >> 5) - a.first * (FLAT_TILE // 32)] = mask
                mask = np.uint32(0)


@twin
def selected_write(n, a: SelectedEdges):
    total, out = a.ends[a.items - 1], 0
    last = min(total, (a.first + n) * FLAT_TILE)
    entry = a.first * FLAT_TILE
    item = flat_item(a.ends, a.items, entry)
    for word in range((last - entry + 31) >> 5):
        mask, here = a.masks[word], entry + 32 * word
        while mask:
            lowest = mask & (~mask + _ONE)
            k = 0  # the number of the lowest bit
            for half in (16, 8, 4, 2, 1):
                if lowest >> np.uint32(k + half):
                    k += half
            mask ^= lowest
            while a.ends[item] <= here + k:
                item += 1
            place = a.begins[item] + here + k - (a.ends[item - 1] if item else 0)
            slot = a.indices[place]
            a.src[out], a.dst[out] = a.ids[item], a.names[slot] if a.named else slot
            a.instance[out] = a.sets[item]
            if a.placed:
                a.places[out] = place
            out += 1
