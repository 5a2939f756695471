"""Rewriting the rows that a batch changes: twins of dynamic_rows.cu.

begin, length  int64 per row that changes: where it is in the pool, before it changes
first          int64, one more than there are rows: the entries of the batch that are of each row, in ascending order
place          int64 per entry: how many of the row are less
insert         uint8 per entry: whether it is inserted, being absent, or deleted, being there
before_in,     int64, one more than there are entries: how many before it are inserted, and deleted
before_out
new_begin      int64, one more than there are rows: where each row begins in `out`, as it is to be
values         per entry what is inserted, as `pool` and `out` entry_t: ids, or weights

On a GPU a block takes a row that changes, and a warp a row where all of them move, of `length` entries each, to where
`target` says.
"""

from graphdask.kernels.twin import twin

MACROS = [{"entry_t": kind} for kind in ("int", "long long", "float", "double")]


@twin
def dynamic_rows_merge(n, begin, length, first, place, insert, before_in, before_out, new_begin, values, pool, out):
    for r in range(n):
        at, j = new_begin[r], 0
        for i in range(first[r], first[r + 1]):
            while j < place[i]:
                out[at] = pool[begin[r] + j]
                at += 1
                j += 1
            if insert[i]:
                out[at] = values[i]
                at += 1
            else:
                j += 1
        while j < length[r]:
            out[at] = pool[begin[r] + j]
            at += 1
            j += 1


@twin
def dynamic_rows_put(n, begin, new_begin, out, pool):
    for r in range(n):
        for k in range(new_begin[r + 1] - new_begin[r]):
            pool[begin[r] + k] = out[new_begin[r] + k]


@twin
def dynamic_rows_move(n, begin, length, target, pool, out):
    for v in range(n):
        for k in range(length[v]):
            out[target[v] + k] = pool[begin[v] + k]
