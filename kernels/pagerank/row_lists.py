"""Lists of the rows of a Csr as a GPU sums them: the arguments of row_lists.cu. A CPU sums rows as they stand,
unless a test has it lay them out.

n          threads, of which 256 have a tile of `rows`, for `count` and `write`; else the number of entries
indptr     int64: where rows begin
goes       index dtype: where the sum of each row goes; None: the sums stand in the order of rows
totals     five uint64, to which is added how many rows of up to ROW_FEW edges there are, and their edges; how many of
           more, their pieces of ROW_CHUNK edges, and their steps of eight lanes
sums       four int64 for each tile, and in all: rows of several pieces, of one, of few edges; and pieces of the first
items      int64: first edge times ROW_SPAN plus number of edges, of pieces or rows
keys       uint16 or uint8: the number by which they are sorted, so that the longest come first
targets    index dtype: where the sum goes, or -1 - number of the partial sum
many       index dtype: where the sums of rows of several pieces go, then -1 up to a multiple of 4
first_chunk  int64: the pieces before each of them
few        index dtype: the rows of few edges
order      int64: what a sort found; None: as they stand
together   items of a slice; `lanes` of each
steps      int64: `base`, then the entries of each slice
counts, degrees  index dtype
place, slots     index dtype: the place of each slot in an order, and the slot at each place
extra      uint8: how many edges are added to a row; None where there are none
inverse    float64: 1 / edges, 0 where there are none
"""

import numpy as np

from graphdask.kernels.common.tuning import ROW_CHUNK, ROW_EACH, ROW_FEW, ROW_SPAN
from graphdask.kernels.common.twin import by_python

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
TILE = 256 * ROW_EACH
MOST = 65535
"""Counts from which on all are alike in an order by counts: keys have 16 bits, so that a radix sort serves."""


def _up(numbers, by):
    return -(-numbers // by)


def _kinds(rows, indptr):
    """Per row whether it has several pieces, one, or few edges; and the pieces of the first."""
    degree = np.diff(indptr[: rows + 1])
    many = degree > ROW_CHUNK
    kinds = many, (degree > ROW_FEW) & ~many, (degree > 0) & (degree <= ROW_FEW), many * _up(degree, ROW_CHUNK)
    return degree, np.stack(kinds, axis=1).astype(np.int64)


@by_python
def row_lists_totals(n, indptr, totals):
    degree, kinds = _kinds(n, indptr)
    long, few = degree[degree > ROW_FEW], degree[kinds[:, 2] > 0]
    found = len(few), few.sum(), len(long), _up(long, ROW_CHUNK).sum(), _up(long, 8).sum()
    totals += np.array(found, np.uint64)


@by_python
def row_lists_count(n, rows, indptr, sums):
    kinds = _kinds(rows, indptr)[1]
    for tile in range(n // 256):
        sums[4 * tile : 4 * tile + 4] = kinds[TILE * tile :][:TILE].sum(axis=0)


@by_python
def row_lists_sum(n, tiles, sums):
    before = sums.reshape(-1, 4)
    after = np.cumsum(before[:tiles], axis=0)
    before[0] = 0
    before[1:] = after


@by_python
def row_lists_write(n, rows, indptr, goes, sums, items, keys, targets, many, first_chunk, few):
    degree, kinds = _kinds(rows, indptr)
    to = np.arange(rows) if goes is None else goes
    several, one, short = (np.flatnonzero(kinds[:, kind]) for kind in range(3))
    few[:] = short
    many[:] = -1
    many[: len(several)] = to[several]
    np.cumsum(np.append(0, kinds[several, 3]), out=first_chunk)
    total = int(first_chunk[-1])
    done = ROW_CHUNK * (np.arange(total) - np.repeat(first_chunk[:-1], kinds[several, 3]))
    row = np.repeat(several, kinds[several, 3])
    length = np.append(np.minimum(degree[row] - done, ROW_CHUNK), degree[one])
    items[:] = np.append(indptr[row] + done, indptr[one]) * ROW_SPAN + length
    keys[:] = ROW_CHUNK - length
    targets[:] = np.append(-1 - np.arange(total), to[one])


@by_python
def row_lists_gather(n, count, order, items, targets, items_out, targets_out):
    for values, out in ((items, items_out), (targets, targets_out)):
        out[:count] = values[order[:count]]
        out[count:n] = 0


@by_python
def row_lists_named(n, rows, goes, out):
    out[:n] = goes[rows[:n]]


@by_python
def row_lists_lengths(n, order, rows, indptr, rows_out, keys):
    rows_out[:n] = rows[:n] if order is None else rows[order[:n]]
    keys[:n] = ROW_FEW - (indptr[rows_out[:n] + 1] - indptr[rows_out[:n]])


@by_python
def row_lists_few(n, order, rows, indptr, goes, items, targets):
    row = rows[order[:n]]
    items[:n] = indptr[row] * ROW_SPAN + indptr[row + 1] - indptr[row]
    targets[:n] = row if goes is None else goes[row]


@by_python
def row_lists_steps(n, items, together, lanes, base, steps):
    steps[0] = base
    steps[1:n] = 32 * _up(items[::together] % ROW_SPAN, lanes)


@by_python
def row_lists_degrees(n, indptr, degrees):
    degrees[:n] = np.diff(indptr[: n + 1])


@by_python
def row_lists_fewest(n, counts, keys):
    keys[:n] = MOST - np.minimum(counts[:n], MOST)


@by_python
def row_lists_places(n, order, place, slots):
    slots[:n] = order[:n]
    place[order[:n]] = np.arange(n)


@by_python
def row_lists_inverse(n, indptr, slots, extra, inverse):
    edges = (indptr[slots + 1] - indptr[slots]).astype(np.float64) + (0 if extra is None else extra)
    with np.errstate(divide="ignore"):
        inverse[:n] = np.where(edges > 0, 1.0 / edges, 0.0)
