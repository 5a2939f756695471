"""Rows of edges that are drawn: twins of edge_rows.cu.

places   index dtype: of drawn edges; what they lead to afterwards
indices  index dtype: slots that edges lead to
kept     int64: where each edge was before some were left out; None where none were
rows     int32 or int64: the row of each edge in what the caller gave
numbers  as rows: of drawn edges
shifts   int64: by how much the edges of each instance move, the first instance being number `first`
"""

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": index, "row_t": row} for index in ("int", "long long") for row in ("int", "long long")]


@twin
def edge_rows_reported(n, places, indices, kept, rows, numbers):
    """The row of each edge, and in the place of its place what it leads to."""
    for i in range(n):
        place = places[i]
        numbers[i] = rows[place] if kept is None else rows[kept[place]]
        places[i] = indices[place]


@twin
def edge_rows_named(n, places, kept, rows, numbers):
    """The row of each edge; `numbers` may be `places`, if they are of one dtype."""
    for i in range(n):
        place = places[i]
        numbers[i] = rows[place] if kept is None else rows[kept[place]]


@twin
def edge_rows_placed(n, first, shifts, instances, numbers, out):
    """Put the rows of a hop where its edges belong among those of all hops."""
    for i in range(n):
        out[i + shifts[instances[i] - first]] = numbers[i]
