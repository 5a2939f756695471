"""Choosing edges of many vertices by alias tables of their biases: twins of aliases.cu.

share, other, totals
           the tables (biases.py) of all rows
rows       index dtype: those of the items

The other arguments are those of selection.py.
"""

import numpy as np

from graphdask.kernels.choice.pick import pick_alias
from graphdask.kernels.choice.selection import group_key
from graphdask.kernels.common.philox import philox
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def aliases_draw(
    n, rows, indptr, totals, share, other, starts, counts, seed, what, tags, instances, step, chosen, owner
):
    """Choose edges with replacement."""
    for i in range(n):
        row, out, key = rows[i], starts[i], group_key(seed, what, tags[i])
        begin, end = indptr[row], indptr[row + 1]
        for s in range(counts[i]):
            first, second = philox(key, np.uint64(instances[i]), np.uint64(step), np.uint64(s))
            edge = pick_alias(share, other, totals[row], begin, end, first, second)
            chosen[out + s] = edge - begin
            owner[out + s] = i if edge >= 0 else -1
