"""Sums over rows by way of bins: twins of bins.cu.

first_edge    int64 per bin and one more: the edges of a bin are those from its first one to that of the next; a bin
              begins with a row, or with a chunk of one
indices       index dtype per edge; `place`, index dtype: where what it points at stands in x
hot           how many of x, from the first, are in shared memory wherever they are read, and so in no segment
length        of x, as far as it is read
width         of x in a segment, of which there are `segments`; at most 65536
packet        contributions in a packet of 32 bytes
teams         of threads of a block, each with a bin of its own, for which there are `room` bytes of shared memory
packets       int32 of shape (bins, segments): packets of what the edges of a bin gather from a segment
in_bins       the sum of those before, bins outside; one more at the end
in_segments   the same of the transposed, segments outside
places        uint16 per edge: where in its bin it finds its contribution
sources       uint16 per place of a packet, those of in_segments one after the other: which of its segment belongs there
targets       int32 per such packet: where it stands in `values`
item_segment  int32: the segment of each part of what there is to fill; item_packet, int32 and one more: where it begins
wanted        None, or uint64, one: 0 where nothing is to be summed
values        real_t: contributions in bins, which `bins_fill` writes and `bins_sum` reads
first_packet  int32 per bin and one more: where it begins in `values`
chunks        int32: first edge, from the bin's first one on, times 256, plus number of edges less one; `targets` as in
              pagerank.py; first_chunk, int32 per bin and one more: which are the bin's
rows          the same of rows of up to 8 edges, whose sums go to sums[goes]; first_row likewise
weights       weight_t per edge, of unit `unit` (codes.py); counts where `weighted`
partial       float64: sums of chunks of longer rows, of row i (of `many`) from first_chunk[i] to first_chunk[i + 1]

The order of additions in a row is that of lanes.py. Sums of rows without edges are not written.
"""

import numpy as np

from graphdask.kernels.common.lanes import tree, u64
from graphdask.kernels.common.twin import twin

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
def bins_place(
    n, bins, first_edge, indices, place, hot, width, segments, packet, in_bins, in_segments, places, sources, targets
):
    count = np.zeros(segments, np.int64)
    for b in range(bins):
        count[:] = 0
        for k in range(first_edge[b], first_edge[b + 1]):
            at = place[indices[k]] - hot
            if at < 0:
                places[k] = at + hot
                continue
            s = at // width
            to, begin, number = in_bins[b * segments + s], in_segments[s * bins + b], count[s]
            count[s] += 1
            places[k] = hot + (to - in_bins[b * segments]) * packet + number
            sources[begin * packet + number] = at - s * width
            if number % packet == 0:
                targets[begin + number // packet] = to + number // packet


@twin
def bins_fill(n, items, item_segment, item_packet, hot, width, length, packet, x, sources, targets, values, wanted):
    if wanted is not None and not wanted[0]:
        return
    for i in range(items):
        first = hot + item_segment[i] * width
        for p in range(item_packet[i], item_packet[i + 1]):
            for k in range(packet):
                values[targets[p] * packet + k] = x[first + sources[p * packet + k]]


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
def bins_sum(
    n, bins, teams, room, first_edge, first_packet, packet, x, hot, values, places, weights, weighted, unit,
    first_chunk, chunks, targets, first_row, rows, goes, sums, partial,
    wanted,
):  # fmt: skip
    if wanted is not None and not wanted[0]:
        return
    lane = np.zeros(8)
    for b in range(bins):
        begin = first_packet[b] * packet
        for c in range(first_chunk[b], first_chunk[b + 1]):
            first, length = first_edge[b] + (chunks[c] >> 8), (chunks[c] & 255) + 1
            total = _sum_of(first, length, places, weights, weighted, unit, x, hot, values, begin, lane)
            if targets[c] < 0:
                partial[-1 - targets[c]] = total
            else:
                sums[targets[c]] = total
        for r in range(first_row[b], first_row[b + 1]):
            first, length = first_edge[b] + (rows[r] >> 8), (rows[r] & 255) + 1
            sums[goes[r]] = _sum_of(first, length, places, weights, weighted, unit, x, hot, values, begin, lane)


@twin
def bins_sum_long(n, many, first_chunk, partial, sums):
    lane = np.zeros(8)
    for i in range(len(first_chunk) - 1):
        lane[:] = 0.0
        for c in range(first_chunk[i], first_chunk[i + 1]):
            lane[(c - first_chunk[i]) & 7] += partial[c]
        sums[many[i]] = tree(lane)
