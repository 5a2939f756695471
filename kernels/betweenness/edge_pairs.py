"""The values of the two directions of undirected edges, added up.

Of n edges, `places` has where one direction is among the values `over`, and `mirrors` where the other one is among
those that `came`, or -1 for a self-loop, which has one direction. Each value is multiplied by `scale` before the sum.
"""

from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]


@twin
def edge_pairs_add(n, places, mirrors, over, came, scale, scores):
    for i in range(n):
        score = over[places[i]] * scale
        if mirrors[i] >= 0:
            score += came[mirrors[i]] * scale
        scores[i] = score
