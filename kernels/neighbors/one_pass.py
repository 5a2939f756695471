"""One-pass edge sampling: twins of one_pass.cu."""

import numpy as np

from graphdask.kernels.common.hash import hashed, key
from graphdask.kernels.common.philox import DRAW_ONE_PASS, philox
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]
_ZERO = np.uint64(0)


@twin
def one_pass_below(n, vertices, indptr, ends, once, seed, least, counts):
    """How many edges of each row have a key of no more than `least`.

    The key of an edge is drawn for its vertex and its place in the row. `once`: of edges that are stored at both ends,
    `ends` being the numbers of these, one counts.
    """
    key_0, key_1 = key(seed, DRAW_ONE_PASS, 0), key(seed, DRAW_ONE_PASS, 1)
    for row in range(n):
        begin, count = indptr[row], 0
        of_row = hashed(key_0, key_1, np.uint64(vertices[row]))
        for e in range(begin, indptr[row + 1]):
            word, _ = philox(of_row, np.uint64(e - begin), _ZERO, _ZERO)
            count += word <= least and (not once or vertices[row] <= ends[e])
        counts[row] = count


@twin
def one_pass_listed(n, vertices, indptr, ends, once, seed, least, offsets, src, edges, keys):
    """The same edges and their keys, in the order of the rows, from `offsets` on."""
    key_0, key_1 = key(seed, DRAW_ONE_PASS, 0), key(seed, DRAW_ONE_PASS, 1)
    for row in range(n):
        begin, out = indptr[row], offsets[row]
        if out == offsets[row + 1]:
            continue
        of_row = hashed(key_0, key_1, np.uint64(vertices[row]))
        for e in range(begin, indptr[row + 1]):
            word, _ = philox(of_row, np.uint64(e - begin), _ZERO, _ZERO)
            if word <= least and (not once or vertices[row] <= ends[e]):
                src[out] = vertices[row]
                edges[out] = e
                keys[out] = word
                out += 1
