"""Twin of erdos_renyi.cu: edges of a uniform random graph, by a keyed bijection of all possible edges.

The possible edges are the cells (x, y) of a rectangle of `width` columns and `height` rows. Edge number i starts in the
cell (i mod width, i div width) and is moved by an alternating Feistel network of modular additions, each of which is a
bijection of the rectangle: y += F_0(x) mod height, x += F_1(y) mod width, y += F_2(x) mod height, ... F_r is the high
half of hash(seed, r, argument) times the modulus. Different numbers are therefore different edges.

The cell (x, y) is the edge from x to x + 1 + y mod width, which is never a self-loop. In the row `star` it is the edge
from x to vertex `width` instead. See graphdask/generate/erdos_renyi.py for the rectangles.

Sources: V. Batagelj, U. Brandes, "Efficient generation of large random networks", Phys. Rev. E 71 (2005), Section IV
(the edges as a virtual shuffle); J. Black, P. Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002, Section 5
(the generalised Feistel network on a rectangle).
"""

import numpy as np

from graphdask.kernels.common.hash import DRAW_PAIR, hashed_counter, key, multiply_high
from graphdask.kernels.common.twin import twin

MACROS = [{"index_t": "int"}, {"index_t": "long long"}]

_1, _32 = np.uint64(1), np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_WAVE = 1024


@twin
def _step(wave, number, seed, of, moved, modulus):
    """moved = moved + F(of) mod modulus, for a wave of cells."""
    key_0, key_1 = key(seed, DRAW_PAIR + np.uint64(number), 0), key(seed, DRAW_PAIR + np.uint64(number), 1)
    if modulus <= _LOW:  # two products of 32 bits, which are vectorised, have the same high half
        for i in range(wave):
            x = hashed_counter(key_0, key_1, of[i])
            at = moved[i] + (((x >> _32) * modulus + (((x & _LOW) * modulus) >> _32)) >> _32)
            moved[i] = min(at, at - modulus)
    else:
        for i in range(wave):
            at = moved[i] + multiply_high(hashed_counter(key_0, key_1, of[i]), modulus)
            moved[i] = at - modulus if at >= modulus else at


@twin
def erdos_renyi_edges(n, first, width, height, star, rounds, seed, src, dst):
    """Write edges first .. first + n - 1.

    `seed` is uint64; `star` is a row, or -1; `src` and `dst` are int32 or int64, shape (n,).
    """
    width, height, star = np.uint64(width), np.uint64(height), np.uint64(star)
    across = np.empty(_WAVE, np.uint64)
    down = np.empty(_WAVE, np.uint64)
    y = np.uint64(first) // width
    x = np.uint64(first) - y * width
    for start in range(0, n, _WAVE):
        wave = min(_WAVE, n - start)
        for i in range(wave):
            across[i] = x
            down[i] = y
            x += _1
            if x == width:
                x = np.uint64(0)
                y += _1
        for number in range(0, rounds, 2):
            _step(wave, number, seed, across, down, height)
            _step(wave, number + 1, seed, down, across, width)
        for i in range(wave):
            u = across[i]
            v = u + down[i] + _1
            v = v - width if v >= width else v
            src[start + i] = u
            dst[start + i] = width if down[i] == star else v
