"""Rows of edges that a GPU sorts by numbers of 64 bits, row and column. A CPU counts rows (rows.py) and uses NumPy.

src, dst  index dtype: edges
others    int64: the places of those that are no self-loops, in any order
count     number of keys; or one uint64, to which the number of `others` is added
places    int64: edges, one after the other, or None for all
rows, columns  int32: rows from 0, and vertices
keys      int64: row times 2^32 plus column, ascending for `begins`
ids       int32: the vertex of each row
indptr    int64: where each of the `n` - 1 rows begins, and where the last one ends
loops     one uint64, to which the number of self-loops is added
first, numbers  numbers from `first` on
indices   index dtype: slots of neighbours, row after row, which ascend by the numbers of their vertices
number    index dtype: the number of the vertex of each slot, or None if that is the slot
sources   index dtype: `first` plus the row of each of the `n` edges of so many `rows`
degrees   int64: to which the lengths of rows are added; and, with `ids`, once more the self-loops
"""

import numpy as np

from graphdask.kernels.common.twin import by_python

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@by_python
def sorted_rows_others(n, src, dst, others, count):
    found = np.flatnonzero(src[:n] != dst[:n])
    others[int(count[0]) :][: len(found)] = found
    count[0] += len(found)


@by_python
def sorted_rows_keys(n, places, rows, columns, keys):
    some = slice(n) if places is None else places[:n]
    keys[:n] = rows[some].astype(np.int64) << 32 | columns[some]


@by_python
def sorted_rows_begins(n, keys, count, ids, indptr, loops):
    indptr[:n] = np.searchsorted(keys[:count], np.arange(n) << 32)
    row, column = keys[:count] >> 32, keys[:count] & 0xFFFFFFFF
    loops[0] += np.count_nonzero(ids[row] == column)


@by_python
def sorted_rows_numbers(n, first, numbers):
    numbers[:n] = np.arange(first, first + n)


@by_python
def sorted_rows_degrees(n, indptr, indices, number, ids, degrees):
    length = np.diff(indptr[: n + 1])
    degrees[:n] += length
    if ids is not None:
        rows = np.repeat(np.arange(n), length)
        ends = indices[: indptr[n]] if number is None else number[indices[: indptr[n]]]
        degrees[:n] += np.bincount(rows[ends == ids[rows]], minlength=n)


@by_python
def sorted_rows_sources(n, rows, first, indptr, sources):
    sources[:n] = first + np.repeat(np.arange(rows), np.diff(indptr[: rows + 1]))


@by_python
def sorted_rows_columns(n, keys, columns):
    columns[:n] = keys[:n] & 0xFFFFFFFF
