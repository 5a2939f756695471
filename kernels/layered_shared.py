"""Joining trees over a layered edge list that several ranks share: CPU only. Arguments are those of layered.py."""

from graphdask.kernels.layered import _root, u64
from graphdask.kernels.twin import twin


@twin
def shared_join(n, vertices, roots, tree):
    """Join the trees of pairs of positions."""
    for k in range(n):
        u, v = _root(tree, tree[u64(vertices[k])]), _root(tree, tree[u64(roots[k])])
        if u < v:
            tree[u64(v)] = u
        elif v < u:
            tree[u64(u)] = v
