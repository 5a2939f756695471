"""Choosing edges of many vertices by alias tables of their biases: twins of aliases.cu.

share, other, totals
           the tables (biases.py) of all rows

The other arguments are those of selection.py.
"""

import numpy as np

from graphdask.kernels.choice.aliases_pack import AliasDraws
from graphdask.kernels.choice.pick import pick_alias
from graphdask.kernels.choice.selection import group_key
from graphdask.kernels.common.philox import philox
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def aliases_draw(n, a: AliasDraws):
    """Choose edges with replacement."""
    for i in range(n):
        row, out, key = a.rows[i], a.starts[i], group_key(a.seed, a.what, a.tags[i])
        begin, end = a.indptr[row], a.indptr[row + 1]
        for s in range(a.counts[i]):
            first, second = philox(key, np.uint64(a.instances[i]), np.uint64(a.step), np.uint64(s))
            edge = pick_alias(a.share, a.other, a.totals[row], begin, end, first, second)
            a.chosen[out + s] = edge - begin
            a.owner[out + s] = i if edge >= 0 else -1
