"""What random walks have to obey, from definitions: Philox in plain Python, transition matrices, tests of counts."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2, chi2_contingency

LOW, WORD = (1 << 32) - 1, (1 << 64) - 1
WALK = 256
LEAST_P = 1e-4


def mixed(x):
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ x >> shift) * factor & WORD
    return x ^ x >> 31


def key_of(seed, what=WALK):
    golden = 0x9E3779B97F4A7C15
    return mixed(mixed(seed + golden & WORD) + 2 * what * golden & WORD)


def philox(key, instance, step, draw):
    """Salmon et al., SC 2011: the 128 bits of a counter, as two words."""
    k = [key & LOW, key >> 32]
    x = [instance & LOW, instance >> 32, step, draw]
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [b >> 32 ^ x[1] ^ k[0], b & LOW, a >> 32 ^ x[3] ^ k[1], a & LOW]
        k = [k[0] + 0x9E3779B9 & LOW, k[1] + 0xBB67AE85 & LOW]
    return x[0] | x[1] << 32, x[2] | x[3] << 32


def simple_walk(rows, start, length, seed, instance):
    """The walk that the definition gives: of each step the first word, as a fraction, says which neighbour."""
    key, walk = key_of(seed & WORD), [start]
    for step in range(1, length + 1):
        row = rows[walk[-1]] if walk[-1] >= 0 else []
        first, _ = philox(key, instance, step, 0)
        walk.append(row[first * len(row) >> 64] if row else -1)
    return walk


def adjacency(n, src, dst, weights=None, directed=True):
    """Sums of weights, as a matrix."""
    matrix = np.zeros((n, n))
    np.add.at(matrix, (src, dst), 1 if weights is None else weights)
    if not directed:
        other = src != dst
        np.add.at(matrix, (dst[other], src[other]), 1 if weights is None else weights[other])
    return matrix


def stochastic(matrix):
    total = matrix.sum(axis=-1, keepdims=True)
    return np.divide(matrix, total, out=np.zeros_like(matrix), where=total > 0)


def node2vec_matrix(matrix, p, q):
    """[u, v, x]: the probability of x after u and v (Grover, Leskovec, Section 3.2)."""
    edge = matrix > 0
    factor = np.where(edge[:, None, :], 1.0, 1 / q) * np.ones((len(matrix), len(matrix), 1))
    for u in range(len(matrix)):
        factor[u, :, u] = 1 / p
    return stochastic(factor * matrix[None]) * edge[:, :, None]


def p_of_counts(counts, probability):
    """Of a G-test that rows of counts were drawn by rows of probabilities; 0 where something impossible was counted."""
    counts, probability = (np.asarray(a, float).reshape(-1, np.shape(a)[-1]) for a in (counts, probability))
    counts, probability = counts[counts.sum(axis=1) > 0], probability[counts.sum(axis=1) > 0]
    if counts[probability == 0].any():
        return 0.0
    expected = counts.sum(axis=1, keepdims=True) * probability
    seen = counts > 0
    g = 2 * (counts[seen] * np.log(counts[seen] / expected[seen])).sum()
    freedom = ((probability > 0).sum(axis=1) - 1).sum()
    return float(chi2.sf(g, freedom)) if freedom else 1.0


def p_of_independence(one, other):
    """Of a G-test that two columns of small numbers have nothing to do with each other."""
    table = np.zeros((one.max() + 1, other.max() + 1))
    np.add.at(table, (one, other), 1)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    return float(chi2_contingency(table, lambda_="log-likelihood", correction=False).pvalue)


def transitions(walks, n, order=1):
    """Counts of what came after each vertex, or after each two."""
    counts = np.zeros((n,) * (order + 1))
    windows = np.stack([walks[:, i : walks.shape[1] - order + i] for i in range(order + 1)])
    windows = windows.reshape(order + 1, -1)
    np.add.at(counts, tuple(windows[:, (windows >= 0).all(axis=0)]), 1)
    return counts
