"""Sums over rows by way of bins: twins of bins.cu.

first_edge    int64 per bin and one more: the edges of a bin are those from its first one to that of the next; a bin
              begins with a row, or with a chunk of one
hot           how many of x, from the first, are in shared memory wherever they are read, and so in no segment
teams         of threads of a block, each with a bin of its own, for which there are `bin_bytes` bytes of shared memory
packets       int32 of shape (bins, segments): packets of what the edges of a bin gather from a segment
sources       uint16 per place of a packet, those of in_segments one after the other: which of its segment belongs there
item_segment  int32: the segment of each part of what there is to fill; item_packet, int32 and one more: where it begins
chunks        int32: first edge, from the bin's first one on, times 256, plus number of edges less one; `targets` as in
              pagerank.py; first_chunk, int32 per bin and one more: which are the bin's
partial       float64: sums of chunks of longer rows, which pagerank_sum_partials of pagerank.py adds up

The order of additions in a row is that of lanes.py. Sums of rows without edges are not written.
"""

import numpy as np

from graphdask.kernels.common.lanes import tree, u64
from graphdask.kernels.common.twin import twin
from graphdask.kernels.pagerank.bins_pack import BinRows

MACROS = [
    {"index_t": index, "real_t": "float", "weight_t": weight}
    for index in ("int", "long long")
    for weight in ("unsigned char", "unsigned short", "float")
]


@twin
def bins_count(n, bins, first_edge, indices, place, hot, width, segments, packet, packets):
    count = np.zeros(segments, np.int64)
    for b in range(bins):
        count[:] = 0
        for k in range(first_edge[b], first_edge[b + 1]):
            at = place[indices[k]] - hot
            if at >= 0:
                count[at // width] += 1
        for s in range(segments):
            packets[b * segments + s] = (count[s] + packet - 1) // packet


@twin
def bins_place(n, a: BinRows):
    count = np.zeros(a.segments, np.int64)
    for b in range(a.bins):
        count[:] = 0
        for k in range(a.first_edge[b], a.first_edge[b + 1]):
            at = a.place[a.indices[k]] - a.hot
            if at < 0:
                a.places[k] = at + a.hot
                continue
            s = at // a.width
            to, begin, number = a.in_bins[b * a.segments + s], a.in_segments[s * a.bins + b], count[s]
            count[s] += 1
            a.places[k] = a.hot + (to - a.in_bins[b * a.segments]) * a.packet + number
            a.sources[begin * a.packet + number] = at - s * a.width
            if number % a.packet == 0:
                a.targets[begin + number // a.packet] = to + number // a.packet


@twin
def bins_fill(n, a: BinRows):
    if a.wanted is not None and not a.wanted[0]:
        return
    for i in range(a.items):
        first = a.hot + a.item_segment[i] * a.width
        for p in range(a.item_packet[i], a.item_packet[i + 1]):
            for k in range(a.packet):
                a.values[a.targets[p] * a.packet + k] = a.x[first + a.sources[p * a.packet + k]]


@twin
def _sum_of(first, length, places, weights, weighted, unit, x, hot, values, begin, lane):
    lane[:] = 0.0
    for i in range(length):
        k = u64(first + i)
        at = np.int64(places[k])
        value = np.float64(x[at] if at < hot else values[begin + at - hot])
        lane[i & 7] += np.float64(weights[k]) * unit * value if weighted else value
    return tree(lane)


@twin
def bins_sum(n, a: BinRows):
    if a.wanted is not None and not a.wanted[0]:
        return
    lane = np.zeros(8)
    for b in range(a.bins):
        begin = a.first_packet[b] * a.packet
        for c in range(a.first_chunk[b], a.first_chunk[b + 1]):
            first, length = a.first_edge[b] + (a.chunks[c] >> 8), (a.chunks[c] & 255) + 1
            total = _sum_of(first, length, a.places, a.weights, a.weighted, a.unit, a.x, a.hot, a.values, begin, lane)
            if a.chunk_targets[c] < 0:
                a.partial[-1 - a.chunk_targets[c]] = total
            else:
                a.sums[a.chunk_targets[c]] = total
        for r in range(a.first_row[b], a.first_row[b + 1]):
            first, length = a.first_edge[b] + (a.rows[r] >> 8), (a.rows[r] & 255) + 1
            a.sums[a.goes[r]] = _sum_of(
                first, length, a.places, a.weights, a.weighted, a.unit, a.x, a.hot, a.values, begin, lane
            )
