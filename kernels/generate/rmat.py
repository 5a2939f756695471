"""Twin of rmat.cu: edges of an R-MAT graph, several levels of the recursion a draw, and the permutation of the ids.

A 64-bit hash of the edge's number is two draws of 32 bits. A draw looks `levels` quadrants up at once in an alias table
of 4**levels cells: its low 2*levels bits name the cell, the others are the coin between the cell's own path and its
alias. A path is 2*levels bits: the rows' bits (of src), then the columns' (of dst). An entry of the table is
threshold << 2*levels | alias; the cell's own path is taken while coin < threshold. The bits of all draws are joined,
the last draw lowest, and the lowest `scale` of them are the ids.

The permutation of [0, 2**scale) is some rounds of x = x * (odd factor) + offset, x ^= x >> ceil(scale / 2), each of
which is a bijection of the numbers of `scale` bits.

Sources: D. Chakrabarti, Y. Zhan, C. Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004; L.
Huebschle-Schneider, P. Sanders, "Linear work generation of R-MAT graphs", Network Science 8 (2020), Section 3 (tables
of paths); A. J. Walker, "An efficient method for generating discrete random variables with general distributions", ACM
TOMS 3 (1977).
"""

import numpy as np

from graphdask.kernels.common.hash import DRAW_LABEL, DRAW_QUADRANTS, hashed_counter, key
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int", "rmat_most": "2"}, {"index_t": "long long", "rmat_most": "6"}]

_1, _32 = np.uint64(1), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_WAVE = 1024


@twin
def rmat_edges(n, first, scale, levels, hashes, rounds, seed, table, src, dst):
    """Write edges first .. first + n - 1.

    `seed` is uint64; `table` is uint32, shape (4**levels,); `src` and `dst` are int32 or int64, shape (n,). Every edge
    takes `hashes` hashes, 2 * levels * hashes >= scale. With `rounds` = 0 the ids stay as the recursion gives them.

    A wave of edges is hashed at once, then looked up, then permuted: the first and the last are vectorised.
    """
    # All 2**32 values of a draw that have the same low bits share a cell, so the compared value keeps the cell's bits:
    # with all of them set, it is below the entry exactly where the coin is below the threshold.
    cell = (_1 << np.uint64(2 * levels)) - _1
    bits = np.uint64(levels)
    column = (_1 << bits) - _1
    mask = (_1 << np.uint64(scale)) - _1
    half = np.uint64((scale + 1) // 2)
    draw = np.empty(_WAVE, np.uint64)
    rows = np.empty(_WAVE, np.uint64)
    columns = np.empty(_WAVE, np.uint64)
    for start in range(0, n, _WAVE):
        size = min(_WAVE, n - start)
        rows[:] = np.uint64(0)
        columns[:] = np.uint64(0)
        for number in range(hashes):
            what = DRAW_QUADRANTS + np.uint64(number)
            key_0, key_1 = key(seed, what, 0), key(seed, what, 1)
            for i in range(size):
                draw[i] = hashed_counter(key_0, key_1, np.uint64(first + start + i))
            for i in range(size):
                x = draw[i]
                low, high = x & _LOW, x >> _32
                entry = np.uint64(table[high & cell])
                path = high if (high | cell) < entry else entry
                row = (rows[i] << bits) | ((path & cell) >> bits)
                col = (columns[i] << bits) | (path & column)
                entry = np.uint64(table[low & cell])
                path = low if (low | cell) < entry else entry
                rows[i] = (row << bits) | ((path & cell) >> bits)
                columns[i] = (col << bits) | (path & column)
        for ids, out in ((rows, src), (columns, dst)):
            for i in range(size):
                ids[i] &= mask
            for number in range(rounds):
                what = DRAW_LABEL + np.uint64(number)
                factor, offset = key(seed, what, 0) | _1, key(seed, what, 1)
                for i in range(size):
                    x = (ids[i] * factor + offset) & mask
                    ids[i] = x ^ (x >> half)
            for i in range(size):
                out[start + i] = ids[i]
